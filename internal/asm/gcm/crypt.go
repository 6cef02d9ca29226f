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

// groupSize is the size of a group: as many blocks as there are powers.
const groupSize = powers * blockSize

// A kernel is the state of a function that is being generated.
type kernel struct {
	isa
	key   Mem  // the Key
	long  bool // the function has code for long messages
	aes   *aes
	order Op // reverses the bytes of a block
	sums  sums
	acc   VecVirtual // GHASH so far, in the lowest lane; the other lanes are zero
}

// begin begins a function that has a parameter key, and encrypts if encrypts is true.
func begin(v isa, name string, encrypts bool) *kernel {
	Implement(name)
	Pragma("noescape")
	key := Dereference(Param("key"))
	k := &kernel{isa: v, long: v.encoding == evex, key: keyMem(key), order: reverse, sums: v.newSums(), acc: v.vec()}
	if encrypts {
		k.aes = &aes{v, field(key.Field("schedule").Index(0)), Load(key.Field("rounds"), GP32())}
	}
	if v.encoding == sse {
		x := XMM()
		v.load(reverse, x)
		k.order = x
	}
	return k
}

// single is the isa for single blocks.
func (k *kernel) single() isa { return k.with(1) }

// widen returns x, a vector of v, with zeros in the lanes that v does not have.
func (k *kernel) widen(v isa, x VecVirtual) VecVirtual {
	if v.lanes == k.lanes {
		return x
	}
	w := k.vec()
	k.zero(w)
	v.xor(x, v.as(w))
	return w
}

// hash generates GHASH of whole groups.
func hash(v isa, name string) {
	k := begin(v, name, false)
	sum, one := Mem{Base: Load(Param("sum"), GP64())}, k.single()
	one.load(sum, one.as(k.acc))
	k.hashGroups(Load(Param("p"), GP64()), Load(Param("n"), GP64()), nil)
	one.store(one.as(k.acc), sum)
	k.end()
}

// crypt generates Seal or Open, section 7, without the comparison of the tag. Without text
// they are GMAC.
func crypt(v isa, name string, open bool) {
	k := begin(v, name, true)
	one := k.single()
	r := Dereference(Param("r"))
	tag, sum := Load(r.Field("tag"), GP64()), Mem{Base: Load(r.Field("sum"), GP64())}
	nonce := Load(r.Field("nonce"), GP64())

	Comment("The tag begins as the encrypted first counter block.")
	noTag := label("noTag")
	TESTQ(tag, tag)
	JZ(LabelRef(noTag))
	pad := one.firstBlock(Mem{Base: nonce})
	k.aes.in(one).encrypt(pad)
	one.store(pad, Mem{Base: tag})
	Label(noTag)
	one.load(sum, one.as(k.acc))

	final := label("final")
	n, rest := Load(r.Field("src").Len(), GP64()), GP64()
	k.cryptData(r, n, rest, final)
	k.cryptText(r, n, rest, open)

	Label(final)
	notLast := label("notLast")
	TESTQ(tag, tag)
	JZ(LabelRef(notLast))
	Comment("The lengths in bits. After eight blocks they have a reduction of their own.")
	last := label("lengths")
	CMPQ(rest, Imm(groupSize-blockSize))
	JBE(LabelRef(last))
	k.reduceSums()
	k.clear(k.sums)
	Label(last)
	lengths := XMM()
	one.words(Load(r.Field("textBits"), GP64()), Load(r.Field("dataBits"), GP64()), lengths)
	x := k.widen(one, lengths)
	k.xor(k.acc, x)
	k.addProduct(k.sums, x, power(k.key, 1), false)
	k.reduceSums()
	acc, t := one.as(k.acc), XMM()
	one.shuffle(k.order, acc)
	one.load(Mem{Base: tag}, t)
	one.xor(t, acc)
	one.store(acc, Mem{Base: tag})
	k.end()

	Label(notLast)
	one.store(acc, sum)
	k.end()
}

// cryptData absorbs the additional data. If there are no n bytes of text, it goes on to
// final, with the rest of the data in the sums, and its size in rest.
func (k *kernel) cryptData(r gotypes.Component, n, rest Register, final string) {
	Comment("Additional data.")
	p, m, h := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64()), GP64()
	noText, absorb, add, text := label("noText"), label("restOfData"), label("addRestOfData"), label("text")
	k.hashGroups(p, m, func(w *wide, s VecVirtual) {
		Comment("The lanes of long data, at most three blocks and the lengths are added together.")
		more := label("moreThanThree")
		TESTQ(n, n)
		JNZ(LabelRef(more))
		CMPQ(m, Imm(3*blockSize))
		JA(LabelRef(more))
		MOVQ(m, rest)
		MOVQ(k.powersFor(m), h)
		SUBQ(Imm(blockSize), h)
		w.addLanes(s, Mem{Base: h, Disp: -vectorSize})
		k.foldSums(w.sums)
		k.zero(k.acc)
		JMP(LabelRef(add))
		Label(more)
	})
	MOVQ(m, rest)
	TESTQ(n, n)
	JZ(LabelRef(noText))
	TESTQ(m, m)
	JZ(LabelRef(text))
	Label(noText)
	MOVQ(k.powersFor(m), h)
	TESTQ(n, n)
	JNZ(LabelRef(absorb))
	k.makeRoom(h)
	Label(absorb)
	k.clear(k.sums)
	Label(add)
	k.hashRest(p, m, h)
	TESTQ(n, n)
	JZ(LabelRef(final))
	k.reduceSums()
	Label(text)
}

// cryptText encrypts or decrypts the text of n bytes, and absorbs the ciphertext. It leaves
// that of the last less than a group in the sums, and its size in rest.
func (k *kernel) cryptText(r gotypes.Component, n, rest Register, open bool) {
	Comment("Text.")
	c := k.counters(r)
	dst, src := Load(r.Field("dst").Base(), GP64()), Load(r.Field("src").Base(), GP64())
	if k.long {
		k.cryptLong(c, dst, src, n, open)
	}
	if k.lanes == 2 {
		k.cryptGroups(2, c, dst, src, n, open)
	}
	k.cryptGroups(1, c, dst, src, n, open)

	MOVQ(n, rest)
	h := k.powersFor(n)
	k.makeRoom(h)
	k.clear(k.sums)
	k.pieces(n, h, func(v isa, count int) (ciphertext []VecVirtual) {
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
	}, func() (ciphertext VecVirtual) {
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
	})
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

// end returns from the function.
func (k *kernel) end() {
	if k.encoding != sse {
		VZEROUPPER()
	}
	RET()
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

// absorb adds the product of x, a vector of blocks as they are in memory, with the powers
// at p. It adds GHASH so far to the first block if first is true.
func (k *kernel) absorb(x VecVirtual, p Mem, first, set bool) {
	k.shuffle(k.order, x)
	if first {
		k.xor(k.acc, x)
	}
	k.addProduct(k.sums, x, p, set)
}

// hashGroup returns the steps of GHASH for the group at p: one for each vector, and two.
func (k *kernel) hashGroup(p Mem) (steps []func()) {
	for i := 0; i < powers; i += k.lanes {
		steps = append(steps, func() {
			x := k.vec()
			k.load(p.Offset(blockSize*i), x)
			k.absorb(x, power(k.key, powers-i), i == 0, i == 0)
		})
	}
	return append(steps, func() { k.reduceSums() })
}

// reduceSums sets acc to the sums, reduced.
func (k *kernel) reduceSums() {
	k.reduce(k.sums, nil)
	k.fold(k.sums.high)
	k.move(k.sums.high, k.acc)
}

func run(steps []func()) {
	for _, f := range steps {
		f()
	}
}

// hashGroups absorbs whole groups at p, of n bytes. It leaves the rest in p and n. For long
// messages lanes, if it is not nil, may do so with the sums of hashLong.
func (k *kernel) hashGroups(p, n Register, lanes func(w *wide, s VecVirtual)) {
	if k.long {
		short := label("short")
		CMPQ(n, U32(longSize))
		JB(LabelRef(short))
		w, s := k.hashLong(p, n)
		if lanes != nil {
			lanes(w, s)
		}
		w.addLanes(s, power(k.key, maxLanes))
		w.reduceSums()
		Label(short)
	}
	groups, end := label("hashGroups"), label("hashRest")
	Label(groups)
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	run(k.hashGroup(Mem{Base: p}))
	ADDQ(U32(groupSize), p)
	SUBQ(U32(groupSize), n)
	JMP(LabelRef(groups))
	Label(end)
}

// powersFor returns the address of the power for the first of the blocks in n bytes, at
// most a group.
func (k *kernel) powersFor(n Register) (h Register) {
	size := GP64()
	h = GP64()
	LEAQ(Mem{Base: n, Disp: blockSize - 1}, size)
	ANDQ(I32(-blockSize), size)
	LEAQ(power(k.key, 0), h)
	SUBQ(size, h)
	return h
}

// makeRoom moves h to the power before, so that one more block can follow, except after
// eight blocks.
func (k *kernel) makeRoom(h Register) {
	first := GP64()
	LEAQ(power(k.key, powers), first)
	SUBQ(Imm(blockSize), h)
	CMPQ(h, first)
	CMOVQCS(first, h)
}

// hashRest absorbs the n bytes at p, less than a group, with the powers from h on.
func (k *kernel) hashRest(p, n, h Register) {
	k.pieces(n, h, func(v isa, count int) (xs []VecVirtual) {
		for i := range count {
			x := v.vec()
			v.load(Mem{Base: p, Disp: v.size() * i}, x)
			xs = append(xs, x)
		}
		ADDQ(Imm(uint64(v.size()*count)), p)
		return xs
	}, func() VecVirtual {
		x := XMM()
		k.single().loadPartial(p, n, x)
		return x
	})
}

// pieces absorbs n bytes, less than a group, with the powers from h on: 64, 32 and 16
// bytes and a partial block, as far as they are in n. vectors returns the next vectors.
// When partial is called, n is the size of the partial block.
func (k *kernel) pieces(n, h Register, vectors func(v isa, count int) []VecVirtual, partial func() VecVirtual) {
	absorb := func(v isa, xs []VecVirtual, last bool) {
		for i, x := range xs {
			k.absorb(k.widen(v, x), Mem{Base: h, Disp: v.size() * i}, i == 0, false)
			if i == 0 {
				k.zero(k.acc)
			}
		}
		if !last {
			ADDQ(Imm(uint64(v.size()*len(xs))), h)
		}
	}
	for _, size := range []int{64, 32, 16} {
		v := k.isa
		if size < v.size() {
			v = k.single()
		}
		skip := label("skip")
		TESTQ(U32(uint32(size)), n)
		JZ(LabelRef(skip))
		absorb(v, vectors(v, size/v.size()), false)
		Label(skip)
	}
	skip := label("skip")
	ANDQ(Imm(blockSize-1), n)
	JZ(LabelRef(skip))
	absorb(k.single(), []VecVirtual{partial()}, true)
	Label(skip)
}
