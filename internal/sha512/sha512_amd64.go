// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import (
	"example.com/fastmac/internal/kernel"
	"golang.org/x/sys/cpu"
)

// Which kernels run, see [kernel.Kernel].
var useAVX512, useLanesAVX512, useAVX2 bool

func init() {
	avx2 := kernel.Set{kernel.AVX, kernel.AVX2, kernel.BMI1, kernel.BMI2}
	avx512 := append(avx2[:4:4], kernel.AVX512F, kernel.AVX512BW, kernel.AVX512VL)
	kernel.Register(kernel.SHA512, "stdlib",
		// For one message a kernel with AVX-512 and the rounds of avx2 would take 7 % longer than avx512,
		// whose chains are shorter, on Zen 5, and 4 % on an Intel Xeon (family 6, model 167, Go 1.26.8).
		// Both have AVX-VNNI. Without it, avx512 takes 9 % longer than that kernel on Zen 4, where
		// llvm-mca expects avx2 to be as fast. On Cascade Lake and Ice Lake, which were not measured,
		// it expects avx2 to take 13 % longer.
		kernel.Kernel{Name: "avx512", Needs: avx512, Use: &useAVX512, OnlyTests: !cpu.X86.HasAVXVNNI},
		kernel.Kernel{Name: "avx512lanes", Needs: avx512, Use: &useLanesAVX512}, // avx2 for one message
		kernel.Kernel{Name: "avx2", Needs: avx2, Use: &useAVX2},
	)
}

// hasAssembly reports whether a kernel is in use, and not crypto/sha512.
func hasAssembly() bool { return useAVX2 }

// LaneCount returns how many lanes are compressed side by side, 0 if there is no
// kernel for it, and how many of them must be in use for that to be faster than
// [Block] for each.
func LaneCount() (lanes, minLanes int) {
	switch {
	case useLanesAVX512:
		return 8, 3
	case useAVX2:
		return 4, 4
	}
	return 0, 0
}

// HasPairs returns false: there are lanes instead.
func HasPairs() bool { return false }

// compress calls the kernel in use, as blockAVX2.
//
//go:nosplit
func compress(state *[8]uint64, p *byte, blocks int, end *end) {
	if useAVX512 {
		blockAVX512(state, p, blocks, &k, end)
	} else {
		blockAVX2(state, p, blocks, &k, end)
	}
}

func compressPair(_, _ *[8]uint64, _, _ *byte, _ int, _ *[2]end) {} // never called: see HasPairs

func compressLanes(state *Lanes, p *[MaxLanes]*byte, blocks int, initial, outer LaneSet) {
	if useLanesAVX512 {
		lanesAVX512(state, p, blocks, &k, uint64(initial), uint64(outer))
	} else {
		lanesAVX2(state, p, blocks, &k, uint64(initial), uint64(outer))
	}
}

// The assembly. k is the constants.

// blockAVX2 compresses blocks from p on into state. If blocks is 0, it compresses the block
// that p and end make, and if that has an outer chaining value, it then sets state to the
// result of compressing the hash and its padding into that.
//
//go:noescape
func blockAVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// blockAVX512 is blockAVX2 with more instructions and shorter chains of them.
//
//go:noescape
func blockAVX512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// lanesAVX512 compresses blocks of all eight messages into their lanes, as [Lanes.Block]. If a lane
// is in outer, there is one block.
//
//go:noescape
func lanesAVX512(state *Lanes, p *[MaxLanes]*byte, blocks int, k *[80]uint64, initial, outer uint64)

// lanesAVX2 is lanesAVX512 for the first four lanes.
//
//go:noescape
func lanesAVX2(state *Lanes, p *[MaxLanes]*byte, blocks int, k *[80]uint64, initial, outer uint64)
