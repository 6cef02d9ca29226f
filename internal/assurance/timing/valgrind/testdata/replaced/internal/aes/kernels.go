// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aes

import "unsafe"

//go:linkname request runtime.valgrindClientRequest
func request(request, a, b, c, d, e uintptr) uintptr

var drawn [8]byte // a variable, because a stack could move meanwhile

// rdseed draws nothing: what it returns only has to be secret.
func rdseed(word *[8]byte) (ok uint64) {
	const makeMemUndefined = 'M'<<24 | 'C'<<16 + 1
	request(makeMemUndefined, uintptr(unsafe.Pointer(&drawn)), uintptr(len(drawn)), 0, 0, 0)
	*word = drawn
	return 1<<64 - 1
}
