// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package machine

import (
	"fmt"

	"example.com/fastmac/internal/assurance/algebra"
)

// A State is that of a CPU.
type State[W, V any] struct {
	algebra.Algebra[W, V]
	General [32]W
	Vectors [32]V
	Masks   [8]W
	Flags   Flags[W]
	Thread  W // the word that Go keeps in the segment of the thread: the address of the goroutine
}

// Models are those of the instructions of an architecture.
type Models[W, V any] interface {
	// Step executes an instruction, except for jumps, calls and returns, which change nothing here.
	Step(*State[W, V], *Instruction)

	// Taken returns 1 if a branch jumps.
	Taken(*State[W, V], *Instruction) W

	// Compared returns the difference, of n bits, of the two words on which a branch, or another
	// instruction with a condition, decides. It is not ok if there are no such words.
	Compared(*State[W, V], *Instruction) (difference W, n int, ok bool)
}

// Unmodelled is the panic for an instruction that has no model.
type Unmodelled string

// Run executes a function from instruction n on until it returns. It calls visit before each instruction, and
// then, for a conditional jump, isTrue, which reports whether the jump is taken.
func (m *State[W, V]) Run(with Models[W, V], f *Function, n int, isTrue func(i *Instruction, condition W) bool, visit func(*Instruction) error) (err error) {
	for {
		i := f.Code[n]
		if err := visit(i); err != nil || i.Flow == Return {
			return err
		}
		next := f.Successors(n)
		n = next[len(next)-1]
		if i.Branches() {
			var condition W
			if err := try(i, func() { condition = with.Taken(m, i) }); err != nil {
				return err
			}
			if isTrue(i, condition) {
				n = next[0]
			}
		}
		if err := m.Try(with, i); err != nil {
			return err
		}
	}
}

// Flags are what the last instructions that set flags have left. Most are never read, so they
// are computed when they are.
type Flags[W any] struct {
	From            FlagSource
	N               int
	A, B, C, Result W // operands, carry before, and result
	CarryKnown      bool
}

// A FlagSource is what the flags are of.
type FlagSource int

const (
	Undefined   FlagSource = iota
	Logic                  // of a result: no carry, no overflow
	ResultOnly             // of a result: carry and overflow are undefined
	Sum                    // of a+b+c
	Subtraction            // of a-b-c
	Decrement              // of a-1; the carry before does not change, and is not known or c
)

// SetFlags sets the flags.
func (m *State[W, V]) SetFlags(from FlagSource, n int, a, b, c, result W) {
	m.Flags = Flags[W]{From: from, N: n, A: a, B: b, C: c, Result: result, CarryKnown: from != Undefined && from != ResultOnly}
}

// Difference returns the difference, of n bits, of the two words that the flags compare, if they do.
func (m *State[W, V]) Difference() (difference W, n int, ok bool) {
	f := &m.Flags
	if f.From == Subtraction {
		return m.Sub(f.N, f.A, f.B), f.N, true
	}
	return f.Result, f.N, f.From != Undefined
}

// CarryFlag returns the carry of a sum, or the borrow of a difference.
func (m *State[W, V]) CarryFlag() W {
	f := &m.Flags
	if !f.CarryKnown {
		panic(Unmodelled("use of an undefined carry"))
	}
	switch f.From {
	case Logic:
		return m.Constant(1, 0)
	case Sum:
		return m.Carry(f.N, f.A, f.B, f.C)
	case Subtraction:
		return m.Borrow(f.N, f.A, f.B, f.C)
	}
	return f.C
}

// ZeroFlag returns whether the result is zero.
func (m *State[W, V]) ZeroFlag() W {
	if m.Flags.From == Undefined {
		panic(Unmodelled("use of an undefined zero flag"))
	}
	return m.Equal(m.Flags.N, m.Flags.Result, m.Constant(m.Flags.N, 0))
}

// SignFlag returns the highest bit of the result.
func (m *State[W, V]) SignFlag() W {
	if m.Flags.From == Undefined {
		panic(Unmodelled("use of an undefined sign"))
	}
	return m.Extract(m.Flags.Result, m.Flags.N-1, 1)
}

// OverflowFlag returns whether the sign of the result is wrong.
func (m *State[W, V]) OverflowFlag() W {
	f := &m.Flags
	sign := func(w W) W { return m.Extract(w, f.N-1, 1) }
	switch f.From {
	case Logic:
		return m.Constant(1, 0)
	case Sum:
		return m.And(1, m.Xor(1, sign(f.A), sign(f.Result)), m.Xor(1, sign(f.B), sign(f.Result)))
	case Subtraction, Decrement:
		return m.And(1, m.Xor(1, sign(f.A), sign(f.B)), m.Xor(1, sign(f.A), sign(f.Result)))
	}
	panic(Unmodelled("use of an undefined overflow"))
}

// Try executes an instruction, and returns what it panics with as an error.
func (m *State[W, V]) Try(with Models[W, V], i *Instruction) (err error) {
	return try(i, func() { with.Step(m, i) })
}

// try returns what f, which does a part of an instruction, panics with as an error.
func try(i *Instruction, f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case Unmodelled:
			err = fmt.Errorf("%v: no model: %s", i, string(r))
		case algebra.Unprovable:
			err = fmt.Errorf("%v: %s", i, string(r))
		case algebra.Fault:
			err = fmt.Errorf("%v: %w", i, r)
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
