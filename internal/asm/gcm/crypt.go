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

// crypt generates Seal or Open of a run with text, section 7, without the comparison of the
// tag. If double is true, it needs at least two groups of text, and is faster for many.
func crypt(v isa, name string, open, double bool) {
	k := begin(v, name, true)
	r := Dereference(Param("r"))
	tag, noTag, notLast, end := Load(r.Field("tag"), GP64()), label("noTag"), label("notLast"), label("end")
	Comment("Only the last run of a message has a tag.")
	TESTQ(tag, tag)
	JZ(LabelRef(noTag))
	k.beginTag(r, tag)
	Label(noTag)
	k.loadSum(Load(r.Field("sum"), GP64()))
	k.hashData(r)
	rest := k.cryptText(r, open, double)
	TESTQ(tag, tag)
	JZ(LabelRef(notLast))
	k.endTag(r, tag, rest)
	Label(end)
	k.end()

	Label(notLast)
	k.storeSum(Load(r.Field("sum"), GP64()))
	JMP(LabelRef(end))
}

// hashData absorbs the additional data.
func (k *kernel) hashData(r gotypes.Component) {
	Comment("Additional data.")
	p, n, end := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64()), label("text")
	k.hashGroups(p, n)
	TESTQ(n, n)
	JZ(LabelRef(end))
	k.clear(k.sums)
	k.hashRest(p, n, k.powersFor(n))
	k.reduceSums()
	Label(end)
}

// cryptText encrypts or decrypts the text, and absorbs the ciphertext. It leaves that of the
// last less than a group in the sums, and returns its size.
func (k *kernel) cryptText(r gotypes.Component, open, double bool) (rest Register) {
	Comment("Text.")
	c := k.counters(r)
	dst, src, n := Load(r.Field("dst").Base(), GP64()), Load(r.Field("src").Base(), GP64()), Load(r.Field("src").Len(), GP64())
	if k.long {
		k.cryptLong(c, dst, src, n, open)
	}
	if double {
		k.cryptDouble(c, dst, src, n, open)
	} else if k.lanes == 2 {
		k.cryptGroups(2, c, dst, src, n, open)
	}
	k.cryptGroups(1, c, dst, src, n, open)

	rest = GP64()
	MOVQ(n, rest)
	h := k.powersFor(n)
	k.makeRoom(h)
	k.clear(k.sums)
	vectors := func(v isa, count int) (ciphertext []VecVirtual) {
		x := c.in(v).blocks(count)
		c.in(v).advance(count * v.lanes)
		k.aes.in(v).encrypt(x...)
		for i, x := range x {
			t := v.vec()
			v.load(Mem{Base: src, Disp: v.size() * i}, t)
			v.xor(t, x)
			v.store(x, Mem{Base: dst, Disp: v.size() * i})
			if open {
				x = t
			}
			ciphertext = append(ciphertext, x)
		}
		ADDQ(Imm(uint64(v.size()*count)), src)
		ADDQ(Imm(uint64(v.size()*count)), dst)
		return ciphertext
	}
	partial := func() (ciphertext VecVirtual) {
		one := k.single()
		x, t := c.in(one).blocks(1)[0], XMM()
		k.aes.in(one).encrypt(x)
		if !open { // x becomes ciphertext
			one.keepPartial(x, n)
		}
		one.loadPartial(src, n, t)
		one.xor(t, x)
		one.storePartial(x, dst, n)
		if open {
			return t
		}
		return x
	}
	k.pieces(n, h, vectors, partial)
	return rest
}

// cryptGroups encrypts or decrypts groups, and absorbs the ciphertext: count at a time, as
// many as there are in n bytes. It leaves the rest in n, and moves dst, src and the
// counters to it.
func (k *kernel) cryptGroups(count int, c *counters, dst, src, n Register, open bool) {
	end := label("groupsEnd")
	CMPQ(n, U32(uint32(groupSize*count)))
	JB(LabelRef(end))
	// A loop for more than this may have come before, and leaves less than twice as much.
	once := k.long || count < k.lanes
	k.cryptPieces(count, once, c, dst, src, n, open, func(p Mem) (steps []func()) {
		for i := range count {
			steps = append(steps, k.hashBlocks(p.Offset(groupSize*i), powers, false, k.power)...)
		}
		return steps
	})
	Label(end)
}

// cryptDouble is cryptGroups for two at a time, of at least two, with one reduction for both.
// The powers for that are in the frame. Of what follows them, the saved frame pointer is loaded
// with the last, and not used (see halves).
func (k *kernel) cryptDouble(c *counters, dst, src, n Register, open bool) {
	Comment("H^16 to H^9.")
	frame := AllocLocal(groupSize)
	above := func(n int) Mem { return frame.Offset(blockSize * (powers - n)) } // H^(8+n)
	h := k.vec()
	k.loadEach(power(k.subkey, powers), h)
	for n := powers; n > 0; n -= k.lanes {
		x, s := k.vec(), k.newSums()
		k.move(h, x)
		k.addProduct(s, x, power(k.subkey, n), true)
		k.reduce(s, nil)
		k.store(s.high, above(n))
	}
	k.cryptPieces(2, false, c, dst, src, n, open, func(p Mem) []func() {
		return k.hashBlocks(p, 2*powers, false, func(n int) Mem {
			if n > powers {
				return above(n - powers)
			}
			return k.power(n)
		})
	})
	Comment("The frame held secrets.")
	zero := k.vec()
	k.zero(zero)
	for n := powers; n > 0; n -= k.lanes {
		k.store(zero, above(n))
	}
}

// cryptPieces encrypts or decrypts pieces of count groups, see cryptLoop.
func (k *kernel) cryptPieces(count int, once bool, c *counters, dst, src, n Register, open bool, hash func(p Mem) []func()) {
	c = c.in(k.isa)
	cryptLoop("groups", groupSize*count, once, dst, src, n, open, hash, func(between []func()) {
		x := c.group(powers * count / k.lanes)
		k.aes.encryptRounds(x, Mem{Base: src}, between...)
		for i, x := range x {
			k.store(x, Mem{Base: dst, Disp: k.size() * i})
		}
	})
}

// cryptLoop encrypts or decrypts as many pieces of size bytes as there are in n, at least
// one, and at most one if once is true. crypt does it for one piece, and calls functions
// between its rounds: those that hash returns for the ciphertext at p.
func cryptLoop(name string, size int, once bool, dst, src, n Register, open bool, hash func(p Mem) []func(), crypt func(between []func())) {
	piece := func(between []func(), jump func(Op), to string) {
		crypt(between)
		ADDQ(U32(uint32(size)), src)
		ADDQ(U32(uint32(size)), dst)
		SUBQ(U32(uint32(size)), n)
		if !once {
			CMPQ(n, U32(uint32(size)))
			jump(LabelRef(to))
		}
	}
	next, last, before := label(name), label("last"), Mem{Base: dst, Disp: -size}
	if open {
		align()
		Label(next)
		piece(hash(Mem{Base: src}), JAE, next)
		return
	}
	piece(nil, JB, last)
	if !once {
		Comment("GHASH of a piece is computed between the rounds of the next one.")
		align()
		Label(next)
		piece(hash(before), JAE, next)
		Label(last)
	}
	run(hash(before))
}

// counters returns the counters of a run.
func (k *kernel) counters(r gotypes.Component) *counters {
	v, one := k.isa, k.single()
	if k.long {
		v = v.with(maxLanes)
	}
	b, blocks, base := one.nonceBlock(Mem{Base: Load(r.Field("nonce"), GP64())}), XMM(), v.vec()
	one.shuffle(k.order, b)
	one.word(Load(r.Field("blocks"), GP32()), blocks)
	one.add(blocks, b)
	v.repeat(b, base)
	return &counters{k.aes.in(v), k.order, base}
}

// in is the same in another width.
func (c *counters) in(v isa) *counters { return &counters{c.aes.in(v), c.order, v.as(c.base)} }
