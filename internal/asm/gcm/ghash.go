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

// addProducts adds to low and high the products of the low halves, and of the high halves, of
// the lanes of x with those of the powers at p, or sets low and high to them. The two are side
// by side: on some CPUs such an instruction takes a whole cycle of dispatch, and wastes some of the
// one before unless that is another of them.
func (v isa) addProducts(p Mem, x, low, high VecVirtual, set bool) {
	a, b := low, high
	if !set {
		a, b = v.vec(), v.vec()
	}
	v.load(p, b)
	if v.encoding == sse {
		v.move(b, a)
		v.multiply(0x00, x, a)
	} else {
		VPCLMULQDQ(U8(0x00), x, b, a)
	}
	v.multiply(0x11, x, b)
	if !set {
		v.xor(a, low)
		v.xor(b, high)
	}
}

// addProduct adds to s the products of the lanes of x with the powers at p, by Karatsuba's
// method: middle is the sum of (low+high half)*(low+high half), from which reduce subtracts
// low and high. It sets s if set is true.
func (v isa) addProduct(s sums, x VecVirtual, p Mem, set bool) {
	v.addProducts(p, x, s.low, s.high, set)
	both, h := v.vec(), s.middle
	v.swap(x, both)
	v.xor(x, both)
	if !set {
		h = v.vec()
	}
	v.halves(p, h)
	v.multiply(0x00, both, h)
	if !set {
		v.xor(h, s.middle)
	}
}

// addMiddle adds to s.middle what addProduct does, for two x and the powers at p, or sets it.
// It overwrites x[0].
func (v isa) addMiddle(s sums, x [2]VecVirtual, p [2]Mem, set bool) {
	// The sums of the halves of x[0] become the low halves of both, those of x[1] the high ones.
	both := v.vec()
	if v.encoding == sse {
		v.move(x[0], both)
		PUNPCKLQDQ(x[1], both)
		PUNPCKHQDQ(x[1], x[0])
	} else {
		VPUNPCKLQDQ(x[1], x[0], both)
		VPUNPCKHQDQ(x[1], x[0], x[0])
	}
	v.xor(x[0], both)
	h := [2]VecVirtual{s.middle, v.vec()}
	if !set {
		h[0] = v.vec()
	}
	for i := range h {
		v.halves(p[i], h[i])
	}
	v.multiply(0x00, both, h[0])
	v.multiply(0x10, both, h[1])
	if !set {
		v.xor(h[0], s.middle)
	}
	v.xor(h[1], s.middle)
}

// halves sets the low half of each lane of x to the sum of both halves of a power at p. The high
// halves are of no use; that of the last lane is from the 8 bytes after the powers.
func (v isa) halves(p Mem, x VecVirtual) {
	v.load(p, x)
	v.xorMem(p.Offset(8), x)
}

// reduce divides s by x^128 modulo P in each lane, and adds plus, if it is not nil. The
// result is s.high. p is polynomial, or a register that holds it.
func (v isa) reduce(s sums, p, plus Op) {
	v.xor2(s.low, s.high, s.middle)
	if plus != nil {
		v.xor(plus, s.high)
	}
	for _, part := range []struct{ from, to VecVirtual }{{s.low, s.middle}, {s.middle, s.high}} {
		// Adding P times the low half clears it. The rest is divided by x^64.
		t := v.vec()
		v.multiplyOp(0x00, p, part.from, t)
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
	v.reduce(s, polynomial, nil)
	return s.high
}
