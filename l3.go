// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import "encoding/binary"

// p36 is the modulus of L3-HASH, the largest prime below 2^36.
const p36 = 1<<36 - 5

// l3Key is the L3 key of all iterations, except for the first four words of k1, which
// are multiplied by zeros unless POLY-128 is in use.
type l3Key struct {
	k2  [maxIterations]uint32
	low l3Words // k_5 to k_8
}

// l3Words are half of k1 of all iterations, as residues modulo p36: word by word, because
// kernels compute the iterations side by side.
type l3Words [4][maxIterations]uint64

// setL3 reads the subkeys k1 and k2 of iteration i.
func (k *uhashKey) setL3(i int, k1 *[64]byte, k2 *[4]byte) {
	for j := range 4 {
		k.l3High[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j:]))
		k.l3.low[j][i] = reduce36(binary.BigEndian.Uint64(k1[8*j+32:]))
	}
	k.l3.k2[i] = binary.BigEndian.Uint32(k2[:])
}

// l3Long is L3-HASH, RFC 4418 section 5.4, in iteration i: the inner product modulo
// p36 of the eight 16-bit words of m with k1, cut to 32 bits, xor k2.
func (k *uhashKey) l3Long(i int, m uint128) uint32 {
	return uint32(reduce36(k.l3High.inner(i, m.hi)+k.l3.low.inner(i, m.lo))) ^ k.l3.k2[i]
}

// l3Short is l3Long for an m of which the first 8 bytes are zeros.
func (k *uhashKey) l3Short(i int, m uint64) uint32 {
	return uint32(reduce36(k.l3.low.inner(i, m))) ^ k.l3.k2[i]
}

// inner is the inner product modulo 2^64 of the four 16-bit words of m with those of
// iteration i: four products of less than 2^52.
func (k *l3Words) inner(i int, m uint64) uint64 {
	return k[0][i]*(m>>48) + k[1][i]*(m>>32&0xffff) + k[2][i]*(m>>16&0xffff) + k[3][i]*(m&0xffff)
}

// reduce36 returns the least residue of y modulo p36, for y < 2^64.
func reduce36(y uint64) uint64 {
	y = y&(1<<36-1) + 5*(y>>36) // < 2^36 + 5*2^28 < 2*p36
	r := y - p36                // wraps around if y < p36
	return r + p36&-(r>>63)
}
