// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// iterateLanes512 is the iteration of PBKDF2 for eight, as package sha2 has it for one.
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
