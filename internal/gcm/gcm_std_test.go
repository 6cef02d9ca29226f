// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package gcm

import (
	"bytes"
	"crypto/cipher"
	"testing"
)

// dyingAEAD is an AEAD whose key is destroyed while it writes.
type dyingAEAD struct {
	cipher.AEAD
	key *Key
}

func (a *dyingAEAD) Seal(dst, nonce, plaintext, data []byte) []byte {
	a.key.Destroy()
	return append(append(dst, plaintext...), "a tag of 16 bytes"[:TagSize]...)
}

func (a *dyingAEAD) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	a.key.Destroy()
	return append(dst, ciphertext[:len(ciphertext)-TagSize]...), nil
}

// TestDying checks that nothing gets out if the key is destroyed meanwhile.
func TestDying(t *testing.T) {
	nonce, text := make([]byte, NonceSize), []byte("text of a message and its tag...")
	for name, call := range map[string]func(k *Key, out []byte) bool{
		"Seal": func(k *Key, out []byte) bool { return k.Seal(out, nonce, text[TagSize:], nil) },
		"Open": func(k *Key, out []byte) bool { return k.Open(out[:TagSize], nonce, text, nil) },
		"Tag":  func(k *Key, out []byte) bool { return k.Tag((*[TagSize]byte)(out), nonce, text) },
	} {
		var k Key
		var aead cipher.AEAD = &dyingAEAD{key: &k}
		k.aead = &aead
		k.life.Begin()
		out := make([]byte, 2*TagSize)
		if call(&k, out) || !bytes.Equal(out, make([]byte, 2*TagSize)) {
			t.Errorf("%s leaves %x, or reports that the key lives", name, out)
		}
	}
}
