// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"errors"
	"runtime"
	"strings"

	"example.com/fastmac/internal/sha512"
	"golang.org/x/sys/cpu"
)

// Features names the implementation in use for each layer: "avx512", "avx2" and
// "aesni" are this package's assembly, "generic" is its portable Go, "stdlib" is
// the Go standard library, which may have its own assembly.
type Features struct {
	NH     string // L1 of UMAC: avx512, avx2 or generic
	AES    string // key derivation and pads of UMAC: aesni or stdlib
	SHA512 string // HMAC-SHA-512: avx512 (batches; AVX2 for one message), avx2 or stdlib
}

// Hardware reports which implementations are in use.
func Hardware() Features {
	return Features{NH: nhName(), AES: aesName(), SHA512: sha512Name()}
}

func sha512Name() string {
	if useFIPS {
		return sha512.Stdlib.String()
	}
	return sha512.Active().String()
}

func aesName() string {
	if useAES {
		return "aesni"
	}
	return "stdlib"
}

// RequireHardware reports whether AES runs on the CPU's AES instructions: it returns
// nil, [ErrPurego] or an [*UnsupportedCPUError]. Without these instructions
// [crypto/aes] uses tables, whose access times can give away the UMAC key to others on
// the same machine. The other layers are constant time in portable Go and require
// nothing; for CPUs on which a multiplication takes longer for some operands, see
// SECURITY.md in the module.
//
// A program that must not run on such a machine should call it once at startup.
func RequireHardware() error {
	if purego {
		return ErrPurego
	}
	if missing := missingAES(); len(missing) > 0 {
		return &UnsupportedCPUError{Missing: missing}
	}
	return nil
}

// ErrPurego is the error of [RequireHardware] in a build with the tag purego, which
// leaves out all assembly, whatever the CPU has.
var ErrPurego = errors.New("fastmac: no AES instructions in use: built with the tag purego")

// UnsupportedCPUError is the error of [RequireHardware] on a CPU without the
// instructions that AES needs.
type UnsupportedCPUError struct {
	// Missing has the usual names of the instructions, such as AES and SSE4.1. On an
	// architecture for which crypto/aes has no assembly it is AES alone.
	Missing []string
}

func (e *UnsupportedCPUError) Error() string {
	return "fastmac: no AES instructions in use: missing " + strings.Join(e.Missing, ", ")
}

// missingAES returns the names of the instructions that AES needs and does not find:
// on amd64 in package aesni, elsewhere in crypto/aes, which has no API to ask. There
// it repeats the conditions of crypto/internal/fips140/aes.
func missingAES() (missing []string) {
	need := func(has bool, name string) {
		if !has {
			missing = append(missing, name)
		}
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
		need(false, "AES")
	}
	return missing
}
