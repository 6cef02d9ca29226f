// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

import (
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
)

// Which kernels of UHASH run, see [kernel.Kernel]. Those of AES are in package aes.
var useAVX512, useAVX2 bool

func init() {
	avx2 := kernel.Set{kernel.AVX, kernel.AVX2, kernel.BMI2}
	avx512 := append(avx2[:3:3], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512DQ, kernel.AVX512VL)
	kernel.Register(kernel.NH, "generic",
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &useAVX512},
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &useAVX2},
	)
}

func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	if useAVX512 {
		nhPolyAVX512(y, k, p)
	} else if useAVX2 {
		nhPolyAVX2(y, k, p)
	} else {
		nhPolyGeneric(y, k, p)
	}
}

func nhPoly128(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	if useAVX512 {
		nhPoly128AVX512(y, k, p)
	} else if useAVX2 {
		nhPoly128AVX2(y, k, p)
	} else {
		nhPoly128Generic(y, k, p)
	}
}

func nhBlocks(words []l1Words, k *uhashKey, p []byte) {
	if useAVX512 {
		nhBlocksAVX512(words, k, p)
	} else if useAVX2 {
		nhBlocksAVX2(words, k, p)
	} else {
		nhBlocksGeneric(words, k, p)
	}
}

func nhAdd(s *l1State, k *uhashKey, p []byte) {
	if useAVX512 {
		nhAddAVX512(s, k, p)
	} else if useAVX2 {
		nhAddAVX2(s, k, p)
	} else {
		nhAddGeneric(s, k, p)
	}
}

func hasNHNext() bool { return useAVX2 }

func nhNext(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	if useAVX512 {
		nhNextAVX512(y, s, group, k, p)
	} else {
		nhNextAVX2(y, s, group, k, p)
	}
}

func fill(group *[l1Group]byte, p []byte) {
	if useAVX2 {
		fillAVX2(group, p)
	} else {
		fillGeneric(group, p)
	}
}

// hasMasks reports whether AVX-512 is in use. Then streams call the kernels through the functions
// that end in Masked: the compiler does not inline a function with two calls, and one more call
// makes short messages 4 % slower.
func hasMasks() bool { return useAVX512 }

func fillMasked(group *[l1Group]byte, p []byte) { fillAVX512(group, p) }

func nhAddMasked(s *l1State, k *uhashKey, p []byte) { nhAddAVX512(s, k, p) }

// hasVectors reports whether AVX2 is in use, or AVX-512. nhAddVectors and tagOnlyVectors are for
// AVX2, for the same reason.
func hasVectors() bool { return useAVX2 }

func nhAddVectors(s *l1State, k *uhashKey, p []byte) { nhAddAVX2(s, k, p) }

func tagOnlyVectors(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnlyAVX2(tag, k, l1, rest, length, x)
}

func nhNextMasked(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	nhNextAVX512(y, s, group, k, p)
}

func tagOnlyMasked(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnlyAVX512(tag, k, l1, rest, length, x)
}

func tagNextMasked(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	tagNextAVX512(tag, k, y, l1, rest, length, x)
}

func tagOnly(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	if useAVX512 {
		tagOnlyAVX512(tag, k, l1, rest, length, x)
	} else if useAVX2 {
		tagOnlyAVX2(tag, k, l1, rest, length, x)
	} else {
		tagOnlyGeneric(tag, k, l1, rest, length, x)
	}
}

// Nonces are for arm64 only: see uhash_generic.go.
func hasTagNonce() bool { return false }

func tagNonce(tag *[maxUMACTagSize]byte, k *UMACKey, l1 *l1State, rest []byte, length uint64, nonce []byte) {
	panic("fastmac: no kernel for nonces")
}

func tagNonces(tags [][maxUMACTagSize]byte, k *UMACKey, batch []Message) {
	panic("fastmac: no kernel for nonces")
}

func tagNext(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	if useAVX512 {
		tagNextAVX512(tag, k, y, l1, rest, length, x)
	} else if useAVX2 {
		tagNextAVX2(tag, k, y, l1, rest, length, x)
	} else {
		tagNextGeneric(tag, k, y, l1, rest, length, x)
	}
}

func tagTwo(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) {
	if useAVX512 {
		tagTwoAVX512(tag, k, msg, x)
	} else if useAVX2 {
		tagTwoAVX2(tag, k, msg, x)
	} else {
		tagTwoGeneric(tag, k, msg, x)
	}
}

func tagWords(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) {
	if useAVX512 {
		tagWordsAVX512(tag, k, words, x)
	} else if useAVX2 {
		tagWordsAVX2(tag, k, words, x)
	} else {
		tagWordsGeneric(tag, k, words, x)
	}
}

func tagEach(tags [][maxUMACTagSize]byte, k *uhashKey, batch []Message) {
	if useAVX512 {
		tagEachAVX512(tags, k, batch)
	} else {
		tagEachGeneric(tags, k, batch)
	}
}

func padEach(tags *umacTags, k *aesKey, batch []Message) {
	if aes.VAES() {
		padEachVAES(tags, k, batch)
	} else if aes.VAES256() && len(batch) > 1 { // one pad takes less time by itself
		padEachVAES256(tags, k, batch)
	} else {
		padEachGeneric(tags, k, batch)
	}
}

func hasBatchKernels() bool { return useAVX512 && aes.VAES() }

func deriveL1(k *l1Key, kdf *aesKey) {
	if aes.VAES() {
		deriveL1VAES(k, &kdf.schedule, int(kdf.rounds))
	} else if aes.VAES256() {
		deriveL1VAES256(k, &kdf.schedule, int(kdf.rounds))
	} else if aes.InUse() {
		deriveL1AESNI(k, &kdf.schedule, int(kdf.rounds))
	} else {
		deriveL1Generic(k, kdf)
	}
}

// The assembly: kernels of the functions with these names. uhash_generic.go, uhash.go
// and kdf.go have the contracts.

//go:noescape
func nhPolyAVX512(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole blocks, at least one

//go:noescape
func nhPolyAVX2(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole blocks, at least one

//go:noescape
func nhPoly128AVX512(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole pairs of blocks, at least one

//go:noescape
func nhPoly128AVX2(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole pairs of blocks, at least one

//go:noescape
func nhBlocksAVX512(words []l1Words, k *uhashKey, p []byte) // p is len(words) blocks, at least one

//go:noescape
func nhBlocksAVX2(words []l1Words, k *uhashKey, p []byte) // p is len(words) blocks, at least one

//go:noescape
func nhAddAVX512(s *l1State, k *uhashKey, p []byte) // p is whole groups, at least one, for which s has room

//go:noescape
func nhAddAVX2(s *l1State, k *uhashKey, p []byte) // p is whole groups, at least one, for which s has room

//go:noescape
func nhNextAVX512(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) // p is at least a group and what s has room for, and less than a block more

//go:noescape
func nhNextAVX2(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) // p is at least a group and what s has room for, and less than a block more

//go:noescape
func fillAVX512(group *[l1Group]byte, p []byte) // p is less than a group

//go:noescape
func fillAVX2(group *[l1Group]byte, p []byte) // p is less than a group

//go:noescape
func tagOnlyAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagOnlyAVX2(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagNextAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagNextAVX2(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagTwoAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) // msg is more than one block and up to two

//go:noescape
func tagTwoAVX2(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) // msg is more than one block and up to two

//go:noescape
func tagWordsAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) // words are from L1 or L2

//go:noescape
func tagWordsAVX2(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) // words are from L1 or L2

//go:noescape
func tagEachAVX512(tags [][maxUMACTagSize]byte, k *uhashKey, batch []Message) // tags has three elements more than batch

//go:noescape
func padEachVAES256(tags *umacTags, k *aesKey, batch []Message) // 1 to 8 messages

//go:noescape
func padEachVAES(tags *umacTags, k *aesKey, batch []Message) // 1 to 8 messages

//go:noescape
func deriveL1AESNI(k *l1Key, enc *aes.Schedule, rounds int) // enc is the schedule of the KDF key

//go:noescape
func deriveL1VAES256(k *l1Key, enc *aes.Schedule, rounds int) // enc is the schedule of the KDF key

//go:noescape
func deriveL1VAES(k *l1Key, enc *aes.Schedule, rounds int) // enc is the schedule of the KDF key
