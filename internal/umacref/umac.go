// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package umacref is RFC 4418, UMAC, transcribed literally, for tests to
// compare with. It is never for production: its time depends on keys and
// messages, it copies secrets about and wipes none, and it is slow.
//
// The files follow the RFC's main sections: notation.go is section 2,
// kdf.go section 3, umac.go section 4 and uhash.go section 5. Names, their
// capitals and underscores included, are the RFC's, against Go's custom, so
// that each function can be read next to its section; only hyphenated
// function names had to change, so L1-HASH is L1Hash. S || T is
// slices.Concat(S, T), or append where the RFC builds a string up.
//
// The RFC's strings are byte strings here: messages whose length in bits is
// not a multiple of 8 are left out. The block cipher is AES, and KEYLEN is
// the length of the key given: 16, 24 or 32 bytes.
//
// All functions panic on arguments outside of the RFC's ranges. None changes
// its arguments, and all are safe for concurrent use.
package umacref

import "fmt"

// UMAC is the tag generation, section 4.1. K is 16, 24 or 32 bytes, Nonce 1
// to 16 bytes, and taglen 4, 8, 12 or 16 bytes.
func UMAC(K, M, Nonce []byte, taglen int) []byte {
	mustKey("UMAC", K)
	mustNonce("UMAC", Nonce)
	mustTaglen("UMAC", taglen)

	HashedMessage := UHASH(K, M, taglen)
	Pad := PDF(K, Nonce, taglen)
	Tag := xor(Pad, HashedMessage)
	return Tag
}

func mustKey(fn string, K []byte) {
	if len(K) != 16 && len(K) != 24 && len(K) != 32 {
		panic(fmt.Sprintf("umacref: %s: K has %d bytes, must have 16, 24 or 32", fn, len(K)))
	}
}

func mustNonce(fn string, Nonce []byte) {
	if len(Nonce) < 1 || len(Nonce) > blockLen {
		panic(fmt.Sprintf("umacref: %s: Nonce has %d bytes, must have 1 to %d", fn, len(Nonce), blockLen))
	}
}

func mustTaglen(fn string, taglen int) {
	if taglen != 4 && taglen != 8 && taglen != 12 && taglen != 16 {
		panic(fmt.Sprintf("umacref: %s: taglen is %d, must be 4, 8, 12 or 16", fn, taglen))
	}
}

func mustLen(fn, name string, S []byte, n int) {
	if len(S) != n {
		panic(fmt.Sprintf("umacref: %s: %s has %d bytes, must have %d", fn, name, len(S), n))
	}
}
