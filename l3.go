// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "encoding/binary"

// p36 is the modulus of L3-HASH, the largest prime below 2^36.
const p36 = 1<<36 - 5

// l3Key is the L3 key of all iterations, its k1 as residues modulo p36: word by
// word, because kernels compute the iterations side by side. Unless POLY-128 is in
// use, the first four words are multiplied by zeros; they are apart from the others,
// so that a short message touches few cache lines.
type l3Key struct {
	k2   [maxIterations]uint32
	low  [4][maxIterations]uint64 // k_5 to k_8
	high [4][maxIterations]uint64 // k_1 to k_4
}

// set reads the subkeys k1 and k2 of iteration i.
func (k *l3Key) set(i int, k1 *[64]byte, k2 *[4]byte) {
	for j := range 4 {
		k.high[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j:]))
		k.low[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j+32:]))
	}
	k.k2[i] = binary.BigEndian.Uint32(k2[:])
}

// l3 is L3-HASH, RFC 4418 section 5.4, in iteration i: the inner product modulo
// p36 of the eight 16-bit words of m with k1, cut to 32 bits, xor k2.
func (k *l3Key) l3(i int, m uint128) uint32 {
	return uint32(reduce36(inner36(&k.high, i, m.hi)+inner36(&k.low, i, m.lo))) ^ k.k2[i]
}

// l3Short is l3 for an m of which the first 8 bytes are zeros.
func (k *l3Key) l3Short(i int, m uint64) uint32 {
	return uint32(reduce36(inner36(&k.low, i, m))) ^ k.k2[i]
}

// inner36 is the inner product of the four 16-bit words of m with residues modulo
// p36: four products of less than 2^52.
func inner36(k *[4][maxIterations]uint64, i int, m uint64) uint64 {
	return k[0][i]*(m>>48) + k[1][i]*(m>>32&0xffff) + k[2][i]*(m>>16&0xffff) + k[3][i]*(m&0xffff)
}

// reduce36 returns the least residue of y modulo p36, for y < 2^64.
func reduce36(y uint64) uint64 {
	y = y&(1<<36-1) + 5*(y>>36) // < 2^36 + 5*2^28 < 2*p36
	r := y - p36                // wraps around if y < p36
	return r + p36&-(r>>63)
}
