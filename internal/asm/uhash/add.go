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
		r := newRest(v, n, k, "p", state, true)
		ADDQ(r.length, Mem{Base: state, Disp: wordsSize})
		r.hash(words)
		addSums(n, state, words)
		Comment("In one store, so that one load can read them.")
		VMOVDQU(words, Mem{Base: state})
		VZEROUPPER()
		RET()
	})
}

// nhNext generates nhNext<isa>. Without it, streams of 1,025 to 1,500 bytes would take 12 to 20 % longer.
func nhNext(v isa) {
	kernel("nhNext"+v.name(), func(n int, k gotypes.Component) {
		state, words := Load(Param("s"), GP64()), wordsIn(n)()
		r := newRest(v, n, k, "p", state, true)
		r.anySize = true
		lo, _ := halves(k)
		next := r
		next.p, next.length = GP64(), GP64()
		Comment("The bytes that the block has room for, and those of the next one.")
		room := GP64()
		MOVQ(I32(blockSize), room)
		SUBQ(Mem{Base: state, Disp: wordsSize}, room)
		LEAQ(Mem{Base: r.p, Index: room, Scale: 1}, next.p)
		MOVQ(r.length, next.length)
		SUBQ(room, next.length)
		MOVQ(room, r.length)
		Comment("The bytes after the last whole group. 16 bytes or more are before them.")
		end := tail{p: GP64(), size: GP64()}
		MOVQ(next.length, end.size)
		ANDQ(Imm(groupSize-1), end.size)
		SUBQ(end.size, next.length)
		LEAQ(Mem{Base: next.p, Index: next.length, Scale: 1}, end.p)
		group := Load(Param("group"), GP64())
		x, half := XMM(), XMM()
		end.load(x, half)
		VMOVDQU(x, Mem{Base: group})
		VMOVDQU(half, Mem{Base: group, Disp: halfSize})
		MOVQ(next.length, Mem{Base: state, Disp: wordsSize})

		y := Dereference(Param("y"))
		value := func(t int) Mem { return field(y.Index(t).Field("lo")) }
		poly := newPoly(n, k)
		Comment("L2: k*y and k*k*y. NH does not wait for them.")
		poly.set(loadEach(n, value))
		hash, full, step, none, stored := label("hash"), label("full"), label("step"), label("none"), label("stored")
		second := GP64()
		XORL(second.As32(), second.As32())
		TESTQ(r.length, r.length)
		JEQ(LabelRef(full))
		Comment("NH of the end of the block, and then of the next one.")
		Label(hash)
		r.hash(words)
		TESTQ(second, second)
		JNE(LabelRef(stored))
		addSums(n, state, words)
		JMP(LabelRef(step))
		Label(full)
		loadSums(n, state, words)
		Label(step)
		VPADDQ(blockBits, words, words)
		Comment("L2: a step of POLY-64.")
		poly.step(words)
		VPXOR(polySign, words, words)
		storeEach(n, words, value)

		Comment("The next block.")
		TESTQ(next.length, next.length)
		JEQ(LabelRef(none))
		MOVQ(next.p, r.p)
		MOVQ(next.length, r.length)
		MOVQ(lo.Base, r.lo.Base)
		ADDQ(Imm(1), second)
		JMP(LabelRef(hash))
		Label(none)
		VPXOR(words, words, words)
		Label(stored)
		Comment("In one store, so that one load can read them.")
		VMOVDQU(words, Mem{Base: state})
		VZEROUPPER()
		RET()
	})
}

// lastWords sets words to the L1 words of the last block, of which state has the groups before
// the rest, with its length in bits. If first is true it is also the first block, and hashed as
// a group of zeros if it has no bytes. A long rest has bytes.
func lastWords(r rest, state Register, words VecVirtual, first bool) {
	summed := label("summed")
	if !r.long() {
		some := label("some")
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
	}
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
