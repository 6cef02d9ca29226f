// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const offset64 = 59 // 2^64 - p64

// nhPoly generates nhPoly<isa>: L1 and L2 in one loop.
func nhPoly(v isa) {
	done := label("done")
	var frame Mem
	kernel("nhPoly"+v.name(), func(n int, k gotypes.Component) {
		r := newRun(v, n, k)
		y := Dereference(Param("y"))
		// A word goes through POLY after NH of the next block: by then it has left
		// the vector unit, and nothing has to wait. Until then it is in the frame,
		// with the squares of POLY's keys.
		if n == maxIterations {
			frame = AllocLocal(2 * wordsSize)
		}
		word := func(t int) Mem { return frame.Offset(8 * t) }
		squares := make([]Op, n)
		for t := range squares {
			squares[t] = frame.Offset(wordsSize + 8*t)
			MOVQ(square(k, t), squares[t])
		}
		polySteps := func() {
			for t := range n {
				Comment("The word of the block before, with its length in bits.")
				m := GP64()
				MOVQ(word(t), m)
				ADDQ(I32(8*blockSize), m)
				MOVQ(polyStep(k, y, t, squares[t], m), field(y.Index(t).Field("lo")))
			}
		}
		block, entry := label("block"), label("entry")
		s := newSums(v, n)
		first := GP64()
		MOVQ(r.count, first)
		r.loop(block)
		r.hash(s)
		CMPQ(r.count, first)
		JEQ(LabelRef(entry))
		polySteps()
		Label(entry)
		for i, low := range reduce(v, s, nil) {
			v.store(low, word(2*i))
		}
		r.next(block)
		polySteps()
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

// square returns the square of POLY-64's key in iteration t modulo p64, not reduced.
func square(k gotypes.Component, t int) GPVirtual {
	k64 := field(k.Field("l2").Index(t).Field("k64"))
	low, high := GP64(), GP64()
	MOVQ(k64, RDX)
	MULXQ(RDX, low, high) // k < 2^57, so high < 2^50
	IMUL3Q(Imm(offset64), high, high)
	ADDQ(high, low)
	addCarry59(low, high)
	return low
}

// polyStep returns what a step of POLY-64, RFC 4418 section 5.3.2, makes of the
// value y and the word m in iteration t, without a branch:
//
//	k*y + m                               if m < 2^64 - 2^32
//	k*(k*y - 1) + m-59 = k^2*y + m-59-k   otherwise
//
// modulo p64 = 2^64-59. k^2 is in squared. The values are below 2^64, not reduced.
func polyStep(k, y gotypes.Component, t int, squared Op, m GPVirtual) (value GPVirtual) {
	Comment("m < 2^64-2^32 ? k*y + m : k^2*y + (m-59-k)")
	k64 := field(k.Field("l2").Index(t).Field("k64"))
	high, low, factor, marked, limit := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: m, Disp: -offset64}, marked)
	SUBQ(k64, marked)
	MOVQ(k64, factor)
	MOVQ(U64(1<<32), limit)
	ADDQ(m, limit)
	CMOVQCS(squared, factor)
	CMOVQCS(marked, m)

	MOVQ(field(y.Index(t).Field("lo")), RDX)
	MULXQ(factor, low, high)
	MOVQ(I32(offset64), RDX)
	foldLow, foldHigh := GP64(), GP64()
	MULXQ(high, foldLow, foldHigh) // 59 * high, foldHigh < 59
	ADDQ(foldLow, low)
	ADCQ(Imm(0), foldHigh)
	ADDQ(m, low)
	ADCQ(Imm(0), foldHigh) // <= 60
	IMUL3Q(Imm(offset64), foldHigh, foldHigh)
	ADDQ(foldHigh, low)
	addCarry59(low, high)
	return low
}

// addCarry59 adds 59 to x if the addition before left a carry. x is then too small
// to carry again.
func addCarry59(x, t GPVirtual) {
	SBBQ(t, t)
	ANDQ(Imm(offset64), t)
	ADDQ(t, x)
}
