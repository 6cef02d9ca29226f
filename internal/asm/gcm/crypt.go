// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// crypt generates Seal or Open of a run with text, section 7, without the comparison of the
// tag.
func crypt(v isa, name string, open bool) {
	k := begin(v, name, true)
	Attributes(attr.NOSPLIT) // for the frame of cryptDouble, a check of the stack took half a nanosecond
	cryptRun(k, func(r gotypes.Component) (*kernel, Register) {
		k.hashData(r)
		return k, k.cryptText(r, open)
	})
}

// cryptRun generates a run with text. message absorbs the additional data, and encrypts or decrypts
// and absorbs the text. The kernel that it returns has the last rest bytes in its sums.
func cryptRun(k *kernel, message func(r gotypes.Component) (last *kernel, rest Register)) {
	r := Dereference(Param("r"))
	tag, noTag, notLast, end := Load(r.Field("tag"), GP64()), label("noTag"), label("notLast"), label("end")
	Comment("Only the last run of a message has a tag.")
	TESTQ(tag, tag)
	JZ(LabelRef(noTag))
	k.beginTag(r, tag)
	Label(noTag)
	k.loadSum(Load(r.Field("sum"), GP64()))
	last, rest := message(r)
	TESTQ(tag, tag)
	JZ(LabelRef(notLast))
	last.endTag(r, tag, rest)
	Label(end)
	k.end()

	Label(notLast)
	k.storeSum(Load(r.Field("sum"), GP64()))
	JMP(LabelRef(end))
}

// hashData absorbs the additional data, less than a group.
func (k *kernel) hashData(r gotypes.Component) {
	Comment("Additional data.")
	p, n, end := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64()), label("text")
	TESTQ(n, n)
	JZ(LabelRef(end))
	k.clear(k.sums)
	k.hashRest(p, n, k.powersFor(n))
	k.reduceSums()
	Label(end)
}

// text loads the parameters of the text.
func (k *kernel) text(r gotypes.Component) (c *counters, dst, src, n Register) {
	Comment("Text.")
	return k.counters(r), Load(r.Field("dst").Base(), GP64()), Load(r.Field("src").Base(), GP64()), Load(r.Field("src").Len(), GP64())
}

// cryptText encrypts or decrypts the text, and absorbs the ciphertext. It leaves that of the
// last bytes in the sums, and returns the size of what endTag takes as the last group.
func (k *kernel) cryptText(r gotypes.Component, open bool) (rest Register) {
	c, dst, src, n := k.text(r)
	rest = GP64()
	if k.lanes > 1 {
		k.cryptTextDouble(r, c, dst, src, n, rest, open)
		return rest
	}
	k.cryptGroups(c, dst, src, n, open)
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
	k.pieces(n, h, vectors, func() VecVirtual {
		x := c.in(k.single()).blocks(1)[0]
		k.aes.in(k.single()).encrypt(x)
		return k.cryptPartial(x, dst, src, n, open)
	})
	return rest
}

// cryptPartial encrypts or decrypts the last n bytes, 1 to 15, with x, and returns the ciphertext.
func (k *kernel) cryptPartial(x VecVirtual, dst, src, n Register, open bool) (ciphertext VecVirtual) {
	one, t := k.single(), XMM()
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

// cryptGroups encrypts or decrypts as many groups as there are in n bytes, and absorbs the ciphertext. It
// leaves the rest in n, and moves dst, src and the counters to it.
func (k *kernel) cryptGroups(c *counters, dst, src, n Register, open bool) {
	end := label("groupsEnd")
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	run(k.cryptPieces(1, oneOrMore, c, dst, src, n, open, func(p Mem) []func() {
		return k.hashBlocks(p, powers, false, k.power)
	}))
	Label(end)
}

// pieces is how many pieces there are for cryptLoop.
type pieces int

const (
	onlyOne pieces = iota
	oneOrMore
	twoOrMore
)

// cryptPieces encrypts or decrypts pieces of count groups, see cryptLoop, which says what it returns.
func (k *kernel) cryptPieces(count int, pieces pieces, c *counters, dst, src, n Register, open bool, hash func(p Mem) []func()) (rest []func()) {
	c = c.in(k.isa)
	return cryptLoop("groups", groupSize*count, pieces, dst, src, n, open, hash, func(between []func()) {
		x := k.vecs(powers * count / k.lanes)
		c.group(x)
		k.aes.encryptRounds(x, Mem{Base: src}, between...)
		for i, x := range x {
			k.store(x, Mem{Base: dst, Disp: k.size() * i})
		}
	})
}

// cryptLoop encrypts or decrypts as many pieces of size bytes as there are in n. crypt does it
// for one piece, and calls functions between its rounds: those that hash returns for the
// ciphertext at p. It returns those that are left to call.
func cryptLoop(name string, size int, pieces pieces, dst, src, n Register, open bool, hash func(p Mem) []func(), crypt func(between []func())) (rest []func()) {
	piece := func(between []func()) {
		crypt(between)
		ADDQ(U32(uint32(size)), src)
		ADDQ(U32(uint32(size)), dst)
		SUBQ(U32(uint32(size)), n)
	}
	next, last, before := label(name), label("last"), Mem{Base: dst, Disp: -size}
	loop := func(p Mem) {
		if pieces != onlyOne {
			align()
		}
		Label(next)
		piece(hash(p))
		if pieces != onlyOne {
			CMPQ(n, U32(uint32(size)))
			JAE(LabelRef(next))
		}
	}
	if open {
		loop(Mem{Base: src})
		return nil
	}
	piece(nil)
	if pieces == oneOrMore {
		CMPQ(n, U32(uint32(size)))
		JB(LabelRef(last))
	}
	if pieces != onlyOne {
		Comment("GHASH of a piece is computed between the rounds of the next one.")
		loop(before)
		Label(last)
	}
	return hash(before)
}

// counters returns the counters of a run.
func (k *kernel) counters(r gotypes.Component) *counters {
	one := k.single()
	b, blocks, base := one.nonceBlock(Mem{Base: Load(Param("nonce"), GP64())}), XMM(), k.vec()
	one.shuffle(k.order, b)
	one.word(Load(r.Field("blocks"), GP32()), blocks)
	one.add(blocks, b)
	k.repeat(b, base)
	return &counters{k.aes, k.order, base}
}

// in is the same in another width.
func (c *counters) in(v isa) *counters { return &counters{c.aes.in(v), c.order, v.as(c.base)} }
