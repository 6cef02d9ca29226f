// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// scalar executes an instruction on general registers and opmasks. It reports whether i is one.
func (m model[W, V]) scalar(i *machine.Instruction) bool {
	var n int
	if len(i.Operands) > 0 {
		n = i.Operands[0].Size
	}
	operand := func(k int) W { return m.get(&i.Operands[k], n) }
	set := func(w W) { m.set(&i.Operands[0], w) }
	zero := m.Constant(1, 0)
	same := len(i.Operands) == 2 && i.Operands[0] == i.Operands[1] // the result does not depend on the register

	if suffix, ok := strings.CutPrefix(i.Mnemonic, "cmov"); ok {
		set(m.Choose(n, m.condition(suffix), operand(1), operand(0)))
		return true
	}
	switch i.Mnemonic {
	case "mov":
		set(operand(1))
	case "movzx":
		w := m.Extend(i.Operands[1].Size, operand(1))
		set(m.Extract(w, 0, n))
	case "lea":
		set(m.where(&i.Operands[1]))
	case "add", "adc":
		a, b, c := operand(0), operand(1), zero
		if i.Mnemonic == "adc" {
			c = m.CarryFlag()
		}
		result := m.Add(n, a, b)
		if i.Mnemonic == "adc" {
			result = m.Add(n, result, m.Extend(1, c))
		}
		set(result)
		m.SetFlags(machine.Sum, n, a, b, c, result)
	case "sub", "cmp", "sbb", "neg":
		var a, b, c W
		switch {
		case i.Mnemonic == "neg":
			a, b, c = m.Constant(n, 0), operand(0), zero
		case same:
			a, b, c = m.Constant(n, 0), m.Constant(n, 0), zero
		default:
			a, b, c = operand(0), operand(1), zero
		}
		result := m.Sub(n, a, b)
		if i.Mnemonic == "sbb" {
			c = m.CarryFlag()
			result = m.Sub(n, result, m.Extend(1, c))
		}
		if i.Mnemonic != "cmp" {
			set(result)
		}
		m.SetFlags(machine.Subtraction, n, a, b, c, result)
	case "dec":
		a, c, known := operand(0), zero, m.Flags.CarryKnown
		if known {
			c = m.CarryFlag()
		}
		result := m.Sub(n, a, m.Constant(n, 1))
		set(result)
		m.SetFlags(machine.Decrement, n, a, m.Constant(n, 1), c, result)
		m.Flags.CarryKnown = known
	case "and", "or", "xor", "test", "andn":
		var result W
		switch {
		case i.Mnemonic == "xor" && same:
			result = m.Constant(n, 0)
		case i.Mnemonic == "xor":
			result = m.Xor(n, operand(0), operand(1))
		case i.Mnemonic == "or":
			result = m.Or(n, operand(0), operand(1))
		case i.Mnemonic == "andn":
			result = m.And(n, m.Xor(n, operand(1), m.Constant(n, 1<<64-1)), operand(2))
		default:
			result = m.And(n, operand(0), operand(1))
		}
		if i.Mnemonic != "test" {
			set(result)
		}
		m.SetFlags(machine.Logic, n, result, result, zero, result)
	case "shl", "shr":
		m.shift(i, n)
	case "shlx":
		set(m.LeftBy(n, operand(1), m.And(64, operand(2), m.Constant(64, uint64(n-1)))))
	case "rorx":
		set(m.Rotate(n, operand(1), uint(i.Operands[2].Number)))
	case "bzhi":
		count := m.Extend(8, m.Extract(operand(2), 0, 8))
		result := m.LowBits(n, operand(1), count)
		set(result)
		m.SetFlags(machine.ResultOnly, n, result, result, zero, result)
	case "bswap":
		var v, reversed V
		m.SetLane(&v, n, 0, operand(0))
		for k := range n / 8 {
			m.SetLane(&reversed, 8, n/8-1-k, m.Lane(&v, 8, k))
		}
		set(m.Lane(&reversed, n, 0))
	case "imul":
		if len(i.Operands) != 3 {
			return false
		}
		set(m.MulLow(n, operand(1), operand(2)))
		m.SetFlags(machine.Undefined, n, zero, zero, zero, zero)
	case "mulx":
		low, high := m.Wide(m.General[RDX], operand(2))
		m.set(&i.Operands[1], low)
		set(high) // if both are one register it has the high half
	case "kmovb", "kmovw", "kmovd", "kmovq":
		bits := map[string]int{"kmovb": 8, "kmovw": 16, "kmovd": 32, "kmovq": 64}[i.Mnemonic]
		if i.Operands[0].Kind != machine.Opmask {
			return false
		}
		m.Masks[i.Operands[0].Number] = m.Extend(bits, m.Extract(operand(1), 0, bits))
	case "kshiftrb":
		w := m.Right(8, m.Extract(m.Masks[i.Operands[1].Number], 0, 8), uint(i.Operands[2].Number))
		m.Masks[i.Operands[0].Number] = m.Extend(8, w)
	case "kxorw":
		w := m.Constant(16, 0)
		if a, b := &i.Operands[1], &i.Operands[2]; *a != *b {
			w = m.Xor(16, m.Extract(m.get(a, 64), 0, 16), m.Extract(m.get(b, 64), 0, 16))
		}
		m.Masks[i.Operands[0].Number] = m.Extend(16, w)
	case "push":
		if n != 64 {
			return false
		}
		m.General[RSP] = m.Add(64, m.General[RSP], m.Constant(64, 1<<64-8))
		var v V
		m.SetLane(&v, 64, 0, operand(0))
		m.Store(m.General[RSP], &v, 8)
	case "pop":
		v := m.Load(m.General[RSP], 8)
		set(m.Lane(&v, 64, 0))
		m.General[RSP] = m.Add(64, m.General[RSP], m.Constant(64, 8))
	case "cpuid": // what it returns, nobody knows
		for _, r := range []int{RAX, RBX, RCX, RDX} {
			m.General[r] = m.Extend(32, m.Unknown(32))
		}
	case "rdseed": // so with this: 0 if there is nothing, which the carry says: the borrow of 0-1 or 0-0; the other flags are 0
		has := m.Unknown(1)
		set(m.Choose(n, has, m.Unknown(n), m.Constant(n, 0)))
		m.SetFlags(machine.Subtraction, n, m.Constant(n, 0), m.Extend(1, has), zero, m.Constant(n, 1))
	default:
		return false
	}
	return true
}

// shift executes SHL or SHR. Its carry and overflow have no model, and if the count is in CL,
// which may be 0, no flag has one.
func (m model[W, V]) shift(i *machine.Instruction, n int) {
	a, by := m.get(&i.Operands[0], n), &i.Operands[1]
	var result W
	from := machine.ResultOnly
	switch {
	case by.Kind == machine.Immediate && (by.Number == 0 || by.Number >= uint64(n)):
		panic(machine.Unmodelled("a shift that is none"))
	case by.Kind == machine.Immediate && i.Mnemonic == "shl":
		result = m.Left(n, a, uint(by.Number))
	case by.Kind == machine.Immediate:
		result = m.Right(n, a, uint(by.Number))
	default:
		from = machine.Undefined
		count := m.And(64, m.Extend(8, m.get(by, 8)), m.Constant(64, uint64(n-1)))
		if i.Mnemonic == "shl" {
			result = m.LeftBy(n, a, count)
		} else {
			result = m.RightBy(n, a, count)
		}
	}
	m.set(&i.Operands[0], result)
	m.SetFlags(from, n, result, result, result, result)
}
