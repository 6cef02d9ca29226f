// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package umacref

import (
	"encoding/binary"
	"math/big"
	"slices"
)

// bitlength is the length of string S in bits, section 2.1. The RFC's
// bytelength(S) is len(S).
func bitlength(S []byte) uint64 {
	return 8 * uint64(len(S))
}

// zeroes is the string made of n zero-bytes, section 2.1.
func zeroes(n int) []byte {
	return make([]byte, n)
}

// xor is S xor T, section 2.1. It panics when the lengths differ.
func xor(S, T []byte) []byte {
	mustLen("xor", "T", T, len(S))
	R := zeroes(len(S))
	for i := range R {
		R[i] = S[i] ^ T[i]
	}
	return R
}

// and is S and T, section 2.1. It panics when the lengths differ.
func and(S, T []byte) []byte {
	mustLen("and", "T", T, len(S))
	R := zeroes(len(S))
	for i := range R {
		R[i] = S[i] & T[i]
	}
	return R
}

// substr is S[i...j], section 2.1: bytes i through j, where indices begin
// at 1 and both ends belong to it.
func substr(S []byte, i, j int) []byte {
	return S[i-1 : j : j]
}

// zeropad is zeropad(S,n), section 2.1: S with zero-bytes appended up to the
// nearest positive multiple of n bytes. The empty string becomes zeroes(n).
func zeropad(S []byte, n int) []byte {
	t := 0
	for len(S)+t == 0 || (len(S)+t)%n != 0 {
		t++
	}
	return slices.Concat(S, zeroes(t))
}

// pow2 is 2^n.
func pow2(n uint) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), n)
}

// prime is the largest prime number less than 2^n, section 2.2, for the
// three n in the table there.
func prime(n uint) *big.Int {
	var d int64
	switch n {
	case 36:
		d = 5
	case 64:
		d = 59
	case 128:
		d = 159
	default:
		panic("umacref: prime: n must be 36, 64 or 128")
	}
	return new(big.Int).Sub(pow2(n), big.NewInt(d))
}

// str2uint is the integer whose binary representation is S, section 2.3.
func str2uint(S []byte) *big.Int {
	return new(big.Int).SetBytes(S)
}

// uint2str is the i-byte string S such that str2uint(S) = n, section 2.3.
// It panics when there is none.
func uint2str(n *big.Int, i int) []byte {
	if n.Sign() < 0 {
		// FillBytes would write the absolute value.
		panic("umacref: uint2str: n is negative")
	}
	return n.FillBytes(zeroes(i))
}

// add64 is S +_64 T, section 2.4.
func add64(S, T []byte) []byte {
	mustLen("+_64", "S", S, 8)
	mustLen("+_64", "T", T, 8)
	return binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(S)+binary.BigEndian.Uint64(T))
}

// endianSwap is ENDIAN-SWAP(S), section 2.5.1. It returns T and leaves S as
// it is, where L1-HASH speaks as if it changed S in place.
func endianSwap(S []byte) []byte {
	if len(S)%4 != 0 {
		panic("umacref: ENDIAN-SWAP: length of S is not divisible by 4")
	}
	T := zeroes(len(S))
	for i := 0; i < len(S); i += 4 {
		T[i], T[i+1], T[i+2], T[i+3] = S[i+3], S[i+2], S[i+1], S[i]
	}
	return T
}
