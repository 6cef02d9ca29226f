// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm

import (
	"strconv"

	"example.com/fastmac"
	"example.com/fastmac/internal/opaque"
)

// A Sealer seals plaintexts under a key and chooses the nonces, with a
// [fastmac.NonceSequence]. No nonce comes twice from one Sealer. Other Sealers of the same key,
// of any processes and restarts, begin at other random nonces: [fastmac.NonceSequence] has the
// probability of a nonce in common, and says what forks and restored snapshots do. Do not also
// call [Key.Seal] under the same key: its nonces could be those of a Sealer.
//
// A Sealer is a [crypto/cipher.AEAD] whose callers pass no nonce, as that of
// [crypto/cipher.NewGCMWithRandomNonce]. The nonce precedes the ciphertext. Each opens what the
// other has sealed.
//
// A Sealer is safe for concurrent use. It has no method Destroy, because only the key is
// secret. It prints as "aesgcm.Sealer".
type Sealer struct {
	_ opaque.Incomparable
	sealerName

	key    *Key
	nonces *fastmac.NonceSequence
}

type sealerName = opaque.Name[sealerText]

type sealerText struct{}

func (sealerText) String() string { return "aesgcm.Sealer" }

// NewSealer returns a Sealer for the key, which it shares.
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

// Seal encrypts plaintext, authenticates it and additionalData, appends the nonce, 12 bytes,
// the ciphertext and the tag, 16 bytes, to dst and returns the extended slice. It does not
// allocate if dst has room.
//
// To encrypt in place, pass plaintext[:0] as dst. It is faster if the plaintext begins 12
// bytes after the end of dst, because then it need not be moved. If what Seal appends
// overlaps plaintext in any other way, or overlaps additionalData, Seal panics. Seal also
// panics if the argument nonce is not empty, if plaintext has more than 64 GiB - 32 bytes, if
// [Key.NewSealer] did not make s, and after 2^63 calls.
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
	s.key.gcm.Seal(out, nonce, plaintext, additionalData)
	return dst
}

// Open is like [Key.Open] for what Seal of a Sealer of the same key appended: a nonce, 12
// bytes, the ciphertext and the tag, 16 bytes. It panics if the argument nonce is not empty.
// On architectures other than amd64 and arm64 it allocates 12 bytes.
//
// To decrypt in place, pass sealed[:0] as dst, or sealed[12:12], which is faster, because
// then nothing need be moved. In both cases all of sealed may be overwritten. If the
// plaintext overlaps sealed in any other way, or what is overwritten overlaps additionalData,
// Open panics.
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
		return nil, errOpen
	}
	return dst, nil
}
