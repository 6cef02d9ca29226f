// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package aesni

// Supported reports whether the functions of this package can be used here.
const Supported = false

// VAES is false. It is a variable because the tests of all builds set it.
var VAES bool

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
