// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"errors"
	"runtime"
	"strings"

	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/sha512"
	"golang.org/x/sys/cpu"
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
//   - The usual names of the missing instruction sets, as in "AVX512F, AVX512BW". VAES
//     means VAES for 512 bits: CPUs that have it only for 256 bits lack it.
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
	AESLacks    string `json:",omitempty"` // aesni may lack VAES, which only the expansion of keys and package hwrand use
	SHA512Lacks string `json:",omitempty"`
	GCMLacks    string `json:",omitempty"`
}

// Hardware reports which implementations are in use, and what is missing for better ones.
func Hardware() Features {
	f := Features{
		NH: nhName(), NHLacks: lacks(nhInstructions()),
		AES: aesName(), AESLacks: lacks(append(aesInstructions(), vaesInstructions()...)),
		SHA512: sha512.Active().String(), SHA512Lacks: lacks(sha512Instructions()),
		GCM: gcm.Active(), GCMLacks: lacks(gcmInstructions()),
	}
	if RequireGCM() != nil {
		f.GCM = "none"
	}
	if useFIPS {
		f.SHA512, f.SHA512Lacks = sha512.Stdlib.String(), "validation (FIPS 140 mode)"
	}
	return f
}

func aesName() string {
	if useAES {
		return "aesni"
	}
	return "stdlib"
}

// lacks returns what is missing for the best implementation of a layer, whose
// assembly needs these instruction sets.
func lacks(set []instruction) string {
	switch {
	case runtime.GOARCH != "amd64":
		return "assembly for " + runtime.GOARCH
	case purego:
		return "assembly (tag purego)"
	}
	return strings.Join(missing(set), ", ")
}

// instruction is an instruction set under its usual name.
type instruction struct {
	name string
	has  bool
}

// missing returns the names of the instruction sets that the CPU does not have.
func missing(set []instruction) (names []string) {
	for _, i := range set {
		if !i.has {
			names = append(names, i.name)
		}
	}
	return names
}

// The following functions return the instruction sets of the best assembly of each layer.
// They are only for reports: the conditions under which the assembly runs are in
// kernels_amd64.go, internal/aesni and internal/sha512. TestInstructions compares the two.

func nhInstructions() []instruction {
	return []instruction{
		{"AVX", cpu.X86.HasAVX},
		{"AVX2", cpu.X86.HasAVX2},
		{"BMI2", cpu.X86.HasBMI2},
		{"AVX512F", cpu.X86.HasAVX512F},
		{"AVX512BW", cpu.X86.HasAVX512BW},
		{"AVX512DQ", cpu.X86.HasAVX512DQ},
		{"AVX512VL", cpu.X86.HasAVX512VL},
	}
}

func aesInstructions() []instruction {
	return []instruction{
		{"AES", cpu.X86.HasAES},
		{"SSSE3", cpu.X86.HasSSSE3},
		{"SSE4.1", cpu.X86.HasSSE41},
	}
}

// vaesInstructions returns the instruction sets that only deriveL1VAES and package hwrand
// need.
func vaesInstructions() []instruction {
	return []instruction{
		{"AVX", cpu.X86.HasAVX},
		{"AVX512F", cpu.X86.HasAVX512F},
		{"AVX512BW", cpu.X86.HasAVX512BW},
		{"AVX512VL", cpu.X86.HasAVX512VL},
		{"VAES", cpu.X86.HasAVX512VAES},
	}
}

func sha512Instructions() []instruction {
	return []instruction{
		{"AVX", cpu.X86.HasAVX},
		{"AVX2", cpu.X86.HasAVX2},
		{"BMI1", cpu.X86.HasBMI1},
		{"BMI2", cpu.X86.HasBMI2},
		{"AVX512F", cpu.X86.HasAVX512F},
		{"AVX512BW", cpu.X86.HasAVX512BW},
		{"AVX512VL", cpu.X86.HasAVX512VL},
	}
}

func gcmInstructions() (set []instruction) {
	every, best := gcm.Instructions()
	for _, i := range append(every, best...) {
		set = append(set, instruction{i.Name, i.Has})
	}
	return set
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
	if purego {
		return ErrPurego
	}
	if names := missingAES(); len(names) > 0 {
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
	if purego {
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

// missingAES returns the names of the instruction sets that AES needs and the CPU lacks.
// On amd64 AES is package aesni. Elsewhere it is crypto/aes, which has no API for this, so
// missingAES repeats the conditions of crypto/internal/fips140/aes.
func missingAES() []string {
	switch runtime.GOARCH {
	case "amd64":
		return missing(aesInstructions())
	case "arm64":
		return missing([]instruction{{"AES", cpu.ARM64.HasAES && gcm.StdHasARM64}})
	case "s390x":
		return missing([]instruction{{"KM-AES", cpu.S390X.HasAES}, {"KMC-AES", cpu.S390X.HasAESCBC}})
	case "ppc64", "ppc64le":
		return nil // POWER8, which Go requires, has them
	}
	return []string{"AES"}
}
