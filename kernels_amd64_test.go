// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

import "example.com/fastmac/internal/sha512"

// kernelFlags has a row for each kernel that a CPU may lack, best first: the flags
// that are off then.
var kernelFlags = [][]*bool{
	{&useAVX512, &useVAES},
	{&useAVX2},
	{&useAES, &useVAES},
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
