// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

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
