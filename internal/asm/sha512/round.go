// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// variables are the registers of the working variables a to h, of b xor c, and of a
// temporary value.
type variables struct {
	v     [8]GPVirtual
	bc, t GPVirtual
}

// loadVariables returns registers that hold the state.
func loadVariables() variables {
	r := variables{bc: GP64(), t: GP64()}
	state := Load(Param("state"), GP64())
	for i := range r.v {
		r.v[i] = GP64()
		MOVQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
	}
	return r
}

// setBC sets b xor c.
func (r *variables) setBC() {
	MOVQ(r.v[1], r.bc)
	XORQ(r.v[2], r.bc)
}

// addState adds the state at the beginning of the block, and sets the state to the sums.
func (r *variables) addState() {
	state := Load(Param("state"), GP64())
	for i := range r.v {
		ADDQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
		MOVQ(r.v[i], Mem{Base: state, Disp: wordSize * i})
	}
}

// wipe sets the registers of the state to zero. The runtime may save what is in them on the stack.
func (r *variables) wipe() {
	for _, v := range r.v {
		XORL(v.As32(), v.As32())
	}
}

// The next two methods are forms of a round,
//
//	T1 = h + K + W + Ch(e, f, g) + Sigma1(e)
//	e' = d + T1
//	a' = T1 + Maj(a, b, c) + Sigma0(a)
//
// where K + W is in memory at kw, for two kinds of CPU. The order of independent
// operations matters by up to 10 %.

// fewInstructions is a round of 24 instructions, for CPUs that start four to six in a
// cycle. The longest chains, from e to e' and from a to a', have five operations each.
//
//	Ch(e, f, g)  = ((f xor g) and e) xor g
//	Maj(a, b, c) = ((a xor b) and (b xor c)) xor b
func (r *variables) fewInstructions(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]
	x, y := GP64(), GP64()

	ADDQ(kw, h)
	MOVQ(f, r.t)
	XORQ(g, r.t)
	ANDQ(e, r.t)
	XORQ(g, r.t)
	sigma(e, 14, 18, 41, x, y)
	ADDQ(r.t, h)
	MOVQ(a, r.t)
	XORQ(b, r.t)
	ANDQ(r.t, r.bc)
	XORQ(b, r.bc) // Maj
	ADDQ(x, h)    // T1
	ADDQ(h, d)    // e'
	ADDQ(r.bc, h)
	sigma(a, 28, 34, 39, x, y)
	ADDQ(x, h) // a'

	r.v = [8]GPVirtual{h, a, b, c, d, e, f, g}
	r.bc, r.t = r.t, r.bc // the next b and c are a and b
}

// shortChains is a round of 27 instructions, for CPUs that start more of them in a cycle.
// The longest chains have four operations each: d is added to the sum for e' before
// anything that depends on e, and T1 is e' - d. On such a CPU it is up to 7 % faster than a
// round with two instructions less and a chain of five.
//
//	Ch(e, f, g)  = (e and f) + (not e and g)
//	Maj(a, b, c) = (a and (b xor c)) + (b and not (b xor c))
func (r *variables) shortChains(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]
	x, y := GP64(), GP64()

	ADDQ(kw, h)
	ADDQ(d, h)
	MOVQ(f, r.t)
	ANDQ(e, r.t)
	ADDQ(r.t, h)
	sigma(e, 14, 18, 41, x, y)
	ANDNQ(g, e, r.t)
	ADDQ(r.t, h)
	ADDQ(x, h) // e'

	ANDNQ(b, r.bc, r.t)
	SUBQ(d, r.t)
	ANDQ(a, r.bc)
	ADDQ(r.bc, r.t)
	sigma(a, 28, 34, 39, x, y)
	MOVQ(r.t, d) // no LEAQ: with BP or R13 for a base it takes two cycles
	ADDQ(h, d)
	ADDQ(x, d) // a'

	r.v = [8]GPVirtual{d, a, b, c, h, e, f, g}
	r.setBC()
}

// sigma sets x to the xor of v rotated right by i, by j and by k. It uses t.
func sigma(v GPVirtual, i, j, k uint8, x, t GPVirtual) {
	RORXQ(U8(i), v, x)
	RORXQ(U8(j), v, t)
	XORQ(t, x)
	RORXQ(U8(k), v, t)
	XORQ(t, x)
}
