// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package secrets checks that assembly is constant time, and that no state of SHA-2 remains in general registers: it
// follows secrets through all paths of a function.
package secrets

import (
	"fmt"
	"math/bits"
	"path"
	"reflect"
	"slices"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
)

// stackWord returns the index in taint.stack of a word.
func stackWord(offset int64) int { return int(offset+machine.FrameLimit) / 8 }

// read returns memory that the function knows at an address. With a mask some of it may be outside.
func (d *taint) read(address value, n int, masked bool) (v bytesValue) {
	v.word = some()
	first := true
	for k := range d.objects {
		if address.plus>>k&1 == 0 {
			continue
		}
		var w bytesValue
		if k == stack {
			w = d.readStack(address, n)
		} else {
			w = d.readObject(&d.objects[k], address, n, masked)
		}
		if first {
			v, first = w, false
			continue
		}
		v.secret |= w.secret
		v.isWord = v.isWord && w.isWord
		v.word = join(v.word, w.word)
	}
	return v
}

// secretBytes is the secret bytes of a vector that may be at any offset.
func secretBytes(secret bool, n int) uint64 {
	if secret {
		return 1<<n - 1
	}
	return 0
}

func (d *taint) readObject(o *object, address value, n int, masked bool) (v bytesValue) {
	leaves, exact := o.overlap(address.modulus, address.number, n)
	if len(leaves) == 0 || o.ends(address, n) && !masked {
		d.find(fmt.Sprintf("%d bytes at %d are outside of %v", n, address.number, o))
	}
	v.secret = secretBytes(slices.ContainsFunc(leaves, func(l leaf) bool { return l.secret }), n)
	v.word = some(value{secret: v.secret != 0})
	if exact && n == 8 {
		v.isWord = true
		if to := leaves[0].to; to != machine.None {
			v.word = value{plus: 1 << to}
		}
	}
	return v
}

func (d *taint) readStack(address value, n int) (v bytesValue) {
	if address.modulus != 0 { // anywhere
		v.secret = secretBytes(slices.ContainsFunc(d.stack, func(w value) bool { return w.secret }), n)
		return v
	}
	for k := range n {
		at := address.number + int64(k)
		if d.stack[stackWord(at)].secret {
			v.secret |= 1 << k
		}
	}
	if address.number%8 == 0 && n == 8 {
		v.isWord, v.word = true, d.stack[stackWord(address.number)]
	}
	return v
}

// write sets memory. Objects keep what their declaration says, so nothing secret may be
// written to what is public there, and nothing to an address. Where the offset is not known, it
// can be any.
func (d *taint) write(address value, v *bytesValue, n int) {
	secret := v.secret&secretBytes(true, n) != 0
	for k := range d.objects {
		switch {
		case address.plus>>k&1 == 0:
		case k == stack:
			d.writeStack(address, v, n)
		case k < firstObject:
			d.find("writes to " + d.objects[k].name)
		default:
			leaves, _ := d.objects[k].overlap(address.modulus, address.number, n)
			switch {
			case len(leaves) == 0 || d.objects[k].ends(address, n):
				d.find(fmt.Sprintf("%d bytes at %d are outside of %v", n, address.number, &d.objects[k]))
			case secret && slices.ContainsFunc(leaves, func(l leaf) bool { return !l.secret }):
				d.find("a secret is written to what is public in " + d.objects[k].name)
			case slices.ContainsFunc(leaves, func(l leaf) bool { return l.to != machine.None }):
				d.find("an address is overwritten in " + d.objects[k].name)
			}
		}
	}
}

func (d *taint) writeStack(address value, v *bytesValue, n int) {
	alone := bits.OnesCount64(address.plus) == 1
	if address.modulus != 0 {
		for k := range d.stack {
			d.stack[k] = some(d.stack[k], value{secret: v.secret&secretBytes(true, n) != 0})
		}
		return
	}
	for at := address.number &^ 7; at < address.number+int64(n); at += 8 {
		w := &d.stack[stackWord(at)]
		first, end := max(at, address.number), min(at+8, address.number+int64(n))
		var part uint64
		for k := first; k < end; k++ {
			part |= v.secret & (1 << (k - address.number))
		}
		written := some(value{secret: part != 0})
		if n == 8 && v.isWord && first == address.number {
			written = v.word
		}
		if end-first < 8 || !alone {
			written = some(*w, written)
		}
		*w = written
	}
}

// A state is all that is known before an instruction.
type state struct {
	machine.State[value, bytesValue]
	stack []value
}

// A Finding is an instruction that may leak a secret, or that the analysis cannot follow.
type Finding struct {
	function *machine.Function
	*machine.Instruction
	what string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %v: %s", f.function.Name, f.Instruction, f.what)
}

// words is how many general registers may have a secret when a function of package sha2 returns: those for the parts
// of a round. The registers of the state must not.
const words = 3

// Leaks follows secrets through all paths of a function and returns where a branch, an address
// or the choice of the bytes that are read depends on one, and where a function of package sha2
// returns with a state in general registers.
func Leaks(f *machine.Function, sig *Signature) (found []Finding) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case Finding: // what cannot be followed
			found = []Finding{r}
		default:
			panic(r)
		}
	}()
	d := &taint{objects: sig.objects}
	before, after := d.follow(f, sig, true)
	for n, i := range f.Code {
		s, ok := before[n]
		if !ok {
			continue
		}
		d.find = func(what string) {
			f := Finding{f, i, what}
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
		if _, condition := after(n, s.clone()); condition.secret {
			d.find("the branch depends on a secret")
		}
	}
	if path.Base(f.Pkg) != "sha2" {
		return found
	}
	// What the caller left in general registers does not count.
	before, _ = d.follow(f, sig, false)
	for n, i := range f.Code {
		if s, ok := before[n]; ok && i.Flow == machine.Return {
			var kept []int
			for k, v := range s.General {
				if v.secret && k != f.FramePointer {
					kept = append(kept, k)
				}
			}
			if len(kept) > words {
				found = append(found, Finding{f, i, fmt.Sprintf("the general registers %d keep secrets", kept)})
			}
		}
	}
	return found
}

// follow returns what is known before each instruction in all executions, and a function that executes one. With
// secret, what general registers hold at the beginning is secret.
func (d *taint) follow(f *machine.Function, sig *Signature, secret bool) (before map[int]*state, after func(n int, s *state) (next []int, conditional value)) {
	models := program.Models[value, bytesValue](f.Architecture)
	before = map[int]*state{0: d.start(f.Architecture, sig, secret)}
	after = func(n int, s *state) (next []int, conditional value) {
		defer func() {
			if r := recover(); r != nil {
				panic(Finding{f, f.Code[n], fmt.Sprintf("no model: %v", r)})
			}
		}()
		i := f.Code[n]
		d.stack = s.stack
		if i.Branches() {
			conditional = models.Taken(&s.State, i)
		}
		models.Step(&s.State, i)
		if i.Flow == machine.Call {
			return nil, conditional // of the runtime, which begins the function again
		}
		return f.Successors(n), conditional
	}

	// First the states, until they do not change any more.
	d.find = func(string) {}
	for work := []int{0}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		s := before[n].clone()
		next, _ := after(n, s)
		for _, to := range next {
			if old, ok := before[to]; !ok {
				before[to] = s.clone()
			} else if !old.join(s) {
				continue
			}
			work = append(work, to)
		}
	}
	return before, after
}

// start is the state when a function is called: its arguments are on the stack. With secret, what general
// registers hold is secret.
func (d *taint) start(a *machine.Architecture, sig *Signature, secret bool) *state {
	s := &state{stack: make([]value, stackWord(machine.FrameLimit))}
	s.Algebra = d
	unknown := some(value{secret: true})
	for k := range s.stack {
		s.stack[k] = unknown
	}
	for k := range s.General {
		s.General[k] = some(value{secret: secret})
	}
	for k := range s.Vectors {
		s.Vectors[k] = bytesValue{secret: 1<<64 - 1}
	}
	for k := range s.Masks {
		s.Masks[k] = unknown
	}
	s.General[a.StackPointer] = value{plus: 1 << stack}
	s.General[a.FramePointer] = some() // of the caller
	s.Thread = value{plus: 1 << goroutine}
	if a.Goroutine != machine.None {
		s.General[a.Goroutine] = s.Thread
	}
	for k, l := range sig.Arguments {
		w := value{modulus: 1, secret: l.secret}
		if l.to != machine.None {
			w = value{plus: 1 << l.to}
		}
		at := &s.stack[stackWord(machine.ArgumentBase+l.Offset)]
		if l.size < 8 && l.Offset%8 != 0 {
			w = some(w, *at)
		}
		if k >= sig.Results {
			w = unknown
		}
		*at = w
	}
	return s
}

func (s *state) clone() *state {
	c := *s
	c.stack = slices.Clone(s.stack)
	return &c
}

// join makes s what is known of executions that have the state s or t. It reports whether s
// has changed.
func (s *state) join(t *state) (changed bool) {
	old := *s
	update := func(to *value, from value) {
		j := join(*to, from)
		changed = changed || j != *to
		*to = j
	}
	for k := range s.General {
		update(&s.General[k], t.General[k])
	}
	for k := range s.Masks {
		update(&s.Masks[k], t.Masks[k])
	}
	for k := range s.stack {
		update(&s.stack[k], t.stack[k])
	}
	for k := range s.Vectors {
		v, w := &s.Vectors[k], t.Vectors[k]
		v.secret |= w.secret
		v.isWord = v.isWord && w.isWord
		v.word = join(v.word, w.word)
	}
	f, g := &s.Flags, t.Flags
	if f.From != g.From || f.N != g.N {
		*f = machine.Flags[value]{}
	} else {
		f.A, f.B, f.C, f.Result = join(f.A, g.A), join(f.B, g.B), join(f.C, g.C), join(f.Result, g.Result)
		f.CarryKnown = f.CarryKnown && g.CarryKnown
	}
	return changed || s.Vectors != old.Vectors || !reflect.DeepEqual(s.Flags, old.Flags)
}
