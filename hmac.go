// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"slices"
	"unsafe"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// HMACKey is an expanded key for HMAC, RFC 2104 and FIPS 198-1, with one of the hashes of FIPS 180-4:
// [crypto.SHA224], [crypto.SHA256], [crypto.SHA384], [crypto.SHA512], [crypto.SHA512_224] or
// [crypto.SHA512_256]. It holds the two states of the hash after the inner and the outer pad, and has
// 136 bytes. In FIPS 140 mode it holds the key itself, padded with zeros to a block of the hash, or
// the hash of a longer key.
//
// An HMACKey does not change once it is set up. It is safe for concurrent use until
// [HMACKey.Destroy]. Do not copy it: Destroy does not overwrite copies. It prints as
// "fastmac.HMACKey(SHA-256)". All methods except Init, Destroy, String and Format panic if the key
// was never set up or has been destroyed.
type HMACKey struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacKeyName

	hash uint8 // a crypto.Hash
	size uint8 // of a tag in bytes; 0: there is no key
	wide bool  // the words of the hash have 64 bits

	states [2]sha2.State[uint64] // a sha2.Key
}

// NewHMACKey expands a key of any length, including zero. Use at least 32 random bytes; RFC 2104
// section 3 advises as many as a tag has. A key that is longer than a block of the hash (64 bytes for
// SHA-224 and SHA-256, 128 for the others) is hashed first. NewHMACKey does not retain key.
//
// It returns an error that wraps [errors.ErrUnsupported] if h is not one of the hashes of [HMACKey],
// and an error if GODEBUG=fips140=only is set and the key is shorter than 14 bytes.
func NewHMACKey(h crypto.Hash, key []byte) (*HMACKey, error) {
	k := new(HMACKey)
	if err := k.Init(h, key); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewHMACKey], except that it sets up k in place and replaces any previous key. After
// an error k is as before. Do not use streams of the previous key again, not even after Reset. k may
// be in memory that Go did not allocate: see "Placed state".
func (k *HMACKey) Init(h crypto.Hash, key []byte) error {
	f, err := hashOf(h)
	if err == nil {
		err = approve(key)
	}
	if err != nil {
		return err
	}
	if k.size != 0 {
		k.Destroy() // the new key may be smaller
	}
	k.hmacKeyName, k.hash, k.size, k.wide = opaque.Of(hmacKeyText(h)), uint8(h), uint8(f.Size), f.Wide()
	switch {
	case useFIPS:
		k.initFIPS(key)
	case k.wide:
		words[uint64](k).Init(f.Initial512, f.Size, key)
	default:
		words[uint32](k).Init(f.Initial256, f.Size, key)
	}
	return nil
}

// hashOf returns what h is.
func hashOf(h crypto.Hash) (*sha2.Hash, error) {
	f := sha2.Of(h)
	if f == nil {
		return nil, unsupportedError("HMAC with " + h.String() + " is not supported")
	}
	return f, nil
}

// words returns the key in k, whose hash has words of that size.
func words[W sha2.Word](k *HMACKey) *sha2.Key[W] { return (*sha2.Key[W])(unsafe.Pointer(&k.states)) }

// mustLive panics if there is no key.
func (k *HMACKey) mustLive() {
	if k.size == 0 {
		panic("fastmac: use of an HMACKey that was destroyed or never set up")
	}
}

// Size returns the size of a tag in bytes: 28, 32, 48 or 64.
func (k *HMACKey) Size() int {
	k.mustLive()
	return int(k.size)
}

// Tag appends the tag of msg, Size() bytes, to dst and returns the extended slice. dst may overlap
// msg. Tag does not allocate if dst has room, except in FIPS 140 mode.
func (k *HMACKey) Tag(dst, msg []byte) []byte {
	k.mustLive()
	dst, tag := grow(dst, int(k.size))
	k.sum(tag, msg)
	return dst
}

// grow appends a tag of size bytes to dst, which is to be set, and returns both.
func grow(dst []byte, size int) (all, tag []byte) {
	n := len(dst)
	dst = slices.Grow(dst, size)[:n+size]
	return dst, dst[n:]
}

// sum sets tag to the tag of msg.
func (k *HMACKey) sum(tag, msg []byte) {
	switch {
	case useFIPS:
		k.sumFIPS(tag, msg)
	case k.wide:
		w := words[uint64](k)
		sha2.Sum(tag, &w.Inner, &w.Outer, sha2.BlockSize512, msg)
	default:
		w := words[uint32](k)
		sha2.Sum(tag, &w.Inner, &w.Outer, sha2.BlockSize256, msg)
	}
}

// Verify reports whether tag is the tag of msg. It returns false if the tag is not Size() bytes long,
// so it refuses truncated tags. The comparison is constant time.
func (k *HMACKey) Verify(tag, msg []byte) bool {
	k.mustLive()
	var b hmacTag
	want := b[:k.size]
	k.sum(want, msg)
	return equalTag(tag, want)
}

// hmacTag has room for a tag of any hash.
type hmacTag [sha2.Size512]byte

// equalTag reports whether tag is want. Its time depends only on the lengths. For the usual sizes it
// compares words: with [subtle.ConstantTimeCompare], which compares bytes, VerifyBatch takes a third
// longer.
func equalTag(tag, want []byte) bool {
	var diff uint64
	switch {
	case len(tag) != len(want):
		return false
	case len(want) == sha2.Size256:
		a, b := (*[sha2.Size256]byte)(tag), (*[sha2.Size256]byte)(want)
		for i := 0; i < len(a); i += 8 {
			diff |= binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		}
	case len(want) == sha2.Size512:
		a, b := (*[sha2.Size512]byte)(tag), (*[sha2.Size512]byte)(want)
		for i := 0; i < len(a); i += 8 {
			diff |= binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		}
	default:
		return subtle.ConstantTimeCompare(tag, want) == 1
	}
	return diff == 0
}

// New returns a stream that computes tags under k. The stream refers to k, except that in FIPS 140
// mode crypto/hmac has a copy of the key, which Destroy does not overwrite. Any number of streams
// can use one key at the same time.
func (k *HMACKey) New() *HMAC {
	k.mustLive()
	switch {
	case useFIPS:
		m := new(HMAC)
		m.begin(k.hash, &k.size, nil, k.wide)
		m.fips = k.newFIPS(make([]byte, sha2.BlockSize512))
		return m
	case k.wide:
		return newStream(words[uint64](k), k.hash, &k.size)
	default:
		return newStream(words[uint32](k), k.hash, &k.size)
	}
}

// Destroy overwrites the key with zeros. Any later use of the key or its streams panics; a second
// Destroy does nothing. Do not call Destroy while the key is in use.
func (k *HMACKey) Destroy() { *k = HMACKey{} }

// SumHMAC appends the HMAC of msg under key to dst and returns the extended slice. h and key are as
// for [NewHMACKey], whose errors are panics here. dst may overlap key and msg. To tag many messages
// under one key, use an [HMACKey], which is faster. To verify a tag, use [HMACKey.Verify], whose
// comparison is constant time. SumHMAC does not allocate if dst has room, except in FIPS 140 mode.
func SumHMAC(h crypto.Hash, dst, key, msg []byte) []byte {
	f, err := hashOf(h)
	if err == nil {
		err = approve(key)
	}
	if err != nil {
		panic(err.Error())
	}
	dst, tag := grow(dst, f.Size)
	sumUnder(f, tag, key, msg)
	return dst
}

// sumUnder sets tag to the tag of msg under key, which has been approved.
func sumUnder(f *sha2.Hash, tag, key, msg []byte) {
	switch {
	case useFIPS:
		wipe.ReserveStack()
		var k HMACKey
		k.Init(f.ID, key)
		k.sumFIPS(tag, msg)
		k.Destroy()
	case f.Initial512 != nil:
		sumOnce(f.Initial512, tag, key, msg)
	default:
		sumOnce(f.Initial256, tag, key, msg)
	}
}

// HMAC is a stream that computes the HMAC, RFC 2104 and FIPS 198-1, of what is written to it, with
// the hash of its key. It implements [hash.Hash] and [hash.Cloner].
//
// An HMAC is not safe for concurrent use. Do not copy it; use [HMAC.Clone]. It prints as
// "fastmac.HMAC(SHA-256)". All methods except Destroy, String and Format panic if the stream or its
// key has been destroyed.
type HMAC struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	hmacName

	wide    bool // the words of the hash have 64 bits
	ownsKey bool
	size    *uint8         // of a tag in bytes, in the key; 0: the key has been destroyed
	message unsafe.Pointer // the hmacMessage, which is allocated with the stream, or in FIPS 140 mode
	fips    hash.Hash      // this
}

// messageOf returns what m, whose hash has words of that size, has of its message.
func messageOf[W sha2.Word](m *HMAC) *hmacMessage[W] { return (*hmacMessage[W])(m.message) }

// newStream returns a stream under a key for tags of size bytes.
func newStream[W sha2.Word](k *sha2.Key[W], h uint8, size *uint8) *HMAC {
	p := new(struct {
		stream  HMAC
		message hmacMessage[W]
	})
	p.stream.begin(h, size, unsafe.Pointer(&p.message), sha2.Size[W]() == sha2.Size512)
	p.message.key = k
	p.message.reset()
	return &p.stream
}

// newOwner returns a stream with its own key.
func newOwner[W sha2.Word](f *sha2.Hash, initial *sha2.State[W], key []byte) *HMAC {
	p := new(struct { // one allocation, as for UMAC
		stream  HMAC
		message hmacMessage[W]
		key     sha2.Key[W]
		size    uint8
	})
	p.size = uint8(f.Size)
	p.stream.begin(uint8(f.ID), &p.size, unsafe.Pointer(&p.message), sha2.Size[W]() == sha2.Size512)
	p.stream.ownsKey = true
	p.key.Init(initial, f.Size, key)
	p.message.key = &p.key
	p.message.reset()
	return &p.stream
}

// begin sets up a stream.
func (m *HMAC) begin(h uint8, size *uint8, message unsafe.Pointer, wide bool) {
	m.hmacName, m.size, m.message, m.wide = opaque.Of(hmacText(h)), size, message, wide
}

// NewHMAC returns a stream with its own key. h and key, and errors, are as for [NewHMACKey]. It does
// not retain key.
func NewHMAC(h crypto.Hash, key []byte) (*HMAC, error) {
	f, err := hashOf(h)
	if err == nil {
		err = approve(key)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case useFIPS:
		wipe.ReserveStack()
		var k HMACKey // crypto/hmac copies it
		k.Init(h, key)
		p := new(struct { // so that a clone keeps the stream reachable, as it does with a key
			stream HMAC
			size   uint8
		})
		p.size = k.size
		p.stream.begin(k.hash, &p.size, nil, k.wide)
		p.stream.ownsKey = true
		p.stream.fips = k.newFIPS(make([]byte, sha2.BlockSize512))
		k.Destroy()
		return &p.stream, nil
	case f.Initial512 != nil:
		return newOwner(f, f.Initial512, key), nil
	default:
		return newOwner(f, f.Initial256, key), nil
	}
}

func (m *HMAC) mustLive() {
	if m.size == nil || *m.size == 0 {
		panic("fastmac: use of an HMAC that was destroyed or never set up, or whose key was")
	}
}

// Write adds p to the message. It never fails and does not retain p.
func (m *HMAC) Write(p []byte) (int, error) {
	m.mustLive()
	switch {
	case m.fips != nil:
		return m.fips.Write(p)
	case m.wide:
		messageOf[uint64](m).write(p)
	default:
		messageOf[uint32](m).write(p)
	}
	return len(p), nil
}

// WriteString is Write of the bytes of s, without a copy.
func (m *HMAC) WriteString(s string) (int, error) { return m.Write(bytesOf(s)) }

// Sum appends the tag of the message written so far, Size() bytes, to b and returns the extended
// slice. The stream does not change.
func (m *HMAC) Sum(b []byte) []byte {
	m.mustLive()
	if m.fips != nil {
		return m.fips.Sum(b)
	}
	b, tag := grow(b, int(*m.size))
	m.sum(tag)
	return b
}

// sum sets tag to the tag of what has been written.
func (m *HMAC) sum(tag []byte) {
	switch {
	case m.fips != nil:
		sum := m.fips.Sum(nil)
		copy(tag, sum)
		clear(sum)
	case m.wide:
		messageOf[uint64](m).sum(tag)
	default:
		messageOf[uint32](m).sum(tag)
	}
}

// Verify reports whether tag is the tag of the message written so far. It returns false if the tag
// is not Size() bytes long, so it refuses truncated tags. The stream does not change. The comparison
// is constant time.
func (m *HMAC) Verify(tag []byte) bool {
	m.mustLive()
	var b hmacTag
	want := b[:*m.size]
	m.sum(want)
	return equalTag(tag, want)
}

// Reset returns the stream to its initial state: an empty message. It overwrites what the stream
// holds of the message and its hash, except in FIPS 140 mode.
func (m *HMAC) Reset() {
	m.mustLive()
	switch {
	case m.fips != nil:
		m.fips.Reset()
	case m.wide:
		messageOf[uint64](m).reset()
	default:
		messageOf[uint32](m).reset()
	}
}

// Size returns the size of a tag in bytes: 28, 32, 48 or 64.
func (m *HMAC) Size() int {
	m.mustLive()
	return int(*m.size)
}

// BlockSize returns the size of a block of the hash in bytes: 64 for SHA-224 and SHA-256, and 128 for
// the others.
func (m *HMAC) BlockSize() int {
	m.mustLive()
	return blockSize(m.wide)
}

// blockSize returns the size of a block in bytes.
func blockSize(wide bool) int {
	if wide {
		return sha2.BlockSize512
	}
	return sha2.BlockSize256
}

// Clone returns a copy of the stream, an *HMAC, which shares the key. Destroy of a clone does not
// overwrite the key; Destroy of the stream that [NewHMAC] returned does. The error is nil, except in
// FIPS 140 mode in a program built with GOFIPS140=v1.0.0, whose crypto/hmac cannot be cloned: then
// it wraps [errors.ErrUnsupported].
func (m *HMAC) Clone() (hash.Cloner, error) {
	m.mustLive()
	switch {
	case m.fips != nil:
		h, err := cloneFIPS(m.fips)
		if err != nil {
			return nil, err
		}
		return &HMAC{hmacName: m.hmacName, size: m.size, wide: m.wide, fips: h}, nil
	case m.wide:
		return cloneStream[uint64](m), nil
	default:
		return cloneStream[uint32](m), nil
	}
}

func cloneStream[W sha2.Word](m *HMAC) *HMAC {
	c := newStream(messageOf[W](m).key, 0, m.size)
	c.hmacName = m.hmacName
	*messageOf[W](c) = *messageOf[W](m)
	return c
}

// Destroy overwrites the stream with zeros, and also its key if [NewHMAC] returned the stream. Any
// later use panics; a second Destroy does nothing.
func (m *HMAC) Destroy() {
	switch {
	case m.size == nil:
		return
	case m.fips != nil:
		wipeFIPS(m.fips)
	case m.wide:
		messageOf[uint64](m).destroy(m.ownsKey)
	default:
		messageOf[uint32](m).destroy(m.ownsKey)
	}
	if m.ownsKey {
		*m.size = 0
	}
	*m = HMAC{}
}

// HMAC in FIPS 140 mode: crypto/hmac, which the validated module contains. It cannot expand a key in
// advance, so an HMACKey holds the bytes of the key.

// useFIPS reports whether FIPS 140 mode is on; tests change it.
var useFIPS = fips140.Enabled()

// bytes returns the storage of the key in FIPS 140 mode.
func (k *HMACKey) bytes() []byte {
	return (*[sha2.BlockSize512]byte)(unsafe.Pointer(&k.states))[:blockSize(k.wide)]
}

// initFIPS puts the key in place of the chaining values, which are zeros.
func (k *HMACKey) initFIPS(key []byte) {
	block := k.bytes()
	if len(key) > len(block) {
		h := sha2.Of(crypto.Hash(k.hash)).New()
		buf := slices.Clone(key) // h is an interface, so it escapes to the heap
		h.Write(buf)
		clear(buf)
		sum := h.Sum(nil)
		copy(block, sum)
		clear(sum)
	} else {
		copy(block, key)
	}
}

// approve returns an error if only approved algorithms may run and the key is too short for them, SP
// 800-131A section 10. crypto/hmac would panic too, but it sees the zero-padded key.
func approve(key []byte) error {
	const minSize = 112 / 8
	if len(key) < minSize && kernel.FIPSEnforced() {
		return fmt.Errorf("fastmac: HMAC key of %d bytes: want %d or more with GODEBUG=fips140=only", len(key), minSize)
	}
	return nil
}

// newFIPS returns an HMAC under the key. It uses, and clears, a block of buf.
func (k *HMACKey) newFIPS(buf []byte) hash.Hash {
	block := buf[:blockSize(k.wide)]
	copy(block, k.bytes())
	h := hmac.New(sha2.Of(crypto.Hash(k.hash)).New, block)
	clear(block)
	return h
}

// sumFIPS sets tag to the tag of msg.
func (k *HMACKey) sumFIPS(tag, msg []byte) {
	// h is an interface, so its arguments escape to the heap: this buffer, and
	// not msg, which callers may keep on the stack.
	buf := make([]byte, min(max(len(msg), sha2.BlockSize512), 4096))
	h := k.newFIPS(buf)
	for len(msg) > 0 {
		n := copy(buf, msg)
		h.Write(buf[:n])
		msg = msg[n:]
	}
	copy(tag, h.Sum(buf[:0]))
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
	zeros := make([]byte, h.BlockSize())
	h.Reset()
	h.Write(zeros[:1])
	h.Write(zeros[1:])
	h.Reset()
}

// What a key and a stream print as: see package opaque.
type (
	hmacKeyName = opaque.Name[hmacKeyText]
	hmacName    = opaque.Name[hmacText]

	hmacKeyText uint8 // a crypto.Hash, or 0
	hmacText    uint8
)

func (t hmacKeyText) String() string { return "fastmac.HMACKey" + hashName(uint8(t)) }
func (t hmacText) String() string    { return "fastmac.HMAC" + hashName(uint8(t)) }

// hashName returns the name of a hash in parentheses, and nothing if there is none.
func hashName(h uint8) string {
	if h == 0 {
		return ""
	}
	return "(" + crypto.Hash(h).String() + ")"
}
