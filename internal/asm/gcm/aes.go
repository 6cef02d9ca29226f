// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// aes is AES, FIPS 197, under a key schedule.
type aes struct {
	isa
	schedule Mem
	rounds   Register
}

// in is the same in another width.
func (a *aes) in(v isa) *aes { return &aes{v, a.schedule, a.rounds} }

// encrypt encrypts independent blocks.
func (a *aes) encrypt(x ...VecVirtual) {
	key := a.vec()
	a.loadEach(a.schedule, key)
	for _, x := range x {
		a.xor(key, x)
	}
	a.encryptRounds(x, nil)
}

// encryptRounds encrypts independent blocks to which the first key has been added, and adds
// the text at p, if it is not nil. It calls each of the functions in between once, after one
// of the first nine rounds: as early as they spread evenly, but wide ones only after an even
// round and the last, because a few together are faster.
func (a *aes) encryptRounds(x []VecVirtual, p Op, between ...func()) {
	round := func(n int) {
		key := a.vec()
		a.loadEach(a.schedule.Offset(blockSize*n), key)
		for _, x := range x {
			a.aesenc(key, x)
		}
	}
	called := 0
	for n := 1; n <= 9; n++ {
		round(n)
		if a.encoding != sse && n%2 != 0 && n != 9 {
			continue
		}
		for ; called < (n*len(between)+8)/9; called++ {
			between[called]()
		}
	}
	last := label("last")
	at := GP64()
	LEAQ(a.schedule.Offset(10*blockSize), at)
	CMPL(a.rounds, Imm(12))
	JB(LabelRef(last)) // AES-128
	round(10)
	round(11)
	LEAQ(a.schedule.Offset(12*blockSize), at)
	JE(LabelRef(last)) // AES-192
	round(12)
	round(13)
	LEAQ(a.schedule.Offset(14*blockSize), at)
	Label(last)
	key := a.vec()
	a.loadEach(Mem{Base: at}, key)
	for i, x := range x {
		last := key
		if p != nil {
			last = a.vec()
			a.sum(p.(Mem).Offset(a.size()*i), key, last)
		}
		a.aesenclast(last, x)
	}
}

// counters makes the counter blocks of the text, section 7.1: the nonce of 12 bytes and a
// big-endian counter, which is 2 for the first block of the text.
type counters struct {
	*aes
	order Op // reverses the bytes of a block

	// base, in all lanes, is the counter block of the second block before the next one,
	// with its bytes reversed: the counter is its lowest 32-bit word, and what is added to
	// it is not carried into the nonce.
	base VecVirtual
}

var (
	firstCounter Mem         // 1, as a counter block without a nonce
	numbers      Mem         // 2 to 5, as counter blocks without a nonce, reversed
	counts       map[int]Mem // 1, 2, 4, ... 32, in all lanes, reversed
	lowBits      map[int]Mem // for groups of 8, 16 and 32 blocks
)

func counterConstants() {
	firstCounter = GLOBL("firstCounter", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(1<<56))
	numbers = GLOBL("numbers", attr.RODATA|attr.NOPTR)
	for i := range numbered {
		DATA(blockSize*i, U64(2+i))
		DATA(blockSize*i+8, U64(0))
	}
	counts = make(map[int]Mem)
	for n := 1; n <= 32; n *= 2 {
		counts[n] = eachLane(fmt.Sprintf("count%d", n), uint64(n), 0)
	}
	lowBits = make(map[int]Mem)
	for n := 8; n <= 32; n *= 2 {
		lowBits[n] = GLOBL(fmt.Sprintf("lowBits%d", n), attr.RODATA|attr.NOPTR)
		for i := range n {
			DATA(blockSize*i, U64(0))
			DATA(blockSize*i+8, U64((2+i)%n<<56))
		}
	}
}

// nonceBlock returns the nonce at p as a counter block whose counter is 0. The last 8 or 4 bytes are
// often a number that has just been stored: a load that has other bytes too would wait for the store.
func (v isa) nonceBlock(p Mem) VecVirtual {
	first, x := GP32(), XMM()
	MOVL(p, first) // because MOVD from memory has 8 bytes in Go's assembler
	v.word(first, x)
	v.insert(1, p.Offset(4), x)
	v.insert(2, p.Offset(8), x)
	return x
}

// firstBlock returns the first counter block, which is not for the text, for the nonce at
// p.
func (v isa) firstBlock(p Mem) VecVirtual {
	x, one := v.nonceBlock(p), XMM()
	v.load(firstCounter, one)
	v.xor(one, x)
	return x
}

// advance skips n counters.
func (c *counters) advance(n int) {
	if c.encoding == sse {
		count := XMM()
		c.load(counts[n], count)
		c.add(count, c.base)
	} else {
		c.add(counts[n], c.base)
	}
}

// numbered is how many counter blocks there are in numbers.
const numbered = 4

// blocks returns n vectors of counter blocks. It does not skip their counters.
func (c *counters) blocks(n int) (x []VecVirtual) {
	if n*c.size() > numbered*blockSize {
		panic("too few counter blocks in numbers")
	}
	for i := range n {
		b := c.vec()
		c.load(numbers.Offset(c.size()*i), b)
		c.add(c.base, b)
		c.shuffle(c.order, b)
		x = append(x, b)
	}
	return x
}

// group sets x to vectors of counter blocks, with the first key added, for a group of
// blocks, or for the last ones, less than a group. All text before it was in groups of this size or a multiple
// of it, so the counter of base is a multiple of the number of blocks, a power of two. The counters of the group
// are base with other low bits, except that those of its last two blocks are base after the
// group with other low bits. So only two blocks are made with additions.
func (c *counters) group(x []VecVirtual) {
	n, blocks := len(x), powers
	for blocks < n*c.lanes {
		blocks *= 2
	}
	key := c.vec()
	c.loadEach(c.schedule, key)
	this, next := c.vec(), c.vec()
	both := []VecVirtual{this}
	c.move(c.base, this)
	if blocks == n*c.lanes {
		c.advance(blocks)
		c.move(c.base, next)
		both = append(both, next)
	}
	for _, b := range both {
		c.shuffle(c.order, b)
		c.xor(key, b)
	}
	for i, b := range x {
		low := lowBits[blocks].Offset(c.size() * i)
		switch first := 2 + c.lanes*i; {
		case first+c.lanes <= blocks:
			c.sum(low, this, b)
		case first >= blocks:
			c.sum(low, next, b)
		default: // two lanes of each
			VSHUFI64X2(U8(0x44), next, this, b)
			c.xor(low, b)
		}
	}
}
