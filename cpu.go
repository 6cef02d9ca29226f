// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"runtime"
	"strings"

	"example.com/fastmac/internal/sha512"
	"golang.org/x/sys/cpu"
)

// Features names the implementation in use for each layer: "avx512", "avx2" and
// "aesni" are this package's assembly, "generic" is its portable Go, "stdlib" is
// the Go standard library, which may use assembly of its own.
type Features struct {
	NH     string // L1 of UMAC: avx512, avx2 or generic
	AES    string // key derivation and pads of UMAC: aesni or stdlib
	SHA512 string // HMAC-SHA-512: avx512 (in batches; one message takes AVX2), avx2 or stdlib
}

// Hardware returns what runs on this machine.
func Hardware() Features {
	return Features{NH: nhName(), AES: aesName(), SHA512: sha512Name()}
}

func sha512Name() string {
	if useSHA512 {
		return sha512.Name()
	}
	return "stdlib"
}

func aesName() string {
	if useAES {
		return "aesni"
	}
	return "stdlib"
}

// RequireHardware returns nil if AES runs on the CPU's AES instructions, and an
// [*UnsupportedCPUError] if not. Without them [crypto/aes] uses tables, whose
// access times may give away the UMAC key to others on the same machine. The
// other layers are constant time in portable Go and require nothing; on a CPU
// whose multiplication takes longer for some operands, see SECURITY.md.
//
// A program that must not run on such a machine calls it once at its start.
func RequireHardware() error {
	if missing := missingAES(); len(missing) > 0 {
		return &UnsupportedCPUError{Missing: missing}
	}
	return nil
}

// missingAES names what is lacking for AES instructions: on amd64 in package aesni,
// elsewhere in crypto/aes, where it repeats the conditions of
// crypto/internal/fips140/aes, which has no API to ask.
func missingAES() (missing []string) {
	need := func(has bool, name string) {
		if !has {
			missing = append(missing, name)
		}
	}
	if purego {
		return []string{"AES (left out by the build tag purego)"}
	}
	switch runtime.GOARCH {
	case "amd64":
		need(cpu.X86.HasAES, "AES")
		need(cpu.X86.HasSSE41, "SSE4.1")
	case "arm64":
		need(cpu.ARM64.HasAES, "AES")
	case "s390x":
		need(cpu.S390X.HasAES, "KM-AES")
		need(cpu.S390X.HasAESCBC, "KMC-AES")
	case "ppc64", "ppc64le":
		// POWER8, which Go requires, has them.
	default:
		need(false, "AES (crypto/aes has no assembly for "+runtime.GOARCH+")")
	}
	return missing
}

// UnsupportedCPUError is the error of [RequireHardware].
type UnsupportedCPUError struct {
	Missing []string // the instructions that are missing, by their usual names
}

func (e *UnsupportedCPUError) Error() string {
	return "fastmac: no AES instructions in use; missing: " + strings.Join(e.Missing, ", ")
}
