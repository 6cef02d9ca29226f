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

// Seal and Open with vectors of two blocks.

const (
	pairSize = 2 * blockSize

	// doublePiece is the size of what these kernels encrypt at a time.
	doublePiece = 2 * groupSize

	// doubleSize is the size from which on cryptDouble is faster than one piece: it computes eight more
	// powers first.
	doubleSize = 2 * doublePiece
)

// cryptTextDouble is cryptText, which sets rest.
func (k *kernel) cryptTextDouble(r gotypes.Component, c *counters, dst, src, n, rest Register, open bool) {
	small, one, last, end := label("small"), label("onePiece"), label("rest"), label("textEnd")
	CMPQ(n, Imm(blockSize))
	JBE(LabelRef(small))
	CMPQ(n, U32(doublePiece))
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
	if t := k.newRest(c, dst, src, n, open); open {
		t.open(rest)
	} else {
		t.seal(rest, func() {
			none, many := label("noPiece"), label("manyPieces")
			size := Load(r.Field("src").Len(), GP64())
			CMPQ(size, U32(doublePiece))
			JB(LabelRef(none))
			CMPQ(size, U32(doubleSize))
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
	MOVQ(n, rest)
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
// reduction for each. It returns the steps of GHASH for the last one. The powers for that are in the frame. Of what follows them, the saved frame pointer is loaded
// with the last, and not used (see halves).
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

// A rest is the last n bytes of a text of at least a block, less than a piece. Two, four, six or eight
// vectors are encrypted together, so it takes no more time than a whole piece.
type rest struct {
	*kernel
	c           *counters
	dst, src, n Register
	x           []VecVirtual // the vectors, first the encrypted counter blocks
	opens       bool
	h           Register // the address of the powers for the last group
}

const restVectors = doublePiece / pairSize

func (k *kernel) newRest(c *counters, dst, src, n Register, open bool) *rest {
	return &rest{k, c, dst, src, n, k.vecs(restVectors), open, GP64()}
}

// seal encrypts a rest, and calls between after AES. It leaves the last group in the sums, and sets last to
// its size.
func (t *rest) seal(last Register, between func()) {
	end, one := label("encrypted"), label("lastGroup")
	t.each("", func(vectors int) {
		if vectors > 0 {
			t.c.group(t.x[:vectors])
			t.aes.encryptRounds(t.x[:vectors], nil)
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
	t.beginLast(last, groupSize)
	t.clear(t.sums)
	t.cryptLast(restVectors / 2)
}

// open is seal for Open. It computes GHASH of all but the last vectors between the rounds of AES.
func (t *rest) open(last Register) {
	lastVectors, end, group := label("lastVectors"), label("restEnd"), label("group")
	crypt := func(vectors, full int) {
		var steps []func()
		left := full
		if full >= restVectors/2 {
			left -= restVectors / 2
			steps = t.hashBlocks(Mem{Base: t.src, Disp: -groupSize}, powers, true, t.power)
			t.skip(groupSize)
		}
		t.beginLast(last, pairSize*(left+vectors-full))
		steps = append(steps, func() { t.clear(t.sums) })
		for v := range left {
			steps = append(steps, func() {
				x := t.vec()
				t.load(Mem{Base: t.src, Disp: pairSize * v}, x)
				t.absorbOnce(x, Mem{Base: t.h, Disp: pairSize * v}, v == 0)
			})
		}
		if vectors > 0 {
			t.c.group(t.x[:vectors])
			t.aes.encryptRounds(t.x[:vectors], nil, steps...)
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
		if full < vectors {
			JMP(LabelRef(lastVectors))
		} else {
			JMP(LabelRef(end))
		}
	}
	t.each(group, func(vectors int) { crypt(vectors, max(0, vectors-2)) })
	Label(group)
	crypt(4, 4)
	Label(lastVectors)
	t.cryptLast(2)
	Label(end)
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

// beginLast sets last to the size of the last group, at most most, and h if there is one.
func (t *rest) beginLast(last Register, most int) {
	MOVQ(t.n, last)
	if most > 0 {
		MOVQ(t.powersFor(t.n), t.h)
		if most < groupSize {
			SUBQ(Imm(blockSize), t.h)
		} else {
			t.makeRoom(t.h)
		}
	}
}

// cryptLast encrypts or decrypts what is left, at most that many vectors, and absorbs it.
func (t *rest) cryptLast(most int) {
	one, x := t.single(), t.x[0]
	low := one.as(x)
	absorb := func(ciphertext VecVirtual, disp int) {
		t.absorbOnce(ciphertext, Mem{Base: t.h, Disp: disp}, disp == 0)
	}
	t.vectors(t.n, most, lastParts{
		whole: func(v int) { absorb(t.crypt(t.isa, t.x[v], pairSize*v), pairSize*v) },
		less: func(v int) {
			if v > 0 {
				t.move(t.x[v], x)
			}
		},
		move: func(size Op) {
			ADDQ(size, t.src)
			ADDQ(size, t.dst)
			ADDQ(size, t.h)
		},
		block: func() {
			next := XMM()
			VEXTRACTI128(U8(1), x, next)
			absorb(t.widen(one, t.crypt(one, low, 0)), 0)
			one.move(next, low)
		},
		partial: func(n Register) {
			text := one.loadEnd(t.src, n)
			one.xor(text, low)
			if !t.opens {
				one.keepPartial(low, n)
			}
			one.storeEnd(low, t.dst, n)
			if t.opens {
				low = text
			}
			absorb(t.widen(one, low), 0)
		},
	})
}

// absorbOnce is absorb, which adds GHASH so far only once.
func (k *kernel) absorbOnce(x VecVirtual, p Mem, first bool) {
	k.absorb(x, p, first)
	if first {
		k.zero(k.acc)
	}
}

// lastParts are what vectors calls.
type lastParts struct {
	whole   func(v int)      // for each whole vector
	less    func(v int)      // for the next one, then
	move    func(n Op)       // to the bytes n after
	block   func()           // for a block
	partial func(n Register) // for a partial block
}

// vectors calls parts for n bytes, at most that many vectors.
func (k *kernel) vectors(n Register, most int, parts lastParts) {
	part, partial, end := label("less"), label("partial"), label("vectorsEnd")
	fewer := make([]string, most)
	for v := range most {
		fewer[v] = label("fewer")
		CMPQ(n, U32(uint32(pairSize*(v+1))))
		JB(LabelRef(fewer[v]))
		parts.whole(v)
	}
	JMP(LabelRef(end))
	for v := most - 1; v >= 0; v-- {
		Label(fewer[v])
		parts.less(v)
		if v > 1 {
			JMP(LabelRef(part))
		}
	}
	Label(part)
	whole := GP64()
	TESTQ(U32(pairSize-1), n)
	JZ(LabelRef(end))
	MOVQ(n, whole)
	ANDQ(I32(-pairSize), whole)
	parts.move(whole)
	TESTQ(U32(blockSize), n)
	JZ(LabelRef(partial))
	parts.block()
	parts.move(Imm(blockSize))
	Label(partial)
	ANDQ(Imm(blockSize-1), n)
	JZ(LabelRef(end))
	parts.partial(n)
	Label(end)
}
