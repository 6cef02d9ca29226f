// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command gcm generates internal/gcm/gcm_amd64.s, the kernels of AES-GCM, NIST SP 800-38D:
// for every amd64 with AES and carry-less multiplication, for vectors of two blocks (VAES
// and VPCLMULQDQ with AVX2), and of four (with AVX-512). isa.go has the vectors, aes.go
// AES and the counter blocks, ghash.go the products of GHASH and its key, kernel.go what all
// kernels need, gmac.go GHASH of data and GMAC, crypt.go Seal and Open, doublecrypt.go those of
// two blocks, partial.go the last bytes, and long.go and longcrypt.go the kernels for AVX-512.
//
// A kernel reads and writes nothing outside its arguments. It branches on sizes only.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"

	"example.com/fastmac/internal/asm/output"
)

const (
	blockSize = 16
	maxLanes  = 4 // of a vector
	powers    = 8 // of the GHASH key in a Key
)

func main() {
	Package("example.com/fastmac/internal/gcm")
	ConstraintExpr("!purego")
	ghashConstants()
	counterConstants()
	partialConstants()
	initKey()
	for _, k := range []struct {
		isa
		name string
	}{
		{isa{1, sse}, "AESNI"},
		{isa{2, vex}, "AVX2"},
	} {
		hash(k.isa, "hash"+k.name)
		gmac(k.isa, "gmac"+k.name)
		crypt(k.isa, "seal"+k.name, false)
		crypt(k.isa, "open"+k.name, true)
	}
	hashWide("hashAVX512")
	gmacWide("gmacAVX512")
	cryptWide("sealAVX512", false)
	cryptWide("openAVX512", true)
	output.Generate()
}

var labels int

// label returns a new label; avo wants them to be unique in a file.
func label(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// align aligns the loop that follows: its speed depends on where it is otherwise.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// field returns the address of a component.
func field(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
