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

// These kernels are KDF, RFC 4418 section 3.2, for the L1 key. Its blocks are in turn low
// and high halves of the key, whose words are the values of their bytes in big-endian order.

const l1Blocks = 67

// deriveL1AESNI generates deriveL1AESNI, eight blocks at a time.
func deriveL1AESNI() {
	const wide = 8
	Implement("deriveL1AESNI")
	Pragma("noescape")
	k := Dereference(Param("k"))
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())
	lo, hi := GP64(), GP64()
	LEAQ(field(k.Field("lo").Index(0)), lo)
	LEAQ(field(k.Field("hi").Index(0)), hi)
	counter, step, swap, roundKey := XMM(), XMM(), XMM(), XMM()
	MOVUPS(kdfFirst, counter)
	MOVUPS(kdfNext, step)
	MOVUPS(swap32, swap)
	blocks := func(n int) {
		key, left := GP64(), GP64()
		MOVUPS(Mem{Base: enc}, roundKey)
		x := make([]VecVirtual, n)
		for i := range x {
			x[i] = XMM()
			MOVAPS(counter, x[i])
			PADDQ(step, counter)
			PXOR(roundKey, x[i])
		}
		MOVQ(enc, key)
		MOVQ(rounds, left)
		DECQ(left)
		round := label("round")
		Label(round)
		ADDQ(Imm(16), key)
		MOVUPS(Mem{Base: key}, roundKey)
		for i := range x {
			AESENC(roundKey, x[i])
		}
		DECQ(left)
		JG(LabelRef(round))
		MOVUPS(Mem{Base: key, Disp: 16}, roundKey)
		for i := range x {
			AESENCLAST(roundKey, x[i])
			PSHUFB(swap, x[i])
			half := []Register{lo, hi}[i%2]
			MOVUPS(x[i], Mem{Base: half, Disp: halfSize * (i / 2)})
		}
	}
	runs := GP64()
	MOVQ(I32(l1Blocks/wide), runs)
	Label("derive")
	blocks(wide)
	ADDQ(Imm(wide*halfSize/2), lo)
	ADDQ(Imm(wide*halfSize/2), hi)
	DECQ(runs)
	JNZ(LabelRef("derive"))
	blocks(l1Blocks % wide)
	RET()
}

// deriveL1VAES generates deriveL1VAES, all blocks side by side.
func deriveL1VAES() {
	const vectors = (l1Blocks + 3) / 4 // the last block is not needed
	Implement("deriveL1VAES")
	Pragma("noescape")
	k := Dereference(Param("k"))
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())

	Comment("The index and the counter of each block, big-endian.")
	x := make([]VecVirtual, vectors)
	step, roundKey := ZMM(), ZMM()
	VBROADCASTI32X4(kdfStep, step)
	for i := range x {
		x[i] = ZMM()
		if i == 0 {
			VMOVDQU64(kdfFirst, x[i])
		} else {
			VPADDQ(step, x[i-1], x[i])
		}
	}
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for i := range x {
		VPXORQ(roundKey, x[i], x[i])
	}
	round := label("round")
	DECQ(rounds)
	Label(round)
	ADDQ(Imm(16), enc)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for i := range x {
		VAESENC(roundKey, x[i], x[i])
	}
	DECQ(rounds)
	JG(LabelRef(round))
	VBROADCASTI32X4(Mem{Base: enc, Disp: 16}, roundKey)
	swap := ZMM()
	VBROADCASTI32X4(swap32, swap)
	for i := range x {
		VAESENCLAST(roundKey, x[i], x[i])
		VPSHUFB(swap, x[i], x[i])
	}
	Comment("Blocks in turn for the low and the high halves.")
	lo, hi := field(k.Field("lo").Index(0)), field(k.Field("hi").Index(0))
	t := ZMM()
	for i := 0; i+1 < vectors; i += 2 {
		VSHUFI64X2(U8(0x88), x[i+1], x[i], t)
		VMOVDQU64(t, lo.Offset(32*i))
		VSHUFI64X2(U8(0xdd), x[i+1], x[i], t)
		VMOVDQU64(t, hi.Offset(32*i))
	}
	last := x[vectors-1]
	VMOVDQU64(last.AsX(), lo.Offset(512))
	VEXTRACTI32X4(U8(1), last, hi.Offset(512))
	VEXTRACTI32X4(U8(2), last, lo.Offset(528))
	VZEROUPPER()
	RET()
}

// deriveL1VAES256 generates deriveL1VAES256, up to twelve vectors at a time: as many as there are
// registers for. A vector has a block for each half.
func deriveL1VAES256() {
	const vectors = (l1Blocks + 1) / 2 // the last block is not needed
	const wide = 12
	Implement("deriveL1VAES256")
	Pragma("noescape")
	k := Dereference(Param("k"))
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())
	lo, hi := GP64(), GP64()
	LEAQ(field(k.Field("lo").Index(0)), lo)
	LEAQ(field(k.Field("hi").Index(0)), hi)
	counter, step, swap, roundKey := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(kdfFirst, counter)
	VBROADCASTI128(kdfNext, step)
	VPADDQ(step, step, step)
	VBROADCASTI128(swap32, swap)
	DECQ(rounds)
	blocks := func(n int, last bool) {
		key, left := GP64(), GP64()
		VBROADCASTI128(Mem{Base: enc}, roundKey)
		x := make([]VecVirtual, n)
		for i := range x {
			x[i] = YMM()
			VPXOR(roundKey, counter, x[i])
			VPADDQ(step, counter, counter)
		}
		MOVQ(enc, key)
		MOVQ(rounds, left)
		round := label("round")
		Label(round)
		ADDQ(Imm(16), key)
		VBROADCASTI128(Mem{Base: key}, roundKey)
		for i := range x {
			VAESENC(roundKey, x[i], x[i])
		}
		DECQ(left)
		JG(LabelRef(round))
		VBROADCASTI128(Mem{Base: key, Disp: 16}, roundKey)
		for i := range x {
			VAESENCLAST(roundKey, x[i], x[i])
			VPSHUFB(swap, x[i], x[i])
			VMOVDQU(x[i].AsX(), Mem{Base: lo, Disp: halfSize * i})
			if !last || i+1 < n {
				VEXTRACTI128(U8(1), x[i], Mem{Base: hi, Disp: halfSize * i})
			}
		}
	}
	runs := GP64()
	MOVQ(I32(vectors/wide), runs)
	Label("derive256")
	blocks(wide, false)
	ADDQ(U32(wide*halfSize), lo)
	ADDQ(U32(wide*halfSize), hi)
	DECQ(runs)
	JNZ(LabelRef("derive256"))
	blocks(vectors%wide, true)
	VZEROUPPER()
	RET()
}

// kdfFirst has the inputs for the first blocks, an index and a number each. kdfNext and
// kdfStep go to the next block, and to the next vector of four.
var kdfFirst, kdfNext, kdfStep Mem

func kdfConstants() {
	kdfFirst = GLOBL("kdfFirst", attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(16*i, U64(1<<56)) // the index of the L1 key
		DATA(16*i+8, U64(uint64(i+1)<<56))
	}
	kdfNext = GLOBL("kdfNext", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(1<<56))
	kdfStep = GLOBL("kdfStep", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(4<<56))
}
