// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// SHA-256 and SHA-512, FIPS 180-4 section 6, of one message, and of two side by side: the two chains
// of instructions fill the one unit that executes them.
//
// General registers: R2 is how many blocks are left, R3 the constants, R4 the end or the ends, and
// R5, R6, R11 and R12 are overwritten. The others belong to a lane, as the vector registers do.
// Two lanes share none, because their instructions are mixed.
const (
	blocksLeft x = 2
	constants  x = 3
	ends       x = 4
)

// A hash is what the two differ in.
type hash struct {
	bits        int
	instruction string // as in the names of kernels
	words       string // the words of a vector, as Go's assembler writes them
	pair        [2]lane

	// rounds writes all rounds of a block.
	rounds func(c *code, lanes []lane)
	// padded makes a block: the words at p, the word after them, zeros, and the length.
	padded func(h *hash, c *code, l lane, label string)
}

// A lane is what a message has for itself.
type lane struct {
	state x      // the address of the chaining value
	p     x      // the blocks
	from  x      // the address of the chaining value that the block is added to
	s     []v    // the working variables, in order, and a free register
	w     []v    // the last 16 words of the message schedule
	t     []v    // overwritten
	end   string // the offset of the end
}

// sha2 writes sha2_arm64.s.
func (f *file) sha2() {
	for _, h := range []*hash{&sha256, &sha512} {
		fn := f.begin(fmt.Sprint("block", h.bits, h.instruction))
		var c code
		c.load(h.pair[0].state, fn.arg("state"))
		c.load(h.pair[0].p, fn.arg("p"))
		h.compress(&c, fn, h.pair[:1])
		f.write(c)

		fn = f.begin(fmt.Sprint("pair", h.bits, h.instruction))
		c = code{}
		c.load(h.pair[0].state, fn.arg("state"))
		c.load(h.pair[1].state, fn.arg("other"))
		c.load(h.pair[0].p, fn.arg("p"))
		c.load(h.pair[1].p, fn.arg("q"))
		h.compress(&c, fn, h.pair[:])
		f.write(c)

		fn = f.begin(fmt.Sprint("iterate", h.bits, h.instruction))
		c = code{}
		c.load(h.pair[0].state, fn.arg("it"))
		h.iterate(&c, fn, h.pair[:1])
		f.write(c)

		fn = f.begin(fmt.Sprint("iteratePair", h.bits, h.instruction))
		c = code{}
		c.load(h.pair[0].state, fn.arg("its"))
		c.addx(h.pair[1].state, h.pair[0].state, iterationStates*h.bits/8)
		h.iterate(&c, fn, h.pair[:])
		f.write(c)
	}
}

// compress is all of a function, except that it loads the addresses of states and blocks.
func (h *hash) compress(c *code, fn function, lanes []lane) {
	c.load(blocksLeft, fn.arg("blocks"))
	c.load(constants, fn.arg("k"))
	c.load(ends, fn.arg("end"))
	for _, l := range lanes {
		c.mov(l.from, l.state)
		l.loadState(c)
	}
	c.jumpZero(blocksLeft, "padded")

	c.label("block")
	for _, l := range lanes {
		for i := 0; i < len(l.w); i += 2 {
			c.ldp(l.w[i], l.w[i+1], next(l.p, 32))
		}
		h.bigEndian(c, l)
	}

	c.label("rounds")
	h.rounds(c, lanes)
	for _, l := range lanes {
		h.addState(c, l)
	}
	c.subs(blocksLeft, blocksLeft, 1)
	c.jumpIf("GT", "block")
	c.jumpZero(ends, "done")
	for _, l := range lanes {
		c.load(l.from, h.endField(l, "outer"))
	}
	c.jumpZero(lanes[0].from, "done")
	c.comment("The last block of the outer hash: the state, and padding.")
	c.mov(ends, zr)
	for _, l := range lanes {
		h.outer(c, l)
	}
	c.jump("rounds")
	c.label("done")
	c.ret()

	c.label("padded")
	for i, l := range lanes {
		h.padded(h, c, l, fmt.Sprint("end", i))
	}
	c.jump("rounds")
}

// endField returns a field of the end of a lane.
func (h *hash) endField(l lane, name string) mem {
	return at(ends, fmt.Sprintf("%send%d_%s", l.end, h.bits, name))
}

// loadState loads the chaining value that the block is added to.
func (l lane) loadState(c *code) {
	for i := 0; i < len(l.s)-1; i += 2 {
		c.ldp(l.s[i], l.s[i+1], at(l.from, 16*i))
	}
}

// addState adds the chaining value to the working variables, and stores the new one.
func (h *hash) addState(c *code, l lane) {
	x, y := l.w[0], l.w[1]
	for i := 0; i < len(l.s)-1; i += 2 {
		c.ldp(x, y, at(l.from, 16*i))
		c.vadd(l.s[i], l.s[i], x, h.words)
		c.vadd(l.s[i+1], l.s[i+1], y, h.words)
		c.stp(l.s[i], l.s[i+1], at(l.state, 16*i))
	}
}

// bigEndian makes numbers of the words as they are in memory.
func (h *hash) bigEndian(c *code, l lane) {
	for _, w := range l.w {
		if h.words == s4 {
			c.rev32(w, w)
		} else {
			c.rev64(w, w)
		}
	}
}

// outer makes the last block of the outer hash: the inner hash and its padding.
func (h *hash) outer(c *code, l lane) {
	for i, w := range l.w[:len(l.w)/2] {
		c.vmov(w, l.s[i])
	}
	h.outerPadding(c, l)
	l.loadState(c)
}

// outerPadding makes the second half of a block whose first half is a hash: a word with one bit, and
// the length of a block and a half.
func (h *hash) outerPadding(c *code, l lane) {
	half := len(l.w) / 2
	for _, w := range l.w[half:] {
		c.zero(w)
	}
	const one, length x = 5, 5
	first, last := "1<<63", fmt.Sprint(3*h.bits)
	if h.words == s4 { // the lower and the upper word of 64 bits
		first, last = "1<<31", last+"<<32"
	}
	c.constant(one, first)
	c.toVector(l.w[half], 0, one)
	c.constant(length, last)
	c.toVector(l.w[len(l.w)-1], 1, length)
}

// The chaining values of an iteration of PBKDF2, in the order in which it has them.
const (
	iterationInner = iota
	iterationOuter
	iterationU
	iterationT
	iterationStates
)

// iterate is all of a function for the iteration of PBKDF2, RFC 8018 section 5.2, except that it loads
// the addresses of iterations: U becomes the HMAC of U, and is added to T. A step compresses two blocks,
// both of a hash and outerPadding: U, and the inner hash. What it makes of these is the next U, so
// that words never leave the registers.
func (h *hash) iterate(c *code, fn function, lanes []lane) {
	const steps, from, outer x = 2, 4, 6 // the offsets of the chaining value in use, and of the outer one
	size := h.bits / 8
	place := func(l lane, state, i int) mem { return at(l.state, state*size+16*i) }
	c.load(steps, fn.arg("n"))
	c.load(constants, fn.arg("k"))
	c.mov(from, zr)
	c.constant(outer, fmt.Sprint(iterationOuter*size))
	for _, l := range lanes {
		for i := 0; i < len(l.w)/2; i += 2 {
			c.ldp(l.w[i], l.w[i+1], place(l, iterationU, i))
		}
	}
	c.label("block")
	for _, l := range lanes {
		c.addx(l.from, l.state, from)
		h.outerPadding(c, l)
		l.loadState(c)
	}
	h.rounds(c, lanes)
	for _, l := range lanes {
		for i := 0; i < len(l.w)/2; i += 2 {
			c.ldp(l.w[i], l.w[i+1], at(l.from, 16*i))
			c.vadd(l.w[i], l.w[i], l.s[i], h.words)
			c.vadd(l.w[i+1], l.w[i+1], l.s[i+1], h.words)
		}
	}
	c.sub(from, outer, from)
	c.jumpNotZero(from, "block")
	for _, l := range lanes {
		for i := 0; i < len(l.w)/2; i += 2 {
			c.ldp(l.s[0], l.s[1], place(l, iterationT, i))
			c.veor(l.s[0], l.s[0], l.w[i])
			c.veor(l.s[1], l.s[1], l.w[i+1])
			c.stp(l.s[0], l.s[1], place(l, iterationT, i))
		}
	}
	c.subs(steps, steps, 1)
	c.jumpIf("NE", "block")
	for _, l := range lanes {
		for i := 0; i < len(l.w)/2; i += 2 {
			c.stp(l.w[i], l.w[i+1], place(l, iterationU, i))
		}
	}
	c.ret()
}
