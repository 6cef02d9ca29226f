// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package aes

import (
	"crypto/aes"
	"encoding/binary"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/wipe"
)

func register() { kernel.Register(kernel.AES, "stdlib", right) }

// InUse reports that AES runs on crypto/aes. Of this package only Seed and Stretch can be used.
func InUse() bool { return false }

// Missing returns the names of the CPU features that crypto/aes needs to run on AES
// instructions and that are missing.
func Missing() []string { return kernel.StdAES().Missing() }

// Expand panics: there are no AES instructions.
func (s *Schedule) Expand(key []byte) (rounds int) { panic("fastmac: no AES instructions") }

// Encrypt panics: there are no AES instructions.
func (s *Schedule) Encrypt(rounds int, p []byte) { panic("fastmac: no AES instructions") }

// EncryptWords panics: there are no AES instructions.
func (s *Schedule) EncryptWords(rounds int, first, second uint64, chosen *[BlockSize]byte) (uint64, uint64) {
	panic("fastmac: no AES instructions")
}

func hasSeed() bool { return false }

// seed panics: there is no generator.
func seed(*[8]byte) bool { panic("fastmac: no generator of entropy") }

// stretch is Stretch on crypto/aes. It does not use cipher.NewCTR, which makes a copy of the key
// that cannot be overwritten.
func stretch(p []byte) {
	wipe.ReserveFrames()
	block, err := aes.NewCipher(p[:32])
	if err != nil {
		panic(err) // impossible with this size
	}
	clear(p)
	for i := 0; i < len(p); i += BlockSize {
		b := p[i:][:BlockSize]
		binary.BigEndian.PutUint64(b[8:], uint64(i/BlockSize))
		block.Encrypt(b, b)
	}
	wipe.Value(block)
	wipe.Stack()
}
