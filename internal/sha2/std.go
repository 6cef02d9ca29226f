// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"io"
	"runtime"
	"unsafe"

	"example.com/fastmac/internal/wipe"
)

// The states that crypto/sha256 and crypto/sha512 marshal: magic, chaining value, block buffer, number
// of bytes hashed. Every implementation of the standard library has them.
const (
	magic256 = "sha\x03"
	magic512 = "sha\x07"

	marshaledSize256 = len(magic256) + Size256 + BlockSize256 + 8
	marshaledSize512 = len(magic512) + Size512 + BlockSize512 + 8
)

// A resumable is a hash of the standard library.
type resumable interface {
	io.Writer
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
	Reset()
}

// marshaled has room for a state of either. Its bytes after the chaining value are those of a hash that has
// hashed whole blocks, how many does not matter.
type marshaled [marshaledSize512]byte

// set sets m to a state. It returns the state, and the part of it that is the chaining value.
func set[W Word](m *marshaled, s *State[W]) (state, value []byte) {
	if wordSize[W]() == 4 {
		copy(m[:], magic256)
		state, value = m[:marshaledSize256], m[len(magic256):][:Size256]
	} else {
		copy(m[:], magic512)
		state, value = m[:marshaledSize512], m[len(magic512):][:Size512]
	}
	s.encode(value)
	return state, value
}

// compressStd is Compress.
func compressStd[W Word](s *State[W], p []byte) {
	wipe.ReserveFrames()
	compressStdOnStack(s, p)
	wipe.Stack()
}

//go:noinline
func compressStdOnStack[W Word](s *State[W], p []byte) {
	var m marshaled
	state, value := set(&m, s)
	writeStd[W](state, p[:len(p)&^(BlockSize[W]()-1)], nil)
	s.decode(value)
}

// sumStd is Sum.
func sumStd[W Word](out []byte, state, outer *State[W], n uint64, p []byte) {
	wipe.ReserveFrames()
	sumStdOnStack(out, state, outer, n, p)
	wipe.Stack()
}

// sumStdOnStack writes the padding itself. The hash's Sum would copy the hash, and check what FIPS
// 140 mode needs.
//
//go:noinline
func sumStdOnStack[W Word](out []byte, state, outer *State[W], n uint64, p []byte) {
	var m marshaled
	var t Tail[W]
	s, value := set(&m, state)
	blocks := len(p) &^ (BlockSize[W]() - 1)
	writeStd[W](s, p[:blocks], t.Write(p[blocks:], n+uint64(len(p))))
	if outer != nil {
		last := t.Write(value[:len(out)], uint64(BlockSize[W]()+len(out)))
		outer.encode(value)
		writeStd[W](s, last, nil)
	}
	copy(out, value)
}

// writeStd adds p and q, whole blocks, to a marshaled state. The hash does not leave the function, so from Go
// 1.26 on the compiler calls its methods directly, and keeps it on the stack, which compressStd and
// sumStd overwrite. Go 1.25 allocates it: so it is reset, and its arguments, which it does not keep,
// are hidden and kept alive.
//
//go:noinline
func writeStd[W Word](state, p, q []byte) {
	if wordSize[W]() == 4 {
		h := sha256.New().(resumable)
		must(h.UnmarshalBinary(hide(state)))
		if len(p) > 0 {
			h.Write(hide(p))
		}
		if len(q) > 0 {
			h.Write(hide(q))
		}
		saved, err := h.AppendBinary(hide(state)[:0])
		mustSave(len(state), saved, err)
		h.Reset()
	} else {
		h := sha512.New().(resumable)
		must(h.UnmarshalBinary(hide(state)))
		if len(p) > 0 {
			h.Write(hide(p))
		}
		if len(q) > 0 {
			h.Write(hide(q))
		}
		saved, err := h.AppendBinary(hide(state)[:0])
		mustSave(len(state), saved, err)
		h.Reset()
	}
	runtime.KeepAlive(state)
	runtime.KeepAlive(p)
	runtime.KeepAlive(q)
}

// hide returns b without its spare capacity. The compiler does not see that it is b, so what b points to
// may be on the stack, which moves only where a function is called, and not where a signal interrupts
// this. The caller keeps b alive. Only the pointer goes through memory: with all three words a CPU waits,
// as it cannot forward several stores to one load.
//
//go:nosplit
func hide(b []byte) []byte {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(b))
}

func must(err error) {
	if err != nil {
		panic("fastmac: " + err.Error())
	}
}

// mustSave panics unless AppendBinary, whose results are b and err, has set as many bytes as
// UnmarshalBinary takes.
func mustSave(size int, b []byte, err error) {
	if must(err); len(b) != size {
		panic("fastmac: the standard library marshals the state of a hash in an unknown format")
	}
}
