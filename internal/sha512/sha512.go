// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sha512 provides SHA-512, FIPS 180-4, from a chaining value that the caller
// holds, which crypto/sha512 does not expose: the compression function, the end of a
// hash, and the compression of several messages side by side.
//
// On amd64 with AVX2, and on arm64 with SHA512 instructions, it is assembly; elsewhere it uses
// crypto/sha512, whose marshaled state has the chaining value. Its time depends only on the number
// of bytes.
package sha512

import (
	"encoding/binary"
	"unsafe"
)

//go:generate go run -C ../asm ./sha512 -out ../../internal/sha512/sha512_amd64.s
//go:generate go run -C ../asm ./neon -out ../../internal/sha512/sha512_arm64.s

const (
	Size      = 64  // of a hash, in bytes
	BlockSize = 128 // in bytes
)

// maxRun is how many blocks assembly compresses in one go. A goroutine cannot be
// preempted there, and may keep the garbage collector waiting for 50 to
// 90 microseconds.
const maxRun = 512

// Initial returns the initial hash value, FIPS 180-4 section 5.3.5.
func Initial() [8]uint64 {
	return [8]uint64{
		0x6a09e667f3bcc908,
		0xbb67ae8584caa73b,
		0x3c6ef372fe94f82b,
		0xa54ff53a5f1d36f1,
		0x510e527fade682d1,
		0x9b05688c2b3e6c1f,
		0x1f83d9abfb41bd6b,
		0x5be0cd19137e2179,
	}
}

// k are the constants of FIPS 180-4 section 4.2.3, which the assembly reads.
var k = [80]uint64{
	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
}

// Block compresses the blocks of p into state. Bytes after the last whole block are
// ignored. The stack does not grow in the assembly or in the functions that call it,
// because a caller may have secrets in its variables.
//
//go:nosplit
func Block(state *[8]uint64, p []byte) {
	if !hasAssembly() {
		blockStd(state, p)
		return
	}
	for len(p) >= BlockSize {
		blocks := min(len(p)/BlockSize, maxRun)
		compress(state, unsafe.SliceData(p), blocks, nil)
		p = p[blocks*BlockSize:]
	}
}

// An end is what makes the last block of a message: a number of words, fewer than 16,
// which are elsewhere, the word after them, zeros, and two words of length. Assembly makes
// that block in registers. Where there is no room for the length, an end without a length
// makes the last block but one.
type end struct {
	words int
	tail  uint64 // up to seven bytes and 0x80, little-endian, or 0
	bits  [2]uint64
	outer *[8]uint64 // chaining value of the outer hash, or nil
}

// Sum sets out to the hash of a message: its first n bytes, whole blocks, are in
// state, and p is the rest. If outer is not nil, it is the chaining value after a block,
// and out is set to the hash of that block and the first hash. out may overlap p.
func Sum(out *[Size]byte, state, outer *[8]uint64, n uint64, p []byte) {
	if !hasAssembly() {
		sumStd(out, state, outer, n, p)
		return
	}
	s := *state
	n += uint64(len(p))
	if len(p) >= BlockSize {
		Block(&s, p)
		p = p[len(p)&^(BlockSize-1):]
	}
	e := end{words: len(p) / 8, tail: tail(p)}
	if len(p)+1 > BlockSize-16 {
		compress(&s, unsafe.SliceData(p), 0, &e)
		e.words, e.tail = 0, 0
	}
	e.bits = [2]uint64{n >> 61, n << 3}
	e.outer = outer
	compress(&s, unsafe.SliceData(p), 0, &e)
	Encode(out, &s)
	e.tail = 0
}

// tail returns the bytes of p after the last whole word, and 0x80, little-endian.
func tail(p []byte) uint64 {
	tail := uint64(0x80)
	for i := len(p) - 1; i >= len(p)&^7; i-- {
		tail = tail<<8 | uint64(p[i])
	}
	return tail
}

// Encode sets out to a chaining value in big-endian bytes. A loop would take 1 % of a
// short message's HMAC.
func Encode(out *[Size]byte, state *[8]uint64) {
	binary.BigEndian.PutUint64(out[0:], state[0])
	binary.BigEndian.PutUint64(out[8:], state[1])
	binary.BigEndian.PutUint64(out[16:], state[2])
	binary.BigEndian.PutUint64(out[24:], state[3])
	binary.BigEndian.PutUint64(out[32:], state[4])
	binary.BigEndian.PutUint64(out[40:], state[5])
	binary.BigEndian.PutUint64(out[48:], state[6])
	binary.BigEndian.PutUint64(out[56:], state[7])
}

// A Buffer is a block of a message.
type Buffer [BlockSize]byte

// OuterPadding follows the inner hash of an HMAC in the block after the outer pad: it is always the
// same. Nothing changes it.
var OuterPadding = [BlockSize - Size]byte{0: 0x80, BlockSize - Size - 2: 8 * (BlockSize + Size) >> 8}

// A Tail is the end of a message: one block or two.
type Tail [2 * BlockSize]byte

// Write sets the first blocks of t to rest, the last partial block of a message of n bytes, and its
// padding, FIPS 180-4 section 5.1.2. It returns them: one block, or two if the length has no room
// in the first one.
func (t *Tail) Write(rest []byte, n uint64) []byte {
	blocks := t[:BlockSize]
	*(*Buffer)(blocks) = Buffer{}
	if len(rest)+1 > BlockSize-16 {
		blocks = t[:]
		*(*Buffer)(blocks[BlockSize:]) = Buffer{}
	}
	blocks[copy(blocks, rest)] = 0x80
	end := blocks[len(blocks)-16:]
	binary.BigEndian.PutUint64(end, n>>61)
	binary.BigEndian.PutUint64(end[8:], n<<3)
	return blocks
}
