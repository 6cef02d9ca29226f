// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The iteration of PBKDF2, RFC 8018 section 5.2: U becomes the HMAC of U, and is added to T. A step
// compresses two blocks, both of eight words and OuterPadding: U, and the inner hash.
//
// The chaining values with which the two begin are one after the other in memory. The register at is
// the offset of the one that is in use: 0 or the size of one.

// Iterate generates the function of that name, for one iteration. U, and the
// inner hash, are written to memory, from which the vectors have them. With K they go from the working
// variables to the frame, so that the first rounds need not wait for vectors. No register is left for at:
// it is a bit of the parameter n, which becomes the size of the hashes to come.
func (h *Hash) Iterate(name string, form Form) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")
	it, k := Dereference(Param("it")), Load(Param("k"), GP64())
	s := h.newSchedule(k, form)
	left, size := Address(Param("n")), uint32(h.hashSize())
	word := func(field string, i int) Mem { return Address(it.Field(field).Index(i)) }
	from := func(i int, at Register) Mem { return Address(it.Field("Key").Field("Inner").Index(i)).Idx(at, 1) }
	n := Load(Param("n"), GP64())
	IMUL3Q(U32(2*size), n, n)
	MOVQ(n, left)
	r := h.newVariables(form)
	for i, v := range r.v {
		h.mov(word("U", i), v)
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
		ANDQ(U32(size), at)
	}
	setAt()
	for i := 2; i < len(s.w); i++ {
		VMOVDQU(h.OuterPadding.Offset(h.vecSize()*(i-2)), s.w[i])
		s.add(i, 0)
	}
	for i, v := range r.v {
		h.add(Mem{Base: k, Disp: h.wordSize * i}, v)
		h.mov(v, s.kw(i))
		h.mov(from(i, at), v)
	}
	r.setBC()
	s.rounds(r)
	for t := range 16 {
		r.round(s.kw(t))
	}
	setAt()
	for i, v := range r.v {
		h.add(from(i, at), v)
		h.mov(v, word("U", i))
	}
	loadU()
	SUBQ(U32(size), left)
	TESTQ(U32(size), left)
	JNZ(LabelRef("block"))
	for i := range 2 {
		t, sum := word("T", vecWords*i), h.vector()
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
