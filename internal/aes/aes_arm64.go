// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package aes

import (
	"strconv"

	"example.com/fastmac/internal/kernel"
)

// Whether the kernels run, see [kernel.Kernel].
var useARMv8 bool

func register() {
	kernel.Register(kernel.AES, "stdlib", right, kernel.Kernel{Name: "armv8", Needs: kernel.Set{kernel.ARM64AES}, Use: &useARMv8})
}

// InUse reports whether AES runs on the functions of this package. Otherwise they must not be
// called.
func InUse() bool { return useARMv8 }

// Missing returns the names of the CPU features that AES instructions need and that are missing.
func Missing() []string {
	Choose()
	return kernel.Missing(kernel.AES)
}

// Expand sets s to the schedule for a key of 16, 24 or 32 bytes and returns the
// number of rounds: 10, 12 or 14. Other sizes panic.
func (s *Schedule) Expand(key []byte) (rounds int) {
	switch nk := len(key) / 4; len(key) {
	case 16, 24, 32:
		expandKey(&s[0], &key[0], nk)
		return nk + 6
	}
	panic("fastmac: AES key of " + strconv.Itoa(len(key)) + " bytes: want 16, 24 or 32")
}

// Encrypt encrypts the blocks of p in place. len(p) is a multiple of BlockSize,
// and rounds what Expand returned.
func (s *Schedule) Encrypt(rounds int, p []byte) {
	if len(p) >= BlockSize {
		encryptBlocks(&s[0], rounds, &p[0], len(p)/BlockSize)
	}
}

// EncryptWords encrypts a block of two little-endian words. Byte i of what it returns is
// byte chosen[i] of the encrypted block, or zero if chosen[i] is above 127. EncryptWords is
// for a block that has just been written in parts: loading it as one would have to wait.
func (s *Schedule) EncryptWords(rounds int, first, second uint64, chosen *[BlockSize]byte) (uint64, uint64) {
	return encryptWords(&s[0], rounds, first, second, chosen)
}

func hasSeed() bool { return kernel.Set{kernel.ARM64RNG}.Has() }

// seed sets the word, and reports whether the generator had one. If not, the word is zero.
func seed(word *[8]byte) bool { return rndrrs(word) != 0 }

//go:noescape
func expandKey(enc *uint32, key *byte, nk int) // nk is the words of the key

//go:noescape
func encryptBlocks(enc *uint32, rounds int, p *byte, blocks int)

//go:noescape
func encryptWords(enc *uint32, rounds int, first, second uint64, chosen *[BlockSize]byte) (uint64, uint64)

// rndrrs sets the word. It returns 1, or 0 if the generator had none; then the word is zero.
//
//go:noescape
func rndrrs(word *[8]byte) uint64
