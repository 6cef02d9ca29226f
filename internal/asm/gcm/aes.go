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

// encrypt encrypts independent blocks. It calls each of the functions in between once,
// after one of the first nine rounds.
func (a *aes) encrypt(x []VecVirtual, between ...func()) {
	round := func(n int) {
		key := a.vec()
		a.loadEach(a.schedule.Offset(blockSize*n), key)
		for _, x := range x {
			a.aesenc(key, x)
		}
	}
	key := a.vec()
	a.loadEach(a.schedule, key)
	for _, x := range x {
		a.xor(key, x)
	}
	for n := 1; n <= 9; n++ {
		round(n)
		for _, f := range between[(n-1)*len(between)/9 : n*len(between)/9] {
			f()
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
	key = a.vec()
	a.loadEach(Mem{Base: at}, key)
	for _, x := range x {
		a.aesenclast(key, x)
	}
}

// Counter blocks, section 6.2, are kept with their bytes reversed: the counter is the
// lowest 32-bit word of a lane, and what is added to it is not carried into the nonce.

var (
	firstCounter Mem               // 1 in the last word of a block, big-endian
	laneNumbers  Mem               // 1, 2, 3 and 4 in the lowest words of four blocks
	laneCounts   [maxLanes + 1]Mem // the number of lanes in the lowest word of each lane
)

func counterConstants() {
	firstCounter = GLOBL("firstCounter", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(1<<56))
	laneNumbers = GLOBL("laneNumbers", attr.RODATA|attr.NOPTR)
	for i := range maxLanes {
		DATA(blockSize*i, U64(i+1))
		DATA(blockSize*i+8, U64(0))
	}
	for n := uint64(1); n <= maxLanes; n *= 2 {
		laneCounts[n] = eachLane(fmt.Sprintf("count%d", n), n, 0)
	}
}

// firstBlock returns the first counter block, section 7.1, for the nonce at p.
func (v isa) firstBlock(p Mem) VecVirtual {
	x, one := XMM(), XMM()
	t := GP32()
	MOVL(p.Offset(8), t)
	if v.encoding == sse {
		MOVQ(p, x)
		PINSRD(U8(2), t, x)
		MOVUPS(firstCounter, one)
		POR(one, x)
	} else {
		VMOVQ(p, x)
		VPINSRD(U8(2), t, x, x)
		VMOVDQU(firstCounter, one)
		VPOR(one, x, x)
	}
	return x
}

// counters are the counter blocks of a vector, of blocks in a row.
type counters struct {
	isa
	next  VecVirtual
	order Op // reverses the bytes of a block
}

// blocks returns n vectors of counter blocks.
func (c *counters) blocks(n int) (x []VecVirtual) {
	var count Op = laneCounts[c.lanes]
	if c.encoding == sse {
		x := XMM()
		c.load(laneCounts[1], x)
		count = x
	}
	for range n {
		b := c.vec()
		c.move(c.next, b)
		c.shuffle(c.order, b)
		c.add(count, c.next)
		x = append(x, b)
	}
	return x
}
