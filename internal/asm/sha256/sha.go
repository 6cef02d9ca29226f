// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// SHA-256 with the SHA instructions, of one message, and of two side by side: the chain of
// a block's 32 SHA256RNDS2 takes all the time of one, and two fill the unit that executes
// them.
//
// SHA256RNDS2 has the variables as f, e, b, a and h, g, d, c, from the lowest lane on. With
// these two orders VSHUFPS makes them of a to d and e to h, and the other way round.
const (
	upperWords = 0xbb // of both operands, exchanged
	lowerWords = 0x11
)

// A message is what belongs to one of the messages. The SHA instructions have no form with
// VEX. All others have it, with 128 bits: no upper half is ever in use.
type message struct {
	state Register          // address of the chaining value
	from  Register          // the same, or that of the outer hash: where this block began
	p     Register          // the next block
	end   gotypes.Component // what makes the last block
	s     [2]VecVirtual     // the variables
	w     [4]VecVirtual     // the last 16 words of the message schedule
}

func block256() {
	begin("block256SHA")
	end := Load(Param("end"), GP64())
	compress(end, newMessage("state", "p", Param("end").Dereference(end)))
}

func pair256() {
	begin("pair256SHA")
	end := Load(Param("end"), GP64())
	ends := Param("end").Dereference(end)
	compress(end, newMessage("state", "p", ends.Index(0)), newMessage("other", "q", ends.Index(1)))
}

func begin(name string) {
	Implement(name)
	Attributes(attr.NOSPLIT)
	Pragma("noescape")
}

// newMessage returns the message of these parameters.
func newMessage(state, p string, end gotypes.Component) *message {
	m := &message{state: Load(Param(state), GP64()), from: GP64(), p: Load(Param(p), GP64()), end: end}
	MOVQ(m.state, m.from)
	m.s = m.loadState()
	for i := range m.w {
		m.w[i] = XMM()
	}
	return m
}

// compress is all of a function but its first loads.
func compress(end Register, messages ...*message) {
	k := Load(Param("k"), GP64())
	blocks := Load(Param("blocks"), GP64())
	TESTQ(blocks, blocks)
	JZ(LabelRef("padded"))

	Label("block")
	for _, m := range messages {
		for i, w := range m.w {
			VMOVDQU(Mem{Base: m.p, Disp: 16 * i}, w)
		}
		m.bigEndian()
		ADDQ(U32(blockSize), m.p)
	}
	Label("rounds")
	for t := 0; t < rounds; t += 4 {
		Commentf("Rounds %d to %d.", t, t+3)
		for _, m := range messages {
			m.fourRounds(t, k)
		}
	}
	for _, m := range messages {
		for i, old := range m.loadState() {
			VPADDD(old, m.s[i], m.s[i])
		}
		m.words()
		VMOVDQU(m.w[0], Mem{Base: m.state})
		VMOVDQU(m.w[1], Mem{Base: m.state, Disp: 16})
	}
	DECQ(blocks)
	JG(LabelRef("block"))

	TESTQ(end, end)
	JZ(LabelRef("done"))
	for _, m := range messages {
		Load(m.end.Field("outer"), m.from)
	}
	TESTQ(messages[0].from, messages[0].from)
	JZ(LabelRef("done"))
	Comment("The last block of the outer hash: the state, whose words are there already, and padding.")
	XORL(end.(GPVirtual).As32(), end.(GPVirtual).As32())
	for _, m := range messages {
		VMOVDQU(outerPadding, m.w[2])
		VMOVDQU(outerPadding.Offset(16), m.w[3])
		for i, s := range m.loadState() {
			VMOVDQA(s, m.s[i])
		}
	}
	JMP(LabelRef("rounds"))

	Label("padded")
	for i, m := range messages {
		m.padded(fmt.Sprint(i))
	}
	JMP(LabelRef("rounds"))

	Label("done")
	VZEROUPPER()
	RET()
}

// loadState returns the chaining value at from, as SHA256RNDS2 has it.
func (m *message) loadState() [2]VecVirtual {
	return loadState(Mem{Base: m.from}, Mem{Base: m.from, Disp: 16})
}

// loadState returns the chaining value whose halves are there, as SHA256RNDS2 has it.
func loadState(first, last Mem) [2]VecVirtual {
	low, high, feba, hgdc := XMM(), XMM(), XMM(), XMM()
	VMOVDQU(first, low)
	VMOVDQU(last, high)
	VSHUFPS(U8(lowerWords), low, high, feba)
	VSHUFPS(U8(upperWords), low, high, hgdc)
	return [2]VecVirtual{feba, hgdc}
}

// words sets the first eight words of the message schedule to the variables.
func (m *message) words() {
	VSHUFPS(U8(upperWords), m.s[1], m.s[0], m.w[0])
	VSHUFPS(U8(lowerWords), m.s[1], m.s[0], m.w[1])
}

// bigEndian makes numbers of the words as they are in memory.
func (m *message) bigEndian() {
	for _, w := range m.w {
		VPSHUFB(swap32, w, w)
	}
}

// fourRounds is rounds t to t+3. In the first 48 rounds it also makes the words of 16 rounds later
// in place of its own.
func (m *message) fourRounds(t int, k Register) {
	m.rounds(t, k)
	if t < rounds-16 {
		m.schedule(t)
	}
}

// rounds is rounds t to t+3.
func (m *message) rounds(t int, k Register) {
	VPADDD(Mem{Base: k, Disp: wordSize * t}, m.word(t), X0)
	SHA256RNDS2(X0, m.s[0], m.s[1])
	VPSHUFD(U8(0x0e), X0, X0)
	SHA256RNDS2(X0, m.s[1], m.s[0])
}

// word returns the vector that has word t.
func (m *message) word(t int) VecVirtual { return m.w[t/4%4] }

// schedule replaces words t to t+3 by those of 16 rounds later, where W[t] becomes
// sigma1(W[t+14]) + W[t+9] + sigma0(W[t+1]) + W[t].
func (m *message) schedule(t int) {
	w, x := m.word(t), XMM()
	SHA256MSG1(m.word(t+4), w)
	VPALIGNR(U8(4), m.word(t+8), m.word(t+12), x)
	VPADDD(x, w, w)
	SHA256MSG2(m.word(t+12), w)
}

// padded makes the block of the words at p, the word after them, zeros, and the length. It has one
// branch. With one for each number of words, a run of messages of all lengths would take 6 % longer,
// and one of messages of the same length 1 % less.
func (m *message) padded(name string) {
	words, table := Load(m.end.Field("words"), GP64()), GP64()
	LEAQ(endTable, table)
	Comment("The vector after the last whole one: the rest of the words, and the word after them.")
	whole, place := GP64(), GP64() // 12 less four for each whole vector, and 3 less the rest of the words
	MOVQ(words, whole)
	XORQ(I8(-1), whole)
	MOVQ(whole, place)
	ANDQ(U32(12), whole)
	ANDQ(U32(3), place)
	tail, last := XMM(), XMM()
	VMOVD(address(m.end.Field("tail")), tail)
	VPSHUFB(Mem{Base: table, Index: place, Scale: wordSize, Disp: toPlace}, tail, tail)
	CMPQ(words, Imm(4))
	JB(LabelRef("short" + name))
	VMOVDQU(Mem{Base: m.p, Index: words, Scale: wordSize, Disp: -16}, last)
	VPSHUFB(Mem{Base: table, Index: place, Scale: wordSize, Disp: toFront}, last, last)
	VPOR(tail, last, last)
	VMOVDQU(Mem{Base: m.p}, m.w[0])
	JMP(LabelRef("first" + name))

	Label("short" + name)
	for i := range 3 { // words that are not there are zeros
		from := GP64()
		MOVQ(m.p, from)
		CMPQ(words, Imm(uint64(i+1)))
		CMOVQLT(table, from)
		if word := (Mem{Base: from, Disp: wordSize * i}); i == 0 {
			VMOVD(word, last)
		} else {
			VPINSRD(U8(i), word, last, last)
		}
	}
	VPOR(tail, last, last)
	VMOVDQA(last, m.w[0])

	Label("first" + name)
	Comment("The whole vectors after the first one, and the one after them where it belongs.")
	for i := 1; i < 3; i++ {
		CMPQ(words, Imm(uint64(4*(i+1))))
		CMOVQLT(table, m.p)
		VMOVDQU(Mem{Base: m.p, Disp: 16 * i}, m.w[i])
	}
	VPAND(Mem{Base: table, Index: whole, Scale: wordSize, Disp: 16 * 3}, last, m.w[3])
	for i := 1; i < 3; i++ {
		x := XMM()
		VPAND(Mem{Base: table, Index: whole, Scale: wordSize, Disp: 16 * i}, last, x)
		VPOR(x, m.w[i], m.w[i])
	}
	m.bigEndian()
	bits := XMM()
	VPXOR(bits, bits, bits)
	VPINSRD(U8(2), address(m.end.Field("bits").Index(0)), bits, bits)
	VPINSRD(U8(3), address(m.end.Field("bits").Index(1)), bits, bits)
	VPOR(bits, m.w[3], m.w[3])
}
