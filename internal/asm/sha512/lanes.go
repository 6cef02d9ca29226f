// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Each lane is one message. Word i of the state of all lanes is a row of eight: what
// SHA-512 does with a word, these functions do with a row.

const (
	rowSize   = 8 * 8
	sliceSize = 3 * 8
)

// lanes begins a function of n lanes: row i of the state is in memory, messages are the
// pointers of the slices, at is the offset of the next blocks in them, and key points
// to the round constants.
func lanes(name string, n int) (row func(i int) Mem, messages []GPVirtual, at GPVirtual, blocks, key Register) {
	Implement(name)
	Pragma("noescape")
	state := Load(Param("state"), GP64())
	p := Load(Param("p"), GP64())
	blocks, key = Load(Param("blocks"), GP64()), Load(Param("k"), GP64())
	messages = make([]GPVirtual, n)
	for i := range messages {
		messages[i] = GP64()
		MOVQ(Mem{Base: p, Disp: sliceSize * i}, messages[i])
	}
	at = GP64()
	XORL(at.As32(), at.As32())
	return func(i int) Mem { return Mem{Base: state, Disp: rowSize * i} }, messages, at, blocks, key
}

// align puts the loop that follows at the start of a cache line. Elsewhere it is up to
// 4 % slower on Zen 5.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// lanes512 generates lanesAVX512: blocks of eight messages in 512-bit registers.
func lanes512() {
	row, messages, at, blocks, key := lanes("lanesAVX512", 8)
	v := make([]VecVirtual, 8) // the working variables a to h
	for i := range v {
		v[i] = ZMM()
		VMOVDQU64(row(i), v[i])
	}
	w := make([]VecVirtual, 16) // the words of the message schedule in use
	for i := range w {
		w[i] = ZMM()
	}
	t := make([]VecVirtual, 8)
	for i := range t {
		t[i] = ZMM()
	}

	Label("block512")
	load := func(half int, x, rows []VecVirtual) {
		Comment("Words, big-endian, from columns to rows.")
		VBROADCASTI32X4(swap64, rows[0])
		for i, m := range messages {
			VMOVDQU64(Mem{Base: m, Index: at, Scale: 1, Disp: 64 * half}, x[i])
			VPSHUFB(rows[0], x[i], x[i])
		}
		transpose(x, rows)
	}
	load(0, w[:8], w[8:])
	load(1, w[:8], t)
	w, t = append(w[8:16:16], t...), w[:8]
	left := GP64()
	MOVQ(I32(4), left)
	align()
	Label("rounds512")
	for i := range 16 {
		round512(v, i, w[i], key, t)
		schedule512(w, i, t[4:])
	}
	ADDQ(Imm(16*8), key)
	DECQ(left)
	JNZ(LabelRef("rounds512"))
	for i := range 16 {
		round512(v, i, w[i], key, t)
	}
	SUBQ(I32(4*16*8), key)
	for i := range v {
		VPADDQ(row(i), v[i], v[i])
		VMOVDQU64(v[i], row(i))
	}
	ADDQ(I32(blockSize), at)
	DECQ(blocks)
	JNZ(LabelRef("block512"))
	VZEROUPPER()
	RET()
}

// transpose sets rows to the rows of the eight columns x, which it overwrites.
func transpose(x, rows []VecVirtual) {
	for i := 0; i < 8; i += 2 {
		VPUNPCKLQDQ(x[i+1], x[i], rows[i]) // even words of two columns
		VPUNPCKHQDQ(x[i+1], x[i], rows[i+1])
	}
	for odd := range 2 {
		for i := 0; i < 8; i += 4 {
			VSHUFI64X2(U8(0x88), rows[i+odd+2], rows[i+odd], x[i+odd])   // words 0 and 4 of four columns
			VSHUFI64X2(U8(0xdd), rows[i+odd+2], rows[i+odd], x[i+odd+2]) // words 2 and 6
		}
	}
	for i := range 4 {
		VSHUFI64X2(U8(0x88), x[i+4], x[i], rows[i])
		VSHUFI64X2(U8(0xdd), x[i+4], x[i], rows[i+4])
	}
}

// round512 is a round, FIPS 180-4 section 6.4.2 step 3, with constant i at key. It
// renames the variables instead of moving them.
func round512(v []VecVirtual, i int, w VecVirtual, key Register, t []VecVirtual) {
	Commentf("Round %d of 16.", i)
	name := func(n int) VecVirtual { return v[(n-i+16)%8] }
	a, b, c, d, e, f, g, h := name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)
	VPADDQ_BCST(Mem{Base: key, Disp: 8 * i}, h, h)
	VPADDQ(w, h, h)
	VPADDQ(h, d, d)
	VMOVDQA64(e, t[3])
	VPTERNLOGQ(U8(0xca), g, f, t[3]) // Ch
	VPADDQ(t[3], h, h)
	VPADDQ(t[3], d, d)
	rotations512(e, 14, 18, 41, t[:3])
	VPADDQ(t[0], d, d)
	VPADDQ(t[0], h, h)
	VMOVDQA64(a, t[3])
	VPTERNLOGQ(U8(0xe8), c, b, t[3]) // Maj
	VPADDQ(t[3], h, h)
	rotations512(a, 28, 34, 39, t[:3])
	VPADDQ(t[0], h, h)
}

// rotations512 sets t[0] to the xor of x rotated by r0, r1 and r2.
func rotations512(x VecVirtual, r0, r1, r2 uint8, t []VecVirtual) {
	VPRORQ(U8(r0), x, t[0])
	VPRORQ(U8(r1), x, t[1])
	VPRORQ(U8(r2), x, t[2])
	VPTERNLOGQ(U8(0x96), t[2], t[1], t[0])
}

// schedule512 advances w[i] by sixteen words.
func schedule512(w []VecVirtual, i int, t []VecVirtual) {
	lower := func(x VecVirtual, r0, r1, shift uint8) {
		VPRORQ(U8(r0), x, t[0])
		VPRORQ(U8(r1), x, t[1])
		VPSRLQ(U8(shift), x, t[2])
		VPTERNLOGQ(U8(0x96), t[2], t[1], t[0])
		VPADDQ(t[0], w[i], w[i])
	}
	VPADDQ(w[(i+9)%16], w[i], w[i])
	lower(w[(i+1)%16], 1, 8, 7)
	lower(w[(i+14)%16], 19, 61, 6)
}

// lanes2 generates lanesAVX2: blocks of the first four messages in 256-bit registers.
func lanes2() {
	const vec = 4 * 8
	row, messages, at, blocks, key := lanes("lanesAVX2", 4)
	frame := AllocLocal(16 * vec) // the words of the message schedule in use
	w := func(i int) Mem { return frame.Offset(vec * (i % 16)) }
	v := make([]VecVirtual, 8)
	for i := range v {
		v[i] = YMM()
		VMOVDQU(row(i), v[i])
	}

	Label("block2")
	for i := 0; i < 16; i += 4 {
		Comment("Words, big-endian, from columns to rows.")
		// Four words at a time: the working variables leave only eight registers.
		x := []VecVirtual{YMM(), YMM(), YMM(), YMM()}
		for l, m := range messages {
			VMOVDQU(Mem{Base: m, Index: at, Scale: 1, Disp: 8 * i}, x[l])
			VPSHUFB(swap64, x[l], x[l])
		}
		for odd, unpack := range []func(...Op){VPUNPCKLQDQ, VPUNPCKHQDQ} {
			first, last, words := YMM(), YMM(), YMM()
			unpack(x[1], x[0], first)
			unpack(x[3], x[2], last)
			VPERM2I128(U8(0x20), last, first, words)
			VMOVDQU(words, w(i+odd))
			VPERM2I128(U8(0x31), last, first, words)
			VMOVDQU(words, w(i+odd+2))
		}
	}
	left := GP64()
	MOVQ(I32(4), left)
	align()
	Label("rounds2")
	for i := range 16 {
		round2(v, i, w(i), key)
		schedule2(w, i)
	}
	ADDQ(Imm(16*8), key)
	DECQ(left)
	JNZ(LabelRef("rounds2"))
	for i := range 16 {
		round2(v, i, w(i), key)
	}
	SUBQ(I32(4*16*8), key)
	for i := range v {
		VPADDQ(row(i), v[i], v[i])
		VMOVDQU(v[i], row(i))
	}
	ADDQ(I32(blockSize), at)
	DECQ(blocks)
	JNZ(LabelRef("block2"))
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := range 16 {
		VMOVDQU(zero, w(i))
	}
	VZEROUPPER()
	RET()
}

// round2 is round512 with AVX2.
func round2(v []VecVirtual, i int, w Mem, key Register) {
	Commentf("Round %d of 16.", i)
	name := func(n int) VecVirtual { return v[(n-i+16)%8] }
	a, b, c, d, e, f, g, h := name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)
	x, y := YMM(), YMM()
	VPBROADCASTQ(Mem{Base: key, Disp: 8 * i}, x)
	VPADDQ(x, h, h)
	VPADDQ(w, h, h)
	VPADDQ(h, d, d)
	VPXOR(g, f, x)
	VPAND(e, x, x)
	VPXOR(g, x, x) // Ch
	VPADDQ(x, h, h)
	VPADDQ(x, d, d)
	s := xor(right(e, 14), left(e, 50), right(e, 18), left(e, 46), right(e, 41), left(e, 23))
	VPADDQ(s, d, d)
	VPADDQ(s, h, h)
	VPXOR(b, a, x)
	VPAND(c, x, x)
	VPAND(b, a, y)
	VPXOR(y, x, x) // Maj
	VPADDQ(x, h, h)
	s = xor(right(a, 28), left(a, 36), right(a, 34), left(a, 30), right(a, 39), left(a, 25))
	VPADDQ(s, h, h)
}

// schedule2 is schedule512 with AVX2.
func schedule2(w func(i int) Mem, i int) {
	x, rotated := YMM(), YMM()
	VMOVDQU(w(i+1), x)
	VPSHUFB(right8, x, rotated)
	sum := xor(func() VecVirtual { return rotated }, right(x, 1), left(x, 63), right(x, 7))
	VPADDQ(w(i), sum, sum)
	VPADDQ(w(i+9), sum, sum)
	y := YMM()
	VMOVDQU(w(i+14), y)
	s := xor(right(y, 19), left(y, 45), right(y, 61), left(y, 3), right(y, 6))
	VPADDQ(s, sum, sum)
	VMOVDQU(sum, w(i))
}

// left and right shift x only when they are called, so that xor needs few registers.
func left(x VecVirtual, n uint64) func() VecVirtual  { return shift(VPSLLQ, x, n) }
func right(x VecVirtual, n uint64) func() VecVirtual { return shift(VPSRLQ, x, n) }

func shift(op func(...Op), x VecVirtual, n uint64) func() VecVirtual {
	return func() VecVirtual {
		t := YMM()
		op(Imm(n), x, t)
		return t
	}
}

// xor returns the xor of all terms, computed as a tree.
func xor(terms ...func() VecVirtual) VecVirtual {
	if len(terms) == 1 {
		return terms[0]()
	}
	half := (len(terms) + 1) / 2
	a, b := xor(terms[:half]...), xor(terms[half:]...)
	VPXOR(b, a, a)
	return a
}
