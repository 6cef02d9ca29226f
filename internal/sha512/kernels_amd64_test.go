// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import "testing"

// forAllKernels runs f with each kernel that this CPU has.
func forAllKernels[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(T)) {
	avx512, avx2 := UseAVX512, UseAVX2
	defer func() { UseAVX512, UseAVX2 = avx512, avx2 }()
	if avx512 {
		t.Run("impl=avx512", f)
	}
	if UseAVX512 = false; avx2 {
		t.Run("impl=avx2", f)
	}
	UseAVX2 = false
	t.Run("impl=generic", f)
}
