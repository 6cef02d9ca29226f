// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import (
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// A model executes instructions.
type model[W, V any] struct {
	*machine.State[W, V]
}

func (m model[W, V]) step(i *machine.Instruction) {
	isVector := func(o machine.Operand) bool { return o.Kind == machine.Vector }
	known := false
	switch {
	case i.Flow != machine.Next:
		return
	case i.MemoryOperand() != nil:
		known = m.access(i)
	case slices.ContainsFunc(i.Operands, isVector):
		known = m.move(i) || m.arithmetic(i) || m.cryptography(i)
	default:
		known = m.scalar(i)
	}
	if !known {
		panic(machine.Unmodelled(i.Mnemonic))
	}
}

// get returns an operand. An immediate has n bits.
func (m model[W, V]) get(o *machine.Operand, n int) W {
	switch {
	case o.Kind == machine.Immediate:
		return m.Constant(n, o.Number)
	case o.Kind == machine.Vector:
		return m.Lane(&m.Vectors[o.Number], o.Element, o.Lane)
	case o.Number == Zero:
		return m.Constant(o.Size, 0)
	}
	w := m.Extract(m.General[o.Number], 0, o.Size)
	switch o.Shift.Kind {
	case "lsl":
		return m.Left(o.Size, w, o.Shift.By)
	case "lsr":
		return m.Right(o.Size, w, o.Shift.By)
	}
	return w
}

// set sets a general register to a word of n bits. The other bits become zeros.
func (m model[W, V]) set(o *machine.Operand, n int, w W) {
	if n < 64 {
		w = m.Extend(n, w)
	}
	if o.Number != Zero {
		m.General[o.Number] = w
	}
}

// scalar executes an instruction on general registers. It reports whether i is one.
func (m model[W, V]) scalar(i *machine.Instruction) bool {
	if strings.HasPrefix(i.Mnemonic, "dmb") {
		return true // of the order that other threads see
	}
	n := i.Operands[0].Size
	operand := func(k int) W { return m.get(&i.Operands[k], n) }
	set := func(w W) { m.set(&i.Operands[0], n, w) }
	zero := m.Constant(1, 0)

	switch i.Mnemonic {
	case "mov":
		set(operand(1))
	case "adr":
		set(m.Global(i.Operands[1].Number))
	case "rndrrs": // nothing is known of the word; it is 0 if there is none, which Z says; the other flags are 0
		has := m.Unknown(1)
		set(m.Choose(n, has, m.Unknown(n), m.Constant(n, 0)))
		m.SetFlags(machine.Sum, n, m.Extend(1, has), m.Constant(n, 0), zero, m.Extend(1, has))
	case "csel":
		set(m.Choose(n, m.condition(i.Condition), operand(1), operand(2)))
	case "add":
		set(m.Add(n, operand(1), operand(2)))
	case "adc":
		set(m.Add(n, m.Add(n, operand(1), operand(2)), m.Extend(1, m.carry())))
	case "adds", "cmn":
		a, b := operand(len(i.Operands)-2), operand(len(i.Operands)-1)
		result := m.Add(n, a, b)
		if i.Mnemonic == "adds" {
			set(result)
		}
		m.SetFlags(machine.Sum, n, a, b, zero, result)
	case "sub":
		set(m.Sub(n, operand(1), operand(2)))
	case "neg":
		set(m.Sub(n, m.Constant(n, 0), operand(1)))
	case "subs", "cmp":
		a, b := operand(len(i.Operands)-2), operand(len(i.Operands)-1)
		result := m.Sub(n, a, b)
		if i.Mnemonic == "subs" {
			set(result)
		}
		m.SetFlags(machine.Subtraction, n, a, b, zero, result)
	case "mul":
		set(m.MulLow(n, operand(1), operand(2)))
	case "umulh":
		_, high := m.Wide(operand(1), operand(2))
		set(high)
	case "and":
		set(m.And(n, operand(1), operand(2)))
	case "bic":
		set(m.And(n, operand(1), m.Xor(n, operand(2), m.Constant(n, 1<<64-1))))
	case "orr":
		set(m.Or(n, operand(1), operand(2)))
	case "eor":
		set(m.Xor(n, operand(1), operand(2)))
	case "lsl", "lsr":
		set(m.shift(i, n))
	case "rev":
		set(m.bytes(n, operand(1), func(k int) int { return n/8 - 1 - k }))
	case "ror":
		by := int(i.Operands[2].Number)
		if by%8 != 0 {
			set(m.Rotate(n, operand(1), uint(by)))
		} else { // formulas have no rotation of 32 bits
			set(m.bytes(n, operand(1), func(k int) int { return (k + by/8) % (n / 8) }))
		}
	default:
		return false
	}
	return true
}

// shift returns what LSL or LSR of n bits writes. A register has the count modulo n.
func (m model[W, V]) shift(i *machine.Instruction, n int) W {
	a, by := m.get(&i.Operands[1], n), &i.Operands[2]
	left := i.Mnemonic == "lsl"
	if by.Kind != machine.Immediate {
		count := m.And(n, m.get(by, n), m.Constant(n, uint64(n-1)))
		if left {
			return m.LeftBy(n, a, count)
		}
		return m.RightBy(n, a, count)
	}
	if left {
		return m.Left(n, a, uint(by.Number))
	}
	return m.Right(n, a, uint(by.Number))
}

// bytes returns a word with its bytes in another order.
func (m model[W, V]) bytes(n int, w W, from func(k int) int) W {
	var v, moved V
	m.SetLane(&v, n, 0, w)
	for k := range n / 8 {
		m.SetLane(&moved, 8, k, m.Lane(&v, 8, from(k)))
	}
	return m.Lane(&moved, n, 0)
}

// access executes a load or a store of one register or two.
func (m model[W, V]) access(i *machine.Instruction) bool {
	last := len(i.Operands) - 1
	registers, o := i.Operands[:last], &i.Operands[last]
	base := m.General[o.Base]
	sum := m.Add(64, base, m.Constant(64, o.Number))
	address := sum
	if o.Update == machine.After {
		address = base
	}
	if i.Mnemonic == "prfm" {
		m.Touch(address)
		return true
	}
	isStore := strings.HasPrefix(i.Mnemonic, "st")
	if !isStore && !strings.HasPrefix(i.Mnemonic, "ld") {
		return false
	}
	var v V
	if isStore {
		m.gather(&v, registers, o.Size)
		m.Store(address, &v, o.Size/8)
	} else {
		v = m.Load(address, o.Size/8)
	}
	if o.Update != machine.Unchanged {
		m.General[o.Base] = sum
	}
	if !isStore {
		m.scatter(&v, registers, o.Size)
	}
	return true
}

// gather puts registers side by side, for a store of so many bits.
func (m model[W, V]) gather(v *V, registers []machine.Operand, size int) {
	for k, r := range registers {
		if r.Kind == machine.General {
			m.SetLane(v, size, k, m.Extract(m.get(&r, r.Size), 0, size))
			continue
		}
		for n := range r.Size / 64 {
			m.SetLane(v, 64, k*r.Size/64+n, m.Lane(&m.Vectors[r.Number], 64, n))
		}
	}
}

// scatter sets registers to what has been loaded. A register with more bits gets zeros.
func (m model[W, V]) scatter(v *V, registers []machine.Operand, size int) {
	for k, r := range registers {
		if r.Kind == machine.General {
			m.set(&r, size, m.Lane(v, size, k))
			continue
		}
		m.lanes(&r, 64, func(n int) W { return m.Lane(v, 64, k*r.Size/64+n) })
	}
}

// taken returns 1 if a branch jumps.
func (m model[W, V]) taken(i *machine.Instruction) W {
	if i.Condition != "" {
		return m.condition(i.Condition)
	}
	o := &i.Operands[0]
	w := m.get(o, o.Size)
	switch i.Mnemonic {
	case "cbz":
		return m.Equal(o.Size, w, m.Constant(o.Size, 0))
	case "cbnz":
		return m.not(m.Equal(o.Size, w, m.Constant(o.Size, 0)))
	case "tbz":
		return m.not(m.Extract(w, int(i.Operands[1].Number), 1))
	}
	panic(machine.Unmodelled(i.Mnemonic))
}

func (m model[W, V]) not(w W) W { return m.Xor(1, w, m.Constant(1, 1)) }

// carry returns the flag C. After a difference it is 1 if there is no borrow.
func (m model[W, V]) carry() W {
	if m.Flags.From == machine.Subtraction {
		return m.not(m.CarryFlag())
	}
	return m.CarryFlag()
}

// condition returns a condition by its name.
func (m model[W, V]) condition(name string) W {
	less := func() W { return m.Xor(1, m.SignFlag(), m.OverflowFlag()) }
	switch name {
	case "eq":
		return m.ZeroFlag()
	case "ne":
		return m.not(m.ZeroFlag())
	case "cs":
		return m.carry()
	case "cc":
		return m.not(m.carry())
	case "mi":
		return m.SignFlag()
	case "pl":
		return m.not(m.SignFlag())
	case "hi":
		return m.not(m.Or(1, m.not(m.carry()), m.ZeroFlag()))
	case "ls":
		return m.Or(1, m.not(m.carry()), m.ZeroFlag())
	case "lt":
		return less()
	case "ge":
		return m.not(less())
	case "le":
		return m.Or(1, less(), m.ZeroFlag())
	case "gt":
		return m.not(m.Or(1, less(), m.ZeroFlag()))
	}
	panic(machine.Unmodelled("condition " + name))
}
