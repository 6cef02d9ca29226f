// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// constants writes the tables of the kernels. Each begins a multiple of 16 bytes after constants.
//
//	toFront   moves the end of a vector to its front, with zeros behind it, if it is loaded
//	          from a place that is earlier by what is left of the vector
//	sixteen   chooses the 16-bit words of L3 as words: 0 and 1 of two iterations, 2 and 3
//	mask36    2^36-1, twice, and then 5, twice
//	mask16    2^16-1, four times
func (f *file) constants() {
	var words []uint64
	words = append(words, 0x0706050403020100, 0x0f0e0d0c0b0a0908, 1<<64-1, 1<<64-1)
	const none = 0xffff0000ffff0000
	for _, first := range []uint64{4, 0} { // the bytes of the third and the first 16 bits of a word
		for _, at := range []uint64{first + 2, first} {
			pair := func(i uint64) uint64 { return i | (i+1)<<8 }
			words = append(words, none|pair(at)|pair(at+8)<<32)
		}
	}
	words = append(words, 1<<36-1, 1<<36-1, 5, 5)
	words = append(words, 0x0000ffff0000ffff, 0x0000ffff0000ffff)
	f.data(words)
}

// Offsets in constants.
const (
	toFront = 0
	sixteen = 32
	mask36  = 64
	mask16  = 96
)

// l3 is L3-HASH, RFC 4418 section 5.4, of the words in V0 and V1, big-endian in V2. It overwrites
// R2, R3 and V4 to V23.
//
// The 16-bit words of each iteration are multiplied by the lower 32 bits and the upper 4 bits of
// the words of the key: four sums of 64 bits and of 32.
func l3(c *code, n int) {
	const table, k x = 2, 3
	const sum, high, t, mask, five v = hashed, 4, 6, 8, 9 // sum and t have two registers for n == 4
	c.address(table, "constants<>")
	c.addx(k, key, "$(uhashKey_l3+l3Key_low)")
	c.ldp(mask, five, at(table, mask36))
	if n == 2 {
		const chosen, low, upper v = 10, 16, 20
		c.ldp(chosen, chosen+1, at(table, sixteen))
		for j := range v(4) {
			c.ldrq(12+j, at(k, 32*int(j)))
		}
		for i := range v(2) { // words 0 and 1, then 2 and 3
			c.tbl(chosen+i, 0, chosen+i)
			c.uzp1(low+i, 12+2*i, 13+2*i, s4)
			c.uzp2(upper+i, 12+2*i, 13+2*i, s4)
		}
		c.umull(sum, chosen, low)
		c.vmul(high, chosen, upper)
		c.umlal2(sum, chosen, low)
		c.vmla(high, chosen+1, upper+1)
		c.umlal(sum, chosen+1, low+1)
		c.umlal2(sum, chosen+1, low+1)
		c.shll(t, high)
		c.shll2(high, high)
		c.vadd(sum, sum, t, d2)
		c.vadd(sum, sum, high, d2)
	} else {
		const word, a, b, low, upper v = 10, 12, 13, 14, 18
		c.ldrq(a, at(table, mask16))
		c.uzp1(b, 0, 1, s4)
		c.uzp2(word+1, 0, 1, s4)
		c.ushr(word, word+1, 16, s4) // words 0 and 1 are in V10 and V11, 2 and 3 in V13 and V12
		c.vand(word+1, word+1, a)
		c.vand(a, b, a)
		c.ushr(b, b, 16, s4)
		for j, w := range []v{word, word + 1, b, a} {
			const first, second v = 22, 23
			l, u := low+v(j%4), upper+v(j%4)
			c.ldp(first, second, at(k, 32*j))
			c.uzp1(l, first, second, s4)
			c.uzp2(u, first, second, s4)
			if j == 0 {
				c.umull(sum, w, l)
				c.umull2(sum+1, w, l)
				c.vmul(high, w, u)
			} else {
				c.umlal(sum, w, l)
				c.umlal2(sum+1, w, l)
				c.vmla(high, w, u)
			}
		}
		c.shll(t, high)
		c.shll2(high, high)
		c.vadd(sum, sum, t, d2)
		c.vadd(sum+1, sum+1, high, d2)
	}
	for i := range v(n / 2) {
		s, t := sum+i, t+i
		c.ushr(t, s, 36, d2) // < 2^20
		c.vand(s, s, mask)
		c.vadd(s, s, t, d2)
		c.shl(t, t, 2, d2)
		c.vadd(s, s, t, d2) // < 2^36 + 5*2^20
	}
	c.comment("Minus p36 = 2^36-5 if it is that or more; only the lower 32 bits are used.")
	for i := range v(n / 2) {
		s, t := sum+i, t+i
		c.vadd(t, s, five, d2)
		c.ushr(t, t, 36, d2)
		c.vmla(s, t, five)
	}
	if n == 2 {
		c.ldrd(high, at(key, "uhashKey_l3+l3Key_k2"))
		c.uzp1(sum, sum, sum, s4)
	} else {
		c.ldrq(high, at(key, "uhashKey_l3+l3Key_k2"))
		c.uzp1(sum, sum, sum+1, s4)
	}
	c.veor(sum, sum, high)
	c.rev32(sum, sum)
}

const hashed v = 2 // what l3 makes

// xor stores what l3 has made, xor the pad.
func xor(c *code, n int, tag x, pad v) {
	c.veor(hashed, hashed, pad)
	if n == 2 {
		c.strd(hashed, at(tag, 0))
	} else {
		c.strq(hashed, at(tag, 0))
	}
}
