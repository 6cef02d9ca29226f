// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package gcm provides AES-GCM and GMAC, NIST SP 800-38D, with nonces of 12 bytes and tags
// of 16 bytes, on CPU instructions only. There is no code for CPUs without them.
//
// On amd64 it is this package's assembly. On arm64, s390x and ppc64, whose standard
// library has assembly for GCM, it is crypto/cipher.
package gcm

// Sizes in bytes.
const (
	NonceSize = 12
	TagSize   = 16
	BlockSize = 16            // of AES and of GHASH
	GroupSize = 8 * BlockSize // what the kernels hash at a time
)

// MaxTextSize is the size in bytes of the longest plaintext, section 5.2.1.1: the 32-bit
// counter has a value for each of its blocks.
const MaxTextSize = (1<<32 - 2) * BlockSize

// An Instruction is an instruction set under its usual name.
type Instruction struct {
	Name string
	Has  bool
}

// Missing returns the names of the instruction sets that every kernel needs and the CPU
// lacks. No key can be set up unless there are none.
func Missing() (names []string) {
	every, _ := Instructions()
	for _, i := range every {
		if !i.Has {
			names = append(names, i.Name)
		}
	}
	return names
}

// Kernels returns the names of the kernels that this machine has, best first: "avx512",
// "avx2" and "aesni" are this package's assembly, "stdlib" is crypto/cipher.
func Kernels() []string { return kernels() }

var active = func() string {
	if names := kernels(); len(names) > 0 {
		return names[0]
	}
	return "none"
}()

// Active returns the name of the kernel in use, or "none" if there is none.
func Active() string { return active }

// Select makes a kernel, one of [Kernels], the one in use. It is for tests, which must not
// use the package at the same time.
func Select(name string) {
	choose(name)
	active = name
}
