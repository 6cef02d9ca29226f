// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

import (
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
)

// Whether the kernels of UHASH run, see [kernel.Kernel]. Those of AES are in package aes.
var useNEON bool

func registerNH() {
	// All CPUs of this architecture have these instructions.
	kernel.Register(kernel.NH, "generic", rightNH, kernel.Kernel{Name: "neon", Use: &useNEON})
}

func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	if useNEON {
		nhPolyNEON(y, k, p)
	} else {
		nhPolyGeneric(y, k, p)
	}
}

func nhPoly128(y *[maxIterations]uint128, k *uhashKey, p []byte) { poly128Blocks(y, k, p) }

func nhBlocks(words []l1Words, k *uhashKey, p []byte) {
	if useNEON {
		nhBlocksNEON(words, k, p)
	} else {
		nhBlocksGeneric(words, k, p)
	}
}

func nhAdd(s *l1State, k *uhashKey, p []byte) {
	if useNEON {
		nhAddNEON(s, k, p)
	} else {
		nhAddGeneric(s, k, p)
	}
}

// nhNext is nhAdd, a step of POLY-64 in compiled code, and nhAdd again.
func nhNext(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	if !useNEON {
		nhNextGeneric(y, s, group, k, p)
		return
	}
	if room := l1Block - s.bytes; room > 0 {
		nhAddNEON(s, k, p[:room])
		p = p[room:]
	}
	s.step64(y, k)
	whole := len(p) &^ (l1Group - 1)
	if whole > 0 {
		nhAddNEON(s, k, p[:whole])
	}
	fillNEON(group, p[whole:])
}

func fill(group *[l1Group]byte, p []byte) {
	if useNEON {
		fillNEON(group, p)
	} else {
		fillGeneric(group, p)
	}
}

func tagOnly(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	if useNEON {
		tagOnlyNEON(tag, k, l1, rest, length, x)
	} else {
		tagOnlyGeneric(tag, k, l1, rest, length, x)
	}
}

func tagNonce(tag *[maxUMACTagSize]byte, k *UMACKey, l1 *l1State, rest []byte, length uint64, nonce []byte) {
	tagNonceNEON(tag, k, l1, rest, length, nonce)
}

// hasNH reports whether kernels of UHASH are in use.
func hasNH() bool { return useNEON }

// hasTagNonce is for CPUs with AES instructions.
func hasTagNonce() bool { return useNEON && aes.InUse() }

func tagNext(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	if useNEON {
		tagNextNEON(tag, k, y, l1, rest, length, x)
	} else {
		tagNextGeneric(tag, k, y, l1, rest, length, x)
	}
}

func tagTwo(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) {
	if useNEON {
		y := [maxIterations]uint128{{lo: 1}, {lo: 1}, {lo: 1}, {lo: 1}}
		nhPolyNEON(&y, k, msg[:l1Block])
		tagNextNEON(tag, k, &y, &noGroups, msg[l1Block:], uint64(len(msg)-l1Block), x)
	} else {
		tagTwoGeneric(tag, k, msg, x)
	}
}

func tagWords(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) {
	if useNEON {
		tagWordsNEON(tag, k, words, x)
	} else {
		tagWordsGeneric(tag, k, words, x)
	}
}

func padEach(tags *umacTags, k *aesKey, batch []Message) (kernel bool) {
	return padEachGeneric(tags, k, batch)
}

func padsFirst(int) bool { return false }

func shortBytes() int {
	if hasTagNonce() {
		return 2 * l1Block
	}
	return -1
}

func tagShort(tags [][maxUMACTagSize]byte, k *UMACKey, batch []Message) {
	tagNoncesNEON(tags, k, batch)
}

func deriveL1(k *l1Key, kdf *aesKey) { deriveL1Generic(k, kdf) }

// The assembly: kernels of the functions with these names. uhash_generic.go has the contracts.

//go:noescape
func nhPolyNEON(y *[maxIterations]uint128, k *uhashKey, p []byte) // p is whole blocks, at least one

//go:noescape
func nhBlocksNEON(words []l1Words, k *uhashKey, p []byte) // p is len(words) blocks, at least one

//go:noescape
func nhAddNEON(s *l1State, k *uhashKey, p []byte) // p is whole groups, at least one, for which s has room

//go:noescape
func fillNEON(group *[l1Group]byte, p []byte) // p is less than a group

//go:noescape
func tagOnlyNEON(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagNonceNEON(tag *[maxUMACTagSize]byte, k *UMACKey, l1 *l1State, rest []byte, length uint64, nonce []byte) // rest ends within the block, or the second one; length is in bytes

//go:noescape
func tagNoncesNEON(tags [][maxUMACTagSize]byte, k *UMACKey, batch []Message) // one message at least, each of up to two blocks

//go:noescape
func tagNextNEON(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) // rest ends within the block; length is in bytes

//go:noescape
func tagWordsNEON(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) // words are from L1 or L2
