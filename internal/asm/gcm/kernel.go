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

// A kernel is the state of a function that is being generated. GHASH of a message is sums of
// products, one for each group and one for the rest; each is reduced to acc.
type kernel struct {
	isa
	subkey     Mem // the powers of the hash subkey, in the Key
	aes        *aes
	order      Op // reverses the bytes of a block
	polynomial Op // for reduce
	sums       sums
	acc        VecVirtual // GHASH so far, in the lowest lane; the other lanes are zero
}

// begin begins a function that has a parameter key, and encrypts if encrypts is true.
func begin(v isa, name string, encrypts bool) *kernel {
	Implement(name)
	Pragma("noescape")
	key := Dereference(Param("key"))
	k := &kernel{isa: v, subkey: subkey(key), order: reverse, polynomial: polynomial, sums: v.newSums(), acc: v.vec()}
	if encrypts {
		k.aes = &aes{v, field(key.Field("schedule").Index(0)), Load(key.Field("rounds"), GP32())}
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

// loadSum loads GHASH of what came before.
func (k *kernel) loadSum(sum Register) {
	one := k.single()
	one.load(Mem{Base: sum}, one.as(k.acc))
}

func (k *kernel) storeSum(sum Register) {
	one := k.single()
	one.store(one.as(k.acc), Mem{Base: sum})
}

// beginTag sets tag to the encrypted first counter block.
func (k *kernel) beginTag(r gotypes.Component, tag Register) {
	Comment("The tag begins as the encrypted first counter block.")
	one := k.single()
	pad := one.firstBlock(Mem{Base: Load(Param("nonce"), GP64())})
	k.aes.in(one).encrypt(pad)
	one.store(pad, Mem{Base: tag})
}

// endTag adds GHASH to tag. The last rest bytes of the message are in the sums, and the
// lengths follow them.
func (k *kernel) endTag(r gotypes.Component, tag, rest Register) {
	Comment("The lengths in bits. After eight blocks they have a reduction of their own.")
	one, last := k.single(), label("lengths")
	CMPQ(rest, Imm(groupSize-blockSize))
	JBE(LabelRef(last))
	k.reduceSums()
	k.clear(k.sums)
	Label(last)
	lengths := XMM()
	one.words(Load(r.Field("textBits"), GP64()), Load(r.Field("dataBits"), GP64()), lengths)
	x := k.widen(one, lengths)
	k.xor(k.acc, x)
	k.addProduct(k.sums, x, power(k.subkey, 1), false)
	k.reduceSums()
	acc, t := one.as(k.acc), XMM()
	one.shuffle(k.order, acc)
	one.load(Mem{Base: tag}, t)
	one.xor(t, acc)
	one.store(acc, Mem{Base: tag})
}

// absorb adds the product of x, a vector of blocks as they are in memory, with the powers
// at p. It adds GHASH so far to the first block if first is true.
func (k *kernel) absorb(x VecVirtual, p Mem, first bool) {
	k.shuffle(k.order, x)
	if first {
		k.xor(k.acc, x)
	}
	k.addProduct(k.sums, x, p, false)
}

// hashBlocks returns the steps of GHASH for count blocks at p: one for each vector, another
// after each second one, and one for the reduction. The first two vectors come last if
// firstLast is true: then the others need not wait for GHASH so far. power returns the address
// of H^n, which those below it follow as far as a vector needs them.
func (k *kernel) hashBlocks(p Mem, count int, firstLast bool, power func(n int) Mem) (steps []func()) {
	begin := 0
	if firstLast {
		begin = 2 * k.lanes
	}
	for n := 0; n < count; n += 2 * k.lanes {
		i := (begin + n) % count
		var x [2]VecVirtual
		at := [2]int{i, i + k.lanes}
		for j, at := range at {
			steps = append(steps, func() {
				x[j] = k.vec()
				k.load(p.Offset(blockSize*at), x[j])
				k.shuffle(k.order, x[j])
				if at == 0 {
					k.xor(k.acc, x[j])
				}
				k.addProducts(power(count-at), x[j], k.sums.low, k.sums.high, at == begin)
			})
		}
		steps = append(steps, func() {
			k.addMiddle(k.sums, x, [2]Mem{power(count - at[0]), power(count - at[1])}, i == begin)
		})
	}
	return append(steps, k.reduceSums)
}

// power returns the address of H^n.
func (k *kernel) power(n int) Mem { return power(k.subkey, n) }

// reduceSums sets acc to the sums, reduced.
func (k *kernel) reduceSums() {
	k.reduce(k.sums, k.polynomial, nil)
	k.fold(k.sums.high)
	k.move(k.sums.high, k.acc)
}

func run(steps []func()) {
	for _, f := range steps {
		f()
	}
}

// powersFor returns the address of the power for the first of the blocks in n bytes, at
// most a group.
func (k *kernel) powersFor(n Register) (h Register) {
	size := GP64()
	h = GP64()
	LEAQ(Mem{Base: n, Disp: blockSize - 1}, size)
	ANDQ(I32(-blockSize), size)
	LEAQ(power(k.subkey, 0), h)
	SUBQ(size, h)
	return h
}

// makeRoom moves h to the power before, so that one more block can follow, except after
// eight blocks.
func (k *kernel) makeRoom(h Register) {
	first := GP64()
	LEAQ(power(k.subkey, powers), first)
	SUBQ(Imm(blockSize), h)
	CMPQ(h, first)
	CMOVQCS(first, h)
}

// pieces absorbs n bytes, less than a group, with the powers from h on: 64, 32 and 16
// bytes and a partial block, as far as they are in n. vectors returns the next vectors.
// When partial is called, n is the size of the partial block.
func (k *kernel) pieces(n, h Register, vectors func(v isa, count int) []VecVirtual, partial func() VecVirtual) {
	absorb := func(v isa, xs []VecVirtual, last bool) {
		for i, x := range xs {
			k.absorb(k.widen(v, x), Mem{Base: h, Disp: v.size() * i}, i == 0)
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

// end returns from the function.
func (k *kernel) end() {
	if k.encoding != sse {
		VZEROUPPER()
	}
	RET()
}
