// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"testing"

	"example.com/fastmac/internal/sha512"
)

// EachKernel and ForAllKernels are for the tests of package fastmac_test.
var (
	EachKernel    = eachKernel
	ForAllKernels = forAllKernels
)

// eachKernel calls f with all kernels of this machine in use. Then it switches them
// off, row by row of kernelFlags, and calls f each time that others are in use. The
// last call is for portable code. It restores the flags.
func eachKernel(f func(kernel string)) {
	kernel := nhName() + "/" + aesName()
	f(kernel)
	for _, flags := range kernelFlags {
		for _, flag := range flags {
			if *flag {
				*flag = false
				defer func() { *flag = true }()
			}
		}
		if next := nhName() + "/" + aesName(); next != kernel {
			kernel = next
			f(kernel)
		}
	}
}

// forAllKernels runs f as a subtest for each kernel that this machine has.
func forAllKernels(t *testing.T, f func(t *testing.T)) {
	eachKernel(func(kernel string) { t.Run(kernel, f) })
}

// ForAllSHA512 runs f as a subtest for each implementation of HMAC-SHA-512.
func ForAllSHA512(t *testing.T, f func(t *testing.T)) {
	if !useFIPS {
		defer sha512.Select(sha512.Active())
		for _, kernel := range sha512.Kernels() {
			sha512.Select(kernel)
			t.Run(kernel.String(), f)
		}
		defer func() { useFIPS = false }()
		useFIPS = true
	}
	t.Run("crypto/hmac", f)
}

// HMACAllocates reports whether the HMAC-SHA-512 in use allocates.
func HMACAllocates() bool { return useFIPS }
