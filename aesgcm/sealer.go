// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm

import "example.com/fastmac"

// A Sealer seals plaintexts under a key and chooses the nonces, with a [fastmac.Nonces]:
// nobody can use a nonce twice. The nonce precedes the ciphertext, as in
// [crypto/cipher.NewGCMWithRandomNonce], whose Open opens what a Sealer seals.
//
// A Sealer is safe for concurrent use. Do not copy it.
type Sealer struct {
	key    *Key
	nonces *fastmac.Nonces
}

// NewSealer returns a Sealer for the key. See [fastmac.Nonces] for how many Sealers, of
// any processes and restarts, may use one key, and for forks and snapshots.
func (k *Key) NewSealer() *Sealer {
	k.mustLive()
	nonces, err := fastmac.NewNonces(NonceSize)
	if err != nil {
		panic(err) // impossible with this size
	}
	return &Sealer{k, nonces}
}

// Seal encrypts and authenticates plaintext, authenticates additionalData, appends a nonce
// of 12 bytes, the ciphertext and the tag of 16 bytes to dst, and returns the extended
// slice. It does not allocate if dst has room.
//
// To encrypt in place, the plaintext must begin 12 bytes after the end of dst, in its
// storage. Any other overlap panics as in [Key.Seal].
func (s *Sealer) Seal(dst, plaintext, additionalData []byte) []byte {
	s.key.mustLive()
	dst, out := extend(dst, NonceSize+len(plaintext)+Overhead)
	nonce, out := out[:NonceSize:NonceSize], out[NonceSize:]
	mustNotOverlap(out, plaintext, additionalData)
	if overlap(nonce, plaintext) || overlap(nonce, additionalData) {
		panic("fastmac: AES-GCM: invalid overlap of the nonce and an input")
	}
	s.nonces.Next(nonce[:0])
	s.key.gcm.Seal(out, nonce, plaintext, additionalData)
	return dst
}

// OpenSealed opens what [Sealer.Seal] returned: a nonce, the ciphertext and the tag. It
// appends the plaintext to dst and returns the extended slice, or returns [ErrOpen] as
// [Key.Open] does.
//
// To decrypt in place, pass sealed[12:12] as dst. Any other overlap panics as in
// [Key.Seal].
func (k *Key) OpenSealed(dst, sealed, additionalData []byte) ([]byte, error) {
	k.mustLive()
	if len(sealed) < NonceSize+Overhead {
		return nil, ErrOpen
	}
	return k.Open(dst, sealed[:NonceSize], sealed[NonceSize:], additionalData)
}
