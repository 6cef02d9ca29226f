// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package aesgcm provides AES-GCM, NIST SP 800-38D, as a [crypto/cipher.AEAD], with nonces of 12
// bytes and tags of 16. It has no code for CPUs without the instructions that it needs: on these
// no key can be made, see [fastmac.RequireGCM].
//
// Unlike a key of crypto/cipher, a [Key] can be in memory that the caller provides, and can be
// overwritten. A [Sealer] chooses the nonces: use it unless a protocol says what the nonces are.
package aesgcm

import (
	"errors"
	"slices"
	"strconv"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/opaque"
)

// Sizes in bytes.
const (
	NonceSize = gcm.NonceSize // a nonce
	Overhead  = gcm.TagSize   // the tag: a ciphertext is longer than its plaintext by this
)

// A Key is an expanded AES key for GCM. It implements [crypto/cipher.AEAD].
//
// Never use a nonce for two plaintexts under one key. From two ciphertexts with the same nonce an
// attacker learns the xor of the plaintexts, and computes the key of the hash, with which it forges
// ciphertexts. A [Sealer] never uses a nonce twice. If you draw nonces at random, seal at most 2^32
// plaintexts under one key (section 8.3).
//
// A Key does not change once it is set up. It is safe for concurrent use until [Key.Destroy]. Do
// not copy it: Destroy does not overwrite copies. It prints as "aesgcm.Key". All methods except
// Init, Destroy, NonceSize, Overhead, String and Format panic if the key was never set up or has
// been destroyed.
type Key struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	keyName

	gcm gcm.Key
}

type keyName = opaque.Name[keyText]

type keyText struct{}

func (keyText) String() string { return "aesgcm.Key" }

// NewKey expands a key of 16, 24 or 32 bytes (AES-128, AES-192, AES-256). It returns a
// [fastmac.KeySizeError] for a key of any other length. If the CPU lacks instructions, it returns
// the error of [fastmac.RequireGCM] and does not read key. It does not retain key.
func NewKey(key []byte) (*Key, error) {
	k := new(Key)
	if err := k.Init(key); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewKey], except that it sets up k in place and replaces any previous key. If Init
// returns an error, k is unchanged. On amd64 and arm64 Init does not allocate, and k may be in
// memory that Go did not allocate: it has no pointers.
func (k *Key) Init(key []byte) error {
	if err := fastmac.RequireGCM(); err != nil {
		return err
	}
	switch len(key) {
	case 16, 24, 32:
	default:
		return fastmac.KeySizeError(len(key))
	}
	return k.gcm.Init(key)
}

// Destroy overwrites the key with zeros, except for a number that tells keys in one place apart. Any later
// use of it panics; a second Destroy does nothing. A call that uses the key meanwhile panics
// too, and what it has written is overwritten with zeros: see "Destroy while in use" of package fastmac.
//
// On architectures other than amd64 and arm64 the key is in crypto/cipher, which has no API to
// overwrite it.
func (k *Key) Destroy() { k.gcm.Destroy() }

const dead = "aesgcm: use of a Key that was destroyed or never set up"

func (k *Key) mustLive() {
	if k.gcm.Life().ID().None() {
		panic(dead)
	}
}

// NonceSize returns 12, the size of a nonce in bytes.
func (k *Key) NonceSize() int { return NonceSize }

// Overhead returns 16, the size of a tag in bytes.
func (k *Key) Overhead() int { return Overhead }

// Seal encrypts plaintext and authenticates it and additionalData. It appends the ciphertext and
// the tag, 16 bytes, to dst and returns the extended slice. It does not allocate if dst has room.
//
// The nonce must be 12 bytes long, or Seal panics. Never use it for another plaintext under this
// key. Seal also panics if plaintext has more than 64 GiB - 32 bytes.
//
// To encrypt in place, pass plaintext[:0] as dst. If what Seal appends overlaps plaintext in any
// other way, or overlaps additionalData, Seal panics. It may overlap the nonce.
func (k *Key) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	k.mustLive() // before it writes to dst
	mustNonce(nonce)
	if !isText(uint64(len(plaintext))) {
		panic(tooLong(plaintext))
	}
	dst, out := extend(dst, len(plaintext)+Overhead)
	if overlap(out, plaintext) && &out[0] != &plaintext[0] {
		panic(inputOverlap)
	}
	if overlap(out, additionalData) {
		panic(dataOverlap)
	}
	if !k.gcm.Seal(out, nonce, plaintext, additionalData) {
		panic(dead)
	}
	return dst
}

// errOpen is the error of Open if the key, the nonce, the ciphertext, the tag or the additional
// data is not that of the call of Seal.
var errOpen = errors.New("aesgcm: message authentication failed")

// Open authenticates ciphertext, which ends with the tag, and additionalData. It appends the
// decrypted plaintext to dst and returns the extended slice. It does not allocate if dst has room.
//
// Unless the key, the nonce, the ciphertext, the tag and the additional data are those of one call
// of Seal, Open returns an error. If dst has room for the plaintext, Open then overwrites that room
// with zeros.
//
// The nonce must be 12 bytes long, or Open panics. To decrypt in place, pass ciphertext[:0] as dst.
// If the plaintext overlaps ciphertext in any other way, or overlaps additionalData, Open panics.
// It may overlap the nonce.
func (k *Key) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	k.mustLive()
	mustNonce(nonce)
	if len(ciphertext) < Overhead || !isText(uint64(len(ciphertext)-Overhead)) {
		return nil, errOpen
	}
	dst, out := extend(dst, len(ciphertext)-Overhead)
	if overlap(out, ciphertext) && &out[0] != &ciphertext[0] {
		panic(inputOverlap)
	}
	if overlap(out, additionalData) {
		panic(dataOverlap)
	}
	if !k.gcm.Open(out, nonce, ciphertext, additionalData) {
		k.mustLive()
		return nil, errOpen
	}
	return dst, nil
}

func mustNonce(nonce []byte) {
	if len(nonce) != NonceSize {
		panic("aesgcm: nonce of " + strconv.Itoa(len(nonce)) + " bytes: want 12")
	}
}

func tooLong(plaintext []byte) string {
	return "aesgcm: plaintext of " + strconv.Itoa(len(plaintext)) + " bytes: want at most 64 GiB - 32"
}

// isText reports whether a plaintext may have n bytes.
func isText(n uint64) bool { return n <= gcm.MaxTextSize }

// extend returns dst with n more bytes, and these bytes.
func extend(dst []byte, n int) (extended, added []byte) {
	extended = slices.Grow(dst, n)[:len(dst)+n]
	return extended, extended[len(dst):]
}

const (
	inputOverlap = "aesgcm: the output overlaps the input: want the same beginning or no overlap"
	dataOverlap  = "aesgcm: the output overlaps the additional data"
)

// overlap reports whether a and b have a byte of memory in common.
func overlap(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 &&
		uintptr(unsafe.Pointer(&a[0])) <= uintptr(unsafe.Pointer(&b[len(b)-1])) &&
		uintptr(unsafe.Pointer(&b[0])) <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}
