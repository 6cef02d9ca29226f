// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// SHA-256. A lane has a:b:c:d, e:f:g:h and a copy of the first. V16 and V17, which are wiped in any
// case, have the constants of four rounds each, for both lanes.
var sha256 = hash{
	bits:        256,
	instruction: "SHA2",
	words:       s4,
	pair: [2]lane{
		{0, 1, 7, []v{0, 1, 2}, []v{3, 4, 5, 6}, []v{7}, ""},
		{8, 9, 10, []v{18, 19, 20}, []v{21, 22, 23, 24}, []v{25}, "end256__size+"},
	},
	rounds: rounds256,
	padded: padded256,
}

// rounds256 is all rounds of a block.
func rounds256(c *code, lanes []lane) {
	k := [2]v{16, 17}
	for r := range 16 {
		if r%2 == 0 {
			c.ldp(k[0], k[1], at(constants, 16*r))
		}
		for _, l := range lanes { // interleaved, they would take 2 to 11 % longer, by llvm-mca
			l.fourRounds(c, r, k[r%2])
		}
	}
}

// fourRounds is rounds 4*r to 4*r+3, with these constants. In the first 48 rounds it also makes the
// words of 16 rounds later in place of its own: sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].
//
//	SHA256H    the new a, b, c and d
//	SHA256H2   the new e, f, g and h, from the old a to d
func (l lane) fourRounds(c *code, r int, k v) {
	abcd, efgh, before, kw := l.s[0], l.s[1], l.s[2], l.t[0]
	w := func(i int) v { return l.w[(r+i)%4] }
	c.vadd(kw, w(0), k, s4)
	c.vmov(before, abcd)
	c.sha256h(abcd, efgh, kw)
	c.sha256h2(efgh, before, kw)
	if r < 12 {
		c.sha256su0(w(0), w(1))
		c.sha256su1(w(0), w(2), w(3))
	}
}

// padded256 makes the vector that has the word after the others, and then puts it behind those that
// are whole.
func padded256(h *hash, c *code, l lane, label string) {
	const words, tail, from, word x = 5, 6, 11, 12
	last := l.t[0]
	c.load(words, h.endField(l, "words"))
	c.load32(tail, h.endField(l, "tail"))
	for _, w := range append(l.w, last) {
		c.zero(w)
	}
	c.addx(from, l.p, shifted(words, 2))
	c.jumpBitClear(words, 0, label+"Even")
	c.sub(from, from, 4)
	c.load32(word, at(from, 0))
	c.orr(tail, word, shifted(tail, 32))
	c.label(label + "Even")
	c.jumpBitClear(words, 1, label+"First")
	c.sub(from, from, 8)
	c.ldrd(last, at(from, 0))
	c.toVector(last, 1, tail)
	c.jump(label + "Last")
	c.label(label + "First")
	c.toVector(last, 0, tail)

	c.label(label + "Last")
	at := func(vectors int) string { return fmt.Sprintf("%sAfter%d", label, vectors) }
	c.jumpBitClear(words, 3, at(1))
	c.ldp(l.w[0], l.w[1], next(l.p, 32))
	c.jumpBitClear(words, 2, at(2))
	c.ldrq(l.w[2], next(l.p, 16))
	c.vmov(l.w[3], last)
	c.jump(label + "Ready")
	c.label(at(2))
	c.vmov(l.w[2], last)
	c.jump(label + "Ready")
	c.label(at(1))
	c.jumpBitClear(words, 2, at(0))
	c.ldrq(l.w[0], next(l.p, 16))
	c.vmov(l.w[1], last)
	c.jump(label + "Ready")
	c.label(at(0))
	c.vmov(l.w[0], last)

	c.label(label + "Ready")
	h.bigEndian(c, l)
	c.load(word, h.endField(l, "bits"))
	c.zero(last)
	c.toVector(last, 1, word)
	c.veor(l.w[3], l.w[3], last)
}
