// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//lint:file-ignore U1000 nh_amd64.s jumps to the portable kernels

package fastmac

import (
	"encoding/binary"
	"math/bits"

	"example.com/fastmac/internal/wipe"
)

// The kernels of UHASH keep these contracts on every architecture; the portable ones are the
// reference. They read nothing outside p. Behind nhAdd, tagOnly and tagNext of amd64 the kernels for AVX-512
// take only four groups or more: these functions jump there for long messages alone.
//
// Only the first k.n iterations are defined: words 0 to k.n-1 of y, of words and of the
// sums in s, and the first 4*k.n bytes of a tag. A kernel may compute more iterations, with
// whatever is in the key, and write the rest of these: it is meaningless. The rest of a tag
// must not reach a caller of the package: it may be the rest of a pad.
//
//	nhPoly(y, k, p)        runs POLY-64 from the values y over the L1 words of whole
//	                       blocks, at least one.
//	nhPoly128(y, k, p)     runs POLY-128 from the values y over the L1 words of whole
//	                       pairs of blocks, at least one.
//	nhBlocks(words, k, p)  sets words to the L1 words of as many whole blocks, at
//	                       least one.
//	nhAdd(s, k, p)         adds whole groups, at least one, to the block in s, which
//	                       has room for them.
//	fill(group, p)         sets group to p, less than a group, zero-padded.
//	nhNext(y, s, group, k, p)
//	                       ends the block in s with the first bytes of p, at least a
//	                       group, unless it is full, and runs a step of POLY-64 from the
//	                       values y over its words. It sets s to the whole groups of the
//	                       rest of p, which is less than a block, and group to what is
//	                       after them, zero-padded.
//	tagOnly(tag, k, l1, rest, length, x)
//	                       sets tag to the hash, xor the pad, of a message of at most
//	                       one block: the groups in l1 and then rest. length is its
//	                       size in bytes, without the zero padding at the end of rest.
//	                       l1 does not change.
//	tagNext(tag, k, y, l1, rest, length, x)
//	                       is tagOnly for the last block of a message whose other
//	                       blocks are in y, the values of POLY-64. y does not change.
//	tagTwo(tag, k, msg, x) sets tag to the hash, xor the pad, of a message of more than one
//	                       and up to two blocks.
//	tagWords(tag, k, words, x)
//	                       sets tag to L3-HASH of words, xor the pad.
//
// Four more begin with AES, or follow it:
//
//	deriveL1(k, kdf)       sets k to the L1 key, from the key of KDF.
//	padEach(tags, k, batch)
//	                       sets the first tags to the pads of messages, 1 to umacLanes, under
//	                       their nonces. It returns whether a kernel did: other functions
//	                       leave pads in their stack frames.
//	tagNonce(tag, k, l1, rest, length, nonce)
//	                       is tagOnly with the pad for a nonce of 1 to 16 bytes. The message
//	                       may have up to two blocks if l1 has no groups. It is called if
//	                       hasTagNonce, which is whether there is a kernel: one that hides the
//	                       time of AES.
//	tagShort(tags, k, batch)
//	                       sets the first tags to those of messages, one at least, each of up
//	                       to shortBytes() bytes: -1 if there is no kernel. The others do not
//	                       change. If padsFirst, for a batch of that many messages, the tags
//	                       have the pads before.

func nhPolyGeneric(y *[maxIterations]uint128, k *uhashKey, p []byte) {
	var words l1Words
	for ; len(p) >= l1Block; p = p[l1Block:] {
		nhBlockGeneric(&words, k, p[:l1Block])
		for i := range words[:k.n] {
			y[i].lo = poly64(y[i].lo, k.l2[i].k64, words[i])
		}
	}
	words = l1Words{}
}

func nhBlocksGeneric(words []l1Words, k *uhashKey, p []byte) {
	for i := range words {
		nhBlockGeneric(&words[i], k, p[i*l1Block:][:l1Block])
	}
}

func nhBlockGeneric(words *l1Words, k *uhashKey, p []byte) {
	*words = l1Words{}
	nh(words, &k.l1, 0, p, k.n)
	words.addLength(l1Block)
}

func nhAddGeneric(s *l1State, k *uhashKey, p []byte) {
	nh(&s.sums, &k.l1, s.bytes/l1Group, p, k.n)
	s.bytes += len(p)
}

func nhNextGeneric(y *[maxIterations]uint128, s *l1State, group *[l1Group]byte, k *uhashKey, p []byte) {
	if room := l1Block - s.bytes; room > 0 {
		nhAddGeneric(s, k, p[:room])
		p = p[room:]
	}
	s.step64(y, k)
	whole := len(p) &^ (l1Group - 1)
	nhAddGeneric(s, k, p[:whole])
	fillGeneric(group, p[whole:])
}

// step64 runs a step of POLY-64 from the values y over the words of the full block in s, and
// begins the next block.
func (s *l1State) step64(y *[maxIterations]uint128, k *uhashKey) {
	s.sums.addLength(l1Block)
	for i, word := range s.sums[:k.n] {
		y[i].lo = poly64(y[i].lo, k.l2[i].k64, word)
	}
	s.sums, s.bytes = l1Words{}, 0
}

func fillGeneric(group *[l1Group]byte, p []byte) {
	clear(group[copy(group[:], p):])
}

// xor sets tag to the words h, big-endian, of n iterations, xor the pad. What is beyond
// them is meaningless.
func (x pad) xor(tag *[maxUMACTagSize]byte, h *[maxIterations]uint32, n int) {
	// In words of 8 bytes: the caller copies the tag, and a load that spans two
	// recent stores has to wait for both.
	binary.LittleEndian.PutUint64(tag[:], bits.ReverseBytes64(uint64(h[0])<<32|uint64(h[1]))^x.first)
	if n > 2 {
		binary.LittleEndian.PutUint64(tag[8:], bits.ReverseBytes64(uint64(h[2])<<32|uint64(h[3]))^x.second)
	}
}

// lastWordsGeneric sets words to the L1 words of the last block. l1, rest and length are as
// for tagOnly.
func lastWordsGeneric(words *l1Words, k *uhashKey, l1 *l1State, rest []byte, length uint64) {
	// Field by field: a copy of the whole has a load that waits for two stores.
	var s l1State
	s.sums = l1.sums
	s.bytes = l1.bytes
	whole := len(rest) &^ (l1Group - 1)
	if whole > 0 {
		nhAddGeneric(&s, k, rest[:whole])
	}
	if whole < len(rest) || s.bytes == 0 {
		var group [l1Group]byte
		fillGeneric(&group, rest[whole:])
		nhAddGeneric(&s, k, group[:])
		clear(group[:])
	}
	for i, sum := range s.sums[:k.n] {
		words[i] = sum + 8*length
	}
}

func tagOnlyGeneric(tag *[maxUMACTagSize]byte, k *uhashKey, l1 *l1State, rest []byte, length uint64, x pad) {
	wipe.ReserveKernels()
	var words l1Words
	lastWordsGeneric(&words, k, l1, rest, length)
	tagWordsGeneric(tag, k, &words, x)
	words = l1Words{}
}

func tagNextGeneric(tag *[maxUMACTagSize]byte, k *uhashKey, y *[maxIterations]uint128, l1 *l1State, rest []byte, length uint64, x pad) {
	wipe.ReserveKernels()
	var words l1Words
	lastWordsGeneric(&words, k, l1, rest, length)
	for i := range words[:k.n] {
		words[i] = reduce64(poly64(y[i].lo, k.l2[i].k64, words[i]))
	}
	tagWordsGeneric(tag, k, &words, x)
	words = l1Words{}
}

func tagTwoGeneric(tag *[maxUMACTagSize]byte, k *uhashKey, msg []byte, x pad) {
	wipe.ReserveFrames()
	y := [maxIterations]uint128{{lo: 1}, {lo: 1}, {lo: 1}, {lo: 1}}
	nhPolyGeneric(&y, k, msg[:l1Block])
	tagNextGeneric(tag, k, &y, &noGroups, msg[l1Block:], uint64(len(msg)-l1Block), x)
	y = [maxIterations]uint128{}
}

func tagWordsGeneric(tag *[maxUMACTagSize]byte, k *uhashKey, words *l1Words, x pad) {
	var h [maxIterations]uint32
	for i := range h[:k.n] {
		h[i] = k.l3Short(i, words[i])
	}
	x.xor(tag, &h, k.n)
}
