// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha2

import (
	"unsafe"

	"example.com/fastmac/internal/kernel"
	"golang.org/x/sys/cpu"
)

// Which kernels run, see [kernel.Kernel].
var (
	use256AVX512, use256SHA, use256LanesAVX512, use256AVX2 bool
	use512AVX512, use512LanesAVX512, use512AVX2            bool
)

func register256() {
	sha := kernel.Set{kernel.AVX, kernel.X86SHA}
	lanes := kernel.Set{kernel.AVX, kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL}
	kernel.Register(kernel.SHA256, "stdlib", right256,
		kernel.Kernel{Name: "avx512", Needs: append(lanes[:4:4], kernel.X86SHA), Use: &use256AVX512}, // sha for one message
		kernel.Kernel{Name: "sha", Needs: sha, Use: &use256SHA},
		kernel.Kernel{Name: "avx512lanes", Needs: lanes, Use: &use256LanesAVX512},                                           // crypto/sha256 for one message
		kernel.Kernel{Name: "avx2", Needs: kernel.Set{kernel.AVX, kernel.AVX2, kernel.BMI1, kernel.BMI2}, Use: &use256AVX2}, // the same
	)
}

func register512() {
	avx2 := kernel.Set{kernel.AVX, kernel.AVX2, kernel.BMI1, kernel.BMI2}
	avx512 := append(avx2[:4:4], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL)
	kernel.Register(kernel.SHA512, "stdlib", right512,
		// For one message avx512 has shorter chains than avx2, and more instructions. CPUs with AVX-VNNI gain
		// 4 to 7 % by that, and AMD's without it lose. Intel's without it were not measured.
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &use512AVX512, OnlyTests: !cpu.X86.HasAVXVNNI},
		kernel.Kernel{Name: "avx512lanes", Needs: avx512, Use: &use512LanesAVX512}, // avx2 for one message
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &use512AVX2},
	)
}

// HasAssembly reports whether a kernel for one message is in use, and not the standard library.
func HasAssembly[W Word]() bool {
	if wordSize[W]() == 4 {
		return use256SHA
	}
	return use512AVX2
}

// LaneCount returns how many lanes are compressed side by side, 0 if there is no kernel for it, and
// how many of them must be in use for that to be faster than pairs, or [State.Compress] for each.
func LaneCount[W Word]() (lanes, minLanes int) {
	switch {
	case wordSize[W]() == 4 && use256AVX512:
		return 16, 11 // fewer are faster in pairs
	case wordSize[W]() == 4 && use256LanesAVX512 && !use256SHA:
		return 16, 3
	case wordSize[W]() == 4 && use256AVX2 && !use256SHA: // eight lanes take 1.5 times as long as pairs
		return 8, 3
	case wordSize[W]() == 8 && use512LanesAVX512:
		return 8, 3
	case wordSize[W]() == 8 && use512AVX2:
		return 4, 4
	}
	return 0, 0
}

// HasPairs reports whether two messages are compressed side by side, which takes less time than one
// after the other.
func HasPairs[W Word]() bool { return wordSize[W]() == 4 && use256SHA }

// compress calls the kernel in use, as block256SHA and block512AVX2.
//
//go:nosplit
func compress[W Word](state *State[W], p *byte, blocks int, end *end[W]) {
	s, e := unsafe.Pointer(state), unsafe.Pointer(end)
	switch {
	case wordSize[W]() == 4:
		block256SHA((*[8]uint32)(s), p, blocks, &k256, (*end256)(e))
	case use512AVX512:
		block512AVX512((*[8]uint64)(s), p, blocks, &k512, (*end512)(e))
	default:
		block512AVX2((*[8]uint64)(s), p, blocks, &k512, (*end512)(e))
	}
}

// compressPair calls the kernel, as pair256SHA. There is none for 64-bit words: see HasPairs.
//
//go:nosplit
func compressPair[W Word](state, other *State[W], p, q *byte, blocks int, end *[2]end[W]) {
	pair256SHA((*[8]uint32)(unsafe.Pointer(state)), (*[8]uint32)(unsafe.Pointer(other)), p, q, blocks, &k256, (*[2]end256)(unsafe.Pointer(end)))
}

func compressLanes[W Word](state *Lanes[W], p *[MaxLanes]*byte, blocks int, initial, outer LaneSet) {
	s, first := unsafe.Pointer(state), uint64(initial)
	switch {
	case wordSize[W]() == 4 && use256LanesAVX512:
		lanes256AVX512((*lanes256)(s), p, blocks, &k256, first, uint64(outer))
	case wordSize[W]() == 4:
		lanes256AVX2((*lanes256)(s), p, blocks, &k256, first, uint64(outer))
	case use512LanesAVX512:
		lanes512AVX512((*lanes512)(s), p, blocks, &k512, first, uint64(outer))
	default:
		lanes512AVX2((*lanes512)(s), p, blocks, &k512, first, uint64(outer))
	}
}

// sideBySide returns how many of count iterations a kernel makes side by side, 0 if there is none, and
// whether that is [iterateLanes] and not [iterate]. A step in 16 lanes takes the time of steps of eight
// iterations in pairs, or of more than two with crypto/sha256, and one in eight lanes of 64 bits that of
// less than two (BenchmarkIterate).
func sideBySide[W Word](count int) (n int, inLanes bool) {
	switch {
	case wordSize[W]() == 8 && use512LanesAVX512 && count >= 2:
		return min(count, 8), true
	case wordSize[W]() == 8 && use512AVX2:
		return 1, false
	case wordSize[W]() == 8:
		return 0, false
	case use256AVX512 && count >= 9, use256LanesAVX512 && !use256SHA && count >= 3:
		return min(count, 16), true
	case use256SHA:
		return min(count, 2), false
	}
	return 0, false
}

// iterate makes n steps of one iteration or two.
func iterate[W Word](its []Iteration[W], n int) {
	first := unsafe.Pointer(unsafe.SliceData(its))
	switch {
	case wordSize[W]() == 8 && use512AVX512:
		iterate512AVX512((*iteration512)(first), n, &k512)
	case wordSize[W]() == 8:
		iterate512AVX2((*iteration512)(first), n, &k512)
	case len(its) == 1:
		iterate256SHA((*iteration256)(first), n, &k256)
	default:
		iteratePair256SHA((*[2]iteration256)(first), n, &k256)
	}
}

// iterateLanes makes n steps in all lanes.
func iterateLanes[W Word](its *iterations[W], n int) {
	if s := unsafe.Pointer(its); wordSize[W]() == 4 {
		iterateLanes256AVX512((*iterations256)(s), n, &k256)
	} else {
		iterateLanes512AVX512((*iterations512)(s), n, &k512)
	}
}

// The assembly. k is the constants.

type (
	lanes256      = Lanes[uint32]
	lanes512      = Lanes[uint64]
	iteration256  = Iteration[uint32]
	iteration512  = Iteration[uint64]
	iterations256 = iterations[uint32]
	iterations512 = iterations[uint64]
)

// block256SHA compresses blocks from p on into state. If blocks is 0, it compresses the block that p
// and end make, and if that has an outer chaining value, it then sets state to the result of
// compressing the hash and its padding into that.
//
//go:noescape
func block256SHA(state *[8]uint32, p *byte, blocks int, k *[64]uint32, end *end256)

// pair256SHA is block256SHA for state, p and the first end, and for other, q and the second one. Both
// ends have outer chaining values, or neither has.
//
//go:noescape
func pair256SHA(state, other *[8]uint32, p, q *byte, blocks int, k *[64]uint32, end *[2]end256)

// lanes256AVX512 compresses blocks of all 16 messages into their lanes, as [Lanes.Block]. If a lane
// is in outer, there is one block.
//
//go:noescape
func lanes256AVX512(state *lanes256, p *[MaxLanes]*byte, blocks int, k *[64]uint32, initial, outer uint64)

// lanes256AVX2 is lanes256AVX512 for the first eight lanes.
//
//go:noescape
func lanes256AVX2(state *lanes256, p *[MaxLanes]*byte, blocks int, k *[64]uint32, initial, outer uint64)

// iterate256SHA makes n steps of an iteration, at least one: see [Iterate]. With two compressions for a step
// instead, here and in the functions for several iterations and for 64-bit words, PBKDF2 takes 6 to 24 % longer.
//
//go:noescape
func iterate256SHA(it *iteration256, n int, k *[64]uint32)

// iteratePair256SHA is iterate256SHA for two iterations.
//
//go:noescape
func iteratePair256SHA(its *[2]iteration256, n int, k *[64]uint32)

// iterateLanes256AVX512 is iterate256SHA for 16 iterations.
//
//go:noescape
func iterateLanes256AVX512(its *iterations256, n int, k *[64]uint32)

// block512AVX2 is block256SHA for 64-bit words.
//
//go:noescape
func block512AVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end512)

// block512AVX512 is block512AVX2 with more instructions and shorter chains of them.
//
//go:noescape
func block512AVX512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end512)

// lanes512AVX512 is lanes256AVX512 for 64-bit words, and so for eight messages.
//
//go:noescape
func lanes512AVX512(state *lanes512, p *[MaxLanes]*byte, blocks int, k *[80]uint64, initial, outer uint64)

// lanes512AVX2 is lanes512AVX512 for the first four lanes.
//
//go:noescape
func lanes512AVX2(state *lanes512, p *[MaxLanes]*byte, blocks int, k *[80]uint64, initial, outer uint64)

// iterate512AVX2 is iterate256SHA for 64-bit words.
//
//go:noescape
func iterate512AVX2(it *iteration512, n int, k *[80]uint64)

// iterate512AVX512 is iterate512AVX2 with the rounds of block512AVX512.
//
//go:noescape
func iterate512AVX512(it *iteration512, n int, k *[80]uint64)

// iterateLanes512AVX512 is iterate512AVX2 for eight iterations.
//
//go:noescape
func iterateLanes512AVX512(its *iterations512, n int, k *[80]uint64)
