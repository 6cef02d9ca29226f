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

// tagOnly generates tagOnly<isa>.
func tagOnly(v isa) {
	kernel("tagOnly"+v.name(), func(n int, k gotypes.Component) {
		state, words := Load(Param("l1"), GP64()), wordsIn(n)()
		r := newRest(v, n, k, "rest", state, false)
		lastWords(r, state, words, true)
		tag(v, n, k, words)
		VZEROUPPER()
		RET()
	})
}

// tagNext generates tagNext<isa>.
func tagNext(v isa) {
	kernel("tagNext"+v.name(), func(n int, k gotypes.Component) {
		state, words := Load(Param("l1"), GP64()), wordsIn(n)()
		r := newRest(v, n, k, "rest", state, false)
		values := Dereference(Param("y"))
		y := loadEach(n, func(t int) Mem { return field(values.Index(t).Field("lo")) })
		poly := newPoly(n, k)
		Comment("L2: k*y and k*k*y. NH of the last block does not wait for them.")
		poly.set(y)
		lastWords(r, state, words, false)
		poly.last(words)
		tag(v, n, k, words)
		VZEROUPPER()
		RET()
	})
}

// tagTwo generates tagTwo<isa>. Without it, nhPoly and tagNext would take 11 % longer for 1,500 bytes of
// UMAC-64, and 7 % for UMAC-128.
func tagTwo(v isa) {
	done := label("done")
	kernel("tagTwo"+v.name(), func(n int, k gotypes.Component) {
		r, words := newRest(v, n, k, "msg", nil, false), wordsIn(n)()
		r.follows, r.anySize = true, true
		Comment("The first block.")
		ADDQ(I32(blockSize), r.p)
		SUBQ(I32(blockSize), r.length)
		s := newSums(v, n)
		nhBlock(v, s, r.lo, r.hi, r.p)
		sumsToWords(v, s, words)
		VPADDQ(blockBits, words, words)
		poly := newPoly(n, k)
		Comment("L2: the first step of POLY-64, from 1.")
		poly.setOne()
		poly.step(words)
		VPXOR(polySign, words, words)
		Comment("L2: k*y and k*k*y. NH of the last block does not wait for them.")
		poly.set(oneByOne(words, n))
		Comment("The last block, with its length in bits.")
		r.hash(words)
		bits := wordsIn(n)()
		VPBROADCASTQ(field(Param("msg").Len()), bits)
		VPSLLQ(U8(3), bits, bits)
		VPSUBQ(blockBits, bits, bits)
		VPADDQ(bits, words, words)
		poly.last(words)
		tag(v, n, k, words)
		JMP(LabelRef(done))
	})
	Label(done)
	VZEROUPPER()
	RET()
}

// tagWords generates tagWords<isa>.
func tagWords(v isa) {
	kernel("tagWords"+v.name(), func(n int, k gotypes.Component) {
		words := wordsIn(n)()
		p := Load(Param("words"), GP64())
		join(words, func(t int) Op { return Mem{Base: p, Disp: 8 * t} }, n)
		tag(v, n, k, words)
		VZEROUPPER()
		RET()
	})
}

// join puts n words side by side. It loads each by itself, because they may have been
// stored one by one.
func join(words VecVirtual, word func(t int) Op, n int) {
	VMOVQ(word(0), words.AsX())
	VPINSRQ(U8(1), word(1), words.AsX(), words.AsX())
	if n == 4 {
		x := XMM()
		VMOVQ(word(2), x)
		VPINSRQ(U8(1), word(3), x, x)
		VINSERTI128(U8(1), x, words, words)
	}
}

// tag is L3-HASH, RFC 4418 section 5.4, of words of 8 bytes, and the xor with the pad.
func tag(v isa, n int, k gotypes.Component, w VecVirtual) {
	vec := wordsIn(n)
	l3 := k.Field("l3")
	Comment("The pad, and k2, big-endian.")
	pad, k2 := XMM(), XMM()
	// Not in one load: the caller has stored them one by one.
	VMOVQ(field(Param("x").Field("first")), pad)
	if n == 4 {
		VPINSRQ(U8(1), field(Param("x").Field("second")), pad, pad)
	}
	VMOVDQU(field(l3.Field("k2").Index(0)), k2)
	VPSHUFB(swap32, k2, k2)
	VPXOR(k2, pad, pad)
	r, x, t := inner36(v, n, l3, w), vec(), vec()
	Comment("Modulo p36 = 2^36-5.")
	VPSRLQ(U8(36), r, x)
	VPAND(low36, r, r)
	VPSLLQ(U8(2), x, t)
	VPADDQ(x, r, r)
	VPADDQ(t, r, r)       // < 2*p36
	VPSUBQ(p36s, r, x)    // negative if r < p36
	VBLENDVPD(x, r, x, x) // r then
	Comment("The tag, big-endian.")
	VPSHUFB(tagBytes, x, x)
	tag := GP64()
	if n == 4 {
		h := XMM()
		VEXTRACTI128(U8(1), x, h)
		VPXOR(x.AsX(), pad, pad)
		VPXOR(pad, h, h)
		VMOVDQU(h, Mem{Base: Load(Param("tag"), tag)})
	} else {
		VPXOR(pad, x, x)
		VMOVQ(x, Mem{Base: Load(Param("tag"), tag)})
	}
}

// inner36 returns the inner product of the 16-bit words of w with k_5 to k_8, < 2^54.
func inner36(v isa, n int, l3 gotypes.Component, w VecVirtual) VecVirtual {
	vec := wordsIn(n)
	Comment("L3: the 16-bit words times k_5 to k_8.")
	var y, high []VecVirtual
	for j := range 4 {
		k1 := field(l3.Field("low").Index(j).Index(0))
		x := vec()
		switch j {
		case 0:
			VPSRLQ(U8(48), w, x)
		case 3:
			VPAND(lowWord[3], w, x)
		default:
			VPSHUFB(lowWord[j], w, x)
		}
		if v.name() == "AVX512" {
			VPMULLQ(k1, x, x)
			y = append(y, x)
			continue
		}
		low, h := vec(), vec()
		VPMULUDQ(k1, x, low)
		VMOVSHDUP(k1, h)
		VPMULUDQ(h, x, h)
		y, high = append(y, low), append(high, h)
	}
	add4 := func(s []VecVirtual) {
		VPADDQ(s[1], s[0], s[0])
		VPADDQ(s[3], s[2], s[2])
		VPADDQ(s[2], s[0], s[0])
	}
	add4(y)
	if high != nil {
		add4(high)
		VPSLLQ(U8(32), high[0], high[0])
		VPADDQ(high[0], y[0], y[0])
	}
	return y[0]
}

var (
	lowWord               [4]Mem
	low36, p36s, tagBytes Mem
)

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
	lowWord[1] = four("lowWord1", 0x8080808080800504, 0x8080808080800d0c)
	lowWord[2] = four("lowWord2", 0x8080808080800302, 0x8080808080800b0a)
	lowWord[3] = four("lowWord3", 0xffff)
	low36 = four("low36", 1<<36-1)
	p36s = four("p36s", 1<<36-5)
	tagBytes = four("tagBytes", 0x08090a0b00010203, 0x8080808080808080, 0x8080808080808080, 0x08090a0b00010203)
}

// four returns a constant of four words, which repeats those given.
func four(name string, words ...uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(words[i%len(words)]))
	}
	return m
}
