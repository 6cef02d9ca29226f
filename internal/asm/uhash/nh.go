// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	cacheLine = 64

	// How far ahead runs of blocks are prefetched. On Zen 5 this makes data from
	// memory half as fast again. Data that fits in the L1 cache is 8 % faster
	// without it, and so are the last blocks of a long run.
	prefetch       = 8 << 10
	prefetchBlocks = 32
)

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
// With all low halves in one array and all high halves in another, each is a plain
// load. VPMULUDQ multiplies the even words of its operands; the odd ones
// are shifted down for a second product.

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

// newSums returns an accumulator for each of n iterations.
func newSums(v isa, n int) []VecVirtual {
	s := make([]VecVirtual, n)
	for t := range s {
		s[t] = v.vec()
	}
	return s
}

// addChunk adds to s, or sets it to, the terms of NH for the message halves a and b.
// If mask is not nil, groups outside it add nothing. Iterations are computed in pairs,
// step by step, which is faster on Zen 5 than one after the other.
func addChunk(v isa, s []VecVirtual, a, b VecVirtual, keys []key, mask Register, set bool) {
	for len(s) > 0 {
		pair := s[:min(2, len(s))]
		x, y, even := make([]VecVirtual, 2), make([]VecVirtual, 2), make([]VecVirtual, 2)
		for t := range pair {
			x[t], y[t], even[t] = v.vec(), v.vec(), v.vec()
			if mask == nil {
				VPADDD(keys[t].lo, a, x[t])
			} else {
				// Load whole vectors of the key: what follows it belongs to
				// the key too, and a masked load that misses the cache takes
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
			// Even and odd first, so that the chain from chunk to chunk has
			// one addition.
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

// reduce returns vectors whose lowest 128 bits are the sums of two iterations each. If
// the number of iterations is odd, the second half of the last one is meaningless. If
// few is not nil, it sets the flags: the fold is skipped on JLS, when all sums are in
// the lowest lane.
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

// A run is a loop over the blocks at p, as many as count.
type run struct {
	v        isa
	n        int
	lo, hi   Mem
	p, count Register
	key0     []key // of iteration 0, in registers where there is room
}

func newRun(v isa, n int, k gotypes.Component) run {
	l1 := k.Field("l1")
	r := run{
		v: v, n: n,
		lo: field(l1.Field("lo").Index(0)), hi: field(l1.Field("hi").Index(0)),
		p: Load(Param("p").Base(), GP64()), count: Load(Param("p").Len(), GP64()),
	}
	SHRQ(Imm(10), r.count)
	if v.name() == "AVX512" {
		Comment("The key of iteration 0 stays in registers.")
		for g := 0; g < blockSize/groupSize; g += v.groups() {
			k, in := keysAt(r.lo, r.hi, 0, g), key{v.vec(), v.vec()}
			VMOVDQU64(k.lo, in.lo)
			VMOVDQU64(k.hi, in.hi)
			r.key0 = append(r.key0, in)
		}
	}
	return r
}

// hash sets s to the terms of NH for the block at p.
func (r run) hash(s []VecVirtual) {
	near := label("near")
	CMPQ(r.count, Imm(prefetchBlocks))
	JLS(LabelRef(near))
	for line := 0; line < blockSize; line += cacheLine {
		PREFETCHT0(Mem{Base: r.p, Disp: prefetch + line})
	}
	Label(near)
	chunk := r.v.groups() * groupSize
	for c := range blockSize / chunk {
		Comment(fmt.Sprintf("Bytes %d to %d of the block.", c*chunk, (c+1)*chunk-1))
		a, b := r.v.vec(), r.v.vec()
		r.v.load(Mem{Base: r.p, Disp: c * chunk}, a, b)
		keys := make([]key, r.n)
		for t := range keys {
			keys[t] = keysAt(r.lo, r.hi, t, c*r.v.groups())
		}
		if r.key0 != nil {
			keys[0] = r.key0[c]
			if r.n > 1 {
				keys[1].lo = r.key0[c].hi
			}
		}
		addChunk(r.v, s, a, b, keys, nil, c == 0)
	}
}

// loop begins the loop. Where it does not begin a cache line, runs of two blocks take
// up to 8 % longer on Zen 4.
func (r run) loop(block string) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(cacheLine)}})
	Label(block)
}

// next moves on to the next block, and jumps to the start if there is one.
func (r run) next(block string) {
	ADDQ(I32(blockSize), r.p)
	DECQ(r.count)
	JNZ(LabelRef(block))
}

// nhBlocks generates nhBlocks<isa>.
func nhBlocks(v isa) {
	kernel("nhBlocks"+v.name(), func(n int, k gotypes.Component) {
		r := newRun(v, n, k)
		words := Load(Param("words").Base(), GP64())
		s := newSums(v, n)
		block := label("block")
		r.loop(block)
		r.hash(s)
		Comment("The words, with the length of a block in bits.")
		for i, low := range reduce(v, s, nil) {
			VPADDQ(blockBits, low.AsX(), low.AsX())
			v.store(low, Mem{Base: words, Disp: 16 * i})
		}
		ADDQ(Imm(wordsSize), words)
		r.next(block)
		VZEROUPPER()
		RET()
	})
}

// blockBits is the length of a block in bits, twice.
var blockBits Mem

func nhConstants() {
	blockBits = GLOBL("blockBits", attr.RODATA|attr.NOPTR)
	DATA(0, U64(8*blockSize))
	DATA(8, U64(8*blockSize))
}

// nhAdd512 generates nhAddAVX512.
func nhAdd512() {
	kernel("nhAddAVX512", func(n int, k gotypes.Component) {
		state, p, length := Load(Param("s"), GP64()), Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
		lo, hi := keysFrom(k, state)
		ADDQ(length, Mem{Base: state, Disp: wordsSize})
		words := addBytes512(n, state, lo, hi, p, length, "p")
		Comment("In one store, so that one load can read them.")
		switch n {
		case 1:
			VMOVQ(words.AsX(), Mem{Base: state})
		case 2:
			VMOVDQU64(words.AsX(), Mem{Base: state})
		default:
			VMOVDQU64(words.AsY(), Mem{Base: state})
		}
		VZEROUPPER()
		RET()
	})
}

// keysFrom returns the addresses of the halves of the L1 key for the group that
// follows those in an l1State.
func keysFrom(k gotypes.Component, state Register) (lo, hi GPVirtual) {
	l1 := k.Field("l1")
	offset := GP64()
	lo, hi = GP64(), GP64()
	MOVQ(Mem{Base: state, Disp: wordsSize}, offset)
	SHRQ(Imm(1), offset) // half a group of key for a group of message
	LEAQ(field(l1.Field("lo").Index(0)).Idx(offset, 1), lo)
	LEAQ(field(l1.Field("hi").Index(0)).Idx(offset, 1), hi)
	return lo, hi
}

// addBytes512 returns the sums of an l1State, all iterations side by side, with NH of
// length bytes at p, zero-padded to whole groups, at least one. Masks keep its loads
// within these bytes. It changes lo, hi, p and length, which is the length of the
// slice that parameter names.
func addBytes512(n int, state, lo, hi, p, length Register, parameter string) (words VecVirtual) {
	v := avx512{}
	rest, done, loop := label("rest"), label("done"), label("whole")
	s := newSums(v, n)
	for t := range s {
		VMOVQ(Mem{Base: state, Disp: 8 * t}, s[t].AsX())
	}
	chunk := v.groups() * groupSize
	keys := make([]key, n)
	for t := range keys {
		keys[t] = keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
	}
	SUBQ(I32(int32(chunk)), length)
	JLT(LabelRef(rest))
	Label(loop)
	a, b := v.vec(), v.vec()
	v.load(Mem{Base: p}, a, b)
	addChunk(v, s, a, b, keys, nil, false)
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
	Comment("The last bytes, zero-padded to a group, at least one.")
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
	SHLQ(Imm(2), length) // four words per group
	BZHIQ(length, ones, bytes)
	KMOVW(bytes.As32(), present)
	c, d := v.vec(), v.vec()
	VMOVDQU8_Z(Mem{Base: p}, first, c)
	VMOVDQU8_Z(Mem{Base: p, Disp: 64}, second, d)
	high := v.vec()
	split512(d, c, c, high)
	addChunk(v, s, c, high, keys, present, false)

	Label(done)
	low := reduce(v, s, func() {
		CMPQ(field(Param(parameter).Len()), Imm(groupSize))
	})
	Comment("The words of all iterations side by side.")
	words = YMM()
	if len(low) > 1 {
		VINSERTI64X2(U8(1), low[1].AsX(), low[0].AsY(), words)
	} else {
		VMOVDQA64(low[0].AsY(), words)
	}
	return words
}

// nhAdd2 generates nhAddAVX2.
func nhAdd2() {
	v := avx2{}
	kernel("nhAddAVX2", func(n int, k gotypes.Component) {
		state, p, length := Load(Param("s"), GP64()), Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
		lo, hi := keysFrom(k, state)
		ADDQ(length, Mem{Base: state, Disp: wordsSize})
		s := newSums(v, n)
		for t := range s {
			VPXOR(s[t], s[t], s[t])
		}
		loop, single, done := label("groups"), label("single"), label("sum")
		chunk := v.groups() * groupSize
		SUBQ(I32(int32(chunk)), length)
		JLT(LabelRef(single))
		Label(loop)
		a, b := v.vec(), v.vec()
		v.load(Mem{Base: p}, a, b)
		keys := make([]key, n)
		for t := range n {
			keys[t] = keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
		}
		addChunk(v, s, a, b, keys, nil, false)
		ADDQ(I32(int32(chunk)), p)
		ADDQ(I32(int32(v.groups()*halfSize)), lo)
		ADDQ(I32(int32(v.groups()*halfSize)), hi)
		SUBQ(I32(int32(chunk)), length)
		JGE(LabelRef(loop))
		Label(single)
		CMPQ(length, I32(groupSize-int32(chunk)))
		JNE(LabelRef(done))
		addGroup(v, s, lo, hi, p)
		Label(done)
		for i, low := range reduce(v, s, nil) {
			out := Mem{Base: state, Disp: 16 * i}
			VPADDQ(out, low.AsX(), low.AsX())
			v.store(low, out)
		}
		VZEROUPPER()
		RET()
	})
}

// fill512 generates fillAVX512, which copies less than a group, zero-padded, in one
// store.
func fill512() {
	Implement("fillAVX512")
	Pragma("noescape")
	group, p, n := Load(Param("group"), GP64()), Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
	ones, x, mask := GP64(), YMM(), K()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	KMOVD(ones.As32(), mask)
	VMOVDQU8_Z(Mem{Base: p}, mask, x)
	VMOVDQU(x, Mem{Base: group})
	VZEROUPPER()
	RET()
}
