// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/aes"
	"encoding/binary"
	"errors"
	"strconv"
)

// tagSize is the size of a UMAC tag in bytes: 4, 8, 12 or 16, and 0 where there is no key.
type tagSize uint8

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
