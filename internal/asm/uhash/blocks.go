// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	cacheLine = 64

	// How far ahead runs of blocks are prefetched. This makes data from
	// memory up to half as fast again. Data that fits in the L1 cache is 8 % faster
	// without it, and so are the last blocks of a long run.
	prefetch       = 8 << 10
	prefetchBlocks = 32

	// How many chunks ahead the message is split into halves. These instructions have
	// few ports and a long latency.
	splitAhead = 2
)

// A run is a loop over the blocks at p, as many as count.
type run struct {
	v        isa
	n        int
	lo, hi   Mem
	p, count Register
	key0     []key // of iteration 0, in registers where there is room
}

func newRun(v isa, n int, k gotypes.Component) run {
	lo, hi := halves(k)
	r := run{
		v: v, n: n, lo: lo, hi: hi,
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

// hash sets s to the terms of NH for the block at p, and emits scalar instructions in
// between.
func (r run) hash(s []VecVirtual, scalar []func()) {
	near := label("near")
	CMPQ(r.count, Imm(prefetchBlocks))
	JLS(LabelRef(near))
	for line := 0; line < blockSize; line += cacheLine {
		PREFETCHT0(Mem{Base: r.p, Disp: prefetch + line})
	}
	Label(near)
	size := r.v.groups() * groupSize
	chunks := blockSize / size
	a, b := newSums(r.v, chunks), newSums(r.v, chunks)
	load := func(c int) func() {
		return func() { r.v.load(Mem{Base: r.p, Disp: c * size}, a[c], b[c]) }
	}
	var code []func()
	for c := range splitAhead {
		code = append(code, load(c))
	}
	for c := range chunks {
		code = append(code, func() { Comment(fmt.Sprintf("Bytes %d to %d of the block.", c*size, (c+1)*size-1)) })
		if c+splitAhead < chunks {
			code = append(code, load(c+splitAhead))
		}
		keys := make([]key, r.n)
		for t := range keys {
			keys[t] = keysAt(r.lo, r.hi, t, c*r.v.groups())
		}
		if r.key0 != nil {
			keys[0] = r.key0[c]
			keys[1].lo = r.key0[c].hi
		}
		code = append(code, chunk(r.v, s, a[c], b[c], keys, nil, c == 0)...)
	}
	weave(code, scalar)
}

// emit emits instructions.
func emit(code []func()) { weave(code, nil) }

// weave emits vector instructions with scalar ones evenly in between. Scalar ones in one
// lump would hold up the vector instructions behind them.
func weave(vector, scalar []func()) {
	emitted := 0
	for i, instruction := range vector {
		instruction()
		for emitted*len(vector) < (i+1)*len(scalar) {
			scalar[emitted]()
			emitted++
		}
	}
}

// loop begins the loop. Where it does not begin a cache line, runs of two blocks take
// up to 8 % longer.
func (r run) loop(block string) {
	align(cacheLine)
	Label(block)
}

// align begins a multiple of so many bytes.
func align(size uint64) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(size)}})
}

// next moves on to the next block. It sets the flags: zero if there is none.
func (r run) next() {
	ADDQ(I32(blockSize), r.p)
	DECQ(r.count)
}

// nhBlocks generates nhBlocks<isa>.
func nhBlocks(v isa) {
	kernel("nhBlocks"+v.name(), func(n int, k gotypes.Component) {
		p, count := Load(Param("p").Base(), GP64()), Load(Param("p").Len(), GP64())
		words := Load(Param("words").Base(), GP64())
		lo, hi := halves(k)
		s := newSums(v, n)
		block := label("block")
		SHRQ(Imm(10), count)
		align(cacheLine)
		Label(block)
		ADDQ(I32(blockSize), p)
		nhBlock(v, s, lo, hi, p)
		Comment("The words, with the length of a block in bits.")
		for i, low := range reduce(v, s) {
			VPADDQ(blockBits, low.AsX(), low.AsX())
			v.store(low, Mem{Base: words, Disp: 16 * i})
		}
		ADDQ(Imm(wordsSize), words)
		DECQ(count)
		JNZ(LabelRef(block))
		VZEROUPPER()
		RET()
	})
}

// nhBlock sets s to the terms of NH for the block that ends at end. It is a loop, which takes 3
// to 4 % more time than hash, to be small.
func nhBlock(v isa, s []VecVirtual, lo, hi Mem, end Register) {
	for _, sum := range s {
		v.zero(sum)
	}
	at, loop := GP64(), label("chunk")
	MOVQ(I32(-blockSize/2), at) // half of the bytes that are left
	align(32)
	Label(loop)
	half := func(m Mem) Mem { return Mem{Base: m.Base, Disp: m.Disp + blockSize/2, Index: at, Scale: 1} }
	low, high := v.vec(), v.vec()
	v.load(Mem{Base: end, Index: at, Scale: 2}, low, high)
	keys := make([]key, len(s))
	for t := range keys {
		keys[t] = keysAt(half(lo), half(hi), t, 0)
	}
	addChunk(v, s, low, high, keys, nil, false)
	ADDQ(I32(int32(v.groups()*halfSize)), at)
	JNZ(LabelRef(loop))
}

// blockBits is the length of a block in bits, four times.
var blockBits Mem

func nhConstants() {
	blockBits = four("blockBits", 8*blockSize)
}
