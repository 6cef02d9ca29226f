// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An isa is a vector width, in lanes of one block, and an encoding.
type isa struct {
	lanes int
	sse   bool // instructions of two operands; one lane only
}

var (
	sse    = isa{lanes: 1, sse: true}
	avx1   = isa{lanes: 1}
	avx2   = isa{lanes: 2}
	avx512 = isa{lanes: 4}
)

// size is the size of a vector in bytes.
func (v isa) size() int { return blockSize * v.lanes }

func (v isa) vec() VecVirtual {
	switch v.lanes {
	case 4:
		return ZMM()
	case 2:
		return YMM()
	}
	return XMM()
}

// as is x in this width.
func (v isa) as(x VecVirtual) VecVirtual {
	switch v.lanes {
	case 4:
		return x.AsZ().(VecVirtual)
	case 2:
		return x.AsY().(VecVirtual)
	}
	return x.AsX().(VecVirtual)
}

func (v isa) zero(x VecVirtual) {
	switch {
	case v.lanes == 4:
		VPXORQ(x, x, x)
	case v.sse:
		PXOR(x, x)
	default:
		VPXOR(x, x, x)
	}
}

func (v isa) load(p Mem, x VecVirtual) {
	switch {
	case v.lanes == 4:
		VMOVDQU64(p, x)
	case v.sse:
		MOVUPS(p, x)
	default:
		VMOVDQU(p, x)
	}
}

func (v isa) store(x VecVirtual, p Mem) {
	switch {
	case v.lanes == 4:
		VMOVDQU64(x, p)
	case v.sse:
		MOVUPS(x, p)
	default:
		VMOVDQU(x, p)
	}
}

// loadEach loads the block at p into each lane.
func (v isa) loadEach(p Mem, x VecVirtual) {
	switch v.lanes {
	case 4:
		VBROADCASTI32X4(p, x)
	case 2:
		VBROADCASTI128(p, x)
	default:
		v.load(p, x)
	}
}

func (v isa) move(a, x VecVirtual) {
	switch {
	case v.lanes == 4:
		VMOVDQA64(a, x)
	case v.sse:
		MOVAPS(a, x)
	default:
		VMOVDQA(a, x)
	}
}

// xor is x ^= a.
func (v isa) xor(a Op, x VecVirtual) {
	switch {
	case v.lanes == 4:
		VPXORQ(a, x, x)
	case v.sse:
		PXOR(a, x)
	default:
		VPXOR(a, x, x)
	}
}

// xor2 is x ^= a ^ b.
func (v isa) xor2(a, b, x VecVirtual) {
	if v.lanes == 4 {
		VPTERNLOGQ(U8(0x96), a, b, x)
		return
	}
	v.xor(a, x)
	v.xor(b, x)
}

// and is x &= a.
func (v isa) and(a, x VecVirtual) {
	if v.sse {
		PAND(a, x)
	} else {
		VPAND(a, x, x)
	}
}

// add is x += a in each 32-bit word.
func (v isa) add(a, x VecVirtual) {
	if v.sse {
		PADDL(a, x)
	} else {
		VPADDD(a, x, x)
	}
}

// shuffle moves the bytes of each lane of x.
func (v isa) shuffle(order, x VecVirtual) {
	if v.sse {
		PSHUFB(order, x)
	} else {
		VPSHUFB(order, x, x)
	}
}

// swap sets x to a with the halves of each lane exchanged.
func (v isa) swap(a, x VecVirtual) {
	if v.sse {
		PSHUFD(U8(0x4e), a, x)
	} else {
		VPSHUFD(U8(0x4e), a, x)
	}
}

// multiply is the carry-less product x = a*x of a half of each lane: of a the high half if
// bit 4 of halves is set, of x if bit 0 is.
func (v isa) multiply(halves uint8, a, x VecVirtual) {
	if v.sse {
		PCLMULQDQ(U8(halves), a, x)
	} else {
		VPCLMULQDQ(U8(halves), a, x, x)
	}
}

func (v isa) aesenc(key, x VecVirtual) {
	if v.sse {
		AESENC(key, x)
	} else {
		VAESENC(key, x, x)
	}
}

func (v isa) aesenclast(key, x VecVirtual) {
	if v.sse {
		AESENCLAST(key, x)
	} else {
		VAESENCLAST(key, x, x)
	}
}

// words sets x, one block, to two words.
func (v isa) words(low, high Op, x VecVirtual) {
	if v.sse {
		MOVQ(low, x)
		PINSRQ(U8(1), high, x)
	} else {
		VMOVQ(low, x)
		VPINSRQ(U8(1), high, x, x)
	}
}
