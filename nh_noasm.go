// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package fastmac

const useAESNI = false

func nhName() string { return "generic" }

func nhPoly(y *[maxIterations]uint128, k *UMACKey, p []byte, words []l1Words) {
	nhPolyGeneric(y, k, p, words)
}

func nhAdd(sums *l1Words, k *UMACKey, g int, p []byte) { nhAddGeneric(sums, k, g, p) }

func fill(group *[l1Group]byte, p []byte) { fillGeneric(group, p) }

func tagWords(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, g int, p []byte, length uint64, pad pad, y *[maxIterations]uint128) bool {
	return false
}

func deriveL1(k *l1Key, kdf *aesKey) bool { return false }
