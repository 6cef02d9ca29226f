// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package fastmac

var kernelFlags [][]*bool

// eachSHA512 calls f for each implementation of HMAC-SHA-512, in use.
func eachSHA512(f func(name string)) {
	f(hmacName())
	if !useFIPS {
		useFIPS = true
		defer func() { useFIPS = false }()
		f(hmacName())
	}
}
