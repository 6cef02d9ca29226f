// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package sha1 computes HMAC-SHA-1, RFC 2104, and the iterations of PBKDF2 with it. The compression function is
// that of crypto/sha1, which has it in assembly, and no way to it but a hash: so this package sets and reads
// chaining values as marshaled states of a hash, and writes the padding itself. For PBKDF2 on amd64 there is assembly
// with the SHA instructions, which makes two blocks side by side.
package sha1

import (
	"crypto"
	"crypto/sha1"
	"encoding"
	"encoding/binary"
	"hash"

	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// Hash is SHA-1. It is not in the list of package sha2, because HMAC of the root package is without it.
var Hash = &sha2.Hash{ID: crypto.SHA1, Size: Size, New: sha1.New}

// Sizes in bytes.
const (
	Size      = sha1.Size
	BlockSize = sha1.BlockSize
)

// A state is that of a hash of whole blocks, as it is marshaled: magic, chaining value, the bytes of a block
// that is not complete, number of bytes. Every implementation of the standard library has it.
type state [len(magic) + Size + BlockSize + 8]byte

const magic = "sha\x01"

// value returns the chaining value.
func (s *state) value() []byte { return s[len(magic):][:Size] }

// A resumable is a hash of crypto/sha1.
type resumable interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// An HMAC is a stream. It implements [hash.Hash] and [hash.Cloner]. All its secrets are where wipe.Value reaches
// them, and wipe.Clone those of a clone. If that is while it computes, the result is wrong, and it does not panic.
type HMAC struct {
	key  []state // after the inner and the outer pad: room, or that of the HMAC it was cloned from
	room [2]state

	hash  resumable // which has only seen whole blocks
	ahead bool      // it is that of the message
	begun state     // of the message, if it has a block and hash is not ahead

	n     uint64          // bytes of the inner hash, with the inner pad
	block [BlockSize]byte // its last n modulo BlockSize bytes
	last  [BlockSize]byte // of the inner hash if its length is not in block, and of the outer hash
	sum   state           // after last: a tag
}

// New returns a stream with that key.
func New(key []byte) *HMAC {
	m := new(HMAC)
	m.setKey(key)
	return m
}

func (m *HMAC) setKey(key []byte) {
	m.key, m.hash = m.room[:], sha1.New().(resumable)
	if len(key) <= BlockSize {
		copy(m.block[:], key)
	} else {
		wipe.ReserveFrames()
		m.hash.Write(key)
		m.hash.Sum(m.block[:0])
		m.hash.Reset()
		wipe.Stack()
	}
	wipe.ReserveShort()
	m.addToBlock(innerPad)
	m.hash.Write(m.block[:])
	save(m.hash, &m.key[0])
	m.hash.Reset()
	m.addToBlock(innerPad ^ outerPad)
	m.hash.Write(m.block[:])
	save(m.hash, &m.key[1])
	m.Reset()
	wipe.Short()
}

// The words that are added to the key, RFC 2104 section 2.
const (
	innerPad = 0x3636363636363636
	outerPad = 0x5c5c5c5c5c5c5c5c
)

func (m *HMAC) addToBlock(word uint64) {
	for i := 0; i < BlockSize; i += 8 {
		binary.NativeEndian.PutUint64(m.block[i:], binary.NativeEndian.Uint64(m.block[i:])^word)
	}
}

// save sets s to the state of h.
func save(h resumable, s *state) {
	if b, err := h.AppendBinary(s[:0]); err != nil || len(b) != len(s) {
		panic("fastmac: crypto/sha1 marshals the state of a hash in an unknown format")
	}
}

// load sets h to a state. It does not fail, because that was saved, or has been wiped meanwhile.
func load(h resumable, s *state) { h.UnmarshalBinary(s[:]) }

// loadMessage makes hash that of the message.
func (m *HMAC) loadMessage() {
	switch {
	case m.ahead:
	case m.n < 2*BlockSize:
		load(m.hash, &m.key[0])
	default:
		load(m.hash, &m.begun)
	}
}

// saveMessage lets hash be used for something else.
func (m *HMAC) saveMessage() {
	if m.ahead {
		save(m.hash, &m.begun)
		m.ahead = false
	}
}

// Size returns the size of a tag in bytes.
func (m *HMAC) Size() int { return Size }

// BlockSize returns the size of a block in bytes.
func (m *HMAC) BlockSize() int { return BlockSize }

// Reset begins a new message.
func (m *HMAC) Reset() {
	m.n, m.ahead = BlockSize, false
	m.block = [BlockSize]byte{}
}

// Write adds p to the message. It never fails.
func (m *HMAC) Write(p []byte) (int, error) {
	n, used := len(p), int(m.n%BlockSize)
	if n < BlockSize-used {
		m.n += uint64(n)
		copy(m.block[used:], p)
		return n, nil
	}
	large := largeFrame(n)
	if large {
		wipe.ReserveFrames()
	} else {
		wipe.ReserveShort()
	}
	m.loadMessage()
	m.ahead = true
	m.n += uint64(n)
	if used > 0 {
		p = p[copy(m.block[used:], p):]
		m.hash.Write(m.block[:])
	}
	if whole := len(p) &^ (BlockSize - 1); whole > 0 {
		m.hash.Write(p[:whole])
		p = p[whole:]
	}
	copy(m.block[:], p)
	if large {
		wipe.Stack()
	} else {
		wipe.Short() // crypto/sha1's assembly stores the chaining value
	}
	return n, nil
}

// Sum appends the tag to b. The message stays.
func (m *HMAC) Sum(b []byte) []byte {
	wipe.ReserveShort()
	m.loadMessage()
	m.saveMessage()
	used, block := m.n%BlockSize, &m.block // after the first used bytes it may change
	block[used] = 0x80
	clear(block[used+1:])
	if used >= BlockSize-8 {
		m.hash.Write(block[:])
		m.last = [BlockSize]byte{}
		block = &m.last
	}
	binary.BigEndian.PutUint64(block[BlockSize-8:], 8*m.n)
	m.hash.Write(block[:])
	save(m.hash, &m.sum)
	m.hashSum()
	load(m.hash, &m.key[1])
	m.hash.Write(m.last[:])
	save(m.hash, &m.sum)
	wipe.Short()
	return append(b, m.sum.value()...)
}

// hashSum makes sum the last block of a message that is a block longer.
func (m *HMAC) hashSum() {
	clear(m.last[copy(m.last[:], m.sum.value()):])
	m.last[Size] = 0x80
	binary.BigEndian.PutUint64(m.last[BlockSize-8:], 8*(BlockSize+Size))
}

// Clone returns a copy of m, which shares the key.
func (m *HMAC) Clone() (hash.Cloner, error) {
	m.saveMessage()
	c := &HMAC{key: m.key, hash: sha1.New().(resumable), n: m.n}
	c.begun = m.begun // a tuple assignment would copy it to the stack
	c.block = m.block
	return c, nil
}
