// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hkdf derives keys from a secret with HKDF, RFC 5869. It has the functions of [crypto/hkdf], with the
// same signatures, results, errors and panics. To use it, change the import line.
//
// Keys are computed with the HMAC of this module where New of package hmac knows the hash and there is assembly
// for it, and by crypto/hkdf otherwise, and always in FIPS 140 mode.
package hkdf

import (
	"crypto/fips140"
	"crypto/hkdf"
	"hash"

	"example.com/fastmac/internal/made"
	"example.com/fastmac/internal/sha2"
)

// Extract returns a pseudorandom key, as long as the hash, from a secret and a salt, RFC 5869 section 2.2. Salt
// may be nil. Use Extract only to call [Expand] with the result more than once; otherwise use [Key].
//
// Extract returns errors only with GODEBUG=fips140=only: see [crypto/hkdf.Extract].
func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	known := hashOf(h)
	if known == nil {
		return hkdf.Extract(h, secret, salt)
	}
	prk := make([]byte, known.Size)
	if known.Wide() {
		sha2.SumUnder(known.Initial512, prk, salt, secret)
	} else {
		sha2.SumUnder(known.Initial256, prk, salt, secret)
	}
	return prk, nil
}

// Expand returns a key of keyLength bytes, 0 to 255 times the size of the hash, from a pseudorandom key and
// info, RFC 5869 section 2.3. The pseudorandom key is what [Extract] returns, or other bytes that nobody can
// tell from random ones. info says what the key is for, and may be empty.
//
// Expand returns an error if keyLength is too large, and panics if it is negative. With GODEBUG=fips140=only
// there are more errors: see [crypto/hkdf.Expand].
func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	known := hashOf(h)
	if known == nil || !isLength(keyLength, known) {
		return hkdf.Expand(h, pseudorandomKey, info, keyLength)
	}
	key := make([]byte, keyLength)
	if known.Wide() {
		derive(known.Initial512, known.Size, false, pseudorandomKey, nil, info, key)
	} else {
		derive(known.Initial256, known.Size, false, pseudorandomKey, nil, info, key)
	}
	return key, nil
}

// Key returns what [Expand] returns for the result of [Extract].
func Key[Hash hash.Hash](h func() Hash, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	known := hashOf(h)
	if known == nil || !isLength(keyLength, known) {
		return hkdf.Key(h, secret, salt, info, keyLength)
	}
	key := make([]byte, keyLength)
	if known.Wide() {
		derive(known.Initial512, known.Size, true, secret, salt, info, key)
	} else {
		derive(known.Initial256, known.Size, true, secret, salt, info, key)
	}
	return key, nil
}

// hashOf returns which hash h makes, or nil if crypto/hkdf computes with it.
func hashOf[H hash.Hash](h func() H) *sha2.Hash {
	f, ok := any(h).(func() hash.Hash)
	if !ok || fips140.Enabled() {
		return nil
	}
	known := made.Hash(f)
	if known == nil || !known.HasAssembly() {
		return nil
	}
	return known
}

// isLength reports whether a key can have n bytes, RFC 5869 section 2.3.
func isLength(n int, h *sha2.Hash) bool { return 0 <= n && n <= 255*h.Size }

// derive sets key to one derived from a pseudorandom key, as [Expand], or if extract is set from a secret and a
// salt, as [Key]. While it has secrets in its variables it calls nothing that could make the stack grow: Init, which
// is first, uses more than the others.
//
// A message is the last block of the key, except for the first message, and info, and the number of the next
// block. It is hashed by blocks of the hash: info may be long.
func derive[W sha2.Word](initial *sha2.State[W], size int, extract bool, secret, salt []byte, info string, key []byte) {
	var k sha2.Key[W]
	var state sha2.State[W]
	var block sha2.Block[W]
	b := block.Bytes()
	if extract {
		k.Init(initial, size, salt)
		sha2.Sum(b[:size], &k.Inner, &k.Outer, uint64(len(b)), secret)
		secret = b[:size]
	}
	k.Init(initial, size, secret)
	last := 0 // bytes of the last block
	for number := byte(1); len(key) > 0; number++ {
		state = k.Inner
		done, n := len(b), last
		for rest := info; ; n = 0 {
			copied := copy(b[n:], rest)
			n, rest = n+copied, rest[copied:]
			if n < len(b) {
				break
			}
			state.Compress(b)
			done += len(b)
		}
		b[n] = number
		sha2.Sum(b[:size], &state, &k.Outer, uint64(done), b[:n+1])
		key = key[copy(key, b[:size]):]
		last = size
	}
	clear(block[:])
	clear(state[:])
	k = sha2.Key[W]{}
}
