// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// General registers of nhPoly, besides those of NH and POLY-64: R0 is y, R8 to R11 are the values,
// R12 to R15 the keys, R16, R17, R19 and R20 their squares, R21 is not zero if there is a block
// before, and R22 to R26 are overwritten. V28 and V29 are the words of the block before.
var (
	values    = []x{8, 9, 10, 11}
	polyKeys  = []x{12, 13, 14, 15}
	squares   = []x{16, 17, 19, 20}
	wordsHeld = []v{28, 29}
)

// nhPoly generates nhPolyNEON. The steps of POLY for the words of a block are spread between the
// instructions that hash the next one. For the first block there are none yet: the steps are
// executed too, and what they make is not used.
func nhPoly(fn function) func(n int, prefix string) code {
	const y, before x = 0, 21
	return func(n int, prefix string) (c code) {
		c.load(y, fn.arg("y"))
		c.load(msg, fn.arg("p_base"))
		c.load(left, fn.arg("p_len"))
		c.addx(lo, key, "$(uhashKey_l1+l1Key_lo)")
		c.addx(hi, key, "$(uhashKey_l1+l1Key_hi)")
		polyConstants(&c)
		c.mov(before, zr)
		for t := range n {
			c.load(values[t], at(y, fmt.Sprintf("uint128__size*%d+uint128_lo", t)))
			c.load(polyKeys[t], at(key, l2Key64(t)))
			square64(&c, squares[t], polyKeys[t], 22)
		}
		steps := func(first bool) (c code) {
			for t := range n {
				const m, result x = 22, 26
				c.toGeneral(m, wordsHeld[t/2], t%2)
				c.addx(m, m, 8*blockSize)
				d := values[t]
				if first {
					d = result
				}
				poly64(&c, d, values[t], polyKeys[t], squares[t], m, 23, 24, 25)
				if first {
					c.cmp(before, 0)
					c.csel("NE", values[t], result, values[t])
				}
			}
			return c
		}
		for _, r := range wordsHeld[:n/2] {
			c.zero(r)
		}
		c.label(prefix + "Block")
		s := newSums(n)
		c.add(interleave(s.block(), steps(true)))
		s.merge(&c)
		s.reduce(&c)
		for i, r := range wordsHeld[:n/2] {
			c.vmov(r, v(i))
		}
		c.constant(before, "1")
		c.addx(msg, msg, blockSize)
		c.subs(left, left, blockSize)
		c.jumpIf("NE", prefix+"Block")
		c.add(steps(false))
		for t := range n {
			c.store(values[t], at(y, fmt.Sprintf("uint128__size*%d+uint128_lo", t)))
		}
		c.ret()
		return c
	}
}

// l2Key64 is the offset of the key of POLY-64 of an iteration.
func l2Key64(t int) string { return fmt.Sprintf("uhashKey_l2+l2Key__size*%d+l2Key_k64", t) }

// nhBlocks generates nhBlocksNEON.
func nhBlocks(fn function) func(n int, prefix string) code {
	const words, length x = 0, 8
	return func(n int, prefix string) (c code) {
		c.load(words, fn.arg("words_base"))
		c.load(msg, fn.arg("p_base"))
		c.load(left, fn.arg("p_len"))
		c.addx(lo, key, "$(uhashKey_l1+l1Key_lo)")
		c.addx(hi, key, "$(uhashKey_l1+l1Key_hi)")
		c.constant(length, "(8*1024)")
		c.dup(wordsHeld[0], length, d2)
		c.label(prefix + "Block")
		s := newSums(n)
		c.add(s.block())
		s.merge(&c)
		s.reduce(&c)
		for i := range n / 2 {
			c.vadd(v(i), v(i), wordsHeld[0], d2)
		}
		if n == 4 {
			c.stp(0, 1, next(words, 8*maxIterations))
		} else {
			c.strq(0, next(words, 8*maxIterations))
		}
		c.addx(msg, msg, blockSize)
		c.subs(left, left, blockSize)
		c.jumpIf("NE", prefix+"Block")
		c.ret()
		return c
	}
}
