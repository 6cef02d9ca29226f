// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command nh generates nh_amd64.s: NH, and POLY-64 in step with it, for AVX-512
// and AVX2 and one to four iterations of UHASH.
//
// NH of a group of 32 bytes, RFC 4418 section 5.2.2, is the sum for i = 0..3 of
//
//	(m_i + k_i) * (m_i+4 + k_i+4)
//
// with 32-bit sums and 64-bit products. Message and key are handled as their low
// halves (words 0..3 of each group) and high halves (words 4..7). For iteration t
// the Toeplitz shift of 16*t bytes makes these halves of the key, in groups:
//
//	t   low    high
//	0   lo[g]    hi[g]
//	1   hi[g]    lo[g+1]
//	2   lo[g+1]  hi[g+1]
//	3   hi[g+1]  lo[g+2]
//
// so that with all low halves in one array and all high halves in another each is
// a plain load. VPMULUDQ multiplies the even words of its operands; the odd ones
// are shifted down for a second product.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	blockSize = 1024
	groupSize = 32
	halfSize  = groupSize / 2
	wordsSize = 8 * 4 // an l1Words
	offset64  = 59    // 2^64 - p64
)

func main() {
	Package("example.com/fastmac")
	ConstraintExpr("!purego")
	for n := 1; n <= 4; n++ {
		blocks(avx512{}, n)
		last512(n)
		blocks(avx2{}, n)
		groups2(n)
	}
	Generate()
}

// A key is the pair of key halves that an iteration adds to a run of groups.
type key struct{ lo, hi Op }

// keysAt returns the halves for iteration t at group g of the halves at lo and hi.
func keysAt(lo, hi Mem, t, g int) key {
	low := lo.Offset(halfSize * (g + (t+1)/2))
	high := hi.Offset(halfSize * (g + t/2))
	if t%2 == 0 {
		return key{low, high}
	}
	// t 1: hi[g], lo[g+1]; t 3: hi[g+1], lo[g+2]
	return key{high, low}
}

// An isa is a vector width.
type isa interface {
	name() string
	groups() int // a chunk, the groups that one vector holds half of
	vec() VecVirtual
	// load splits the chunk at p into its low and high halves.
	load(p Mem, a, b VecVirtual)
	// fold adds the lanes of v down to its lowest 128 bits, in v.
	fold(v VecVirtual)
}

type avx512 struct{}

func (avx512) name() string    { return "AVX512" }
func (avx512) groups() int     { return 4 }
func (avx512) vec() VecVirtual { return ZMM() }

func (avx512) load(p Mem, a, b VecVirtual) {
	w := ZMM()
	VMOVDQU64(p, a)
	VMOVDQU64(p.Offset(64), w)
	split512(w, a, a, b)
}

// split512 takes groups 0 and 1 in v and 2 and 3 in w.
func split512(w Op, v, a, b VecVirtual) {
	VSHUFI64X2(U8(0xdd), w, v, b) // 128-bit lanes 1 and 3 of both
	VSHUFI64X2(U8(0x88), w, v, a) // lanes 0 and 2
}

// In the full width, for registers beyond the 16th have no other encoding.
func (avx512) fold(v VecVirtual) {
	t := ZMM()
	VSHUFI64X2(U8(0x4e), v, v, t)
	VPADDQ(t, v, v)
	VSHUFI64X2(U8(0xb1), v, v, t)
	VPADDQ(t, v, v)
}

type avx2 struct{}

func (avx2) name() string    { return "AVX2" }
func (avx2) groups() int     { return 2 }
func (avx2) vec() VecVirtual { return YMM() }

func (avx2) load(p Mem, a, b VecVirtual) {
	VMOVDQU(p, a)
	VPERM2I128(U8(0x31), p.Offset(32), a, b) // high lanes of both
	VINSERTI128(U8(1), p.Offset(32), a, a)   // low lanes
}

func (avx2) fold(v VecVirtual) {
	x := XMM()
	VEXTRACTI128(U8(1), v.AsY(), x)
	VPADDQ(v.AsX(), x, v.AsX())
}

// sums are the accumulators of an iteration: products of even and of odd words.
type sums struct{ even, odd VecVirtual }

func newSums(v isa, n int) []sums {
	s := make([]sums, n)
	for t := range s {
		s[t] = sums{v.vec(), v.vec()}
	}
	return s
}

// addProducts adds to s, or sets it to, the terms of NH for the message halves a
// and b. Where mask is not nil, groups outside it count nothing.
func addProducts(v isa, s sums, a, b VecVirtual, k key, mask Register, set bool) {
	x, y := v.vec(), v.vec()
	if mask != nil {
		VPADDD_Z(k.lo, a, mask, x)
	} else {
		VPADDD(k.lo, a, x)
	}
	VPADDD(k.hi, b, y)
	even, odd := s.even, s.odd
	if !set {
		even, odd = v.vec(), x
	}
	VPMULUDQ(y, x, even)
	VPSHUFD(U8(0xf5), x, x)
	VPSHUFD(U8(0xf5), y, y)
	VPMULUDQ(y, x, odd)
	if !set {
		VPADDQ(even, s.even, s.even)
		VPADDQ(odd, s.odd, s.odd)
	}
}

// reduce returns the sum of each iteration in the lowest 64 bits of a vector.
func reduce(v isa, s []sums) []VecVirtual {
	for t := range s {
		VPADDQ(s[t].odd, s[t].even, s[t].even)
	}
	var words []VecVirtual
	for t := 0; t < len(s); t += 2 {
		first, low, high := s[t].even, v.vec(), v.vec()
		if t+1 == len(s) {
			VPUNPCKHQDQ(first, first, high)
			VPADDQ(high, first, low)
			v.fold(low)
			return append(words, low)
		}
		second := s[t+1].even
		VPUNPCKLQDQ(second, first, low)
		VPUNPCKHQDQ(second, first, high)
		VPADDQ(high, low, low)
		v.fold(low)
		VPUNPCKHQDQ(low, low, high)
		words = append(words, low, high)
	}
	return words
}

// blocks generates nhPoly<n><isa>: NH of whole blocks, and POLY-64 of the words
// it gives.
func blocks(v isa, n int) {
	Implement(fmt.Sprintf("nhPoly%d%s", n, v.name()))
	Pragma("noescape")

	k := Dereference(Param("k"))
	lo, hi := field(k.Field("l1").Field("lo").Index(0)), field(k.Field("l1").Field("hi").Index(0))

	Comment("For POLY-64 the frame holds, for each iteration, k, k^2, k + 59, y and the L1 word.")
	frame := AllocLocal(polyFrame * n)
	y := Dereference(Param("y"))
	for t := range n {
		f := polyAt(frame, t)
		k64, high, low := GP64(), GP64(), GP64()
		MOVQ(field(k.Field("l2").Index(t).Field("k64")), k64)
		MOVQ(k64, f.k)
		MOVQ(k64, RDX)
		MULXQ(k64, low, high) // k < 2^57, so high < 2^50
		ADDQ(Imm(offset64), k64)
		MOVQ(k64, f.kPlus59)
		IMUL3Q(Imm(offset64), high, high)
		ADDQ(high, low)
		addCarry59(low, high)
		MOVQ(low, f.kSquared)
		MOVQ(field(y.Index(t).Field("lo")), low)
		MOVQ(low, f.y)
	}
	p := Load(Param("p"), GP64())
	count := Load(Param("blocks"), GP64())
	words := Load(Param("words"), GP64())

	var registers []key // the whole key of iteration 0, where there is room
	chunk := v.groups() * groupSize
	if v.name() == "AVX512" {
		Comment("The key of iteration 0 stays in registers.")
		for g := 0; g < blockSize/groupSize; g += v.groups() {
			k := keysAt(lo, hi, 0, g)
			r := key{v.vec(), v.vec()}
			VMOVDQU64(k.lo, r.lo)
			VMOVDQU64(k.hi, r.hi)
			registers = append(registers, r)
		}
	}
	// The words of a block are taken into POLY after NH of the next one: by
	// then they have left the vector unit, and nothing has to wait.
	polySteps := func() {
		Comment("L1 words of the block before, with their length in bits, for who wants them.")
		m := GP64()
		noWords := label("poly")
		TESTQ(words, words)
		JZ(LabelRef(noWords))
		for t := range n {
			MOVQ(polyAt(frame, t).m, m)
			ADDQ(I32(8*blockSize), m)
			MOVQ(m, Mem{Base: words, Disp: 8 * t})
		}
		ADDQ(Imm(wordsSize), words)
		Label(noWords)
		for t := range n {
			polyStep(polyAt(frame, t))
		}
	}
	block, entry := label("block"), label("entry")
	s := newSums(v, n)
	nh := func() {
		for c := range blockSize / chunk {
			Comment(fmt.Sprintf("Bytes %d to %d of the block.", c*chunk, (c+1)*chunk-1))
			a, b := v.vec(), v.vec()
			v.load(Mem{Base: p, Disp: c * chunk}, a, b)
			for t := range n {
				k := keysAt(lo, hi, t, c*v.groups())
				if registers != nil && t == 0 {
					k = registers[c]
				}
				if registers != nil && t == 1 {
					k.lo = registers[c].hi
				}
				addProducts(v, s[t], a, b, k, nil, c == 0)
			}
		}
	}
	first := GP64()
	MOVQ(count, first)
	Label(block)
	nh()
	CMPQ(count, first)
	JEQ(LabelRef(entry))
	polySteps()
	Label(entry)
	for t, word := range reduce(v, s) {
		VMOVQ(word.AsX(), polyAt(frame, t).m)
	}
	ADDQ(I32(blockSize), p)
	DECQ(count)
	JNZ(LabelRef(block))
	polySteps()

	Comment("The frame held keys.")
	y = Dereference(Param("y"))
	zero, m := XMM(), GP64()
	VPXOR(zero, zero, zero)
	for t := range n {
		MOVQ(polyAt(frame, t).y, m)
		MOVQ(m, field(y.Index(t).Field("lo")))
	}
	for i := 0; i < polyFrame*n; i += 8 {
		VMOVQ(zero, frame.Offset(i))
	}
	VZEROUPPER()
	RET()
}

// poly is what POLY-64 needs of an iteration, in the frame.
type poly struct{ k, kSquared, kPlus59, y, m Mem }

const polyFrame = 8 * 5

func polyAt(frame Mem, t int) poly {
	f := frame.Offset(polyFrame * t)
	return poly{f, f.Offset(8), f.Offset(16), f.Offset(24), f.Offset(32)}
}

var labels int

// label returns a new label; avo wants them to be unique in a file.
func label(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// polyStep is a step of POLY-64, RFC 4418 section 5.3.2, without a branch:
//
//	y = k*y + m                               if m < 2^64 - 2^32
//	y = k*(k*y - 1) + m-59 = k^2*y + m-59-k   otherwise
//
// modulo p64 = 2^64-59. y and the result are any number below 2^64 of their
// residue class.
func polyStep(f poly) {
	Comment("y = m < 2^64-2^32 ? k*y + m : k^2*y + (m-59-k)")
	high, low, t := GP64(), GP64(), GP64()
	factor, addend, marked := GP64(), GP64(), GP64()
	MOVQ(f.m, addend)
	ADDQ(I32(8*blockSize), addend)
	MOVQ(addend, t)
	SHRQ(Imm(32), t)
	MOVQ(addend, marked)
	SUBQ(f.kPlus59, marked)
	MOVQ(f.k, factor)
	CMPL(t.As32(), U32(1<<32-1))
	CMOVQEQ(f.kSquared, factor)
	CMOVQEQ(marked, addend)

	MOVQ(f.y, RDX)
	MULXQ(factor, low, high)
	MOVQ(I32(offset64), RDX)
	foldLow, foldHigh := GP64(), GP64()
	MULXQ(high, foldLow, foldHigh) // 59 * high, foldHigh < 59
	ADDQ(foldLow, low)
	ADCQ(Imm(0), foldHigh)
	ADDQ(addend, low)
	ADCQ(Imm(0), foldHigh) // <= 60
	IMUL3Q(Imm(offset64), foldHigh, foldHigh)
	ADDQ(foldHigh, low)
	addCarry59(low, t)
	MOVQ(low, f.y)
}

// addCarry59 adds 59 to x if the addition before left a carry: x is then too
// small for another one.
func addCarry59(x, t GPVirtual) {
	SBBQ(t, t)
	ANDQ(Imm(offset64), t)
	ADDQ(t, x)
}

// last512 generates nhLast<n>AVX512: NH of a message or last block of any length
// up to a block. Masks keep its loads within the message.
func last512(n int) {
	v := avx512{}
	Implement(fmt.Sprintf("nhLast%dAVX512", n))
	Pragma("noescape")

	words := Load(Param("words"), GP64())
	l1 := Dereference(Param("k")).Field("l1")
	lo, hi := GP64(), GP64()
	LEAQ(field(l1.Field("lo").Index(0)), lo)
	LEAQ(field(l1.Field("hi").Index(0)), hi)
	p := Load(Param("p"), GP64())
	length := Load(Param("n"), GP64())

	s := newSums(v, n)
	for t := range s {
		VPXORQ(s[t].even, s[t].even, s[t].even)
		VPXORQ(s[t].odd, s[t].odd, s[t].odd)
	}
	chunk := v.groups() * groupSize
	step := func(a, b VecVirtual, mask Register) {
		for t := range n {
			addProducts(v, s[t], a, b, keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0), mask, false)
		}
	}
	rest, done := fmt.Sprintf("rest%d", n), fmt.Sprintf("done%d", n)
	whole, partial := fmt.Sprintf("whole%d", n), fmt.Sprintf("partial%d", n)
	SUBQ(I32(int32(chunk)), length)
	JLT(LabelRef(rest))
	Label(whole)
	a, b := v.vec(), v.vec()
	v.load(Mem{Base: p}, a, b)
	step(a, b, nil)
	ADDQ(I32(int32(chunk)), p)
	ADDQ(I32(int32(v.groups()*halfSize)), lo)
	ADDQ(I32(int32(v.groups()*halfSize)), hi)
	SUBQ(I32(int32(chunk)), length)
	JGE(LabelRef(whole))
	Comment("Nothing left of a message that is not empty: done.")
	CMPQ(length, I32(-int32(chunk)))
	JNE(LabelRef(partial))
	JMP(LabelRef(done))

	Label(rest)
	Label(partial)
	Comment("The last bytes, filled up with zeros to a group, at least one.")
	ADDQ(I32(int32(chunk)), length)
	ones, bytes, count := GP64(), GP64(), GP64()
	MOVQ(I32(-1), ones)
	first, second, present := K(), K(), K()
	BZHIQ(length, ones, bytes) // all ones from 64 on
	KMOVQ(bytes, first)
	zero := GP64()
	XORL(zero.As32(), zero.As32())
	MOVQ(length, count)
	SUBQ(Imm(64), count)
	CMOVQLT(zero, count)
	BZHIQ(count, ones, bytes)
	KMOVQ(bytes, second)
	one := GP64()
	MOVQ(I32(1), one)
	TESTQ(length, length)
	CMOVQEQ(one, length)
	ADDQ(I32(groupSize-1), length)
	SHRQ(Imm(5), length)
	SHLQ(Imm(2), length) // four words a group
	BZHIQ(length, ones, bytes)
	KMOVW(bytes.As32(), present)
	c, d := v.vec(), v.vec()
	VMOVDQU8_Z(Mem{Base: p}, first, c)
	VMOVDQU8_Z(Mem{Base: p, Disp: 64}, second, d)
	high := v.vec()
	split512(d, c, c, high)
	step(c, high, present)

	Label(done)
	for t, word := range reduce(v, s) {
		VMOVQ(word.AsX(), Mem{Base: words, Disp: 8 * t})
	}
	VZEROUPPER()
	RET()
}

// groups2 generates nh<n>AVX2, which adds to sums NH of whole groups.
func groups2(n int) {
	v := avx2{}
	Implement(fmt.Sprintf("nh%dAVX2", n))
	Pragma("noescape")

	words := Load(Param("sums"), GP64())
	lo := Load(Param("lo"), GP64())
	hi := Load(Param("hi"), GP64())
	p := Load(Param("p"), GP64())
	count := Load(Param("groups"), GP64())

	s := newSums(v, n)
	for t := range s {
		VPXOR(s[t].even, s[t].even, s[t].even)
		VPXOR(s[t].odd, s[t].odd, s[t].odd)
	}
	loop, single, done := fmt.Sprintf("groups%d", n), fmt.Sprintf("single%d", n), fmt.Sprintf("sum%d", n)
	SUBQ(I32(int32(v.groups())), count)
	JLT(LabelRef(single))
	Label(loop)
	a, b := v.vec(), v.vec()
	v.load(Mem{Base: p}, a, b)
	for t := range n {
		addProducts(v, s[t], a, b, keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0), nil, false)
	}
	ADDQ(I32(int32(v.groups()*groupSize)), p)
	ADDQ(I32(int32(v.groups()*halfSize)), lo)
	ADDQ(I32(int32(v.groups()*halfSize)), hi)
	SUBQ(I32(int32(v.groups())), count)
	JGE(LabelRef(loop))
	Label(single)
	CMPQ(count, I32(-1))
	JNE(LabelRef(done))
	Comment("One group: the upper lanes are zeros in both factors' sums.")
	for t := range n {
		k := keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
		x, y, even := XMM(), XMM(), XMM()
		VMOVDQU(Mem{Base: p}, x)
		VMOVDQU(Mem{Base: p, Disp: halfSize}, y)
		VPADDD(k.lo, x, x)
		VPADDD(k.hi, y, y)
		VPMULUDQ(y, x, even)
		VPSRLQ(U8(32), x, x)
		VPSRLQ(U8(32), y, y)
		VPMULUDQ(y, x, x)
		VPADDQ(even.AsY(), s[t].even, s[t].even)
		VPADDQ(x.AsY(), s[t].odd, s[t].odd)
	}
	Label(done)
	for t, word := range reduce(v, s) {
		out, old := Mem{Base: words, Disp: 8 * t}, XMM()
		VMOVQ(out, old)
		VPADDQ(old, word.AsX(), old)
		VMOVQ(old, out)
	}
	VZEROUPPER()
	RET()
}

// field returns the address of a component.
func field(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
