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
// last less than a group in the sums, and returns its size.
func (k *kernel) cryptText(r gotypes.Component, open bool) (rest Register) {
	c, dst, src, n := k.text(r)
	if k.lanes == 2 {
		k.cryptDouble(c, dst, src, n, open)
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
	end, pieces := label("groupsEnd"), oneOrMore
	if count < k.lanes {
		pieces = onlyOne // a loop for two groups came before
	}
	CMPQ(n, U32(uint32(groupSize*count)))
	JB(LabelRef(end))
	k.cryptPieces(count, pieces, c, dst, src, n, open, func(p Mem) (steps []func()) {
		for i := range count {
			steps = append(steps, k.hashBlocks(p.Offset(groupSize*i), powers, false, k.power)...)
		}
		return steps
	})
	Label(end)
}

// doubleSize is the size from which on cryptDouble is faster than cryptGroups: it computes eight more
// powers first.
const doubleSize = 2048

// cryptDouble is cryptGroups for two at a time, with one reduction for both, if there are doubleSize
// bytes. The powers for that are in the frame. Of what follows them, the saved frame pointer is loaded
// with the last, and not used (see halves).
func (k *kernel) cryptDouble(c *counters, dst, src, n Register, open bool) {
	end := label("doubleEnd")
	CMPQ(n, U32(doubleSize))
	JB(LabelRef(end))
	Comment("H^16 to H^9.")
	frame := AllocLocal(groupSize)
	above := func(n int) Mem { return frame.Offset(blockSize * (powers - n)) } // H^(8+n)
	h := k.vec()
	k.loadEach(power(k.subkey, powers), h)
	for n := powers; n > 0; n -= k.lanes {
		x, s := k.vec(), k.newSums()
		k.move(h, x)
		k.addProduct(s, x, power(k.subkey, n), true)
		k.reduce(s, k.polynomial, nil)
		k.store(s.high, above(n))
	}
	k.cryptPieces(2, twoOrMore, c, dst, src, n, open, func(p Mem) []func() {
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
	Label(end)
}

// pieces is how many pieces there are for cryptLoop.
type pieces int

const (
	onlyOne pieces = iota
	oneOrMore
	twoOrMore
)

// cryptPieces encrypts or decrypts pieces of count groups, see cryptLoop.
func (k *kernel) cryptPieces(count int, pieces pieces, c *counters, dst, src, n Register, open bool, hash func(p Mem) []func()) {
	c = c.in(k.isa)
	run(cryptLoop("groups", groupSize*count, pieces, dst, src, n, open, hash, func(between []func()) {
		x := c.group(powers * count / k.lanes)
		k.aes.encryptRounds(x, Mem{Base: src}, between...)
		for i, x := range x {
			k.store(x, Mem{Base: dst, Disp: k.size() * i})
		}
	}))
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
	b, blocks, base := one.nonceBlock(Mem{Base: Load(r.Field("nonce"), GP64())}), XMM(), k.vec()
	one.shuffle(k.order, b)
	one.word(Load(r.Field("blocks"), GP32()), blocks)
	one.add(blocks, b)
	k.repeat(b, base)
	return &counters{k.aes, k.order, base}
}

// in is the same in another width.
func (c *counters) in(v isa) *counters { return &counters{c.aes.in(v), c.order, v.as(c.base)} }
