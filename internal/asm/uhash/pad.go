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

const nonceLanes = 8 // nonces in a call

// padParts returns the bits of a nonce that select a part of its block, and the rows of lastBits and
// partBytes for an aesKey.
func padParts(k gotypes.Component) (partMask, clear, parts GPVirtual) {
	partBits, first := GP64(), GP64()
	partMask, clear, parts = GP64(), GP64(), GP64()
	Load(k.Field("padParts").Field("partBits"), partBits)
	Comment("0, 1 or 2 bits: a mask of 0, 1 or 3.")
	MOVQ(partBits, partMask)
	SHRQ(Imm(1), partMask)
	ADDQ(partBits, partMask)
	Comment("The rows of lastBits and partBytes.")
	SHLQ(Imm(5), partBits)
	LEAQ(lastBits.Offset(16), clear)
	ADDQ(partBits, clear)
	Load(k.Field("padParts").Field("firstPart"), first)
	SHLQ(Imm(4), first)
	LEAQ(NewDataAddr(Symbol{Name: "·partBytes"}, 0), parts)
	ADDQ(first, parts)
	return partMask, clear, parts
}

// padEachVAES256 generates padEachVAES256: PDF, RFC 4418 section 3.3.1, for nonces side by side, two
// to a vector. There are no masks: a nonce is loaded in parts, its first and its last bytes, which
// may overlap, and a shuffle joins them.
func padEachVAES256() {
	Implement("padEachVAES256")
	Pragma("noescape")
	k := Dereference(Param("k"))
	batch, count := Load(Param("batch").Base(), GP64()), Load(Param("batch").Len(), GP64())
	partMask, clear, parts := padParts(k)
	joins := GP64()
	LEAQ(nonceJoins, joins)

	encrypt := label("encrypt")
	blocks, bytes := make([]VecVirtual, nonceLanes/2), make([]VecVirtual, nonceLanes/2)
	for i := range blocks {
		blocks[i], bytes[i] = YMM(), YMM()
		if i > 0 {
			VPXOR(blocks[i], blocks[i], blocks[i])
			VPXOR(bytes[i], bytes[i], bytes[i])
		}
	}
	var short []func() // follows the code for nonces of 8 bytes and more
	for i := range nonceLanes {
		p, length, part, row := GP64(), GP64(), GP64(), GP64()
		block, chosen := blocks[i/2], bytes[i/2]
		x := XMM()
		below8, below4, join := label("below8"), label("below4"), label("join")
		MOVQ(Mem{Base: batch, Disp: messageSize * i}, p)
		MOVQ(Mem{Base: batch, Disp: messageSize*i + 8}, length)
		last := func(n int) Mem { return Mem{Base: p, Index: length, Scale: 1, Disp: -n} }
		CMPQ(length, Imm(8))
		JLT(LabelRef(below8))
		VMOVQ(Mem{Base: p}, x)
		VPINSRQ(U8(1), last(8), x, x)
		short = append(short, func() {
			Label(below8)
			CMPQ(length, Imm(4))
			JLT(LabelRef(below4))
			y := XMM()
			VMOVD(Mem{Base: p}, x)
			VMOVD(last(4), y)
			VPUNPCKLDQ(y, x, x)
			JMP(LabelRef(join))
			Label(below4)
			Comment("The first byte, that in the middle and the last.")
			low, middle, high := GP64(), GP64(), GP64()
			MOVQ(length, middle)
			SHRQ(Imm(1), middle)
			MOVBQZX(Mem{Base: p}, low)
			MOVBQZX(Mem{Base: p, Index: middle, Scale: 1}, middle)
			MOVBQZX(last(1), high)
			SHLQ(Imm(8), middle)
			SHLQ(Imm(16), high)
			ORQ(middle, low)
			ORQ(high, low)
			VMOVQ(low, x)
			JMP(LabelRef(join))
		})
		Label(join)
		MOVQ(length, row)
		SHLQ(Imm(4), row)
		VPSHUFB(Mem{Base: joins, Index: row, Scale: 1}, x, x)
		MOVBLZX(last(1), part.As32())
		ANDL(partMask.As32(), part.As32())
		SHLL(Imm(4), part.As32())
		NEGQ(length)
		chosenRow, bits := Mem{Base: parts, Index: part, Scale: 1}, Mem{Base: clear, Index: length, Scale: 1}
		if i%2 == 0 {
			VPAND(bits, x, block.AsX())
			VMOVDQU(chosenRow, chosen.AsX())
		} else {
			VPAND(bits, x, x)
			VINSERTI128(U8(1), x, block, block)
			VINSERTI128(U8(1), chosenRow, chosen, chosen)
		}
		if i+1 < nonceLanes {
			CMPQ(count, Imm(uint64(i+1)))
			JEQ(LabelRef(encrypt))
		}
	}
	Label(encrypt)
	enc, rounds, roundKey := GP64(), GP64(), YMM()
	LEAQ(field(k.Field("schedule").Index(0)), enc)
	MOVBLZX(field(k.Field("rounds")), rounds.As32())
	VBROADCASTI128(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VPXOR(roundKey, b, b)
	}
	DECQ(rounds)
	round := label("round")
	Label(round)
	ADDQ(Imm(16), enc)
	VBROADCASTI128(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VAESENC(roundKey, b, b)
	}
	DECQ(rounds)
	JG(LabelRef(round))
	VBROADCASTI128(Mem{Base: enc, Disp: 16}, roundKey)
	pads := Load(Param("tags"), GP64())
	for i, b := range blocks {
		VAESENCLAST(roundKey, b, b)
		VPSHUFB(bytes[i], b, b)
		VMOVDQU(b, Mem{Base: pads, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
	for _, code := range short {
		code()
	}
}

// padEachVAES generates padEachVAES, which is padEachVAES256 with four nonces to a vector. It loads
// a nonce with a mask.
func padEachVAES() {
	Implement("padEachVAES")
	Pragma("noescape")
	k := Dereference(Param("k"))
	batch, count := Load(Param("batch").Base(), GP64()), Load(Param("batch").Len(), GP64())
	partMask, clear, parts := padParts(k)
	masks := GP64()
	LEAQ(nonceMasks, masks)

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
	LEAQ(field(k.Field("schedule").Index(0)), enc)
	MOVBLZX(field(k.Field("rounds")), rounds.As32())
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
	JG(LabelRef(round))
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

// lastBits has 32 bytes for each padParts.partBits. All bits are ones, except the lowest
// partBits ones of the byte before the middle.
//
// nonceMasks has a mask for each size of a nonce, and nonceJoins the places of its bytes among
// those that are loaded: the first and the last 8, those 4, or the first, that in the middle and
// the last.
var lastBits, nonceMasks, nonceJoins Mem

func padConstants() {
	nonceJoins = GLOBL("nonceJoins", attr.RODATA|attr.NOPTR)
	for size := range 17 {
		half := 8
		if size < 8 {
			half = 4
		}
		for i := range 16 {
			from := 0x80 // a zero
			switch {
			case i < size && (i < half || size < 4):
				from = i
			case i < size:
				from = 2*half - size + i
			}
			DATA(16*size+i, U8(uint8(from)))
		}
	}
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
