// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/secrets"
)

// A Judge has verdicts on functions of a program with one instruction replaced. It is for use by
// several goroutines.
type Judge struct {
	program *program.Program
	mu      sync.Mutex
	sizes   map[*machine.Function][]map[*machine.Instruction][]int // by proof, for which an instruction is executed
}

// Verdicts. Undecided is what those begin with that say nothing. All others say what is wrong.
const (
	Held      = "held"
	Undecided = "undecided: "
)

// NewJudge returns a Judge.
func NewJudge(p *program.Program) *Judge {
	return &Judge{program: p, sizes: make(map[*machine.Function][]map[*machine.Instruction][]int)}
}

// fewSizes is a step: of so many sizes, one is proved.
const fewSizes = 61

// sizesOf returns for which sizes each proof of a function executes which instruction.
func (j *Judge) sizesOf(f *machine.Function) ([]map[*machine.Instruction][]int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sizes[f] == nil {
		for _, x := range proofsOf(f) {
			v := newProver(j.program, f, 1)
			v.sizes = make(map[*machine.Instruction][]int)
			if _, err := x.run(v); err != nil {
				return nil, err
			}
			j.sizes[f] = append(j.sizes[f], v.sizes)
		}
	}
	return j.sizes[f], nil
}

// Verdict is that on a function with an instruction replaced, within a time. The instruction is
// the one at an offset, and change returns as many bytes, which replace its own. Only the sizes for
// which the function executes the instruction are proved: for the others nothing has changed. Most
// mutants fail for the first of them.
func (j *Judge) Verdict(name string, offset uint64, change func([]byte) []byte, limit time.Duration) (said string) {
	for _, c := range j.program.Choices {
		if c.Name == name {
			return j.choice(c, offset, change)
		}
	}
	k := slices.IndexFunc(j.program.Functions, func(f *machine.Function) bool { return f.Name == name })
	if k < 0 {
		return Undecided + "no function " + name
	}
	f := j.program.Functions[k]
	sizes, err := j.sizesOf(f)
	if err != nil {
		return Undecided + err.Error()
	}
	n, ok := f.At[f.Code[0].Address+offset]
	var changed []byte
	if ok {
		changed = change(f.Code[n].Bytes)
	}
	if !ok || len(changed) != len(f.Code[n].Bytes) {
		return fmt.Sprintf(Undecided+"%s has no such instruction at offset %#x", name, offset)
	}
	broken, err := mutated(f, n, changed)
	if err != nil {
		return err.Error()
	}
	defer func() {
		if r := recover(); r != nil { // there is no model of it
			said = fmt.Sprint(r)
		}
	}()
	if found := secrets.Leaks(broken, secrets.NewSignature(j.program.Declared[f.Pkg+"."+f.Name])); len(found) > 0 {
		return found[0].String()
	}
	executed, end := false, time.Now().Add(limit)
	for _, step := range []int{fewSizes, 1} {
		for k, x := range proofsOf(broken) {
			at := sizes[k][f.Code[n]]
			if len(at) == 0 {
				continue
			}
			executed = true
			v := newProver(j.program, broken, 1)
			v.end = end
			for n := 0; n < len(at); n += step {
				v.only = append(v.only, at[n])
			}
			switch _, err := x.run(v); {
			case errors.Is(err, errLate):
				return Undecided + "no verdict in " + limit.String()
			case err != nil:
				return err.Error()
			}
		}
	}
	if !executed {
		return Undecided + "no proof executes it"
	}
	return Held
}

// choice is the verdict on a function that chooses.
func (j *Judge) choice(c *program.Choice, offset uint64, change func([]byte) []byte) string {
	n, ok := c.At[c.Code[0].Address+offset]
	if !ok {
		return fmt.Sprintf(Undecided+"%s has no such instruction at offset %#x", c.Name, offset)
	}
	broken, err := mutated(c.Function, n, change(c.Code[n].Bytes))
	if err == nil {
		if c, err = j.program.NewChoice(broken); err == nil {
			err = takes(c)
		}
	}
	if err != nil {
		return err.Error()
	}
	return Held
}

// mutated returns f with instruction n replaced.
func mutated(f *machine.Function, n int, changed []byte) (*machine.Function, error) {
	next, err := decodeOne(f.Architecture, f.Code[n].Address, changed)
	if err != nil {
		return nil, err
	}
	broken := *f
	broken.Code = slices.Clone(f.Code)
	broken.Code[n] = next
	if _, ok := f.At[next.Target]; next.Jumps() && !ok {
		if f.Code[n].Flow != machine.Leave || next.Flow != machine.Jump {
			return nil, fmt.Errorf("%v jumps out of the function", next)
		}
		next.Flow = machine.Leave
	}
	return &broken, nil
}

// decodeOne returns the one instruction that bytes at an address are, besides some that do nothing.
func decodeOne(a *machine.Architecture, address uint64, b []byte) (one *machine.Instruction, err error) {
	for len(b) > 0 {
		i, err := program.Decode(a, address, b)
		if err != nil {
			return nil, fmt.Errorf("% x: %w", b, err)
		}
		switch {
		case one == nil || one.Flow == machine.Fill:
			one = i
		case i.Flow != machine.Fill:
			return nil, fmt.Errorf(Undecided+"%v and %v", one, i)
		}
		address += uint64(len(i.Bytes))
		b = b[len(i.Bytes):]
	}
	return one, nil
}
