// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Which kernels run: UseAVX512 for lanes, UseAVX2 for lanes and for one message.
// Tests change them.
var (
	UseAVX512 = UseAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX
	UseAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2 && cpu.X86.HasBMI1
)

// Supported reports whether there is assembly for Block here.
var Supported = UseAVX2

// Name names the best kernel: avx512, avx2 or generic.
func Name() string {
	switch {
	case UseAVX512:
		return "avx512"
	case UseAVX2:
		return "avx2"
	}
	return "generic"
}

func block(state *[8]uint64, p []byte) {
	if !UseAVX2 {
		blockGeneric(state, p)
		return
	}
	for len(p) >= BlockSize {
		blocks := min(len(p)/BlockSize, MaxRun)
		blockAVX2(state, unsafe.SliceData(p), blocks, &k)
		p = p[blocks*BlockSize:]
	}
}

// LaneCount returns how many lanes [BlockLanes] has here, 0 if there is no kernel,
// and how many of them have to be in use for it to be faster than [Block] for
// each.
func LaneCount() (lanes, least int) {
	switch {
	case UseAVX512:
		return 8, 3
	case UseAVX2:
		return 4, 4
	}
	return 0, 0
}

// BlockLanes compresses 1 to [MaxRun] blocks of each lane that [LaneCount] has: those
// from p[lane] on. Lanes may share blocks.
func BlockLanes(state *Lanes, p *[MaxLanes]*byte, blocks int) {
	if UseAVX512 {
		lanesAVX512(state, p, blocks, &k)
	} else {
		lanesAVX2(state, p, blocks, &k)
	}
}

// The assembly, for at least one block. k is the constants.

//go:noescape
func blockAVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64)

//go:noescape
func lanesAVX512(state *Lanes, p *[MaxLanes]*byte, blocks int, k *[80]uint64)

//go:noescape
func lanesAVX2(state *Lanes, p *[MaxLanes]*byte, blocks int, k *[80]uint64)
