// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/subtle"
	"encoding/binary"
	"hash"

	"example.com/fastmac/internal/sha512"
)

// useSHA512 tells whether SHA-512 is this package's assembly; tests change it.
// hmac512_std.go has what there is in its place.
var useSHA512 = sha512.Supported && !useFIPS

const hmacTagSize = 64

// HMACSHA512Key is an expanded key for HMAC-SHA-512, RFC 2104 and FIPS 198-1: the
// two chaining values that follow the inner and the outer pad, 128 bytes. In FIPS 140
// mode it is the key itself, filled up to these.
//
// After set-up it does not change; until [HMACSHA512Key.Destroy] it is safe for
// concurrent use. It must not be copied: a copy is out of Destroy's reach. All
// its methods but Init, Destroy and those that print its name panic if the key was
// never set up or has been destroyed.
type HMACSHA512Key struct {
	_ noCopy
	_ incomparable
	hmacSHA512KeyName

	inner, outer [8]uint64
}

// NewHMACSHA512Key expands a key of any length, none included. RFC 2104 section 3
// advises at least 64 bytes; longer than 128 bytes are hashed first. key is not
// retained. With GODEBUG=fips140=only a key of less than 14 bytes panics.
func NewHMACSHA512Key(key []byte) *HMACSHA512Key {
	k := new(HMACSHA512Key)
	k.Init(key)
	return k
}

// Init is [NewHMACSHA512Key] into storage that the caller has placed. It replaces
// a former key, whose streams must no longer be in use.
func (k *HMACSHA512Key) Init(key []byte) {
	if !useSHA512 {
		k.initStd(key)
		return
	}
	var b hmacBlock
	k.init(&b, key)
	clear(b[:])
}

// init leaves secrets in b.
func (k *HMACSHA512Key) init(b *hmacBlock, key []byte) {
	b.innerPad(key)
	k.inner = sha512.Initial()
	sha512.Block(&k.inner, b[:])
	b.flip()
	k.outer = sha512.Initial()
	sha512.Block(&k.outer, b[:])
}

// mustLive panics if there is no key. Chaining values are never all zeros but by an
// accident of 1 in 2^512, nor is what FIPS 140 mode has in their place. All words are looked at, for the time that a comparison
// takes to fail would tell of the first ones.
func (k *HMACSHA512Key) mustLive() {
	var any uint64
	for _, word := range k.inner {
		any |= word
	}
	if any == 0 {
		panic("fastmac: use of an HMACSHA512Key that was destroyed or never set up")
	}
}

// Tag appends to dst the tag of msg, 64 bytes, and returns the extended slice. It
// does not allocate if dst has room, but in FIPS 140 mode. dst may overlap msg.
func (k *HMACSHA512Key) Tag(dst, msg []byte) []byte {
	k.mustLive()
	if !useSHA512 {
		return k.tagStd(dst, msg)
	}
	var tag [hmacTagSize]byte
	var b hmacBlock
	k.tag(&tag, &b, msg)
	clear(b[:])
	return append(dst, tag[:]...)
}

// tag leaves the inner hash in b.
func (k *HMACSHA512Key) tag(tag *[hmacTagSize]byte, b *hmacBlock, msg []byte) {
	state := k.inner
	b.hash(&state, msg, sha512.BlockSize+uint64(len(msg)))
	k.finish(tag, b, &state)
}

// finish makes the tag of the inner hash.
func (k *HMACSHA512Key) finish(tag *[hmacTagSize]byte, b *hmacBlock, inner *[8]uint64) {
	b.outer(inner)
	state := k.outer
	sha512.Block(&state, b[:])
	putState(tag, &state)
}

// Verify reports whether tag is the tag of msg. It is false for a tag of other
// than 64 bytes: truncated tags are refused. The comparison takes the same time
// wherever the tags differ.
func (k *HMACSHA512Key) Verify(tag, msg []byte) bool {
	var want [hmacTagSize]byte
	k.Tag(want[:0], msg)
	return subtle.ConstantTimeCompare(tag, want[:]) == 1
}

// New returns a stream that computes tags under k. It shares k and does not copy
// it. Many streams may use one key at once.
func (k *HMACSHA512Key) New() *HMACSHA512 {
	k.mustLive()
	m := &HMACSHA512{key: k}
	if !useSHA512 {
		m.std = k.newStd()
	}
	m.Reset()
	return m
}

// Destroy overwrites the key with zeros. Any later use of it or of its streams
// panics; a second Destroy does nothing. It must not run while the key is in use.
func (k *HMACSHA512Key) Destroy() { *k = HMACSHA512Key{} }

// SumHMACSHA512 returns the HMAC-SHA-512 of msg under a key of any length. It does
// not allocate, but in FIPS 140 mode. To tag many messages under one key, a
// [HMACSHA512Key] is faster. The key is as for [NewHMACSHA512Key].
func SumHMACSHA512(key, msg []byte) (tag [64]byte) {
	var k HMACSHA512Key
	if !useSHA512 {
		k.initStd(key)
		k.tagStd(tag[:0], msg)
	} else {
		var b hmacBlock
		k.init(&b, key)
		k.tag(&tag, &b, msg)
		clear(b[:])
	}
	k.Destroy()
	return tag
}

// hmacBlock is the one buffer of an HMAC: for the inner pad, for the outer pad, for
// the end of the message and for the inner hash.
type hmacBlock [sha512.BlockSize]byte

// innerPad is the key, filled up with zeros, xor 0x36 in each byte, RFC 2104
// section 2.
func (b *hmacBlock) innerPad(key []byte) {
	if len(key) > len(b) {
		state := sha512.Initial()
		b.hash(&state, key, uint64(len(key)))
		putState((*[hmacTagSize]byte)(b[:]), &state)
		clear(b[hmacTagSize:])
	} else {
		*b = hmacBlock{}
		copy(b[:], key)
	}
	b.xor(0x3636363636363636)
}

// flip makes the outer pad of the inner one, 0x36 xor 0x5c in each byte, and the
// inner one of the outer.
func (b *hmacBlock) flip() { b.xor(0x6a6a6a6a6a6a6a6a) }

func (b *hmacBlock) xor(mask uint64) {
	for i := 0; i < len(b); i += 8 {
		w := (*[8]byte)(b[i:])
		binary.LittleEndian.PutUint64(w[:], binary.LittleEndian.Uint64(w[:])^mask)
	}
}

// hash goes on from state with p, the last bytes of a message of n, to its hash.
func (b *hmacBlock) hash(state *[8]uint64, p []byte, n uint64) {
	if whole := len(p) &^ (len(b) - 1); whole > 0 {
		sha512.Block(state, p[:whole])
		p = p[whole:]
	}
	if !b.end(p, n) {
		sha512.Block(state, b[:])
		b.length(n)
	}
	sha512.Block(state, b[:])
}

// end is the end of a message of n bytes, of which rest, less than a block, is
// left, with the padding of FIPS 180-4 section 5.1.2. It reports whether the length
// has found room; if not, there is one more block, which length makes.
func (b *hmacBlock) end(rest []byte, n uint64) bool {
	*b = hmacBlock{}
	i := copy(b[:], rest)
	b[i] = 0x80
	if i+1 > len(b)-16 {
		return false
	}
	b.putLength(n)
	return true
}

func (b *hmacBlock) length(n uint64) {
	clear(b[:])
	b.putLength(n)
}

// putLength puts a length of n bytes, in bits, at the end.
func (b *hmacBlock) putLength(n uint64) {
	binary.BigEndian.PutUint64(b[len(b)-16:], n>>61)
	binary.BigEndian.PutUint64(b[len(b)-8:], n<<3)
}

// outer is the inner hash and the padding after it, which is always the same.
func (b *hmacBlock) outer(inner *[8]uint64) {
	putState((*[hmacTagSize]byte)(b[:]), inner)
	copy(b[hmacTagSize:], outerPadding[:])
}

var outerPadding = func() (p [sha512.BlockSize - hmacTagSize]byte) {
	p[0] = 0x80
	binary.BigEndian.PutUint64(p[len(p)-8:], 8*(sha512.BlockSize+hmacTagSize))
	return p
}()

// putState puts a chaining value as a hash.
func putState(p *[hmacTagSize]byte, state *[8]uint64) {
	for i, word := range state {
		binary.BigEndian.PutUint64(p[8*i:], word)
	}
}

// HMACSHA512 is a stream: it computes the HMAC-SHA-512 of what is written to it,
// RFC 2104 and FIPS 198-1. It is a [hash.Hash] and a [hash.Cloner].
//
// It is not safe for concurrent use and must not be copied; use
// [HMACSHA512.Clone]. All methods but Destroy and those that print its name panic
// once the stream or its key has been destroyed.
type HMACSHA512 struct {
	_ noCopy
	hmacSHA512Name

	key     *HMACSHA512Key
	ownsKey bool

	n     uint64 // bytes hashed, the inner pad included
	state [8]uint64
	block hmacBlock // of which n modulo its size is in use

	std *stdHMAC // in place of these three where SHA-512 is not this package's
}

// NewHMACSHA512 returns a stream for a key of any length, as [NewHMACSHA512Key] takes
// it. key is not retained.
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
	if m.std != nil {
		return m.std.h.Write(p)
	}
	size := len(p)
	if used := int(m.n % sha512.BlockSize); used > 0 {
		n := copy(m.block[used:], p)
		p = p[n:]
		if used+n == sha512.BlockSize {
			sha512.Block(&m.state, m.block[:])
		}
	}
	if whole := len(p) &^ (sha512.BlockSize - 1); whole > 0 {
		sha512.Block(&m.state, p[:whole])
		p = p[whole:]
	}
	copy(m.block[:], p)
	m.n += uint64(size)
	return size, nil
}

// Sum appends to b the tag of what has been written, 64 bytes, and returns the
// extended slice. The stream does not change.
func (m *HMACSHA512) Sum(b []byte) []byte {
	m.mustLive()
	if m.std != nil {
		return m.std.sum(b, m.key)
	}
	var tag [hmacTagSize]byte
	state, end := m.state, hmacBlock{}
	end.hash(&state, m.block[:m.n%sha512.BlockSize], m.n)
	m.key.finish(&tag, &end, &state)
	clear(end[:])
	return append(b, tag[:]...)
}

// Reset makes the stream that of an empty message.
func (m *HMACSHA512) Reset() {
	m.mustLive()
	if m.std != nil {
		m.std.reset(m.key)
		return
	}
	m.n, m.state = sha512.BlockSize, m.key.inner
}

// Size returns 64, the size of a tag in bytes.
func (m *HMACSHA512) Size() int {
	m.mustLive()
	return hmacTagSize
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
	c := &HMACSHA512{key: m.key, n: m.n, state: m.state, block: m.block}
	if m.std != nil {
		std, err := m.std.clone(m.key)
		if err != nil {
			return nil, err
		}
		c.std = std
	}
	return c, nil
}

// Destroy overwrites the stream with zeros, and the key as well if
// [NewHMACSHA512] made it for this stream. Any later use panics; a second Destroy
// does nothing.
func (m *HMACSHA512) Destroy() {
	if m.key == nil {
		return
	}
	if m.std != nil {
		m.std.wipe()
	}
	if m.ownsKey {
		m.key.Destroy()
	}
	*m = HMACSHA512{}
}
