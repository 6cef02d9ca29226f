// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// An encoding is a form of vector instructions.
type encoding int

const (
	sse  encoding = iota // two operands, vectors of 16 bytes
	vex                  // AVX and AVX2
	evex                 // AVX-512, which has 32 registers
)

// An isa is a vector width, in lanes of one block, and an encoding.
type isa struct {
	lanes int
	encoding
}

// size is the size of a vector in bytes.
func (v isa) size() int { return blockSize * v.lanes }

// with is the same encoding for another width.
func (v isa) with(lanes int) isa { return isa{lanes, v.encoding} }

func (v isa) vec() VecVirtual {
	switch v.lanes {
	case 4:
		return ZMM()
	case 2:
		return YMM()
	}
	return XMM()
}

// vecs returns n vectors.
func (v isa) vecs(n int) (x []VecVirtual) {
	for range n {
		x = append(x, v.vec())
	}
	return x
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

// part is x in this width, if it is a register.
func (v isa) part(x Op) Op {
	if x, ok := x.(VecVirtual); ok {
		return v.as(x)
	}
	return x
}

func (v isa) zero(x VecVirtual) {
	if v.encoding != evex {
		v.xor(x, x)
		return
	}
	i, err := x86.VPXORQ(x, x, x)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true // avo knows that only of VPXOR
	Instruction(i)
}

func (v isa) load(p Mem, x VecVirtual) {
	switch v.encoding {
	case sse:
		MOVUPS(p, x)
	case vex:
		VMOVDQU(p, x)
	case evex:
		VMOVDQU64(p, x)
	}
}

func (v isa) store(x VecVirtual, p Mem) {
	switch v.encoding {
	case sse:
		MOVUPS(x, p)
	case vex:
		VMOVDQU(x, p)
	case evex:
		VMOVDQU64(x, p)
	}
}

// loadEach loads the block at p into each lane.
func (v isa) loadEach(p Mem, x VecVirtual) {
	switch {
	case v.lanes == 1:
		v.load(p, x)
	case v.encoding == vex:
		VBROADCASTI128(p, x)
	default:
		VBROADCASTI32X4(p, x)
	}
}

func (v isa) move(a, x VecVirtual) {
	switch v.encoding {
	case sse:
		MOVAPS(a, x)
	case vex:
		VMOVDQA(a, x)
	case evex:
		VMOVDQA64(a, x)
	}
}

// xor is x ^= a.
func (v isa) xor(a Op, x VecVirtual) {
	switch v.encoding {
	case sse:
		PXOR(a, x)
	case vex:
		VPXOR(a, x, x)
	case evex:
		VPXORQ(a, x, x)
	}
}

// sum is x = a ^ b.
func (v isa) sum(a Mem, b, x VecVirtual) {
	switch v.encoding {
	case sse:
		v.load(a, x)
		PXOR(b, x)
	case vex:
		VPXOR(a, b, x)
	case evex:
		VPXORQ(a, b, x)
	}
}

// xor2 is x ^= a ^ b.
func (v isa) xor2(a, b, x VecVirtual) {
	if v.encoding == evex {
		VPTERNLOGQ(U8(0x96), a, b, x)
		return
	}
	v.xor(a, x)
	v.xor(b, x)
}

// xorMem is x ^= a. SSE cannot do that with an address that is not aligned.
func (v isa) xorMem(a Mem, x VecVirtual) {
	if v.encoding == sse {
		t := XMM()
		v.load(a, t)
		v.xor(t, x)
	} else {
		v.xor(a, x)
	}
}

// and is x &= a.
func (v isa) and(a, x VecVirtual) {
	switch v.encoding {
	case sse:
		PAND(a, x)
	case vex:
		VPAND(a, x, x)
	case evex:
		VPANDQ(a, x, x)
	}
}

// add is x += a in each 32-bit word.
func (v isa) add(a Op, x VecVirtual) {
	if v.encoding == sse {
		PADDL(a, x)
	} else {
		VPADDD(a, x, x)
	}
}

// shuffle moves the bytes of each lane of x.
func (v isa) shuffle(order Op, x VecVirtual) {
	order = v.part(order)
	if v.encoding == sse {
		PSHUFB(order, x)
	} else {
		VPSHUFB(order, x, x)
	}
}

// swap sets x to a with the halves of each lane exchanged.
func (v isa) swap(a, x VecVirtual) {
	if v.encoding == sse {
		PSHUFD(U8(0x4e), a, x)
	} else {
		VPSHUFD(U8(0x4e), a, x)
	}
}

// fold adds the lanes of x. The result is in the lowest lane, and the others are zero.
func (v isa) fold(x VecVirtual) {
	t := YMM()
	if v.lanes == 4 {
		VEXTRACTI64X4(U8(1), x.AsZ(), t)
		VPXORQ(t, x.AsY(), x.AsY())
	}
	switch {
	case v.lanes == 1:
	case v.encoding == vex:
		VEXTRACTI128(U8(1), x.AsY(), t.AsX())
		VPXOR(t.AsX(), x.AsX(), x.AsX())
	default:
		VEXTRACTI32X4(U8(1), x.AsY(), t.AsX())
		VPXORQ(t.AsX(), x.AsX(), x.AsX())
	}
}

// repeat sets all lanes of x to b, a block.
func (v isa) repeat(b, x VecVirtual) {
	switch {
	case v.lanes == 4:
		VSHUFI64X2(U8(0), b.AsZ(), b.AsZ(), x)
	case v.lanes == 2:
		VINSERTI128(U8(1), b.AsX(), b.AsY(), x)
	default:
		v.move(b, x)
	}
}

// word sets the lowest 32-bit word of x, one block. The others are zero.
func (v isa) word(a Op, x VecVirtual) {
	if v.encoding == sse {
		MOVD(a, x)
	} else {
		VMOVD(a, x)
	}
}

// insert sets a 32-bit word of x, one block.
func (v isa) insert(number uint8, a Op, x VecVirtual) {
	if v.encoding == sse {
		PINSRD(U8(number), a, x)
	} else {
		VPINSRD(U8(number), a, x, x)
	}
}

// words sets x, one block, to two words of 64 bits.
func (v isa) words(low, high Op, x VecVirtual) {
	if v.encoding == sse {
		MOVQ(low, x)
		PINSRQ(U8(1), high, x)
	} else {
		VMOVQ(low, x)
		VPINSRQ(U8(1), high, x, x)
	}
}

// multiply is the carry-less product x = a*x of a half of each lane: of a the high half if
// bit 4 of halves is set, of x if bit 0 is.
func (v isa) multiply(halves uint8, a, x VecVirtual) {
	if v.encoding == sse {
		PCLMULQDQ(U8(halves), a, x)
	} else {
		VPCLMULQDQ(U8(halves), a, x, x)
	}
}

// multiplyOp is x = a*b, as multiply has it.
func (v isa) multiplyOp(halves uint8, a Op, b, x VecVirtual) {
	if v.encoding == sse {
		v.load(a.(Mem), x)
		PCLMULQDQ(U8(halves>>4|halves<<4), b, x)
	} else {
		VPCLMULQDQ(U8(halves), v.part(a), b, x)
	}
}

func (v isa) aesenc(key, x VecVirtual) {
	if v.encoding == sse {
		AESENC(key, x)
	} else {
		VAESENC(key, x, x)
	}
}

func (v isa) aesenclast(key, x VecVirtual) {
	if v.encoding == sse {
		AESENCLAST(key, x)
	} else {
		VAESENCLAST(key, x, x)
	}
}
