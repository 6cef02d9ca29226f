// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// GHASH, NIST SP 800-38D section 6.4, is computed as POLYVAL, RFC 8452 section 3 and
// appendix A: the bytes of each block are reversed, and the key is multiplied by x. Then
// the carry-less product of two blocks is
//
//	low + middle*x^64 + high*x^128
//
// and has to be divided by x^128 modulo
//
//	P = x^128 + x^127 + x^126 + x^121 + 1
//
// which is reduce. A sum of products is reduced once.

var (
	reverse    Mem // the order of bytes that reverses a block
	polynomial Mem // P without its highest and lowest bits, divided by x^64, in both halves of a block
	shiftedOut Mem // P without its highest bit
)

func ghashConstants() {
	reverse = GLOBL("reverse", attr.RODATA|attr.NOPTR)
	DATA(0, U64(0x08090a0b0c0d0e0f))
	DATA(8, U64(0x0001020304050607))
	polynomial = GLOBL("polynomial", attr.RODATA|attr.NOPTR)
	DATA(0, U64(polynomialBits))
	DATA(8, U64(polynomialBits))
	shiftedOut = GLOBL("shiftedOut", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1))
	DATA(8, U64(polynomialBits))
}

const polynomialBits = 0xc200000000000000

// sums are sums of products, and of the temporaries that making one needs.
type sums struct {
	low, middle, high VecVirtual
}

func (v isa) newSums() sums { return sums{v.vec(), v.vec(), v.vec()} }

func (v isa) clear(s sums) {
	v.zero(s.low)
	v.zero(s.middle)
	v.zero(s.high)
}

// power returns the address of H^n. The powers are in descending order.
func power(key Mem, n int) Mem { return key.Offset(blockSize * (powers - n)) }

// addProduct adds to s the products of the lanes of x with the powers at p, by Karatsuba's
// method: middle is the sum of (low+high half)*(low+high half), from which reduce subtracts
// low and high. It sets s if set is true. It overwrites x.
func (v isa) addProduct(s sums, x VecVirtual, p Mem, set bool) {
	add := v.xor
	if set {
		add = func(a Op, x VecVirtual) { v.move(a.(VecVirtual), x) }
	}
	both, h := v.vec(), v.vec()
	v.swap(x, both)
	v.xor(x, both)
	v.load(p, h)
	v.multiply(0x00, x, h)
	add(h, s.low)
	h = v.vec()
	v.load(p, h)
	v.multiply(0x11, x, h)
	add(h, s.high)
	// The low half of each lane of h becomes the sum of both halves.
	h, next := v.vec(), v.vec()
	v.load(p, h)
	v.load(p.Offset(8), next)
	v.xor(next, h)
	v.multiply(0x00, both, h)
	add(h, s.middle)
}

// reduce divides s by x^128 modulo P in each lane. The result is s.high.
func (v isa) reduce(s sums) {
	v.xor2(s.low, s.high, s.middle)
	for _, part := range []struct{ from, to VecVirtual }{{s.low, s.middle}, {s.middle, s.high}} {
		// Adding P times the low half clears it. The rest is divided by x^64.
		t := v.vec()
		v.loadEach(polynomial, t)
		v.multiply(0x00, part.from, t)
		v.swap(part.from, part.from)
		v.xor2(t, part.from, part.to)
	}
}

// fold adds the lanes of x. The result is in the lowest lane, and the others are zero.
func (v isa) fold(x VecVirtual) {
	if v.lanes == 4 {
		t := YMM()
		VEXTRACTI64X4(U8(1), x.AsZ(), t)
		VPXORQ(t, x.AsY(), x.AsY())
		VEXTRACTI32X4(U8(1), x.AsY(), t.AsX())
		VPXORQ(t.AsX(), x.AsX(), x.AsX())
	}
	if v.lanes == 2 {
		t := XMM()
		VEXTRACTI128(U8(1), x.AsY(), t)
		VPXOR(t, x.AsX(), x.AsX())
	}
}

// initKey generates the key schedule's part for GHASH: H^8 to H^1, for
// H = x*reversed(AES(0)).
func initKey() {
	Implement("initKey")
	Pragma("noescape")
	key := Dereference(Param("key"))
	base := keyMem(key)
	order := XMM()
	sse.load(reverse, order)

	h := XMM()
	PXOR(h, h)
	a := &aes{isa: sse, schedule: field(key.Field("schedule").Index(0)), rounds: Load(key.Field("rounds"), GP32())}
	a.encrypt([]VecVirtual{h})
	PSHUFB(order, h)

	Comment("H*x: shift by one bit, and add P if x^127 is shifted out.")
	carry, top := XMM(), XMM()
	PSHUFD(U8(0xff), h, top)
	PSRAL(U8(31), top)
	MOVAPS(h, carry)
	PSLLQ(U8(1), h)
	PSRLQ(U8(63), carry)
	PSLLDQ(U8(8), carry)
	POR(carry, h)
	p := XMM()
	sse.load(shiftedOut, p)
	PAND(p, top)
	PXOR(top, h)

	var hs [powers + 1]VecVirtual
	hs[1] = h
	sse.store(h, power(base, 1))
	for n := 2; n <= powers; n++ {
		// Few steps follow each other: H^5 to H^8 are all H^4 times another.
		m := 1
		for 2*m < n {
			m *= 2
		}
		Commentf("H^%d = H^%d * H^%d", n, m, n-m)
		hs[n] = product(hs[m], hs[n-m])
		sse.store(hs[n], power(base, n))
	}
	RET()
}

// product returns a*b/x^128 modulo P.
func product(a, b VecVirtual) VecVirtual {
	s := sse.newSums()
	t := XMM()
	MOVAPS(a, s.low)
	PCLMULQDQ(U8(0x00), b, s.low)
	MOVAPS(a, s.high)
	PCLMULQDQ(U8(0x11), b, s.high)
	MOVAPS(a, s.middle)
	PCLMULQDQ(U8(0x01), b, s.middle)
	MOVAPS(a, t)
	PCLMULQDQ(U8(0x10), b, t)
	PXOR(t, s.middle)
	// reduce expects Karatsuba's middle.
	PXOR(s.low, s.middle)
	PXOR(s.high, s.middle)
	sse.reduce(s)
	return s.high
}
