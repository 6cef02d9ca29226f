// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	offset128 = 159 // 2^128 - p128

	// The frame of nhPoly128 has the keys of POLY-128 and their squares, for each iteration, and
	// before them the words of the last three blocks, the last one first.
	keys128 = 3 * wordsSize
	key128  = 32
)

// nhPoly128 generates nhPoly128<isa>: L1 and L2 after the words of POLY-64, in one loop. There is none for
// two iterations: compiled code after nhBlocks then takes as long for a file, whose bytes come from memory.
// With four, that would make a file take about a tenth longer.
//
// A pair of words goes through POLY-128 between the instructions of NH of the next two blocks:
// the first half of the iterations with the first block, the other half with the second one. So
// there is one loop over blocks, and the register half, which is 0 or 1 in units of 8 bytes for
// each iteration in it, says which half it is.
func nhPoly128(v isa) {
	const n = maxIterations
	Implement("nhPoly128" + v.name())
	Pragma("noescape")
	k := Dereference(Param("k"))
	r := newRun(v, n, k)
	y, half := Load(Param("y"), GP64()), GP64()
	frame := AllocLocal(keys128 + key128*n)
	Comment("The keys of POLY-128 and their squares.")
	for t := range n {
		key := k.Field("l2").Index(t).Field("k128")
		low, high := GP64(), GP64()
		Load(key.Field("lo"), low)
		Load(key.Field("hi"), high)
		at := frame.Offset(keys128 + key128*t)
		MOVQ(low, at)
		MOVQ(high, at.Offset(8))
		square, code := mul128Code([2]GPVirtual{low, high}, [2]Op{low, high}, nil)
		emit(code)
		MOVQ(square[0], at.Offset(16))
		MOVQ(square[1], at.Offset(24))
	}
	XORQ(half, half)

	// In the first block of a pair the words of the pair before are the last two. In the second
	// one there is another word after them.
	size := 8 * n
	var steps []func()
	for t := range n / 2 {
		slot := GP64()
		second := Mem{Base: frame.Base, Symbol: frame.Symbol, Disp: frame.Disp + 8*t, Index: slot, Scale: 1}
		value := Mem{Base: y, Disp: 16 * t, Index: half, Scale: 2}
		key := Mem{Base: frame.Base, Symbol: frame.Symbol, Disp: frame.Disp + keys128 + key128*t, Index: half, Scale: 4}
		steps = append(steps, func() { LEAQ(Mem{Base: half, Index: half, Scale: 2}, slot) })
		steps = append(steps, poly128Code(value, key, second.Offset(size), second)...)
	}
	next := func() { XORQ(Imm(uint64(size/2)), half) }

	s := newSums(v, n)
	moveWords := func() {
		moved := YMM()
		for _, from := range []int{size, 0} {
			v.move(frame.Offset(from), moved)
			v.move(moved, frame.Offset(from+size))
		}
	}
	storeWords := func() {
		moveWords()
		for i, low := range reduce(v, s) {
			VPADDQ(blockBits, low.AsX(), low.AsX())
			v.store(low, frame.Offset(16*i))
		}
	}
	first, block, last := label("first"), label("block"), label("last")
	Comment("The first two blocks: no words are before them.")
	Label(first)
	r.next()
	nhBlock(v, s, r.lo, r.hi, r.p)
	storeWords()
	next()
	JNZ(LabelRef(first))
	TESTQ(r.count, r.count)
	JZ(LabelRef(last))
	r.loop(block)
	r.hash(s, steps)
	storeWords()
	next()
	r.next()
	JNZ(LabelRef(block))
	Comment("The last pair.")
	Label(last)
	emit(steps)
	moveWords()
	next()
	JNZ(LabelRef(last))
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for at := 0; at < keys128+key128*n; at += 32 {
		VMOVDQU(zero, frame.Offset(at))
	}
	VZEROUPPER()
	RET()
}

// poly128Code returns the instructions of a step of POLY-128, RFC 4418 section 5.3.2, without a
// branch. It makes of the value at y, of which the upper half comes first, and the words m, upper and
// lower:
//
//	k*y + m                                 if m < 2^128 - 2^96
//	k*(k*y - 1) + m-159 = k^2*y + m-159-k   otherwise
//
// modulo p128 = 2^128-159. k and k^2 are at key. The values are below 2^128, not reduced.
func poly128Code(y, key, upper, lower Mem) []func() {
	hi, lo, markedHi, markedLo, factorHi, factorLo := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	value, code := mul128Code([2]GPVirtual{factorLo, factorHi}, [2]Op{y.Offset(8), y}, []GPVirtual{lo, hi})
	code = append([]func(){
		func() { Comment("m < 2^128-2^96 ? k*y + m : k^2*y + (m-159-k)") },
		func() { MOVQ(upper, hi) },
		func() { MOVQ(lower, lo) },
		func() { MOVQ(hi, markedHi) },
		func() { MOVQ(lo, markedLo) },
		func() { MOVQ(key, factorLo) },
		func() { MOVQ(key.Offset(8), factorHi) },
		func() { SUBQ(I32(offset128), markedLo) },
		func() { SBBQ(Imm(0), markedHi) },
		func() { SUBQ(factorLo, markedLo) },
		func() { SBBQ(factorHi, markedHi) }, // k < 2^121: less than m, if m is marked
		func() { CMPQ(hi, polyMarked) },
		func() { CMOVQCC(markedLo, lo) },
		func() { CMOVQCC(markedHi, hi) },
		func() { CMOVQCC(key.Offset(16), factorLo) },
		func() { CMOVQCC(key.Offset(24), factorHi) },
	}, code...)
	return append(code,
		func() { MOVQ(value[0], y.Offset(8)) },
		func() { MOVQ(value[1], y) })
}

// mul128Code returns instructions for f*y + a modulo p128 = 2^128-159, not reduced, of words of
// which the lower comes first. a may be nil. f is overwritten.
func mul128Code(f [2]GPVirtual, y [2]Op, a []GPVirtual) (sum [2]GPVirtual, code []func()) {
	r0, r1, r2, r3, low, high := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	carry, fold := GP64(), GP64()
	code = []func(){
		func() { MOVQ(y[0], RDX) },
		func() { MULXQ(f[0], r0, r1) },
		func() { MULXQ(f[1], low, r2) },
		func() { ADDQ(low, r1) },
		func() { ADCQ(Imm(0), r2) }, // the upper half of a product is below 2^64-1
		func() { MOVQ(y[1], RDX) },
		func() { MULXQ(f[0], low, high) },
		func() { MULXQ(f[1], f[1], r3) },
		func() { ADDQ(low, r1) },
		func() { ADCQ(high, r2) },
		func() { ADCQ(Imm(0), r3) },
		func() { ADDQ(f[1], r2) },
		func() { ADCQ(Imm(0), r3) },
		// 2^128 = 159, so 159 * r3:r2 = carry:high:low is added to r1:r0.
		func() { MOVL(U32(offset128), EDX) },
		func() { MULXQ(r2, low, high) },
		func() { MULXQ(r3, fold, carry) }, // carry < 159
		func() { ADDQ(fold, high) },
		func() { ADCQ(Imm(0), carry) }, // < 159 still, because 159 * r3:r2 < 159 * 2^128
		func() { ADDQ(low, r0) },
		func() { ADCQ(high, r1) },
		func() { ADCQ(Imm(0), carry) },
	}
	if a != nil {
		code = append(code,
			func() { ADDQ(a[0], r0) },
			func() { ADCQ(a[1], r1) },
			func() { ADCQ(Imm(0), carry) }) // <= 160
	}
	code = append(code,
		func() { IMUL3Q(I32(offset128), carry, carry) },
		func() { ADDQ(carry, r0) },
		func() { ADCQ(Imm(0), r1) },
		// A carry leaves r1 = 0 and r0 < 159*160.
		func() { SBBQ(carry, carry) },
		func() { ANDQ(I32(offset128), carry) },
		func() { ADDQ(carry, r0) })
	return [2]GPVirtual{r0, r1}, code
}
