// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package sha512

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Which kernel runs. Tests change them.
var (
	UseAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX2 && cpu.X86.HasAVX &&
		cpu.X86.HasBMI2 && cpu.X86.HasBMI1
	UseAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2 && cpu.X86.HasBMI1
)

// Supported reports whether Block is assembly here.
var Supported = UseAVX512 || UseAVX2

func block(state *[8]uint64, p []byte) {
	n := len(p) / BlockSize
	if n == 0 {
		return
	}
	if UseAVX512 {
		blockAVX512(state, unsafe.SliceData(p), n, &k)
	} else if UseAVX2 {
		blockAVX2(state, unsafe.SliceData(p), n, &k)
	} else {
		blockGeneric(state, p)
	}
}

// The assembly, for at least one block. k is the constants.

//go:noescape
func blockAVX512(state *[8]uint64, p *byte, blocks int, k *[80]uint64)

//go:noescape
func blockAVX2(state *[8]uint64, p *byte, blocks int, k *[80]uint64)
