// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import "example.com/fastmac/internal/kernel"

// Whether the kernels run, see [kernel.Kernel].
var useSHA512 bool

func init() {
	kernel.Register(kernel.SHA512, "stdlib", kernel.Kernel{Name: "sha512", Needs: kernel.Set{kernel.ARM64SHA512}, Use: &useSHA512})
}

// hasAssembly reports whether the kernels are in use, and not crypto/sha512.
func hasAssembly() bool { return useSHA512 }

// LaneCount returns 0: there are pairs instead.
func LaneCount() (lanes, minLanes int) { return 0, 0 }

// HasPairs reports whether two messages are compressed side by side, which takes less time than
// one after the other.
func HasPairs() bool { return useSHA512 }

// compress calls the kernel, as blockSHA512.
//
//go:nosplit
func compress(state *[8]uint64, p *byte, blocks int, end *end) {
	blockSHA512(state, p, blocks, &k, end)
}

// compressPair calls the kernel, as blockPairSHA512.
//
//go:nosplit
func compressPair(state, other *[8]uint64, p, q *byte, blocks int, end *[2]end) {
	blockPairSHA512(state, other, p, q, blocks, &k, end)
}

func compressLanes(*Lanes, *[MaxLanes]*byte, int, LaneSet, LaneSet) {} // never called: see LaneCount

// The assembly. k is the constants.

// blockSHA512 compresses blocks from p on into state. If blocks is 0, it compresses the block
// that p and end make, and if that has an outer chaining value, it then sets state to the
// result of compressing the hash and its padding into that.
//
//go:noescape
func blockSHA512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// blockPairSHA512 is blockSHA512 for state, p and the first end, and for other, q and the second
// one. Both ends have outer chaining values, or neither has.
//
//go:noescape
func blockPairSHA512(state, other *[8]uint64, p, q *byte, blocks int, k *[80]uint64, end *[2]end)
