// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
)

// hmacSHA512KeyName and hmacSHA512Name are to HMAC what umacKeyName and umacName
// are to UMAC.
type (
	hmacSHA512KeyName struct{}
	hmacSHA512Name    struct{}
)

func (n hmacSHA512KeyName) String() string               { return "fastmac.HMACSHA512Key(512-bit tag)" }
func (n hmacSHA512KeyName) Format(s fmt.State, _ rune)   { io.WriteString(s, n.String()) }
func (n hmacSHA512KeyName) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func (n hmacSHA512Name) String() string               { return "fastmac.HMACSHA512(512-bit tag)" }
func (n hmacSHA512Name) Format(s fmt.State, _ rune)   { io.WriteString(s, n.String()) }
func (n hmacSHA512Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// midstate is a SHA-512 chaining value after one block, big-endian.
type midstate [sha512.Size]byte

// HMACSHA512Key is an expanded key for HMAC-SHA-512, RFC 2104 and FIPS 198-1: the
// two midstates that follow the inner and the outer pad, 128 bytes.
//
// After set-up it does not change; until [HMACSHA512Key.Destroy] it is safe for
// concurrent use. It must not be copied: a copy is out of Destroy's reach. All
// its methods but Init, Destroy and those that print its name panic if the key was
// never set up or has been destroyed.
type HMACSHA512Key struct {
	hmacSHA512KeyName
	_ noCopy

	inner, outer midstate
}

// NewHMACSHA512Key expands a key of any length, none included. RFC 2104 section 3
// advises at least 64 bytes; longer than 128 bytes are hashed first. key is not
// retained.
func NewHMACSHA512Key(key []byte) *HMACSHA512Key {
	k := new(HMACSHA512Key)
	k.Init(key)
	return k
}

// Init is [NewHMACSHA512Key] into storage that the caller has placed. It replaces
// a former key, whose streams must no longer be in use.
func (k *HMACSHA512Key) Init(key []byte) {
	const innerPad, outerPad = 0x36, 0x5c

	var long [sha512.Size]byte
	if len(key) > sha512.BlockSize {
		long = sha512.Sum512(key)
		key = long[:]
	}
	// One buffer serves as both pads.
	var pad [sha512.BlockSize]byte
	for i := range pad {
		pad[i] = innerPad
	}
	subtle.XORBytes(pad[:], pad[:], key)
	k.inner = newMidstate(&pad)
	for i := range pad {
		pad[i] ^= innerPad ^ outerPad
	}
	k.outer = newMidstate(&pad)
	clear(pad[:])
	clear(long[:])
}

// newMidstate returns the chaining value after one block.
func newMidstate(block *[sha512.BlockSize]byte) (m midstate) {
	h := sha512.New()
	h.Write(block[:])
	var buf [marshaledSize]byte
	state, err := h.(encoding.BinaryAppender).AppendBinary(buf[:0])
	if err != nil || len(state) != marshaledSize || string(state[:len(marshaledMagic)]) != marshaledMagic {
		panic("fastmac: crypto/sha512 marshals its state in an unknown format")
	}
	copy(m[:], state[len(marshaledMagic):])
	clear(buf[:])
	return m
}

// The state that crypto/sha512 marshals: magic, chaining value, block buffer,
// number of bytes hashed.
const (
	marshaledMagic = "sha\x07"
	marshaledSize  = len(marshaledMagic) + sha512.Size + sha512.BlockSize + 8
)

// marshal fills state with what makes a crypto/sha512 hash go on from m.
func (m *midstate) marshal(state *[marshaledSize]byte) []byte {
	clear(state[copy(state[:], marshaledMagic):])
	copy(state[len(marshaledMagic):], m[:])
	state[marshaledSize-1] = sha512.BlockSize
	return state[:]
}

// sum appends to dst the hash of p that goes on from m. The hash does not leave
// this function, so the compiler keeps it on the stack.
func (m *midstate) sum(dst, p []byte) []byte {
	var state [marshaledSize]byte
	h := sha512.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.marshal(&state)); err != nil {
		panic("fastmac: " + err.Error())
	}
	clear(state[:])
	h.Write(p)
	return h.Sum(dst)
}

// mustLive panics if there is no key. Midstates are never all zeros but by an
// accident of 1 in 2^512. All words are looked at, for the time that a comparison
// takes to fail would tell of the first ones.
func (k *HMACSHA512Key) mustLive() {
	var any uint64
	for i := 0; i < len(k.inner); i += 8 {
		any |= binary.LittleEndian.Uint64(k.inner[i:])
	}
	if any == 0 {
		panic("fastmac: use of an HMACSHA512Key that was destroyed or never set up")
	}
}

// Tag appends to dst the tag of msg, 64 bytes, and returns the extended slice. It
// does not allocate if dst has room. dst may overlap msg.
func (k *HMACSHA512Key) Tag(dst, msg []byte) []byte {
	k.mustLive()
	var inner [sha512.Size]byte
	dst = k.outer.sum(dst, k.inner.sum(inner[:0], msg))
	clear(inner[:])
	return dst
}

// Verify reports whether tag is the tag of msg. It is false for a tag of other
// than 64 bytes: truncated tags are refused. The comparison takes the same time
// wherever the tags differ.
func (k *HMACSHA512Key) Verify(tag, msg []byte) bool {
	var want [sha512.Size]byte
	k.Tag(want[:0], msg)
	return subtle.ConstantTimeCompare(tag, want[:]) == 1
}

// TagBatch sets tags[i] to the tag of msgs[i]. Slices of different lengths panic
// before anything is written. tags must not overlap the messages.
func (k *HMACSHA512Key) TagBatch(tags [][64]byte, msgs [][]byte) {
	k.mustLive()
	if len(tags) != len(msgs) {
		panic(fmt.Sprintf("fastmac: TagBatch with %d tags and %d messages", len(tags), len(msgs)))
	}
	for i, msg := range msgs {
		k.Tag(tags[i][:0], msg)
	}
}

// New returns a stream that computes tags under k. It shares k and does not copy
// it. Many streams may use one key at once.
func (k *HMACSHA512Key) New() *HMACSHA512 {
	k.mustLive()
	m := &HMACSHA512{key: k, inner: sha512.New()}
	m.Reset()
	return m
}

// Destroy overwrites the key with zeros. Any later use of it or of its streams
// panics; a second Destroy does nothing. It must not run while the key is in use.
func (k *HMACSHA512Key) Destroy() { *k = HMACSHA512Key{} }

// SumHMACSHA512 returns the HMAC-SHA-512 of msg under a key of any length. It does
// not allocate. To tag many messages under one key, a [HMACSHA512Key] is faster.
func SumHMACSHA512(key, msg []byte) [64]byte {
	var k HMACSHA512Key
	k.Init(key)
	var tag [sha512.Size]byte
	k.Tag(tag[:0], msg)
	k.Destroy()
	return tag
}

// SumHMACSHA512Batch sets tags[i] to the HMAC-SHA-512 of msgs[i] under keys[i].
// Slices of different lengths panic before anything is written. tags must not
// overlap the keys and messages.
func SumHMACSHA512Batch(tags [][64]byte, keys, msgs [][]byte) {
	if len(tags) != len(msgs) || len(keys) != len(msgs) {
		panic(fmt.Sprintf("fastmac: SumHMACSHA512Batch with %d tags, %d keys and %d messages", len(tags), len(keys), len(msgs)))
	}
	for i, msg := range msgs {
		tags[i] = SumHMACSHA512(keys[i], msg)
	}
}

// HMACSHA512 is a stream: it computes the HMAC-SHA-512 of what is written to it,
// RFC 2104 and FIPS 198-1. It is a [hash.Hash] and a [hash.Cloner].
//
// It is not safe for concurrent use and must not be copied; use
// [HMACSHA512.Clone]. All methods but Destroy and those that print its name panic
// once the stream or its key has been destroyed.
type HMACSHA512 struct {
	hmacSHA512Name

	key     *HMACSHA512Key
	ownsKey bool

	inner hash.Hash // of crypto/sha512

	// What is handed to inner, an interface, cannot be on the stack.
	scratch [marshaledSize]byte
}

// NewHMACSHA512 returns a stream for a key of any length, none included. RFC 2104
// section 3 advises at least 64 bytes. key is not retained.
func NewHMACSHA512(key []byte) *HMACSHA512 {
	m := NewHMACSHA512Key(key).New()
	m.ownsKey = true
	return m
}

func (m *HMACSHA512) mustLive() {
	if m.key == nil {
		panic("fastmac: use of an HMACSHA512 that was destroyed or never set up")
	}
	m.key.mustLive()
}

// Write adds p to the message. It never fails and does not retain p.
func (m *HMACSHA512) Write(p []byte) (int, error) {
	m.mustLive()
	return m.inner.Write(p)
}

// Sum appends to b the tag of what has been written, 64 bytes, and returns the
// extended slice. The stream does not change.
func (m *HMACSHA512) Sum(b []byte) []byte {
	m.mustLive()
	b = m.key.outer.sum(b, m.inner.Sum(m.scratch[:0]))
	clear(m.scratch[:])
	return b
}

// Reset makes the stream that of an empty message.
func (m *HMACSHA512) Reset() {
	m.mustLive()
	if err := m.inner.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.key.inner.marshal(&m.scratch)); err != nil {
		panic("fastmac: " + err.Error())
	}
	clear(m.scratch[:])
}

// Size returns 64, the size of a tag in bytes.
func (m *HMACSHA512) Size() int {
	m.mustLive()
	return sha512.Size
}

// BlockSize returns 128, the size of a SHA-512 block in bytes.
func (m *HMACSHA512) BlockSize() int {
	m.mustLive()
	return sha512.BlockSize
}

// Clone returns a copy of the stream, a *HMACSHA512. The key is shared: it is
// wiped by Destroy of the stream that [NewHMACSHA512] made, not by Destroy of a
// clone. The error is always nil.
func (m *HMACSHA512) Clone() (hash.Cloner, error) {
	m.mustLive()
	// By way of the marshaled state, which every SHA-512 of the standard
	// library has; that of GOEXPERIMENT=boringcrypto is no hash.Cloner.
	state, err := m.inner.(encoding.BinaryAppender).AppendBinary(m.scratch[:0])
	if err != nil {
		return nil, err
	}
	c := &HMACSHA512{key: m.key, inner: sha512.New()}
	err = c.inner.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
	clear(m.scratch[:])
	return c, err
}

// Destroy overwrites the stream with zeros, and the key as well if
// [NewHMACSHA512] made it for this stream. Any later use panics; a second Destroy
// does nothing.
func (m *HMACSHA512) Destroy() {
	if m.key == nil {
		return
	}
	if m.ownsKey {
		m.key.Destroy()
	}
	// A block of zeros, in two parts so that it is buffered, takes the place of
	// the message's last bytes, and Reset that of the chaining value.
	m.inner.Reset()
	clear(m.scratch[:])
	m.inner.Write(m.scratch[:1])
	m.inner.Write(m.scratch[1:sha512.BlockSize])
	m.inner.Reset()
	*m = HMACSHA512{}
}
