// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package aes

import "example.com/fastmac/internal/kernel"

func init() { kernel.Register(kernel.AES, "stdlib") }

// InUse reports that AES runs on crypto/aes. The functions of this package must not be called.
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

// Stretch panics: there are no AES instructions.
func Stretch(p []byte) { panic("fastmac: no AES instructions") }
