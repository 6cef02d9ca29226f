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

// bytes are those of a message that belong to one block, with the addresses of the key
// for their first group.
type bytes struct {
	n         int // iterations
	lo, hi    Mem // have one base
	p, length GPVirtual
	whole     bool   // whole groups
	masked    bool   // loads may use masks
	none      string // the label where a group of zeros is hashed, or "" for a block that has bytes
}

// bytesOf returns the bytes of the parameter for the block in an l1State, or for a new block.
func bytesOf(v isa, n int, k gotypes.Component, state Register, parameter string, whole bool) bytes {
	b := bytes{n: n, p: GP64(), length: GP64(), whole: whole, masked: v.name() == "AVX512", none: label("none")}
	Load(Param(parameter).Base(), b.p)
	Load(Param(parameter).Len(), b.length)
	lo, hi := halves(k)
	key := GP64()
	if state == nil {
		MOVQ(lo.Base, key)
		b.lo, b.hi = Mem{Base: key, Disp: lo.Disp}, Mem{Base: key, Disp: hi.Disp}
		return b
	}
	MOVQ(Mem{Base: state, Disp: wordsSize}, key)
	SHRQ(Imm(1), key) // half a group of key for a group of message
	ADDQ(lo.Base, key)
	b.lo, b.hi = Mem{Base: key, Disp: lo.Disp}, Mem{Base: key, Disp: hi.Disp}
	return b
}

// keys returns the keys of all iterations for the group that is g groups ahead.
func (b bytes) keys(g int) []key {
	keys := make([]key, b.n)
	for t := range keys {
		keys[t] = keysAt(b.lo, b.hi, t, g)
	}
	return keys
}

// next moves on by a number of groups and jumps to the loop if as many are left. If not,
// length is below 0 by what is missing.
func (b bytes) next(groups int, loop string) {
	ADDQ(I32(int32(groups*groupSize)), b.p)
	ADDQ(Imm(uint64(groups*halfSize)), b.lo.Base)
	SUBQ(I32(int32(groups*groupSize)), b.length)
	JGE(LabelRef(loop))
}

// nhAdd generates nhAdd<isa>.
func nhAdd(v isa) {
	kernel("nhAdd"+v.name(), func(n int, k gotypes.Component) {
		state := Load(Param("s"), GP64())
		b := bytesOf(v, n, k, state, "p", true)
		ADDQ(b.length, Mem{Base: state, Disp: wordsSize})
		words, outOfLine := v.hash(b)
		addSums(n, state, words)
		Comment("In one store, so that one load can read them.")
		VMOVDQU(words, Mem{Base: state})
		VZEROUPPER()
		RET()
		outOfLine()
	})
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

// hash512 sets words to NH of more than 128 bytes, zero-padded to whole groups. Masks keep
// its loads within these bytes.
func hash512(b bytes, words VecVirtual) {
	v := avx512{}
	done, loop := label("done"), label("whole")
	s := newSums(v, b.n)
	for t := range s {
		v.zero(s[t])
	}
	chunk := v.groups() * groupSize
	SUBQ(I32(int32(chunk)), b.length)
	Label(loop)
	low, high := v.vec(), v.vec()
	v.load(Mem{Base: b.p}, low, high)
	addChunk(v, s, low, high, b.keys(0), nil, false)
	b.next(v.groups(), loop)
	ADDQ(I32(int32(chunk)), b.length)
	JEQ(LabelRef(done))
	masked := label("masked")
	CMPQ(b.length, Imm(groupSize))
	JNE(LabelRef(masked))
	for t, k := range b.keys(0) {
		Comment("One group: the upper lanes of its products are zeros.")
		x, y, even := XMM(), XMM(), ZMM()
		VMOVDQU64(Mem{Base: b.p}, x)
		VMOVDQU64(Mem{Base: b.p, Disp: halfSize}, y)
		VPADDD(k.lo, x, x)
		VPADDD(k.hi, y, y)
		VPMULUDQ(y, x, even.AsX())
		VPSRLQ(U8(32), x, x)
		VPSRLQ(U8(32), y, y)
		VPMULUDQ(y, x, x)
		VPADDQ(x, even.AsX(), even.AsX())
		VPADDQ(even, s[t], s[t])
	}
	JMP(LabelRef(done))

	Label(masked)
	Comment("The last bytes, zero-padded to a group.")
	ones, bits, count, zero := GP64(), GP64(), GP64(), GP64()
	first, second, present := K(), K(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(b.length, ones, bits) // all ones from 64 on
	KMOVQ(bits, first)
	XORL(zero.As32(), zero.As32())
	MOVQ(b.length, count)
	SUBQ(Imm(64), count)
	CMOVQLT(zero, count)
	BZHIQ(count, ones, bits)
	KMOVQ(bits, second)
	ADDQ(Imm(groupSize-1), b.length)
	SHRQ(Imm(5), b.length)
	SHLQ(Imm(2), b.length) // four words per group
	BZHIQ(b.length, ones, bits)
	KMOVW(bits.As32(), present)
	c, d := v.vec(), v.vec()
	VMOVDQU8_Z(Mem{Base: b.p}, first, c)
	VMOVDQU8_Z(Mem{Base: b.p, Disp: 64}, second, d)
	split512(d, c, c, high)
	addChunk(v, s, c, high, b.keys(0), present, false)

	Label(done)
	sumsToWords(v, s, words)
}

// fill512 generates fillAVX512, which copies less than a group, zero-padded, in one
// store.
func fill512() {
	Implement("fillAVX512")
	Pragma("noescape")
	group, p, n := Load(Param("group"), GP64()), Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
	ones, x, mask := GP64(), YMM(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVD(ones.As32(), mask)
	VMOVDQU8_Z(Mem{Base: p}, mask, x)
	VMOVDQU(x, Mem{Base: group})
	VZEROUPPER()
	RET()
}
