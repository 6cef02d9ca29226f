// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha256 generates internal/sha2/sha256_amd64.s: the compression function of
// SHA-256, FIPS 180-4 section 6.2.2, over a run of blocks. One message and two side by
// side, with the SHA instructions, are in sha.go, and 16 with AVX-512 or eight with AVX2 in lanes.go. The
// iteration of PBKDF2, for as many, is in iterate.go. One message without SHA instructions is
// from package sha2.
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
	rounds    = 64
	wordSize  = 4
	blockSize = 16 * wordSize
)

func main() {
	Package("example.com/fastmac/internal/sha2")
	ConstraintExpr("!purego")
	constants()
	one, avx2 := sha2.SHA256(), sha2.Form{}
	one.Swap, one.Halves, one.OuterPadding, one.LoadPadded = swap32, halves, outerPadding, loadPadded
	one.Block("block256AVX2", avx2)
	block256()
	pair256()
	lanes256()
	lanes256AVX2(one)
	one.Iterate("iterate256AVX2", avx2)
	iterate256()
	iteratePair256()
	iterateLanes256()
	output.Generate()
}

var address = sha2.Address

var (
	swap32       Mem    // for VPSHUFB
	halves       [2]Mem // see package sha2
	endTable     Mem    // for the end of a message
	outerPadding Mem    // outerBlock
)

// Offsets in endTable, which begins with three vectors of zeros, one of ones, and three of zeros. They
// are for three words: there are four bytes more for each word less.
const (
	toFront = 7*16 + 4      // for VPSHUFB: the last words become the first, before zeros
	toPlace = 7*16 + 16 + 4 // the same: the first word becomes the one after these
)

// outerBlock is what follows a hash in the block after the outer pad.
var outerBlock = [8]uint32{1 << 31, 0, 0, 0, 0, 0, 0, 8 * (blockSize + 8*wordSize)}

func constants() {
	words := func(name string, m *Mem, words ...uint64) {
		*m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for i, w := range words {
			DATA(8*i, U64(w))
		}
	}
	words("swap32", &swap32, 0x0405060700010203, 0x0c0d0e0f08090a0b, 0x0405060700010203, 0x0c0d0e0f08090a0b)
	words("lowHalves", &halves[0], 0x0b0a090803020100, 0x8080808080808080)
	words("highHalves", &halves[1], 0x8080808080808080, 0x0b0a090803020100)
	const ones, zero = 1<<64 - 1, 0x8080808080808080 // for VPAND, for VPSHUFB
	words("endTable", &endTable, 0, 0, 0, 0, 0, 0, ones, ones, 0, 0, 0, 0, 0, 0,
		0x0706050403020100, 0x0f0e0d0c0b0a0908, zero, zero, 0x8080808003020100, zero)
	outerPadding = GLOBL("outerPadding32", attr.RODATA|attr.NOPTR)
	for t, w := range outerBlock {
		DATA(wordSize*t, U32(w))
	}
}

// loadPadded is for the functions of package sha2.
func loadPadded(p GPVirtual, w []VecVirtual) {
	end := Load(Param("end"), GP64())
	m := message{p: p, end: Param("end").Dereference(end), w: [4]VecVirtual(w)}
	m.padded("")
}
