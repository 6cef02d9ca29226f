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
// tag.
func crypt(v isa, name string, open bool) {
	k := begin(v, name, true)
	r := Dereference(Param("r"))
	tag, noTag, notLast := Load(r.Field("tag"), GP64()), label("noTag"), label("notLast")
	Comment("Only the last run of a message has a tag.")
	TESTQ(tag, tag)
	JZ(LabelRef(noTag))
	k.beginTag(r, tag)
	Label(noTag)
	k.loadSum(Load(r.Field("sum"), GP64()))
	k.hashData(r)
	rest := k.cryptText(r, open)
	TESTQ(tag, tag)
	JZ(LabelRef(notLast))
	k.endTag(r, tag, rest)
	k.end()

	Label(notLast)
	k.storeSum(Load(r.Field("sum"), GP64()))
	k.end()
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
func (k *kernel) cryptText(r gotypes.Component, open bool) (rest Register) {
	Comment("Text.")
	c := k.counters(r)
	dst, src, n := Load(r.Field("dst").Base(), GP64()), Load(r.Field("src").Base(), GP64()), Load(r.Field("src").Len(), GP64())
	if k.long {
		k.cryptLong(c, dst, src, n, open)
	}
	if k.lanes == 2 {
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
	c = c.in(k.isa)
	hash := func(p Mem) (steps []func()) {
		for i := range count {
			steps = append(steps, k.hashGroup(p.Offset(groupSize*i))...)
		}
		return steps
	}
	end := label("groupsEnd")
	CMPQ(n, U32(uint32(groupSize*count)))
	JB(LabelRef(end))
	// A loop for more than this may have come before, and leaves less than twice as much.
	once := k.long || count < k.lanes
	cryptLoop("groups", groupSize*count, once, dst, src, n, open, hash, func(between []func()) {
		x := c.group(powers * count / k.lanes)
		k.aes.encryptRounds(x, between...)
		for i, x := range x {
			t := k.vec()
			k.load(Mem{Base: src, Disp: k.size() * i}, t)
			k.xor(t, x)
			k.store(x, Mem{Base: dst, Disp: k.size() * i})
		}
	})
	Label(end)
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
		Label(next)
		piece(hash(Mem{Base: src}), JAE, next)
		return
	}
	piece(nil, JB, last)
	if !once {
		Comment("GHASH of a piece is computed between the rounds of the next one.")
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
