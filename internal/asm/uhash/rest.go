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

// A rest is bytes of a block that are left to hash: the end of a message, or whole groups. With AVX2 it
// is hashed by its size: at most a group (hashGroup), and more (hashPairs and hashTwice). With AVX-512 it
// is at least four groups (hashLong), or of any size. This changes p, length and the base of the keys.
type rest struct {
	v         isa
	n         int // iterations
	p, length Register
	lo, hi    Mem  // the halves of the key for the group at p; they have one base
	whole     bool // it is whole groups
	follows   bool // the message has 16 bytes or more before it, which may be read
	anySize   bool // with AVX-512 too
}

// newRest returns the rest in a parameter. It follows the groups in an l1State, or begins a
// block if state is nil.
func newRest(v isa, n int, k gotypes.Component, parameter string, state Register, whole bool) rest {
	r := rest{v: v, n: n, p: GP64(), length: GP64(), whole: whole}
	Load(Param(parameter).Base(), r.p)
	Load(Param(parameter).Len(), r.length)
	lo, hi := halves(k)
	key := GP64()
	if state != nil {
		MOVQ(Mem{Base: state, Disp: wordsSize}, key)
		SHRQ(Imm(1), key) // half a group of key for a group of message
		if r.avx512() && whole {
			// This changes no result. Without it Zen 5 seems to guess what it loads from state, and words
			// of the message affected the time of these kernels, and of no others: see the documentation of
			// timing/dudect. A guess now leads to bytes near the key.
			ANDQ(I32(blockSize-1), key)
		}
		ADDQ(lo.Base, key)
	} else {
		MOVQ(lo.Base, key)
	}
	r.lo, r.hi = Mem{Base: key, Disp: lo.Disp}, Mem{Base: key, Disp: hi.Disp}
	return r
}

func (r rest) avx512() bool { return r.v.name() == "AVX512" }

// long reports whether it is at least four groups.
func (r rest) long() bool { return r.avx512() && !r.anySize }

// tail returns the rest, of which less than a group is left.
func (r rest) tail() tail { return tail{p: r.p, size: r.length} }

// keys returns the keys of all iterations for the group that is g groups ahead.
func (r rest) keys(g int) []key {
	keys := make([]key, r.n)
	for t := range keys {
		keys[t] = keysAt(r.lo, r.hi, t, g)
	}
	return keys
}

// lastOf returns the last address from which as many groups are left.
func (r rest) lastOf(groups int) Register {
	last := GP64()
	LEAQ(Mem{Base: r.p, Index: r.length, Scale: 1, Disp: -groups * groupSize}, last)
	return last
}

// next moves on by a number of groups. length does not change.
func (r rest) next(groups int) {
	ADDQ(I32(int32(groups*groupSize)), r.p)
	ADDQ(Imm(uint64(groups*halfSize)), r.lo.Base)
}

// With AVX2 and two iterations a vector has one half of a group, or of two groups. With four it
// has that half twice, and is used for two of them, because their keys are next to each other:
//
//	iterations  low             high
//	0 and 2     lo[g], lo[g+1]  hi[g], hi[g+1]
//	1 and 3     hi[g], hi[g+1]  lo[g+1], lo[g+2]

// hash sets words to NH of the rest, zero-padded to whole groups, at least one, all iterations
// side by side.
func (r rest) hash(words VecVirtual) {
	if r.long() {
		r.hashLong(words)
		return
	}
	group, done := label("group"), label("hashed")
	CMPQ(r.length, Imm(groupSize))
	JLS(LabelRef(group))
	if r.avx512() {
		few, most := label("few"), int32(4*groupSize-1)
		if r.whole {
			most = 3 * groupSize
		}
		CMPQ(r.length, I32(most))
		JLS(LabelRef(few))
		r.hashLong(words)
		JMP(LabelRef(done))
		Label(few)
	}
	if r.n == 2 {
		r.hashPairs(words)
	} else {
		r.hashTwice(words)
	}
	JMP(LabelRef(done))

	Label(group)
	r.hashGroup(words)
	Label(done)
}

// hashGroup is hash for at most a group. The flags are those of length compared with a group.
func (r rest) hashGroup(words VecVirtual) {
	vec := wordsIn(r.n)
	x, y := vec(), vec()
	group, loaded := label("group"), label("loaded")
	if !r.whole {
		JEQ(LabelRef(group))
		if r.follows {
			r.tail().load(x, y)
			JMP(LabelRef(loaded))
		} else {
			r.tail().loadAlone(x, y, loaded)
		}
	}
	Label(group)
	r.loadGroup(0, x, y)
	Label(loaded)
	sideBySide(r.terms(0, x, y), words)
}

// hashPairs is hash for more than a group and two iterations: two groups side by side.
func (r rest) hashPairs(words VecVirtual) {
	v := avx2{}
	s := newSums(v, r.n)
	for t := range s {
		v.zero(s[t])
	}
	pair, less, one, group, loaded, done := label("pair"), label("less"), label("one"), label("group"), label("loaded"), label("done")
	CMPQ(r.length, Imm(2*groupSize))
	JCS(LabelRef(less))
	var last Register
	if !r.avx512() { // else hashLong is for more than three groups
		last = r.lastOf(2)
		if r.follows {
			align(32) // up to 3 %. In front of short messages it takes more time than it saves.
		}
		Label(pair)
	}
	low, high := v.vec(), v.vec()
	v.load(Mem{Base: r.p}, low, high)
	addChunk(v, s, low, high, r.keys(0), nil, false)
	r.next(2)
	if !r.avx512() {
		CMPQ(r.p, last)
		JLS(LabelRef(pair))
	}
	ANDQ(Imm(2*groupSize-1), r.length)
	JEQ(LabelRef(done))

	Label(less)
	x, y := XMM(), XMM()
	if !r.whole {
		CMPQ(r.length, Imm(groupSize))
		JLS(LabelRef(one))
		Comment("A group and a tail, side by side.")
		low, high := v.vec(), v.vec()
		r.loadGroup(0, low.AsX().(VecVirtual), high.AsX().(VecVirtual))
		ADDQ(Imm(groupSize), r.p)
		SUBQ(Imm(groupSize), r.length)
		r.tail().load(x, y)
		VINSERTI128(U8(1), x, low, low)
		VINSERTI128(U8(1), y, high, high)
		addChunk(v, s, low, high, r.keys(0), nil, false)
		JMP(LabelRef(done))

		Label(one)
		Comment("A group or a tail.")
		JEQ(LabelRef(group))
		r.tail().load(x, y)
		JMP(LabelRef(loaded))
	}
	Label(group)
	r.loadGroup(0, x, y)
	Label(loaded)
	for t, term := range r.terms(0, x, y) {
		VPADDQ(term.AsY(), s[t], s[t])
	}

	Label(done)
	sums := v.vec()
	sideBySide(s, sums)
	v.fold(sums)
	VMOVDQA(sums.AsX(), words)
}

// hashTwice is hash for more than a group and four iterations: a group at a time, twice in a
// vector.
func (r rest) hashTwice(words VecVirtual) {
	s := []VecVirtual{YMM(), YMM()}
	for _, sum := range s {
		VPXOR(sum, sum, sum)
	}
	x, y := YMM(), YMM()
	add := func(g int) {
		for t, term := range r.terms(g, x, y) {
			VPADDQ(term, s[t], s[t])
		}
	}
	pair, less, end, done := label("pair"), label("less"), label("tail"), label("done")
	CMPQ(r.length, Imm(2*groupSize))
	JCS(LabelRef(less))
	var last Register
	if !r.avx512() {
		last = r.lastOf(2)
		Label(pair)
	}
	for g := range 2 {
		r.loadGroup(g, x, y)
		add(g)
	}
	r.next(2)
	if !r.avx512() {
		CMPQ(r.p, last)
		JLS(LabelRef(pair))
	}
	ANDQ(Imm(2*groupSize-1), r.length)
	JEQ(LabelRef(done))

	Label(less)
	if !r.whole {
		CMPQ(r.length, Imm(groupSize))
		JCS(LabelRef(end))
	}
	r.loadGroup(0, x, y)
	add(0)
	if !r.whole {
		SUBQ(Imm(groupSize), r.length)
		JEQ(LabelRef(done))
		r.next(1)
		Label(end)
		r.tail().load(x, y)
		add(0)
	}

	Label(done)
	sideBySide(s, words)
}

// loadGroup loads the halves of the group that is g groups ahead.
func (r rest) loadGroup(g int, x, y VecVirtual) {
	load := func(disp int, x VecVirtual) {
		if p := (Mem{Base: r.p, Disp: g*groupSize + disp}); twice(x) {
			VBROADCASTI128(p, x)
		} else {
			VMOVDQU(p, x)
		}
	}
	load(0, x)
	load(halfSize, y)
}

// terms returns the terms of NH for the halves of the group that is g groups ahead, in a
// vector for iteration 0 (and 2) and one for 1 (and 3).
func (r rest) terms(g int, x, y VecVirtual) (s []VecVirtual) {
	vec := wordsIn(r.n)
	for t := range 2 {
		k := keysAt(r.lo, r.hi, t, g)
		low, high, even := vec(), vec(), vec()
		VPADDD(k.lo, x, low)
		VPADDD(k.hi, y, high)
		VPMULUDQ(high, low, even)
		VPSRLQ(U8(32), low, low)
		VPSRLQ(U8(32), high, high)
		VPMULUDQ(high, low, low)
		VPADDQ(low, even, even)
		s = append(s, even)
	}
	return s
}

// sideBySide sets words to the sums of the vectors that terms returns.
func sideBySide(s []VecVirtual, words VecVirtual) {
	VPUNPCKLQDQ(s[1], s[0], words)
	VPUNPCKHQDQ(s[1], s[0], s[0])
	VPADDQ(s[0], words, words)
}

// hashLong is hash for at least four groups, with AVX-512. Masks keep its loads within them.
func (r rest) hashLong(words VecVirtual) {
	v := avx512{}
	loop, end, done := label("chunk"), label("end"), label("done")
	s := newSums(v, r.n)
	for t := range s {
		v.zero(s[t])
	}
	last := r.lastOf(v.groups())
	Label(loop)
	low, high := v.vec(), v.vec()
	v.load(Mem{Base: r.p}, low, high)
	addChunk(v, s, low, high, r.keys(0), nil, false)
	r.next(v.groups())
	CMPQ(r.p, last)
	JLS(LabelRef(loop))
	ANDQ(Imm(uint64(v.groups()*groupSize-1)), r.length)
	JEQ(LabelRef(done))
	CMPQ(r.length, Imm(groupSize))
	JNE(LabelRef(end))
	r.addGroup(s)
	JMP(LabelRef(done))

	Label(end)
	r.addMasked(s)

	Label(done)
	sumsToWords(v, s, words)
}

// addGroup adds the last group to the sums of hashLong. The upper lanes of its products are
// zeros.
func (r rest) addGroup(s []VecVirtual) {
	for t, k := range r.keys(0) {
		x, y, even := XMM(), XMM(), ZMM()
		VMOVDQU64(Mem{Base: r.p}, x)
		VMOVDQU64(Mem{Base: r.p, Disp: halfSize}, y)
		VPADDD(k.lo, x, x)
		VPADDD(k.hi, y, y)
		VPMULUDQ(y, x, even.AsX())
		VPSRLQ(U8(32), x, x)
		VPSRLQ(U8(32), y, y)
		VPMULUDQ(y, x, x)
		VPADDQ(x, even.AsX(), even.AsX())
		VPADDQ(even, s[t], s[t])
	}
}

// addMasked adds the last bytes, less than 128, zero-padded to whole groups, to the sums of
// hashLong.
func (r rest) addMasked(s []VecVirtual) {
	ones, bits, count, zero := GP64(), GP64(), GP64(), GP64()
	first, second, present := K(), K(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(r.length, ones, bits) // all ones from 64 on
	KMOVQ(bits, first)
	XORL(zero.As32(), zero.As32())
	MOVQ(r.length, count)
	SUBQ(Imm(64), count)
	CMOVQLT(zero, count)
	BZHIQ(count, ones, bits)
	KMOVQ(bits, second)
	ADDQ(Imm(groupSize-1), r.length)
	SHRQ(Imm(5), r.length)
	SHLQ(Imm(2), r.length) // four words per group
	BZHIQ(r.length, ones, bits)
	KMOVW(bits.As32(), present)
	v := avx512{}
	low, high, upper := v.vec(), v.vec(), v.vec()
	VMOVDQU8_Z(Mem{Base: r.p}, first, low)
	VMOVDQU8_Z(Mem{Base: r.p, Disp: 64}, second, upper)
	split512(upper, low, low, high)
	addChunk(v, s, low, high, r.keys(0), present, false)
}
