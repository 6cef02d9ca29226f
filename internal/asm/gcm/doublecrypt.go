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

// The kernels with vectors of two blocks encrypt or decrypt pieces of 256 bytes, and then a rest.

const (
	pairSize  = 2 * blockSize
	pieceSize = 2 * groupSize

	// doubleSize is the size from which on cryptDouble is not slower than cryptPieces: it computes eight more
	// powers first. Where VPCLMULQDQ takes two cycles, as on Zen 3, that is so from 2 KiB on, and up to 8 %
	// are lost before (modelled).
	doubleSize = 2 * pieceSize
)

// cryptTextDouble is cryptText for these kernels. It sets size to the size of the last group.
func (k *kernel) cryptTextDouble(r gotypes.Component, c *counters, dst, src, n, size Register, open bool) {
	small, one, last, end := label("small"), label("onePiece"), label("rest"), label("textEnd")
	CMPQ(n, Imm(blockSize))
	JBE(LabelRef(small))
	CMPQ(n, U32(pieceSize))
	JB(LabelRef(last))
	CMPQ(n, U32(doubleSize))
	JB(LabelRef(one))
	double := k.cryptDouble(c, dst, src, n, open)
	JMP(LabelRef(last))
	Label(one)
	single := k.cryptPieces(2, onlyOne, c, dst, src, n, open, func(p Mem) []func() {
		return append(k.hashBlocks(p, powers, true, k.power), k.hashBlocks(p.Offset(groupSize), powers, true, k.power)...)
	})
	Label(last)
	if t := (&rest{k, c, dst, src, n, k.vecs(restVectors), GP64(), open}); open {
		t.open(size)
	} else {
		t.seal(size, func() {
			none, many := label("noPiece"), label("manyPieces")
			all := Load(r.Field("src").Len(), GP64())
			CMPQ(all, U32(pieceSize))
			JB(LabelRef(none))
			CMPQ(all, U32(doubleSize))
			JAE(LabelRef(many))
			run(single)
			JMP(LabelRef(none))
			Label(many)
			run(double)
			Label(none)
		})
	}
	JMP(LabelRef(end))
	Label(small)
	k.cryptBlock(c, dst, src, n, open)
	MOVQ(n, size)
	Label(end)
}

// cryptBlock is cryptText for at most a block.
func (k *kernel) cryptBlock(c *counters, dst, src, n Register, open bool) {
	one, partial, end := k.single(), label("partial"), label("blockEnd")
	x, t := c.in(one).blocks(1)[0], XMM()
	k.aes.in(one).encrypt(x)
	CMPQ(n, Imm(blockSize))
	JB(LabelRef(partial))
	one.load(Mem{Base: src}, t)
	one.xor(t, x)
	one.store(x, Mem{Base: dst})
	if !open {
		one.move(x, t)
	}
	JMP(LabelRef(end))
	Label(partial)
	one.move(k.cryptPartial(x, dst, src, n, open), t)
	Label(end)
	k.clear(k.sums)
	k.absorb(k.widen(one, t), k.power(2), true)
	k.zero(k.acc)
}

// cryptDouble encrypts or decrypts as many pieces as there are in n bytes, at least doubleSize, with one
// reduction for each, and returns the steps of GHASH that are left. The powers for that are in the frame. Of
// what follows them, the saved frame pointer is loaded with the last, and not used (see halves).
func (k *kernel) cryptDouble(c *counters, dst, src, n Register, open bool) (steps []func()) {
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
	steps = k.cryptPieces(2, twoOrMore, c, dst, src, n, open, func(p Mem) []func() {
		return k.hashBlocks(p, 2*powers, false, func(n int) Mem {
			if n > powers {
				return above(n - powers)
			}
			return k.power(n)
		})
	})
	wipe := func() {
		Comment("The frame held secrets.")
		zero := k.vec()
		k.zero(zero)
		for n := powers; n > 0; n -= k.lanes {
			k.store(zero, above(n))
		}
	}
	if open {
		wipe()
	}
	return append(steps, wipe)
}

// A rest is the last n bytes of a text of more than a block, less than a piece. Two, four, six or eight
// vectors are encrypted together, so it takes no more time than a piece.
type rest struct {
	*kernel
	c           *counters
	dst, src, n Register
	x           []VecVirtual // the vectors, first the encrypted counter blocks
	h           Register     // the address of the powers for the last group
	opens       bool
}

const restVectors = pieceSize / pairSize

// seal encrypts a rest, and calls between after AES. It leaves the last group in the sums, and sets size to
// its size.
func (t *rest) seal(size Register, between func()) {
	end, one := label("encrypted"), label("lastGroup")
	t.each("", func(vectors int) {
		if vectors > 0 {
			t.encrypt(vectors)
		}
		for _, x := range t.x[vectors:] {
			t.zero(x)
		}
		JMP(LabelRef(end))
	})
	Label(end)
	between()
	CMPQ(t.n, U32(groupSize))
	JBE(LabelRef(one))
	for v := range restVectors / 2 {
		t.crypt(t.isa, t.x[v], pairSize*v)
		t.move(t.x[restVectors/2+v], t.x[v])
	}
	run(t.hashBlocks(Mem{Base: t.dst}, powers, true, t.power))
	t.skip(groupSize)
	Label(one)
	t.beginLast(size, groupSize)
	t.clear(t.sums)
	t.cryptLast(restVectors / 2)
}

// open is seal for Open. It computes GHASH of all but the last vectors between the rounds of AES.
func (t *rest) open(size Register) {
	last, end, group := label("lastVectors"), label("restEnd"), label("group")
	t.each(group, func(vectors int) {
		t.openVectors(vectors, max(0, vectors-2), size)
		if vectors > 0 {
			JMP(LabelRef(last))
		} else {
			JMP(LabelRef(end))
		}
	})
	Label(group)
	t.openVectors(restVectors/2, restVectors/2, size)
	JMP(LabelRef(end))
	Label(last)
	t.cryptLast(2)
	Label(end)
}

// openVectors opens the first full ones of the vectors, and leaves the next two in x[0] and x[1].
func (t *rest) openVectors(vectors, full int, size Register) {
	var steps []func()
	left := full
	if full >= restVectors/2 {
		left -= restVectors / 2
		steps = t.hashBlocks(Mem{Base: t.src, Disp: -groupSize}, powers, true, t.power)
		t.skip(groupSize)
	}
	t.beginLast(size, pairSize*(left+vectors-full))
	steps = append(steps, func() { t.clear(t.sums) })
	for v := range left {
		steps = append(steps, func() {
			x := t.vec()
			t.load(Mem{Base: t.src, Disp: pairSize * v}, x)
			t.absorbOnce(x, pairSize*v)
		})
	}
	if vectors > 0 {
		t.encrypt(vectors, steps...)
	} else {
		run(steps)
	}
	for v := range full {
		t.crypt(t.isa, t.x[v], pairSize*(v+left-full))
	}
	if full > 0 && full < vectors {
		t.move(t.x[full], t.x[0])
		t.move(t.x[full+1], t.x[1])
	}
	if left > 0 {
		t.skip(pairSize * left)
		ADDQ(Imm(uint64(pairSize*left)), t.h)
	}
}

// encrypt sets that many vectors to encrypted counter blocks, and calls the functions between the rounds.
func (t *rest) encrypt(vectors int, between ...func()) {
	t.c.group(t.x[:vectors])
	t.aes.encryptRounds(t.x[:vectors], nil, between...)
}

// each calls f for the numbers of vectors that a rest may need, and runs the code for that of n bytes,
// or that at group, if it is not "", for a whole group.
func (t *rest) each(group string, f func(vectors int)) {
	var fits [restVectors + 1]string
	for v := 0; v < restVectors; v += 2 {
		fits[v] = label("fits")
		CMPQ(t.n, U32(uint32(pairSize*v)))
		if pairSize*v == groupSize && group != "" {
			JB(LabelRef(fits[v]))
			JEQ(LabelRef(group))
		} else {
			JBE(LabelRef(fits[v]))
		}
	}
	for v := restVectors; v >= 0; v -= 2 {
		if v < restVectors {
			Label(fits[v])
		}
		f(v)
	}
}

// skip moves to the bytes after n.
func (t *rest) skip(n int) {
	ADDQ(U32(uint32(n)), t.src)
	ADDQ(U32(uint32(n)), t.dst)
	SUBQ(U32(uint32(n)), t.n)
}

// crypt encrypts or decrypts a vector that is disp bytes after the first one, and returns the ciphertext.
func (t *rest) crypt(v isa, x VecVirtual, disp int) (ciphertext VecVirtual) {
	text := v.vec()
	v.load(Mem{Base: t.src, Disp: disp}, text)
	v.xor(text, x)
	v.store(x, Mem{Base: t.dst, Disp: disp})
	if t.opens {
		return text
	}
	return x
}

// beginLast sets size to the size of the last group, at most most, and h if there is one.
func (t *rest) beginLast(size Register, most int) {
	MOVQ(t.n, size)
	if most > 0 {
		MOVQ(t.powersFor(t.n), t.h)
		if most < groupSize {
			SUBQ(Imm(blockSize), t.h)
		} else {
			t.makeRoom(t.h)
		}
	}
}

// absorbOnce absorbs a vector that is disp bytes after the first one, to which it adds GHASH so far.
func (t *rest) absorbOnce(ciphertext VecVirtual, disp int) {
	t.absorb(ciphertext, Mem{Base: t.h, Disp: disp}, disp == 0)
	if disp == 0 {
		t.zero(t.acc)
	}
}

// cryptLast encrypts or decrypts what is left, at most that many vectors, and absorbs it: whole vectors, a
// block and a partial block, as far as they are in n.
func (t *rest) cryptLast(most int) {
	part, partial, end := label("part"), label("partial"), label("vectorsEnd")
	x, one, whole := t.x[0], t.single(), GP64()
	low := one.as(x)
	skip := func(size Op) {
		ADDQ(size, t.src)
		ADDQ(size, t.dst)
		ADDQ(size, t.h)
	}
	fewer := make([]string, most)
	for v := range most {
		fewer[v] = label("fewer")
		CMPQ(t.n, U32(uint32(pairSize*(v+1))))
		JB(LabelRef(fewer[v]))
		t.absorbOnce(t.crypt(t.isa, t.x[v], pairSize*v), pairSize*v)
	}
	JMP(LabelRef(end))
	for v := most - 1; v > 0; v-- {
		Label(fewer[v])
		t.move(t.x[v], x)
		if v > 1 {
			JMP(LabelRef(part))
		}
	}
	Label(fewer[0])
	Label(part)
	TESTQ(U32(pairSize-1), t.n)
	JZ(LabelRef(end))
	MOVQ(t.n, whole)
	ANDQ(I32(-pairSize), whole)
	skip(whole)
	TESTQ(U32(blockSize), t.n)
	JZ(LabelRef(partial))
	next := XMM()
	VEXTRACTI128(U8(1), x, next)
	t.absorbOnce(t.widen(one, t.crypt(one, low, 0)), 0)
	one.move(next, low)
	skip(Imm(blockSize))
	Label(partial)
	ANDQ(Imm(blockSize-1), t.n)
	JZ(LabelRef(end))
	text := one.loadEnd(t.src, t.n)
	one.xor(text, low)
	if !t.opens {
		one.keepPartial(low, t.n)
	}
	one.storeEnd(low, t.dst, t.n)
	if t.opens {
		low = text
	}
	t.absorbOnce(t.widen(one, low), 0)
	Label(end)
}
