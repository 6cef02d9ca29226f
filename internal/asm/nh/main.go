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

	"github.com/mmcloughlin/avo/attr"
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
	cacheLine = 64

	// How far ahead runs of blocks are fetched: from memory that is half as
	// fast again on Zen 5, and from the caches it costs nothing. A prefetch
	// beyond the input reads nothing and cannot fault.
	prefetch = 8 << 10
)

func main() {
	Package("example.com/fastmac")
	ConstraintExpr("!purego")
	constants()
	for n := 1; n <= 4; n++ {
		blocks(avx512{}, n)
		last512(n, false)
		last512(n, true)
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
	// loadHalf loads half a group, and wide is its register in full width.
	loadHalf(p Mem, x VecVirtual)
	wide(x VecVirtual) Register
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

func (avx512) loadHalf(p Mem, x VecVirtual) { VMOVDQU64(p, x) }
func (avx512) wide(x VecVirtual) Register   { return x.AsZ() }

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

func (avx2) loadHalf(p Mem, x VecVirtual) { VMOVDQU(p, x) }
func (avx2) wide(x VecVirtual) Register   { return x.AsY() }

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
		// Of the key, too, nothing is read outside the mask.
		VPADDD_Z(k.lo, a, mask, x)
		VPADDD_Z(k.hi, b, mask, y)
	} else {
		VPADDD(k.lo, a, x)
		VPADDD(k.hi, b, y)
	}
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

// addGroup adds to s the terms of NH for the one group at p.
func addGroup(v isa, s []sums, lo, hi, p Register) {
	Comment("One group: the upper lanes of its products are zeros.")
	for t := range s {
		k := keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
		x, y, even := XMM(), XMM(), XMM()
		v.loadHalf(Mem{Base: p}, x)
		v.loadHalf(Mem{Base: p, Disp: halfSize}, y)
		VPADDD(k.lo, x, x)
		VPADDD(k.hi, y, y)
		VPMULUDQ(y, x, even)
		VPSHUFD(U8(0xf5), x, x)
		VPSHUFD(U8(0xf5), y, y)
		VPMULUDQ(y, x, x)
		VPADDQ(v.wide(even), s[t].even, s[t].even)
		VPADDQ(v.wide(x), s[t].odd, s[t].odd)
	}
}

// reduce returns the sum of each iteration in the lowest 64 bits of a vector.
func reduce(v isa, s []sums) (words []VecVirtual) {
	low := reduceLanes(v, s, nil)
	for t := range s {
		word := low[t/2]
		if t%2 == 1 {
			word = v.vec()
			VPUNPCKHQDQ(low[t/2], low[t/2], word)
		}
		words = append(words, word)
	}
	return words
}

// reduceLanes returns vectors whose lowest 128 bits are the sums of two iterations
// each; of a last one without a second half, that half is of no meaning. To skip
// the fold of sums that are in the lowest lane alone, few leaves the flags for JLS.
func reduceLanes(v isa, s []sums, few func()) (low []VecVirtual) {
	for t := range s {
		VPADDQ(s[t].odd, s[t].even, s[t].even)
	}
	for t := 0; t < len(s); t += 2 {
		first := s[t].even
		second := first
		if t+1 < len(s) {
			second = s[t+1].even
		}
		a, b := v.vec(), v.vec()
		VPUNPCKLQDQ(second, first, a)
		VPUNPCKHQDQ(second, first, b)
		VPADDQ(b, a, a)
		low = append(low, a)
	}
	folded := label("folded")
	if few != nil {
		few()
		JLS(LabelRef(folded))
	}
	for _, x := range low {
		v.fold(x)
	}
	if few != nil {
		Label(folded)
	}
	return low
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
			for line := 0; line < chunk; line += cacheLine {
				PREFETCHT0(Mem{Base: p, Disp: c*chunk + line + prefetch})
			}
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

// last512 generates nhAdd<n>AVX512, which adds to sums NH of bytes that begin at
// group g of a block and are filled up with zeros to whole groups, at least one.
// Masks keep its loads within these bytes. Or else, whole, it generates
// tag<n>AVX512, which goes on to L3 and the tag, and adds nothing if the number of
// bytes is negative.
func last512(n int, whole bool) {
	v := avx512{}
	name := "nhAdd"
	if whole {
		name = "tag"
	}
	Implement(fmt.Sprintf("%s%dAVX512", name, n))
	Pragma("noescape")

	l1 := Dereference(Param("k")).Field("l1")
	lo, hi, g := GP64(), GP64(), GP64()
	Load(Param("group"), g)
	SHLQ(Imm(4), g) // the size of half a group
	LEAQ(field(l1.Field("lo").Index(0)), lo)
	LEAQ(field(l1.Field("hi").Index(0)), hi)
	ADDQ(g, lo)
	ADDQ(g, hi)
	p := Load(Param("p"), GP64())
	length := Load(Param("n"), GP64())

	rest, done, loop := label("rest"), label("done"), label("whole")
	noBytes := label("noBytes")
	if whole {
		// Before the upper halves of registers are in use, on this path to
		// the end.
		TESTQ(length, length)
		JLT(LabelRef(noBytes))
	}
	s := newSums(v, n)
	sums := GP64()
	Load(Param("sums"), sums)
	for t := range s {
		VMOVQ(Mem{Base: sums, Disp: 8 * t}, s[t].even.AsX())
		VPXORQ(s[t].odd, s[t].odd, s[t].odd)
	}
	chunk := v.groups() * groupSize
	step := func(a, b VecVirtual, mask Register) {
		for t := range n {
			addProducts(v, s[t], a, b, keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0), mask, false)
		}
	}
	SUBQ(I32(int32(chunk)), length)
	JLT(LabelRef(rest))
	Label(loop)
	a, b := v.vec(), v.vec()
	v.load(Mem{Base: p}, a, b)
	step(a, b, nil)
	ADDQ(I32(int32(chunk)), p)
	ADDQ(I32(int32(v.groups()*halfSize)), lo)
	ADDQ(I32(int32(v.groups()*halfSize)), hi)
	SUBQ(I32(int32(chunk)), length)
	JGE(LabelRef(loop))
	Comment("Done, if nothing is left.")
	CMPQ(length, I32(-int32(chunk)))
	JEQ(LabelRef(done))

	Label(rest)
	ADDQ(I32(int32(chunk)), length)
	masked := label("masked")
	CMPQ(length, Imm(groupSize))
	JNE(LabelRef(masked))
	addGroup(v, s, lo, hi, p)
	JMP(LabelRef(done))

	Label(masked)
	Comment("The last bytes, filled up with zeros to a group, at least one.")
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
	low := reduceLanes(v, s, func() {
		length := GP64()
		Load(Param("n"), length)
		CMPQ(length, Imm(groupSize))
	})
	// The words of all iterations side by side.
	words := low[0]
	if len(low) > 1 {
		words = YMM()
		VINSERTI64X2(U8(1), low[1].AsX(), low[0].AsY(), words)
	}
	if whole {
		tagWords(n, words)
	} else {
		// In one store, so that one load can take them.
		switch n {
		case 1:
			VMOVQ(words.AsX(), Mem{Base: sums})
		case 2:
			VMOVDQU64(words.AsX(), Mem{Base: sums})
		default:
			VMOVDQU64(words.AsY(), Mem{Base: sums})
		}
	}
	VZEROUPPER()
	RET()

	if whole {
		Label(noBytes)
		Load(Param("sums"), sums)
		// One by one, for so they may have been stored.
		y := YMM()
		VMOVQ(Mem{Base: sums}, y.AsX())
		if n > 1 {
			VPINSRQ(U8(1), Mem{Base: sums, Disp: 8}, y.AsX(), y.AsX())
		}
		if n > 2 {
			x := XMM()
			VMOVQ(Mem{Base: sums, Disp: 16}, x)
			if n > 3 {
				VPINSRQ(U8(1), Mem{Base: sums, Disp: 24}, x, x)
			}
			VINSERTI128(U8(1), x, y, y)
		}
		tagWords(n, y)
		VZEROUPPER()
		RET()
	}
}

// tagWords is L3-HASH, RFC 4418 section 5.4, of the L1 words of a single block,
// which pass by L2, and the xor with the pad, for all iterations side by side.
func tagWords(n int, words VecVirtual) {
	Comment("L1: the length in bits.")
	w, y, x := YMM(), YMM(), YMM()
	length := GP64()
	Load(Param("length"), length)
	VPBROADCASTQ(length, x)
	VPADDQ(x, words.AsY(), w)
	Comment("L3: the 16-bit words times k_5 to k_8.")
	l3 := Dereference(Param("k")).Field("l3")
	k := func(j int) Mem { return field(l3.Field("low").Index(j).Index(0)) }
	VPSRLQ(U8(48), w, y)
	VPMULLQ(k(0), y, y)
	for j := 1; j < 4; j++ {
		x := YMM()
		if j < 3 {
			VPSRLQ(U8(48-16*j), w, x)
			VPANDQ_BCST(word16, x, x)
		} else {
			VPANDQ_BCST(word16, w, x)
		}
		VPMULLQ(k(j), x, x)
		VPADDQ(x, y, y)
	} // < 2^54
	Comment("Modulo p36 = 2^36-5.")
	t := YMM()
	VPSRLQ(U8(36), y, x)
	VPANDQ_BCST(mask36, y, y)
	VPSLLQ(U8(2), x, t)
	VPADDQ(x, y, y)
	VPADDQ(t, y, y) // < 2*p36
	VPSUBQ_BCST(prime36, y, x)
	VPMINUQ(x, y, y) // y-p36 wraps around if y < p36
	Comment("The tag, big-endian.")
	h, pad := XMM(), XMM()
	VPMOVQD(y, h)
	VPXORD(field(l3.Field("k2").Index(0)), h, h)
	VPSHUFB(swap32, h, h)
	tag := GP64()
	Load(Param("tag"), tag)
	// Not in one load: the caller has stored them one by one.
	VMOVQ(field(Param("padFirst")), pad)
	if n > 2 {
		VPINSRQ(U8(1), field(Param("padSecond")), pad, pad)
	}
	VPXORD(pad, h, h)
	switch n {
	case 1:
		VMOVD(h, Mem{Base: tag})
	case 2:
		VMOVQ(h, Mem{Base: tag})
	default:
		VMOVDQU64(h, Mem{Base: tag})
	}
}

// Constants of tagWords.
var word16, mask36, prime36, swap32 Mem

func constants() {
	word16 = GLOBL("word16", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0xffff))
	mask36 = GLOBL("mask36", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1<<36-1))
	prime36 = GLOBL("prime36", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1<<36-5))
	swap32 = GLOBL("swap32", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0x0405060700010203))
	DATA(8, U64(0x0c0d0e0f08090a0b))
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
	addGroup(v, s, lo, hi, p)
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
