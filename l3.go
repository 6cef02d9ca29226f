// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

// p36 is the modulus of L3-HASH, the largest prime below 2^36.
const p36 = 1<<36 - 5

// l3Key is the L3 key of one iteration; k1 holds residues modulo p36.
type l3Key struct {
	k1 [8]uint64
	k2 uint32
}

// l3 is L3-HASH, RFC 4418 section 5.4: the inner product modulo p36 of the
// eight 16-bit words of m with k1, cut to 32 bits, xor k2.
func l3(k *l3Key, m uint128) uint32 {
	var y uint64
	for i := range 4 {
		y += k.k1[i] * (m.hi >> (48 - 16*i) & 0xffff)
		y += k.k1[i+4] * (m.lo >> (48 - 16*i) & 0xffff)
	} // eight products of less than 2^52: y < 2^55
	return uint32(reduce36(y)) ^ k.k2
}

// reduce36 returns the least residue of y modulo p36, for y < 2^64.
func reduce36(y uint64) uint64 {
	y = y&(1<<36-1) + 5*(y>>36) // < 2^36 + 5*2^28 < 2*p36
	r := y - p36                // wraps around if y < p36
	return r + p36&-(r>>63)
}
