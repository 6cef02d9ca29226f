// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
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
	// In all lanes of a vector:
	reverse    Mem // the order of bytes that reverses a block
	polynomial Mem // P without its highest and lowest bits, divided by x^64, in both halves

	shiftedOut Mem // P without its highest bit
)

func ghashConstants() {
	reverse = eachLane("reverse", 0x08090a0b0c0d0e0f, 0x0001020304050607)
	polynomial = eachLane("polynomial", polynomialBits, polynomialBits)
	shiftedOut = GLOBL("shiftedOut", attr.RODATA|attr.NOPTR)
	DATA(0, U64(1))
	DATA(8, U64(polynomialBits))
}

// eachLane returns data of four blocks, of two words each.
func eachLane(name string, low, high uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range maxLanes {
		DATA(blockSize*i, U64(low))
		DATA(blockSize*i+8, U64(high))
	}
	return m
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

// subkey returns the address of the powers of the hash subkey, in descending order.
func subkey(key gotypes.Component) Mem { return field(key.Field("powers").Index(0).Index(0)) }

// power returns the address of H^n.
func power(subkey Mem, n int) Mem { return subkey.Offset(blockSize * (powers - n)) }

// addProduct adds to s the products of the lanes of x with the powers at p, by Karatsuba's
// method: middle is the sum of (low+high half)*(low+high half), from which reduce subtracts
// low and high. It sets s if set is true. It overwrites x.
func (v isa) addProduct(s sums, x VecVirtual, p Mem, set bool) {
	add := v.xor
	if set {
		add = func(a Op, x VecVirtual) { v.move(a.(VecVirtual), x) }
	}
	both := v.vec()
	v.swap(x, both)
	v.xor(x, both)
	t := v.vec()
	v.multiplyMem(0x00, p, x, t)
	add(t, s.low)
	t = v.vec()
	v.multiplyMem(0x11, p, x, t)
	add(t, s.high)
	// The low half of each lane of t becomes the sum of both halves of a power.
	t = v.vec()
	v.load(p, t)
	v.xorMem(p.Offset(8), t)
	v.multiply(0x00, both, t)
	add(t, s.middle)
}

// reduce divides s by x^128 modulo P in each lane, and adds plus, if it is not nil. The
// result is s.high.
func (v isa) reduce(s sums, plus Op) {
	v.xor2(s.low, s.high, s.middle)
	if plus != nil {
		v.xor(plus, s.high)
	}
	for _, part := range []struct{ from, to VecVirtual }{{s.low, s.middle}, {s.middle, s.high}} {
		// Adding P times the low half clears it. The rest is divided by x^64.
		t := v.vec()
		v.multiplyMem(0x00, polynomial, part.from, t)
		v.swap(part.from, part.from)
		v.xor2(t, part.from, part.to)
	}
}

// initKey generates the key schedule's part for GHASH: H^8 to H^1, for
// H = x*reversed(AES(0)).
func initKey() {
	Implement("initKey")
	Pragma("noescape")
	key := Dereference(Param("key"))
	base := subkey(key)
	v := isa{1, sse}
	order := XMM()
	v.load(reverse, order)

	h := XMM()
	PXOR(h, h)
	a := &aes{isa: v, schedule: field(key.Field("schedule").Index(0)), rounds: Load(key.Field("rounds"), GP32())}
	a.encrypt(h)
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
	v.load(shiftedOut, p)
	PAND(p, top)
	PXOR(top, h)

	var hs [powers + 1]VecVirtual
	hs[1] = h
	v.store(h, power(base, 1))
	for n := 2; n <= powers; n++ {
		// Few steps follow each other: H^5 to H^8 are all H^4 times another.
		m := 1
		for 2*m < n {
			m *= 2
		}
		Commentf("H^%d = H^%d * H^%d", n, m, n-m)
		hs[n] = v.product(hs[m], hs[n-m])
		v.store(hs[n], power(base, n))
	}
	RET()
}

// product returns a*b/x^128 modulo P.
func (v isa) product(a, b VecVirtual) VecVirtual {
	s := v.newSums()
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
	v.reduce(s, nil)
	return s.high
}
