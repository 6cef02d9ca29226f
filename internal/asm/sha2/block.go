// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sha2 generates the functions of SHA-256 and SHA-512 that are alike. For one message, without SHA
// instructions, these are the compression function, FIPS 180-4 sections 6.2.2 and 6.4.2, over a run of blocks,
// and the iteration of PBKDF2. For messages side by side, with AVX2, see [Lanes].
//
// The working variables are in general registers, and round.go has their rounds. The
// last 16 words of the message schedule are in four vectors, and schedule.go makes the
// next. The frame holds the sums of 16 words and of their constants, which the rounds
// read one by one. While 16 rounds run, vector instructions between them make the next
// 16 words; during the last 16 of a block they load the next block. With AVX-512 too the
// vectors of 64-bit words have 256 bits: many CPUs have a lower clock with 512.
//
// The end of a message goes from its memory to the vectors, and that of an outer hash from
// the working variables: writing a block for each would take 7 % of a short message's HMAC.
package sha2

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const vecWords = 4

// A Hash is SHA-256 or SHA-512.
type Hash struct {
	wordSize, rounds int
	upper0, upper1   [3]uint8 // FIPS 180-4 sections 4.1.2 and 4.1.3: the rotations of Sigma0 and Sigma1
	instructions

	// These are in memory, for VPSHUFB: what makes words big-endian, 32 bytes of them, what rotates 64-bit words
	// to the right by 8, and what moves the lower halves of 64-bit words to the first two words or the last
	// two, beside zeros.
	Swap, Right8 Mem
	Halves       [2]Mem

	OuterPadding Mem // what follows a hash in the block after the outer pad

	// LoadPadded sets w to the block that p and the parameter end make. It may change p.
	LoadPadded func(p GPVirtual, w []VecVirtual)
}

// Instructions and registers for words of one size.
type instructions struct {
	register                func() GPVirtual
	vector                  func() VecVirtual // of vecWords words
	mov, add, sub, and, xor func(from, to Op)
	andn, rorx              func(x, y, to Op)
	vpadd                   func(...Op)
}

func SHA256() *Hash {
	return &Hash{wordSize: 4, rounds: 64, upper0: [3]uint8{2, 13, 22}, upper1: [3]uint8{6, 11, 25},
		instructions: instructions{GP32, XMM, MOVL, ADDL, SUBL, ANDL, XORL, ANDNL, RORXL, VPADDD}}
}

func SHA512() *Hash {
	return &Hash{wordSize: 8, rounds: 80, upper0: [3]uint8{28, 34, 39}, upper1: [3]uint8{14, 18, 41},
		instructions: instructions{GP64, YMM, MOVQ, ADDQ, SUBQ, ANDQ, XORQ, ANDNQ, RORXQ, VPADDQ}}
}

func (h *Hash) vecSize() int   { return vecWords * h.wordSize }
func (h *Hash) blockSize() int { return 16 * h.wordSize }
func (h *Hash) hashSize() int  { return 8 * h.wordSize }

// A Form is what the functions of an instruction set have in common.
type Form struct {
	AVX512      bool // with AVX-512, which is for words of 64 bits only, or with AVX2
	ShortChains bool // with rounds of the one form, or of the other: see round.go
}

// Block generates the function of that name, whose contract is that of block256SHA in package sha2.
func (h *Hash) Block(name string, form Form) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")

	p, k := GP64(), GP64()
	Load(Param("p"), p)
	Load(Param("k"), k)
	blocks := Address(Param("blocks"))
	s := h.newSchedule(k, form)
	load := func(i int) {
		VMOVDQU(Mem{Base: p, Disp: h.vecSize() * i}, s.w[i])
		VPSHUFB(h.Swap, s.w[i], s.w[i])
		s.add(i, 0)
	}
	CMPQ(blocks, Imm(0))
	JE(LabelRef("padded"))
	for i := range s.w {
		load(i)
	}
	Label("loaded")
	r := h.loadVariables(form)

	Label("block")
	r.setBC()
	s.rounds(r)
	Comment("The last 16 rounds, and the next block; after the last block, this one again.")
	next := GP64()
	LEAQ(Mem{Base: p, Disp: h.blockSize()}, next)
	DECQ(blocks)
	CMOVQNE(next, p)
	for i := range s.w {
		for t := range vecWords {
			r.round(s.kw(vecWords*i + t))
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
	MOVQ(U32(0), Address(Param("end")))
	MOVQ(U32(1), blocks)
	state := Load(Param("state"), GP64())
	for i := range 2 {
		VMOVDQU(Mem{Base: state, Disp: h.vecSize() * i}, s.w[i])
		VMOVDQU(h.OuterPadding.Offset(h.vecSize()*i), s.w[i+2])
		s.add(i+2, 0)
	}
	for i, v := range r.v {
		at := h.wordSize * i
		h.add(Mem{Base: k, Disp: at}, v)
		h.mov(v, s.kw(i))
		h.mov(Mem{Base: outer, Disp: at}, v)
		h.mov(v, Mem{Base: state, Disp: at})
	}
	JMP(LabelRef("block"))

	Label("wipe")
	s.wipe()
	r.wipe()
	VZEROUPPER()
	RET()

	Label("padded")
	h.LoadPadded(p, s.w[:])
	for i := range s.w {
		s.add(i, 0)
	}
	Comment("A block that can be loaded after the last one.")
	MOVQ(k, p)
	MOVQ(U32(1), blocks)
	JMP(LabelRef("loaded"))
}

// Address returns where a parameter or a field is.
func Address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
