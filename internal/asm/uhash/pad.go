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

const nonceLanes = 8 // nonces in a call

// padEach generates padEachVAES: PDF, RFC 4418 section 3.3.1, for nonces side by side.
func padEach() {
	Implement("padEachVAES")
	Pragma("noescape")
	k := Dereference(Param("k"))
	batch, count := Load(Param("batch").Base(), GP64()), Load(Param("batch").Len(), GP64())
	clear, parts, partBits, partMask, masks := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(k.Field("partBits"), partBits)
	Comment("0, 1 or 2 bits: a mask of 0, 1 or 3.")
	MOVQ(partBits, partMask)
	SHRQ(Imm(1), partMask)
	ADDQ(partBits, partMask)
	LEAQ(nonceMasks, masks)
	Comment("The rows of lastBits and partBytes.")
	SHLQ(Imm(5), partBits)
	LEAQ(lastBits.Offset(16), clear)
	ADDQ(partBits, clear)
	first := GP64()
	Load(k.Field("firstPart"), first)
	SHLQ(Imm(4), first)
	LEAQ(NewDataAddr(Symbol{Name: "·partBytes"}, 0), parts)
	ADDQ(first, parts)

	encrypt := label("encrypt")
	x, chosen := make([]VecVirtual, nonceLanes), make([]VecVirtual, nonceLanes)
	for i := range x {
		x[i], chosen[i] = XMM(), XMM()
		if i > 0 {
			VPXOR(x[i], x[i], x[i])
			VPXOR(chosen[i], chosen[i], chosen[i])
		}
	}
	for i := range x {
		p, length, part, present := GP64(), GP64(), GP64(), K()
		MOVQ(Mem{Base: batch, Disp: messageSize * i}, p)
		MOVQ(Mem{Base: batch, Disp: messageSize*i + 8}, length)
		KMOVW(Mem{Base: masks, Index: length, Scale: 2}, present)
		VMOVDQU8_Z(Mem{Base: p}, present, x[i])
		MOVBLZX(Mem{Base: p, Index: length, Scale: 1, Disp: -1}, part.As32())
		ANDL(partMask.As32(), part.As32())
		SHLL(Imm(4), part.As32())
		VMOVDQU(Mem{Base: parts, Index: part, Scale: 1}, chosen[i])
		NEGQ(length)
		VPAND(Mem{Base: clear, Index: length, Scale: 1}, x[i], x[i])
		if i+1 < len(x) {
			CMPQ(count, Imm(uint64(i+1)))
			JEQ(LabelRef(encrypt))
		}
	}
	Label(encrypt)
	join := func(x []VecVirtual) VecVirtual {
		VINSERTI32X4(U8(1), x[1], x[0].AsY(), x[0].AsY())
		VINSERTI32X4(U8(1), x[3], x[2].AsY(), x[2].AsY())
		VINSERTI64X4(U8(1), x[2].AsY(), x[0].AsZ(), x[0].AsZ())
		return x[0].AsZ().(VecVirtual)
	}
	blocks := []VecVirtual{join(x[:4]), join(x[4:])}
	bytes := []VecVirtual{join(chosen[:4]), join(chosen[4:])}
	enc, rounds, roundKey := GP64(), GP64(), ZMM()
	LEAQ(field(k.Field("aes").Field("schedule").Index(0)), enc)
	Load(k.Field("aes").Field("rounds"), rounds)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VPXORQ(roundKey, b, b)
	}
	DECQ(rounds)
	round := label("round")
	Label(round)
	ADDQ(Imm(16), enc)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VAESENC(roundKey, b, b)
	}
	DECQ(rounds)
	JNZ(LabelRef(round))
	VBROADCASTI32X4(Mem{Base: enc, Disp: 16}, roundKey)
	pads := Load(Param("tags"), GP64())
	for i, b := range blocks {
		VAESENCLAST(roundKey, b, b)
		VPSHUFB(bytes[i], b, b)
		VMOVDQU64(b, Mem{Base: pads, Disp: vectorSize * i})
	}
	VZEROUPPER()
	RET()
}

// lastBits has 32 bytes for each padKey.partBits. All bits are ones, except the lowest
// partBits ones of the byte before the middle.
//
// nonceMasks has a mask for each size of a nonce.
var lastBits, nonceMasks Mem

func padConstants() {
	nonceMasks = GLOBL("nonceMasks", attr.RODATA|attr.NOPTR)
	for size := range 17 {
		DATA(2*size, U16(1<<size-1))
	}
	lastBits = GLOBL("lastBits", attr.RODATA|attr.NOPTR)
	for partBits := range 3 {
		DATA(32*partBits, U64(1<<64-1))
		DATA(32*partBits+8, U64(uint64(1<<64-1)<<(56+partBits)|(1<<56-1)))
		DATA(32*partBits+16, U64(1<<64-1))
		DATA(32*partBits+24, U64(1<<64-1))
	}
}
