// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// NH, RFC 4418 section 5.2.2. A group is two halves of 16 bytes, low and high, and the key is two
// arrays of halves, lo and hi, so that no word needs to be moved: for group g and iteration t,
// half 2*g+t of the key, in turn from lo and hi, is added to the low half, and the one after it
// to the high half. Then UMLAL and UMLAL2 multiply and add two words each. An iteration uses the
// halves of the one before it, shifted by one.
//
// General registers: R1 the key, R3 the message, R4 how much of it is left, R6 and R7 the halves
// of the key, lo and hi. Vector registers: V0 to V7 sums, V8 to V11 the message, V12 to V15 terms,
// V16 to V27 halves of the key.
const (
	key       x = 1
	msg       x = 3
	left      x = 4
	lo, hi    x = 6, 7
	message   v = 8
	terms     v = 12
	keyHalves v = 16
)

// A sums is the registers in which products are added. Each iteration has two in each set: of the
// lower two words and of the upper two. Groups use the sets in turn, because a CPU may need three
// cycles from one sum to the next.
type sums struct{ n, sets int }

// newSums returns the sets for whole blocks.
func newSums(n int) sums { return sums{n, 4 / n} }

func (s sums) at(set, t, upper int) v { return v(2*(s.n*set+t) + upper) }

// product adds the term of NH, (x + kx) * (y + ky), of iteration t, for four words at a time. The
// first one of a sum sets it.
func (s sums) product(c *code, first bool, set, t int, x, y, kx, ky v) {
	a := terms + v(2*(t%2))
	b := a + 1
	c.vadd(a, x, kx, s4)
	c.vadd(b, y, ky, s4)
	if first {
		c.umull(s.at(set, t, 0), a, b)
		c.umull2(s.at(set, t, 1), a, b)
	} else {
		c.umlal(s.at(set, t, 0), a, b)
		c.umlal2(s.at(set, t, 1), a, b)
	}
}

// merge adds all sets to the first one.
func (s sums) merge(c *code) {
	for set := 1; set < s.sets; set++ {
		for t := range s.n {
			for upper := range 2 {
				c.vadd(s.at(0, t, upper), s.at(0, t, upper), s.at(set, t, upper), d2)
			}
		}
	}
}

// reduce sets V0 to the words of iterations 0 and 1, and V1 to those of 2 and 3.
func (s sums) reduce(c *code) {
	for t := range s.n {
		c.vadd(s.at(0, t, 0), s.at(0, t, 0), s.at(0, t, 1), d2)
	}
	for t := 0; t < s.n; t += 2 {
		c.vaddp(v(t/2), s.at(0, t, 0), s.at(0, t+1, 0), d2)
	}
}

// block hashes a whole block, and leaves the sums. The address of the key is at lo and hi.
func (s sums) block() (c code) {
	// The halves of each array go round in six registers.
	var loaded [2]int
	half := func(h int) v {
		array, i := h%2, h/2
		r := func(i int) v { return keyHalves + v(6*array+i%6) }
		if i == loaded[array] {
			base := []x{lo, hi}[array]
			if array == 1 && i == blockSize/groupSize { // the last one
				c.ldrq(r(i), at(base, halfSize*i))
			} else {
				c.ldp(r(i), r(i+1), at(base, halfSize*i))
			}
			loaded[array] += 2
		}
		return r(i)
	}
	for g := range blockSize / groupSize {
		x := message + v(2*(g%2))
		c.ldp(x, x+1, at(msg, groupSize*g))
		for t := range s.n {
			s.product(&c, g < s.sets, g%s.sets, t, x, x+1, half(2*g+t), half(2*g+t+1))
		}
	}
	return c
}

// groups hashes the next group or two, in V8 to V11, and moves lo and hi on. Half h of the key,
// counted from the first group, is in V16+h.
func (s sums) groups(c *code, n int) {
	halves := 2*(n-1) + s.n + 1
	for array, base := range []x{lo, hi} {
		m := next(base, halfSize*n)
		for h := array; h < halves; h += 4 {
			if h+2 < halves {
				c.ldp(keyHalves+v(h), keyHalves+v(h+2), m)
			} else {
				c.ldrq(keyHalves+v(h), m)
			}
			m = at(base, halfSize*(h/2+2-n))
		}
	}
	for g := range n {
		for t := range s.n {
			x, k := message+v(2*g), keyHalves+v(2*g+t)
			s.product(c, false, g%s.sets, t, x, x+1, k, k+1)
		}
	}
}

// begin loads the first set of sums from an l1State.
func (s sums) begin(c *code, state x) {
	for t := range s.n {
		c.ldrd(s.at(0, t, 0), at(state, 8*t))
		c.zero(s.at(0, t, 1))
	}
}

// pairs hashes the groups at R3, two at a time, while there are two, and leaves at R4 how many
// bytes remain, from 0 to 63.
func (s sums) pairs(c *code, prefix string) {
	c.subs(left, left, 2*groupSize)
	c.jumpIf("LT", prefix+"Few")
	for set := 1; set < s.sets; set++ {
		for t := range s.n {
			c.zero(s.at(set, t, 0))
			c.zero(s.at(set, t, 1))
		}
	}
	c.label(prefix + "Pairs")
	c.ldp(message, message+1, next(msg, groupSize))
	c.ldp(message+2, message+3, next(msg, groupSize))
	s.groups(c, 2)
	c.subs(left, left, 2*groupSize)
	c.jumpIf("GE", prefix+"Pairs")
	s.merge(c)
	c.label(prefix + "Few")
	c.and(left, left, 2*groupSize-1)
}
