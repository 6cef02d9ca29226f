// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Each of the 16 lanes is one message. Word i of the state of all lanes is a row: what SHA-256 does
// with a word, this function does with a row.
//
// The first block of some lanes is that of an outer hash. The chaining value before is the inner
// hash, whose rows are the first words of that block as they are.

const maxLanes = 16

// lanes256 generates lanesAVX512.
func lanes256() {
	begin("lanes256AVX512")
	p, at := Load(Param("p"), GP64()), GP64() // at is the offset of the next blocks in the messages
	blocks, k := Load(Param("blocks"), GP64()), Load(Param("k"), GP64())
	state := Dereference(Param("state"))
	row := func(field string, i int) Mem { return address(state.Field(field).Index(i).Index(0)) }
	var v, w []VecVirtual // the variables a to h, and the last 16 words of the message schedule
	for i := range 8 {
		v = append(v, ZMM())
		VMOVDQU32(row("state", i), v[i])
	}
	for range 16 {
		w = append(w, ZMM())
	}
	XORL(at.As32(), at.As32())
	mask := K()

	initial := Load(Param("initial"), GP64())
	TESTQ(initial, initial)
	JZ(LabelRef("begun"))
	KMOVW(initial.(GPVirtual).As32(), mask)
	for i := range v {
		VPBROADCASTD(address(state.Field("initial").Index(i)), mask, v[i])
		VMOVDQU32(v[i], row("state", i))
	}
	Label("begun")
	outer := Load(Param("outer"), GP64())

	Label("block")
	CMPQ(outer, U32(1<<maxLanes-1))
	JE(LabelRef("outer"))
	Comment("Words, big-endian, from columns to rows.")
	swap := ZMM()
	VBROADCASTI32X4(swap32, swap)
	columns := w
	for i := range columns {
		message := GP64()
		MOVQ(Mem{Base: p, Disp: 8 * i}, message)
		VMOVDQU32(Mem{Base: message, Index: at, Scale: 1}, columns[i])
		VPSHUFB(swap, columns[i], columns[i])
	}
	w = transpose(columns)
	TESTQ(outer, outer)
	JZ(LabelRef("loaded"))
	Label("outer")
	KMOVW(outer.(GPVirtual).As32(), mask)
	for i := range v {
		VMOVDQA32(v[i], mask, w[i])
		VPBROADCASTD(outerPadding.Offset(wordSize*i), mask, w[i+8])
		VMOVDQU32(row("outer", i), mask, v[i])
		VMOVDQU32(v[i], row("state", i))
	}
	Label("loaded")
	left := GP64()
	MOVQ(U32(rounds/16-1), left)
	align()
	Label("rounds")
	for i := range 16 {
		round(v, i, w[i], k)
		schedule(w, i)
	}
	ADDQ(U32(blockSize), k)
	DECQ(left)
	JNZ(LabelRef("rounds"))
	for i := range 16 {
		round(v, i, w[i], k)
	}
	SUBQ(U32((rounds/16-1)*blockSize), k)
	for i := range v {
		VPADDD(row("state", i), v[i], v[i])
		VMOVDQU32(v[i], row("state", i))
	}
	ADDQ(U32(blockSize), at)
	DECQ(blocks)
	JNZ(LabelRef("block"))

	TESTQ(outer, outer)
	JZ(LabelRef("wipe"))
	Comment("The hashes, from rows to columns.")
	VBROADCASTI32X4(swap32, swap)
	for half := range 2 {
		x := v[4*half:][:4]
		transposeQuarters(x)
		for i, x := range x { // part j has words of lane 4*j+i
			VPSHUFB(swap, x, x)
			for j := range 4 {
				VEXTRACTI32X4(U8(j), x, address(state.Field("hashes").Index(32*(4*j+i)+16*half)))
			}
		}
	}
	Label("wipe")
	VZEROUPPER()
	RET()
}

// align puts the loop that follows at the start of a cache line.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// transpose returns the rows of sixteen columns, in their registers.
func transpose(x []VecVirtual) []VecVirtual {
	for i := 0; i < 16; i += 4 {
		transposeQuarters(x[i:][:4])
	}
	rows := make([]VecVirtual, 16)
	for i := range 4 { // part j of x[4*l+i] has word 4*j+i of lanes 4*l to 4*l+3
		a, b, c, d := x[i], x[i+4], x[i+8], x[i+12]
		split(&a, &b)
		split(&c, &d)
		split(&a, &c) // now words i and 8+i
		split(&b, &d)
		rows[i], rows[i+4], rows[i+8], rows[i+12] = a, b, c, d
	}
	return rows
}

// split sets x to the even quarters of x and y, and y to the odd ones.
func split(x, y *VecVirtual) {
	even := ZMM()
	VSHUFI32X4(U8(0x88), *y, *x, even)
	VSHUFI32X4(U8(0xdd), *y, *x, *y)
	*x = even
}

// transposeQuarters transposes each quarter of four vectors, four columns of four words.
func transposeQuarters(x []VecVirtual) {
	low01, low23 := ZMM(), ZMM()
	VPUNPCKLDQ(x[1], x[0], low01)
	VPUNPCKHDQ(x[1], x[0], x[1])
	VPUNPCKLDQ(x[3], x[2], low23)
	VPUNPCKHDQ(x[3], x[2], x[3])
	high01, high23 := x[1], x[3]
	x[0], x[1] = ZMM(), low23
	VPUNPCKLQDQ(low23, low01, x[0])
	VPUNPCKHQDQ(low23, low01, x[1])
	x[2], x[3] = low01, high23
	VPUNPCKLQDQ(high23, high01, x[2])
	VPUNPCKHQDQ(high23, high01, x[3])
}

// round is a round, FIPS 180-4 section 6.2.2 step 3, with constant i at k. It renames the
// variables instead of moving them.
func round(v []VecVirtual, i int, w VecVirtual, k Register) {
	Commentf("Round %d of 16.", i)
	name := func(n int) VecVirtual { return v[(n-i+16)%8] }
	a, b, c, d, e, f, g, h := name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)
	kw, ch, maj := ZMM(), ZMM(), ZMM()
	VPADDD_BCST(Mem{Base: k, Disp: wordSize * i}, w, kw)
	VPADDD(kw, h, h)
	VMOVDQA32(e, ch)
	VPTERNLOGD(U8(0xca), g, f, ch)
	VPADDD(ch, h, h)
	VPADDD(sum(VPRORD, e, 6, 11, 25), h, h)
	VPADDD(h, d, d)
	VMOVDQA32(a, maj)
	VPTERNLOGD(U8(0xe8), c, b, maj)
	VPADDD(maj, h, h)
	VPADDD(sum(VPRORD, a, 2, 13, 22), h, h)
}

// schedule advances w[i] by sixteen words.
func schedule(w []VecVirtual, i int) {
	VPADDD(w[(i+9)%16], w[i], w[i])
	VPADDD(sum(VPSRLD, w[(i+1)%16], 7, 18, 3), w[i], w[i])
	VPADDD(sum(VPSRLD, w[(i+14)%16], 17, 19, 10), w[i], w[i])
}

// sum returns the xor of x rotated by i and by j, and rotated or shifted by n.
func sum(last func(...Op), x VecVirtual, i, j, n uint8) VecVirtual {
	y, z, t := ZMM(), ZMM(), ZMM()
	VPRORD(U8(i), x, y)
	VPRORD(U8(j), x, z)
	last(U8(n), x, t)
	VPTERNLOGD(U8(0x96), t, z, y)
	return y
}
