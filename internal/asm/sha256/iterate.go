// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The iteration of PBKDF2, RFC 8018 section 5.2: U becomes the HMAC of U, and is added to T. A step
// compresses two blocks, both of eight words and outerBlock: U, and the inner hash. What it makes of
// these is the next U, so that words never leave the registers.
//
// The chaining values with which the two begin are one after the other in memory. The register at is
// the offset of the one that is in use: 0 or the size of one.

func iterate256() {
	begin("iterate256SHA")
	iterate(Dereference(Param("it")))
}

func iteratePair256() {
	begin("iteratePair256SHA")
	its := Dereference(Param("its"))
	iterate(its.Index(0), its.Index(1))
}

// iterate is all of a function but the load of the iterations' address.
func iterate(its ...gotypes.Component) {
	n, k, at := Load(Param("n"), GP64()), Load(Param("k"), GP64()), zero()
	half := func(state gotypes.Component, i int) Mem { return address(state.Index(4 * i)) }
	from := func(it gotypes.Component, i int) Mem { return half(it.Field("Key").Field("Inner"), i).Idx(at, 1) }
	var messages []*message
	for _, it := range its {
		m := &message{w: [4]VecVirtual{XMM(), XMM(), XMM(), XMM()}}
		for i := range 2 {
			VMOVDQU(half(it.Field("U"), i), m.w[i])
		}
		messages = append(messages, m)
	}
	align()
	Label("block")
	for i, m := range messages {
		m.s = loadState(from(its[i], 0), from(its[i], 1))
		VMOVDQU(outerPadding, m.w[2])
		VMOVDQU(outerPadding.Offset(16), m.w[3])
	}
	for t := 0; t < rounds; t += 4 {
		Commentf("Rounds %d to %d.", t, t+3)
		for _, m := range messages {
			if len(messages) > 1 {
				m.fourRounds(t, k)
				continue
			}
			m.rounds(t, k)
			if t := t - 4; 0 <= t && t < rounds-16 {
				m.lateSchedule(t)
			}
		}
	}
	for i, m := range messages {
		m.words()
		for j := range 2 {
			VPADDD(from(its[i], j), m.w[j], m.w[j])
		}
	}
	XORQ(U32(8*wordSize), at)
	JNZ(LabelRef("block"))
	for i, m := range messages {
		for j := range 2 {
			t, sum := half(its[i].Field("T"), j), XMM()
			VPXOR(t, m.w[j], sum)
			VMOVDQU(sum, t)
		}
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	for i, m := range messages {
		for j := range 2 {
			VMOVDQU(m.w[j], half(its[i].Field("U"), j))
		}
	}
	VZEROUPPER()
	RET()
}

// lateSchedule is schedule for one message whose words are known only when its rounds begin, so that
// the chain of the words takes nearly as long as that of the rounds. It is shorter here: W[t+12], of
// the vector before, is added last. And the words are made four rounds later, so that they do not
// delay the rounds. Without these, a step takes 9 % longer.
func (m *message) lateSchedule(t int) {
	w, x, last := m.word(t), XMM(), XMM()
	SHA256MSG1(m.word(t+4), w)
	VPSRLDQ(U8(4), m.word(t+8), x)
	VPADDD(x, w, w)
	SHA256MSG2(m.word(t+12), w)
	VPSLLDQ(U8(12), m.word(t+12), last)
	VPADDD(last, w, w)
}

// iterateLanes256 is for 16 iterations. Of the first round only the addition of its word is in the loop:
// the rest is the same in all steps.
func iterateLanes256() {
	begin("iterateLanes256AVX512")
	its := Dereference(Param("its"))
	n, k, at, left := Load(Param("n"), GP64()), Load(Param("k"), GP64()), zero(), GP64()
	row := func(field string, i int) Mem { return address(its.Field(field).Index(i).Index(0)) }
	from := func(i int) Mem { return row("inner", i).Idx(at, 1) }
	first := func(i int) Mem { return row("innerFirst", i).Idx(at, 1) } // the variables after the first round
	var v, w []VecVirtual
	for range 8 {
		v = append(v, ZMM())
	}
	for range 16 {
		w = append(w, ZMM())
	}
	Label("first")
	for i := range v {
		VMOVDQU32(from(i), v[i])
	}
	round(v, 0, word{constant: true}, k)
	for i := range v {
		VMOVDQU32(v[i], first(i))
	}
	XORQ(U32(8*rowSize), at)
	JNZ(LabelRef("first"))
	for i := range v {
		VMOVDQU32(row("u", i), w[i])
	}
	Label("block")
	for i := range v {
		if i == 3 || i == 7 { // e and a
			VPADDD(first(i), w[0], v[i])
		} else {
			VMOVDQU32(first(i), v[i])
		}
	}
	firstRounds(1, v, w, k)
	MOVQ(U32(rounds/16-2), left)
	lastRounds(v, w, k, left)
	for i := range v {
		VPADDD(from(i), v[i], w[i])
	}
	XORQ(U32(8*rowSize), at)
	JNZ(LabelRef("block"))
	for i := range v {
		sum := ZMM()
		VPXORQ(row("t", i), w[i], sum)
		VMOVDQU32(sum, row("t", i))
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	for i := range v {
		VMOVDQU32(w[i], row("u", i))
	}
	VZEROUPPER()
	RET()
}

// zero returns a register that is 0.
func zero() GPVirtual {
	r := GP64()
	XORL(r.As32(), r.As32())
	return r
}
