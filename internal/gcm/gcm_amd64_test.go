// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package gcm

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// TestSelect checks that the best kernel is in use, and that the others are when they are
// selected. Otherwise tests of each kernel would test one several times.
func TestSelect(t *testing.T) {
	inUse := func() string {
		switch {
		case useAVX512:
			return "avx512"
		case useAVX2:
			return "avx2"
		case hasAESNI:
			return "aesni"
		}
		return "none"
	}
	if names := append(Kernels(), "none"); Active() != names[0] || inUse() != names[0] {
		t.Errorf("%s is active and %s in use, of %v", Active(), inUse(), names)
	}
	eachKernel(t, func(t *testing.T) {
		if inUse() != Active() {
			t.Errorf("%s is in use", inUse())
		}
	})
}

// TestInitAgain checks that a key has nothing of the one before, which was longer.
func TestInitAgain(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		var again, once Key
		for _, key := range []string{"an AES key of thirty-two bytes..", "one of sixteen.."} {
			if err := again.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
			once = Key{}
			if err := once.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
		}
		if again != once {
			t.Errorf("%+v, want %+v", again, once)
		}
	})
}

// TestCPUID7 compares with golang.org/x/sys/cpu, which reports two instruction sets only if
// there is AVX-512 too.
func TestCPUID7(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("needs AVX2")
	}
	if cpu.X86.HasAVX512VAES && !hasVAES256 {
		t.Error("VAES is not found")
	}
	if cpu.X86.HasAVX512VPCLMULQDQ && !hasVPCLMULQDQ256 {
		t.Error("VPCLMULQDQ is not found")
	}
}
