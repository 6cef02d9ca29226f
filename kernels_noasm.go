// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package fastmac

import "example.com/fastmac/internal/aesni"

const useAES, useVAES = false, false

func nhName() string { return "generic" }

func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte) { nhPolyGeneric(y, k, p) }
func nhBlocks(words []l1Words, k *uhashKey, p []byte)         { nhBlocksGeneric(words, k, p) }
func nhAdd(s *l1State, k *uhashKey, p []byte)                 { nhAddGeneric(s, k, p) }
func fill(group *[l1Group]byte, p []byte)                     { fillGeneric(group, p) }

func hasTagKernels() bool { return false }

func tagOnlyKernel(*[maxUMACTagSize]byte, *uhashKey, *l1State, []byte, uint64, pad) {
	panic("fastmac: no kernel")
}

func tagNextKernel(*[maxUMACTagSize]byte, *uhashKey, *[maxIterations]uint128, *l1State, []byte, uint64, pad) {
	panic("fastmac: no kernel")
}

func tagWordsKernel(*[maxUMACTagSize]byte, *uhashKey, *l1Words, pad) {
	panic("fastmac: no kernel")
}

func tagEachKernel([][maxUMACTagSize]byte, *uhashKey, [][]byte) { panic("fastmac: no kernel") }

func padEachVAES(*umacTags, *padKey, [][]byte) { panic("fastmac: no kernel") }

func deriveL1VAES(*l1Key, *aesni.Schedule, int) { panic("fastmac: no kernel") }
