// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

// reasons says why mutants are equivalent for which command verify has no proof, or which it
// refuses for what it does not know. Functions and texts are patterns; a text is the kind of the
// mutant, the instruction, and what it becomes.
var reasons = []reason{
	{`^(seal|open)`, `^drop: ret `, "without the return after the tag, zeros are stored in the sum, which is not used any more"},
	{`^(seal|open)`, `^drop: (test r8,r8|je \w+) `, "a shortcut: with neither text nor a rest of data, the code for text does the same"},
	{`^initKey$`, `^drop: pxor xmm1,xmm1 `, "expandKey, which is always called before, leaves zeros in the register"},
	{`AVX512$`, `^drop: vmovdqa64 ymm(\d+),ymm\d+ `, "a move of a register to itself; the upper half is not used after it"},
	{`AVX512$`, `^drop: (vpxorq zmm(24,zmm24,zmm20|26,zmm26,zmm21)|vpclmul[lh]q[lh]qdq zmm2\d,zmm2\d,zmm\d) `, "the products of the sum of the lanes, which is zero in the first round"},
	{`^hashAVX512$`, `^drop: add rdx,0x80 `, "the address after the last group, which is not used"},
	{`AVX512$`, `^drop: (jae \w+|cmp r?(bx|11),0x100) `, "a shortcut: the code for what is left does the same, more slowly"},
	{`^(seal|open)AVX512$`, `^drop: jmp `, "a shortcut: the sums of the lanes are made again, more slowly"},
	{`^sealAVX512$`, `^drop: vmovdqu64 zmm10,`, "the register still has the ciphertext that it has stored there"},
}
