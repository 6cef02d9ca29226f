// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha1

import "example.com/fastmac/internal/sha2"

// hasAssembly reports whether there is assembly for iterations: where that of SHA-256 uses the SHA instructions.
func hasAssembly() bool { return sha2.HasPairs[uint32]() }

// largeFrame reports whether crypto/sha1 leaves words of n bytes that are written, plus constants, in a frame that
// wipe.Short does not reach: that of its assembly for AVX2, which takes 256 bytes or more.
func largeFrame(n int) bool { return n >= 256 && !hasAssembly() }

// iterate makes n steps of one iteration or two.
func iterate(its []iteration, n int) {
	if len(its) == 1 {
		iterate1SHA(&its[0], n)
	} else {
		iteratePair1SHA((*[2]iteration)(its), n)
	}
}

// iterate1SHA makes n steps of an iteration, at least one: see [Blocks.Iterate].
//
//go:noescape
func iterate1SHA(it *iteration, n int)

// iteratePair1SHA is iterate1SHA for two iterations.
//
//go:noescape
func iteratePair1SHA(its *[2]iteration, n int)
