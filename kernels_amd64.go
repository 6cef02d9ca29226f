// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

//lint:file-ignore U1000 nh_amd64.s jumps to the kernels

package fastmac

import (
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"golang.org/x/sys/cpu"
)

// Which kernels of UHASH run, see [kernel.Kernel]. Those of AES are in package aes.
var useLongAVX512, useAVX512, useAVX2 bool

func registerNH() {
	avx2 := kernel.Set{kernel.AVX, kernel.AVX2, kernel.BMI2}
	avx512 := append(avx2[:3:3], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512DQ, kernel.AVX512VL)
	kernel.Register(kernel.NH, "generic", rightNH,
		// AMD's first CPUs with AVX-512 split these vectors, and messages of more than a block take up to 11 %
		// longer than with AVX2. Their successors have AVX-VNNI, and gain 20 to 30 %. Intel's gain 6 to 23 % from
		// four blocks on, also without it.
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &useLongAVX512, OnlyTests: kernel.IsAMD() && !cpu.X86.HasAVXVNNI},
		kernel.Kernel{Name: "avx512block", Needs: avx512, Use: &useAVX512}, // avx2 for more than a block
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &useAVX2},
	)
}

// hasNH reports whether kernels of UHASH are in use.
func hasNH() bool { return useAVX2 || useAVX512 }

// There is no kernel for tagNonce: the CPU overlaps AES with hashing.
func hasTagNonce() bool { return false }

func tagNonce(*[maxUMACTagSize]byte, *UMACKey, *l1State, []byte, uint64, []byte) {
	panic("unreachable")
}

// nhPoly128 has kernels for three iterations and four. For fewer they would gain nothing for a file.
func nhPoly128(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	switch {
	case k.n > 2 && useAVX512:
		nhPoly128AVX512(y, k, p)
	case k.n > 2 && useAVX2:
		nhPoly128AVX2(y, k, p)
	default:
		poly128Blocks(y, k, p)
	}
}

func padEach(tags *umacTags, k *aesKey, batch []Message) (kernel bool) {
	switch {
	case aes.VAES():
		padEachVAES(tags, k, batch)
	case hasPadEach256(len(batch)):
		padEachVAES256(tags, k, batch)
	default:
		// With AES-NI eight pads side by side are not faster, since the CPU overlaps them with hashing.
		return padEachGeneric(tags, k, batch)
	}
	return true
}

// hasPadEach256 is for more than one message: one pad takes less time by itself.
func hasPadEach256(n int) bool { return aes.VAES256() && n > 1 }

func padsFirst(n int) bool { return useAVX512 || aes.VAES() || hasPadEach256(n) }

func shortBytes() int {
	if useAVX512 {
		return l1Block
	}
	return -1
}

func tagShort(tags [][maxUMACTagSize]byte, k *UMACKey, batch []Message) {
	tagEachAVX512(tags, &k.uhash, batch)
}

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

// These jump to the kernel in use, or to the portable function. A choice in Go would be one more call,
// which makes short messages 4 % slower; with function values their arguments would move to the heap.
// Their many arguments are on the stack already. A pointer to a struct of them would save no store: the
// struct would have to be filled for each call.

//go:noescape
func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte)

//go:noescape
func nhBlocks(words []l1Words, k *uhashKey, p []byte)

//go:noescape
func nhAdd(s *l1State, k *uhashKey, p []byte)

//go:noescape
func nhNext(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte)

//go:noescape
func fill(group *[l1Group]byte, p []byte)

//go:noescape
func tagOnly(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad)

//go:noescape
func tagNext(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad)

//go:noescape
func tagTwo(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad)

//go:noescape
func tagWords(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad)

// The assembly: kernels of the functions with these names. uhash_generic.go, uhash.go
// and kdf.go have the contracts.

//go:noescape
func nhPolyAVX512(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole blocks, at least one

//go:noescape
func nhPolyAVX2(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole blocks, at least one

//go:noescape
func nhPoly128AVX512(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole pairs of blocks, at least one; k.n is 3 or 4

//go:noescape
func nhPoly128AVX2(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole pairs of blocks, at least one; k.n is 3 or 4

//go:noescape
func nhBlocksAVX512(words []l1Words, k *uhashKey, p []byte) // p is len(words) blocks, at least one

//go:noescape
func nhBlocksAVX2(words []l1Words, k *uhashKey, p []byte) // p is len(words) blocks, at least one

//go:noescape
func nhAddAVX512(s *l1State, k *uhashKey, p []byte) // p is whole groups, at least four, for which s has room

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
func tagOnlyAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) // rest has 128 bytes or more, and ends within the block; length is in bytes

//go:noescape
func tagOnlyAVX2(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagNextAVX512(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) // rest has 128 bytes or more, and ends within the block; length is in bytes

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
func tagEachAVX512(tags [][maxUMACTagSize]byte, k *uhashKey, batch []Message) // the pads in tags, which has three elements more than batch, become the tags of messages of at most a block

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
