// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build purego

package gcm

import "example.com/fastmac/internal/kernel"

// Streams reports whether Absorb and Finish can be used.
const Streams = false

func init() { kernel.Register(kernel.GCM, "") }

// Missing returns nothing: no CPU feature is missing, only this build's assembly.
func Missing() []string { return nil }

// A Key cannot be set up in this build, and nothing of it can be used except Live and
// Destroy.
type Key struct{}

func (k *Key) Init(key []byte) error { panic(noAssembly) }

func (k *Key) Live() bool { return false }

func (k *Key) Destroy() {}

func (k *Key) Seal(out, nonce, plaintext, data []byte) { panic(noAssembly) }

func (k *Key) Open(out, nonce, ciphertext, data []byte) bool { panic(noAssembly) }

func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) { panic(noAssembly) }

func (k *Key) Absorb(sum *[BlockSize]byte, groups []byte) { panic(noAssembly) }

func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	panic(noAssembly)
}

const noAssembly = "fastmac: no AES-GCM: built with the tag purego"
