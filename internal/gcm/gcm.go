// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package gcm provides AES-GCM and GMAC, NIST SP 800-38D, with nonces of 12 bytes and tags
// of 16 bytes, on CPU instructions only. There is no code for CPUs without them.
//
// On amd64 and arm64 it is this package's assembly. On s390x and ppc64, whose standard
// library has assembly for GCM, it is crypto/cipher.
package gcm

import (
	"encoding/binary"

	"example.com/fastmac/internal/kernel"
)

//go:generate go run -C ../asm ./gcm -out ../../internal/gcm/gcm_amd64.s
//go:generate go run -C ../asm ./neon -out ../../internal/gcm/gcm_arm64.s

// Sizes in bytes.
const (
	NonceSize = 12
	TagSize   = 16
	BlockSize = 16 // of AES and of GHASH
)

// MaxTextSize is the size in bytes of the longest plaintext, section 5.2.1.1: the 32-bit
// counter has a value for each of its blocks.
const MaxTextSize = (1<<32 - 2) * BlockSize

// maxRun is how many bytes of text and of additional data one call of the assembly gets. A
// goroutine cannot be preempted there, and may keep the garbage collector waiting for 20 to
// 60 microseconds for each (amd64).
const maxRun = 1 << 18

// Choose puts the best implementation into use, unless that has been done: see [kernel.Choose].
func Choose() { kernel.Choose(kernel.GCM, register) }

// Equal reports whether two tags are equal. Its time does not depend on them. It compares two words: subtle
// compares 16 bytes one by one, which is slower for short messages.
func Equal(a, b *[TagSize]byte) bool {
	diff := binary.LittleEndian.Uint64(a[:8]) ^ binary.LittleEndian.Uint64(b[:8])
	diff |= binary.LittleEndian.Uint64(a[8:]) ^ binary.LittleEndian.Uint64(b[8:])
	return diff == 0
}
