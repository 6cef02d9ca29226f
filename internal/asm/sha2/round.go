// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// variables are the registers of the working variables a to h, of b xor c, and of
// temporary values. After 16 rounds of one form all but these are where they were.
type variables struct {
	*Hash
	Form
	v           [8]GPVirtual
	bc, t, x, y GPVirtual
}

func (h *Hash) newVariables(form Form) *variables {
	r := &variables{Hash: h, Form: form, bc: h.register(), t: h.register(), x: h.register(), y: h.register()}
	for i := range r.v {
		r.v[i] = h.register()
	}
	return r
}

// loadVariables returns registers that hold the state.
func (h *Hash) loadVariables(form Form) *variables {
	r := h.newVariables(form)
	state := Load(Param("state"), GP64())
	for i, v := range r.v {
		h.mov(Mem{Base: state, Disp: h.wordSize * i}, v)
	}
	return r
}

// setBC sets b xor c.
func (r *variables) setBC() {
	r.mov(r.v[1], r.bc)
	r.xor(r.v[2], r.bc)
}

// addState adds the state at the beginning of the block, and sets the state to the sums.
func (r *variables) addState() {
	state := Load(Param("state"), GP64())
	for i, v := range r.v {
		r.add(Mem{Base: state, Disp: r.wordSize * i}, v)
		r.mov(v, Mem{Base: state, Disp: r.wordSize * i})
	}
}

// wipe sets the registers of the state to zero. The runtime may save what is in them on the stack.
func (r *variables) wipe() {
	for _, v := range r.v {
		XORL(v.As32(), v.As32())
	}
}

// round is a round,
//
//	T1 = h + K + W + Ch(e, f, g) + Sigma1(e)
//	e' = d + T1
//	a' = T1 + Maj(a, b, c) + Sigma0(a)
//
// where K + W is in memory at kw, in one of two forms, for two kinds of CPU. The order of independent
// operations matters by up to 10 %.
func (r *variables) round(kw Mem) {
	if r.ShortChains {
		r.shortChains(kw)
	} else {
		r.fewInstructions(kw)
	}
}

// fewInstructions is a round of 24 instructions, for CPUs that start four to six in a
// cycle. The longest chains, from e to e' and from a to a', have five operations each.
//
//	Ch(e, f, g)  = ((f xor g) and e) xor g
//	Maj(a, b, c) = ((a xor b) and (b xor c)) xor b
func (r *variables) fewInstructions(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]

	r.add(kw, h)
	r.mov(f, r.t)
	r.xor(g, r.t)
	r.and(e, r.t)
	r.xor(g, r.t)
	r.sigma(e, r.upper1)
	r.add(r.t, h)
	r.mov(a, r.t)
	r.xor(b, r.t)
	r.and(r.t, r.bc)
	r.xor(b, r.bc) // Maj
	r.add(r.x, h)  // T1
	r.add(h, d)    // e'
	r.add(r.bc, h)
	r.sigma(a, r.upper0)
	r.add(r.x, h) // a'

	r.v = [8]GPVirtual{h, a, b, c, d, e, f, g}
	r.bc, r.t, r.x, r.y = r.t, r.x, r.y, r.bc // the next b and c are a and b
}

// shortChains is a round of 26 instructions, for CPUs that start more of them in a cycle.
// The longest chains have four operations each: d is added to the sum for e' before
// anything that depends on e, and T1 is e' - d. On such a CPU it is up to 7 % faster than a
// round with two instructions less and chains of five.
//
//	Ch(e, f, g)  = (e and f) + (not e and g)
//	Maj(a, b, c) = (a and (b xor c)) + (b and not (b xor c))
func (r *variables) shortChains(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]

	r.add(kw, h)
	r.add(d, h)
	r.mov(f, r.t)
	r.and(e, r.t)
	r.add(r.t, h)
	r.sigma(e, r.upper1)
	r.andn(g, e, r.t)
	r.add(r.t, h)
	r.add(r.x, h) // e'

	r.andn(b, r.bc, r.t)
	r.sub(d, r.t)
	r.and(a, r.bc)
	r.add(r.bc, r.t)
	r.add(h, r.t)
	r.sigma(a, r.upper0)
	r.add(r.x, r.t) // a'
	r.mov(a, d)
	r.xor(b, d)

	r.v = [8]GPVirtual{r.t, a, b, c, h, e, f, g}
	r.bc, r.t, r.x, r.y = d, r.x, r.y, r.bc
}

// sigma sets r.x to the xor of v rotated right by each number.
func (r *variables) sigma(v GPVirtual, by [3]uint8) {
	r.rorx(U8(by[0]), v, r.x)
	r.rorx(U8(by[1]), v, r.y)
	r.xor(r.y, r.x)
	r.rorx(U8(by[2]), v, r.y)
	r.xor(r.y, r.x)
}
