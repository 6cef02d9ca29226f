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
		nhGeneric2(sums, key, p)
	case 3:
		nhGeneric2(sums, key, p)
		nhGeneric1(&sums[2], key[2*toeplitzShift:], p)
	case 4:
		nhGeneric4(sums, key, p)
	}
}

// The portable kernels run one, two and four iterations. They add to memory after
// each group: with the sums in variables the compiler has too few registers for
// the loads that it moves to the top of the loop, and the code is slower.

func nhGeneric1(sum *uint64, key []uint32, p []byte) {
	for len(p) >= l1Group && len(key) >= 8 {
		m, k := (*[l1Group]byte)(p), (*[8]uint32)(key)
		*sum += nhProduct(m, 0, k[0], k[4]) + nhProduct(m, 1, k[1], k[5]) +
			nhProduct(m, 2, k[2], k[6]) + nhProduct(m, 3, k[3], k[7])
		p, key = p[l1Group:], key[l1Group/4:]
	}
}

func nhGeneric2(sums *l1Words, key []uint32, p []byte) {
	for len(p) >= l1Group && len(key) >= 12 {
		m, k := (*[l1Group]byte)(p), (*[12]uint32)(key)
		sums[0] += nhProduct(m, 0, k[0], k[4]) + nhProduct(m, 1, k[1], k[5]) +
			nhProduct(m, 2, k[2], k[6]) + nhProduct(m, 3, k[3], k[7])
		sums[1] += nhProduct(m, 0, k[4], k[8]) + nhProduct(m, 1, k[5], k[9]) +
			nhProduct(m, 2, k[6], k[10]) + nhProduct(m, 3, k[7], k[11])
		p, key = p[l1Group:], key[l1Group/4:]
	}
}

func nhGeneric4(sums *l1Words, key []uint32, p []byte) {
	for len(p) >= l1Group && len(key) >= 20 {
		m, k := (*[l1Group]byte)(p), (*[20]uint32)(key)
		sums[0] += nhProduct(m, 0, k[0], k[4]) + nhProduct(m, 1, k[1], k[5]) +
			nhProduct(m, 2, k[2], k[6]) + nhProduct(m, 3, k[3], k[7])
		sums[1] += nhProduct(m, 0, k[4], k[8]) + nhProduct(m, 1, k[5], k[9]) +
			nhProduct(m, 2, k[6], k[10]) + nhProduct(m, 3, k[7], k[11])
		sums[2] += nhProduct(m, 0, k[8], k[12]) + nhProduct(m, 1, k[9], k[13]) +
			nhProduct(m, 2, k[10], k[14]) + nhProduct(m, 3, k[11], k[15])
		sums[3] += nhProduct(m, 0, k[12], k[16]) + nhProduct(m, 1, k[13], k[17]) +
			nhProduct(m, 2, k[14], k[18]) + nhProduct(m, 3, k[15], k[19])
		p, key = p[l1Group:], key[l1Group/4:]
	}
}

// nhProduct is one term of NH for a group, (m_i +_32 k_i) *_64 (m_i+4 +_32 k_i+4).
// RFC 4418 section 5.2.1 takes the message words little-endian.
func nhProduct(m *[l1Group]byte, i int, k0, k4 uint32) uint64 {
	a := binary.LittleEndian.Uint32(m[4*i:])
	b := binary.LittleEndian.Uint32(m[4*i+16:])
	return uint64(a+k0) * uint64(b+k4)
}
