// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package fastmac

import "example.com/fastmac/internal/kernel"

func registerNH() { kernel.Register(kernel.NH, "generic", rightNH) }

func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte)    { nhPolyGeneric(y, k, p) }
func nhPoly128(y *[maxIterations]uint128, k *uhashKey, p []byte) { poly128Blocks(y, k, p) }
func nhBlocks(words []l1Words, k *uhashKey, p []byte)            { nhBlocksGeneric(words, k, p) }
func nhAdd(s *l1State, k *uhashKey, p []byte)                    { nhAddGeneric(s, k, p) }
func nhNext(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	nhNextGeneric(y, s, group, k, p)
}
func fill(group *[l1Group]byte, p []byte) { fillGeneric(group, p) }

func tagOnly(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnlyGeneric(tag, k, l1, rest, length, x)
}

// hasNH reports whether kernels of UHASH are in use.
func hasNH() bool { return false }

func hasTagNonce() bool { return false }

func tagNonce(*[maxUMACTagSize]byte, *UMACKey, *l1State, []byte, uint64, []byte) {
	panic("unreachable")
}

func tagNext(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	tagNextGeneric(tag, k, y, l1, rest, length, x)
}

func tagTwo(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) {
	tagTwoGeneric(tag, k, msg, x)
}

func tagWords(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) {
	tagWordsGeneric(tag, k, words, x)
}

func padEach(tags *umacTags, k *aesKey, batch []Message) (kernel bool) {
	return padEachGeneric(tags, k, batch)
}

func padsFirst(int) bool { return false }
func shortBytes() int    { return -1 }

func tagShort([][maxUMACTagSize]byte, *UMACKey, []Message) { panic("unreachable") }

func deriveL1(k *l1Key, kdf *aesKey) { deriveL1Generic(k, kdf) }
