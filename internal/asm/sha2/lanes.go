// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Lanes are messages side by side in vectors of 256 bits. Word i of the state of all lanes is a row: what
// the hash does with a word, the function does with a row.
//
// The two halves of a vector are alike: the first has the lanes of the first half of the messages. So 16 bytes
// of one message are loaded beside 16 of another, and no word changes its half.
type Lanes struct {
	*Hash

	Left, Right, Broadcast, Equal func(...Op)      // of words
	Sigmas                        [2][3]uint64     // how far they rotate, and the last shifts
	Shuffled                      map[uint64]Mem   // rotations that VPSHUFB makes
	Unpack                        [][2]func(...Op) // low and high of words, of two words and so on, up to 16 bytes

	state    gotypes.Component // the fields of Lanes in package sha2
	p, at, k Register          // at is the offset of the next blocks in the messages
	v        []VecVirtual      // the working variables a to h
	frame    Mem               // the last 16 words of the message schedule
	words    func(i int) Mem   // the word of i rounds later
}

const (
	vector = 32 // bytes
	piece  = 16 // bytes of a message that are loaded at once
)

func (l *Lanes) count() int { return vector / l.wordSize }

// row returns a row of a field.
func (l *Lanes) row(field string, i int) Mem { return Address(l.state.Field(field).Index(i).Index(0)) }

// w returns a row of the frame.
func (l *Lanes) w(i int) Mem { return l.frame.Offset(vector * i) }

// Generate generates the function of that name, whose contract is that of lanes256AVX512 in package sha2. It is
// for the first lanes, as many as a vector has words.
func (l *Lanes) Generate(name string) {
	Implement(name)
	Pragma("noescape")
	l.state, l.p, l.at, l.k = Dereference(Param("state")), Load(Param("p"), GP64()), GP64(), Load(Param("k"), GP64())
	l.frame = AllocLocal(16 * vector)
	for range 8 {
		l.v = append(l.v, YMM())
	}
	blocks, outer := Load(Param("blocks"), GP64()), GP64()
	bits := GLOBL(fmt.Sprintf("laneBits%d", 8*l.wordSize), attr.RODATA|attr.NOPTR)
	for i := range l.count() {
		if l.wordSize == 4 {
			DATA(4*i, U32(1<<i))
		} else {
			DATA(8*i, U64(1<<i))
		}
	}
	mask := YMM()
	setMask := func(param string) {
		l.Broadcast(Address(Param(param)), mask)
		VPAND(bits, mask, mask)
		l.Equal(bits, mask, mask)
	}
	// choose sets words in the lanes of the mask. It changes from.
	choose := func(from, words VecVirtual) {
		former := YMM()
		VPAND(mask, words, former)
		VPXOR(former, words, words)
		VPAND(mask, from, from)
		VPXOR(from, words, words)
	}
	XORL(l.at.(GPVirtual).As32(), l.at.(GPVirtual).As32())

	initial := Load(Param("initial"), GP64())
	TESTQ(initial, initial)
	JZ(LabelRef("begun"))
	setMask("initial")
	for i, v := range l.v {
		x := YMM()
		l.Broadcast(Address(l.state.Field("initial").Index(i)), x)
		VMOVDQU(l.row("state", i), v)
		choose(x, v)
		VMOVDQU(v, l.row("state", i))
	}
	Label("begun")
	Load(Param("outer"), outer)

	Label("block")
	CMPQ(outer, U32(1<<l.count()-1))
	JE(LabelRef("allOuter"))
	l.load()
	for i, v := range l.v {
		VMOVDQU(l.row("state", i), v)
	}
	TESTQ(outer, outer)
	JZ(LabelRef("loaded"))
	setMask("outer")
	for i, v := range l.v {
		x, words := YMM(), YMM()
		VMOVDQU(l.w(i), words)
		VMOVDQA(v, x)
		choose(x, words)
		VMOVDQU(words, l.w(i))
		VMOVDQU(l.w(i+8), words)
		l.Broadcast(l.OuterPadding.Offset(l.wordSize*i), x)
		choose(x, words)
		VMOVDQU(words, l.w(i+8))
		VMOVDQU(l.row("outer", i), x)
		choose(x, v)
		VMOVDQU(v, l.row("state", i))
	}
	Label("loaded")
	l.rounds()
	for i, v := range l.v {
		l.vpadd(l.row("state", i), v, v)
		VMOVDQU(v, l.row("state", i))
	}
	ADDQ(U32(l.blockSize()), l.at)
	DECQ(blocks)
	JNZ(LabelRef("block"))

	TESTQ(outer, outer)
	JZ(LabelRef("wipe"))
	Comment("The hashes, from rows to columns.")
	pieceWords := piece / l.wordSize
	for first := 0; first < 8; first += pieceWords {
		for i, x := range l.transpose(l.v[first:][:pieceWords]) {
			hash := func(lane int) Mem {
				return Address(l.state.Field("hashes").Index((8*lane + first) * l.wordSize))
			}
			VPSHUFB(l.Swap, x, x)
			VMOVDQU(x.AsX(), hash(i))
			VEXTRACTI128(U8(1), x, hash(i+l.count()/2))
		}
	}
	Label("wipe")
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := range 16 {
		VMOVDQU(zero, l.w(i))
	}
	VZEROUPPER()
	RET()

	Label("allOuter")
	for i, v := range l.v {
		x := YMM()
		VMOVDQU(l.row("state", i), x)
		VMOVDQU(x, l.w(i))
		l.Broadcast(l.OuterPadding.Offset(l.wordSize*i), x)
		VMOVDQU(x, l.w(i+8))
		VMOVDQU(l.row("outer", i), v)
		VMOVDQU(v, l.row("state", i))
	}
	JMP(LabelRef("loaded"))
}

// load sets the words of the message schedule to a block of each message. All of a message but the last two is
// loaded at once: lines of messages a multiple of 4 KiB apart share one set of the L1 cache, and would
// displace each other in between.
func (l *Lanes) load() {
	Comment("Words, big-endian, from columns to rows.")
	pieces, pairs := l.blockSize()/piece, l.count()/2
	x := make([][]VecVirtual, pieces)
	var messages [2]Register
	for i := range pairs {
		for half := range messages {
			messages[half] = GP64()
			MOVQ(Mem{Base: l.p, Disp: 8 * (i + pairs*half)}, messages[half])
		}
		for n := range pieces {
			if i < pairs-1 {
				x[n] = append(x[n], l.pair(messages, n))
			}
		}
	}
	for n, x := range x {
		for i, words := range l.transpose(append(x, l.pair(messages, n))) {
			VPSHUFB(l.Swap, words, words)
			VMOVDQU(words, l.w(n*piece/l.wordSize+i))
		}
	}
}

// pair returns a piece of two messages.
func (l *Lanes) pair(messages [2]Register, n int) VecVirtual {
	from := func(half int) Mem { return Mem{Base: messages[half], Index: l.at, Scale: 1, Disp: piece * n} }
	x := YMM()
	VBROADCASTI128(from(0), x) // all of the register, so that it depends on nothing
	VINSERTI128(U8(1), from(1), x, x)
	return x
}

// transpose returns the rows of columns of as many words, in each half of the vectors.
func (l *Lanes) transpose(x []VecVirtual) []VecVirtual {
	for step, unpack := range l.Unpack {
		rows := make([]VecVirtual, 0, len(x))
		d := 1 << step
		for i := 0; i < len(x); i += 2 * d {
			for j := range d {
				for _, unpack := range unpack {
					row := YMM()
					unpack(x[i+j+d], x[i+j], row)
					rows = append(rows, row)
				}
			}
		}
		x = rows
	}
	return x
}

// rounds is all rounds of a block. Then k is what it was. A loop of 16 rounds would be no faster.
func (l *Lanes) rounds() {
	left, half, other := GP64(), GP64(), GP64() // half is the offset of the words of these 8 rounds, other that of the rest
	l.words = func(i int) Mem { return l.w(i%8).Idx([]Register{half, other}[i/8%2], 1) }
	XORL(half.As32(), half.As32())
	MOVQ(U32(8*vector), other)
	ab := []VecVirtual{YMM(), YMM()}
	VPXOR(l.v[2], l.v[1], ab[0])
	loop := func(label string, rounds int, each func(i int)) {
		MOVQ(U32(rounds/8), left)
		// At the start of a line. Elsewhere it is up to 4 % slower.
		Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
		Label(label)
		for i := range 8 {
			each(i)
		}
		ADDQ(U32(8*l.wordSize), l.k)
		XORQ(U32(8*vector), half)
		XORQ(U32(8*vector), other)
		DECQ(left)
		JNZ(LabelRef(label))
	}
	loop("rounds", l.Hash.rounds-16, func(i int) {
		l.round(i, ab)
		l.schedule(i)
	})
	loop("lastRounds", 16, func(i int) { l.round(i, ab) })
	SUBQ(U32(l.Hash.rounds*l.wordSize), l.k)
}

// round is a round, FIPS 180-4 sections 6.2.2 and 6.4.2, step 3. It renames the variables instead of moving
// them. The chain from round to round goes through e: its sum comes first, because CPUs issue the oldest
// instructions first. One of ab is the xor of b and c, the other that of a and b afterwards.
func (l *Lanes) round(i int, ab []VecVirtual) {
	Commentf("Round %d of 8.", i)
	name := func(n int) VecVirtual { return l.v[(n-i+8)%8] }
	a, b, d, e, f, g, h := name(0), name(1), name(3), name(4), name(5), name(6), name(7)
	bc, next := ab[i%2], ab[1-i%2]
	sum := xor(l.rotations(e, amounts(l.upper1)...))
	x := YMM()
	l.Broadcast(Mem{Base: l.k, Disp: l.wordSize * i}, x)
	l.vpadd(l.words(i), x, x)
	l.vpadd(x, h, h)
	x = YMM()
	VPXOR(g, f, x)
	VPAND(e, x, x)
	VPXOR(g, x, x) // Ch
	l.vpadd(x, h, h)
	l.vpadd(sum, h, h)
	l.vpadd(h, d, d)
	VPXOR(b, a, next)
	VPAND(next, bc, bc)
	VPXOR(b, bc, bc) // Maj
	l.vpadd(bc, h, h)
	l.vpadd(xor(l.rotations(a, amounts(l.upper0)...)), h, h)
}

// schedule advances word i by sixteen words.
func (l *Lanes) schedule(i int) {
	sigma := func(i, n int) VecVirtual {
		x, by := YMM(), l.Sigmas[n]
		VMOVDQU(l.words(i), x)
		return xor(append(l.rotations(x, by[:2]...), l.shift(l.Right, x, by[2])))
	}
	sum := sigma(i+1, 0)
	l.vpadd(l.words(i), sum, sum)
	l.vpadd(l.words(i+9), sum, sum)
	l.vpadd(sigma(i+14, 1), sum, sum)
	VMOVDQU(sum, l.words(i))
}

// A term is computed only when it is called, so that few registers are needed.
type term func() VecVirtual

func amounts(by [3]uint8) []uint64 { return []uint64{uint64(by[0]), uint64(by[1]), uint64(by[2])} }

// rotations returns terms whose xor is that of x rotated by each of these.
func (l *Lanes) rotations(x VecVirtual, by ...uint64) (terms []term) {
	for _, n := range by {
		if mask, ok := l.Shuffled[n]; ok {
			terms = append(terms, func() VecVirtual { t := YMM(); VPSHUFB(mask, x, t); return t })
		} else {
			terms = append(terms, l.shift(l.Right, x, n), l.shift(l.Left, x, uint64(8*l.wordSize)-n))
		}
	}
	return terms
}

func (l *Lanes) shift(op func(...Op), x VecVirtual, n uint64) term {
	return func() VecVirtual {
		t := YMM()
		op(Imm(n), x, t)
		return t
	}
}

// xor returns the xor of all terms, computed as a tree.
func xor(terms []term) VecVirtual {
	if len(terms) == 1 {
		return terms[0]()
	}
	half := (len(terms) + 1) / 2
	a, b := xor(terms[:half]), xor(terms[half:])
	VPXOR(b, a, a)
	return a
}
