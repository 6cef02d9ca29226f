// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha2

import (
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

// Whether the kernels run, see [kernel.Kernel].
var use512SHA512 bool

func init() {
	kernel.Register(kernel.SHA256, "stdlib")
	kernel.Register(kernel.SHA512, "stdlib", kernel.Kernel{Name: "sha512", Needs: kernel.Set{kernel.ARM64SHA512}, Use: &use512SHA512})
}

// HasAssembly reports whether the kernels are in use, and not the standard library.
func HasAssembly[W Word]() bool { return wordSize[W]() == 8 && use512SHA512 }

// LaneCount returns 0: there are pairs instead.
func LaneCount[W Word]() (lanes, minLanes int) { return 0, 0 }

// HasPairs reports whether two messages are compressed side by side, which takes less time than one
// after the other.
func HasPairs[W Word]() bool { return HasAssembly[W]() }

// compress calls the kernel, as block512SHA512. There is none for 32-bit words: see HasAssembly.
//
//go:nosplit
func compress[W Word](state *State[W], p *byte, blocks int, end *end[W]) {
	block512SHA512((*[8]uint64)(unsafe.Pointer(state)), p, blocks, &k512, (*end512)(unsafe.Pointer(end)))
}

// compressPair calls the kernel, as pair512SHA512.
//
//go:nosplit
func compressPair[W Word](state, other *State[W], p, q *byte, blocks int, end *[2]end[W]) {
	pair512SHA512((*[8]uint64)(unsafe.Pointer(state)), (*[8]uint64)(unsafe.Pointer(other)), p, q, blocks, &k512, (*[2]end512)(unsafe.Pointer(end)))
}

func compressLanes[W Word](*Lanes[W], *[MaxLanes]*byte, int, LaneSet, LaneSet) {} // never called: see LaneCount

func sideBySide[W Word](int) (n int, inLanes bool) { return 0, false } // no kernel makes steps of iterations

func iterate[W Word]([]Iteration[W], int) {} // never called: see sideBySide

func iterateLanes[W Word](*iterations[W], int) {} // nor this

// The assembly. k is the constants.

// block512SHA512 compresses blocks from p on into state. If blocks is 0, it compresses the block that
// p and end make, and if that has an outer chaining value, it then sets state to the result of
// compressing the hash and its padding into that.
//
//go:noescape
func block512SHA512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end512)

// pair512SHA512 is block512SHA512 for state, p and the first end, and for other, q and the second
// one. Both ends have outer chaining values, or neither has.
//
//go:noescape
func pair512SHA512(state, other *[8]uint64, p, q *byte, blocks int, k *[80]uint64, end *[2]end512)
