// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/cpu"
)

// A Feature is an instruction set that some CPUs of an architecture have.
type Feature uint8

const (
	// amd64
	SSSE3 Feature = iota
	SSE41
	X86AES
	X86SHA
	RDSEED
	PCLMULQDQ
	AVX
	AVX2
	BMI1
	BMI2
	VAES
	VPCLMULQDQ
	AVX512F
	AVX512BW
	AVX512DQ
	AVX512VL

	// arm64
	ARM64AES
	ARM64PMULL
	ARM64SHA2
	ARM64SHA512
	ARM64RNG

	// Those that the assembly of the standard library needs on other architectures.
	stdAES // where it has none
	stdARM64AES
	s390xAES
	s390xAESCBC
	s390xAESCTR
	s390xGHASH
)

// features has what each feature is called, on amd64 as in /proc/cpuinfo of Linux, except for
// letters and signs, and whether this machine has it. Package cpu also fills X86 on 386, for which
// there are no kernels.
var features = [...]struct {
	name string
	has  *bool
}{
	SSSE3:      {"SSSE3", &cpu.X86.HasSSSE3},
	SSE41:      {"SSE4.1", &cpu.X86.HasSSE41},
	X86AES:     {"AES", &cpu.X86.HasAES},
	X86SHA:     {"SHA", &detected.sha},
	RDSEED:     {"RDSEED", &cpu.X86.HasRDSEED},
	PCLMULQDQ:  {"PCLMULQDQ", &cpu.X86.HasPCLMULQDQ},
	AVX:        {"AVX", &cpu.X86.HasAVX},
	AVX2:       {"AVX2", &cpu.X86.HasAVX2},
	BMI1:       {"BMI1", &cpu.X86.HasBMI1},
	BMI2:       {"BMI2", &cpu.X86.HasBMI2},
	VAES:       {"VAES", &detected.vaes},
	VPCLMULQDQ: {"VPCLMULQDQ", &detected.vpclmulqdq},
	AVX512F:    {"AVX512F", &cpu.X86.HasAVX512F},
	AVX512BW:   {"AVX512BW", &cpu.X86.HasAVX512BW},
	AVX512DQ:   {"AVX512DQ", &cpu.X86.HasAVX512DQ},
	AVX512VL:   {"AVX512VL", &cpu.X86.HasAVX512VL},

	ARM64AES:    {"AES", &cpu.ARM64.HasAES},
	ARM64PMULL:  {"PMULL", &cpu.ARM64.HasPMULL},
	ARM64SHA2:   {"SHA2", &cpu.ARM64.HasSHA2},
	ARM64SHA512: {"SHA512", &cpu.ARM64.HasSHA512},
	ARM64RNG:    {"RNG", &detected.rng},

	stdAES:      {"AES", &detected.never},
	stdARM64AES: {"AES", &detected.stdARM64AES},
	s390xAES:    {"KM-AES", &cpu.S390X.HasAES},
	s390xAESCBC: {"KMC-AES", &cpu.S390X.HasAESCBC},
	s390xAESCTR: {"KMCTR-AES", &cpu.S390X.HasAESCTR},
	s390xGHASH:  {"KIMD-GHASH", &cpu.S390X.HasGHASH},
}

// detected are features that package cpu does not report, or not in all cases.
var detected struct {
	sync.Once
	sha, vaes, vpclmulqdq, stdARM64AES, never bool

	rngOnce sync.Once // apart, because hasRNG reads a file, and only package hwrand asks
	rng     bool
}

// has reports whether this machine has the feature.
func (f Feature) has() bool {
	detected.Do(func() {
		detected.vaes, detected.vpclmulqdq = cpu.X86.HasAVX512VAES, cpu.X86.HasAVX512VPCLMULQDQ
		askCPU()
		detected.stdARM64AES = cpu.ARM64.HasAES && stdDetectsARM64(runtime.GOOS)
	})
	if f == ARM64RNG {
		detected.rngOnce.Do(func() { detected.rng = hasRNG() })
	}
	return *features[f].has
}

func (f Feature) String() string { return features[f].name }

// Has returns the names of the features that this machine has, of those that a kernel can need.
func Has() (names []string) {
	for i := range features {
		if f := Feature(i); f.has() && (f >= ARM64AES || runtime.GOARCH == "amd64") && !slices.Contains(names, f.String()) {
			names = append(names, f.String())
		}
	}
	return names
}

// A Set is the features that something needs, each once.
type Set []Feature

// Has reports whether this machine has all features of s.
func (s Set) Has() bool { return len(s.Missing()) == 0 }

// Missing returns the names of the features that this machine lacks.
func (s Set) Missing() (names []string) {
	for _, f := range s {
		if !f.has() {
			names = append(names, f.String())
		}
	}
	return names
}

// withAssembly are the architectures for which this module has assembly, without the tag purego.
var withAssembly = []string{"amd64", "arm64"}

// StdAES is what crypto/aes needs to use its assembly, which its API does not say: the
// conditions of crypto/internal/fips140/aes. Where it has none, AES is missing.
func StdAES() Set {
	switch runtime.GOARCH {
	case "arm64":
		return Set{stdARM64AES}
	case "s390x":
		return Set{s390xAES, s390xAESCBC}
	case "ppc64", "ppc64le":
		return nil // POWER8, which Go requires, has them
	}
	return Set{stdAES}
}

// StdGCM is the same for AES-GCM of crypto/cipher: crypto/internal/fips140/aes/gcm. It is not for
// amd64 and arm64, where package gcm has kernels.
func StdGCM() Set {
	if runtime.GOARCH == "s390x" {
		return Set{s390xAES, s390xAESCBC, s390xAESCTR, s390xGHASH}
	}
	return StdAES()
}

// stdDetectsARM64 reports whether the standard library finds out which instructions an arm64 CPU
// has. On the other systems crypto/aes uses tables, even where
// golang.org/x/sys/cpu finds the instructions: on Windows, NetBSD and iOS. It repeats the build
// constraint of cpu_arm64_other.go of internal/cpu.
func stdDetectsARM64(goos string) bool {
	switch goos {
	case "android", "darwin", "freebsd", "linux", "openbsd":
		return true
	}
	return false
}
