// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package umacref

import (
	"crypto/aes"
	"math/big"
	"slices"
)

// blockLen is BLOCKLEN, section 3.1, for AES.
const blockLen = 16

// encipher is ENCIPHER(K,P), section 3.1: AES with the key K, whose length
// is KEYLEN.
func encipher(K, P []byte) []byte {
	mustLen("ENCIPHER", "P", P, blockLen)
	c, err := aes.NewCipher(K)
	if err != nil {
		panic("umacref: ENCIPHER: " + err.Error())
	}
	T := zeroes(blockLen)
	c.Encrypt(T, P)
	return T
}

// KDF is the key-derivation function, section 3.2.1.
func KDF(K []byte, index uint64, numbytes int) []byte {
	mustKey("KDF", K)
	if numbytes < 0 {
		panic("umacref: KDF: numbytes is negative")
	}

	// n = ceil(numbytes / BLOCKLEN)
	n := (numbytes + blockLen - 1) / blockLen
	Y := []byte{}
	for i := 1; i <= n; i++ {
		T := slices.Concat(
			uint2str(new(big.Int).SetUint64(index), blockLen-8),
			uint2str(big.NewInt(int64(i)), 8))
		T = encipher(K, T)
		Y = append(Y, T...)
	}
	return substr(Y, 1, numbytes)
}

// PDF is the pad-derivation function, section 3.3.1.
func PDF(K, Nonce []byte, taglen int) []byte {
	mustKey("PDF", K)
	mustNonce("PDF", Nonce)
	mustTaglen("PDF", taglen)

	index := 0
	if taglen == 4 || taglen == 8 {
		i := new(big.Int).Mod(str2uint(Nonce), big.NewInt(int64(blockLen/taglen)))
		Nonce = xor(Nonce, uint2str(i, len(Nonce)))
		index = int(i.Int64())
	}

	Nonce = slices.Concat(Nonce, zeroes(blockLen-len(Nonce)))

	// K' in the RFC. It has KEYLEN bytes, not BLOCKLEN: the longer keys take
	// two blocks of the KDF.
	K_ := KDF(K, 0, len(K))
	T := encipher(K_, Nonce)
	if taglen == 4 || taglen == 8 {
		return substr(T, 1+index*taglen, taglen+index*taglen)
	}
	return substr(T, 1, taglen)
}
