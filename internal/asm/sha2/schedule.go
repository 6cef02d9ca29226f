// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A schedule is the message schedule of one message.
type schedule struct {
	*Hash
	Form
	w     [16 / vecWords]VecVirtual // the last 16 words
	last  VecVirtual                // the last two of them, if they have 64 bits
	k     Register                  // address of the constants
	frame Mem                       // the sums of 16 words and of their constants
}

func (h *Hash) newSchedule(k Register, form Form) *schedule {
	s := &schedule{Hash: h, Form: form, k: k, frame: AllocLocal(h.blockSize())}
	for i := range s.w {
		s.w[i] = h.vector()
	}
	return s
}

// kw returns the sum of word t of 16 and its constant.
func (s *schedule) kw(t int) Mem { return s.frame.Offset(s.wordSize * t) }

// add writes the sums of vector i, with the constants that are offset bytes after those of the first
// 16 words.
func (s *schedule) add(i, offset int) {
	t, x := vecWords*i, s.vector()
	s.vpadd(Mem{Base: s.k, Disp: offset + s.wordSize*t}, s.w[i], x)
	VMOVDQU(x, s.kw(t))
}

// rounds is the rounds that make words: all but the last 16. Then k is what it was.
func (s *schedule) rounds(r *variables) {
	if s.wordSize == 8 {
		s.last = XMM() // sigma1 of them begins the chain
		VEXTRACTI128(U8(1), s.w[3], s.last)
	}
	left, times := GP64(), s.Hash.rounds/16-1
	MOVQ(U32(times), left)
	Label("rounds")
	for i, w16 := range s.w { // from W[t-16] on, and so on
		t := vecWords * i
		Comment(fmt.Sprintf("Rounds %d to %d of 16, and W[t] for these rounds of the next 16:", t, t+3),
			"sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16].")
		w12, w8, w4 := s.w[(i+1)%4], s.w[(i+2)%4], s.w[(i+3)%4]
		w15 := s.shifted(w16, w12)
		s.vpadd(s.shifted(w8, w4), w16, w16)
		r.round(s.kw(t))
		s.vpadd(s.sigma0(w15), w16, w16)
		r.round(s.kw(t + 1))
		addRest := s.addSigma1(w16, w4)
		r.round(s.kw(t + 2))
		addRest()
		r.round(s.kw(t + 3))
		s.add(i, s.blockSize())
	}
	ADDQ(U32(s.blockSize()), s.k)
	DECQ(left)
	JNZ(LabelRef("rounds"))
	SUBQ(U32(times*s.blockSize()), s.k)
}

// addSigma1 adds sigma1 of the two words before W[t] to the first two words of w16, and returns what adds that of
// these to the last two. The message schedule's chain passes through both in four rounds, and is about as long as
// the chain of these rounds.
func (s *schedule) addSigma1(w16, w4 VecVirtual) (addRest func()) {
	if s.wordSize == 4 {
		VPADDD(s.sigma1Pair(w4, 0), w16, w16)
		return func() { VPADDD(s.sigma1Pair(w16, 1), w16, w16) }
	}
	low, high := XMM(), XMM()
	VEXTRACTI128(U8(1), w16, high)
	VPADDQ(s.sigma1(s.last), w16.AsX(), low)
	return func() {
		VPADDQ(s.sigma1(low), high, s.last)
		VINSERTI128(U8(1), s.last, low.AsY(), w16)
	}
}

// wipe sets the frame to zeros.
func (s *schedule) wipe() {
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for at := 0; at < s.blockSize(); at += 32 {
		VMOVDQU(zero, s.frame.Offset(at))
	}
}

// shifted returns the last three words of v and the first of next.
func (s *schedule) shifted(v, next VecVirtual) VecVirtual {
	x := s.vector()
	switch {
	case s.wordSize == 4:
		VPALIGNR(U8(4), v, next, x)
	case s.AVX512:
		VALIGNQ(U8(1), v, next, x)
	default:
		VPBLENDD(U8(0x03), next, v, x)
		VPERMQ(U8(0x39), x, x)
	}
	return x
}

// sigma0 returns that function of four words.
func (s *schedule) sigma0(v VecVirtual) VecVirtual {
	x, y, z := s.vector(), s.vector(), s.vector()
	switch {
	case s.AVX512:
		return rotations(v, 1, 8, 7, YMM)
	case s.wordSize == 4:
		t := XMM()
		VPSRLD(U8(7), v, x)
		VPSLLD(U8(32-7), v, y)
		VPSRLD(U8(18), v, z)
		VPSLLD(U8(32-18), v, t)
		VPXOR(y, x, x)
		VPXOR(t, z, z)
		VPSRLD(U8(3), v, y)
		VPXOR(z, x, x)
		VPXOR(y, x, x)
	default:
		VPSRLQ(U8(1), v, x)
		VPSLLQ(U8(64-1), v, y)
		VPSHUFB(s.Right8, v, z)
		VPXOR(y, x, x)
		VPSRLQ(U8(7), v, y)
		VPXOR(z, y, y)
		VPXOR(y, x, x)
	}
	return x
}

// sigma1 returns that function of two words of 64 bits.
func (s *schedule) sigma1(v VecVirtual) VecVirtual {
	if s.AVX512 {
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

// sigma1Pair returns that function of two words of 32 bits, and zeros: of the last two in the place of the first two
// if half is 0, or of the first two in that of the last two. It shifts two copies of each word, whose lower half is
// then that of the word rotated.
func (s *schedule) sigma1Pair(v VecVirtual, half int) VecVirtual {
	copies, x, y := XMM(), XMM(), XMM()
	VPSHUFD(U8([]uint8{0xfa, 0x50}[half]), v, copies)
	VPSRLQ(U8(17), copies, x)
	VPSRLQ(U8(19), copies, y)
	VPSRLD(U8(10), copies, copies)
	VPXOR(y, x, x)
	VPXOR(copies, x, x)
	VPSHUFB(s.Halves[half], x, x)
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
