// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The iteration of PBKDF2, RFC 8018 section 5.2: U becomes the HMAC of U, and is added to T. A step
// compresses two blocks, both of eight words and outerPadding: U, and the inner hash.
//
// The chaining values with which the two begin are one after the other in memory. The register at is
// the offset of the one that is in use: 0 or the size of one.

// iterate generates the function of that name, for one iteration, with rounds of one form. U, and the
// inner hash, are written to memory, from which the vectors have them. With K they go from the working
// variables to the frame, so that the first rounds need not wait for vectors. No register is left for at:
// it is a bit of the parameter n, which becomes the size of the hashes to come.
func iterate(name string, avx512 bool, round func(r *variables, kw Mem)) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")
	it, k := Dereference(Param("it")), Load(Param("k"), GP64())
	s := newSchedule(k, avx512)
	left := address(Param("n"))
	word := func(field string, i int) Mem { return address(it.Field(field).Index(i)) }
	from := func(i int, at Register) Mem { return address(it.Field("Key").Field("Inner").Index(i)).Idx(at, 1) }
	n := Load(Param("n"), GP64())
	IMUL3Q(U32(2*hashSize), n, n)
	MOVQ(n, left)
	r := variables{bc: GP64(), t: GP64()}
	for i := range r.v {
		r.v[i] = GP64()
		MOVQ(word("U", i), r.v[i])
	}
	loadU := func() {
		for i := range 2 {
			VMOVDQU(word("U", vecWords*i), s.w[i])
		}
	}
	loadU()

	Label("block")
	at := GP64()
	setAt := func() {
		MOVQ(left, at)
		ANDQ(U32(hashSize), at)
	}
	setAt()
	for i := 2; i < len(s.w); i++ {
		VMOVDQU(outerPadding.Offset(vecWords*wordSize*(i-2)), s.w[i])
		s.add(i, 0)
	}
	for i, v := range r.v {
		ADDQ(Mem{Base: k, Disp: wordSize * i}, v)
		MOVQ(v, s.kw(i))
		MOVQ(from(i, at), v)
	}
	r.setBC()
	s.rounds(&r, round)
	for t := range 16 {
		round(&r, s.kw(t))
	}
	setAt()
	for i, v := range r.v {
		ADDQ(from(i, at), v)
		MOVQ(v, word("U", i))
	}
	loadU()
	SUBQ(U32(hashSize), left)
	TESTQ(U32(hashSize), left)
	JNZ(LabelRef("block"))
	for i := range 2 {
		t, sum := word("T", vecWords*i), YMM()
		VPXOR(t, s.w[i], sum)
		VMOVDQU(sum, t)
	}
	CMPQ(left, Imm(0))
	JG(LabelRef("block"))
	s.wipe()
	r.wipe()
	VZEROUPPER()
	RET()
}

// iterateLanes512 is for eight iterations.
func iterateLanes512() {
	Implement("iterateLanes512AVX512")
	Pragma("noescape")
	its := Dereference(Param("its"))
	n, k, at := Load(Param("n"), GP64()), Load(Param("k"), GP64()), GP64()
	row := func(field string, i int) Mem { return address(its.Field(field).Index(i).Index(0)) }
	from := func(i int) Mem { return row("inner", i).Idx(at, 1) }
	XORL(at.As32(), at.As32())
	v, w, t := vectors(8), vectors(16), vectors(8)
	for i := range v {
		VMOVDQU64(row("u", i), w[i])
	}
	Label("block")
	for i := range v {
		VMOVDQU64(from(i), v[i])
		VPBROADCASTQ(outerPadding.Offset(wordSize*i), w[8+i])
	}
	rounds512(v, w, k, t)
	for i := range v {
		VPADDQ(from(i), v[i], w[i])
	}
	XORQ(U32(8*rowSize), at)
	JNZ(LabelRef("block"))
	for i := range v {
		VPXORQ(row("t", i), w[i], t[0])
		VMOVDQU64(t[0], row("t", i))
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	for i := range v {
		VMOVDQU64(w[i], row("u", i))
	}
	VZEROUPPER()
	RET()
}
