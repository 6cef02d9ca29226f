// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"runtime"
	"unsafe"
)

// UHASH runs its three layers once for every 4 bytes of tag. The RFC calls each run
// an iteration.
const maxIterations = 4

// L1-HASH, RFC 4418 section 5.2: NH hashes each block of a message to one word for
// each iteration. Iteration t uses the NH key from byte 16*t on (the Toeplitz
// shift), so that all iterations share one key.
const (
	l1Block = 1024        // bytes of message hashed to one 8-byte word
	l1Group = 32          // NH works on whole groups of 32 bytes; messages are zero-padded to them
	l1Half  = l1Group / 8 // words of the low half of a group, and of the high one
	groups  = l1Block / l1Group
)

// l1Key is the NH key in words: those of the low halves of all groups, then those
// of the high halves. The Toeplitz shift is half a group, so iteration t uses, for
// group g, the halves
//
//	t   low      high
//	0   lo[g]    hi[g]
//	1   hi[g]    lo[g+1]
//	2   lo[g+1]  hi[g+1]
//	3   hi[g+1]  lo[g+2]
type l1Key struct {
	lo [l1Half * (groups + maxIterations/2)]uint32
	hi [l1Half * (groups + (maxIterations-1)/2)]uint32
}

// l1Halves is the number of halves. Two iterations use two fewer.
const l1Halves = 2*groups + maxIterations - 1

// bytes returns the storage of the key: all low halves, then all high ones.
func (k *l1Key) bytes() *[4 * l1Half * l1Halves]byte {
	return (*[4 * l1Half * l1Halves]byte)(unsafe.Pointer(k))
}

// swap replaces each word by the value of its bytes in big-endian order.
func (k *l1Key) swap() {
	b := k.bytes()
	for i := range k.lo {
		k.lo[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	for i := range k.hi {
		k.hi[i] = binary.BigEndian.Uint32(b[4*(len(k.lo)+i):])
	}
}

// l1Words holds one word for each iteration.
type l1Words [maxIterations]uint64

// l1State is NH of the whole groups of one block that have been added so far.
type l1State struct {
	sums  l1Words
	bytes int // added, a multiple of l1Group
}

// addLength adds the length of a block, here in bytes, to its sums in bits. They are
// then its L1 words, RFC 4418 section 5.2.1.
func (w *l1Words) addLength(bytes uint64) {
	for i := range w {
		w[i] += 8 * bytes
	}
}

// nh adds to sums the NH hash, RFC 4418 section 5.2.2, of p, whole groups that begin
// at group g of a block. It computes two iterations or four: one more than is asked for
// is meaningless.
func nh(sums *l1Words, k *l1Key, g int, p []byte, iterations int) {
	switch {
	case !mayLoadWords(p):
		nhCopied(sums, k, g, p, iterations)
	case iterations <= 2:
		nh2((*[2]uint64)(sums[:]), k, g, p)
	default:
		nh4(sums, k, g, p)
	}
}

// nhCopied is nh of p where loadWord may not load from p.
func nhCopied(sums *l1Words, k *l1Key, g int, p []byte, iterations int) {
	var copied struct {
		_      [0]uint32 // aligns groups
		groups [8 * l1Group]byte
	}
	for len(p) > 0 {
		n := copy(copied.groups[:], p)
		nh(sums, k, g, copied.groups[:n], iterations)
		g += n / l1Group
		p = p[n:]
	}
	clear(copied.groups[:])
}

// These add to memory after each group: with the sums in variables the compiler
// has too few registers for the loads that it moves to the top of the loop, and
// the code is slower. The bounds on i, the first word of the group's halves, let the
// compiler omit all other bounds checks.

func nh2(sums *[2]uint64, k *l1Key, g int, p []byte) {
	for i := l1Half * g; i >= 0 && i < l1Half*groups && len(p) >= l1Group; i += l1Half {
		m, a, b := (*[l1Group]byte)(p), (*[8]uint32)(k.lo[i:i+8]), (*[4]uint32)(k.hi[i:i+4])
		sums[0] += nhProduct(m, 0, a[0], b[0]) + nhProduct(m, 1, a[1], b[1]) +
			nhProduct(m, 2, a[2], b[2]) + nhProduct(m, 3, a[3], b[3])
		sums[1] += nhProduct(m, 0, b[0], a[4]) + nhProduct(m, 1, b[1], a[5]) +
			nhProduct(m, 2, b[2], a[6]) + nhProduct(m, 3, b[3], a[7])
		p = p[l1Group:]
	}
}

func nh4(sums *l1Words, k *l1Key, g int, p []byte) {
	for i := l1Half * g; i >= 0 && i < l1Half*groups && len(p) >= l1Group; i += l1Half {
		m, a, b := (*[l1Group]byte)(p), (*[12]uint32)(k.lo[i:i+12]), (*[8]uint32)(k.hi[i:i+8])
		sums[0] += nhProduct(m, 0, a[0], b[0]) + nhProduct(m, 1, a[1], b[1]) +
			nhProduct(m, 2, a[2], b[2]) + nhProduct(m, 3, a[3], b[3])
		sums[1] += nhProduct(m, 0, b[0], a[4]) + nhProduct(m, 1, b[1], a[5]) +
			nhProduct(m, 2, b[2], a[6]) + nhProduct(m, 3, b[3], a[7])
		sums[2] += nhProduct(m, 0, a[4], b[4]) + nhProduct(m, 1, a[5], b[5]) +
			nhProduct(m, 2, a[6], b[6]) + nhProduct(m, 3, a[7], b[7])
		sums[3] += nhProduct(m, 0, b[4], a[8]) + nhProduct(m, 1, b[5], a[9]) +
			nhProduct(m, 2, b[6], a[10]) + nhProduct(m, 3, b[7], a[11])
		p = p[l1Group:]
	}
}

// nhProduct is one term of NH for a group, (m_i +_32 k_i) *_64 (m_i+4 +_32 k_i+4).
// RFC 4418 section 5.2.1 reads the message words little-endian.
func nhProduct(m *[l1Group]byte, i int, k0, k4 uint32) uint64 {
	return uint64(loadWord(m, i)+k0) * uint64(loadWord(m, i+4)+k4)
}

// The machines whose words in memory are those of a message, and those of them that load a word only from an
// address that its size divides. There encoding/binary loads four bytes, and NH takes four times as many
// instructions. On the others it loads a word too.
const (
	needsAligned = runtime.GOARCH == "arm" || runtime.GOARCH == "mips64le" || runtime.GOARCH == "mipsle" || runtime.GOARCH == "riscv64"
	littleEndian = needsAligned || runtime.GOARCH == "386" || runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" ||
		runtime.GOARCH == "loong64" || runtime.GOARCH == "ppc64le" || runtime.GOARCH == "wasm"
)

// mayLoadWords reports whether loadWord may load from p.
func mayLoadWords(p []byte) bool {
	return !needsAligned || uintptr(unsafe.Pointer(unsafe.SliceData(p)))%unsafe.Alignof(uint32(0)) == 0
}

// loadWord returns word i of a group.
func loadWord(m *[l1Group]byte, i int) uint32 {
	if littleEndian {
		return *(*uint32)(unsafe.Pointer(&m[4*i]))
	}
	return binary.LittleEndian.Uint32(m[4*i:])
}
