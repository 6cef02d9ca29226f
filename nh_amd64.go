// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package fastmac

import (
	"unsafe"

	"example.com/fastmac/internal/aesni"
	"golang.org/x/sys/cpu"
)

// Which kernels run. Plain variables, so that the compiler sees the calls and
// the arguments of the assembly stay on the stack; tests change them.
var (
	useAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL &&
		cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2
	useAVX2  = cpu.X86.HasAVX2 && cpu.X86.HasAVX && cpu.X86.HasBMI2
	useAESNI = aesni.Supported
	useVAES  = useAESNI && cpu.X86.HasAVX512VAES && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX
)

func nhName() string {
	switch {
	case useAVX512:
		return "avx512"
	case useAVX2:
		return "avx2"
	}
	return "generic"
}

func nhPoly(y *[maxIterations]uint128, k *UMACKey, p []byte, words []l1Words) {
	blocks := len(p) / l1Block
	if blocks == 0 {
		return
	}
	out := (*l1Words)(nil)
	if words != nil {
		out = &words[:blocks][0]
	}
	in := unsafe.SliceData(p)
	if useAVX512 {
		switch k.iterations() {
		case 1:
			nhPoly1AVX512(y, k, in, blocks, out)
		case 2:
			nhPoly2AVX512(y, k, in, blocks, out)
		case 3:
			nhPoly3AVX512(y, k, in, blocks, out)
		case 4:
			nhPoly4AVX512(y, k, in, blocks, out)
		}
	} else if useAVX2 {
		switch k.iterations() {
		case 1:
			nhPoly1AVX2(y, k, in, blocks, out)
		case 2:
			nhPoly2AVX2(y, k, in, blocks, out)
		case 3:
			nhPoly3AVX2(y, k, in, blocks, out)
		case 4:
			nhPoly4AVX2(y, k, in, blocks, out)
		}
	} else {
		nhPolyGeneric(y, k, p, words)
	}
}

func nhAdd(sums *l1Words, k *UMACKey, g int, p []byte) {
	in := unsafe.SliceData(p)
	if useAVX512 {
		switch k.iterations() {
		case 1:
			nhAdd1AVX512(sums, k, g, in, len(p))
		case 2:
			nhAdd2AVX512(sums, k, g, in, len(p))
		case 3:
			nhAdd3AVX512(sums, k, g, in, len(p))
		case 4:
			nhAdd4AVX512(sums, k, g, in, len(p))
		}
	} else if useAVX2 {
		whole := len(p) / l1Group
		if whole > 0 {
			nhAVX2(sums, k, g, p, whole)
		}
		if l1Group*whole < len(p) || whole == 0 {
			var group [l1Group]byte
			copy(group[:], p[l1Group*whole:])
			nhAVX2(sums, k, g+whole, group[:], 1)
		}
	} else {
		nhAddGeneric(sums, k, g, p)
	}
}

func fill(group *[l1Group]byte, p []byte) {
	if useAVX512 {
		fillAVX512(group, unsafe.SliceData(p), len(p))
	} else {
		fillGeneric(group, p)
	}
}

// tagWords takes the sums that nhAdd would leave, or sums as they are if p is empty
// and g is not 0, and goes on to the tag, if there is a kernel for it: the length is
// added, POLY-64 goes on from y, if that is not nil, and L3 and the xor with the pad
// follow. Neither sums nor y changes.
func tagWords(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, g int, p []byte, length uint64, pad pad, y *[maxIterations]uint128) bool {
	if !useAVX512 {
		return false
	}
	in, n := unsafe.SliceData(p), len(p)
	if n == 0 && g > 0 {
		n = -1
	}
	switch k.iterations() {
	case 1:
		tag1AVX512(tag, sums, k, g, in, n, length, pad.first, pad.second, y)
	case 2:
		tag2AVX512(tag, sums, k, g, in, n, length, pad.first, pad.second, y)
	case 3:
		tag3AVX512(tag, sums, k, g, in, n, length, pad.first, pad.second, y)
	case 4:
		tag4AVX512(tag, sums, k, g, in, n, length, pad.first, pad.second, y)
	}
	return true
}

// deriveL1 sets k to the L1 key, if there is a kernel for it.
func deriveL1(k *l1Key, kdf *aesKey) bool {
	if !useVAES {
		return false
	}
	deriveL1VAES(k, &kdf.schedule, kdf.rounds)
	return true
}

// nhAVX2 adds to sums the NH hash of n groups that begin at group g of a block.
func nhAVX2(sums *l1Words, k *UMACKey, g int, p []byte, n int) {
	lo, hi, in := &k.l1.lo[l1Half*g], &k.l1.hi[l1Half*g], unsafe.SliceData(p)
	switch k.iterations() {
	case 1:
		nh1AVX2(sums, lo, hi, in, n)
	case 2:
		nh2AVX2(sums, lo, hi, in, n)
	case 3:
		nh3AVX2(sums, lo, hi, in, n)
	case 4:
		nh4AVX2(sums, lo, hi, in, n)
	}
}

// The assembly, for one to four iterations. words may be nil in nhPoly.

//go:noescape
func nhPoly1AVX512(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly2AVX512(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly3AVX512(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly4AVX512(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhAdd1AVX512(sums *l1Words, k *UMACKey, group int, p *byte, n int)

//go:noescape
func nhAdd2AVX512(sums *l1Words, k *UMACKey, group int, p *byte, n int)

//go:noescape
func nhAdd3AVX512(sums *l1Words, k *UMACKey, group int, p *byte, n int)

//go:noescape
func nhAdd4AVX512(sums *l1Words, k *UMACKey, group int, p *byte, n int)

//go:noescape
func nhPoly1AVX2(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly2AVX2(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly3AVX2(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nhPoly4AVX2(y *[maxIterations]uint128, k *UMACKey, p *byte, blocks int, words *l1Words)

//go:noescape
func nh1AVX2(sums *l1Words, lo, hi *uint32, p *byte, groups int)

//go:noescape
func nh2AVX2(sums *l1Words, lo, hi *uint32, p *byte, groups int)

//go:noescape
func nh3AVX2(sums *l1Words, lo, hi *uint32, p *byte, groups int)

//go:noescape
func nh4AVX2(sums *l1Words, lo, hi *uint32, p *byte, groups int)

//go:noescape
func tag1AVX512(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, group int, p *byte, n int, length, padFirst, padSecond uint64, y *[maxIterations]uint128)

//go:noescape
func tag2AVX512(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, group int, p *byte, n int, length, padFirst, padSecond uint64, y *[maxIterations]uint128)

//go:noescape
func tag3AVX512(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, group int, p *byte, n int, length, padFirst, padSecond uint64, y *[maxIterations]uint128)

//go:noescape
func tag4AVX512(tag *[maxUMACTagSize]byte, sums *l1Words, k *UMACKey, group int, p *byte, n int, length, padFirst, padSecond uint64, y *[maxIterations]uint128)

//go:noescape
func fillAVX512(group *[l1Group]byte, p *byte, n int)

//go:noescape
func deriveL1VAES(k *l1Key, enc *aesni.Schedule, rounds int)
