// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A schedule is the message schedule of one message.
type schedule struct {
	w      [16 / vecWords]VecVirtual // the last 16 words
	k      Register                  // address of the constants
	frame  Mem                       // the sums of 16 words and of their constants
	avx512 bool
}

func newSchedule(k Register, avx512 bool) *schedule {
	s := &schedule{k: k, frame: AllocLocal(blockSize), avx512: avx512}
	for i := range s.w {
		s.w[i] = YMM()
	}
	return s
}

// kw returns the sum of word t of 16 and its constant.
func (s *schedule) kw(t int) Mem { return s.frame.Offset(wordSize * t) }

// add writes the sums of vector i, with the constants that are offset bytes after those of the first
// 16 words.
func (s *schedule) add(i, offset int) {
	t, x := vecWords*i, YMM()
	VPADDQ(Mem{Base: s.k, Disp: offset + wordSize*t}, s.w[i], x)
	VMOVDQU(x, s.kw(t))
}

// rounds is the rounds that make words: all but the last 16. Then k is what it was.
func (s *schedule) rounds(r *variables, round func(r *variables, kw Mem)) {
	last := XMM() // the last two words: sigma1 of them begins the chain
	VEXTRACTI128(U8(1), s.w[3], last)
	left := GP64()
	MOVQ(U32(rounds/16-1), left)
	Label("rounds")
	for i, w16 := range s.w { // from W[t-16] on, and so on
		t := vecWords * i
		Comment(fmt.Sprintf("Rounds %d to %d of 16, and W[t] for these rounds of the next 16:", t, t+3),
			"sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].")
		w12, w8, w4 := s.w[(i+1)%4], s.w[(i+2)%4], s.w[(i+3)%4]
		w15 := shifted(w16, w12, s.avx512)
		VPADDQ(shifted(w8, w4, s.avx512), w16, w16)
		round(r, s.kw(t))
		VPADDQ(sigma0(w15, s.avx512), w16, w16)
		round(r, s.kw(t+1))
		low, high := XMM(), XMM()
		VEXTRACTI128(U8(1), w16, high)
		VPADDQ(sigma1(last, s.avx512), w16.AsX(), low)
		round(r, s.kw(t+2))
		VPADDQ(sigma1(low, s.avx512), high, last)
		VINSERTI128(U8(1), last, low.AsY(), w16)
		round(r, s.kw(t+3))
		s.add(i, blockSize)
	}
	ADDQ(U32(blockSize), s.k)
	DECQ(left)
	JNZ(LabelRef("rounds"))
	SUBQ(U32((rounds/16-1)*blockSize), s.k)
}

// wipe sets the frame to zeros.
func (s *schedule) wipe() {
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for t := 0; t < 16; t += vecWords {
		VMOVDQU(zero, s.kw(t))
	}
}

// shifted returns the last three words of v and the first of next.
func shifted(v, next VecVirtual, avx512 bool) VecVirtual {
	x := YMM()
	if avx512 {
		VALIGNQ(U8(1), v, next, x)
		return x
	}
	VPBLENDD(U8(0x03), next, v, x)
	VPERMQ(U8(0x39), x, x)
	return x
}

// sigma0 returns ROTR(1, v) xor ROTR(8, v) xor SHR(7, v) of four words.
func sigma0(v VecVirtual, avx512 bool) VecVirtual {
	if avx512 {
		return rotations(v, 1, 8, 7, YMM)
	}
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
func sigma1(v VecVirtual, avx512 bool) VecVirtual {
	if avx512 {
		return rotations(v, 19, 61, 6, XMM)
	}
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

// rotations returns ROTR(i, v) xor ROTR(j, v) xor SHR(k, v) of a vector of that size, with
// AVX-512.
func rotations(v VecVirtual, i, j, k uint8, size func() VecVirtual) VecVirtual {
	x, y, z := size(), size(), size()
	VPRORQ(U8(i), v, x)
	VPRORQ(U8(j), v, y)
	VPSRLQ(U8(k), v, z)
	VPTERNLOGQ(U8(0x96), y, z, x)
	return x
}
