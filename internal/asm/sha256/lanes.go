// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/sha2"
)

// Each of the 16 lanes is one message. Word i of the state of all lanes is a row: what SHA-256 does
// with a word, this function does with a row.
//
// The first block of some lanes is that of an outer hash. The chaining value before is the inner
// hash, whose rows are the first words of that block as they are.

const (
	maxLanes = 16
	rowSize  = maxLanes * wordSize
)

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
	JE(LabelRef("allOuter"))
	Comment("Words, big-endian, from columns to rows.")
	swap := ZMM()
	VBROADCASTI32X4(swap32, swap)
	// Whole lines of the cache: those of messages a multiple of 4 KiB apart share one set, which has fewer ways
	// than there are messages.
	for lane := range maxLanes {
		message := GP64()
		MOVQ(Mem{Base: p, Disp: 8 * lane}, message)
		VMOVDQU32(Mem{Base: message, Index: at, Scale: 1}, w[lane])
	}
	for _, x := range w {
		VPSHUFB(swap, x, x)
	}
	transpose(w)
	TESTQ(outer, outer)
	JZ(LabelRef("loaded"))
	KMOVW(outer.(GPVirtual).As32(), mask)
	for i := range v {
		VMOVDQA32(v[i], mask, w[i])
		VPBROADCASTD(outerPadding.Offset(wordSize*i), mask, w[i+8])
		VMOVDQU32(row("outer", i), mask, v[i])
		VMOVDQU32(v[i], row("state", i))
	}
	Label("loaded")
	left := GP64() // how often 16 rounds follow that make words
	MOVQ(U32(rounds/16-1), left)
	lastRounds(v, w, k, left)
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
		x := slices.Clone(v[4*half:][:4])
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

	Label("allOuter")
	for i := range v {
		VMOVDQA32(v[i], w[i])
		VMOVDQU32(row("outer", i), v[i])
		VMOVDQU32(v[i], row("state", i))
	}
	firstRounds(0, v, w, k)
	MOVQ(U32(rounds/16-2), left)
	JMP(LabelRef("rounds"))
}

// lanes256AVX2 is for the first eight lanes.
func lanes256AVX2(hash *sha2.Hash) {
	lanes := &sha2.Lanes{
		Hash: hash, Left: VPSLLD, Right: VPSRLD, Broadcast: VPBROADCASTD, Equal: VPCMPEQD,
		Sigmas: [2][3]uint64{{7, 18, 3}, {17, 19, 10}},
		Unpack: [][2]func(...Op){{VPUNPCKLDQ, VPUNPCKHDQ}, {VPUNPCKLQDQ, VPUNPCKHQDQ}},
	}
	lanes.Generate("lanes256AVX2")
}

// firstRounds is rounds from to 15 of a block whose last words are outerBlock.
func firstRounds(from int, v, w []VecVirtual, k Register) {
	Comment("The first 16 rounds, where half of the words are constants.")
	all := words(w)
	for i, n := range outerBlock {
		all[8+i].constant, all[8+i].n = true, n
	}
	for i := range all {
		if i >= from {
			round(v, i, all[i], k)
		}
		schedule(all, i)
	}
	ADDQ(U32(blockSize), k)
}

// lastRounds has the label rounds. It is 16 rounds that make words, as often as left says, and 16 that
// make none. Then k is what it was.
func lastRounds(v, w []VecVirtual, k, left Register) {
	align()
	Label("rounds")
	all := words(w)
	for i := range all {
		round(v, i, all[i], k)
		schedule(all, i)
	}
	ADDQ(U32(blockSize), k)
	DECQ(left)
	JNZ(LabelRef("rounds"))
	for i := range all {
		round(v, i, all[i], k)
	}
	SUBQ(U32((rounds/16-1)*blockSize), k)
}

// align puts the loop that follows at the start of a cache line.
func align() { Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}}) }

// transpose makes rows of 16 columns of 16 words.
func transpose(x []VecVirtual) {
	for i := 0; i < 16; i += 4 {
		transposeQuarters(x[i:][:4])
	}
	for r := range 4 { // quarter q of x[4*j+r] has word 4*q+r of columns 4*j to 4*j+3
		even, odd := [2]VecVirtual{}, [2]VecVirtual{} // the quarters q of two vectors
		for half := range even {
			low, high := x[8*half+r], x[8*half+4+r]
			even[half], odd[half] = ZMM(), low
			VSHUFI64X2(U8(0x88), high, low, even[half])
			VSHUFI64X2(U8(0xdd), high, low, odd[half])
		}
		for i, from := range [][2]VecVirtual{even, odd} {
			x[4*i+r], x[8+4*i+r] = ZMM(), from[0]
			VSHUFI64X2(U8(0x88), from[1], from[0], x[4*i+r])
			VSHUFI64X2(U8(0xdd), from[1], from[0], x[8+4*i+r])
		}
	}
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

// A word is one of all lanes: a row, or a number.
type word struct {
	row      VecVirtual // where schedule puts the next word, if this one is constant
	constant bool
	n        uint32
}

func words(rows []VecVirtual) (w []word) {
	for _, row := range rows {
		w = append(w, word{row: row})
	}
	return w
}

// round is a round, FIPS 180-4 section 6.2.2 step 3, with constant i at k. It renames the
// variables instead of moving them.
//
// The chain from round to round goes through e. Its rotations come first, because CPUs issue the oldest
// instructions first, and their sum is the last term that is added to d. The next a is then made of the next e:
// that takes one instruction more than to add the same terms to d and to a, and one less in the chain. On
// Zen 5, where nearly all of these have a latency of two cycles, it is 11 % faster.
func round(v []VecVirtual, i int, w word, k Register) {
	Commentf("Round %d of 16.", i)
	name := func(n int) VecVirtual { return v[(n-i+16)%8] }
	a, b, c, d, e, f, g, h := name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)
	k4, ch, maj := Mem{Base: k, Disp: wordSize * i}, ZMM(), ZMM()
	rotated := rotations(VPRORD, e, 6, 11, 25)
	if w.constant {
		VPADDD_BCST(k4, h, h)
		add(h, word{row: h}, w)
	} else {
		kw := ZMM()
		VPADDD_BCST(k4, w.row, kw)
		VPADDD(kw, h, h)
	}
	VPADDD(d, h, h)
	VMOVDQA32(e, ch)
	VPTERNLOGD(U8(0xca), g, f, ch)
	VPADDD(ch, h, h)
	sumE := xor(rotated)
	VMOVDQA32(a, maj)
	VPTERNLOGD(U8(0xe8), c, b, maj)
	VPSUBD(d, maj, maj)
	VPADDD(sumE, h, d)
	sumA := xor(rotations(VPRORD, a, 2, 13, 22))
	VPADDD(d, maj, h)
	VPADDD(sumA, h, h)
}

// schedule advances w[i] by sixteen words.
func schedule(w []word, i int) {
	add(w[i].row, w[i], w[(i+9)%16], sigma(w[(i+1)%16], 7, 18, 3), sigma(w[(i+14)%16], 17, 19, 10))
	w[i].constant = false
}

// sigma is a function of the message schedule.
func sigma(w word, i, j, n uint8) word {
	if w.constant {
		w.n = bits.RotateLeft32(w.n, -int(i)) ^ bits.RotateLeft32(w.n, -int(j)) ^ w.n>>n
		return w
	}
	return word{row: xor(rotations(VPSRLD, w.row, i, j, n))}
}

// rotations returns x rotated by i and by j, and rotated or shifted by n.
func rotations(last func(...Op), x VecVirtual, i, j, n uint8) [3]VecVirtual {
	r := [3]VecVirtual{ZMM(), ZMM(), ZMM()}
	VPRORD(U8(i), x, r[0])
	VPRORD(U8(j), x, r[1])
	last(U8(n), x, r[2])
	return r
}

// xor returns the xor of all terms, which is the first of them then.
func xor(terms [3]VecVirtual) VecVirtual {
	VPTERNLOGD(U8(0x96), terms[2], terms[1], terms[0])
	return terms[0]
}

// add sets to to the sum of terms, not all of which are constant.
func add(to VecVirtual, terms ...word) {
	var sum VecVirtual
	var n uint32
	for _, t := range terms {
		switch {
		case t.constant:
			n += t.n
		case sum == nil:
			sum = t.row
		default:
			VPADDD(t.row, sum, to)
			sum = to
		}
	}
	if n == 0 {
		return
	}
	if _, ok := numbers[n]; !ok {
		numbers[n] = ConstData(fmt.Sprintf("number%x", n), U32(n))
	}
	VPADDD_BCST(numbers[n], sum, to)
}

var numbers = map[uint32]Mem{} // in memory
