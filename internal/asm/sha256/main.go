// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha256 generates internal/sha2/sha256_amd64.s: the compression function of
// SHA-256, FIPS 180-4 section 6.2.2, over a run of blocks. One message and two side by
// side, with the SHA instructions, are in sha.go, and 16 with AVX-512 in lanes.go.
//
// It reads only the blocks, the words of a last block, the end, the states and the
// constants.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"

	"example.com/fastmac/internal/asm/output"
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
	block256()
	pair256()
	lanes256()
	output.Generate()
}

var (
	swap32       Mem // for VPSHUFB
	outerPadding Mem // outerBlock
)

// outerBlock is what follows a hash in the block after the outer pad.
var outerBlock = [8]uint32{1 << 31, 0, 0, 0, 0, 0, 0, 8 * (blockSize + 8*wordSize)}

func constants() {
	swap32 = GLOBL("swap32", attr.RODATA|attr.NOPTR)
	for i, v := range []uint64{0x0405060700010203, 0x0c0d0e0f08090a0b} {
		DATA(8*i, U64(v))
	}
	outerPadding = GLOBL("outerPadding32", attr.RODATA|attr.NOPTR)
	for t, w := range outerBlock {
		DATA(wordSize*t, U32(w))
	}
}

// address returns where a parameter or a field is.
func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
