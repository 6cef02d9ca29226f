// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"crypto/sha512"
	"encoding"
	"encoding/binary"

	"example.com/fastmac/internal/wipe"
)

// The state that crypto/sha512 marshals: magic, chaining value, block buffer,
// number of bytes hashed. Every SHA-512 of the standard library has it.
const (
	marshaledMagic = "sha\x07"
	marshaledSize  = len(marshaledMagic) + Size + BlockSize + 8
)

type marshaled [marshaledSize]byte

// write sets m to a chaining value, and to n, the number of bytes in it, whole blocks.
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

// In blockStdOnStack and sumStdOnStack the hash does not leave the function, so the
// compiler calls its methods directly, and keeps it and m on the stack. blockStd and
// sumStd overwrite that part of the stack at the end.

// blockStd is Block.
func blockStd(state *[8]uint64, p []byte) {
	wipe.ReserveFrames()
	blockStdOnStack(state, p)
	wipe.Stack()
}

//go:noinline
func blockStdOnStack(state *[8]uint64, p []byte) {
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
}

// sumStd is Sum.
func sumStd(out *[Size]byte, state *[8]uint64, n uint64, p []byte) {
	wipe.ReserveFrames()
	sumStdOnStack(out, state, n, p)
	wipe.Stack()
}

//go:noinline
func sumStdOnStack(out *[Size]byte, state *[8]uint64, n uint64, p []byte) {
	var m marshaled
	m.write(state, n)
	h := sha512.New()
	must(h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m[:]))
	h.Write(p)
	h.Sum(out[:0])
}

func must(err error) {
	if err != nil {
		panic("fastmac: " + err.Error())
	}
}
