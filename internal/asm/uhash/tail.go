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

// A tail is the end of a message: less than a group, which zeros follow up to a whole one. It
// is loaded as two halves, x and y. A register of 32 bytes gets its half twice.
type tail struct {
	p, size Register
}

// load loads a tail of 1 to 31 bytes, or none. It must have at least 16 bytes, together with those of the
// message that are before it.
func (t tail) load(x, y VecVirtual) {
	Comment("The last 16 bytes, shifted down to the upper half.")
	table, end, from := GP64(), GP64(), GP64()
	LEAQ(shiftDown.Offset(groupSize), table)
	LEAQ(Mem{Base: t.p, Index: t.size, Scale: 1, Disp: -halfSize}, end)
	SUBQ(t.size, table)
	shifted(Mem{Base: end}, Mem{Base: table}, y)
	Comment("The first 16 bytes or, if they are fewer, the last 16 again, shifted down.")
	LEAQ(shiftDown, table)
	MOVQ(t.p, from)
	CMPQ(end, t.p)
	CMOVQCS(end, from)
	SUBQ(from, table)
	shifted(Mem{Base: from}, Mem{Base: table, Index: t.p, Scale: 1}, x)
}

// loadAlone loads a tail of 0 to 31 bytes, before which there may be none. It
// jumps to loaded.
func (t tail) loadAlone(x, y VecVirtual, loaded string) {
	few := label("few")
	CMPQ(t.size, Imm(halfSize))
	JCS(LabelRef(few))
	t.load(x, y)
	JMP(LabelRef(loaded))
	Label(few)
	t.loadFew(x, y)
	JMP(LabelRef(loaded))
}

// loadFew loads a tail of 0 to 15 bytes without reading any before it: two words that may
// overlap, of which the last is shifted down to where it follows the first.
func (t tail) loadFew(x, y VecVirtual) {
	four, three, done := label("four"), label("three"), label("loaded")
	low, table, end := x.AsX(), GP64(), GP64()
	LEAQ(Mem{Base: t.p, Index: t.size, Scale: 1}, end)
	high := XMM()
	LEAQ(shiftDown, table)
	SUBQ(t.size, table)
	CMPQ(t.size, Imm(8))
	JCS(LabelRef(four))
	VMOVQ(Mem{Base: end, Disp: -8}, high)
	VPSHUFB(Mem{Base: table, Disp: 16}, high, high)
	VMOVQ(Mem{Base: t.p}, low)
	VPUNPCKLQDQ(high, low, low)
	JMP(LabelRef(done))

	Label(four)
	CMPQ(t.size, Imm(4))
	JCS(LabelRef(three))
	VMOVD(Mem{Base: end, Disp: -4}, high)
	VPSHUFB(Mem{Base: table, Disp: 8}, high, high)
	VMOVD(Mem{Base: t.p}, low)
	VPUNPCKLDQ(high, low, low)
	JMP(LabelRef(done))

	Label(three)
	VPXOR(low, low, low)
	TESTQ(t.size, t.size)
	JEQ(LabelRef(done))
	Comment("The first byte, the middle one and the last one are all.")
	first, middle, last, shift := GP64(), GP64(), GP64(), GP64()
	MOVBQZX(Mem{Base: t.p}, first)
	MOVBQZX(Mem{Base: end, Disp: -1}, last)
	LEAQ(Mem{Base: t.size, Disp: -1}, shift)
	SHLQ(Imm(3), shift)
	SHLXQ(shift, last, last)
	SHRQ(Imm(1), t.size)
	MOVBQZX(Mem{Base: t.p, Index: t.size, Scale: 1}, middle)
	SHLQ(Imm(3), t.size)
	SHLXQ(t.size, middle, middle)
	ORQ(first, last)
	ORQ(middle, last)
	VMOVQ(last, low)

	Label(done)
	if twice(x) {
		VINSERTI128(U8(1), low, x, x)
	}
	VPXOR(y, y, y)
}

// twice reports whether a half is loaded twice to x.
func twice(x VecVirtual) bool { return x.Size() == 2*halfSize }

// shifted loads 16 bytes, shifted down as the indices say.
func shifted(p, indices Mem, x VecVirtual) {
	if twice(x) {
		i := YMM()
		VBROADCASTI128(p, x)
		VBROADCASTI128(indices, i)
		VPSHUFB(i, x, x)
	} else {
		VMOVDQU(p, x)
		VPSHUFB(indices, x, x)
	}
}

// fill512 generates fillAVX512, which copies a tail, zero-padded, in one store.
func fill512() {
	Implement("fillAVX512")
	Pragma("noescape")
	group, x := Load(Param("group"), GP64()), YMM()
	p, size, ones, mask := Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64()), GP64(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(size, ones, ones)
	KMOVD(ones.As32(), mask)
	VMOVDQU8_Z(Mem{Base: p}, mask, x)
	VMOVDQU(x, Mem{Base: group})
	VZEROUPPER()
	RET()
}

// fill2 generates fillAVX2.
func fill2() {
	Implement("fillAVX2")
	Pragma("noescape")
	group := Load(Param("group"), GP64())
	t := tail{p: Load(Param("p").Base(), GP64()), size: Load(Param("p").Len(), GP64())}
	x, y, loaded := XMM(), XMM(), label("loaded")
	t.loadAlone(x, y, loaded)
	Label(loaded)
	VMOVDQU(x, Mem{Base: group})
	VMOVDQU(y, Mem{Base: group, Disp: halfSize})
	VZEROUPPER()
	RET()
}

// shiftDown has indices for VPSHUFB: the 16 that begin at n, for n from 0 to 32, shift 16
// bytes down by n, with zeros above them.
var shiftDown Mem

func tailConstants() {
	shiftDown = GLOBL("shiftDown", attr.RODATA|attr.NOPTR)
	for i := range 48 {
		index := uint8(0x80)
		if i < 16 {
			index = uint8(i)
		}
		DATA(i, U8(index))
	}
}
