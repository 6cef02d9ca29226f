// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// The end of a message: a part of a block, of which the first groups may be in an l1State.
//
// General registers, besides those of NH: R0 is the l1State or the tag, R5 how many bytes there
// are to read, R8 the length of the block, R15 to R17, R19 and R20 are overwritten.
const (
	state  x = 0
	all    x = 5
	length x = 8
)

// keyAt sets lo and hi to the halves of the key for the bytes that the l1State has, and leaves
// their number in R9.
func keyAt(c *code, state x) {
	const have x = 9
	c.load(have, at(state, "l1State_bytes"))
	c.addx(lo, key, "$(uhashKey_l1+l1Key_lo)")
	c.addx(hi, key, "$(uhashKey_l1+l1Key_hi)")
	c.addx(lo, lo, fmt.Sprintf("%s>>1", have))
	c.addx(hi, hi, fmt.Sprintf("%s>>1", have))
}

// nhAdd generates nhAddNEON.
func nhAdd(fn function) func(n int, prefix string) code {
	return func(n int, prefix string) (c code) {
		const have x = 9
		c.load(state, fn.arg("s"))
		c.load(msg, fn.arg("p_base"))
		c.load(left, fn.arg("p_len"))
		keyAt(&c, state)
		c.addx(have, have, left)
		c.store(have, at(state, "l1State_bytes"))
		s := newSums(n)
		s.begin(&c, state)
		s.pairs(&c, prefix)
		c.jumpZero(left, prefix+"Done")
		c.ldp(message, message+1, at(msg, 0))
		s.groups(&c, 1)
		c.label(prefix + "Done")
		s.reduce(&c)
		if n == 4 {
			c.stp(0, 1, at(state, 0))
		} else {
			c.strq(0, at(state, 0))
		}
		c.ret()
		return c
	}
}

// lastWords sets V0 and V1 to the L1 words of the last block, RFC 4418 section 5.2: of the sums so
// far, of the R4 bytes at R3, and of R8 bytes in all. If mayBeEmpty is false, there is one at least.
// cold is code that must come after a return.
func lastWords(c *code, n int, prefix string, mayBeEmpty bool) (cold code) {
	s := newSums(n)
	c.mov(all, left)
	if mayBeEmpty {
		c.jumpZero(length, prefix+"Empty")
	}
	s.pairs(c, prefix)
	c.jumpBitClear(left, 5, prefix+"Part")
	c.ldp(message, message+1, next(msg, groupSize))
	c.and(left, left, groupSize-1)
	c.label(prefix + "Group")
	s.groups(c, 1)
	c.label(prefix + "Part")
	c.jumpNotZero(left, prefix+"Load")
	s.reduce(c)
	c.lsl(length, length, 3)
	c.dup(terms, length, d2)
	for i := range v(n / 2) {
		c.vadd(i, i, terms, d2)
	}

	loadPart(&cold, prefix+"Load", prefix+"Loaded", true)
	cold.label(prefix + "Loaded")
	cold.mov(left, zr)
	cold.jump(prefix + "Group")
	if mayBeEmpty {
		cold.comment("A message of no bytes is hashed as a group of zeros.")
		cold.label(prefix + "Empty")
		cold.zero(message)
		cold.zero(message + 1)
		cold.jump(prefix + "Group")
	}
	return cold
}

// loadPart sets V8 and V9 to the R4 bytes at R3, 1 to 31 of them, with zeros behind, and goes to the
// label loaded. If others is true, R5 is how many bytes there are that end there. It reads only
// these, and branches only on their number.
func loadPart(c *code, name, loaded string, others bool) {
	const table, beyond, a, b, bits x = 15, 16, 17, 19, 20
	c.label(name)
	c.zero(message + 1)
	c.address(table, "constants<>")
	c.subs(beyond, left, halfSize)
	c.sub(table, table, beyond)
	c.jumpIf("LT", name+"Short")
	c.comment("16 to 31 bytes: the high half is the end of the last 16.")
	c.ldrq(message, at(msg, 0))
	c.addx(msg, msg, beyond)
	c.ldrq(message+1, at(msg, 0))
	c.ldrq(terms, at(table, halfSize))
	c.tbl(message+1, message+1, terms)
	c.jump(loaded)
	c.label(name + "Short")
	if others {
		c.cmp(all, halfSize)
		c.jumpIf("LT", name+"Alone")
		c.comment("1 to 15 bytes after others: the end of the last 16.")
		c.addx(msg, msg, beyond)
		c.ldrq(message, at(msg, 0))
		c.ldrq(terms, at(table, toFront))
		c.tbl(message, message, terms)
		c.jump(loaded)
		c.label(name + "Alone")
	}
	c.comment("1 to 15 bytes, and no others.")
	loadFew(c, name, message, msg, left, a, b, beyond, bits, table)
	c.jump(loaded)
}

// loadFew sets d to the n bytes at p, 1 to 15 of them, with zeros behind. It reads only these, and
// branches only on n.
func loadFew(c *code, name string, d v, p, n, a, b, t, bits, end x) {
	c.mov(b, zr)
	c.lsl(bits, n, 3)
	c.addx(end, p, n)
	c.jumpBitClear(n, 3, name+"Four")
	c.load(a, at(p, 0))
	c.load(b, at(end, -8))
	c.constant(t, "120")
	c.sub(bits, t, bits) // 0 to 56: a shift by 64 would be none
	c.lsr(b, b, 8)
	c.lsr(b, b, bits)
	c.jump(name + "Moved")
	c.label(name + "Four")
	c.jumpBitClear(n, 2, name+"Two")
	c.load32(a, at(p, 0))
	c.load32(t, at(end, -4))
	c.sub(bits, bits, 32)
	c.lsl(t, t, bits)
	c.orr(a, a, t)
	c.jump(name + "Moved")
	c.label(name + "Two")
	c.load8(a, at(p, 0))
	c.jumpBitClear(n, 1, name+"Moved")
	c.load16(a, at(p, 0))
	c.jumpBitClear(n, 0, name+"Moved")
	c.load8(t, at(p, 2))
	c.orr(a, a, shifted(t, 16))
	c.label(name + "Moved")
	c.dup(d, a, d2)
	c.toVector(d, 1, b)
}

// fill generates fillNEON.
func fill(fn function) (c code) {
	const group x = 0
	c.load(group, fn.arg("group"))
	c.load(msg, fn.arg("p_base"))
	c.load(left, fn.arg("p_len"))
	c.jumpNotZero(left, "fillPart")
	c.zero(message)
	c.zero(message + 1)
	c.label("fillLoaded")
	c.stp(message, message+1, at(group, 0))
	c.ret()
	loadPart(&c, "fillPart", "fillLoaded", false)
	return c
}

// The pad is in V28.
const padHeld v = 28

// loadRest loads the arguments l1, rest and length, and begins with the sums of l1.
func loadRest(c *code, fn function, n int) {
	c.load(state, fn.arg("l1"))
	c.load(msg, fn.arg("rest_base"))
	c.load(left, fn.arg("rest_len"))
	c.load(length, fn.arg("length"))
	keyAt(c, state)
	newSums(n).begin(c, state)
}

// tag is L3 of the words in V0 and V1, xor the pad in the arguments, and the return.
func tag(c *code, fn function, n int) {
	c.load(0, fn.arg("tag"))
	c.ldrd(padHeld, fn.arg("x_first"))
	if n == 4 {
		c.load(2, fn.arg("x_second"))
		c.toVector(padHeld, 1, 2)
	}
	l3(c, n)
	xor(c, n, 0, padHeld)
	c.ret()
}

// tagOnly generates tagOnlyNEON.
func tagOnly(fn function) func(n int, prefix string) code {
	return func(n int, prefix string) (c code) {
		loadRest(&c, fn, n)
		cold := lastWords(&c, n, prefix, true)
		tag(&c, fn, n)
		c.add(cold)
		return c
	}
}

// tagNext generates tagNextNEON.
func tagNext(fn function) func(n int, prefix string) code {
	return func(n int, prefix string) (c code) {
		const y, value, k, square, m x = 9, 10, 11, 12, 13
		loadRest(&c, fn, n)
		cold := lastWords(&c, n, prefix, false)
		c.load(y, fn.arg("y"))
		polyConstants(&c)
		for t := range n {
			c.toGeneral(m, v(t/2), t%2)
			c.load(value, at(y, fmt.Sprintf("uint128__size*%d+uint128_lo", t)))
			c.load(k, at(key, l2Key64(t)))
			square64(&c, square, k, 14)
			poly64(&c, value, value, k, square, m, 14, 15, 16)
			reduce64(&c, value, 14)
			c.toVector(v(t/2), t%2, value)
		}
		tag(&c, fn, n)
		c.add(cold)
		return c
	}
}

// tagWords generates tagWordsNEON.
func tagWords(fn function) func(n int, prefix string) code {
	return func(n int, prefix string) (c code) {
		c.load(msg, fn.arg("words"))
		if n == 4 {
			c.ldp(0, 1, at(msg, 0))
		} else {
			c.ldrq(0, at(msg, 0))
		}
		tag(&c, fn, n)
		return c
	}
}
