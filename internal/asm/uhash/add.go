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

// nhAdd generates nhAdd<isa>.
func nhAdd(v isa) {
	kernel("nhAdd"+v.name(), func(n int, k gotypes.Component) {
		state, words := Load(Param("s"), GP64()), wordsIn(n)()
		r := newRest(v, n, k, "p", state)
		r.whole = true
		ADDQ(r.length, Mem{Base: state, Disp: wordsSize})
		r.hash(words)
		addSums(n, state, words)
		Comment("In one store, so that one load can read them.")
		VMOVDQU(words, Mem{Base: state})
		VZEROUPPER()
		RET()
	})
}

// lastWords sets words to the L1 words of the last block, of which state has the groups before
// the rest, with its length in bits. If first is true it is also the first block, and hashed as
// a group of zeros if it has no bytes.
func lastWords(r rest, state Register, words VecVirtual, first bool) {
	some, summed := label("some"), label("summed")
	TESTQ(r.length, r.length)
	JNE(LabelRef(some))
	Comment("No bytes are left.")
	if first {
		CMPQ(Mem{Base: state, Disp: wordsSize}, Imm(0))
		JEQ(LabelRef(some))
	}
	loadSums(r.n, state, words)
	JMP(LabelRef(summed))

	Label(some)
	r.hash(words)
	addSums(r.n, state, words)
	Label(summed)
	Comment("L1: the length in bits.")
	bits := wordsIn(r.n)()
	VPBROADCASTQ(field(Param("length")), bits)
	VPSLLQ(U8(3), bits, bits)
	VPADDQ(bits, words, words)
}

// wordsIn returns a function for registers that have the words of n iterations.
func wordsIn(n int) func() VecVirtual {
	if n == 4 {
		return YMM
	}
	return XMM
}

// loadSums sets words to the sums of an l1State. They may be in two stores of 16 bytes.
func loadSums(n int, state Register, words VecVirtual) {
	VMOVDQU(Mem{Base: state}, words.AsX())
	if n == 4 {
		VINSERTI128(U8(1), Mem{Base: state, Disp: wordsSize / 2}, words, words)
	}
}

// addSums adds the sums of an l1State to words.
func addSums(n int, state Register, words VecVirtual) {
	sums := wordsIn(n)()
	loadSums(n, state, sums)
	VPADDQ(sums, words, words)
}
