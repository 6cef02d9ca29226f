// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "encoding/binary"

// UHASH runs its three layers once per 32 bits of tag. RFC 4418 calls each run
// an iteration; iteration i uses the NH key from byte 16*i on (the Toeplitz
// shift), so that all iterations share one key.
const (
	maxIterations = maxUMACTagSize / 4

	l1Block       = 1024 // bytes of message hashed to one 8-byte word
	l1Group       = 32   // NH consumes, and messages are padded to, whole groups of 32 bytes
	toeplitzShift = 16 / 4

	l1KeyWords = l1Block/4 + toeplitzShift*(maxIterations-1)
)

// l1Words holds an NH result for every iteration.
type l1Words [maxIterations]uint64

// nh adds to sums the NH hash, RFC 4418 section 5.2.2, of p for the first
// iterations iterations, without the message length that L1-HASH adds.
//
// len(p) is a multiple of l1Group and at most l1Block. NH is a plain sum over
// groups, so a block may arrive in several calls: key then starts at the word
// that belongs to the first byte of p, and must reach to the last word that the
// last iteration uses for the end of p.
//
// Every kernel keeps this contract. Bytes outside p are never read.
func nh(sums *l1Words, key []uint32, p []byte, iterations int) {
	switch iterations {
	case 1:
		nhGeneric1(&sums[0], key, p)
	case 2:
		nhGeneric2(sums[:2], key, p)
	case 3:
		nhGeneric2(sums[:2], key, p)
		nhGeneric1(&sums[2], key[2*toeplitzShift:], p)
	case 4:
		nhGeneric2(sums[:2], key, p)
		nhGeneric2(sums[2:], key[2*toeplitzShift:], p)
	}
}

// nhGeneric1 is one iteration of NH.
func nhGeneric1(sum *uint64, key []uint32, p []byte) {
	s := *sum
	for len(p) >= l1Group {
		k := (*[8]uint32)(key)
		for i := range 4 {
			s += nhProduct(le32(p[4*i:]), le32(p[4*i+16:]), k[i], k[i+4])
		}
		p, key = p[l1Group:], key[l1Group/4:]
	}
	*sum = s
}

// nhGeneric2 is two consecutive iterations of NH, which read the message once.
func nhGeneric2(sums []uint64, key []uint32, p []byte) {
	_ = sums[1]
	s0, s1 := sums[0], sums[1]
	for len(p) >= l1Group {
		k := (*[8 + toeplitzShift]uint32)(key)
		for i := range 4 {
			a, b := le32(p[4*i:]), le32(p[4*i+16:])
			s0 += nhProduct(a, b, k[i], k[i+4])
			s1 += nhProduct(a, b, k[i+4], k[i+8])
		}
		p, key = p[l1Group:], key[l1Group/4:]
	}
	sums[0], sums[1] = s0, s1
}

// nhProduct is one term of NH: (a +_32 k0) *_64 (b +_32 k4).
func nhProduct(a, b, k0, k4 uint32) uint64 {
	return uint64(a+k0) * uint64(b+k4)
}

// le32 reads a message word; RFC 4418 section 5.2.1 takes them little-endian.
func le32(p []byte) uint32 { return binary.LittleEndian.Uint32(p) }
