// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"io"

	"example.com/fastmac/internal/wipe"
)

// The state that crypto/sha512 marshals: magic, chaining value, block buffer,
// number of bytes hashed. Every SHA-512 of the standard library has it.
const (
	marshaledMagic = "sha\x07"
	marshaledSize  = len(marshaledMagic) + Size + BlockSize + 8
)

type marshaled [marshaledSize]byte

// set sets m, which is zero or has been set by AppendBinary after whole blocks, to a chaining
// value. The number of bytes is that of whole blocks then, which is all that counts.
func (m *marshaled) set(state *[8]uint64) {
	copy(m[:], marshaledMagic)
	Encode(m.value(), state)
}

// value is the chaining value.
func (m *marshaled) value() *[Size]byte { return (*[Size]byte)(m[len(marshaledMagic):]) }

// A resumable is a hash of crypto/sha512.
type resumable interface {
	io.Writer
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// mustSave panics unless m has been set by AppendBinary, whose results b and err are.
func (m *marshaled) mustSave(b []byte, err error) {
	if must(err); len(b) != len(m) {
		panic("fastmac: crypto/sha512 marshals its state in an unknown format")
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
	m.set(state)
	h := sha512.New().(resumable)
	must(h.UnmarshalBinary(m[:]))
	h.Write(p[:len(p)&^(BlockSize-1)])
	m.mustSave(h.AppendBinary(m[:0]))
	for i := range state {
		state[i] = binary.BigEndian.Uint64(m.value()[8*i:])
	}
}

// sumStd is Sum.
func sumStd(out *[Size]byte, state, outer *[8]uint64, n uint64, p []byte) {
	wipe.ReserveFrames()
	sumStdOnStack(out, state, outer, n, p)
	wipe.Stack()
}

// sumStdOnStack writes the padding itself. The hash's Sum would copy the hash, and check what FIPS
// 140 mode needs.
//
//go:noinline
func sumStdOnStack(out *[Size]byte, state, outer *[8]uint64, n uint64, p []byte) {
	var m marshaled
	m.set(state)
	h := sha512.New().(resumable)
	must(h.UnmarshalBinary(m[:]))
	n += uint64(len(p))
	if len(p) >= BlockSize {
		blocks := len(p) &^ (BlockSize - 1)
		h.Write(p[:blocks])
		p = p[blocks:]
	}
	var t Tail
	h.Write(t.Write(p, n))
	m.mustSave(h.AppendBinary(m[:0]))
	if outer != nil {
		copy(t[:], m.value()[:])
		copy(t[Size:], OuterPadding[:])
		m.set(outer)
		must(h.UnmarshalBinary(m[:]))
		h.Write(t[:BlockSize])
		m.mustSave(h.AppendBinary(m[:0]))
	}
	*out = *m.value()
}

func must(err error) {
	if err != nil {
		panic("fastmac: " + err.Error())
	}
}
