// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

import "example.com/fastmac/internal/sha512"

// eachKernel calls f for each kernel that this machine has, in use.
func eachKernel(f func(kernel string)) {
	avx512, vaes, avx2, aesni := useAVX512, useVAES, useAVX2, useAES
	defer func() { useAVX512, useVAES, useAVX2, useAES = avx512, vaes, avx2, aesni }()
	for {
		f(nhName() + "/" + aesName())
		switch {
		case useAVX512:
			useAVX512, useVAES = false, false
		case useAVX2:
			useAVX2 = false
		case useAES:
			useAES, useVAES = false, false
		default:
			return
		}
	}
}

// eachSHA512 calls f for each implementation of HMAC-SHA-512 that this machine has,
// in use.
func eachSHA512(f func(name string)) {
	own, avx512, fips := useSHA512, sha512.UseAVX512, useFIPS
	defer func() { useSHA512, sha512.UseAVX512, useFIPS = own, avx512, fips }()
	for {
		f(hmacName())
		switch {
		case useSHA512 && sha512.UseAVX512:
			sha512.UseAVX512 = false
		case useSHA512:
			useSHA512 = false
		case !useFIPS:
			useFIPS = true
		default:
			return
		}
	}
}
