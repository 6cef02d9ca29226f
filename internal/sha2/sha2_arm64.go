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
var use256SHA2, use512SHA512 bool

func register256() {
	kernel.Register(kernel.SHA256, "stdlib", right256, kernel.Kernel{Name: "sha2", Needs: kernel.Set{kernel.ARM64SHA2}, Use: &use256SHA2})
}

func register512() {
	kernel.Register(kernel.SHA512, "stdlib", right512, kernel.Kernel{Name: "sha512", Needs: kernel.Set{kernel.ARM64SHA512}, Use: &use512SHA512})
}

// HasAssembly reports whether the kernels are in use, and not the standard library.
func HasAssembly[W Word]() bool {
	if wordSize[W]() == 4 {
		return use256SHA2
	}
	return use512SHA512
}

// LaneCount returns 0: there are pairs instead.
func LaneCount[W Word]() (lanes, minLanes int) { return 0, 0 }

// HasPairs reports whether two messages are compressed side by side, which takes less time than one
// after the other.
func HasPairs[W Word]() bool { return HasAssembly[W]() }

// compress calls the kernel, as block256SHA2.
//
//go:nosplit
func compress[W Word](state *State[W], p *byte, blocks int, end *end[W]) {
	s, e := unsafe.Pointer(state), unsafe.Pointer(end)
	if wordSize[W]() == 4 {
		block256SHA2((*[8]uint32)(s), p, blocks, &k256, (*end256)(e))
	} else {
		block512SHA512((*[8]uint64)(s), p, blocks, &k512, (*end512)(e))
	}
}

// compressPair calls the kernel, as pair256SHA2.
//
//go:nosplit
func compressPair[W Word](state, other *State[W], p, q *byte, blocks int, end *[2]end[W]) {
	s, t, e := unsafe.Pointer(state), unsafe.Pointer(other), unsafe.Pointer(end)
	if wordSize[W]() == 4 {
		pair256SHA2((*[8]uint32)(s), (*[8]uint32)(t), p, q, blocks, &k256, (*[2]end256)(e))
	} else {
		pair512SHA512((*[8]uint64)(s), (*[8]uint64)(t), p, q, blocks, &k512, (*[2]end512)(e))
	}
}

func compressLanes[W Word](*Lanes[W], *[MaxLanes]*byte, int, LaneSet, LaneSet) {} // never called: see LaneCount

// sideBySide returns how many of count iterations a kernel makes side by side, 0 if there is none, and
// false: [iterate] makes them.
func sideBySide[W Word](count int) (n int, inLanes bool) {
	if HasPairs[W]() {
		n = min(count, 2)
	}
	return n, false
}

// iterate makes n steps of one iteration or two.
func iterate[W Word](its []Iteration[W], n int) {
	first := unsafe.Pointer(unsafe.SliceData(its))
	switch {
	case wordSize[W]() == 4 && len(its) == 1:
		iterate256SHA2((*iteration256)(first), n, &k256)
	case wordSize[W]() == 4:
		iteratePair256SHA2((*[2]iteration256)(first), n, &k256)
	case len(its) == 1:
		iterate512SHA512((*iteration512)(first), n, &k512)
	default:
		iteratePair512SHA512((*[2]iteration512)(first), n, &k512)
	}
}

func iterateLanes[W Word](*iterations[W], int) {} // never called: see sideBySide

// The assembly. k is the constants.

type (
	iteration256 = Iteration[uint32]
	iteration512 = Iteration[uint64]
)

// block256SHA2 compresses blocks from p on into state. If blocks is 0, it compresses the block that p
// and end make, and if that has an outer chaining value, it then sets state to the result of
// compressing the hash and its padding into that.
//
//go:noescape
func block256SHA2(state *[8]uint32, p *byte, blocks int, k *[64]uint32, end *end256)

// pair256SHA2 is block256SHA2 for state, p and the first end, and for other, q and the second one.
// Both ends have outer chaining values, or neither has.
//
//go:noescape
func pair256SHA2(state, other *[8]uint32, p, q *byte, blocks int, k *[64]uint32, end *[2]end256)

// iterate256SHA2 makes n steps of an iteration, at least one: see [Iterate].
//
//go:noescape
func iterate256SHA2(it *iteration256, n int, k *[64]uint32)

// iteratePair256SHA2 is iterate256SHA2 for two iterations.
//
//go:noescape
func iteratePair256SHA2(its *[2]iteration256, n int, k *[64]uint32)

// block512SHA512 is block256SHA2 for 64-bit words.
//
//go:noescape
func block512SHA512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end512)

// pair512SHA512 is pair256SHA2 for 64-bit words.
//
//go:noescape
func pair512SHA512(state, other *[8]uint64, p, q *byte, blocks int, k *[80]uint64, end *[2]end512)

// iterate512SHA512 is iterate256SHA2 for 64-bit words.
//
//go:noescape
func iterate512SHA512(it *iteration512, n int, k *[80]uint64)

// iteratePair512SHA512 is iteratePair256SHA2 for 64-bit words.
//
//go:noescape
func iteratePair512SHA512(its *[2]iteration512, n int, k *[80]uint64)
