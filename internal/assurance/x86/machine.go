// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package x86 has the instructions of amd64: it decodes them, executes a model of each with any
// algebra, and compares the models with the CPU.
package x86

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/machine"
)

// Architecture is amd64.
var Architecture = &machine.Architecture{Name: "amd64", StackPointer: RSP, FramePointer: RBP, Goroutine: machine.None, Copies: []int{14}}

// Numbers of general registers.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	R14 = 14
)

// CheckReserved returns an error if an instruction of f names the frame pointer and f has no frame, in which the
// assembler saves it: profilers that follow frame pointers may look at it at any time. In a function with a
// frame it is a register as others are, and only such profilers miss the caller.
func CheckReserved(f *machine.Function) error {
	for _, i := range f.Code {
		for _, o := range i.Operands {
			names := o.Kind == machine.General && o.Number == RBP || o.Kind == machine.Memory && (o.Base == RBP || o.Index == RBP)
			if names && f.Frame == 0 {
				return fmt.Errorf("%s: %v: general register %d is reserved, without a frame", f.Name, i, RBP)
			}
		}
	}
	return nil
}

// Models are those of amd64.
type Models[W, V any] struct{}

// Step executes an instruction, except for jumps, calls and returns, which change nothing here.
func (Models[W, V]) Step(m *machine.State[W, V], i *machine.Instruction) { model[W, V]{m}.step(i) }

// Taken returns the condition of a jump.
func (Models[W, V]) Taken(m *machine.State[W, V], i *machine.Instruction) W {
	return model[W, V]{m}.condition(i.Condition)
}

// Compared returns the difference of the words that the flags compare. The carry of DEC is that of
// another instruction.
func (Models[W, V]) Compared(m *machine.State[W, V], i *machine.Instruction) (difference W, n int, ok bool) {
	if m.Flags.From == machine.Decrement && slices.Contains([]string{"b", "ae", "be", "a"}, i.Condition) {
		return difference, 0, false
	}
	return m.Difference()
}

// A model executes instructions.
type model[W, V any] struct {
	*machine.State[W, V]
}

func (m model[W, V]) step(i *machine.Instruction) {
	o := i.MemoryOperand()
	switch {
	case i.Flow != machine.Next:
		return
	case i.Mnemonic == "prefetcht0":
		m.Touch(m.where(o))
		return
	}
	switch {
	case o == nil:
	case o.Thread && (i.Mnemonic != "mov" || o != &i.Operands[1]):
		panic(machine.Unmodelled("the segment of the thread"))
	case alignment(i) > 1:
		m.Align(m.where(o), alignment(i))
	}
	if m.scalar(i) || m.shuffle(i) || m.arithmetic(i) || m.sha(i) {
		return
	}
	panic(machine.Unmodelled(i.Mnemonic))
}

// alignment returns the number of which the address of the memory operand must be a multiple:
// that of an instruction with an encoding before VEX, and of a move that says so.
func alignment(i *machine.Instruction) int {
	name, o := strings.TrimPrefix(i.Mnemonic, "v"), i.MemoryOperand()
	switch {
	case strings.HasPrefix(name, "movdqu") || name == "movups" || name == "lea":
		return 1
	case strings.HasPrefix(name, "movdqa") || name == "movaps" || !vex(i) && o.Size == 128:
		return o.Size / 8
	}
	return 1
}

// where returns the address of a memory operand.
func (m model[W, V]) where(o *machine.Operand) W {
	if o.Base == machine.None && o.Index == machine.None {
		return m.Global(o.Number)
	}
	at := m.Constant(64, o.Number)
	if o.Base != machine.None {
		at = m.Add(64, m.General[o.Base], at)
	}
	if o.Index != machine.None {
		shift := map[uint64]uint{1: 0, 2: 1, 4: 2, 8: 3}[o.Scale]
		at = m.Add(64, m.Left(64, m.General[o.Index], shift), at)
	}
	return at
}

// get returns a scalar operand. An immediate has n bits.
func (m model[W, V]) get(o *machine.Operand, n int) W {
	switch o.Kind {
	case machine.General:
		return m.Extract(m.General[o.Number], 0, o.Size)
	case machine.Immediate:
		return m.Constant(n, o.Number)
	case machine.Opmask:
		return m.Masks[o.Number]
	case machine.Vector:
		return m.Lane(&m.Vectors[o.Number], n, 0)
	}
	if o.Thread {
		return m.Thread
	}
	v := m.Load(m.where(o), o.Size/8)
	return m.Lane(&v, o.Size, 0)
}

// set sets a scalar operand.
func (m model[W, V]) set(o *machine.Operand, w W) {
	switch {
	case o.Kind == machine.General && o.Size == 64:
		m.General[o.Number] = w
	case o.Kind == machine.General && o.Size == 32:
		m.General[o.Number] = m.Extend(32, w)
	case o.Kind == machine.Memory:
		var v V
		m.SetLane(&v, o.Size, 0, w)
		m.Store(m.where(o), &v, o.Size/8)
	default:
		panic(machine.Unmodelled(fmt.Sprintf("operand of %d bits", o.Size)))
	}
}

// source returns a vector operand of a number of bits.
func (m model[W, V]) source(o *machine.Operand, n int) V {
	if o.Kind == machine.Vector {
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
func (m model[W, V]) sources(i *machine.Instruction) (a, b V) {
	size := i.Operands[0].Size
	first := 1
	if !vex(i) {
		first = 0
	}
	return m.source(&i.Operands[first], size), m.source(&i.Operands[first+1], size)
}

// vex reports whether i has a VEX or EVEX encoding: three operands, and the rest of the vector
// register becomes zero.
func vex(i *machine.Instruction) bool { return strings.HasPrefix(i.Mnemonic, "v") }

// lanes sets the first operand to lanes of n bits, as far as they are in the mask.
func (m model[W, V]) lanes(i *machine.Instruction, n int, f func(k int) W) {
	o, v := &i.Operands[0], *new(V)
	if i.Mask != 0 && o.Kind == machine.Memory {
		panic(machine.Unmodelled("a store with a mask"))
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
func (m model[W, V]) write(i *machine.Instruction, v V) {
	o := &i.Operands[0]
	if o.Kind == machine.Memory {
		m.Store(m.where(o), &v, o.Size/8)
		return
	}
	rest := m.Vectors[o.Number]
	for k := o.Size / 64; k < 8; k++ {
		w := m.Constant(64, 0)
		if !vex(i) {
			w = m.Lane(&rest, 64, k)
		}
		m.SetLane(&v, 64, k, w)
	}
	m.Vectors[o.Number] = v
}

// condition returns a condition by the suffix of its jump.
func (m model[W, V]) condition(suffix string) W {
	not := func(w W) W { return m.Xor(1, w, m.Constant(1, 1)) }
	less := func() W { return m.Xor(1, m.SignFlag(), m.OverflowFlag()) }
	switch suffix {
	case "e":
		return m.ZeroFlag()
	case "ne":
		return not(m.ZeroFlag())
	case "b":
		return m.CarryFlag()
	case "ae":
		return not(m.CarryFlag())
	case "be":
		return m.Or(1, m.CarryFlag(), m.ZeroFlag())
	case "a":
		return not(m.Or(1, m.CarryFlag(), m.ZeroFlag()))
	case "l":
		return less()
	case "ge":
		return not(less())
	case "le":
		return m.Or(1, less(), m.ZeroFlag())
	case "g":
		return not(m.Or(1, less(), m.ZeroFlag()))
	}
	panic(machine.Unmodelled("condition " + suffix))
}

// Flags of the CPU.
const (
	carryBit    = 1 << 0
	zeroBit     = 1 << 6
	signBit     = 1 << 7
	overflowBit = 1 << 11
)

// flagBits returns the flags that the model has as the CPU has them.
func flagBits(m *machine.State[uint64, algebra.Bytes64]) (bits uint64) {
	defined := definedFlags(m)
	if defined&carryBit != 0 {
		bits |= carryBit * m.CarryFlag()
	}
	if defined&zeroBit != 0 {
		bits |= zeroBit*m.ZeroFlag() | signBit*m.SignFlag()
	}
	if defined&overflowBit != 0 {
		bits |= overflowBit * m.OverflowFlag()
	}
	return bits
}

// definedFlags returns the bits of the flags that the model has.
func definedFlags[W, V any](m *machine.State[W, V]) (bits uint64) {
	if m.Flags.CarryKnown {
		bits |= carryBit
	}
	switch m.Flags.From {
	case machine.Undefined:
	case machine.ResultOnly:
		bits |= zeroBit | signBit
	default:
		bits |= zeroBit | signBit | overflowBit
	}
	return bits
}
