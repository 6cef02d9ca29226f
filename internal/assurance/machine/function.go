// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package machine

import (
	"fmt"
	"slices"
)

// A Function is the code of one function of assembly.
type Function struct {
	*Architecture
	Pkg, Name string // example.com/fastmac, nhAddAVX2
	Code      []*Instruction
	At        map[uint64]int // address: index in code

	// Sizes in bytes, which the source and the Go declaration have.
	Frame, Arguments, Results int64 // with the saved frame pointer
}

// The stack pointer when a function begins is at the address of its caller's instruction. The
// arguments follow it, and the frame is before it.
const (
	FrameLimit   = 1 << 10 // no frame has as much
	ArgumentBase = 8
)

// Successors returns the indices of the instructions that can follow instruction n. A call,
// which compare has found to be of the runtime for a larger stack, returns to the next one.
func (f *Function) Successors(n int) (next []int) {
	i := f.Code[n]
	switch i.Flow {
	case Return, Stop, Leave:
		return nil
	case Jump:
		return []int{f.At[i.Target]}
	case Branch:
		next = append(next, f.At[i.Target])
	}
	return append(next, n+1)
}

// Graph returns the number of basic blocks of f. All instructions must be reached from the
// first one, except for those that only fill space.
func (f *Function) Graph() (blocks int, err error) {
	reached, begins := make([]bool, len(f.Code)), make([]bool, len(f.Code))
	begins[0] = true
	for work := []int{0}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if reached[n] {
			continue
		}
		reached[n] = true
		next := f.Successors(n)
		work = append(work, next...)
		if i := f.Code[n]; i.Jumps() {
			for _, to := range next {
				begins[to] = true
			}
		}
	}
	for n, i := range f.Code {
		if !reached[n] && i.Flow != Fill && i.Flow != Stop {
			return 0, fmt.Errorf("%s: %v cannot be reached", f.Name, i)
		}
		if begins[n] {
			blocks++
		}
	}
	return blocks, nil
}

// GrowsStack reports whether instruction n is of the end that the Go assembler adds: a call of the
// runtime for a larger stack, and a jump back to the beginning.
func (f *Function) GrowsStack(n int) bool {
	i := f.Code[n]
	return i.Flow == Call || n > 0 && f.Code[n-1].Flow == Call && i.Flow == Jump && i.Target == f.Code[0].Address
}

// Needs returns the classes of which f has instructions.
func (f *Function) Needs() (all []Class) {
	for _, i := range f.Code {
		all = append(all, i.Classes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
