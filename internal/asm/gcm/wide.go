// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels for AVX-512. A group is two vectors. Masks load and store what is less.

// A wide is the state of such a function.
type wide struct {
	*kernel
	h, both [2]VecVirtual // H^8 to H^5 and H^4 to H^1; the sums of their halves
}

func beginWide(name string) *wide {
	w := &wide{kernel: begin(avx512, name)}
	for i := range w.h {
		w.h[i], w.both[i] = w.loadPowers(power(w.key, powers-w.lanes*i))
	}
	return w
}

// loadPowers loads the powers at p, and in the low half of each lane of both the sum of
// their halves.
func (w *wide) loadPowers(p Mem) (h, both VecVirtual) {
	h, both = ZMM(), ZMM()
	VMOVDQU64(p, h)
	VMOVDQU64(p.Offset(8), both)
	VPXORQ(h, both, both)
	return h, both
}

// add adds the product of x, a vector of blocks whose bytes are reversed, with powers. It
// sets the sums if set is true.
func (w *wide) add(x, h, both VecVirtual, set bool) {
	s := w.sums
	sum := ZMM()
	VPSHUFD(U8(0x4e), x, sum)
	VPXORQ(x, sum, sum)
	for _, f := range []struct {
		halves  uint8
		h, x, s VecVirtual
	}{{0x00, h, x, s.low}, {0x11, h, x, s.high}, {0x00, both, sum, s.middle}} {
		t := f.s
		if !set {
			t = ZMM()
		}
		VPCLMULQDQ(U8(f.halves), f.h, f.x, t)
		if !set {
			VPXORQ(t, f.s, f.s)
		}
	}
}

// hashGroup returns the steps of GHASH for a group in x, as it is in memory.
func (w *wide) hashGroup(x [2]VecVirtual) []func() {
	return []func(){
		func() {
			VPSHUFB(w.order, x[0], x[0])
			VPSHUFB(w.order, x[1], x[1])
			VPXORQ(w.acc, x[0], x[0])
		},
		func() { w.add(x[0], w.h[0], w.both[0], true) },
		func() { w.add(x[1], w.h[1], w.both[1], false) },
		w.reduceSums,
	}
}

// hashGroups absorbs whole groups at p, of n bytes. It leaves the rest in p and n.
func (w *wide) hashGroups(p, n Register) {
	groups, end := label("hashGroups"), label("hashRest")
	Label(groups)
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	x := [2]VecVirtual{ZMM(), ZMM()}
	VMOVDQU64(Mem{Base: p}, x[0])
	VMOVDQU64(Mem{Base: p, Disp: 64}, x[1])
	run(w.hashGroup(x))
	ADDQ(U32(groupSize), p)
	SUBQ(U32(groupSize), n)
	JMP(LabelRef(groups))
	Label(end)
}

// masks returns the masks for n bytes, less than a group.
func (w *wide) masks(n Register) (k [2]Register) {
	ones, t, zero := GP64(), GP64(), GP64()
	k = [2]Register{K(), K()}
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, t)
	KMOVQ(t, k[0])
	XORQ(zero, zero)
	MOVQ(n, t)
	SUBQ(Imm(64), t)
	CMOVQLT(zero, t)
	BZHIQ(t, ones, t)
	KMOVQ(t, k[1])
	return k
}

// loadRest loads the bytes at p for which the masks are set. The others are zero.
func (w *wide) loadRest(p Register, k [2]Register) (x [2]VecVirtual) {
	for i := range x {
		x[i] = ZMM()
		VMOVDQU8_Z(Mem{Base: p, Disp: 64 * i}, k[i], x[i])
	}
	return x
}

// absorbRest adds the products of x, blocks as they are in memory, with the powers from h
// on, to cleared sums. lengths, if it is not nil, is in all lanes and replaces the block
// after n bytes.
func (w *wide) absorbRest(x [2]VecVirtual, n, h Register, lengths VecVirtual) {
	VPSHUFB(w.order, x[0], x[0])
	VPSHUFB(w.order, x[1], x[1])
	if lengths != nil {
		words, at := GP64(), GP64()
		LEAQ(Mem{Base: n, Disp: blockSize - 1}, at)
		SHRQ(U8(4), at)
		SHLQ(U8(1), at)
		MOVQ(U32(3), words)
		SHLXQ(at, words, words)
		for i := range x {
			k := K()
			KMOVW(words.As32(), k)
			VMOVDQA64(lengths, k, x[i])
			SHRQ(U8(8), words)
		}
	}
	VPXORQ(w.acc, x[0], x[0])
	for i := range x {
		p, both := w.loadPowers(Mem{Base: h, Disp: 64 * i})
		w.add(x[i], p, both, i == 0)
	}
	w.reduceSums()
}

// hashWide generates GHASH of whole blocks.
func hashWide(name string) {
	w := beginWide(name)
	sum := Mem{Base: Load(Param("sum"), GP64())}
	VMOVDQU(sum, w.acc.AsX())
	p, n := Load(Param("p"), GP64()), Load(Param("n"), GP64())
	w.hashGroups(p, n)
	done := label("done")
	TESTQ(n, n)
	JZ(LabelRef(done))
	w.absorbRest(w.loadRest(p, w.masks(n)), n, w.powersFor(n), nil)
	Label(done)
	VMOVDQU(w.acc.AsX(), sum)
	w.end()
}

// cryptWide generates Seal or Open, section 7, without the comparison of the tag.
func cryptWide(name string, open bool) {
	w := beginWide(name)
	b := avx1.firstBlock(Mem{Base: Load(Param("nonce"), GP64())})
	pad := XMM()
	VMOVDQA(b, pad)
	w.aes.in(avx1).encrypt([]VecVirtual{pad})

	VMOVDQU(Mem{Base: Load(Param("sum"), GP64())}, w.acc.AsX())
	lengths := ZMM()
	textBits := Load(Param("n"), GP64())
	SHLQ(U8(3), textBits)
	avx1.words(textBits, Load(Param("dataBits"), GP64()), avx1.as(lengths))
	VSHUFI64X2(U8(0), lengths, lengths, lengths)

	Comment("Additional data.")
	p, m := Load(Param("data"), GP64()), Load(Param("dataLen"), GP64())
	n := Load(Param("n"), GP64())
	w.hashGroups(p, m)
	rest := [2]VecVirtual{ZMM(), ZMM()} // the last blocks, for GHASH
	text, noText, final := label("text"), label("noText"), label("final")
	TESTQ(n, n)
	JZ(LabelRef(noText))
	TESTQ(m, m)
	JZ(LabelRef(text))
	w.absorbRest(w.loadRest(p, w.masks(m)), m, w.powersFor(m), nil)
	JMP(LabelRef(text))

	Label(noText)
	x := w.loadRest(p, w.masks(m))
	VMOVDQA64(x[0], rest[0])
	VMOVDQA64(x[1], rest[1])
	MOVQ(m, n)
	JMP(LabelRef(final))

	Label(text)
	Comment("Text.")
	c := &counters{avx512, ZMM(), w.order}
	VPSHUFB(w.order.AsX(), b, b)
	VSHUFI64X2(U8(0), b.AsZ(), b.AsZ(), c.next)
	VPADDD(laneNumbers, c.next, c.next)
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	groups, end := label("groups"), label("groupsEnd")
	load := func() (x [2]VecVirtual) {
		for i := range x {
			x[i] = ZMM()
			VMOVDQU64(Mem{Base: src, Disp: 64 * i}, x[i])
		}
		return x
	}
	// group encrypts a group, and sets last to its ciphertext.
	last := [2]VecVirtual{ZMM(), ZMM()}
	group := func(between func() []func()) {
		s := c.blocks(2)
		t := load()
		var steps []func()
		if open {
			VMOVDQA64(t[0], last[0])
			VMOVDQA64(t[1], last[1])
		}
		if between != nil {
			steps = between()
		}
		w.aes.encrypt(s, steps...)
		for i := range s {
			VPXORQ(t[i], s[i], s[i])
			VMOVDQU64(s[i], Mem{Base: dst, Disp: 64 * i})
			if !open {
				VMOVDQA64(s[i], last[i])
			}
		}
		ADDQ(U32(groupSize), src)
		ADDQ(U32(groupSize), dst)
		SUBQ(U32(groupSize), n)
	}
	hashLast := func() []func() { return w.hashGroup(last) }
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	if open {
		Label(groups)
		group(hashLast)
		CMPQ(n, U32(groupSize))
		JAE(LabelRef(groups))
	} else {
		Comment("GHASH of a group is computed between the rounds of the next one.")
		lastGroup := label("lastGroup")
		group(nil)
		CMPQ(n, U32(groupSize))
		JB(LabelRef(lastGroup))
		Label(groups)
		group(hashLast)
		CMPQ(n, U32(groupSize))
		JAE(LabelRef(groups))
		Label(lastGroup)
		run(hashLast())
	}
	Label(end)
	for _, x := range rest {
		VPXORQ(x, x, x)
	}
	TESTQ(n, n)
	JZ(LabelRef(final))
	k := w.masks(n)
	s := c.blocks(2)
	t := w.loadRest(src, k)
	w.aes.encrypt(s)
	for i := range s {
		VPXORQ(t[i], s[i], s[i])
		VMOVDQU8(s[i], k[i], Mem{Base: dst, Disp: 64 * i})
		if open {
			VMOVDQA64(t[i], rest[i])
		} else {
			VMOVDQU8_Z(s[i], k[i], rest[i])
		}
	}

	Label(final)
	Comment("The lengths in bits. After eight blocks they are multiplied by themselves.")
	h := w.powersFor(n)
	w.makeRoom(h)
	w.absorbRest(rest, n, h, lengths)
	done := label("done")
	CMPQ(n, Imm(groupSize-blockSize))
	JBE(LabelRef(done))
	lengthsOnly := ZMM()
	VPXORQ(lengthsOnly, lengthsOnly, lengthsOnly)
	VPXORQ(w.acc.AsX(), lengths.AsX(), lengthsOnly.AsX())
	p1, both := w.loadPowers(power(w.key, 1))
	w.add(lengthsOnly, p1, both, true)
	w.reduceSums()
	Label(done)
	acc := w.acc.AsX()
	VPSHUFB(w.order.AsX(), acc, acc)
	VPXORQ(pad, acc, acc)
	VMOVDQU(acc, Mem{Base: Load(Param("tag"), GP64())})
	w.end()
}
