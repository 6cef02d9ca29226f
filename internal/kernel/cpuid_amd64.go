// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package kernel

import (
	"os"
	"strings"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../asm ./cpuid -out ../../internal/kernel/cpuid_amd64.s

// askCPU detects features. VAES and VPCLMULQDQ are for vectors of 256 bits, and of 512 if the CPU has
// AVX512F. Package cpu reports them only together with AVX-512: without it they are from the CPU itself. It
// does not report SHA. The runtime does, and GODEBUG=cpu.sha=off is for crypto/sha256 and this module alike.
func askCPU() {
	if !cpu.X86.HasAVX2 { // without AVX2 the CPU may have no leaf 7
		return
	}
	ebx, ecx := cpuid(7)
	detected.sha = ebx&(1<<29) != 0 && !strings.Contains(","+os.Getenv("GODEBUG")+",", ",cpu.sha=off,")
	if !cpu.X86.HasAVX512 {
		detected.vaes, detected.vpclmulqdq = ecx&(1<<9) != 0, ecx&(1<<10) != 0
	}
}

// IsAMD reports whether the CPU is AMD's, whose leaf 0 has "AuthenticAMD" in EBX, EDX and ECX.
func IsAMD() bool {
	ebx, ecx := cpuid(0)
	return ebx == 0x68747541 && ecx == 0x444d4163 // "Auth", "cAMD"
}

// cpuid returns EBX and ECX of a leaf of CPUID, of subleaf 0.
func cpuid(leaf uint32) (ebx, ecx uint32)
