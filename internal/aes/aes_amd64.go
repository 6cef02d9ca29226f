// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package aes

import (
	"strconv"

	"example.com/fastmac/internal/kernel"
)

// Which kernels run, see [kernel.Kernel].
var useVAES, useVAES256, useAESNI bool

func register() {
	aesni := kernel.Set{kernel.X86AES, kernel.SSSE3, kernel.SSE41}
	vaes256 := append(aesni[:3:3], kernel.AVX, kernel.AVX2, kernel.VAES)
	vaes := append(vaes256[:6:6], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL)
	kernel.Register(kernel.AES, "stdlib", right,
		kernel.Kernel{Name: "vaes", Needs: vaes, Use: &useVAES},
		kernel.Kernel{Name: "vaes256", Needs: vaes256, Use: &useVAES256},
		kernel.Kernel{Name: "aesni", Needs: aesni, Use: &useAESNI},
	)
}

// InUse reports whether AES runs on the functions of this package. Otherwise they must not be
// called, except for Stretch on other architectures.
func InUse() bool { return useAESNI }

// VAES reports whether kernels for vectors of 512 bits are in use. Other builds do not have it.
func VAES() bool { return useVAES }

// VAES256 reports whether kernels for vectors of 256 bits or more are in use. Other builds do not
// have it.
func VAES256() bool { return useVAES256 }

// Missing returns the names of the CPU features that AES instructions need and that are missing.
func Missing() []string {
	Choose()
	return kernel.Missing(kernel.AES)
}

// Expand sets s to the schedule for a key of 16, 24 or 32 bytes and returns the
// number of rounds: 10, 12 or 14. Other sizes panic.
func (s *Schedule) Expand(key []byte) (rounds int) {
	switch len(key) {
	case 16:
		expandKey128(&s[0], &key[0])
		return 10
	case 24:
		expandKey192(&s[0], &key[0])
		return 12
	case 32:
		expandKey256(&s[0], &key[0])
		return 14
	}
	panic("fastmac: AES key of " + strconv.Itoa(len(key)) + " bytes: want 16, 24 or 32")
}

// Encrypt encrypts the blocks of p in place. len(p) is a multiple of BlockSize,
// and rounds what Expand returned.
func (s *Schedule) Encrypt(rounds int, p []byte) {
	if len(p) >= 8*BlockSize && useVAES256 {
		encryptBlocksVAES256(&s[0], rounds, &p[0], &p[0], len(p)/BlockSize)
	} else if len(p) >= BlockSize {
		encryptBlocks(&s[0], rounds, &p[0], &p[0], len(p)/BlockSize)
	}
}

// EncryptWords encrypts a block of two little-endian words. Byte i of what it returns is
// byte chosen[i] of the encrypted block, or zero if chosen[i] is above 127. EncryptWords is
// for a block that has just been written in parts: loading it as one would have to wait.
func (s *Schedule) EncryptWords(rounds int, first, second uint64, chosen *[BlockSize]byte) (uint64, uint64) {
	return encryptWords(&s[0], rounds, first, second, chosen)
}

func hasSeed() bool { return kernel.Set{kernel.RDSEED}.Has() }

// seed sets the word, and reports whether the generator had one. If not, the word is zero. Four
// words take microseconds.
func seed(word *[8]byte) bool { return rdseed(word) != 0 }

//go:noescape
func expandKey128(enc *uint32, key *byte)

//go:noescape
func expandKey192(enc *uint32, key *byte)

//go:noescape
func expandKey256(enc *uint32, key *byte)

//go:noescape
func encryptBlocks(enc *uint32, rounds int, dst, src *byte, blocks int)

//go:noescape
func encryptBlocksVAES256(enc *uint32, rounds int, dst, src *byte, blocks int)

//go:noescape
func encryptWords(enc *uint32, rounds int, first, second uint64, chosen *[BlockSize]byte) (uint64, uint64)

// rdseed sets the word. It returns 2^64-1, or 0 if the generator had none; then the word is zero.
// It uses the 64-bit form: the others fail on some CPUs (AMD-SB-7055).
//
//go:noescape
func rdseed(word *[8]byte) (ok uint64)
