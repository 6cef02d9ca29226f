// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// TestBest checks which kernel is the best for each set of instructions.
func TestBest(t *testing.T) {
	defer func(avx2, avx512, vnni bool) {
		hasAVX2, hasAVX512, cpu.X86.HasAVXVNNI = avx2, avx512, vnni
	}(hasAVX2, hasAVX512, cpu.X86.HasAVXVNNI)
	for _, test := range []struct {
		avx2, avx512, vnni bool
		want               Kernel
	}{
		{false, false, false, Stdlib},
		{true, false, false, AVX2},
		{true, false, true, AVX2},
		{true, true, false, AVX512},
		{true, true, true, AVX512Wide},
	} {
		hasAVX2, hasAVX512, cpu.X86.HasAVXVNNI = test.avx2, test.avx512, test.vnni
		if got := best(); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}
