// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package aesgcm provides AES-GCM, NIST SP 800-38D, as a [crypto/cipher.AEAD], on CPU
// instructions only: where they are missing, there is no slower code, and no key can be
// made.
//
// Unlike the key of crypto/cipher, a [Key] can be in memory that the caller provides, and
// can be overwritten. A [Sealer] chooses the nonces.
package aesgcm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/gcm"
)

// Sizes in bytes.
const (
	KeySize128 = 16            // a key for AES-128
	KeySize256 = 32            // a key for AES-256
	NonceSize  = gcm.NonceSize // a nonce
	Overhead   = gcm.TagSize   // the tag: a ciphertext is longer than its plaintext by this
)

// KeySizeError is the error for a key of this size, which is not 16 or 32 bytes.
type KeySizeError int

func (e KeySizeError) Error() string {
	return "fastmac: AES-GCM key of " + strconv.Itoa(int(e)) + " bytes: want 16 or 32"
}

// A Key is an expanded AES-128 or AES-256 key for GCM. It implements
// [crypto/cipher.AEAD].
//
// Never use a nonce for two plaintexts under one key: the two ciphertexts give away the
// xor of the plaintexts, and the tags give away the key that authenticates, with which
// anyone can forge. A [Sealer] chooses the nonces. If the nonces are random, seal at most
// 2^32 plaintexts under one key (section 8.3).
//
// A Key does not change after it is set up, and is safe for concurrent use until
// [Key.Destroy]. Do not copy it: Destroy does not wipe a copy. All methods except Init,
// Destroy, NonceSize, Overhead and those that print its name panic if the key was never
// set up or has been destroyed.
type Key struct {
	_ noCopy
	_ incomparable
	keyName

	gcm gcm.Key
}

// NewKey expands a key of 16 bytes (AES-128) or 32 bytes (AES-256). For another size it
// returns a [KeySizeError]. If the CPU lacks instructions, it returns the error of
// [fastmac.RequireGCM] and does not read key. It does not retain key.
func NewKey(key []byte) (*Key, error) {
	k := new(Key)
	if err := k.Init(key); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewKey] but sets up k in place, replacing any previous key. If Init
// returns an error, k is unchanged. On amd64 Init does not allocate, and k may be in
// memory that Go did not allocate: it has no pointers.
func (k *Key) Init(key []byte) error {
	if err := fastmac.RequireGCM(); err != nil {
		return err
	}
	if len(key) != KeySize128 && len(key) != KeySize256 {
		return KeySizeError(len(key))
	}
	k.gcm.Init(key)
	return nil
}

// Destroy overwrites the key with zeros. Any later use of it panics, except that a second
// Destroy does nothing. Do not call it while the key is in use. On other architectures
// than amd64 the key is in crypto/cipher, which has no API to overwrite it.
func (k *Key) Destroy() { k.gcm.Destroy() }

func (k *Key) mustLive() {
	if !k.gcm.Live() {
		panic("fastmac: use of an aesgcm.Key that was destroyed or never set up")
	}
}

// NonceSize returns 12, the size of a nonce in bytes.
func (k *Key) NonceSize() int { return NonceSize }

// Overhead returns 16, the size of a tag in bytes.
func (k *Key) Overhead() int { return Overhead }

// Seal encrypts and authenticates plaintext, authenticates additionalData, appends the
// ciphertext, Overhead() bytes longer than the plaintext, to dst and returns the extended
// slice. It does not allocate if dst has room.
//
// The nonce must be 12 bytes long, or Seal panics. It must never have been used with this
// key before. To encrypt in place, pass plaintext[:0] as dst. Any other overlap of
// plaintext, or of additionalData, with what Seal writes panics, as does a plaintext of
// more than 64 GiB - 32 bytes.
func (k *Key) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	k.mustLive()
	mustNonce(nonce)
	if uint64(len(plaintext)) > gcm.MaxTextSize {
		panic("fastmac: plaintext of " + strconv.Itoa(len(plaintext)) + " bytes: too long for AES-GCM")
	}
	dst, out := extend(dst, len(plaintext)+Overhead)
	mustNotOverlap(out, plaintext, additionalData)
	k.gcm.Seal(out, nonce, plaintext, additionalData)
	return dst
}

// ErrOpen is the error of Open and OpenSealed for a ciphertext that is not authentic:
// the ciphertext, the additional data, the nonce or the key is not the one of Seal.
var ErrOpen = errors.New("fastmac: AES-GCM: message authentication failed")

// Open authenticates ciphertext and additionalData, decrypts ciphertext, appends the
// plaintext to dst and returns the extended slice. It does not allocate if dst has room.
// If the ciphertext is not authentic, Open returns [ErrOpen], and the part of dst's
// storage where the plaintext would be is zero.
//
// The nonce must be 12 bytes long, or Open panics. To decrypt in place, pass
// ciphertext[:0] as dst. Any other overlap panics as in [Key.Seal].
func (k *Key) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	k.mustLive()
	mustNonce(nonce)
	if len(ciphertext) < Overhead || uint64(len(ciphertext)) > gcm.MaxTextSize+Overhead {
		return nil, ErrOpen
	}
	dst, out := extend(dst, len(ciphertext)-Overhead)
	mustNotOverlap(out, ciphertext, additionalData)
	if !k.gcm.Open(out, nonce, ciphertext, additionalData) {
		return nil, ErrOpen
	}
	return dst, nil
}

func mustNonce(nonce []byte) {
	if len(nonce) != NonceSize {
		panic(fmt.Sprintf("fastmac: AES-GCM nonce of %d bytes: want 12", len(nonce)))
	}
}

// extend returns dst with n more bytes, and these.
func extend(dst []byte, n int) (extended, more []byte) {
	extended = slices.Grow(dst, n)[:len(dst)+n]
	return extended, extended[len(dst):]
}

// mustNotOverlap panics if the output overlaps the input other than exactly, or the
// additional data at all.
func mustNotOverlap(out, in, data []byte) {
	if overlap(out, in) && &out[0] != &in[0] {
		panic("fastmac: AES-GCM: invalid overlap of output and input")
	}
	if overlap(out, data) {
		panic("fastmac: AES-GCM: invalid overlap of output and additional data")
	}
}

func overlap(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 &&
		uintptr(unsafe.Pointer(&a[0])) <= uintptr(unsafe.Pointer(&b[len(b)-1])) &&
		uintptr(unsafe.Pointer(&b[0])) <= uintptr(unsafe.Pointer(&a[len(a)-1]))
}

// keyName is embedded in a Key, which prints as a name. See print.go of package fastmac.
type keyName struct{}

// String returns "aesgcm.Key". It does not reveal the key.
func (keyName) String() string { return "aesgcm.Key" }

// Format writes what String returns, whatever the verb and the flags. It does not reveal
// the key.
func (n keyName) Format(s fmt.State, verb rune) { io.WriteString(s, n.String()) }

// MarshalText returns what String returns, so encoding/json and log/slog write the name.
// It does not reveal the key. A key cannot be restored from its name. The error is always
// nil.
func (n keyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// noCopy makes go vet report copies of a struct that has a field of this type.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// incomparable makes a struct that has a field of this type incomparable with ==, whose
// time depends on the secrets compared.
type incomparable [0]func()
