// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"unsafe"

	"example.com/fastmac/internal/aes"
)

// The pad derivation function PDF, RFC 4418 section 3.3: AES of the nonce,
// zero-padded to a block. A tag of 4 or 8 bytes uses one of four or two parts of that
// block, which the low bits of the nonce select, so that four or two nonces in a row
// share a block.

// A pad is what a tag is xored with, as two little-endian words. Bytes beyond the
// size of the tag are ignored.
type pad struct{ first, second uint64 }

// setTagSize makes k the key of PDF for tags of this size.
func (k *aesKey) setTagSize(size tagSize) {
	k.tagSize, k.partBits = size, size.partBits()
	k.firstPart = 8 - 2<<k.partBits // 0, 4 and 6
}

// partBytes lists the bytes of a block that belong to each part: the four parts for tags
// of 4 bytes, the two for tags of 8 bytes, and twice the whole block. 255 is no byte.
var partBytes = [8][aes.BlockSize]byte{
	{0, 1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
	{4, 5, 6, 7, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
	{8, 9, 10, 11, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
	{12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
	{0, 1, 2, 3, 4, 5, 6, 7, 255, 255, 255, 255, 255, 255, 255, 255},
	{8, 9, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
}

func isNonce(nonce []byte) bool { return 1 <= len(nonce) && len(nonce) <= aes.BlockSize }

func mustNonce(nonce []byte) {
	if !isNonce(nonce) {
		panic("fastmac: UMAC nonce of " + strconv.Itoa(len(nonce)) + " bytes: want 1 to 16")
	}
}

// pad returns the pad for a nonce.
func (k *aesKey) pad(nonce []byte) pad {
	// The nonce is in words and not in memory, where a load that spans two recent stores would have to wait for
	// both. last is its last 8 bytes, or all bytes after zeros.
	var last uint64
	n := len(nonce)
	if n >= 8 {
		last = nonceWord(nonce[n-8:])
	} else {
		for _, b := range nonce {
			last = last>>8 | uint64(b)<<56
		}
	}
	part := uint64(nonce[n-1]) & (1<<(k.partBits&63) - 1)
	last ^= part << 56
	first, second := last, uint64(0)
	switch {
	case n > 8:
		first, second = nonceWord(nonce), last>>(8*(16-n)&63)
	case n < 8:
		first >>= 8 * (8 - n) & 63
	}
	if aes.InUse() {
		// The block has the pads of other nonces too: they are never in memory.
		first, second = k.schedule.EncryptWords(int(k.rounds), first, second, &partBytes[(uint64(k.firstPart)+part)&7])
		return pad{first, second}
	}
	var block [aes.BlockSize]byte
	binary.LittleEndian.PutUint64(block[:], first)
	binary.LittleEndian.PutUint64(block[8:], second)
	k.encrypt(block[:])
	x := k.tagSize.part(&block, part)
	clear(block[:])
	return x
}

// nonceWord returns the first 8 bytes of p as a little-endian word. Of a nonce, 8 or 4 bytes have often just been
// stored, and a load that has other bytes too waits for the store. So there are two loads of 4 bytes, joined by a
// rotation and xor: of shift and or the compiler makes one load.
func nonceWord(p []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(p)) ^ bits.RotateLeft64(uint64(binary.LittleEndian.Uint32(p[4:])), 32)
}

// pads are the blocks that a stream has encrypted ahead. Nonces usually come in
// order, and several blocks at once take little longer than one.
//
// They are for the nonces that begin with prefix and have number, number+1, … in their
// last 8 bytes, above the bits that select a part. The block of a number is
// blocks[number%padsAhead], so its address depends on the nonce only, and the CPU can load
// it early. All other blocks are zeros: each is wiped when its last nonce has been used.
type pads struct {
	number    uint64
	count     uint32 // of blocks
	nonceSize uint32
	prefix    [8]byte
	blocks    [padsAhead][aes.BlockSize]byte
}

const padsAhead = 8

// pad returns the pad for a nonce, as aesKey.pad does. Nothing is encrypted ahead where a kernel
// takes the nonce, for short messages: it hides the time of AES.
func (s *pads) pad(k *aesKey, nonce []byte) pad {
	if len(nonce) < 8 || !aes.InUse() || hasTagNonce() {
		return k.pad(nonce)
	}
	prefix := nonce[:len(nonce)-8]
	number, part := k.tagSize.split(binary.BigEndian.Uint64(nonce[len(nonce)-8:]))

	ahead := number - s.number // wraps around for an earlier nonce
	known := int(s.nonceSize) == len(nonce) && (len(prefix) == 0 || string(s.prefix[:len(prefix)]) == string(prefix))
	if !known || ahead >= uint64(s.count) {
		s.fill(k, nonce, number, known && ahead == uint64(s.count))
	} else {
		for range ahead {
			s.drop()
		}
	}
	x := k.tagSize.part(&s.blocks[number%padsAhead], part)
	if part+1 == 1<<(k.partBits&63) {
		s.drop()
	}
	return x
}

// fill encrypts the block of the nonce, and those of the next ones if the nonces
// come in order.
func (s *pads) fill(k *aesKey, nonce []byte, number uint64, inOrder bool) {
	var block [aes.BlockSize]byte
	n := len(nonce) - 8
	copy(block[:], nonce[:n])
	s.number, s.nonceSize = number, uint32(len(nonce))
	copy(s.prefix[:], block[:n])
	if !inOrder {
		binary.BigEndian.PutUint64(block[n:], number<<k.partBits)
		s.blocks, s.count = [padsAhead][aes.BlockSize]byte{}, 1
		b := &s.blocks[number%padsAhead]
		*b = block
		k.encrypt(b[:])
		return
	}
	// If the numbers wrap around, the blocks after that are correct or never used.
	s.count = padsAhead
	for i := range uint64(padsAhead) {
		b := &s.blocks[(number+i)%padsAhead]
		*b = block
		binary.BigEndian.PutUint64(b[n:], (number+i)<<k.partBits)
	}
	k.encrypt(s.bytes())
}

// bytes returns the storage of all blocks.
func (s *pads) bytes() []byte {
	return (*[padsAhead * aes.BlockSize]byte)(unsafe.Pointer(&s.blocks))[:]
}

// drop wipes the next block.
func (s *pads) drop() {
	s.blocks[s.number%padsAhead] = [aes.BlockSize]byte{}
	s.number++
	s.count--
}

// tagSize is the size of a UMAC tag in bytes: 4, 8, 12 or 16, and 0 where there is no key.
type tagSize uint8

// maxUMACTagSize is the size of the longest tag, 4 bytes for each iteration.
const maxUMACTagSize = 4 * maxIterations

// newTagSize returns a tagSize of so many bytes, or an error.
func newTagSize(size int) (tagSize, error) {
	switch size {
	case 4, 8, 12, 16:
		return tagSize(size), nil
	}
	return 0, errors.New("fastmac: UMAC tag size of " + strconv.Itoa(size) + " bytes: want 4, 8, 12 or 16")
}

// String returns what keys and streams print of it.
func (s tagSize) String() string {
	if s == 0 {
		return "no key"
	}
	return strconv.Itoa(8*int(s)) + "-bit tag"
}

// iterations returns how often UHASH runs its layers for a tag.
func (s tagSize) iterations() int { return int(s) / 4 }

// partBits returns the number of low bits of a nonce that select the part of an encrypted
// block that is its pad. Only tags of 4 and of 8 bytes have several parts in a block.
func (s tagSize) partBits() uint8 {
	switch s {
	case 4:
		return 2
	case 8:
		return 1
	}
	return 0
}

// split returns the number of the block with the pad of a nonce, and the part, from the
// last 8 bytes of the nonce. With branches, which the CPU predicts, the number does not wait
// for the size to be loaded.
func (s tagSize) split(nonce uint64) (number, part uint64) {
	switch s {
	case 4:
		return nonce >> 2, nonce & 3
	case 8:
		return nonce >> 1, nonce & 1
	}
	return nonce, 0
}

// part returns the pad in one part of an encrypted block. It does not read other parts.
func (s tagSize) part(block *[aes.BlockSize]byte, part uint64) pad {
	switch s {
	case 4:
		return pad{first: uint64(binary.LittleEndian.Uint32(block[4*(part&3):]))}
	case 8:
		return pad{first: binary.LittleEndian.Uint64(block[8*(part&1):])}
	}
	return pad{binary.LittleEndian.Uint64(block[:]), binary.LittleEndian.Uint64(block[8:])}
}

// A copy of a known size compiles to a few instructions, another one to a call. So these
// have one for each size.

// append appends tag, whose other bytes are ignored, to dst.
func (s tagSize) append(dst []byte, tag *[maxUMACTagSize]byte) []byte {
	switch s {
	case 4:
		return append(dst, tag[:4]...)
	case 8:
		return append(dst, tag[:8]...)
	case 12:
		return append(dst, tag[:12]...)
	}
	return append(dst, tag[:]...)
}

// copyTag sets dst, which has the size of a tag, to tag.
func copyTag(dst []byte, tag *[maxUMACTagSize]byte) {
	switch len(dst) {
	case 4:
		*(*[4]byte)(dst) = [4]byte(tag[:])
	case 8:
		*(*[8]byte)(dst) = [8]byte(tag[:])
	case 12:
		*(*[12]byte)(dst) = [12]byte(tag[:])
	default:
		*(*[16]byte)(dst) = *tag
	}
}

// equal reports whether tag is the beginning of want, and of this size. Its time depends only
// on the sizes. It compares two words, which may overlap.
func (s tagSize) equal(tag []byte, want *[maxUMACTagSize]byte) bool {
	if len(tag) != int(s) {
		return false
	}
	var diff uint64
	if len(tag) >= 8 {
		diff = binary.LittleEndian.Uint64(tag) ^ binary.LittleEndian.Uint64(want[:])
		diff |= binary.LittleEndian.Uint64(tag[len(tag)-8:]) ^ binary.LittleEndian.Uint64(want[len(tag)-8:])
	} else {
		diff = uint64(binary.LittleEndian.Uint32(tag) ^ binary.LittleEndian.Uint32(want[:]))
	}
	return diff == 0
}
