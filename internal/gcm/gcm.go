// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package gcm provides AES-GCM and GMAC, NIST SP 800-38D, with nonces of 12 bytes and tags
// of 16 bytes, on CPU instructions only. There is no code for CPUs without them.
//
// On amd64 it is this package's assembly. On arm64, s390x and ppc64, whose standard
// library has assembly for GCM, it is crypto/cipher.
package gcm

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../asm ./gcm -out ../../internal/gcm/gcm_amd64.s

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

// maxRun is how many bytes of text and of additional data one call of the assembly gets. A
// goroutine cannot be preempted there, and may keep the garbage collector waiting for 20 to
// 60 microseconds for each.
const maxRun = 1 << 18

// An Instruction is an instruction set under its usual name.
type Instruction struct {
	Name string
	Has  bool
}

// Instructions returns the instruction sets that every kernel needs, and those that the
// best one needs besides. On arm64, s390x and ppc64 there is only crypto/cipher, which has
// no API for this: they are the conditions of crypto/internal/fips140/aes/gcm. Where that
// does not use its assembly, they are missing. Elsewhere AES is missing.
func Instructions() (every, best []Instruction) {
	switch runtime.GOARCH {
	case "amd64":
		every = []Instruction{
			{"AES", cpu.X86.HasAES},
			{"PCLMULQDQ", cpu.X86.HasPCLMULQDQ},
			{"SSSE3", cpu.X86.HasSSSE3},
			{"SSE4.1", cpu.X86.HasSSE41},
		}
		best = []Instruction{
			{"AVX", cpu.X86.HasAVX},
			{"AVX2", cpu.X86.HasAVX2},
			{"AVX512F", cpu.X86.HasAVX512F},
			{"AVX512BW", cpu.X86.HasAVX512BW},
			{"AVX512VL", cpu.X86.HasAVX512VL},
			{"VAES", cpu.X86.HasAVX512VAES},
			{"VPCLMULQDQ", cpu.X86.HasAVX512VPCLMULQDQ},
		}
	case "arm64":
		every = []Instruction{{"AES", cpu.ARM64.HasAES && StdHasARM64}, {"PMULL", cpu.ARM64.HasPMULL && StdHasARM64}}
	case "s390x":
		every = []Instruction{
			{"KM-AES", cpu.S390X.HasAES},
			{"KMC-AES", cpu.S390X.HasAESCBC},
			{"KMCTR-AES", cpu.S390X.HasAESCTR},
			{"KIMD-GHASH", cpu.S390X.HasGHASH},
		}
	case "ppc64", "ppc64le": // POWER8, which Go requires, has them
	default:
		every = []Instruction{{"AES", false}}
	}
	return every, best
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

// StdHasARM64 reports whether the standard library finds out which instructions an arm64 CPU
// has. On the other systems crypto/aes and crypto/cipher use tables, even where
// golang.org/x/sys/cpu finds the instructions: on Windows, NetBSD and iOS.
var StdHasARM64 = stdHasARM64(runtime.GOOS)

// stdHasARM64 repeats the build constraint of cpu_arm64_other.go of internal/cpu.
func stdHasARM64(goos string) bool {
	switch goos {
	case "android", "darwin", "freebsd", "linux", "openbsd":
		return true
	}
	return false
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
