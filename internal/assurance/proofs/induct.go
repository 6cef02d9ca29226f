// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/machine"
)

// An induction is the proof of a kernel with a loop, for each number of rounds from least to most. A round is one
// of blocks, of steps, or what else the kernel does so many times.
//
// Let x be memory for a call, and n the count of rounds. The standard says what memory x' one round makes of x:
// a call with x', with addresses that have moved on, and n-1 does the rest. Let A(x, n) be the state in which a call
// comes to the head of the loop for the first time, or after some more rounds, and S some registers and bytes of memory. P(n) says, for
// all x: from A(x, n), with anything in S, the kernel ends, and leaves what the standard says and what [prover.call]
// demands.
//
//   - P(least) is an execution from A(x, least) to the end, with new variables in S.
//   - P(n-1) implies P(n) if an execution from A(x, n), with new variables in S, comes to the head of the loop
//     again in the state A(x', n-1), but for S. Here n is a variable, within a range in which no branch depends on
//     it: one that another n would take otherwise has no proof, and any other result that depends on n makes the
//     states differ. The flags are undefined at the head of the loop, and no instruction may read them.
//
// So P(n) holds for all n. Each call comes to A(x, n), so that it leaves what it must.
//
// An access has to be to the memory that x has at least: so many blocks as n is at least, and P(n-1) is about memory
// from the second block on. So no round can see, or write, what is before its own block. What a round writes of
// an object that has a part for each block is therefore the last word on it: it must be right at once, and S has
// at most what has no meaning at the end of a part. Other objects stay where they are. An address moves on by a
// multiple of its object's alignment: the memory after a block is an object as the whole was.
//
// Of S nothing must be known. It is what differs between the two states before there are new variables in it.
type induction struct {
	least, most uint64
	splits      []uint64 // numbers of rounds from which on branches are others, or go another way only there

	skips int // rounds before the first state that is like those that follow

	// prepare sets memory to what it is if count rounds are left, of which so many have their blocks in memory,
	// after some rounds have been done. It returns the arguments of the call that does those that are left.
	prepare func(count formula.Word, blocks, done int) []any

	check    func(rounds int) error // compares memory with what rounds leave
	written  *formula.Object        // has a part for each block, or is nil
	part     int                    // bytes of a part
	meanings int                    // bytes of a part that have a meaning
}

// A place is a register, or 8 bytes of a vector, or a byte of memory.
type place struct {
	of         string
	index, sub int
}

func (p place) String() string {
	if p.of == inMemory || p.of == inVectors {
		return fmt.Sprintf("%s %d at %d", p.of, p.index, p.sub)
	}
	return fmt.Sprintf("%s %d", p.of, p.index)
}

const (
	inGeneral = "general register"
	inVectors = "vector register"
	inMasks   = "mask register"
	inMemory  = "object"
)

// A snapshot is the state of an execution and all memory.
type snapshot struct {
	m      state
	memory [][]formula.ByteOf // of each object
	before []formula.ByteOf   // bytes of the stack when the call began
	rounds bool               // of the stack
	from   int                // of the goroutine
	upper  *machine.Instruction
}

func (e *execution) snapshot() *snapshot {
	s := &snapshot{m: *e.m, before: e.before, rounds: e.stack.Rounds, from: e.goroutine.From, upper: e.upper}
	for _, o := range e.Objects {
		s.memory = append(s.memory, slices.Clone(o.Bytes))
	}
	return s
}

// resume is the state of a snapshot, with new variables in some places, and without flags.
func (e *execution) resume(s *snapshot, anything []place) {
	m := s.m
	m.Flags = machine.Flags[formula.Word]{}
	e.m, e.stack.Rounds, e.goroutine.From, e.upper = &m, s.rounds, s.from, s.upper
	e.before = slices.Clone(s.before)
	for k, b := range s.memory {
		e.Objects[k].Bytes = slices.Clone(b)
	}
	for _, p := range anything {
		switch p.of {
		case inGeneral:
			m.General[p.index] = e.variable(64, 1<<64-1)
		case inVectors:
			e.SetLane(&m.Vectors[p.index], 64, p.sub, e.variable(64, 1<<64-1))
		case inMasks:
			m.Masks[p.index] = e.variable(64, 1<<64-1)
		case inMemory:
			b := e.ByteAt(e.variable(8, 0xff), 0)
			if e.Objects[p.index].Bytes[p.sub] = b; e.Objects[p.index] == e.stack && p.sub >= firstArgument {
				e.before[p.sub] = b
			}
		}
	}
}

// differences returns the places in which two states differ. Objects that only one of them has are data of
// the program, which nothing changes.
func (e *execution) differences(s, t *snapshot) (all []place) {
	for k := range s.m.General {
		if s.m.General[k] != t.m.General[k] {
			all = append(all, place{inGeneral, k, 0})
		}
	}
	for k := range s.m.Vectors {
		for lane := 0; lane < 8 && s.m.Vectors[k] != t.m.Vectors[k]; lane++ {
			if e.Lane(&s.m.Vectors[k], 64, lane) != e.Lane(&t.m.Vectors[k], 64, lane) {
				all = append(all, place{inVectors, k, lane})
			}
		}
	}
	for k := range s.m.Masks {
		if s.m.Masks[k] != t.m.Masks[k] {
			all = append(all, place{inMasks, k, 0})
		}
	}
	for k := range min(len(s.memory), len(t.memory)) {
		for i := range t.memory[k] {
			if s.memory[k][i] != t.memory[k][i] {
				all = append(all, place{inMemory, k, i})
			}
		}
	}
	return all
}

// fewRounds is how often what differs grows at most.
const fewRounds = 3

// A span is numbers of rounds, of which one is a variable.
type span struct {
	first, second *snapshot // at the head of the loop, of a call and of the one that follows a round of it
	after         *snapshot // at the head of the loop, after a round
}

// induct proves the function by induction. Before that it proves the first numbers of rounds as they are, for what that
// says of faults.
func (v *prover) induct(x induction) error {
	f, blocks := v.function, int(x.least)
	for n := 1; n <= blocks; n++ {
		if err := v.proveRounds(x, n); err != nil {
			return err
		}
	}
	e, err := v.enter(x.prepare(v.Constant(64, x.least), blocks, 0)...)
	if err != nil {
		return err
	}
	begin := func(count formula.Word, blocks, done int) error {
		for _, o := range v.Objects {
			if !o.ReadOnly && o != e.stack {
				o.Bytes = nil // until prepare sets them: nothing is left of the call before
			}
		}
		return e.begin(x.prepare(count, blocks, done)...)
	}
	if v.before != nil {
		if err := begin(v.Constant(64, x.least+1), blocks+1, 0); err != nil {
			return err
		}
		v.before(e.m)
	}
	// The branch that the count takes back. Those of loops in a round compare numbers.
	var back *machine.Instruction
	times := 0 // that it must be taken before an execution stops
	again := func(_, taken *machine.Instruction) bool {
		if taken == nil || taken.Target > taken.Address || back != nil && taken != back || !v.symbolic[taken] {
			return false
		}
		back = taken
		times--
		return times == 0
	}
	arrive := func(count formula.Word, blocks, done int) (*snapshot, error) {
		if err := begin(count, blocks, done); err != nil {
			return nil, err
		}
		stop := func(at, _ *machine.Instruction) bool { return at.Address == back.Target }
		if times = x.skips; x.skips > 0 {
			stop = again
		}
		if err := e.stops(0, stop); err != nil {
			return nil, err
		}
		return e.snapshot(), nil
	}

	var spans []span
	from := x.least + 1
	for _, next := range append(slices.Clone(x.splits), x.most+1) {
		var s span
		end := next - 1
		r := v.Constant(64, 0)
		if end > from {
			r = v.variable(64, end-from)
		}
		count := func(done uint64) formula.Word { return v.Add(64, r, v.Constant(64, from-done)) }
		if err := begin(count(0), blocks+1, 0); err != nil {
			return err
		}
		times = x.skips + 1
		if err := e.stops(0, again); err != nil {
			return err
		}
		s.after = e.snapshot()
		if s.first, err = arrive(count(0), blocks+1, 0); err != nil {
			return err
		}
		if s.second, err = arrive(count(1), blocks+1, 1); err != nil {
			return err
		}
		spans, from = append(spans, s), next
	}
	last, err := arrive(v.Constant(64, x.least), blocks, 0)
	if err != nil {
		return err
	}

	var anything []place
	for k := 0; ; k++ {
		before := len(anything)
		for _, s := range spans {
			for _, p := range e.differences(s.after, s.second) {
				if p.of == inMemory && e.Objects[p.index] == x.written && (p.sub < x.meanings || p.sub >= x.part) {
					return fmt.Errorf("%s: after a round, %v is wrong", f.Name, p)
				}
				if !slices.Contains(anything, p) {
					anything = append(anything, p)
				}
			}
		}
		if k > 0 && len(anything) == before {
			break
		}
		if k == fewRounds {
			return fmt.Errorf("%s: one round more, and other places differ: %v", f.Name, anything[before:][:1])
		}
		for k := range spans {
			e.resume(spans[k].first, anything)
			times = 1
			if err := e.stops(f.At[back.Target], again); err != nil {
				return x.unproved(err, anything)
			}
			spans[k].after = e.snapshot()
		}
	}

	// An argument that can be anything at the head of the loop has been changed neither there nor by a round, except
	// to zero. Others are compared with those of the next call.
	stack := slices.Index(v.Objects, e.stack)
	isAnything := func(k int) bool {
		return slices.ContainsFunc(anything, func(p place) bool { return p.of == inMemory && p.index == stack && p.sub&^7 == k })
	}
	states := []*snapshot{last}
	for _, s := range spans {
		states = append(states, s.first, s.after)
		last.upper = cmp.Or(last.upper, s.after.upper)
	}
	for _, s := range states {
		if err := e.keepsArguments(s.memory[stack], s.before, isAnything); err != nil {
			return x.unproved(err, anything)
		}
	}
	e.resume(last, anything)
	if err = e.run(f.At[back.Target], nil); err == nil {
		if err = e.leave(); err == nil {
			err = x.check(blocks)
		}
	}
	if err != nil {
		return x.unproved(err, anything)
	}
	v.inductive = true
	return nil
}

// proveRounds proves a number of rounds as they are.
func (v *prover) proveRounds(x induction, n int) error {
	if err := v.call(x.prepare(v.Constant(64, uint64(n)), n, 0)...); err != nil {
		return err
	}
	return x.check(n)
}

// unproved adds to an error which general and mask registers differ, if there is an error.
func (x *induction) unproved(err error, anything []place) error {
	if err == nil {
		return nil
	}
	var list []string
	for _, p := range anything {
		if p.of == inGeneral || p.of == inMasks {
			list = append(list, p.String())
		}
	}
	return fmt.Errorf("%w (by induction, with anything in %s)", err, strings.Join(list, ", "))
}

// stops runs an execution that must stop before its end.
func (e *execution) stops(from int, stop func(at, taken *machine.Instruction) bool) error {
	switch err := e.run(from, stop); {
	case err == nil:
		return fmt.Errorf("%s: no loop for any number of rounds", e.function.Name)
	case !errors.Is(err, errStopped):
		return err
	}
	return nil
}

// object returns the object at an address.
func (v *prover) object(address formula.Word) *formula.Object {
	return v.Objects[slices.IndexFunc(v.Objects, func(o *formula.Object) bool { return o.Address == address })]
}

// put sets the bytes of the object at an address to those of words of n bits.
func (v *prover) put(address formula.Word, n int, words ...formula.Word) {
	o := v.object(address)
	o.Bytes = nil
	for _, w := range words {
		o.Bytes = append(o.Bytes, v.Bytes(w, n)...)
	}
}

// mostBytes is what a slice can have.
const mostBytes = 1<<63 - 1
