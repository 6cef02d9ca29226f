// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package umacref

import (
	"encoding/binary"
	"math/big"
	"slices"
)

// UHASH is the universal hash function, section 5.1.
func UHASH(K, M []byte, taglen int) []byte {
	mustKey("UHASH", K)
	mustTaglen("UHASH", taglen)

	iters := taglen / 4

	L1Key := KDF(K, 1, 1024+(iters-1)*16)
	L2Key := KDF(K, 2, iters*24)
	L3Key1 := KDF(K, 3, iters*64)
	L3Key2 := KDF(K, 4, iters*4)

	Y := []byte{}
	for i := 1; i <= iters; i++ {
		L1Key_i := substr(L1Key, (i-1)*16+1, (i-1)*16+1024)
		L2Key_i := substr(L2Key, (i-1)*24+1, i*24)
		L3Key1_i := substr(L3Key1, (i-1)*64+1, i*64)
		L3Key2_i := substr(L3Key2, (i-1)*4+1, i*4)

		A := L1Hash(L1Key_i, M)
		var B []byte
		if bitlength(M) <= bitlength(L1Key_i) {
			B = slices.Concat(zeroes(8), A)
		} else {
			B = L2Hash(L2Key_i, A)
		}
		C := L3Hash(L3Key1_i, L3Key2_i, B)
		Y = append(Y, C...)
	}
	return Y
}

// L1Hash is L1-HASH, the first-layer hash, section 5.2.1. K is 1024 bytes.
// The output is 8 bytes for each 1024-byte chunk of M, the last of which may
// be shorter, and 8 bytes for the empty M too: the output length stated in
// the RFC, 8 * ceil(bitlength(M)/8192), would be 0 there, but its algorithm
// has t = max(..., 1).
func L1Hash(K, M []byte) []byte {
	mustLen("L1-HASH", "K", K, 1024)

	// t = max(ceil(bitlength(M)/8192), 1)
	t := max((len(M)+1023)/1024, 1)

	Len := uint2str(big.NewInt(1024*8), 8)
	Y := []byte{}
	for i := 1; i <= t-1; i++ {
		M_i := substr(M, (i-1)*1024+1, i*1024)
		M_i = endianSwap(M_i)
		Y = append(Y, add64(NH(K, M_i), Len)...)
	}

	// Len counts the bits of M_t before the padding.
	M_t := substr(M, (t-1)*1024+1, len(M))
	Len = uint2str(new(big.Int).SetUint64(bitlength(M_t)), 8)
	M_t = zeropad(M_t, 32)
	M_t = endianSwap(M_t)
	Y = append(Y, add64(NH(K, M_t), Len)...)
	return Y
}

// NH is the hash of one chunk, section 5.2.2. K is 1024 bytes. M has a
// length divisible by 32 of at most 1024 bytes; it is padded and
// endian-swapped already, so its words are read big-endian, as those of K.
// The length that L1-HASH adds is not in the output.
func NH(K, M []byte) []byte {
	mustLen("NH", "K", K, 1024)
	if len(M)%32 != 0 || len(M) > len(K) {
		panic("umacref: NH: length of M must be divisible by 32 and at most 1024")
	}

	t := len(M) / 4
	M_ := func(i int) uint32 { return binary.BigEndian.Uint32(M[(i-1)*4:]) }
	K_ := func(i int) uint32 { return binary.BigEndian.Uint32(K[(i-1)*4:]) }

	// The strings of the RFC's loop are held as integers: + of uint32 is
	// +_32, + of uint64 is +_64, and * of uint64 is *_64 (section 2.4).
	Y := uint64(0)
	i := 1
	for i < t {
		Y = Y + uint64(M_(i+0)+K_(i+0))*uint64(M_(i+4)+K_(i+4))
		Y = Y + uint64(M_(i+1)+K_(i+1))*uint64(M_(i+5)+K_(i+5))
		Y = Y + uint64(M_(i+2)+K_(i+2))*uint64(M_(i+6)+K_(i+6))
		Y = Y + uint64(M_(i+3)+K_(i+3))*uint64(M_(i+7)+K_(i+7))
		i = i + 8
	}
	return binary.BigEndian.AppendUint64(nil, Y)
}

// L2Hash is L2-HASH, the second-layer hash, section 5.3.1. K is 24 bytes, M
// has a length divisible by 8, and the output is 16 bytes.
func L2Hash(K, M []byte) []byte {
	mustLen("L2-HASH", "K", K, 24)

	Mask64 := []byte{0x01, 0xff, 0xff, 0xff, 0x01, 0xff, 0xff, 0xff}
	Mask128 := slices.Concat(Mask64, Mask64)
	k64 := str2uint(and(substr(K, 1, 8), Mask64))
	k128 := str2uint(and(substr(K, 9, 24), Mask128))

	maxwordrange64 := new(big.Int).Sub(pow2(64), pow2(32))
	maxwordrange128 := new(big.Int).Sub(pow2(128), pow2(96))

	var y *big.Int
	if len(M) <= 1<<17 {
		y = POLY(64, maxwordrange64, k64, M)
	} else {
		M_1 := substr(M, 1, 1<<17)
		M_2 := substr(M, 1<<17+1, len(M))
		M_2 = zeropad(slices.Concat(M_2, []byte{0x80}), 16)
		y = POLY(64, maxwordrange64, k64, M_1)
		y = POLY(128, maxwordrange128, k128, slices.Concat(uint2str(y, 16), M_2))
	}
	return uint2str(y, 16)
}

// POLY is the polynomial hash, section 5.3.2. wordbits is 64 or 128, k is
// less than prime(wordbits), and the length of M is divisible by the
// wordbits/8 bytes of a word. That k has masked bits is L2-HASH's doing;
// POLY takes any k in range.
func POLY(wordbits uint, maxwordrange, k *big.Int, M []byte) *big.Int {
	if wordbits != 64 && wordbits != 128 {
		panic("umacref: POLY: wordbits must be 64 or 128")
	}
	if maxwordrange.Sign() <= 0 || maxwordrange.Cmp(pow2(wordbits)) >= 0 {
		panic("umacref: POLY: maxwordrange must be positive and less than 2^wordbits")
	}

	wordbytes := int(wordbits / 8)
	p := prime(wordbits)
	offset := new(big.Int).Sub(pow2(wordbits), p)
	marker := new(big.Int).Sub(p, big.NewInt(1))

	if k.Sign() < 0 || k.Cmp(p) >= 0 {
		panic("umacref: POLY: k must be in the range 0 ... prime(wordbits) - 1")
	}
	if len(M)%wordbytes != 0 {
		panic("umacref: POLY: length of M must be divisible by wordbits / 8")
	}

	n := len(M) / wordbytes
	y := big.NewInt(1)
	// hash does y = (k * y + w) mod p.
	hash := func(w *big.Int) {
		y.Mul(k, y)
		y.Add(y, w)
		y.Mod(y, p)
	}
	for i := 1; i <= n; i++ {
		M_i := substr(M, (i-1)*wordbytes+1, i*wordbytes)
		m := str2uint(M_i)
		if m.Cmp(maxwordrange) >= 0 {
			hash(marker)
			hash(m.Sub(m, offset))
		} else {
			hash(m)
		}
	}
	return y
}

// L3Hash is L3-HASH, the third-layer hash, section 5.4.1. K1 is 64 bytes, K2
// is 4, M is 16, and the output is 4 bytes.
func L3Hash(K1, K2, M []byte) []byte {
	mustLen("L3-HASH", "K1", K1, 64)
	mustLen("L3-HASH", "K2", K2, 4)
	mustLen("L3-HASH", "M", M, 16)

	y := big.NewInt(0)
	for i := 1; i <= 8; i++ {
		M_i := substr(M, (i-1)*2+1, i*2)
		K_i := substr(K1, (i-1)*8+1, i*8)
		m_i := str2uint(M_i)
		k_i := str2uint(K_i)
		k_i.Mod(k_i, prime(36))
		y.Add(y, m_i.Mul(m_i, k_i))
	}
	y.Mod(y, prime(36))
	y.Mod(y, pow2(32))
	Y := uint2str(y, 4)
	Y = xor(Y, K2)
	return Y
}
