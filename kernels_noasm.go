// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package fastmac

import (
	"example.com/fastmac/internal/aesni"
	"example.com/fastmac/internal/kernel"
)

func init() { kernel.Register(kernel.NH, "generic") }

func nhPoly(y *[maxIterations]uint128, k *uhashKey, p []byte) { nhPolyGeneric(y, k, p) }
func nhBlocks(words []l1Words, k *uhashKey, p []byte)         { nhBlocksGeneric(words, k, p) }
func nhAdd(s *l1State, k *uhashKey, p []byte)                 { nhAddGeneric(s, k, p) }
func fill(group *[l1Group]byte, p []byte)                     { fillGeneric(group, p) }

func fillMasked(*[l1Group]byte, []byte) { panic("fastmac: no kernel") }

func hasMasks() bool { return false }

func tagOnly(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnlyGeneric(tag, k, l1, rest, length, x)
}

func tagNext(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	tagNextGeneric(tag, k, y, l1, rest, length, x)
}

func tagWords(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) {
	tagWordsGeneric(tag, k, words, x)
}

func hasTagEach() bool { return false }

func tagEach([][maxUMACTagSize]byte, *uhashKey, [][]byte) { panic("fastmac: no kernel") }

func padEachVAES(*umacTags, *padKey, [][]byte) { panic("fastmac: no kernel") }

func deriveL1AESNI(*l1Key, *aesni.Schedule, int) { panic("fastmac: no kernel") }

func deriveL1VAES(*l1Key, *aesni.Schedule, int) { panic("fastmac: no kernel") }
