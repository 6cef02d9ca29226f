// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"errors"
	"strings"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/kernel"
)

// Features names the implementation in use for each layer: "avx512", "avx2" and
// "aesni" are this package's assembly, "generic" is its portable Go, "stdlib" is
// the Go standard library, which may have its own assembly, and "none" is that there is no
// implementation for this machine.
//
// NHLacks, AESLacks, SHA512Lacks and GCMLacks report what is missing for the best
// implementation that this package has for any machine. They are empty if that one is in
// use. Otherwise each is one of these:
//
//   - The usual names of the missing instruction sets, as in "AVX512F, AVX512BW".
//   - "assembly for arm64", or another architecture: this package has none for it.
//   - "assembly (tag purego)": the build tag left it out.
//   - "validation (FIPS 140 mode)": only the standard library's HMAC is validated.
type Features struct {
	NH     string // L1 of UMAC: avx512, avx2 or generic
	AES    string // key derivation and pads of UMAC: aesni or stdlib
	SHA512 string // HMAC-SHA-512: avx512, avx2 or stdlib

	// GMAC and package aesgcm: avx512 (avx2 for short messages), avx2, aesni, stdlib, or none
	// if they cannot be used.
	GCM string `json:",omitempty"`

	NHLacks     string `json:",omitempty"`
	AESLacks    string `json:",omitempty"` // of the expansion of keys, of batches and of package hwrand
	SHA512Lacks string `json:",omitempty"`
	GCMLacks    string `json:",omitempty"`
}

// Hardware reports which implementations are in use, and what is missing for better ones.
func Hardware() Features {
	f := Features{
		NH: kernel.Active(kernel.NH), NHLacks: kernel.Lacks(kernel.NH),
		AES: kernel.Active(kernel.AES), AESLacks: kernel.Lacks(kernel.AES),
		SHA512: kernel.Active(kernel.SHA512), SHA512Lacks: kernel.Lacks(kernel.SHA512),
		GCM: kernel.Active(kernel.GCM), GCMLacks: kernel.Lacks(kernel.GCM),
	}
	// The names of variants are for tests.
	if f.AES == "vaes" {
		f.AES = "aesni"
	}
	if f.SHA512 == "avx512wide" {
		f.SHA512 = "avx512"
	}
	if RequireGCM() != nil {
		f.GCM = "none"
	}
	if useFIPS {
		f.SHA512, f.SHA512Lacks = "stdlib", "validation (FIPS 140 mode)"
	}
	return f
}

// RequireHardware reports whether AES runs on the CPU's AES instructions: it returns
// nil, [ErrPurego] or an [*UnsupportedCPUError]. Without these instructions
// [crypto/aes] uses tables, whose access times can give away the UMAC key to others on
// the same machine. The other layers are constant time in portable Go and require
// nothing; for CPUs on which a multiplication takes longer for some operands, see
// SECURITY.md in the module.
//
// A program that must not run on such a machine should call RequireHardware or
// [MustHardware] once at startup.
func RequireHardware() error {
	if kernel.Purego {
		return ErrPurego
	}
	if names := aes.Missing(); len(names) > 0 {
		return &UnsupportedCPUError{Missing: names}
	}
	return nil
}

// MustHardware calls [RequireHardware] and panics with its error if there is one. Call it
// when the program starts, before it has keys.
func MustHardware() {
	if err := RequireHardware(); err != nil {
		panic(err)
	}
}

// RequireGCM reports whether GMAC and package aesgcm can be used: whether the CPU has the
// instructions that AES-GCM needs, AES and carry-less multiplication. It returns nil,
// [ErrPurego] or an [*UnsupportedCPUError]. With
// GODEBUG=fips140=only it returns an error of no other type on architectures other than
// amd64, where AES-GCM is crypto/cipher's.
func RequireGCM() error {
	if kernel.Purego {
		return ErrPurego
	}
	if names := gcm.Missing(); len(names) > 0 {
		return &UnsupportedCPUError{Missing: names}
	}
	if !gcm.Streams && fips140.Enforced() {
		return errEnforced
	}
	return nil
}

// errEnforced is the error of RequireGCM where crypto/cipher would refuse to make a key.
var errEnforced = errors.New("fastmac: GMAC and AES-GCM cannot be used with GODEBUG=fips140=only: crypto/cipher then refuses nonces that the caller chooses")

// ErrPurego is the error of [RequireHardware] and [RequireGCM] in a build with the tag
// purego, which leaves out all assembly, on every CPU.
var ErrPurego = errors.New("fastmac: no AES instructions in use: built with the tag purego")

// UnsupportedCPUError is the error of [RequireHardware] on a CPU without the instructions
// that AES needs, and of [RequireGCM] on one without those that AES-GCM needs.
type UnsupportedCPUError struct {
	// Missing holds the usual names of the missing instruction sets, such as AES and
	// SSE4.1. On an architecture for which crypto/aes has no assembly it is only AES. On
	// arm64 it also holds those that the standard library does not use on the operating
	// system, as on Windows, NetBSD and iOS.
	Missing []string
}

func (e *UnsupportedCPUError) Error() string {
	return "fastmac: missing CPU instructions: " + strings.Join(e.Missing, ", ")
}
