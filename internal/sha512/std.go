// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"hash"
)

// The state that crypto/sha512 marshals: magic, chaining value, block buffer,
// number of bytes hashed. Every SHA-512 of the standard library has it.
const (
	marshaledMagic = "sha\x07"
	marshaledSize  = len(marshaledMagic) + Size + BlockSize + 8
)

type marshaled [marshaledSize]byte

// write sets m to a chaining value and the n bytes, whole blocks, that are in it.
func (m *marshaled) write(state *[8]uint64, n uint64) {
	copy(m[:], marshaledMagic)
	Encode((*[Size]byte)(m[len(marshaledMagic):]), state)
	clear(m[len(marshaledMagic)+Size:])
	binary.BigEndian.PutUint64(m[marshaledSize-8:], n)
}

// read sets state to the chaining value.
func (m *marshaled) read(state *[8]uint64) {
	for i := range state {
		state[i] = binary.BigEndian.Uint64(m[len(marshaledMagic)+8*i:])
	}
}

// In blockStd and sumStd the hash does not leave the function, so the compiler calls
// its methods directly, and keeps both it and m on the stack.

// blockStd is Block.
func blockStd(state *[8]uint64, p []byte) {
	var m marshaled
	m.write(state, 0)
	h := sha512.New()
	must(h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m[:]))
	h.Write(p[:len(p)&^(BlockSize-1)])
	b, err := h.(encoding.BinaryAppender).AppendBinary(m[:0])
	if must(err); len(b) != len(m) {
		panic("fastmac: crypto/sha512 marshals its state in an unknown format")
	}
	m.read(state)
	clear(m[:])
}

// sumStd is Sum.
func sumStd(out *[Size]byte, state *[8]uint64, n uint64, p []byte) {
	var m marshaled
	m.write(state, n)
	h := sha512.New()
	must(h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m[:]))
	clear(m[:])
	h.Write(p)
	h.Sum(out[:0])
}

func must(err error) {
	if err != nil {
		panic("fastmac: " + err.Error())
	}
}

// stdDigest is a Digest.
type stdDigest struct {
	h hash.Hash

	// What is handed to h, an interface, is on the heap: here. It is zeros
	// between calls.
	marshaled marshaled
}

func newStdDigest() *stdDigest { return &stdDigest{h: sha512.New()} }

func (d *stdDigest) reset(state *[8]uint64, n uint64) {
	d.marshaled.write(state, n)
	must(d.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(d.marshaled[:]))
	clear(d.marshaled[:])
}

func (d *stdDigest) sum(out *[Size]byte) {
	copy(out[:], d.h.Sum(d.marshaled[:0]))
	clear(d.marshaled[:])
}

func (d *stdDigest) clone() *stdDigest {
	c := newStdDigest()
	state, err := d.h.(encoding.BinaryAppender).AppendBinary(d.marshaled[:0])
	must(err)
	must(c.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state))
	clear(d.marshaled[:])
	return c
}

// Wipe overwrites what it can reach of a crypto/sha512 hash, or of an HMAC with it,
// and resets it. Of an HMAC these are the bytes of the message; the key stays.
func Wipe(h hash.Hash) {
	// Zeros, in two parts so that they are buffered, replace the last bytes of
	// the message; Reset replaces the chaining value.
	zeros := make([]byte, BlockSize)
	h.Reset()
	h.Write(zeros[:1])
	h.Write(zeros[1:])
	h.Reset()
}
