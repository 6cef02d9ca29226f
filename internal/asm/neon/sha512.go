// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"slices"
)

// SHA-512. A lane has a:b, c:d, e:f and g:h, and t[0] of the first one has the constants of two rounds
// until they are added.
var sha512 = hash{
	bits:        512,
	instruction: "SHA512",
	words:       d2,
	pair: [2]lane{
		{0, 1, 7, []v{0, 1, 2, 3, 4}, []v{5, 6, 7, 8, 9, 10, 11, 12}, []v{28, 29, 30}, ""},
		{8, 9, 10, []v{13, 14, 15, 16, 17}, []v{18, 19, 20, 21, 22, 23, 24, 25}, []v{31, 27, 26}, "end512__size+"},
	},
	rounds: rounds512,
	padded: padded512,
}

// rounds512 is all rounds of a block.
func rounds512(c *code, lanes []lane) {
	const nextK x = 5
	c.mov(nextK, constants)
	for r := range 40 {
		k := lanes[0].t[0]
		c.ldrq(k, next(nextK, 16))
		for _, l := range slices.Backward(lanes) {
			c.vadd(l.t[0], l.w[r%8], k, d2)
		}
		rounds := lanes[0].doubleRound(r)
		for _, l := range lanes[1:] {
			rounds = interleave(rounds, l.doubleRound(r))
		}
		c.add(rounds)
	}
}

// order has the roles of the registers of s in five double rounds: it is the same again after
// five.
var order = [5][5]int{{0, 1, 2, 3, 4}, {3, 0, 4, 2, 1}, {2, 3, 1, 4, 0}, {4, 2, 0, 1, 3}, {1, 4, 3, 0, 2}}

// doubleRound is rounds 2*r and 2*r+1, with K + W in t[0]. In the first 64 rounds it also makes the
// words of 16 rounds later in place of its own: sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].
//
//	T1 = h + Sigma1(e) + Ch(e, f, g) + K + W    SHA512H, twice; the new e:f is c:d + T1
//	T2 = Sigma0(a) + Maj(a, b, c)               SHA512H2, twice, which adds T1: the new a:b
func (l lane) doubleRound(r int) (c code) {
	var s [5]v
	for i := range s {
		s[i] = l.s[order[r%5][i]]
	}
	ab, cd, ef, gh, free := s[0], s[1], s[2], s[3], s[4]
	w := func(i int) v { return l.w[(r+i)%8] }
	kw, fg, de := l.t[0], l.t[1], l.t[2]
	c.ext(fg, ef, gh)
	c.ext(kw, kw, kw)
	c.ext(de, cd, ef)
	c.vadd(gh, gh, kw, d2)
	if r < 32 {
		c.ext(kw, w(4), w(5))
		c.sha512su0(w(0), w(1))
	}
	c.sha512h(gh, fg, de)
	if r < 32 {
		c.sha512su1(w(0), w(7), kw)
	}
	c.vadd(free, cd, gh, d2)
	c.sha512h2(gh, cd, ab)
	return c
}

// padded512 reads the words of 64 bits two by two.
func padded512(h *hash, c *code, l lane, label string) {
	const left, tail x = 5, 6
	c.load(left, h.endField(l, "words"))
	c.load(tail, h.endField(l, "tail"))
	for _, w := range l.w {
		c.zero(w)
	}
	last := len(l.w) - 1
	for i, w := range l.w[:last] {
		c.subs(left, left, 2)
		c.jumpIf("LT", fmt.Sprintf("%sAt%d", label, i))
		c.ldrq(w, next(l.p, 16))
	}
	c.jump(fmt.Sprintf("%sAt%d", label, last)) // there are fewer than 16 words
	for i, w := range l.w {
		c.label(fmt.Sprintf("%sAt%d", label, i))
		c.jumpBitClear(left, 0, fmt.Sprintf("%sEven%d", label, i))
		c.ldrd(w, at(l.p, 0))
		c.toVector(w, 1, tail)
		c.jump(label + "Ready")
		c.label(fmt.Sprintf("%sEven%d", label, i))
		c.toVector(w, 0, tail)
		if i < last {
			c.jump(label + "Ready")
		}
	}
	c.label(label + "Ready")
	h.bigEndian(c, l)
	c.ldrq(l.t[0], h.endField(l, "bits"))
	c.veor(l.w[7], l.w[7], l.t[0])
}
