// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"crypto/hmac"
	stdsha512 "crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"

	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/sha512"
	"example.com/fastmac/internal/wipe"
)

// HMACSHA512Size is the size of an HMAC-SHA-512 tag in bytes.
const HMACSHA512Size = 64

// HMACSHA512Key is an expanded key for HMAC-SHA-512, RFC 2104 and FIPS 198-1. It holds the two
// SHA-512 states after the inner and the outer pad, and has 136 bytes on 64-bit machines. In FIPS
// 140 mode it holds the key itself, padded with zeros to 128 bytes, or the hash of a longer key.
//
// An HMACSHA512Key does not change once it is set up. It is safe for concurrent use until
// [HMACSHA512Key.Destroy]. Do not copy it: Destroy does not overwrite copies. It prints as
// "fastmac.HMACSHA512Key(512-bit tag)". All methods except Init, Destroy, String and Format panic
// if the key was never set up or has been destroyed.
type HMACSHA512Key struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacSHA512KeyName

	inner, outer [8]uint64
	set          bool
}

// NewHMACSHA512Key expands a key of any length, including zero. Use at least 32 random bytes; RFC
// 2104 section 3 advises 64. A key longer than 128 bytes is hashed first. NewHMACSHA512Key does not
// retain key. With GODEBUG=fips140=only it panics if the key is shorter than 14 bytes.
func NewHMACSHA512Key(key []byte) *HMACSHA512Key {
	k := new(HMACSHA512Key)
	k.Init(key)
	return k
}

// Init is like [NewHMACSHA512Key], except that it sets up k in place and replaces any previous key.
// Do not use streams of the previous key again, not even after Reset. k may be in memory that Go
// did not allocate: see "Placed state".
func (k *HMACSHA512Key) Init(key []byte) {
	if useFIPS {
		k.initFIPS(key)
		return
	}
	wipe.ReserveStack()
	var b sha512.Buffer
	writePad(&b, key, innerPad)
	k.inner = sha512.Initial()
	k.outer = sha512.Initial()
	if sha512.HasPairs() {
		outer := b
		flipPad(&outer)
		sha512.BlockPair(&k.inner, &k.outer, b[:], outer[:])
		clear(outer[:])
	} else {
		sha512.Block(&k.inner, b[:])
		flipPad(&b)
		sha512.Block(&k.outer, b[:])
	}
	clear(b[:])
	k.set = true
}

// What is added to each byte of the key for a pad, RFC 2104 section 2.
const (
	innerPad = 0x3636363636363636
	outerPad = 0x5c5c5c5c5c5c5c5c
)

// writePad sets b to the key, zero-padded, xor pad.
func writePad(b *sha512.Buffer, key []byte, pad uint64) {
	*b = sha512.Buffer{}
	if len(key) > len(b) {
		state := sha512.Initial()
		sha512.Sum((*[sha512.Size]byte)(b[:]), &state, nil, 0, key)
	} else {
		copy(b[:], key)
	}
	xorPad(b, pad)
}

// flipPad turns one pad into the other.
func flipPad(b *sha512.Buffer) { xorPad(b, innerPad^outerPad) }

func xorPad(b *sha512.Buffer, mask uint64) {
	for i := 0; i < len(b); i += 8 {
		w := (*[8]byte)(b[i:])
		binary.LittleEndian.PutUint64(w[:], binary.LittleEndian.Uint64(w[:])^mask)
	}
}

// mustLive panics if there is no key.
func (k *HMACSHA512Key) mustLive() {
	if !k.set {
		panic("fastmac: use of an HMACSHA512Key that was destroyed or never set up")
	}
}

// Size returns 64, the size of a tag in bytes.
func (k *HMACSHA512Key) Size() int {
	k.mustLive()
	return HMACSHA512Size
}

// Tag appends the tag of msg, 64 bytes, to dst and returns the extended slice. dst may overlap msg.
// Tag does not allocate if dst has room, except in FIPS 140 mode.
func (k *HMACSHA512Key) Tag(dst, msg []byte) []byte {
	k.mustLive()
	dst, tag := grow(dst)
	k.sum(tag, msg)
	return dst
}

// grow appends a tag to dst, which is to be set, and returns both.
func grow(dst []byte) ([]byte, *[HMACSHA512Size]byte) {
	n := len(dst)
	dst = slices.Grow(dst, HMACSHA512Size)[:n+HMACSHA512Size]
	return dst, (*[HMACSHA512Size]byte)(dst[n:])
}

// sum sets tag to the tag of msg.
func (k *HMACSHA512Key) sum(tag *[HMACSHA512Size]byte, msg []byte) {
	if useFIPS {
		k.sumFIPS(tag, msg)
		return
	}
	sha512.Sum(tag, &k.inner, &k.outer, sha512.BlockSize, msg)
}

// Verify reports whether tag is the tag of msg. It returns false if the tag is not 64 bytes long,
// so it refuses truncated tags. The comparison is constant time.
func (k *HMACSHA512Key) Verify(tag, msg []byte) bool {
	k.mustLive()
	var want [HMACSHA512Size]byte
	k.sum(&want, msg)
	return equalTag(tag, &want)
}

// equalTag reports whether tag is want. Its time depends only on the lengths. It
// compares words: with [subtle.ConstantTimeCompare], which compares bytes, VerifyBatch
// takes a third longer.
func equalTag(tag []byte, want *[HMACSHA512Size]byte) bool {
	if len(tag) != len(want) {
		return false
	}
	var diff uint64
	for i := 0; i < len(want); i += 8 {
		diff |= binary.LittleEndian.Uint64(tag[i:]) ^ binary.LittleEndian.Uint64(want[i:])
	}
	return diff == 0
}

// New returns a stream that computes tags under k. The stream refers to k, except that in FIPS 140
// mode crypto/hmac has a copy of the key, which Destroy does not overwrite. Any number of streams
// can use one key at the same time.
func (k *HMACSHA512Key) New() *HMACSHA512 {
	k.mustLive()
	m := new(HMACSHA512)
	m.init(k)
	return m
}

// Destroy overwrites the key with zeros. Any later use of the key or its streams panics; a second
// Destroy does nothing. Do not call Destroy while the key is in use.
func (k *HMACSHA512Key) Destroy() { *k = HMACSHA512Key{} }

// SumHMACSHA512 returns the HMAC-SHA-512 of msg under key, which is as for [NewHMACSHA512Key]. To
// tag many messages under one key, use an [HMACSHA512Key], which is faster. To verify a tag, use
// [HMACSHA512Key.Verify], whose comparison is constant time. SumHMACSHA512 does not allocate,
// except in FIPS 140 mode.
func SumHMACSHA512(key, msg []byte) (tag [64]byte) {
	wipe.ReserveStack()
	var k HMACSHA512Key
	k.Init(key)
	k.sum(&tag, msg)
	k.Destroy()
	return tag
}

// HMACSHA512 is a stream that computes the HMAC-SHA-512, RFC 2104 and FIPS 198-1, of what is
// written to it. It implements [hash.Hash] and [hash.Cloner].
//
// An HMACSHA512 is not safe for concurrent use. Do not copy it; use [HMACSHA512.Clone]. It prints
// as "fastmac.HMACSHA512(512-bit tag)". All methods except Destroy, String and Format panic if the
// stream or its key has been destroyed.
type HMACSHA512 struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacSHA512Name

	key     *HMACSHA512Key
	ownsKey bool

	n     uint64 // bytes hashed, including the inner pad
	state [8]uint64
	block sha512.Buffer // its first n modulo BlockSize bytes are in use

	fips hash.Hash // in place of these three in FIPS 140 mode
}

// NewHMACSHA512 returns a stream with its own key, which is as for [NewHMACSHA512Key]. It does not
// retain key.
func NewHMACSHA512(key []byte) *HMACSHA512 {
	// One allocation, as for UMAC.
	p := new(struct {
		stream HMACSHA512
		key    HMACSHA512Key
	})
	p.key.Init(key)
	p.stream.init(&p.key)
	p.stream.ownsKey = true
	return &p.stream
}

// init sets up a new stream.
func (m *HMACSHA512) init(k *HMACSHA512Key) {
	m.key = k
	if useFIPS {
		m.fips = k.newFIPS(make([]byte, sha512.BlockSize))
	}
	m.Reset()
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
	if m.fips != nil {
		return m.fips.Write(p)
	}
	size := len(p)
	if used := int(m.n % sha512.BlockSize); used > 0 {
		n := copy(m.block[used:], p)
		p = p[n:]
		if used+n == sha512.BlockSize {
			sha512.Block(&m.state, m.block[:])
		}
	}
	if len(p) >= sha512.BlockSize {
		sha512.Block(&m.state, p)
		p = p[len(p)&^(sha512.BlockSize-1):]
	}
	copy(m.block[:], p)
	m.n += uint64(size)
	return size, nil
}

// Sum appends the tag of the message written so far, 64 bytes, to b and returns the extended slice.
// The stream does not change.
func (m *HMACSHA512) Sum(b []byte) []byte {
	m.mustLive()
	if m.fips != nil {
		return m.fips.Sum(b)
	}
	b, tag := grow(b)
	m.sum(tag)
	return b
}

// sum sets tag to the tag of what has been written.
func (m *HMACSHA512) sum(tag *[HMACSHA512Size]byte) {
	used := m.n % sha512.BlockSize
	sha512.Sum(tag, &m.state, &m.key.outer, m.n-used, m.block[:used])
}

// Verify reports whether tag is the tag of the message written so far. It returns false if the tag
// is not 64 bytes long, so it refuses truncated tags. The stream does not change. The comparison is
// constant time.
func (m *HMACSHA512) Verify(tag []byte) bool {
	m.mustLive()
	var want [HMACSHA512Size]byte
	if m.fips != nil {
		sum := m.fips.Sum(nil)
		copy(want[:], sum)
		clear(sum)
	} else {
		m.sum(&want)
	}
	return equalTag(tag, &want)
}

// Reset returns the stream to its initial state: an empty message. It overwrites what the stream
// holds of the message and its hash, except in FIPS 140 mode.
func (m *HMACSHA512) Reset() {
	m.mustLive()
	if m.fips != nil {
		m.fips.Reset()
		return
	}
	clear(m.block[:])
	m.n = sha512.BlockSize
	m.state = m.key.inner // a tuple assignment would copy it to the stack
}

// Size returns 64, the size of a tag in bytes.
func (m *HMACSHA512) Size() int {
	m.mustLive()
	return HMACSHA512Size
}

// BlockSize returns 128, the size of a SHA-512 block in bytes.
func (m *HMACSHA512) BlockSize() int {
	m.mustLive()
	return sha512.BlockSize
}

// Clone returns a copy of the stream, a *HMACSHA512, which shares the key. Destroy of a clone does
// not overwrite the key; Destroy of the stream that [NewHMACSHA512] returned does. The error is
// nil, except in FIPS 140 mode in a program built with GOFIPS140=v1.0.0, whose crypto/hmac cannot
// be cloned: then it wraps [errors.ErrUnsupported].
func (m *HMACSHA512) Clone() (hash.Cloner, error) {
	m.mustLive()
	c := &HMACSHA512{key: m.key, n: m.n, state: m.state, block: m.block}
	if m.fips != nil {
		var err error
		if c.fips, err = cloneFIPS(m.fips); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Destroy overwrites the stream with zeros, and also its key if [NewHMACSHA512] returned the
// stream. Any later use panics; a second Destroy does nothing.
func (m *HMACSHA512) Destroy() {
	if m.key == nil {
		return
	}
	if m.fips != nil {
		wipeFIPS(m.fips)
	}
	if m.ownsKey {
		m.key.Destroy()
	}
	*m = HMACSHA512{}
}

// HMAC-SHA-512 in FIPS 140 mode: crypto/hmac, which the validated module contains. It
// cannot expand a key in advance, so an HMACSHA512Key holds the bytes of the key.

// useFIPS reports whether FIPS 140 mode is on; tests change it.
var useFIPS = fips140.Enabled()

// initFIPS puts the key, zero-padded, in place of the chaining values.
func (k *HMACSHA512Key) initFIPS(key []byte) {
	mustApprove(key)
	var block [sha512.BlockSize]byte
	if len(key) > len(block) {
		sum := stdsha512.Sum512(key)
		copy(block[:], sum[:])
		clear(sum[:])
	} else {
		copy(block[:], key)
	}
	for i := range k.inner {
		k.inner[i] = binary.BigEndian.Uint64(block[8*i:])
		k.outer[i] = binary.BigEndian.Uint64(block[64+8*i:])
	}
	clear(block[:])
	k.set = true
}

// mustApprove panics if only approved algorithms may run and the key is too short for
// them, SP 800-131A section 10. crypto/hmac would panic too, but it sees the
// zero-padded key.
func mustApprove(key []byte) {
	const minSize = 112 / 8
	if len(key) < minSize && fips140.Enforced() {
		panic(fmt.Sprintf("fastmac: HMAC key of %d bytes: want %d or more with GODEBUG=fips140=only", len(key), minSize))
	}
}

// newFIPS returns an HMAC under the key. It uses, and clears, a block of buf.
func (k *HMACSHA512Key) newFIPS(buf []byte) hash.Hash {
	block := buf[:sha512.BlockSize]
	for i := range k.inner {
		binary.BigEndian.PutUint64(block[8*i:], k.inner[i])
		binary.BigEndian.PutUint64(block[64+8*i:], k.outer[i])
	}
	h := hmac.New(stdsha512.New, block)
	clear(block)
	return h
}

// sumFIPS sets tag to the tag of msg.
func (k *HMACSHA512Key) sumFIPS(tag *[HMACSHA512Size]byte, msg []byte) {
	// h is an interface, so its arguments escape to the heap: this buffer, and
	// not msg, which callers may keep on the stack.
	buf := make([]byte, min(max(len(msg), sha512.BlockSize), 4096))
	h := k.newFIPS(buf)
	for len(msg) > 0 {
		n := copy(buf, msg)
		h.Write(buf[:n])
		msg = msg[n:]
	}
	copy(tag[:], h.Sum(buf[:0]))
	clear(buf)
}

// cloneFIPS returns a copy of an HMAC and of what was written to it. crypto/hmac of
// GOFIPS140=v1.0.0 cannot be cloned.
func cloneFIPS(h hash.Hash) (hash.Hash, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, fmt.Errorf("fastmac: crypto/hmac's %T cannot be cloned: %w", h, errors.ErrUnsupported)
	}
	return c.Clone()
}

// wipeFIPS overwrites what it can reach of an HMAC: the bytes of the message.
func wipeFIPS(h hash.Hash) {
	// Zeros, in two parts so that they are buffered, replace the last bytes of
	// the message; Reset replaces the chaining value.
	zeros := make([]byte, sha512.BlockSize)
	h.Reset()
	h.Write(zeros[:1])
	h.Write(zeros[1:])
	h.Reset()
}

// What a key and a stream print as: see package opaque.
type (
	hmacSHA512KeyName = opaque.Name[hmacSHA512KeyText]
	hmacSHA512Name    = opaque.Name[hmacSHA512Text]

	hmacSHA512KeyText struct{}
	hmacSHA512Text    struct{}
)

func (hmacSHA512KeyText) String() string { return "fastmac.HMACSHA512Key(512-bit tag)" }
func (hmacSHA512Text) String() string    { return "fastmac.HMACSHA512(512-bit tag)" }
