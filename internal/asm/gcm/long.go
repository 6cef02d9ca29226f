// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels for AVX-512 use vectors of four blocks. Very short messages are faster with two, because
// the lanes have to be added at the end, and are left to the kernels for AVX2.

// longSize is the size of what these functions absorb or encrypt at a time.
const longSize = 512

const vectorSize = maxLanes * blockSize

// longGMAC is the size from which on hashLong is faster than hashGroups: it computes powers first.
const longGMAC = 384

// A wide is a kernel with vectors of four blocks.
type wide struct{ *kernel }

// beginWide is begin for such a kernel. The order of bytes is in a register, because it may lie across
// two cache lines.
func beginWide(name string, encrypts bool) *wide {
	w := &wide{begin(isa{maxLanes, evex}, name, encrypts)}
	order := ZMM()
	VMOVDQU64(reverse, order)
	w.order = order
	return w
}

// hashWide generates GHASH of whole groups.
func hashWide(name string) {
	w := beginWide(name, false)
	sum := Load(Param("sum"), GP64())
	w.loadSum(sum)
	p, n, short, end := Load(Param("p"), GP64()), Load(Param("n"), GP64()), label("short"), label("hashEnd")
	CMPQ(n, U32(longSize))
	JB(LabelRef(short))
	w.reduceLanes(w.hashLong(p, n, true))
	JMP(LabelRef(end))
	Label(short)
	w.hashGroups(p, n)
	Label(end)
	w.storeSum(sum)
	w.end()
}

// gmacWide generates GMAC, section 7 without text.
func gmacWide(name string) {
	w := beginWide(name, true)
	r := Dereference(Param("r"))
	tag := Load(r.Field("tag"), GP64())
	w.beginTag(r, tag)
	w.loadSum(Load(r.Field("sum"), GP64()))

	p, n := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64())
	rest, h := GP64(), GP64()
	short, more, room, absorb, end := label("short"), label("moreThanThree"), label("makeRoom"), label("absorbRest"), label("restEnd")
	CMPQ(n, U32(longGMAC))
	JB(LabelRef(short))
	s := w.hashLong(p, n, false)
	MOVQ(w.powersFor(n), h)
	CMPQ(n, Imm(3*blockSize))
	JA(LabelRef(more))
	Comment("There are powers for the lanes, at most three blocks and the lengths together.")
	SUBQ(Imm(blockSize), h)
	w.addLanes(s, Mem{Base: h, Disp: -vectorSize})
	w.zero(w.acc)
	JMP(LabelRef(absorb))
	Label(more)
	w.reduceLanes(s)
	JMP(LabelRef(room))
	Label(short)
	w.hashGroups(p, n)
	MOVQ(w.powersFor(n), h)
	Label(room)
	w.makeRoom(h)
	w.clear(w.sums)
	Label(absorb)
	MOVQ(n, rest)
	TESTQ(n, n)
	JZ(LabelRef(end))
	w.hashRest(p, n, h)
	Label(end)
	w.foldSums()
	w.narrow().endTag(r, tag, rest)
	w.end()
}

// hashGroups absorbs as many groups as there are in n bytes at p, only a few. It leaves the
// rest in p and n.
func (w *wide) hashGroups(p, n Register) {
	groups, end := label("hashGroups"), label("hashRest")
	Label(groups)
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	x := []VecVirtual{w.block(Mem{Base: p}, 0), w.block(Mem{Base: p}, 1)}
	VPXORQ(w.acc, x[0], x[0])
	w.add(x, []factor{w.powersAt(w.power(powers)), w.powersAt(w.power(powers - maxLanes))}, true)
	w.reduceSums()
	ADDQ(U32(groupSize), p)
	SUBQ(U32(groupSize), n)
	JMP(LabelRef(groups))
	Label(end)
}

// hashRest adds the n bytes at p, at least one and less than a group, to the sums, with the powers from
// h on. Behind these, zeros are multiplied with what follows the powers in the Key.
func (w *wide) hashRest(p, n, h Register) {
	next := label("vector")
	Label(next)
	x := ZMM()
	VMOVDQU8_Z(Mem{Base: p}, mask(n), x)
	VPSHUFB(w.order, x, x)
	VPXORQ(w.acc, x, x)
	w.zero(w.acc)
	w.add([]VecVirtual{x}, []factor{w.powersAt(Mem{Base: h})}, false)
	ADDQ(Imm(vectorSize), p)
	ADDQ(Imm(vectorSize), h)
	SUBQ(Imm(vectorSize), n)
	JA(LabelRef(next))
}

// mask returns the mask of the first n bytes of a vector, all from vectorSize on.
func mask(n Register) Register {
	bits, present := GP64(), K()
	MOVQ(I32(-1), bits)
	BZHIQ(n, bits, bits)
	KMOVQ(bits, present)
	return present
}

// foldSums adds the lanes of the sums.
func (w *wide) foldSums() {
	w.fold(w.sums.low)
	w.fold(w.sums.middle)
	w.fold(w.sums.high)
}

// narrow returns the kernel for single blocks, which has the lowest lanes.
func (w *wide) narrow() *kernel {
	one, s := w.single(), w.sums
	return &kernel{isa: one, subkey: w.subkey, order: w.order, polynomial: w.polynomial,
		sums: sums{one.as(s.low), one.as(s.middle), one.as(s.high)}, acc: one.as(w.acc)}
}

// A factor is a vector to multiply with: four powers, or one in all lanes.
type factor struct {
	h    VecVirtual
	both VecVirtual // the sum of the halves of h, in the low half of each lane
}

func newFactor(h VecVirtual) factor {
	both := ZMM()
	VPSHUFD(U8(0x4e), h, both)
	VPXORQ(h, both, both)
	return factor{h, both}
}

// powersAt loads the powers at p.
func (w *wide) powersAt(p Mem) factor {
	h, both := ZMM(), ZMM()
	VMOVDQU64(p, h)
	VMOVDQU64(p.Offset(8), both)
	VPXORQ(h, both, both)
	return factor{h, both}
}

// add adds the products of one or two vectors of blocks, whose bytes are reversed, and
// their factors. It sets the sums if set is true.
func (w *wide) add(x []VecVirtual, f []factor, set bool) {
	s := w.sums
	var products [3][]VecVirtual
	for i, x := range x {
		sum := ZMM()
		VPSHUFD(U8(0x4e), x, sum)
		VPXORQ(x, sum, sum)
		for j, p := range []struct {
			halves uint8
			f, x   VecVirtual
		}{{0x00, f[i].h, x}, {0x11, f[i].h, x}, {0x00, f[i].both, sum}} {
			t := ZMM()
			VPCLMULQDQ(U8(p.halves), p.f, p.x, t)
			products[j] = append(products[j], t)
		}
	}
	for j, sum := range []VecVirtual{s.low, s.high, s.middle} {
		p := products[j]
		switch {
		case set && len(p) == 1:
			VMOVDQA64(p[0], sum)
		case set:
			VPXORQ(p[0], p[1], sum)
		case len(p) == 1:
			VPXORQ(p[0], sum, sum)
		default:
			VPTERNLOGQ(U8(0x96), p[0], p[1], sum)
		}
	}
}

// product returns x*f/x^128 modulo P in each lane.
func (w *wide) product(x VecVirtual, f factor) VecVirtual {
	v := &wide{&kernel{isa: w.isa, sums: w.newSums()}}
	v.add([]VecVirtual{x}, []factor{f}, true)
	v.reduce(v.sums, w.polynomial, nil)
	return v.sums.high
}

// block loads vector i at p, and reverses the bytes of its blocks.
func (w *wide) block(p Mem, i int) VecVirtual {
	x := ZMM()
	VMOVDQU64(p.Offset(vectorSize*i), x)
	VPSHUFB(w.order, x, x)
	return x
}

// hashLong absorbs as many vectors as there are in n bytes at p, at least one, and
// leaves the rest in p and n. If groups is true, n is a multiple of groupSize. Lane i of what it
// returns is GHASH of every fourth block from block i on, divided by H^(4-i): addLanes is the end.
// So nothing waits for the sum of the lanes, and in each round s becomes
//
//	s*H^32 + x[0]*H^28 + x[1]*H^24 + ... + x[6]*H^4 + x[7]
//
// for the next eight vectors x. The first one to eight vectors, for which there is no s yet, leave
// whole rounds: so no message takes more reductions than a longer one.
func (w *wide) hashLong(p, n Register, groups bool) (s VecVirtual) {
	h8, x, a := ZMM(), ZMM(), ZMM()
	VBROADCASTI32X4(power(w.subkey, 8), h8)
	VBROADCASTI32X4(power(w.subkey, 4), x)
	VSHUFI64X2(U8(0x00), x, h8, x) // H^8, H^8, H^4, H^4
	VMOVDQA64(x, a)
	a = w.product(a, newFactor(h8)) // H^16, H^16, H^12, H^12
	low := ZMM()
	VSHUFI64X2(U8(0x88), x, a, low) // H^16, H^12, H^8, H^4
	h16 := ZMM()
	VSHUFI64X2(U8(0x00), a, a, h16)
	VMOVDQA64(low, x)
	high := w.product(x, newFactor(h16)) // H^32, H^28, H^24, H^20
	var f []factor
	for _, four := range []VecVirtual{high, low} {
		all := newFactor(four)
		for lane := range 4 {
			h, both := ZMM(), ZMM()
			VSHUFI64X2(U8(uint8(0x55*lane)), all.h, all.h, h)
			VSHUFI64X2(U8(uint8(0x55*lane)), all.both, all.both, both)
			f = append(f, factor{h, both})
		}
	}

	s = w.hashFirst(p, n, f, groups)
	next, end, rounds := label("hashLong"), label("hashLongEnd"), GP64()
	MOVQ(n, rounds)
	ANDQ(Imm(vectorSize-1), n)
	SHRQ(U8(9), rounds)
	JZ(LabelRef(end))
	align()
	Label(next)
	for i := roundSize - 2; i > 0; i -= 2 { // the lower powers are there first
		w.add([]VecVirtual{w.block(Mem{Base: p}, i), w.block(Mem{Base: p}, i-1)}, []factor{f[i+1], f[i]}, i == roundSize-2)
	}
	w.add([]VecVirtual{w.block(Mem{Base: p}, 0), s}, []factor{f[1], f[0]}, false)
	w.reduce(w.sums, w.polynomial, w.block(Mem{Base: p}, roundSize-1))
	VMOVDQA64(w.sums.high, s)
	ADDQ(U32(longSize), p)
	SUBQ(Imm(1), rounds)
	JNZ(LabelRef(next))
	Label(end)
	return s
}

// roundSize is the number of vectors in longSize.
const roundSize = longSize / vectorSize

// hashFirst is hashLong for the first one to eight vectors, which are numbered as the last ones of a round. GHASH
// so far is added to the first. With whole groups they are an even number.
func (w *wide) hashFirst(p, n Register, f []factor, groups bool) (s VecVirtual) {
	count, size := GP64(), GP64()
	LEAQ(Mem{Base: n, Disp: -vectorSize}, count)
	SHRQ(U8(6), count)
	ANDQ(Imm(roundSize-1), count)
	ADDQ(Imm(1), count)
	MOVQ(count, size)
	SHLQ(U8(6), size)
	ADDQ(size, p)
	SUBQ(size, n)
	before := Mem{Base: p, Disp: -longSize}
	last, reduce, only := w.block(before, roundSize-1), label("reduceFirst"), label("onlyVector")
	w.clear(w.sums)
	var first [roundSize]string // labels of the code for the first vector, if their number is even
	for i := range first {
		first[i] = label("firstVector")
	}
	less, none := only, GP64()
	if !groups {
		XORL(none.As32(), none.As32())
	}
	for i := roundSize - 2; i > 0; i -= 2 {
		CMPQ(count, Imm(uint64(roundSize-i)))
		if !groups {
			JB(LabelRef(less))
			less = reduce
		}
		JEQ(LabelRef(first[i]))
		x := []VecVirtual{w.block(before, i), w.block(before, i-1)}
		if !groups {
			present, isFirst := GP64(), K()
			MOVQ(I32(-1), present)
			CMPQ(count, Imm(uint64(roundSize-i+1)))
			CMOVQNE(none, present)
			KMOVQ(present, isFirst)
			VPXORQ(w.acc, x[1], isFirst, x[1])
		}
		w.add(x, []factor{f[i+1], f[i]}, false)
	}
	if !groups {
		CMPQ(count, Imm(roundSize))
		JB(LabelRef(reduce))
	}
	for i := 0; i < roundSize; i += 2 {
		Label(first[i])
		x := w.block(before, i)
		VPXORQ(w.acc, x, x)
		w.add([]VecVirtual{x}, []factor{f[i+1]}, false)
		JMP(LabelRef(reduce))
	}
	if !groups {
		Label(only)
		VPXORQ(w.acc, last, last)
	}
	Label(reduce)
	w.reduce(w.sums, w.polynomial, last)
	s = ZMM()
	VMOVDQA64(w.sums.high, s)
	return s
}

// addLanes sets the sums to those of the lanes of s times the powers at p.
func (w *wide) addLanes(s VecVirtual, p Mem) {
	w.add([]VecVirtual{s}, []factor{w.powersAt(p)}, true)
}

// reduceLanes sets acc to GHASH of which the lanes are s.
func (w *wide) reduceLanes(s VecVirtual) {
	w.addLanes(s, power(w.subkey, maxLanes))
	w.reduceSums()
}
