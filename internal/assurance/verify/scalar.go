// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "strings"

// scalar executes an instruction on general registers and opmasks. It reports whether i is one.
func (m *machine[W, V]) scalar(i *instruction) bool {
	var n int
	if len(i.operands) > 0 {
		n = i.operands[0].size
	}
	operand := func(k int) W { return m.get(&i.operands[k], n) }
	set := func(w W) { m.set(&i.operands[0], w) }
	zero := m.constant(1, 0)
	same := len(i.operands) == 2 && i.operands[0] == i.operands[1] // the result does not depend on the register

	if suffix, ok := strings.CutPrefix(i.mnemonic, "cmov"); ok {
		set(m.choose(n, m.condition(suffix), operand(1), operand(0)))
		return true
	}
	switch i.mnemonic {
	case "mov":
		set(operand(1))
	case "movzx":
		w := m.extend(i.operands[1].size, operand(1))
		set(m.extract(w, 0, n))
	case "lea":
		set(m.where(&i.operands[1]))
	case "add", "adc":
		a, b, c := operand(0), operand(1), zero
		if i.mnemonic == "adc" {
			c = m.carryFlag()
		}
		result := m.add(n, a, b)
		if i.mnemonic == "adc" {
			result = m.add(n, result, m.extend(1, c))
		}
		set(result)
		m.setFlags(sum, n, a, b, c, result)
	case "sub", "cmp", "sbb", "neg":
		var a, b, c W
		switch {
		case i.mnemonic == "neg":
			a, b, c = m.constant(n, 0), operand(0), zero
		case same:
			a, b, c = m.constant(n, 0), m.constant(n, 0), zero
		default:
			a, b, c = operand(0), operand(1), zero
		}
		result := m.sub(n, a, b)
		if i.mnemonic == "sbb" {
			c = m.carryFlag()
			result = m.sub(n, result, m.extend(1, c))
		}
		if i.mnemonic != "cmp" {
			set(result)
		}
		m.setFlags(difference, n, a, b, c, result)
	case "dec":
		a, c, known := operand(0), zero, m.flags.carryKnown
		if known {
			c = m.carryFlag()
		}
		result := m.sub(n, a, m.constant(n, 1))
		set(result)
		m.setFlags(decrement, n, a, m.constant(n, 1), c, result)
		m.flags.carryKnown = known
	case "and", "or", "xor", "test", "andn":
		var result W
		switch {
		case i.mnemonic == "xor" && same:
			result = m.constant(n, 0)
		case i.mnemonic == "xor":
			result = m.xor(n, operand(0), operand(1))
		case i.mnemonic == "or":
			result = m.or(n, operand(0), operand(1))
		case i.mnemonic == "andn":
			result = m.and(n, m.xor(n, operand(1), m.constant(n, 1<<64-1)), operand(2))
		default:
			result = m.and(n, operand(0), operand(1))
		}
		if i.mnemonic != "test" {
			set(result)
		}
		m.setFlags(logic, n, result, result, zero, result)
	case "shl", "shr":
		m.shift(i, n)
	case "shlx":
		set(m.leftBy(n, operand(1), m.and(64, operand(2), m.constant(64, uint64(n-1)))))
	case "rorx":
		set(m.rotate(n, operand(1), uint(i.operands[2].number)))
	case "bzhi":
		count := m.extend(8, m.extract(operand(2), 0, 8))
		result := m.lowBits(n, operand(1), count)
		set(result)
		m.setFlags(resultOnly, n, result, result, zero, result)
	case "bswap":
		var v, reversed V
		m.setLane(&v, n, 0, operand(0))
		for k := range n / 8 {
			m.setLane(&reversed, 8, n/8-1-k, m.lane(&v, 8, k))
		}
		set(m.lane(&reversed, n, 0))
	case "imul":
		if len(i.operands) != 3 {
			return false
		}
		set(m.mulLow(n, operand(1), operand(2)))
		m.setFlags(undefined, n, zero, zero, zero, zero)
	case "mulx":
		low, high := m.wide(m.general[rdx], operand(2))
		m.set(&i.operands[1], low)
		set(high) // if both are one register it has the high half
	case "kmovb", "kmovw", "kmovd", "kmovq":
		bits := map[string]int{"kmovb": 8, "kmovw": 16, "kmovd": 32, "kmovq": 64}[i.mnemonic]
		if i.operands[0].kind != opmask {
			return false
		}
		m.masks[i.operands[0].number] = m.extend(bits, m.extract(operand(1), 0, bits))
	case "kshiftrb":
		w := m.right(8, m.extract(m.masks[i.operands[1].number], 0, 8), uint(i.operands[2].number))
		m.masks[i.operands[0].number] = m.extend(8, w)
	case "push":
		m.general[rsp] = m.add(64, m.general[rsp], m.constant(64, 1<<64-8))
		var v V
		m.setLane(&v, 64, 0, operand(0))
		m.store(m.general[rsp], &v, 8)
	case "pop":
		v := m.load(m.general[rsp], 8)
		set(m.lane(&v, 64, 0))
		m.general[rsp] = m.add(64, m.general[rsp], m.constant(64, 8))
	case "cpuid": // the same for every program on the machine
		for _, r := range []int{rax, rbx, rcx, rdx} {
			m.general[r] = m.constant(64, 0)
		}
	default:
		return false
	}
	return true
}

// shift executes SHL or SHR. Its carry and overflow have no model, and if the count is in CL,
// which may be 0, no flag has one.
func (m *machine[W, V]) shift(i *instruction, n int) {
	a, by := m.get(&i.operands[0], n), &i.operands[1]
	var result W
	from := resultOnly
	switch {
	case by.kind == immediate && i.mnemonic == "shl":
		result = m.left(n, a, uint(by.number))
	case by.kind == immediate:
		result = m.right(n, a, uint(by.number))
	default:
		from = undefined
		count := m.and(64, m.extend(8, m.get(by, 8)), m.constant(64, uint64(n-1)))
		if i.mnemonic == "shl" {
			result = m.leftBy(n, a, count)
		} else {
			result = m.rightBy(n, a, count)
		}
	}
	m.set(&i.operands[0], result)
	m.setFlags(from, n, result, result, result, result)
}
