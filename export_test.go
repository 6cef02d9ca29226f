// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"hash"
	"testing"
)

// EachKernel and ForAllKernels are for the tests of package fastmac_test.
var (
	EachKernel    = eachKernel
	ForAllKernels = forAllKernels
)

// forAllKernels runs f as a subtest for each kernel that this machine has.
func forAllKernels(t *testing.T, f func(t *testing.T)) {
	eachKernel(func(kernel string) { t.Run(kernel, f) })
}

// HMACInner returns the hash within a stream.
func HMACInner(m *HMACSHA512) hash.Hash { return m.inner }
