// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package x86 has the instructions of amd64: it decodes them, executes a model of each with any
// algebra, and compares the models with the CPU.
package x86

import (
	"fmt"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
)

// A Machine is the state of a CPU.
type Machine[W, V any] struct {
	algebra.Algebra[W, V]
	General [16]W
	Vectors [32]V
	Masks   [8]W
	Flags   Flags[W]
	Thread  W // the word that Go keeps in the segment of the thread: the address of the goroutine
}

// unmodelled is the panic for an instruction that has no model.
type unmodelled string

// Step executes an instruction, except for jumps, calls and returns, which change nothing here.
func (m *Machine[W, V]) Step(i *Instruction) {
	if i.Jumps() {
		return
	}
	o := i.MemoryOperand()
	switch i.Mnemonic {
	case "nop", "ret", "call", "int3":
		return
	case "prefetcht0":
		m.Touch(m.where(o))
		return
	}
	switch {
	case o == nil:
	case o.Thread && (i.Mnemonic != "mov" || o != &i.Operands[1]):
		panic(unmodelled("the segment of the thread"))
	case i.alignment() > 1:
		m.Align(m.where(o), i.alignment())
	}
	if m.scalar(i) || m.shuffle(i) || m.arithmetic(i) {
		return
	}
	panic(unmodelled(i.Mnemonic))
}

// alignment returns the number of which the address of the memory operand must be a multiple:
// that of an instruction with an encoding before VEX, and of a move that says so.
func (i *Instruction) alignment() int {
	name, o := strings.TrimPrefix(i.Mnemonic, "v"), i.MemoryOperand()
	switch {
	case strings.HasPrefix(name, "movdqu") || name == "movups" || name == "lea":
		return 1
	case strings.HasPrefix(name, "movdqa") || name == "movaps" || !i.vex() && o.Size == 128:
		return o.Size / 8
	}
	return 1
}

// Run executes a function until it returns. It calls visit before each instruction, and then, for a
// conditional jump, isTrue, which reports whether the jump is taken.
func (m *Machine[W, V]) Run(f *Function, isTrue func(i *Instruction, condition W) bool, visit func(*Instruction) error) (err error) {
	n := 0
	for {
		i := f.Code[n]
		if err := visit(i); err != nil || i.Mnemonic == "ret" {
			return err
		}
		next := f.Successors(n)
		n = next[len(next)-1]
		if i.Branches() && isTrue(i, m.Condition(i.Mnemonic[1:])) {
			n = next[0]
		}
		if err := m.try(i); err != nil {
			return err
		}
	}
}

// where returns the address of a memory operand.
func (m *Machine[W, V]) where(o *Operand) W {
	if o.Base == None && o.Index == None {
		return m.Global(o.Number)
	}
	at := m.Constant(64, o.Number)
	if o.Base != None {
		at = m.Add(64, m.General[o.Base], at)
	}
	if o.Index != None {
		shift := map[uint64]uint{1: 0, 2: 1, 4: 2, 8: 3}[o.Scale]
		at = m.Add(64, m.Left(64, m.General[o.Index], shift), at)
	}
	return at
}

// get returns a scalar operand. An immediate has n bits.
func (m *Machine[W, V]) get(o *Operand, n int) W {
	switch o.Kind {
	case General:
		return m.Extract(m.General[o.Number], 0, o.Size)
	case Immediate:
		return m.Constant(n, o.Number)
	case Opmask:
		return m.Masks[o.Number]
	case Vector:
		return m.Lane(&m.Vectors[o.Number], n, 0)
	}
	if o.Thread {
		return m.Thread
	}
	v := m.Load(m.where(o), o.Size/8)
	return m.Lane(&v, o.Size, 0)
}

// set sets a scalar operand.
func (m *Machine[W, V]) set(o *Operand, w W) {
	switch {
	case o.Kind == General && o.Size == 64:
		m.General[o.Number] = w
	case o.Kind == General && o.Size == 32:
		m.General[o.Number] = m.Extend(32, w)
	case o.Kind == Memory:
		var v V
		m.SetLane(&v, o.Size, 0, w)
		m.Store(m.where(o), &v, o.Size/8)
	default:
		panic(unmodelled(fmt.Sprintf("operand of %d bits", o.Size)))
	}
}

// source returns a vector operand of a number of bits.
func (m *Machine[W, V]) source(o *Operand, n int) V {
	if o.Kind == Vector {
		return m.Vectors[o.Number]
	}
	if o.Broadcast {
		one := m.Load(m.where(o), o.Size/8)
		var v V
		for k := range n / o.Size {
			m.SetLane(&v, o.Size, k, m.Lane(&one, o.Size, 0))
		}
		return v
	}
	return m.Load(m.where(o), o.Size/8)
}

// sources returns the two sources of an instruction for vectors. Where it has two operands,
// the first is a source too.
func (m *Machine[W, V]) sources(i *Instruction) (a, b V) {
	size := i.Operands[0].Size
	first := 1
	if !i.vex() {
		first = 0
	}
	return m.source(&i.Operands[first], size), m.source(&i.Operands[first+1], size)
}

// vex reports whether i has a VEX or EVEX encoding: three operands, and the rest of the vector
// register becomes zero.
func (i *Instruction) vex() bool { return strings.HasPrefix(i.Mnemonic, "v") }

// lanes sets the first operand to lanes of n bits, as far as they are in the mask.
func (m *Machine[W, V]) lanes(i *Instruction, n int, f func(k int) W) {
	o, v := &i.Operands[0], *new(V)
	if i.Mask != 0 && o.Kind == Memory {
		panic(unmodelled("a store with a mask"))
	}
	for k := range o.Size / n {
		w := f(k)
		if i.Mask != 0 {
			old := m.Constant(n, 0)
			if !i.Zeroing {
				old = m.Lane(&m.Vectors[o.Number], n, k)
			}
			w = m.Choose(n, m.Extract(m.Masks[i.Mask], k, 1), w, old)
		}
		m.SetLane(&v, n, k, w)
	}
	m.write(i, v)
}

// write sets the first operand to a vector.
func (m *Machine[W, V]) write(i *Instruction, v V) {
	o := &i.Operands[0]
	if o.Kind == Memory {
		m.Store(m.where(o), &v, o.Size/8)
		return
	}
	rest := m.Vectors[o.Number]
	for k := o.Size / 64; k < 8; k++ {
		w := m.Constant(64, 0)
		if !i.vex() {
			w = m.Lane(&rest, 64, k)
		}
		m.SetLane(&v, 64, k, w)
	}
	m.Vectors[o.Number] = v
}

// Flags are what the last instructions that set flags have left. Most are never read, so they
// are computed when they are.
type Flags[W any] struct {
	From            flagSource
	N               int
	A, B, C, Result W // operands, carry before, and result
	CarryKnown      bool
}

type flagSource int

const (
	undefined   flagSource = iota
	logic                  // of a result: no carry, no overflow
	resultOnly             // of a result: carry and overflow are undefined
	sum                    // of a+b+c
	subtraction            // of a-b-c
	decrement              // of a-1; the carry before does not change, and is not known or c
)

func (m *Machine[W, V]) setFlags(from flagSource, n int, a, b, c, result W) {
	m.Flags = Flags[W]{From: from, N: n, A: a, B: b, C: c, Result: result, CarryKnown: from != undefined && from != resultOnly}
}

// Compared returns the difference, of n bits, of the two words that the flags compare, if they do.
func (m *Machine[W, V]) Compared(carry bool) (difference W, n int, ok bool) {
	f := &m.Flags
	if f.From == decrement && carry {
		return f.Result, 0, false // the carry is that of another instruction
	}
	if f.From == subtraction {
		return m.Sub(f.N, f.A, f.B), f.N, true
	}
	return f.Result, f.N, f.From != undefined
}

// carryFlag returns CF.
func (m *Machine[W, V]) carryFlag() W {
	f := &m.Flags
	if !f.CarryKnown {
		panic(unmodelled("use of an undefined CF"))
	}
	switch f.From {
	case logic:
		return m.Constant(1, 0)
	case sum:
		return m.Carry(f.N, f.A, f.B, f.C)
	case subtraction:
		return m.Borrow(f.N, f.A, f.B, f.C)
	}
	return f.C
}

func (m *Machine[W, V]) zeroFlag() W {
	if m.Flags.From == undefined {
		panic(unmodelled("use of an undefined ZF"))
	}
	return m.Equal(m.Flags.N, m.Flags.Result, m.Constant(m.Flags.N, 0))
}

func (m *Machine[W, V]) signFlag() W {
	if m.Flags.From == undefined {
		panic(unmodelled("use of an undefined SF"))
	}
	return m.Extract(m.Flags.Result, m.Flags.N-1, 1)
}

// overflowFlag returns OF: the sign of the result is wrong.
func (m *Machine[W, V]) overflowFlag() W {
	f := &m.Flags
	var wrong W
	switch f.From {
	case logic:
		return m.Constant(1, 0)
	case sum:
		wrong = m.And(f.N, m.Xor(f.N, f.A, f.Result), m.Xor(f.N, f.B, f.Result))
	case subtraction, decrement:
		wrong = m.And(f.N, m.Xor(f.N, f.A, f.B), m.Xor(f.N, f.A, f.Result))
	default:
		panic(unmodelled("use of an undefined OF"))
	}
	return m.Extract(wrong, f.N-1, 1)
}

// Condition returns a condition by the suffix of its jump.
func (m *Machine[W, V]) Condition(suffix string) W {
	not := func(w W) W { return m.Xor(1, w, m.Constant(1, 1)) }
	less := func() W { return m.Xor(1, m.signFlag(), m.overflowFlag()) }
	switch suffix {
	case "e":
		return m.zeroFlag()
	case "ne":
		return not(m.zeroFlag())
	case "b":
		return m.carryFlag()
	case "ae":
		return not(m.carryFlag())
	case "be":
		return m.Or(1, m.carryFlag(), m.zeroFlag())
	case "a":
		return not(m.Or(1, m.carryFlag(), m.zeroFlag()))
	case "l":
		return less()
	case "ge":
		return not(less())
	case "le":
		return m.Or(1, less(), m.zeroFlag())
	case "g":
		return not(m.Or(1, less(), m.zeroFlag()))
	}
	panic(unmodelled("condition " + suffix))
}

// try executes an instruction, and returns what it panics with as an error.
func (m *Machine[W, V]) try(i *Instruction) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case unmodelled:
			err = fmt.Errorf("%v: no model: %s", i, string(r))
		case algebra.Unprovable:
			err = fmt.Errorf("%v: %s", i, string(r))
		case algebra.Fault:
			err = fmt.Errorf("%v: %w", i, r)
		default:
			panic(r)
		}
	}()
	m.Step(i)
	return nil
}

// Flags of the CPU.
const (
	carryBit    = 1 << 0
	zeroBit     = 1 << 6
	signBit     = 1 << 7
	overflowBit = 1 << 11
)

// flagBits returns the flags that the model has as the CPU has them.
func flagBits(m *Machine[uint64, algebra.Bytes64]) (bits uint64) {
	defined := m.definedFlags()
	if defined&carryBit != 0 {
		bits |= carryBit * m.carryFlag()
	}
	if defined&zeroBit != 0 {
		bits |= zeroBit*m.zeroFlag() | signBit*m.signFlag()
	}
	if defined&overflowBit != 0 {
		bits |= overflowBit * m.overflowFlag()
	}
	return bits
}

// definedFlags returns the bits of the flags that the model has.
func (m *Machine[W, V]) definedFlags() (bits uint64) {
	if m.Flags.CarryKnown {
		bits |= carryBit
	}
	switch m.Flags.From {
	case undefined:
	case resultOnly:
		bits |= zeroBit | signBit
	default:
		bits |= zeroBit | signBit | overflowBit
	}
	return bits
}
