// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import "golang.org/x/sys/cpu"

var (
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2 && cpu.X86.HasBMI1
)

// last returns the last kernel that the CPU has.
func last() Kernel {
	switch {
	case hasAVX512:
		return AVX512Wide
	case hasAVX2:
		return AVX2
	}
	return Stdlib
}

// best returns the best kernel that the CPU has.
func best() Kernel {
	// AVX512Wide is for Zen 5, where few instructions in long chains took 7 % longer, and
	// Sapphire Rapids, where llvm-mca expects 3 %. They have AVX-VNNI. Zen 4 and Cascade Lake
	// do not, and AVX512Wide takes 9 % longer on Zen 4, and 10 % in llvm-mca's Cascade Lake.
	if last() == AVX512Wide && !cpu.X86.HasAVXVNNI {
		return AVX512
	}
	return last()
}

// compress calls the kernel in use, as blockAVX2.
//
//go:nosplit
func compress(state *[8]uint64, p *byte, blocks int, end *end) {
	switch active {
	case AVX2:
		blockAVX2(state, p, blocks, &k, end)
	case AVX512:
		blockAVX512(state, p, blocks, &k, end)
	default:
		blockWideAVX512(state, p, blocks, &k, end)
	}
}

func blockLanes(state *Lanes, p *[MaxLanes][]byte, blocks int) {
	if active >= AVX512 {
		lanesAVX512(state, p, blocks, &k)
	} else {
		lanesAVX2(state, p, blocks, &k)
	}
}

// The assembly. k is the constants.

// blockAVX2 compresses blocks from p on into state. If blocks is 0, it compresses the block
// that p and end make, and if that has an outer chaining value, it then sets state to the
// result of compressing the hash and its padding into that.
//
//go:noescape
func blockAVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// blockAVX512 is blockAVX2 with fewer instructions.
//
//go:noescape
func blockAVX512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// blockWideAVX512 is blockAVX512 with more instructions and shorter chains of them.
//
//go:noescape
func blockWideAVX512(state *[8]uint64, p *byte, blocks int, k *[80]uint64, end *end)

// lanesAVX512 compresses the first blocks of all eight slices into their lanes.
//
//go:noescape
func lanesAVX512(state *Lanes, p *[MaxLanes][]byte, blocks int, k *[80]uint64)

// lanesAVX2 is lanesAVX512 for the first four lanes.
//
//go:noescape
func lanesAVX2(state *Lanes, p *[MaxLanes][]byte, blocks int, k *[80]uint64)
