// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sha2 provides the hash functions of FIPS 180-4 that have SHA-256's or SHA-512's
// compression function, from a chaining value that the caller holds, which the standard library does
// not expose: the compression function, the end of a hash, and the compression of several messages
// side by side.
//
// On amd64 and arm64 it is assembly if the CPU has what that needs; elsewhere it uses crypto/sha256
// and crypto/sha512, whose marshaled states have the chaining value. Its time depends only on the
// number of bytes.
package sha2

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

//go:generate go run -C ../asm ./sha256 -out ../../internal/sha2/sha256_amd64.s
//go:generate go run -C ../asm ./sha512 -out ../../internal/sha2/sha512_amd64.s
//go:generate go run -C ../asm ./neon -out ../../internal/sha2/sha2_arm64.s

// A Word is what a hash computes with: 32 bits for SHA-224 and SHA-256, 64 bits for SHA-384 and
// SHA-512. The compiler makes a copy of each function for each, in which its size is a constant.
type Word interface{ uint32 | uint64 }

// Sizes in bytes for 32-bit and 64-bit words.
const (
	Size256, Size512           = 8 * 4, 8 * 8 // of a whole hash
	BlockSize256, BlockSize512 = 16 * 4, 16 * 8
)

// wordSize returns the size of a word in bytes.
func wordSize[W Word]() int { return int(unsafe.Sizeof(W(0))) }

// Size returns the size of a hash in bytes that has not been cut.
func Size[W Word]() int { return 8 * wordSize[W]() }

// BlockSize returns the size of a block in bytes.
func BlockSize[W Word]() int { return 16 * wordSize[W]() }

// lengthSize returns the size of the length at the end of a message in bytes.
func lengthSize[W Word]() int { return 2 * wordSize[W]() }

// How many blocks assembly compresses in one go: of a message or of two, and in each lane. A goroutine
// cannot be preempted there, and may keep the garbage collector waiting for 50 to 90 microseconds.
const (
	maxRun     = 512
	maxLaneRun = 256

	maxSteps, maxLaneSteps = maxRun / 2, maxLaneRun / 2 // of iterations: a step has two blocks
)

// A State is a chaining value.
type State[W Word] [8]W

// A Block is a block of a message.
type Block[W Word] [16]W

// Bytes returns the bytes of b.
func (b *Block[W]) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b)), len(b)*wordSize[W]())
}

// The initial values, FIPS 180-4 section 5.3.
var (
	Initial224     = State[uint32]{0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4}
	Initial256     = State[uint32]{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}
	Initial384     = State[uint64]{0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}
	Initial512     = State[uint64]{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}
	Initial512_224 = State[uint64]{0x8c3d37c819544da2, 0x73e1996689dcd4d6, 0x1dfab7ae32ff9c82, 0x679dd514582f9fcf, 0x0f6d2b697bd44da8, 0x77e36f7304c48942, 0x3f9d85a86a1d36c8, 0x1112e6ad91d692a1}
	Initial512_256 = State[uint64]{0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd, 0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2}
)

// k512 are the constants of FIPS 180-4 section 4.2.3, which the assembly reads.
var k512 = [80]uint64{
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

// k256 are those of section 4.2.2, the high halves of the first 64.
var k256 = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// Compress compresses the blocks of p into s. Bytes after the last whole block are ignored. The stack
// does not grow in the assembly or in the functions that call it, because a caller may have secrets
// in its variables.
//
//go:nosplit
func (s *State[W]) Compress(p []byte) {
	if !HasAssembly[W]() {
		compressStd(s, p)
		return
	}
	for len(p) >= BlockSize[W]() {
		blocks := min(len(p)/BlockSize[W](), maxRun)
		compress(s, unsafe.SliceData(p), blocks, nil)
		p = p[blocks*BlockSize[W]():]
	}
}

// An end is what makes the last block of a message: a number of words, fewer than 16, which are
// elsewhere, the word after them, zeros, and two words of length. Assembly makes that block in
// registers. Where there is no room for the length, an end without a length makes the last block but
// one.
type end[W Word] struct {
	words int
	tail  W // the bytes after the words and 0x80, little-endian, or 0
	bits  [2]W
	outer *State[W] // chaining value of the outer hash, or nil
}

// The ends of kernels, whose assembly cannot name a generic type.
type (
	end256 end[uint32]
	end512 end[uint64]
)

// Sum sets out to the first bytes of the hash of a message: its first n bytes, whole blocks, are in
// state, and p is the rest. If outer is not nil, it is the chaining value after a block, and out is
// set to the first bytes of the hash of that block and the first hash, which is cut to the size of
// out too. That has at most [Size] bytes, and is a number of words of 4 bytes. out may overlap p.
func Sum[W Word](out []byte, state, outer *State[W], n uint64, p []byte) {
	if !HasAssembly[W]() {
		sumStd(out, state, outer, n, p)
		return
	}
	s := *state
	n += uint64(len(p))
	if len(p) >= BlockSize[W]() {
		s.Compress(p)
		p = p[len(p)&^(BlockSize[W]()-1):]
	}
	whole := len(out) == Size[W]()
	e := end[W]{words: len(p) / wordSize[W](), tail: tail[W](p)}
	if len(p)+1 > BlockSize[W]()-lengthSize[W]() {
		compress(&s, unsafe.SliceData(p), 0, &e)
		e.words, e.tail = 0, 0
	}
	e.bits = bitLength[W](n)
	if whole {
		e.outer = outer
	}
	compress(&s, unsafe.SliceData(p), 0, &e)
	e.tail = 0
	if whole {
		s.encode(out)
	} else {
		if outer != nil {
			s.sumCut(outer, out)
		}
		s.encodeCut(out)
	}
	s = State[W]{} // the hash of a long key, U of PBKDF2, or more than the tag
}

// sumCut sets s, whose first bytes are the inner hash, to the outer one. out has their number, and room for them.
//
//go:nosplit
func (s *State[W]) sumCut(outer *State[W], out []byte) {
	s.encodeCut(out)
	*s = *outer
	e := end[W]{words: len(out) / wordSize[W](), tail: tail[W](out), bits: bitLength[W](uint64(BlockSize[W]() + len(out)))}
	compress(s, unsafe.SliceData(out), 0, &e)
	e.tail = 0
}

// tail returns the bytes of p after the last whole word, and 0x80, little-endian. If p has a word it
// reads the last one: a loop would take longer where messages have different lengths.
func tail[W Word](p []byte) W {
	n := wordSize[W]()
	rest := 8 * (len(p) % n)
	if len(p) >= n {
		last := p[len(p)-n:]
		if n == 4 {
			return W(0x80)<<rest | W(binary.LittleEndian.Uint32(last))>>(32-rest)
		}
		return W(0x80)<<rest | W(binary.LittleEndian.Uint64(last))>>(64-rest)
	}
	tail := W(0x80)
	for i := len(p) - 1; i >= 0; i-- {
		tail = tail<<8 | W(p[i])
	}
	return tail
}

// bitLength returns the number of bits of a message of n bytes as two words.
func bitLength[W Word](n uint64) [2]W {
	return [2]W{W(n >> (8*wordSize[W]() - 3)), W(n << 3)}
}

// encode sets out to the whole of s in big-endian bytes. A loop would take 1 % of a short message's
// HMAC.
//
//go:nosplit
func (s *State[W]) encode(out []byte) {
	if wordSize[W]() == 4 {
		out := (*[Size256]byte)(out)
		binary.LittleEndian.PutUint64(out[0:], reversed(s[0], s[1]))
		binary.LittleEndian.PutUint64(out[8:], reversed(s[2], s[3]))
		binary.LittleEndian.PutUint64(out[16:], reversed(s[4], s[5]))
		binary.LittleEndian.PutUint64(out[24:], reversed(s[6], s[7]))
		return
	}
	{
		out := (*[Size512]byte)(out)
		binary.BigEndian.PutUint64(out[0:], uint64(s[0]))
		binary.BigEndian.PutUint64(out[8:], uint64(s[1]))
		binary.BigEndian.PutUint64(out[16:], uint64(s[2]))
		binary.BigEndian.PutUint64(out[24:], uint64(s[3]))
		binary.BigEndian.PutUint64(out[32:], uint64(s[4]))
		binary.BigEndian.PutUint64(out[40:], uint64(s[5]))
		binary.BigEndian.PutUint64(out[48:], uint64(s[6]))
		binary.BigEndian.PutUint64(out[56:], uint64(s[7]))
	}
}

// reversed returns two words of 32 bits with the bytes of each in the other order, the first one in the
// lower half.
func reversed[W Word](first, second W) uint64 {
	return bits.RotateLeft64(bits.ReverseBytes64(uint64(first)|uint64(second)<<32), 32)
}

// encodeCut sets out, a number of words of 4 bytes, to the first bytes of s.
//
//go:nosplit
func (s *State[W]) encodeCut(out []byte) {
	for _, word := range s {
		if out = putCut(out, word); len(out) == 0 {
			return
		}
	}
}

// putCut sets the beginning of out to a word, or to its first half if there is room for no more. It
// returns the rest of out.
//
//go:nosplit
func putCut[W Word](out []byte, word W) []byte {
	switch {
	case wordSize[W]() == 4:
		binary.BigEndian.PutUint32(out, uint32(word))
		return out[4:]
	case len(out) >= 8:
		binary.BigEndian.PutUint64(out, uint64(word))
		return out[8:]
	default:
		binary.BigEndian.PutUint32(out, uint32(uint64(word)>>32))
		return out[4:]
	}
}

// decode sets s to a whole hash in big-endian bytes.
func (s *State[W]) decode(hash []byte) {
	for i := range s {
		if wordSize[W]() == 4 {
			s[i] = W(binary.BigEndian.Uint32(hash[4*i:]))
		} else {
			s[i] = W(binary.BigEndian.Uint64(hash[8*i:]))
		}
	}
}

// A Tail is the end of a message: one block or two.
type Tail[W Word] [2]Block[W]

// Write sets the first blocks of t to rest, the last partial block of a message of n bytes, and its
// padding, FIPS 180-4 section 5.1. It returns them: one block, or two if the length has no room in
// the first one.
func (t *Tail[W]) Write(rest []byte, n uint64) []byte {
	t[0] = Block[W]{}
	blocks := t[0].Bytes()
	if len(rest)+1 > len(blocks)-lengthSize[W]() {
		t[1] = Block[W]{}
		blocks = unsafe.Slice((*byte)(unsafe.Pointer(t)), 2*len(blocks))
	}
	blocks[copy(blocks, rest)] = 0x80
	end := blocks[len(blocks)-lengthSize[W]():]
	if wordSize[W]() == 8 {
		binary.BigEndian.PutUint64(end, n>>61)
		end = end[8:]
	}
	binary.BigEndian.PutUint64(end, n<<3)
	return blocks
}
