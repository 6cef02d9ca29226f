// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const offset64 = 59 // 2^64 - p64

// polyMarked is the least word that is marked, 2^64-2^32. polyOffset is offset64, polySign
// is 2^63, and polyLast is the last residue, p64-1, less 2^63: four of each.
var polyMarked, polyOffset, polySign, polyLast Mem

func polyConstants() {
	polyMarked = GLOBL("polyMarked", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1<<64-1<<32))
	polyOffset = four("polyOffset", offset64)
	polySign = four("polySign", 1<<63)
	polyLast = four("polyLast", 1<<63-offset64-1)
}

// nhPoly generates nhPoly<isa>: L1 and L2 in one loop.
func nhPoly(v isa) {
	done := label("done")
	var frame Mem
	kernel("nhPoly"+v.name(), func(n int, k gotypes.Component) {
		r := newRun(v, n, k)
		y := Dereference(Param("y"))
		// A word goes through POLY between the instructions of NH of the next block: by
		// then it has left the vector unit, and nothing has to wait. Until then it is
		// in the frame, with the squares of POLY's keys.
		if n == maxIterations {
			frame = AllocLocal(2 * wordsSize)
		}
		word := func(t int) Mem { return frame.Offset(8 * t) }
		squared := func(t int) Mem { return frame.Offset(wordsSize + 8*t) }
		var squares, steps []func()
		for t := range n {
			square, code := mulCode(key64(k, t), RDX)
			squares = append(squares, code...)
			squares = append(squares, func() { MOVQ(square, squared(t)) })

			m := GP64()
			steps = append(steps,
				func() { Comment("The word of the block before, with its length in bits.") },
				func() { MOVQ(word(t), m) },
				func() { ADDQ(I32(8*blockSize), m) })
			value, code := polyCode(k, y, t, squared(t), m)
			steps = append(steps, code...)
			steps = append(steps, func() { MOVQ(value, field(y.Index(t).Field("lo"))) })
		}
		s := newSums(v, n)
		storeWords := func() {
			for i, low := range reduce(v, s) {
				v.store(low, word(2*i))
			}
		}
		block, last := label("block"), label("last")
		Comment("The first block: no words are before it.")
		emit(squares)
		r.next()
		nhBlock(v, s, r.lo, r.hi, r.p)
		storeWords()
		TESTQ(r.count, r.count)
		JZ(LabelRef(last))
		r.loop(block)
		r.hash(s, steps)
		storeWords()
		r.next()
		JNZ(LabelRef(block))
		Label(last)
		emit(steps)
		JMP(LabelRef(done))
	})
	Label(done)
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	VMOVDQU(zero, frame)
	VMOVDQU(zero, frame.Offset(wordsSize))
	VZEROUPPER()
	RET()
}

// mulCode returns instructions for the product k*y modulo p64 = 2^64-59, not reduced, for
// the key k64 and any y. y may be RDX, which has k then.
func mulCode(k64 Mem, y Op) (product GPVirtual, code []func()) {
	low, high, more := GP64(), GP64(), GP64()
	return low, []func(){
		func() { MOVQ(k64, RDX) },
		func() { MULXQ(y, low, high) }, // k < 2^57, so high < 2^57
		func() { LEAQ(Mem{Base: low, Disp: offset64}, more) },
		func() { IMUL3Q(Imm(offset64), high, high) }, // < 2^63
		func() { ADDQ(high, more) },
		func() { ADDQ(high, low) },
		func() { CMOVQCS(more, low) },
	}
}

// polyCode returns the instructions of a step of POLY-64, RFC 4418 section 5.3.2, without a
// branch. It makes of the value y and the word m in iteration t:
//
//	k*y + m                               if m < 2^64 - 2^32
//	k*(k*y - 1) + m-59 = k^2*y + m-59-k   otherwise
//
// modulo p64 = 2^64-59. k^2 is in squared. The values are below 2^64, not reduced.
func polyCode(k, y gotypes.Component, t int, squared Op, m GPVirtual) (value GPVirtual, code []func()) {
	k64, y64 := key64(k, t), field(y.Index(t).Field("lo"))
	low, factor, marked, foldLow, foldHigh := GP64(), GP64(), GP64(), GP64(), GP64()
	return low, append([]func(){
		func() { Comment("m < 2^64-2^32 ? k*y + m : k^2*y + (m-59-k)") },
		func() { MOVQ(k64, factor) },
		func() { LEAQ(Mem{Base: m, Disp: -offset64}, marked) },
		func() { SUBQ(factor, marked) },
		func() { CMPQ(m, polyMarked) },
		func() { CMOVQCC(squared, factor) },
		func() { CMOVQCC(marked, m) },
		func() { MOVQ(y64, RDX) },
		func() { MULXQ(factor, low, RDX) },
		func() { MULXQ(polyOffset, foldLow, foldHigh) }, // 59 * high, foldHigh < 59
		func() { ADDQ(foldLow, low) },
		func() { ADCQ(Imm(0), foldHigh) },
		func() { ADDQ(m, low) },
		func() { ADCQ(Imm(0), foldHigh) }, // <= 60
		func() { IMUL3Q(Imm(offset64), foldHigh, foldHigh) },
		func() { ADDQ(foldHigh, low) },
	}, addCarry59(low, foldHigh)...)
}

// key64 returns the address of POLY-64's key in iteration t.
func key64(k gotypes.Component, t int) Mem { return field(k.Field("l2").Index(t).Field("k64")) }

// addCarry59 returns instructions that add 59 to x if the addition before left a carry. x
// is then too small to carry again. t is overwritten.
func addCarry59(x, t GPVirtual) []func() {
	return []func(){
		func() { SBBQ(t, t) },
		func() { ANDQ(Imm(offset64), t) },
		func() { ADDQ(t, x) },
	}
}

// A poly is POLY-64 of n iterations, side by side.
type poly struct {
	k    []Mem      // the keys
	side VecVirtual // the keys, side by side
	// k*y and k*k*y for the value y, plus 2^63, because vectors are compared as signed numbers.
	ky, kky VecVirtual
}

func newPoly(n int, k gotypes.Component) poly {
	vec := wordsIn(n)
	p := poly{side: vec(), ky: vec(), kky: vec()}
	for t := range n {
		p.k = append(p.k, key64(k, t))
	}
	join(p.side, func(t int) Op { return p.k[t] }, n)
	return p
}

// times returns the products of the keys and y, each in a register, not reduced.
func (p poly) times(y []GPVirtual) (products []GPVirtual) {
	for t, k := range p.k {
		product, code := mulCode(k, y[t])
		emit(code)
		products = append(products, product)
	}
	return products
}

// setOne sets the value to 1.
func (p poly) setOne() {
	var squares []GPVirtual
	for _, k := range p.k {
		square, code := mulCode(k, RDX)
		emit(code)
		squares = append(squares, square)
	}
	VPXOR(polySign, p.side, p.ky)
	join64(p.kky, squares)
}

// set sets the value to y.
func (p poly) set(y []GPVirtual) {
	ky := p.times(y)
	join64(p.ky, ky)
	join64(p.kky, p.times(ky))
}

// last makes of the words of the last block the hashes of L2.
func (p poly) last(words VecVirtual) {
	Comment("L2: the last step of POLY-64.")
	p.step(words)
	Comment("The least residues.")
	least(words, len(p.k))
}

// step makes of the words m the values of POLY-64 after them, plus 2^63.
//
// It is polyCode's step, except that y is multiplied before the word is known.
func (p poly) step(m VecVirtual) {
	vec := wordsIn(len(p.k))
	marked, addend, carry, t := vec(), vec(), vec(), vec()
	Comment("m < 2^64-2^32 ? k*y + m : k*k*y + (m-59-k)")
	VPCMPEQD(marked, marked, marked)
	VPCMPEQD(m, marked, marked) // the upper half of m, for VBLENDVPD
	VPSUBQ(p.side, m, addend)
	VPSUBQ(polyOffset, addend, addend)
	VBLENDVPD(marked, addend, m, m)
	VBLENDVPD(marked, p.kky, p.ky, t)
	VPADDQ(t, m, m)
	VPCMPGTQ(m, t, carry)
	VPAND(polyOffset, carry, carry)
	VPADDQ(carry, m, m) // no carry: the addend is below 2^64-59
}

// least makes least residues of values plus 2^63.
func least(values VecVirtual, n int) {
	t := wordsIn(n)()
	VPCMPGTQ(polyLast, values, t)
	VPAND(polyOffset, t, t)
	VPXOR(polySign, values, values)
	VPADDQ(t, values, values)
}

// join64 puts values side by side, and adds 2^63 to each.
func join64(words VecVirtual, values []GPVirtual) {
	join(words, func(t int) Op { return values[t] }, len(values))
	VPXOR(polySign, words, words)
}

// loadEach returns n values, each in a register.
func loadEach(n int, value func(t int) Mem) (y []GPVirtual) {
	for t := range n {
		x := GP64()
		MOVQ(value(t), x)
		y = append(y, x)
	}
	return y
}

// storeEach stores n words one by one, and changes them.
func storeEach(n int, words VecVirtual, value func(t int) Mem) {
	for t := range n {
		if t == 2 {
			VEXTRACTI128(U8(1), words, words.AsX())
		}
		if t%2 == 0 {
			VMOVQ(words.AsX(), value(t))
		} else {
			VPEXTRQ(U8(1), words.AsX(), value(t))
		}
	}
}

// oneByOne returns n words, each in a register, and changes them.
func oneByOne(words VecVirtual, n int) (y []GPVirtual) {
	for t := range n {
		word := GP64()
		if t == 2 {
			VEXTRACTI128(U8(1), words, words.AsX())
		}
		if t%2 == 0 {
			VMOVQ(words.AsX(), word)
		} else {
			VPEXTRQ(U8(1), words.AsX(), word)
		}
		y = append(y, word)
	}
	return y
}
