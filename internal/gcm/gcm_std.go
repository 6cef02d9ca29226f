// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package gcm

import (
	"crypto/aes"
	"crypto/cipher"

	"example.com/fastmac/internal/kernel"
)

// Streams reports whether Absorb and Finish can be used. They cannot: crypto/cipher has no
// GHASH.
const Streams = false

func init() {
	name := "stdlib"
	if kernel.Purego || !kernel.StdGCM().Has() {
		name = ""
	}
	kernel.Register(kernel.GCM, name)
}

// Missing returns the names of the CPU features that crypto/cipher needs to run on AES-GCM
// instructions and that are missing. No key can be set up unless there are none.
func Missing() []string { return kernel.StdGCM().Missing() }

// A Key is an AES key for GCM. The zero Key must not be used except for Init, Live and
// Destroy.
type Key struct {
	aead cipher.AEAD
}

// Init sets up a key of 16, 24 or 32 bytes. It panics where AES-GCM cannot be used: Missing must
// have returned nothing, in a build without the tag purego. With GODEBUG=fips140=only it returns
// crypto/cipher's error.
func (k *Key) Init(key []byte) error {
	if kernel.List(kernel.GCM) == nil {
		panic("fastmac: AES-GCM cannot be used here")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	k.aead = aead
	return nil
}

// Live reports whether there is a key.
func (k *Key) Live() bool { return k.aead != nil }

// Destroy drops the key. It cannot overwrite it, because crypto/cipher has no API for that.
func (k *Key) Destroy() { k.aead = nil }

// Seal sets out to the ciphertext of plaintext followed by the tag. len(out) is
// len(plaintext)+TagSize. If out and plaintext overlap, they begin at the same byte.
func (k *Key) Seal(out, nonce, plaintext, data []byte) {
	k.aead.Seal(out[:0], nonce, plaintext, data)
}

// Open sets out to the plaintext of ciphertext, which a tag follows, and reports whether
// the tag is right. If not, out is zero. len(out) is len(ciphertext)-TagSize. If out and
// ciphertext overlap, they begin at the same byte.
func (k *Key) Open(out, nonce, ciphertext, data []byte) bool {
	_, err := k.aead.Open(out[:0], nonce, ciphertext, data)
	return err == nil
}

// Tag sets tag to the GMAC of msg.
func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) {
	k.aead.Seal(tag[:0], nonce, nil, msg)
}

// Absorb and Finish panic: there are no streams.
func (k *Key) Absorb(sum *[BlockSize]byte, groups []byte) { panic("fastmac: no GHASH") }

func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	panic("fastmac: no GHASH")
}
