// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command nh generates nh_amd64.s: NH, and POLY-64 in step with it, for AVX-512
// and AVX2 and one to four iterations of UHASH; and the L1 key.
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
	// fast again on Zen 5. What fits in the L1 cache, the last blocks of a long
	// run too, is 8 % faster without.
	prefetch       = 8 << 10
	prefetchBlocks = 32
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
	fill512()
	deriveL1()
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

// newSums returns an accumulator for each of n iterations.
func newSums(v isa, n int) []VecVirtual {
	s := make([]VecVirtual, n)
	for t := range s {
		s[t] = v.vec()
	}
	return s
}

// addChunk adds to s, or sets it to, the terms of NH for the message halves a and b.
// Where mask is not nil, groups outside it count nothing. Iterations go in pairs,
// step by step, which Zen 5 likes better than one after the other.
func addChunk(v isa, s []VecVirtual, a, b VecVirtual, keys []key, mask Register, set bool) {
	for len(s) > 0 {
		pair := s[:min(2, len(s))]
		x, y, even := make([]VecVirtual, 2), make([]VecVirtual, 2), make([]VecVirtual, 2)
		for t := range pair {
			x[t], y[t], even[t] = v.vec(), v.vec(), v.vec()
			if mask == nil {
				VPADDD(keys[t].lo, a, x[t])
			} else {
				// Whole vectors of the key, for what lies behind it is the
				// key's own, and a masked load that misses the cache takes
				// far longer.
				VMOVDQU64(keys[t].lo, x[t])
				VPADDD_Z(x[t], a, mask, x[t])
			}
			VPADDD(keys[t].hi, b, y[t])
		}
		for t := range pair {
			VPMULUDQ(y[t], x[t], even[t])
		}
		for t := range pair {
			VPSHUFD(U8(0xf5), x[t], x[t])
			VPSHUFD(U8(0xf5), y[t], y[t])
		}
		for t := range pair {
			VPMULUDQ(y[t], x[t], x[t])
		}
		for t, sum := range pair {
			if set {
				VPADDQ(x[t], even[t], sum)
				continue
			}
			// Together first: the chain from chunk to chunk has one addition.
			VPADDQ(x[t], even[t], even[t])
			VPADDQ(even[t], sum, sum)
		}
		s, keys = s[len(pair):], keys[len(pair):]
	}
}

// addGroup adds to s the terms of NH for the one group at p.
func addGroup(v isa, s []VecVirtual, lo, hi, p Register) {
	Comment("One group: the upper lanes of its products are zeros.")
	for t, sum := range s {
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
		VPADDQ(x, even, even)
		VPADDQ(v.wide(even), sum, sum)
	}
}

// reduce returns vectors whose lowest 128 bits are the sums of two iterations
// each; of a last one without a second half, that half is of no meaning. To skip
// the fold of sums that are in the lowest lane alone, few leaves the flags for JLS.
func reduce(v isa, s []VecVirtual, few func()) (low []VecVirtual) {
	for t := 0; t < len(s); t += 2 {
		first := s[t]
		second := first
		if t+1 < len(s) {
			second = s[t+1]
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
	y := Dereference(Param("y"))
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
	// then they have left the vector unit, and nothing has to wait. Until then
	// they are in the frame, with the squares of POLY's keys.
	frame := AllocLocal(2 * wordsSize)
	word := func(t int) Mem { return frame.Offset(8 * t) }
	squares := make([]Op, n)
	for t := range squares {
		squares[t] = frame.Offset(wordsSize + 8*t)
		MOVQ(square(k, t), squares[t])
	}
	polySteps := func() {
		Comment("L1 words of the block before, with their length in bits, for who wants them.")
		m := GP64()
		noWords := label("poly")
		TESTQ(words, words)
		JZ(LabelRef(noWords))
		for t := range n {
			MOVQ(word(t), m)
			ADDQ(I32(8*blockSize), m)
			MOVQ(m, Mem{Base: words, Disp: 8 * t})
		}
		ADDQ(Imm(wordsSize), words)
		Label(noWords)
		for t := range n {
			m := GP64()
			MOVQ(word(t), m)
			ADDQ(I32(8*blockSize), m)
			MOVQ(polyStep(k, y, t, squares[t], m), field(y.Index(t).Field("lo")))
		}
	}
	block, entry := label("block"), label("entry")
	s := newSums(v, n)
	nh := func() {
		for c := range blockSize / chunk {
			Comment(fmt.Sprintf("Bytes %d to %d of the block.", c*chunk, (c+1)*chunk-1))
			a, b := v.vec(), v.vec()
			v.load(Mem{Base: p, Disp: c * chunk}, a, b)
			keys := make([]key, n)
			for t := range n {
				keys[t] = keysAt(lo, hi, t, c*v.groups())
			}
			if registers != nil {
				keys[0] = registers[c]
				if n > 1 {
					keys[1].lo = registers[c].hi
				}
			}
			addChunk(v, s, a, b, keys, nil, c == 0)
		}
	}
	first := GP64()
	MOVQ(count, first)
	Label(block)
	near := label("near")
	CMPQ(count, Imm(prefetchBlocks))
	JLS(LabelRef(near))
	for line := 0; line < blockSize; line += cacheLine {
		PREFETCHT0(Mem{Base: p, Disp: prefetch + line})
	}
	Label(near)
	nh()
	CMPQ(count, first)
	JEQ(LabelRef(entry))
	polySteps()
	Label(entry)
	for i, low := range reduce(v, s, nil) {
		if v.name() == "AVX512" {
			VMOVDQU64(low.AsX(), word(2*i))
		} else {
			VMOVDQU(low.AsX(), word(2*i))
		}
	}
	ADDQ(I32(blockSize), p)
	DECQ(count)
	JNZ(LabelRef(block))
	polySteps()
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	VMOVDQU(zero, frame)
	VMOVDQU(zero, frame.Offset(wordsSize))
	VZEROUPPER()
	RET()
}

var labels int

// label returns a new label; avo wants them to be unique in a file.
func label(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// square returns the square of POLY-64's key in iteration t modulo p64, not reduced.
func square(k gotypes.Component, t int) GPVirtual {
	k64 := field(k.Field("l2").Index(t).Field("k64"))
	low, high := GP64(), GP64()
	MOVQ(k64, RDX)
	MULXQ(RDX, low, high) // k < 2^57, so high < 2^50
	IMUL3Q(Imm(offset64), high, high)
	ADDQ(high, low)
	addCarry59(low, high)
	return low
}

// polyStep returns what a step of POLY-64, RFC 4418 section 5.3.2, makes of the
// value y and the word m in iteration t, without a branch:
//
//	k*y + m                               if m < 2^64 - 2^32
//	k*(k*y - 1) + m-59 = k^2*y + m-59-k   otherwise
//
// modulo p64 = 2^64-59. k^2 is in squared. The value is any number below 2^64 of its residue class.
func polyStep(k, y gotypes.Component, t int, squared Op, m GPVirtual) (value GPVirtual) {
	Comment("m < 2^64-2^32 ? k*y + m : k^2*y + (m-59-k)")
	k64 := field(k.Field("l2").Index(t).Field("k64"))
	high, low, factor, marked, limit := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: m, Disp: -offset64}, marked)
	SUBQ(k64, marked)
	MOVQ(k64, factor)
	MOVQ(U64(1<<32), limit)
	ADDQ(m, limit)
	CMOVQCS(squared, factor)
	CMOVQCS(marked, m)

	MOVQ(field(y.Index(t).Field("lo")), RDX)
	MULXQ(factor, low, high)
	MOVQ(I32(offset64), RDX)
	foldLow, foldHigh := GP64(), GP64()
	MULXQ(high, foldLow, foldHigh) // 59 * high, foldHigh < 59
	ADDQ(foldLow, low)
	ADCQ(Imm(0), foldHigh)
	ADDQ(m, low)
	ADCQ(Imm(0), foldHigh) // <= 60
	IMUL3Q(Imm(offset64), foldHigh, foldHigh)
	ADDQ(foldHigh, low)
	addCarry59(low, high)
	return low
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
// bytes is negative; where there is a y, it is the value of POLY-64 before the last
// word.
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
	sums := GP64()
	Load(Param("sums"), sums)
	if whole {
		TESTQ(length, length)
		JLT(LabelRef(noBytes))
	}
	s := newSums(v, n)
	for t := range s {
		VMOVQ(Mem{Base: sums, Disp: 8 * t}, s[t].AsX())
	}
	chunk := v.groups() * groupSize
	keys := make([]key, n)
	for t := range keys {
		keys[t] = keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
	}
	step := func(a, b VecVirtual, mask Register) {
		addChunk(v, s, a, b, keys, mask, false)
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
	low := reduce(v, s, func() {
		length := GP64()
		Load(Param("n"), length)
		CMPQ(length, Imm(groupSize))
	})
	Comment("The words of all iterations side by side.")
	words := YMM()
	if len(low) > 1 {
		VINSERTI64X2(U8(1), low[1].AsX(), low[0].AsY(), words)
	} else {
		VMOVDQA64(low[0].AsY(), words)
	}
	if whole {
		hashed := label("hashed")
		JMP(LabelRef(hashed))
		Label(noBytes)
		join(words, func(t int, x Register) { VMOVQ(Mem{Base: sums, Disp: 8 * t}, x) },
			func(t int, x Register) { VPINSRQ(U8(1), Mem{Base: sums, Disp: 8 * t}, x, x) }, n)
		Label(hashed)
		tag(n, words)
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
}

// join puts n words side by side, each by itself, for so they may have been stored:
// even and odd put word t in the lower and in the upper half of a register.
func join(words VecVirtual, even, odd func(t int, x Register), n int) {
	even(0, words.AsX())
	if n > 1 {
		odd(1, words.AsX())
	}
	if n > 2 {
		x := XMM()
		even(2, x)
		if n > 3 {
			odd(3, x)
		}
		VINSERTI128(U8(1), x, words, words)
	}
}

// tag goes on from the words of NH to the tag, for all iterations side by side.
func tag(n int, words VecVirtual) {
	Comment("L1: the length in bits.")
	length, x := GP64(), YMM()
	Load(Param("length"), length)
	VPBROADCASTQ(length, x)
	VPADDQ(x, words, words)

	Comment("L2: the last step of POLY-64, if there were others.")
	pointer := GP64()
	Load(Param("y"), pointer)
	y := Param("y").Dereference(pointer)
	short := label("short")
	TESTQ(pointer, pointer)
	JZ(LabelRef(short))
	k := Dereference(Param("k"))
	values := make([]GPVirtual, n)
	for t := range values {
		m := GP64()
		if t == 2 {
			VEXTRACTI128(U8(1), words, words.AsX())
		}
		if t%2 == 0 {
			VMOVQ(words.AsX(), m)
		} else {
			VPEXTRQ(U8(1), words.AsX(), m)
		}
		value := polyStep(k, y, t, square(k, t), m)
		Comment("The least residue.")
		LEAQ(Mem{Base: value, Disp: offset64}, m)
		CMPQ(m, Imm(offset64))
		CMOVQCS(m, value)
		values[t] = value
	}
	join(words, func(t int, x Register) { VMOVQ(values[t], x) },
		func(t int, x Register) { VPINSRQ(U8(1), values[t], x, x) }, n)
	Label(short)
	tagL3(n, words)
}

// tagL3 is L3-HASH, RFC 4418 section 5.4, of words of 8 bytes, and the xor with the
// pad.
func tagL3(n int, w VecVirtual) {
	y, x := YMM(), YMM()
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

// Constants of tagL3 and deriveL1.
var (
	word16, mask36, prime36, swap32 Mem
	kdfFirst, kdfStep               Mem
)

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
	kdfFirst = GLOBL("kdfFirst", attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(16*i, U64(1<<56)) // the index of the L1 key
		DATA(16*i+8, U64(uint64(i+1)<<56))
	}
	kdfStep = GLOBL("kdfStep", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(4<<56))
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
		VPXOR(s[t], s[t], s[t])
	}
	loop, single, done := fmt.Sprintf("groups%d", n), fmt.Sprintf("single%d", n), fmt.Sprintf("sum%d", n)
	SUBQ(I32(int32(v.groups())), count)
	JLT(LabelRef(single))
	Label(loop)
	a, b := v.vec(), v.vec()
	v.load(Mem{Base: p}, a, b)
	keys := make([]key, n)
	for t := range n {
		keys[t] = keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
	}
	addChunk(v, s, a, b, keys, nil, false)
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
	for i, low := range reduce(v, s, nil) {
		out := Mem{Base: words, Disp: 16 * i}
		VPADDQ(out, low.AsX(), low.AsX())
		VMOVDQU(low.AsX(), out)
	}
	VZEROUPPER()
	RET()
}

// fill512 generates fillAVX512, which copies less than a group and fills it up with
// zeros, in one store.
func fill512() {
	Implement("fillAVX512")
	Pragma("noescape")
	group, p, n := Load(Param("group"), GP64()), Load(Param("p"), GP64()), Load(Param("n"), GP64())
	ones, x, mask := GP64(), YMM(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVD(ones.As32(), mask)
	VMOVDQU8_Z(Mem{Base: p}, mask, x)
	VMOVDQU(x, Mem{Base: group})
	VZEROUPPER()
	RET()
}

// deriveL1 generates deriveL1VAES: KDF, RFC 4418 section 3.2, for the L1 key, 67
// blocks side by side, and the key's halves from them.
func deriveL1() {
	const vectors = 17 // of four blocks; the last block is left over
	Implement("deriveL1VAES")
	Pragma("noescape")
	k := Dereference(Param("k"))
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())

	Comment("The index and the counter of each block, big-endian.")
	x := make([]VecVirtual, vectors)
	step, roundKey := ZMM(), ZMM()
	VBROADCASTI32X4(kdfStep, step)
	for i := range x {
		x[i] = ZMM()
		if i == 0 {
			VMOVDQU64(kdfFirst, x[i])
		} else {
			VPADDQ(step, x[i-1], x[i])
		}
	}
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for i := range x {
		VPXORQ(roundKey, x[i], x[i])
	}
	round := label("round")
	DECQ(rounds)
	Label(round)
	ADDQ(Imm(16), enc)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for i := range x {
		VAESENC(roundKey, x[i], x[i])
	}
	DECQ(rounds)
	JNZ(LabelRef(round))
	VBROADCASTI32X4(Mem{Base: enc, Disp: 16}, roundKey)
	swap := ZMM()
	VBROADCASTI32X4(swap32, swap)
	for i := range x {
		VAESENCLAST(roundKey, x[i], x[i])
		VPSHUFB(swap, x[i], x[i])
	}
	Comment("Blocks in turn for the low and the high halves.")
	lo, hi := field(k.Field("lo").Index(0)), field(k.Field("hi").Index(0))
	t := ZMM()
	for i := 0; i+1 < vectors; i += 2 {
		VSHUFI64X2(U8(0x88), x[i+1], x[i], t)
		VMOVDQU64(t, lo.Offset(32*i))
		VSHUFI64X2(U8(0xdd), x[i+1], x[i], t)
		VMOVDQU64(t, hi.Offset(32*i))
	}
	last := x[vectors-1]
	VMOVDQU64(last.AsX(), lo.Offset(512))
	VEXTRACTI32X4(U8(1), last, hi.Offset(512))
	VEXTRACTI32X4(U8(2), last, lo.Offset(528))
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
