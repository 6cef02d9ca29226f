// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var (
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2 && cpu.X86.HasBMI1
)

// best returns the best kernel that the CPU has.
func best() Kernel {
	switch {
	case hasAVX512:
		return AVX512
	case hasAVX2:
		return AVX2
	}
	return Stdlib
}

//go:nosplit
func block(state *[8]uint64, p []byte) {
	if active == Stdlib {
		blockStd(state, p)
		return
	}
	for len(p) >= BlockSize {
		blocks := min(len(p)/BlockSize, maxRun)
		blockAVX2(state, unsafe.SliceData(p), blocks, &k)
		p = p[blocks*BlockSize:]
	}
}

func blockLanes(state *Lanes, p *[MaxLanes][]byte, blocks int) {
	if active == AVX512 {
		lanesAVX512(state, p, blocks, &k)
	} else {
		lanesAVX2(state, p, blocks, &k)
	}
}

// The assembly, for at least one block. k is the constants.

// blockAVX2 compresses blocks from p on into state.
//
//go:noescape
func blockAVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64)

// lanesAVX512 compresses the first blocks of all eight slices into their lanes.
//
//go:noescape
func lanesAVX512(state *Lanes, p *[MaxLanes][]byte, blocks int, k *[80]uint64)

// lanesAVX2 is lanesAVX512 for the first four lanes.
//
//go:noescape
func lanesAVX2(state *Lanes, p *[MaxLanes][]byte, blocks int, k *[80]uint64)
