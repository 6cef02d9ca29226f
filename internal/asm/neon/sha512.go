// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"slices"
)

// SHA-512, FIPS 180-4 section 6.4, of one message, and of two side by side: the two chains of
// instructions fill the one unit that executes them.
//
// General registers: R2 is how many blocks are left, R3 the constants, R4 the end or the ends, and
// R5 and R6 are overwritten. The others, and the vector registers, belong to a lane. Instructions of
// two lanes are interleaved, so they share none, except that t[0] of the first one has the
// constants of two rounds until they are added.
const (
	blocksLeft x = 2
	constants  x = 3
	ends       x = 4
	nextK      x = 5
	wordsLeft  x = 5
	tailWord   x = 6
)

const shaBlock = 128 // in bytes

// A lane is what a message has for itself.
type lane struct {
	state x      // the address of the chaining value
	p     x      // the blocks
	from  x      // the address of the chaining value that the block is added to
	s     [5]v   // the working variables a:b, c:d, e:f, g:h, and a free register
	w     [8]v   // the last 16 words of the message schedule
	t     [3]v   // overwritten
	end   string // the offset of the end
}

var (
	first  = lane{0, 1, 7, [5]v{0, 1, 2, 3, 4}, [8]v{5, 6, 7, 8, 9, 10, 11, 12}, [3]v{28, 29, 30}, ""}
	second = lane{8, 9, 10, [5]v{13, 14, 15, 16, 17}, [8]v{18, 19, 20, 21, 22, 23, 24, 25}, [3]v{31, 27, 26}, "end512__size+"}
)

// sha512 writes sha512_arm64.s.
func (f *file) sha512() {
	fn := f.begin("block512SHA512")
	var c code
	c.load(first.state, fn.arg("state"))
	c.load(first.p, fn.arg("p"))
	c.compress(fn, first)
	f.write(c)

	fn = f.begin("pair512SHA512")
	c = code{}
	c.load(first.state, fn.arg("state"))
	c.load(second.state, fn.arg("other"))
	c.load(first.p, fn.arg("p"))
	c.load(second.p, fn.arg("q"))
	c.compress(fn, first, second)
	f.write(c)
}

// compress is all of a function, except that it loads the addresses of states and blocks.
func (c *code) compress(fn function, lanes ...lane) {
	name := fmt.Sprintf("lanes%d", len(lanes))
	c.load(blocksLeft, fn.arg("blocks"))
	c.load(constants, fn.arg("k"))
	c.load(ends, fn.arg("end"))
	for _, l := range lanes {
		c.mov(l.from, l.state)
		l.loadState(c)
	}
	c.jumpZero(blocksLeft, name+"Padded")

	c.label(name + "Block")
	for _, l := range lanes {
		for i := 0; i < len(l.w); i += 2 {
			c.ldp(l.w[i], l.w[i+1], next(l.p, 32))
		}
		l.bigEndian(c)
	}

	c.label(name + "Rounds")
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
	for _, l := range lanes {
		l.addState(c)
	}
	c.subs(blocksLeft, blocksLeft, 1)
	c.jumpIf("GT", name+"Block")
	c.jumpZero(ends, name+"Done")
	for _, l := range lanes {
		c.load(l.from, at(ends, l.end+"end512_outer"))
	}
	c.jumpZero(first.from, name+"Done")
	c.comment("The last block of the outer hash: the state, and padding.")
	c.mov(ends, zr)
	for _, l := range lanes {
		l.outer(c)
	}
	c.jump(name + "Rounds")
	c.label(name + "Done")
	c.ret()

	c.label(name + "Padded")
	for i, l := range lanes {
		l.padded(c, fmt.Sprintf("%sEnd%d", name, i))
	}
	c.jump(name + "Rounds")
}

// loadState loads the chaining value that the block is added to.
func (l lane) loadState(c *code) {
	c.ldp(l.s[0], l.s[1], at(l.from, 0))
	c.ldp(l.s[2], l.s[3], at(l.from, 32))
}

// bigEndian makes numbers of the words as they are in memory.
func (l lane) bigEndian(c *code) {
	for _, w := range l.w {
		c.rev64(w, w)
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

// addState adds the chaining value to the working variables, and stores the new one.
func (l lane) addState(c *code) {
	x, y := l.w[0], l.w[1]
	for i := 0; i < 4; i += 2 {
		c.ldp(x, y, at(l.from, 16*i))
		c.vadd(l.s[i], l.s[i], x, d2)
		c.vadd(l.s[i+1], l.s[i+1], y, d2)
		c.stp(l.s[i], l.s[i+1], at(l.state, 16*i))
	}
}

// outer makes the last block of the outer hash: the inner hash and its padding.
func (l lane) outer(c *code) {
	for i := range 4 {
		c.vmov(l.w[i], l.s[i])
	}
	for _, w := range l.w[4:] {
		c.zero(w)
	}
	c.constant(wordsLeft, "1<<63")
	c.toVector(l.w[4], 0, wordsLeft)
	c.constant(wordsLeft, fmt.Sprint(8*(shaBlock+64)))
	c.toVector(l.w[7], 1, wordsLeft)
	l.loadState(c)
}

// padded makes a block: the words at p, the word after them, zeros, and the length.
func (l lane) padded(c *code, name string) {
	c.load(wordsLeft, at(ends, l.end+"end512_words"))
	c.load(tailWord, at(ends, l.end+"end512_tail"))
	for _, w := range l.w {
		c.zero(w)
	}
	last := len(l.w) - 1
	for i, w := range l.w[:last] {
		c.subs(wordsLeft, wordsLeft, 2)
		c.jumpIf("LT", fmt.Sprintf("%sAt%d", name, i))
		c.ldrq(w, next(l.p, 16))
	}
	c.jump(fmt.Sprintf("%sAt%d", name, last)) // there are fewer than 16 words
	for i, w := range l.w {
		c.label(fmt.Sprintf("%sAt%d", name, i))
		c.jumpBitClear(wordsLeft, 0, fmt.Sprintf("%sEven%d", name, i))
		c.ldrd(w, at(l.p, 0))
		c.toVector(w, 1, tailWord)
		c.jump(name + "Ready")
		c.label(fmt.Sprintf("%sEven%d", name, i))
		c.toVector(w, 0, tailWord)
		if i < last {
			c.jump(name + "Ready")
		}
	}
	c.label(name + "Ready")
	l.bigEndian(c)
	c.ldrq(l.t[0], at(ends, l.end+"end512_bits"))
	c.veor(l.w[7], l.w[7], l.t[0])
}
