// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha512 generates internal/sha2/sha512_amd64.s: the compression function of SHA-512, FIPS 180-4
// section 6.4.2, over a run of blocks. Those of one message are from package sha2; several messages side
// by side are in lanes.go, and in iterate.go is the iteration of PBKDF2 for several.
//
// It reads only the blocks, the words of a last block, the end, the states, the iterations
// and the constants.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
	"example.com/fastmac/internal/asm/sha2"
)

const (
	wordSize  = 8
	blockSize = 16 * wordSize
	hashSize  = 8 * wordSize
	vecWords  = 4
)

func main() {
	Package("example.com/fastmac/internal/sha2")
	ConstraintExpr("!purego")
	constants()
	one := sha2.SHA512()
	one.Swap, one.Right8, one.OuterPadding, one.LoadPadded = swap64, right8, outerPadding, loadPadded
	avx2, avx512, lean := sha2.Form{}, sha2.Form{AVX512: true, ShortChains: true}, sha2.Form{AVX512: true}
	one.Block("block512AVX2", avx2)
	one.Block("block512AVX512", avx512)
	one.Block("block512LeanAVX512", lean)
	lanes512()
	lanes512AVX2(one)
	one.Iterate("iterate512AVX2", avx2)
	one.Iterate("iterate512AVX512", avx512)
	one.Iterate("iterate512LeanAVX512", lean)
	iterateLanes512()
	output.Generate()
}

var address = sha2.Address

var (
	swap64, right8 Mem // for VPSHUFB, the same for both 128-bit lanes

	numbers      Mem // 0 to 3
	vectorOf     Mem // of each word of a block, the number of its vector
	noWords      Mem // zeros
	outerPadding Mem // see package sha2
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

// loadPadded sets w to the block that p and the parameter end make. It changes p. What is not in the
// message is loaded from noWords instead: masked loads would read it in some emulators.
func loadPadded(p GPVirtual, w []VecVirtual) {
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
