// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

// eachKernel calls f for each kernel that this machine has, in use.
func eachKernel(f func(kernel string)) {
	avx512, avx2, aesni := useAVX512, useAVX2, useAESNI
	defer func() { useAVX512, useAVX2, useAESNI = avx512, avx2, aesni }()
	for {
		f(nhName() + "/" + aesName())
		switch {
		case useAVX512:
			useAVX512 = false
		case useAVX2:
			useAVX2 = false
		case useAESNI:
			useAESNI = false
		default:
			return
		}
	}
}
