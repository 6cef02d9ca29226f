// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A partial block is the 1 to 15 bytes at the end of a message. It is read and written in
// general registers, in two or three pieces that may overlap: a vector would cover bytes
// that do not belong to the message. Behind a block, loadEnd and storeEnd use a vector, which begins in
// that block.

var (
	onesZeros Mem // 16 bytes of ones, then 16 of zeros
	shifts    Mem // shuffles: 16 bytes that give zero, the order that changes nothing, and 16 that give zero
)

func partialConstants() {
	onesZeros = GLOBL("onesZeros", attr.RODATA|attr.NOPTR)
	for i, w := range []uint64{^uint64(0), ^uint64(0), 0, 0} {
		DATA(8*i, U64(w))
	}
	const zero = 0x8080808080808080
	shifts = GLOBL("shifts", attr.RODATA|attr.NOPTR)
	for i, w := range []uint64{zero, zero, 0x0706050403020100, 0x0f0e0d0c0b0a0908, zero, zero} {
		DATA(8*i, U64(w))
	}
}

// shiftBytes shifts x by n+add bytes modulo 8, where n may be negated before.
func shiftBytes(shift func(ops ...Op), n Register, negate bool, add int, x Register) {
	MOVQ(n, RCX)
	if negate {
		NEGQ(RCX)
	}
	if add != 0 {
		ADDQ(I32(int32(add)), RCX)
	}
	SHLQ(U8(3), RCX)
	shift(CL, x)
}

// loadPartial loads the n bytes at p, 1 to 15. The rest of x is zero.
func (v isa) loadPartial(p, n Register, x VecVirtual) {
	less8, less4, done := label("less8"), label("less4"), label("loaded")
	low, high, t := GP64(), GP64(), GP64()
	at := func(index Register, disp int) Mem { return Mem{Base: p, Index: index, Scale: 1, Disp: disp} }
	CMPQ(n, Imm(8))
	JB(LabelRef(less8))
	MOVQ(Mem{Base: p}, low)
	MOVQ(at(n, -8), high)
	shiftBytes(SHRQ, n, true, 15, high) // 16-n bytes in two steps: they can be 8
	SHRQ(U8(8), high)
	JMP(LabelRef(done))

	Label(less8)
	XORQ(high, high)
	CMPQ(n, Imm(4))
	JB(LabelRef(less4))
	MOVL(Mem{Base: p}, low.As32())
	MOVL(at(n, -4), t.As32())
	shiftBytes(SHLQ, n, false, -4, t)
	ORQ(t, low)
	JMP(LabelRef(done))

	Label(less4)
	half := GP64()
	MOVQ(n, half)
	SHRQ(U8(1), half)
	MOVBQZX(Mem{Base: p}, low)
	MOVBQZX(at(half, 0), t)
	shiftBytes(SHLQ, half, false, 0, t)
	ORQ(t, low)
	MOVBQZX(at(n, -1), t)
	shiftBytes(SHLQ, n, false, -1, t)
	ORQ(t, low)

	Label(done)
	v.words(low, high, x)
}

// storePartial stores the first n bytes of x at p, 1 to 15.
func (v isa) storePartial(x VecVirtual, p, n Register) {
	less8, less4, done := label("less8"), label("less4"), label("stored")
	low, high, t := GP64(), GP64(), GP64()
	at := func(index Register, disp int) Mem { return Mem{Base: p, Index: index, Scale: 1, Disp: disp} }
	if v.encoding == sse {
		MOVQ(x, low)
		PEXTRQ(U8(1), x, high)
	} else {
		VMOVQ(x, low)
		VPEXTRQ(U8(1), x, high)
	}
	CMPQ(n, Imm(8))
	JB(LabelRef(less8))
	MOVQ(low, Mem{Base: p})
	shiftBytes(SHRQ, n, false, 0, low) // n-8 bytes
	shiftBytes(SHLQ, n, true, 15, high)
	SHLQ(U8(8), high)
	ORQ(high, low)
	MOVQ(low, at(n, -8))
	JMP(LabelRef(done))

	Label(less8)
	CMPQ(n, Imm(4))
	JB(LabelRef(less4))
	MOVL(low.As32(), Mem{Base: p})
	shiftBytes(SHRQ, n, false, -4, low)
	MOVL(low.As32(), at(n, -4))
	JMP(LabelRef(done))

	Label(less4)
	half := GP64()
	MOVQ(n, half)
	SHRQ(U8(1), half)
	MOVQ(low, t)
	MOVB(t.As8(), Mem{Base: p})
	shiftBytes(SHRQ, half, false, 0, t)
	MOVB(t.As8(), at(half, 0))
	shiftBytes(SHRQ, n, false, -1, low)
	MOVB(low.As8(), at(n, -1))
	Label(done)
}

// keepPartial clears the bytes of x from n on, 1 to 15.
func (v isa) keepPartial(x VecVirtual, n Register) {
	at, keep := GP64(), XMM()
	LEAQ(onesZeros.Offset(blockSize), at)
	SUBQ(n, at)
	v.load(Mem{Base: at}, keep)
	v.and(keep, x)
}

// loadEnd loads the n bytes at p, 1 to 15, which at least a block precedes that may be read. The rest is zero.
func (v isa) loadEnd(p, n Register) (x VecVirtual) {
	at := GP64()
	x = XMM()
	v.load(Mem{Base: p, Index: n, Scale: 1, Disp: -blockSize}, x)
	LEAQ(shifts.Offset(2*blockSize), at)
	SUBQ(n, at)
	VPSHUFB(Mem{Base: at}, x, x)
	return x
}

// storeEnd stores the first n bytes of x at p, 1 to 15, and those of the block before it again.
func (v isa) storeEnd(x VecVirtual, p, n Register) {
	at, end, before := GP64(), XMM(), XMM()
	v.load(Mem{Base: p, Disp: -blockSize}, before)
	LEAQ(shifts, at)
	ADDQ(n, at)
	VPSHUFB(Mem{Base: at, Disp: blockSize}, before, before)
	VPSHUFB(Mem{Base: at}, x, end)
	v.xor(before, end)
	v.store(end, Mem{Base: p, Index: n, Scale: 1, Disp: -blockSize})
}
