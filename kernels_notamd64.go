// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package fastmac

// What only amd64 has. See kernels_amd64.go.

func hasMasks() bool { return false }

func nhAddMasked(s *l1State, k *uhashKey, p []byte) { nhAdd(s, k, p) }

func nhNextMasked(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	nhNext(y, s, group, k, p)
}

func fillMasked(group *[l1Group]byte, p []byte) { fill(group, p) }

func tagOnlyMasked(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnly(tag, k, l1, rest, length, x)
}

func tagNextMasked(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	tagNext(tag, k, y, l1, rest, length, x)
}

func hasVectors() bool { return false }

func nhAddVectors(s *l1State, k *uhashKey, p []byte) { nhAdd(s, k, p) }

func tagOnlyVectors(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	tagOnly(tag, k, l1, rest, length, x)
}

// Without nhNext the other kernels of NH and the compiled code of POLY-64 run.
func hasNHNext() bool { return false }

func nhNext(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	panic("fastmac: no kernel for the end of a block")
}
