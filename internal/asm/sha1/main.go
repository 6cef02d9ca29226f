// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha1 generates internal/sha1/sha1_amd64.s: the iteration of PBKDF2, RFC 8018 section 5.2, with SHA-1,
// FIPS 180-4 section 6.1.2, and the SHA instructions. The chain of a block's 20 SHA1RNDS4 takes all the time of
// one iteration, and two side by side take a tenth more.
//
// It reads only the iterations and the constants.
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
	groups    = 20 // of four rounds, of which an instruction makes one
	hashSize  = 20
	blockSize = 64
	stateSize = 32 // in memory
)

// What follows a hash in the block after the outer pad.
var afterHash, length Mem

func main() {
	Package("example.com/fastmac/internal/sha1")
	ConstraintExpr("!purego")
	afterHash = GLOBL("afterHash", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(1<<31))
	length = GLOBL("length", attr.RODATA|attr.NOPTR)
	DATA(0, U64(8*(blockSize+hashSize)))
	DATA(8, U64(0))

	begin("iterate1SHA")
	iterate(Dereference(Param("it")))
	begin("iteratePair1SHA")
	its := Dereference(Param("its"))
	iterate(its.Index(0), its.Index(1))
	output.Generate()
}

func begin(name string) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")
}

// A chain is what belongs to one of the iterations. The variables a to d and the words of a message are in the
// order of SHA1RNDS4: the first in the highest lane. e is in the highest lane too, above zeros, to which
// SHA1NEXTE adds the next words. The SHA instructions have no form with VEX. All others have it.
type chain struct {
	it   gotypes.Component
	abcd VecVirtual
	e    [2]VecVirtual // of this group, and of the next one
	w    [4]VecVirtual // the last 16 words of the message schedule
}

// iterate is all of a function but the load of the iterations' address. A step compresses two blocks, both of a
// hash and its padding: U, and the inner hash. What it makes of these is the next U, so that words never leave the
// registers. The register at is the offset of the chaining value that is in use, inner or outer.
func iterate(its ...gotypes.Component) {
	n, at := Load(Param("n"), GP64()), GP64()
	XORL(at.As32(), at.As32())
	var chains []*chain
	for _, it := range its {
		c := &chain{it: it, abcd: XMM(), e: [2]VecVirtual{XMM(), XMM()}, w: [4]VecVirtual{XMM(), XMM(), XMM(), XMM()}}
		VMOVDQU(c.half("u", 0), c.abcd)
		VMOVDQU(c.half("u", 1), c.e[0])
		chains = append(chains, c)
	}
	Label("block")
	for _, c := range chains {
		VMOVDQA(c.abcd, c.w[0])
		VPOR(afterHash, c.e[0], c.w[1])
		VPXOR(c.w[2], c.w[2], c.w[2])
		VMOVDQU(length, c.w[3])
		VMOVDQU(c.half("inner", 0).Idx(at, 1), c.abcd)
		VMOVDQU(c.half("inner", 1).Idx(at, 1), c.e[0])
	}
	for g := range groups {
		Commentf("Rounds %d to %d.", 4*g, 4*g+3)
		for _, c := range chains {
			c.rounds(g)
		}
	}
	for _, c := range chains {
		old := XMM()
		VMOVDQU(c.half("inner", 1).Idx(at, 1), old)
		SHA1NEXTE(old, c.e[groups%2])
		VPADDD(c.half("inner", 0).Idx(at, 1), c.abcd, c.abcd)
	}
	XORQ(U32(stateSize), at)
	JNZ(LabelRef("block"))
	for _, c := range chains {
		for i, u := range []VecVirtual{c.abcd, c.e[0]} {
			sum := XMM()
			VPXOR(c.half("t", i), u, sum)
			VMOVDQU(sum, c.half("t", i))
		}
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	for _, c := range chains {
		VMOVDQU(c.abcd, c.half("u", 0))
		VMOVDQU(c.e[0], c.half("u", 1))
	}
	VZEROUPPER()
	RET()
}

// rounds makes four rounds, and what their words add to the message schedule: W[t] is the word of t-3, t-8, t-14
// and t-16, rotated.
func (c *chain) rounds(g int) {
	word := func(k int) VecVirtual { return c.w[k%4] }
	e, next := c.e[g%2], c.e[(g+1)%2]
	if g == 0 {
		VPADDD(word(g), e, e)
	} else {
		SHA1NEXTE(word(g), e)
	}
	VMOVDQA(c.abcd, next)
	SHA1RNDS4(U8(g/5), e, c.abcd)
	if 3 <= g && g < groups-1 {
		SHA1MSG2(word(g), word(g+1))
	}
	if 1 <= g && g < groups-3 {
		SHA1MSG1(word(g), word(g+3))
	}
	if 2 <= g && g < groups-2 {
		VXORPS(word(g), word(g+2), word(g+2)) // and not VPXOR, so that proofs know that these are words
	}
}

// half returns the first or the second half of a field.
func (c *chain) half(field string, i int) Mem {
	b, err := c.it.Field(field).Index(4 * i).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
