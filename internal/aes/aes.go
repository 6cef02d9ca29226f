// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package aes provides AES, FIPS 197, on the CPU's AES instructions, with what
// crypto/aes does not offer: blocks on the stack, several independent blocks in one
// call, a key schedule in storage that can be wiped, and the CPU's entropy. Its time depends only on the
// size of the key and the number of blocks, that of Seed on the CPU's generator.
package aes

import "strconv"

//go:generate go run -C ../asm ./aes -out ../../internal/aes/aes_amd64.s
//go:generate go run -C ../asm ./neon -out ../../internal/aes/aes_arm64.s

// BlockSize is the size of a block in bytes.
const BlockSize = 16

// StretchStep is the number of bytes that Stretch makes at a time.
const StretchStep = 512

// Schedule is a key schedule for encryption. Of its words, those of the key's
// rounds are in use: 44 for AES-128, 52 for AES-192, 60 for AES-256.
type Schedule [60]uint32

// Seed replaces p by words of 8 bytes from the CPU's generator of entropy, as many as it has and as
// there is room for, and returns their number. The rest is zeros. Whoever uses them has other
// entropy too. The generator can be empty for a moment, so there are up to 32 attempts.
func Seed(p []byte) (words int) {
	clear(p)
	if !hasSeed() {
		return 0
	}
	for attempts := 0; len(p) >= 8 && attempts < 32; attempts++ {
		if seed((*[8]byte)(p)) {
			p = p[8:]
			words++
		}
	}
	return words
}

// Stretch replaces p, whose first 32 bytes are a key, by the AES-256-CTR keystream under
// that key, from counter 0. The first 32 bytes of that can be the next key. len(p) is a
// multiple of StretchStep, at least one. Nothing of the key remains.
func Stretch(p []byte) {
	if len(p) == 0 || len(p)%StretchStep != 0 {
		panic("fastmac: Stretch of " + strconv.Itoa(len(p)) + " bytes: want a multiple of 512")
	}
	stretch(p)
}
