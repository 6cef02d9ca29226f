// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/sha2"
)

// Each lane is one message. Word i of the state of all lanes is a row of eight: what
// SHA-512 does with a word, these functions do with a row.
//
// The first block of some lanes is that of an outer hash. The chaining value before is the inner
// hash, whose rows are the first words of that block as they are.

const rowSize = 8 * wordSize

// lanes are what the functions share.
type lanes struct {
	state       gotypes.Component // the fields of Lanes
	messages    []GPVirtual
	at          GPVirtual    // offset of the next blocks in the messages
	blocks, key Register     // key points to the round constants
	outer       GPVirtual    // the lanes that have an outer hash
	v           []VecVirtual // the working variables a to h
}

// newLanes begins a function of n lanes.
func newLanes(name string, n int, vector func() VecVirtual) *lanes {
	Implement(name)
	Pragma("noescape")
	l := &lanes{state: Dereference(Param("state")), blocks: Load(Param("blocks"), GP64()), key: Load(Param("k"), GP64()), at: GP64(), outer: GP64()}
	p := Dereference(Param("p"))
	for i := range n {
		l.messages = append(l.messages, GP64())
		Load(p.Index(i), l.messages[i])
	}
	for range 8 {
		l.v = append(l.v, vector())
	}
	XORL(l.at.As32(), l.at.As32())
	return l
}

// row returns a row of a field of Lanes.
func (l *lanes) row(field string, i int) Mem { return address(l.state.Field(field).Index(i).Index(0)) }

// initial returns a word of the initial value.
func (l *lanes) initial(i int) Mem { return address(l.state.Field("initial").Index(i)) }

// hash returns the hash of a lane.
func (l *lanes) hash(lane int) Mem { return address(l.state.Field("hashes").Index(lane * hashSize)) }

// align puts the loop that follows at the start of a cache line. Elsewhere it is up to
// 4 % slower.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// lanes512 generates lanes512AVX512: blocks of eight messages in 512-bit registers.
func lanes512() {
	l := newLanes("lanes512AVX512", 8, ZMM)
	v := l.v
	w, t := vectors(16), vectors(8) // w is the words of the message schedule in use
	mask := K()
	// choose sets words in the lanes of the mask.
	choose := func(from, words VecVirtual) {
		VPXORQ(words, words, mask, words)
		VPXORQ(from, words, mask, words)
	}

	for i := range v {
		VMOVDQU64(l.row("state", i), v[i])
	}
	initial := Load(Param("initial"), GP64())
	TESTQ(initial, initial)
	JZ(LabelRef("begun512"))
	KMOVW(initial.(GPVirtual).As32(), mask)
	for i := range v {
		VPBROADCASTQ(l.initial(i), t[0])
		choose(t[0], v[i])
		VMOVDQU64(v[i], l.row("state", i))
	}
	Label("begun512")
	Load(Param("outer"), l.outer)

	Label("block512")
	CMPQ(l.outer, U32(1<<8-1))
	JE(LabelRef("outer512"))
	words, temporary := w, t
	load := func(half int, x, rows []VecVirtual) {
		Comment("Words, big-endian, from columns to rows.")
		VBROADCASTI32X4(swap64, rows[0])
		for i, m := range l.messages {
			VMOVDQU64(Mem{Base: m, Index: l.at, Scale: 1, Disp: 64 * half}, x[i])
			VPSHUFB(rows[0], x[i], x[i])
		}
		transpose(x, rows)
	}
	load(0, w[:8], w[8:])
	load(1, w[:8], t)
	w, t = append(words[8:16:16], temporary...), words[:8]
	TESTQ(l.outer, l.outer)
	JZ(LabelRef("loaded512"))
	Label("outer512")
	KMOVW(l.outer.As32(), mask)
	for i := range v {
		choose(v[i], w[i])
		VPBROADCASTQ(outerPadding.Offset(wordSize*i), t[0])
		choose(t[0], w[i+8])
		VMOVDQU64(l.row("outer", i), t[0])
		choose(t[0], v[i])
		VMOVDQU64(v[i], l.row("state", i))
	}
	Label("loaded512")
	rounds512(v, w, l.key, t)
	for i := range v {
		VPADDQ(l.row("state", i), v[i], v[i])
		VMOVDQU64(v[i], l.row("state", i))
	}
	ADDQ(I32(blockSize), l.at)
	DECQ(l.blocks)
	JNZ(LabelRef("block512"))

	TESTQ(l.outer, l.outer)
	JZ(LabelRef("wipe512"))
	Comment("The hashes, from rows to columns.")
	transpose(v, w[:8])
	VBROADCASTI32X4(swap64, t[0])
	for i := range 8 {
		VPSHUFB(t[0], w[i], w[i])
		VMOVDQU64(w[i], l.hash(i))
	}
	Label("wipe512")
	VZEROUPPER()
	RET()
}

// vectors returns n vectors of 512 bits.
func vectors(n int) (v []VecVirtual) {
	for range n {
		v = append(v, ZMM())
	}
	return v
}

// rounds512 is all rounds of a block, whose words it overwrites. Then key is what it was.
func rounds512(v, w []VecVirtual, key Register, t []VecVirtual) {
	left := GP64()
	MOVQ(I32(4), left)
	align()
	Label("rounds512")
	for i := range 16 {
		round512(v, i, w[i], key, t)
		schedule512(w, i, t[4:])
	}
	ADDQ(Imm(16*8), key)
	DECQ(left)
	JNZ(LabelRef("rounds512"))
	for i := range 16 {
		round512(v, i, w[i], key, t)
	}
	SUBQ(I32(4*16*8), key)
}

// transpose sets rows to the rows of the eight columns x, which it overwrites.
func transpose(x, rows []VecVirtual) {
	for i := 0; i < 8; i += 2 {
		VPUNPCKLQDQ(x[i+1], x[i], rows[i]) // even words of two columns
		VPUNPCKHQDQ(x[i+1], x[i], rows[i+1])
	}
	for odd := range 2 {
		for i := 0; i < 8; i += 4 {
			VSHUFI64X2(U8(0x88), rows[i+odd+2], rows[i+odd], x[i+odd])   // words 0 and 4 of four columns
			VSHUFI64X2(U8(0xdd), rows[i+odd+2], rows[i+odd], x[i+odd+2]) // words 2 and 6
		}
	}
	for i := range 4 {
		VSHUFI64X2(U8(0x88), x[i+4], x[i], rows[i])
		VSHUFI64X2(U8(0xdd), x[i+4], x[i], rows[i+4])
	}
}

// round512 is a round, FIPS 180-4 section 6.4.2 step 3, with constant i at key. It
// renames the variables instead of moving them. The chain from round to round goes through e: its rotations
// come first, and the next a is made of the next e. See round in ../sha256/lanes.go.
func round512(v []VecVirtual, i int, w VecVirtual, key Register, t []VecVirtual) {
	Commentf("Round %d of 16.", i)
	name := func(n int) VecVirtual { return v[(n-i+16)%8] }
	a, b, c, d, e, f, g, h := name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)
	rotate512(VPRORQ, e, 14, 18, 41, t)
	VPADDQ_BCST(Mem{Base: key, Disp: 8 * i}, w, t[3])
	VPADDQ(t[3], h, h)
	VPADDQ(d, h, h)
	VMOVDQA64(e, t[3])
	VPTERNLOGQ(U8(0xca), g, f, t[3]) // Ch
	VPADDQ(t[3], h, h)
	xor512(t)
	VMOVDQA64(a, t[3])
	VPTERNLOGQ(U8(0xe8), c, b, t[3]) // Maj
	VPSUBQ(d, t[3], t[3])
	VPADDQ(t[0], h, d)
	rotate512(VPRORQ, a, 28, 34, 39, t)
	xor512(t)
	VPADDQ(d, t[3], h)
	VPADDQ(t[0], h, h)
}

// rotate512 sets t to x rotated by r0 and by r1, and rotated or shifted by n.
func rotate512(last func(...Op), x VecVirtual, r0, r1, n uint8, t []VecVirtual) {
	VPRORQ(U8(r0), x, t[0])
	VPRORQ(U8(r1), x, t[1])
	last(U8(n), x, t[2])
}

// xor512 sets t[0] to the xor of t[0], t[1] and t[2].
func xor512(t []VecVirtual) { VPTERNLOGQ(U8(0x96), t[2], t[1], t[0]) }

// schedule512 advances w[i] by sixteen words.
func schedule512(w []VecVirtual, i int, t []VecVirtual) {
	lower := func(x VecVirtual, r0, r1, shift uint8) {
		rotate512(VPSRLQ, x, r0, r1, shift, t)
		xor512(t)
		VPADDQ(t[0], w[i], w[i])
	}
	VPADDQ(w[(i+9)%16], w[i], w[i])
	lower(w[(i+1)%16], 1, 8, 7)
	lower(w[(i+14)%16], 19, 61, 6)
}

// lanes512AVX2 is for the first four lanes.
func lanes512AVX2(hash *sha2.Hash) {
	lanes := &sha2.Lanes{
		Hash: hash, Left: VPSLLQ, Right: VPSRLQ, Broadcast: VPBROADCASTQ, Equal: VPCMPEQQ,
		Sigmas:   [2][3]uint64{{1, 8, 7}, {19, 61, 6}},
		Shuffled: map[uint64]Mem{8: right8},
		Unpack:   [][2]func(...Op){{VPUNPCKLQDQ, VPUNPCKHQDQ}},
	}
	lanes.Generate("lanes512AVX2")
}
