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

// tagOnly512 generates tagOnlyAVX512.
func tagOnly512() {
	kernel("tagOnlyAVX512", func(n int, k gotypes.Component) {
		words, outOfLine := lastWords512(n, k)
		tag(n, k, words)
		outOfLine()
	})
}

// tagNext512 generates tagNextAVX512.
func tagNext512() {
	kernel("tagNextAVX512", func(n int, k gotypes.Component) {
		words, outOfLine := lastWords512(n, k)
		Comment("L2: the last step of POLY-64.")
		y := Dereference(Param("y"))
		values := make([]GPVirtual, n)
		for t := range values {
			m := GP64()
			if t == 2 {
				VEXTRACTI128(U8(1), words, words.AsX())
			}
			if t%2 == 0 {
				VMOVQ(words.AsX(), m)
			} else {
				VPEXTRQ(U8(1), words.AsX(), m)
			}
			value := polyStep(k, y, t, square(k, t), m)
			Comment("The least residue.")
			LEAQ(Mem{Base: value, Disp: offset64}, m)
			CMPQ(m, Imm(offset64))
			CMOVQCS(m, value)
			values[t] = value
		}
		join(words, func(t int, x Register) { VMOVQ(values[t], x) },
			func(t int, x Register) { VPINSRQ(U8(1), values[t], x, x) }, n)
		tag(n, k, words)
		outOfLine()
	})
}

// tagWords512 generates tagWordsAVX512.
func tagWords512() {
	kernel("tagWordsAVX512", func(n int, k gotypes.Component) {
		words := YMM()
		joinAt(Load(Param("words"), GP64()), words, n)
		tag(n, k, words)
	})
}

// lastWords512 returns the L1 words of the last block, all iterations side by side,
// with its length in bits.
func lastWords512(n int, k gotypes.Component) (words VecVirtual, outOfLine func()) {
	state, p, size := Load(Param("l1"), GP64()), Load(Param("rest").Base(), GP64()), Load(Param("rest").Len(), GP64())
	lo, hi := keysFrom(k, state)
	empty, add, hashed := label("empty"), label("add"), label("hashed")
	TESTQ(size, size)
	JEQ(LabelRef(empty))
	Label(add)
	words = addBytes512(n, state, lo, hi, p, size, "rest")
	Label(hashed)
	Comment("L1: the length in bits.")
	bits, x := GP64(), YMM()
	Load(Param("length"), bits)
	SHLQ(Imm(3), bits)
	VPBROADCASTQ(bits, x)
	VPADDQ(x, words, words)
	outOfLine = func() {
		Label(empty)
		Comment("No bytes are left. A block without any is hashed as a group of zeros.")
		CMPQ(Mem{Base: state, Disp: wordsSize}, Imm(0))
		JEQ(LabelRef(add))
		joinAt(state, words, n)
		JMP(LabelRef(hashed))
	}
	return words, outOfLine
}

// join puts n words side by side. It loads each by itself, because they may have been
// stored one by one: even and odd put word t in the lower and the upper half of a
// register.
func join(words VecVirtual, even, odd func(t int, x Register), n int) {
	even(0, words.AsX())
	if n > 1 {
		odd(1, words.AsX())
	}
	if n > 2 {
		x := XMM()
		even(2, x)
		if n > 3 {
			odd(3, x)
		}
		VINSERTI128(U8(1), x, words, words)
	}
}

// joinAt is join for the words at p.
func joinAt(p Register, words VecVirtual, n int) {
	join(words, func(t int, x Register) { VMOVQ(Mem{Base: p, Disp: 8 * t}, x) },
		func(t int, x Register) { VPINSRQ(U8(1), Mem{Base: p, Disp: 8 * t}, x, x) }, n)
}

// tag is L3-HASH, RFC 4418 section 5.4, of words of 8 bytes, and the xor with the pad.
func tag(n int, k gotypes.Component, w VecVirtual) {
	y, x := YMM(), YMM()
	Comment("L3: the 16-bit words times k_5 to k_8.")
	l3 := k.Field("l3")
	k1 := func(j int) Mem { return field(l3.Field("low").Index(j).Index(0)) }
	VPSRLQ(U8(48), w, y)
	VPMULLQ(k1(0), y, y)
	for j := 1; j < 4; j++ {
		x := YMM()
		if j < 3 {
			VPSRLQ(U8(48-16*j), w, x)
			VPANDQ_BCST(word16, x, x)
		} else {
			VPANDQ_BCST(word16, w, x)
		}
		VPMULLQ(k1(j), x, x)
		VPADDQ(x, y, y)
	} // < 2^54
	Comment("Modulo p36 = 2^36-5.")
	t := YMM()
	VPSRLQ(U8(36), y, x)
	VPANDQ_BCST(mask36, y, y)
	VPSLLQ(U8(2), x, t)
	VPADDQ(x, y, y)
	VPADDQ(t, y, y) // < 2*p36
	VPSUBQ_BCST(prime36, y, x)
	VPMINUQ(x, y, y) // y-p36 wraps around if y < p36
	Comment("The tag, big-endian.")
	h, pad := XMM(), XMM()
	VPMOVQD(y, h)
	VPXORD(field(l3.Field("k2").Index(0)), h, h)
	VPSHUFB(swap32, h, h)
	tag := GP64()
	Load(Param("tag"), tag)
	// Not in one load: the caller has stored them one by one.
	VMOVQ(field(Param("x").Field("first")), pad)
	if n > 2 {
		VPINSRQ(U8(1), field(Param("x").Field("second")), pad, pad)
	}
	VPXORD(pad, h, h)
	switch n {
	case 1:
		VMOVD(h, Mem{Base: tag})
	case 2:
		VMOVQ(h, Mem{Base: tag})
	default:
		VMOVDQU64(h, Mem{Base: tag})
	}
	VZEROUPPER()
	RET()
}

var word16, mask36, prime36, swap32 Mem

func l3Constants() {
	word16 = GLOBL("word16", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0xffff))
	mask36 = GLOBL("mask36", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1<<36-1))
	prime36 = GLOBL("prime36", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1<<36-5))
	swap32 = GLOBL("swap32", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0x0405060700010203))
	DATA(8, U64(0x0c0d0e0f08090a0b))
}
