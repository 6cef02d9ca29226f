// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha512 generates internal/sha2/sha512_amd64.s: the compression function
// of SHA-512, FIPS 180-4 section 6.4.2, over a run of blocks.
//
// The working variables are in general registers, and round.go has their rounds. The
// last 16 words of the message schedule are in four vectors, and schedule.go makes the
// next. The frame holds the sums of 16 words and of their constants, which the rounds
// read one by one. While 16 rounds run, vector instructions between them make the next
// 16 words; during the last 16 of a block they load the next block. With AVX-512 too the
// vectors have 256 bits: many CPUs have a lower clock with 512.
//
// The end of a message goes from its memory to the vectors, and that of an outer hash from
// the working variables: writing a block for each would take 7 % of a short message's HMAC.
//
// It reads only the blocks, the words of a last block, the end, the states, the iterations
// and the constants. Several messages side by side are in lanes.go, and the iteration of
// PBKDF2 is in iterate.go.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
)

const (
	rounds    = 80
	wordSize  = 8
	blockSize = 16 * wordSize
	hashSize  = 8 * wordSize
	vecWords  = 4
)

func main() {
	Package("example.com/fastmac/internal/sha2")
	ConstraintExpr("!purego")
	constants()
	block("block512AVX2", false, (*variables).fewInstructions)
	block("block512AVX512", true, (*variables).shortChains)
	lanes512()
	lanes512AVX2()
	iterate("iterate512AVX2", false, (*variables).fewInstructions)
	iterate("iterate512AVX512", true, (*variables).shortChains)
	iterateLanes512()
	output.Generate()
}

var (
	swap64, right8 Mem // for VPSHUFB, the same for both 128-bit lanes

	numbers      Mem // 0 to 3
	vectorOf     Mem // of each word of a block, the number of its vector
	noWords      Mem // zeros
	outerPadding Mem // what follows a hash in the block after the outer pad
)

func constants() {
	words := func(name string, words ...uint64) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for t, w := range words {
			DATA(wordSize*t, U64(w))
		}
		return m
	}
	mask := func(name string, low, high uint64) Mem { return words(name, low, high, low, high) }
	swap64 = mask("swap64", 0x0001020304050607, 0x08090a0b0c0d0e0f)
	right8 = mask("right8", 0x0007060504030201, 0x080f0e0d0c0b0a09) // ROTR(8, v)
	numbers = words("numbers", 0, 1, 2, 3)
	vectorOf = words("vectorOf", 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
	noWords = words("noWords", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	outerPadding = words("outerPadding", 1<<63, 0, 0, 0, 0, 0, 0, 8*(blockSize+hashSize))
}

// block generates the function of that name, with rounds of one form.
func block(name string, avx512 bool, round func(r *variables, kw Mem)) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")

	p, k := GP64(), GP64()
	Load(Param("p"), p)
	Load(Param("k"), k)
	blocks := address(Param("blocks"))
	s := newSchedule(k, avx512)
	load := func(i int) {
		VMOVDQU(Mem{Base: p, Disp: vecWords * wordSize * i}, s.w[i])
		VPSHUFB(swap64, s.w[i], s.w[i])
		s.add(i, 0)
	}
	CMPQ(blocks, Imm(0))
	JE(LabelRef("padded"))
	for i := range s.w {
		load(i)
	}
	Label("loaded")
	r := loadVariables()

	Label("block")
	r.setBC()
	s.rounds(&r, round)
	Comment("The last 16 rounds, and the next block; after the last block, this one again.")
	next := GP64()
	LEAQ(Mem{Base: p, Disp: blockSize}, next)
	DECQ(blocks)
	CMOVQNE(next, p)
	for i := range s.w {
		for t := range vecWords {
			round(&r, s.kw(vecWords*i+t))
		}
		load(i)
	}
	r.addState()
	CMPQ(blocks, Imm(0))
	JNE(LabelRef("block"))

	end, outer := Load(Param("end"), GP64()), GP64()
	TESTQ(end, end)
	JZ(LabelRef("wipe"))
	Load(Param("end").Dereference(end).Field("outer"), outer)
	TESTQ(outer, outer)
	JZ(LabelRef("wipe"))
	Comment("The last block of the outer hash: the state, and padding.")
	MOVQ(U32(0), address(Param("end")))
	MOVQ(U32(1), blocks)
	state := Load(Param("state"), GP64())
	for i := range 2 {
		VMOVDQU(Mem{Base: state, Disp: vecWords * wordSize * i}, s.w[i])
		VMOVDQU(outerPadding.Offset(vecWords*wordSize*i), s.w[i+2])
		s.add(i+2, 0)
	}
	for i, v := range r.v {
		at := wordSize * i
		ADDQ(Mem{Base: k, Disp: at}, v)
		MOVQ(v, s.kw(i))
		MOVQ(Mem{Base: outer, Disp: at}, v)
		MOVQ(v, Mem{Base: state, Disp: at})
	}
	JMP(LabelRef("block"))

	Label("wipe")
	s.wipe()
	r.wipe()
	VZEROUPPER()
	RET()

	Label("padded")
	loadPadded(p, s.w[:])
	for i := range s.w {
		s.add(i, 0)
	}
	Comment("A block that can be loaded after the last one.")
	MOVQ(k, p)
	MOVQ(U32(1), blocks)
	JMP(LabelRef("loaded"))
}

// loadPadded sets w to the block that p and the parameter end make. It changes p. What is not in the
// message is loaded from noWords instead: masked loads would read it in some emulators.
func loadPadded(p Register, w []VecVirtual) {
	end := Dereference(Param("end"))
	count := Load(end.Field("words"), GP64())
	bits, high := XMM(), YMM()
	VMOVQ(address(end.Field("bits").Index(0)), bits)
	VPINSRQ(U8(1), address(end.Field("bits").Index(1)), bits, bits)
	VPXOR(high, high, high)
	VINSERTI128(U8(1), bits, high, high)

	Comment("The words of the last vector that has any, and the tail after them.")
	none, whole, part, rest := GP64(), GP64(), GP64(), GP64()
	LEAQ(noWords, none)
	MOVQ(count, whole)
	ANDQ(I8(-vecWords), whole)
	MOVQ(count, rest)
	SUBQ(whole, rest)
	var words [vecWords - 1]GPVirtual
	for i := range words {
		words[i] = GP64()
		LEAQ(Mem{Base: p, Index: whole, Scale: wordSize, Disp: wordSize * i}, words[i])
		CMPQ(rest, Imm(uint64(i)))
		CMOVQLE(none, words[i])
	}
	last, third, mask, tail := YMM(), XMM(), YMM(), YMM()
	VMOVQ(Mem{Base: words[0]}, last.AsX())
	VPINSRQ(U8(1), Mem{Base: words[1]}, last.AsX(), last.AsX())
	VMOVQ(Mem{Base: words[2]}, third)
	VINSERTI128(U8(1), third, last, last)
	VMOVQ(rest, mask.AsX())
	VPBROADCASTQ(mask.AsX(), mask)
	VPCMPEQQ(numbers, mask, mask)
	VPBROADCASTQ(address(end.Field("tail")), tail)
	VPAND(tail, mask, mask)
	VPOR(mask, last, last)

	number := YMM()
	MOVQ(count, part)
	SHRQ(Imm(2), part)
	VMOVQ(part, number.AsX())
	VPBROADCASTQ(number.AsX(), number)
	for i, x := range w {
		at := vecWords * wordSize * i
		VPCMPEQQ(vectorOf.Offset(at), number, x)
		VPAND(last, x, x)
		if i < len(w)-1 { // a message that fills the block is not padded
			CMPQ(whole, Imm(uint64(vecWords*i)))
			CMOVQLE(none, p)
			VPOR(Mem{Base: p, Disp: at}, x, x)
		}
		VPSHUFB(swap64, x, x)
	}
	VPOR(high, w[len(w)-1], w[len(w)-1])
}

// address returns where a parameter or a field is.
func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
