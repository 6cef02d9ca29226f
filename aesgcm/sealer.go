// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm

import (
	"strconv"

	"example.com/fastmac"
	"example.com/fastmac/internal/opaque"
)

// A Sealer seals plaintexts under a key and chooses the nonces. It is a [crypto/cipher.AEAD] whose
// callers pass no nonce, like the one that [crypto/cipher.NewGCMWithRandomNonce] returns: the nonce
// precedes the ciphertext, and each opens what the other has sealed.
//
// The nonces come from a [fastmac.NonceSequence], so one Sealer never uses a nonce twice. Other
// Sealers of the same key, in any processes and after any restarts, begin at other random nonces.
// The documentation of NonceSequence has the probability that two have a nonce in common, and says
// what happens after a fork or a restored snapshot. Do not also call [Key.Seal] under the same key:
// a Sealer could use the same nonce.
//
// A Sealer is safe for concurrent use. It has no method Destroy, because only the key is secret. It
// prints as "aesgcm.Sealer".
type Sealer struct {
	_ opaque.Incomparable
	sealerName

	key    *Key
	nonces *fastmac.NonceSequence
}

type sealerName = opaque.Name[sealerText]

type sealerText struct{}

func (sealerText) String() string { return "aesgcm.Sealer" }

// NewSealer returns a Sealer that uses k.
func (k *Key) NewSealer() *Sealer {
	k.mustLive()
	return &Sealer{key: k, nonces: fastmac.NewNonceSequence(NonceSize)}
}

// NonceSize returns 0: callers pass no nonce.
func (s *Sealer) NonceSize() int { return 0 }

// Overhead returns 28, the size in bytes of the nonce and the tag.
func (s *Sealer) Overhead() int { return NonceSize + Overhead }

// check panics if there is no key, or if there is a nonce.
func (s *Sealer) check(nonce []byte) {
	if s.key == nil {
		panic("aesgcm: use of a Sealer that NewSealer did not make")
	}
	s.key.mustLive()
	if len(nonce) != 0 {
		panic("aesgcm: Sealer chooses the nonce: pass nil, not " + strconv.Itoa(len(nonce)) + " bytes")
	}
}

// Seal encrypts plaintext and authenticates it and additionalData. It appends a nonce of 12 bytes,
// the ciphertext and the tag, 16 bytes, to dst and returns the extended slice. It does not allocate
// if dst has room.
//
// Seal panics if the argument nonce is not empty, if plaintext has more than 64 GiB - 32 bytes, if
// s does not come from [Key.NewSealer], and after 2^63 calls.
//
// To encrypt in place, pass plaintext[:0] as dst. It is faster if the plaintext begins 12 bytes
// after the end of dst, because then it need not be moved. If what Seal appends overlaps plaintext
// in any other way, or overlaps additionalData, Seal panics.
func (s *Sealer) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	s.check(nonce)
	if !isText(uint64(len(plaintext))) {
		panic(tooLong(plaintext))
	}
	dst, out := extend(dst, NonceSize+len(plaintext)+Overhead)
	if overlap(out, additionalData) {
		panic(dataOverlap)
	}
	nonce, out = out[:NonceSize:NonceSize], out[NonceSize:]
	if overlap(nonce, plaintext) || overlap(out, plaintext) {
		switch &plaintext[0] {
		case &nonce[0]:
			plaintext = out[:copy(out, plaintext)]
		case &out[0]:
		default:
			panic(inputOverlap)
		}
	}
	s.nonces.Next(nonce[:0])
	if !s.key.gcm.Seal(out, nonce, plaintext, additionalData) {
		panic(dead)
	}
	return dst
}

// Open is like [Key.Open] for what a Sealer of the same key has sealed: a nonce of 12 bytes, the
// ciphertext and the tag, 16 bytes. It panics if the argument nonce is not empty. On architectures
// other than amd64 and arm64 it allocates 12 bytes.
//
// To decrypt in place, pass sealed[:0] as dst, or sealed[12:12], which is faster because nothing
// need be moved. Both may overwrite all of sealed. If the plaintext overlaps sealed in any other
// way, or what is overwritten overlaps additionalData, Open panics.
func (s *Sealer) Open(dst, nonce, sealed, additionalData []byte) ([]byte, error) {
	s.check(nonce)
	if len(sealed) < NonceSize+Overhead || !isText(uint64(len(sealed)-NonceSize-Overhead)) {
		return nil, errOpen
	}
	first, ciphertext := [NonceSize]byte(sealed), sealed[NonceSize:]
	dst, out := extend(dst, len(ciphertext)-Overhead)
	if overlap(out, additionalData) {
		panic(dataOverlap)
	}
	if overlap(out, sealed) {
		switch &out[0] {
		case &sealed[0]:
			moved := sealed[:len(ciphertext)] // to where the plaintext will be
			if overlap(moved, additionalData) {
				panic(dataOverlap)
			}
			copy(moved, ciphertext)
			ciphertext = moved
		case &ciphertext[0]:
		default:
			panic(inputOverlap)
		}
	}
	if !s.key.gcm.Open(out, first[:], ciphertext, additionalData) {
		s.key.mustLive()
		return nil, errOpen
	}
	return dst, nil
}
