// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// These kernels replace p, whose first 32 bytes are a key, by the AES-256-CTR keystream
// under that key, from counter 0. They read p only for the key, before they write to it.
// The key schedule is made while the first blocks are encrypted, each round key right
// before its use: the latency of the one hides that of the other.
//
// A word of the schedule that needs SubWord comes from AESENCLAST of four copies of a word,
// on which ShiftRows has no effect; the round key is Rcon. On Intel CPUs this takes half
// the time of AESKEYGENASSIST.

const (
	rounds      = 14  // of AES-256
	stretchStep = 512 // len(p) is a multiple of this
)

// stretch generates stretchAESNI: eight blocks at a time, with the schedule in the frame.
func stretch() {
	const wide = 8
	rotate := sharedBytes("stretchRotate", 1, func(int) [16]byte { return rotateLast })
	Implement("stretchAESNI")
	Pragma("noescape")
	p := Load(Param("p").Base(), GP64())
	left := Load(Param("p").Len(), GP64())
	frame := AllocLocal(blockSize * (rounds + 1))
	x := make([]VecVirtual, wide)
	for i := range x {
		x[i] = XMM()
	}
	counter := GP64()
	start := func(key Op) {
		for i := range x {
			block := GP64()
			LEAQ(Mem{Base: counter, Disp: i}, block)
			BSWAPQ(block)
			MOVQ(block, x[i])
			PSLLDQ(Imm(8), x[i])
			PXOR(key, x[i])
		}
		ADDQ(Imm(wide), counter)
	}
	round := func(i int, key Op) {
		switch i {
		case 0:
			start(key)
		case rounds:
			for j := range x {
				AESENCLAST(key, x[j])
				MOVUPS(x[j], Mem{Base: p, Disp: blockSize * j})
			}
			ADDQ(Imm(wide*blockSize), p)
			SUBQ(Imm(wide*blockSize), left)
		default:
			for j := range x {
				AESENC(key, x[j])
			}
		}
	}

	Comment("The first blocks, and the schedule.")
	XORQ(counter, counter)
	even, odd, rcon, mask := XMM(), XMM(), XMM(), XMM()
	MOVUPS(Mem{Base: p}, even)
	MOVUPS(Mem{Base: p, Disp: 16}, odd)
	MOVUPS(rotate, mask)
	MOVL(U32(1), counter.As32())
	MOVQ(counter, rcon)
	PSHUFD(U8(0), rcon, rcon)
	XORQ(counter, counter)
	for i := range rounds + 1 {
		key, other := even, odd
		if i%2 == 1 {
			key, other = odd, even
		}
		if i >= 2 {
			nextKey(i, key, other, mask, rcon)
		}
		MOVUPS(key, frame.Offset(blockSize*i))
		round(i, key)
	}

	Comment("The other blocks. There are some: left is not zero.")
	key := XMM()
	Label("stretchMore")
	for i := range rounds + 1 {
		MOVUPS(frame.Offset(blockSize*i), key)
		round(i, key)
	}
	JNZ(LabelRef("stretchMore"))

	Comment("The frame held secrets.")
	PXOR(key, key)
	for i := range rounds + 1 {
		MOVUPS(key, frame.Offset(blockSize*i))
	}
	RET()
}

// nextKey replaces round key i-2 of AES-256, in key, by round key i. other is round key i-1. After an
// even i rcon is that of the next. What SubWord is added to comes first, so that AESENCLAST adds it:
// the time of a key is that of a shuffle and of AESENCLAST.
func nextKey(i int, key, other, mask, rcon VecVirtual) {
	word := XMM()
	addBefore(key, 4)
	if i%2 == 0 {
		PXOR(rcon, key)
		if i < rounds {
			PSLLL(Imm(1), rcon)
		}
		MOVAPS(other, word)
		PSHUFB(mask, word)
	} else {
		PSHUFD(U8(0xff), other, word)
	}
	AESENCLAST(key, word)
	MOVAPS(word, key)
}

// stretchVAES generates stretchVAES: 32 blocks at a time, four to a vector. The schedule is
// in registers, with four copies of each round key.
func stretchVAES() {
	const vectors = stretchStep / 64
	rotate := sharedBytes("stretchRotates", 4, func(int) [16]byte { return rotateLast })
	swap := sharedBytes("stretchSwap", 4, func(int) [16]byte { return reversed })
	first := sharedBytes("stretchFirst", 4, func(i int) [16]byte { return [16]byte{byte(i)} })
	next := sharedBytes("stretchNext", 4, func(int) [16]byte { return [16]byte{4} })
	Implement("stretchVAES")
	Pragma("noescape")
	p := Load(Param("p").Base(), GP64())
	left := Load(Param("p").Len(), GP64())
	x := make([]VecVirtual, vectors)
	for i := range x {
		x[i] = ZMM()
	}
	var key [rounds + 1]VecVirtual
	counter, step, reverse := ZMM(), ZMM(), ZMM()
	round := func(i int) {
		for j := range x {
			switch i {
			case 0:
				VPSHUFB(reverse, counter, x[j])
				VPADDQ(step, counter, counter)
				VPXORQ(key[i], x[j], x[j])
			case rounds:
				VAESENCLAST(key[i], x[j], x[j])
				VMOVDQU64(x[j], Mem{Base: p, Disp: 64 * j})
			default:
				VAESENC(key[i], x[j], x[j])
			}
		}
		if i == rounds {
			ADDQ(U32(stretchStep), p)
			SUBQ(U32(stretchStep), left)
		}
	}

	Comment("The first blocks, and the schedule.")
	mask, rcon := ZMM(), ZMM()
	one := GP32()
	VMOVDQU64(first, counter)
	VMOVDQU64(next, step)
	VMOVDQU64(swap, reverse)
	VMOVDQU64(rotate, mask)
	MOVL(U32(1), one)
	VPBROADCASTD(one, rcon)
	for i := range key {
		key[i] = ZMM()
		if i < 2 {
			VBROADCASTI32X4(Mem{Base: p, Disp: blockSize * i}, key[i])
		} else {
			nextKeys(i, key[:], mask, rcon)
		}
		round(i)
	}
	JZ(LabelRef("stretchDone"))

	Comment("The other blocks.")
	Label("stretchMoreVAES")
	for i := range key {
		round(i)
	}
	JNZ(LabelRef("stretchMoreVAES"))
	Label("stretchDone")
	VZEROUPPER()
	RET()
}

// stretchVAES256 generates stretchVAES256: 16 blocks at a time, two to a vector. The schedule is in
// the frame, as in stretchAESNI.
func stretchVAES256() {
	const vectors = 8
	rotate := sharedBytes("stretchRotate256", 2, func(int) [16]byte { return rotateLast })
	swap := sharedBytes("stretchSwap256", 2, func(int) [16]byte { return reversed })
	first := sharedBytes("stretchFirst256", 2*vectors, func(i int) [16]byte { return [16]byte{15: byte(i)} })
	next := sharedBytes("stretchNext256", 2, func(int) [16]byte { return [16]byte{2 * vectors} })
	one := sharedBytes("stretchOne256", 2, func(int) [16]byte { return [16]byte{0: 1, 4: 1, 8: 1, 12: 1} })
	Implement("stretchVAES256")
	Pragma("noescape")
	p := Load(Param("p").Base(), GP64())
	left := Load(Param("p").Len(), GP64())
	frame := AllocLocal((blockSize*(rounds+1) + 31) / 32 * 32)
	x := make([]VecVirtual, vectors)
	for i := range x {
		x[i] = YMM()
	}
	// The counters of a run are start, a multiple of 16, and 0 to 15.
	round := func(i int, key, start VecVirtual) {
		for j := range x {
			switch i {
			case 0:
				VPXOR(first.Offset(32*j), start, x[j])
			case rounds:
				VAESENCLAST(key, x[j], x[j])
				VMOVDQU(x[j], Mem{Base: p, Disp: 32 * j})
			default:
				VAESENC(key, x[j], x[j])
			}
		}
		if i == rounds {
			ADDQ(U32(32*vectors), p)
			SUBQ(U32(32*vectors), left)
		}
	}

	Comment("The first blocks, and the schedule.")
	rcon := YMM()
	VMOVDQU(one, rcon)
	var keys [rounds + 1]VecVirtual
	for i := range keys {
		keys[i] = YMM()
		if i < 2 {
			VBROADCASTI128(Mem{Base: p, Disp: blockSize * i}, keys[i])
		} else {
			nextKeys(i, keys[:], rotate, rcon)
		}
		VMOVDQU(keys[i].AsX(), frame.Offset(blockSize*i))
		round(i, keys[i], keys[0])
	}

	Comment("The other blocks. There are some: left is not zero.")
	key, counter, start := YMM(), YMM(), YMM()
	VMOVDQU(next, counter)
	Label("stretchMore256")
	for i := range keys {
		VBROADCASTI128(frame.Offset(blockSize*i), key)
		if i == 0 {
			VPSHUFB(swap, counter, start)
			VPXOR(key, start, start)
			VPADDQ(next, counter, counter)
		}
		round(i, key, start)
	}
	JNZ(LabelRef("stretchMore256"))

	Comment("The frame held secrets.")
	VPXOR(key, key, key)
	for at := 0; at < blockSize*(rounds+1); at += 32 {
		VMOVDQU(key, frame.Offset(at))
	}
	VZEROUPPER()
	RET()
}

// nextKeys is nextKey for a copy of each round key in each lane of a vector. It sets key[i].
func nextKeys(i int, key []VecVirtual, mask Op, rcon VecVirtual) {
	vector, xor := YMM, VPXOR
	if key[i].Size() == 64 {
		vector, xor = ZMM, func(x, y, sum Op) { VPXORQ(x, y, sum) }
	}
	sum, word := vector(), vector()
	Comment("Each word is the sum of it and those before it, and of SubWord.")
	VPSLLDQ(U8(4), key[i-2], sum)
	xor(key[i-2], sum, sum)
	VPSLLDQ(U8(8), sum, word)
	xor(word, sum, sum)
	if i%2 == 0 {
		xor(rcon, sum, sum)
		if i < rounds {
			VPSLLD(U8(1), rcon, rcon)
		}
		VPSHUFB(mask, key[i-1], word)
	} else {
		VPSHUFD(U8(0xff), key[i-1], word)
	}
	VAESENCLAST(sum, word, key[i])
}

// rotateLast is for PSHUFB: four copies of RotWord of the last word.
var rotateLast = [16]byte{13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12}

// reversed is for PSHUFB: the bytes in reverse order.
var reversed = [16]byte{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}

// sharedBytes declares a constant of n times 16 bytes.
func sharedBytes(name string, n int, bytes func(i int) [16]byte) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range n {
		for j, b := range bytes(i) {
			DATA(16*i+j, U8(b))
		}
	}
	return m
}
