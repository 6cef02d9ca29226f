// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha512 generates internal/sha512/sha512_amd64.s: the compression function
// of SHA-512, FIPS 180-4 section 6.4.2, over a run of blocks, for AVX2.
//
// The working variables are in general registers, the last 16 words of the message
// schedule in four vectors. The frame holds the sums of 16 words and of their
// constants, which the rounds read one by one. While 16 rounds run, vector
// instructions between them make the next 16 words; during the last 16 of a block
// they load the next block.
//
// It reads only the blocks, the state and the constants. Several messages side by side
// are in lanes.go.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/wipe"
)

const (
	rounds    = 80
	wordSize  = 8
	blockSize = 16 * wordSize
	vecWords  = 4
)

func main() {
	Package("example.com/fastmac/internal/sha512")
	ConstraintExpr("!purego")
	constants()
	block()
	lanes512()
	lanes2()
	wipe.Generate()
}

// Masks for VPSHUFB, the same for both 128-bit lanes.
var swap64, right8 Mem

func constants() {
	mask := func(name string, low, high uint64) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for lane := range 2 {
			DATA(16*lane, U64(low))
			DATA(16*lane+8, U64(high))
		}
		return m
	}
	swap64 = mask("swap64", 0x0001020304050607, 0x08090a0b0c0d0e0f)
	right8 = mask("right8", 0x0007060504030201, 0x080f0e0d0c0b0a09) // ROTR(8, v)
}

// variables are the registers of the working variables a to h, and of b xor c.
type variables struct {
	v  [8]GPVirtual
	bc GPVirtual
}

// setBC sets b xor c for the next round, whose b and c are a and b of this one.
func (r *variables) setBC(b, c GPVirtual) {
	MOVQ(b, r.bc)
	XORQ(c, r.bc)
}

// round is a round of
//
//	T1 = h + K + W + Ch(e, f, g) + Sigma1(e)
//	e' = d + T1
//	a' = T1 + Maj(a, b, c) + Sigma0(a)
//
// where K + W is in memory at kw. The longest chains, from e to e' and from a to a',
// have four operations each: d is added to the sum for e' before anything that depends
// on e, and T1 is e' - d. To add d last would save two operations, but make a chain of
// five, and takes 7 % longer on Zen 5. The order of independent operations matters by
// up to 5 %.
//
//	Ch(e, f, g)  = (e and f) + (not e and g)
//	Maj(a, b, c) = (a and (b xor c)) + (b and not (b xor c))
func (r *variables) round(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]
	x, y, z := GP64(), GP64(), GP64()

	ADDQ(kw, h)
	ADDQ(d, h)
	MOVQ(f, z)
	ANDQ(e, z)
	ADDQ(z, h)
	sigma(e, 14, 18, 41, x, y)
	ANDNQ(g, e, z)
	ADDQ(z, h)
	ADDQ(x, h) // e'

	ANDNQ(b, r.bc, z)
	SUBQ(d, z)
	ANDQ(a, r.bc)
	ADDQ(r.bc, z)
	sigma(a, 28, 34, 39, x, y)
	MOVQ(z, d) // no LEAQ: with BP or R13 for a base it takes two cycles
	ADDQ(h, d)
	ADDQ(x, d) // a'
	r.setBC(a, b)

	r.v = [8]GPVirtual{d, a, b, c, h, e, f, g}
}

// sigma sets x to the xor of v rotated right by i, by j and by k. It uses t.
func sigma(v GPVirtual, i, j, k uint8, x, t GPVirtual) {
	RORXQ(U8(i), v, x)
	RORXQ(U8(j), v, t)
	XORQ(t, x)
	RORXQ(U8(k), v, t)
	XORQ(t, x)
}

// shifted returns the last three words of v and the first of next.
func shifted(v, next VecVirtual) VecVirtual {
	x := YMM()
	VPBLENDD(U8(0x03), next, v, x)
	VPERMQ(U8(0x39), x, x)
	return x
}

// sigma0 returns ROTR(1, v) xor ROTR(8, v) xor SHR(7, v) of four words.
func sigma0(v VecVirtual) VecVirtual {
	x, y, z := YMM(), YMM(), YMM()
	VPSRLQ(U8(1), v, x)
	VPSLLQ(U8(64-1), v, y)
	VPSHUFB(right8, v, z)
	VPXOR(y, x, x)
	VPSRLQ(U8(7), v, y)
	VPXOR(z, y, y)
	VPXOR(y, x, x)
	return x
}

// sigma1 returns ROTR(19, v) xor ROTR(61, v) xor SHR(6, v) of two words. The message
// schedule's chain passes through it twice in four rounds, and is about as long as the
// chain of these rounds.
func sigma1(v VecVirtual) VecVirtual {
	x, y, z, t := XMM(), XMM(), XMM(), XMM()
	VPSRLQ(U8(19), v, x)
	VPSLLQ(U8(64-19), v, t)
	VPSRLQ(U8(61), v, y)
	VPXOR(t, x, x)
	VPSLLQ(U8(64-61), v, t)
	VPSRLQ(U8(6), v, z)
	VPXOR(t, y, y)
	VPXOR(z, x, x)
	VPXOR(y, x, x)
	return x
}

// block generates blockAVX2.
func block() {
	Implement("blockAVX2")
	Attributes(attr.NOSPLIT)
	Pragma("noescape")

	p, k := GP64(), GP64()
	Load(Param("p"), p)
	Load(Param("k"), k)
	blocks, err := Param("blocks").Resolve()
	if err != nil {
		panic(err)
	}
	frame := AllocLocal(blockSize)
	kw := func(t int) Mem { return frame.Offset(wordSize * t) }

	r := variables{bc: GP64()}
	state := GP64()
	Load(Param("state"), state)
	for i := range r.v {
		r.v[i] = GP64()
		MOVQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
	}

	var w [16 / vecWords]VecVirtual
	last := XMM() // the last two words: sigma1 of them begins the chain
	// add writes K + W of four words into the frame.
	add := func(w VecVirtual, k, kw Mem) {
		x := YMM()
		VPADDQ(k, w, x)
		VMOVDQU(x, kw)
	}
	load := func(t int) {
		w := w[t/vecWords]
		VMOVDQU(Mem{Base: p, Disp: wordSize * t}, w)
		VPSHUFB(swap64, w, w)
		add(w, Mem{Base: k, Disp: wordSize * t}, kw(t))
	}
	for i := range w {
		w[i] = YMM()
		load(vecWords * i)
	}

	Label("block")
	VEXTRACTI128(U8(1), w[3], last)
	r.setBC(r.v[1], r.v[2])
	left := GP64()
	MOVQ(U32(rounds/16-1), left)
	Label("rounds")
	for i := range w {
		t := vecWords * i
		Comment(fmt.Sprintf("Rounds %d to %d of 16, and W[t] for these rounds of the next 16:", t, t+3),
			"sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].")
		w16, w12, w8, w4 := w[i], w[(i+1)%4], w[(i+2)%4], w[(i+3)%4] // from W[t-16] on, and so on
		w15 := shifted(w16, w12)
		VPADDQ(shifted(w8, w4), w16, w16)
		r.round(kw(t))
		VPADDQ(sigma0(w15), w16, w16)
		r.round(kw(t + 1))
		low, high := XMM(), XMM()
		VEXTRACTI128(U8(1), w16, high)
		VPADDQ(sigma1(last), w16.AsX(), low)
		r.round(kw(t + 2))
		VPADDQ(sigma1(low), high, last)
		VINSERTI128(U8(1), last, low.AsY(), w16)
		r.round(kw(t + 3))
		add(w16, Mem{Base: k, Disp: blockSize + wordSize*t}, kw(t))
	}
	ADDQ(U32(blockSize), k)
	DECQ(left)
	JNZ(LabelRef("rounds"))

	Comment("The last 16 rounds, and the next block; after the last block, this one again.")
	SUBQ(U32((rounds/16-1)*blockSize), k)
	next := GP64()
	LEAQ(Mem{Base: p, Disp: blockSize}, next)
	DECQ(blocks.Addr)
	CMOVQNE(next, p)
	for t := 0; t < 16; t += vecWords {
		for i := range vecWords {
			r.round(kw(t + i))
		}
		load(t)
	}
	state = GP64()
	Load(Param("state"), state)
	for i := range r.v {
		ADDQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
		MOVQ(r.v[i], Mem{Base: state, Disp: wordSize * i})
	}
	CMPQ(blocks.Addr, Imm(0))
	JNE(LabelRef("block"))

	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for t := 0; t < 16; t += vecWords {
		VMOVDQU(zero, kw(t))
	}
	VZEROUPPER()
	RET()
}
