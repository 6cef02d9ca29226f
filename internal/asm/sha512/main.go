// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command sha512 generates internal/sha512/sha512_amd64.s: the compression function
// of SHA-512, FIPS 180-4 section 6.4.2, over a run of blocks, for AVX-512 and AVX2.
//
// The eight working variables are in general registers. The message schedule is in
// vectors of four words, 16 words of it at a time; the frame holds the sums of these
// and of their constants, which the rounds take one by one. While 16 rounds run,
// vector instructions between theirs make the words of the 16 to come, and in the
// last 16 rounds of a block they load the next block.
//
// Nothing outside the blocks, the state and the constants is read.
//
// Beside it, in lanes.go, there is that of several messages at once.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	rounds    = 80
	wordSize  = 8
	blockSize = 16 * wordSize
	vecSize   = 4 * wordSize
)

func main() {
	Package("example.com/fastmac/internal/sha512")
	ConstraintExpr("!purego")
	constants()
	block(avx512{})
	block(avx2{})
	lanes512()
	lanes2()
	Generate()
}

// Masks for VPSHUFB, of both 128-bit lanes.
var swap64, rotate8 Mem

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
	rotate8 = mask("rotate8", 0x0007060504030201, 0x080f0e0d0c0b0a09) // to the right
}

// An isa is what the message schedule is made with.
type isa interface {
	name() string
	// shifted returns the last three words of v and the first of next.
	shifted(v, next VecVirtual) VecVirtual
	// sigma0 and sigma1 are the functions of FIPS 180-4 section 4.1.3.
	sigma0(v VecVirtual) VecVirtual
	sigma1(v VecVirtual) VecVirtual
}

type avx512 struct{}

func (avx512) name() string { return "AVX512" }

func (avx512) shifted(v, next VecVirtual) VecVirtual {
	x := YMM()
	VALIGNQ(U8(1), v, next, x)
	return x
}

func (avx512) sigma0(v VecVirtual) VecVirtual { return sigma512(v, 1, 8, 7) }
func (avx512) sigma1(v VecVirtual) VecVirtual { return sigma512(v, 19, 61, 6) }

// sigma512 returns ROTR(first, v) xor ROTR(second, v) xor SHR(shift, v).
func sigma512(v VecVirtual, first, second, shift uint8) VecVirtual {
	x, y, z := YMM(), YMM(), YMM()
	VPRORQ(U8(first), v, x)
	VPRORQ(U8(second), v, y)
	VPSRLQ(U8(shift), v, z)
	VPTERNLOGQ(U8(0x96), x, y, z) // xor of all three
	return z
}

type avx2 struct{}

func (avx2) name() string { return "AVX2" }

func (avx2) shifted(v, next VecVirtual) VecVirtual {
	x := YMM()
	VPBLENDD(U8(0x03), next, v, x)
	VPERMQ(U8(0x39), x, x)
	return x
}

func (avx2) sigma0(v VecVirtual) VecVirtual {
	x, y := YMM(), YMM()
	VPSRLQ(U8(7), v, x)
	VPSHUFB(rotate8, v, y)
	VPXOR(y, x, x)
	xorRotated(x, v, 1)
	return x
}

func (avx2) sigma1(v VecVirtual) VecVirtual {
	x := YMM()
	VPSRLQ(U8(6), v, x)
	xorRotated(x, v, 19)
	xorRotated(x, v, 61)
	return x
}

// xorRotated sets x to the xor of x and ROTR(n, v).
func xorRotated(x, v VecVirtual, n uint8) {
	y, z := YMM(), YMM()
	VPSRLQ(U8(n), v, y)
	VPSLLQ(U8(64-n), v, z)
	VPXOR(y, x, x)
	VPXOR(z, x, x)
}

// variables are the registers of the working variables a to h, and the xor of b
// and c, which is that of a and b in the round before.
type variables struct {
	v  [8]GPVirtual
	bc GPVirtual
}

// round is a round of
//
//	T1 = h + K + W + Ch(e, f, g) + Sigma1(e)
//	e' = d + T1
//	a' = T1 + Sigma0(a) + Maj(a, b, c)
//
// in an order in which e' and a' come four operations after e and a: e' is summed
// up from d on, beginning with what does not depend on e, and T1 is e' - d.
//
//	Ch(e, f, g) = (e and f) + (not e and g)
//	Maj(a, b, c) = ((b xor c) and a) + (not (b xor c) and b)
//
// kw is K + W in memory.
func (r *variables) round(kw Mem) {
	a, b, c, d, e, f, g, h := r.v[0], r.v[1], r.v[2], r.v[3], r.v[4], r.v[5], r.v[6], r.v[7]
	x, y, z := GP64(), GP64(), GP64()
	ADDQ(kw, h)
	RORXQ(U8(14), e, x)
	RORXQ(U8(18), e, y)
	ADDQ(d, h)
	XORQ(y, x)
	RORXQ(U8(41), e, y)
	XORQ(y, x) // Sigma1
	MOVQ(f, z)
	ANDQ(e, z)
	ADDQ(z, h)
	ANDNQ(g, e, z)
	ADDQ(z, h)
	ADDQ(x, h) // e'

	ANDNQ(b, r.bc, z)
	SUBQ(d, z)
	ANDQ(a, r.bc)
	LEAQ(Mem{Base: z, Index: h, Scale: 1}, d)
	ADDQ(r.bc, d)
	RORXQ(U8(28), a, x)
	RORXQ(U8(34), a, y)
	XORQ(y, x)
	RORXQ(U8(39), a, y)
	XORQ(y, x) // Sigma0
	ADDQ(x, d) // a'
	r.setBC(a, b)
	r.v = [8]GPVirtual{d, a, b, c, h, e, f, g}
}

func (r *variables) setBC(b, c GPVirtual) {
	MOVQ(b, r.bc)
	XORQ(c, r.bc)
}

// block generates block<isa>.
func block(isa isa) {
	Implement("block" + isa.name())
	Pragma("noescape")
	label := func(name string) string { return name + isa.name() }

	p := Load(Param("p"), GP64())
	k := GP64()
	Load(Param("k"), k)
	blocks := param("blocks")
	frame := AllocLocal(blockSize)
	kw := func(t int) Mem { return frame.Offset(wordSize * t) }

	r := variables{bc: GP64()}
	state := Load(Param("state"), GP64())
	for i := range r.v {
		r.v[i] = GP64()
		MOVQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
	}

	var w [blockSize / vecSize]VecVirtual
	// sum writes K + W of the words t to t+3 into the frame.
	sum := func(t int, k Mem) {
		x := YMM()
		VPADDQ(k, w[t/4], x)
		VMOVDQU(x, kw(t))
	}
	load := func(t int) {
		VMOVDQU(Mem{Base: p, Disp: wordSize * t}, w[t/4])
		VPSHUFB(swap64, w[t/4], w[t/4])
		sum(t, Mem{Base: k, Disp: wordSize * t})
	}
	for i := range w {
		w[i] = YMM()
		load(4 * i)
	}

	Label(label("block"))
	r.setBC(r.v[1], r.v[2])
	count := GP64()
	MOVQ(U32(rounds/16-1), count)
	Label(label("rounds"))
	for t := 0; t < 16; t += 4 {
		Comment(fmt.Sprintf("Rounds %d to %d of 16, and the words for the same of the next 16:", t, t+3),
			"W[t] = sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].")
		i := t / 4
		w16, w12, w8, w4 := w[i], w[(i+1)%4], w[(i+2)%4], w[(i+3)%4] // from W[t-16] on, and so on
		w15 := isa.shifted(w16, w12)
		VPADDQ(isa.shifted(w8, w4), w16, w16)
		r.round(kw(t))
		VPADDQ(isa.sigma0(w15), w16, w16)
		r.round(kw(t + 1))
		// sigma1 of zeros, for the words that are still to come, is zero.
		w2 := YMM()
		VEXTRACTI128(U8(1), w4, w2.AsX())
		VPADDQ(isa.sigma1(w2), w16, w16)
		r.round(kw(t + 2))
		VPERM2I128(U8(0x08), w16, w16, w2)
		VPADDQ(isa.sigma1(w2), w16, w16)
		r.round(kw(t + 3))
		sum(t, Mem{Base: k, Disp: blockSize + wordSize*t})
	}
	ADDQ(U32(blockSize), k)
	DECQ(count)
	JNZ(LabelRef(label("rounds")))

	Comment("The last rounds, and the next block, or this one again if it is the last.")
	SUBQ(U32((rounds/16-1)*blockSize), k)
	next := GP64()
	LEAQ(Mem{Base: p, Disp: blockSize}, next)
	DECQ(blocks)
	CMOVQNE(next, p)
	for t := 0; t < 16; t += 4 {
		for i := range 4 {
			r.round(kw(t + i))
		}
		load(t)
	}
	state = Load(Param("state"), GP64())
	for i := range r.v {
		ADDQ(Mem{Base: state, Disp: wordSize * i}, r.v[i])
		MOVQ(r.v[i], Mem{Base: state, Disp: wordSize * i})
	}
	CMPQ(blocks, Imm(0))
	JNE(LabelRef(label("block")))

	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for t := 0; t < 16; t += 4 {
		VMOVDQU(zero, kw(t))
	}
	VZEROUPPER()
	RET()
}

// param returns the address of a parameter.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
