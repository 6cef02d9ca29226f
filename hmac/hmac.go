// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hmac has the functions of [crypto/hmac], with the same signatures, results and panics. To use
// it, change the import line.
//
// HMAC with SHA-2, that is SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224 and SHA-512/256 of the
// standard library, is computed by package [fastmac] if [New] knows the function that makes the hash and
// there is assembly for it. With SHA-1 the hash is that of [crypto/sha1], and what HMAC does around it takes
// less time than in crypto/hmac. In all other cases crypto/hmac computes it, in FIPS 140 mode and with
// BoringCrypto always.
//
// SHA-1 is only for protocols that have it, such as one-time passwords: no practical attack on HMAC with it is
// known. Do not use it without a key, or for signatures, since anybody can make two messages with one hash.
package hmac

import (
	"crypto/fips140"
	"crypto/hmac"
	"hash"
	_ "unsafe" // for go:linkname

	"example.com/fastmac"
	"example.com/fastmac/internal/made"
	"example.com/fastmac/internal/sha1"
	"example.com/fastmac/internal/sha2"
)

// newAround returns an HMAC around one of crypto/hmac.
//
//go:linkname newAround example.com/fastmac.newAround
var newAround func(f *sha2.Hash, std hash.Hash) *fastmac.HMAC

// New returns a hash that computes the HMAC, RFC 2104, of what is written to it under key, with the
// hash that h makes. It does not retain key.
//
// If h is a function of the standard library for SHA-2 or SHA-1, such as [crypto/sha256.New], or a method
// value such as [crypto.SHA256].New, the result is a [*fastmac.HMAC], except in FIPS 140 mode and with
// BoringCrypto. That HMAC also has the methods Clone, Verify, WriteString and Destroy, which overwrites
// the key. For any other function, also for one that calls these, the result is that of
// [crypto/hmac.New]. The result is not safe for concurrent use.
//
// Where there is no assembly for SHA-2, the HMAC is around that of crypto/hmac. Destroy overwrites what
// that refers to. It does not reach copies of the key: on the stack, and on the heap the hash of a key longer
// than a block, and the padded key after the first Reset. Use [fastmac.NewHMAC] if these matter. With SHA-1
// Destroy reaches all of these, and what Reset leaves of the last message: a hash of its first blocks, and its tag.
func New(h func() hash.Hash, key []byte) hash.Hash {
	if fips140.Enabled() {
		return hmac.New(h, key)
	}
	known := made.Hash(h)
	if known == nil {
		if made.SHA1(h) {
			return newAround(sha1.Hash, sha1.New(key))
		}
		return hmac.New(h, key)
	}
	if !known.HasAssembly() {
		// That of GOFIPS140=v1.0.0 has no Clone, which an HMAC has.
		if std, ok := hmac.New(h, key).(hash.Cloner); ok {
			return newAround(known, std)
		}
	}
	m, err := fastmac.NewHMAC(known.ID, key)
	if err != nil {
		panic(err) // not outside FIPS 140 mode
	}
	return m
}

// Equal reports whether two MACs are equal. Its time depends only on their lengths.
func Equal(mac1, mac2 []byte) bool { return hmac.Equal(mac1, mac2) }
