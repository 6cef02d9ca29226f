// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"hash"
	"strconv"

	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/opaque"
)

// Sizes in bytes.
const (
	GMACSize      = gcm.TagSize   // a GMAC tag
	GMACNonceSize = gcm.NonceSize // a GMAC nonce
)

// GMACKey is an expanded AES key for GMAC, the MAC of AES-GCM, NIST SP 800-38D. Tags have 16 bytes
// and nonces 12. GMAC has no code for CPUs without the instructions that it needs: there no key can
// be made, see [RequireGCM].
//
// Never use a nonce for two messages under one key: from two tags with the same nonce an attacker
// computes the key of the hash, and then forges the tag of any message under any nonce whose tag it
// has seen.
//
// A GMACKey does not change once it is set up. It is safe for concurrent use until
// [GMACKey.Destroy]. Do not copy it: Destroy does not overwrite copies. It prints as
// "fastmac.GMACKey(128-bit tag)". All methods except Init, Destroy, String and Format panic if the
// key was never set up or has been destroyed.
type GMACKey struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	gmacKeyName

	gcm gcm.Key
}

// NewGMACKey expands a key of 16, 24 or 32 bytes (AES-128, AES-192, AES-256). It returns a
// [KeySizeError] for a key of any other length. If the CPU lacks instructions, it returns the error
// of [RequireGCM] and does not read key. It does not retain key.
func NewGMACKey(key []byte) (*GMACKey, error) {
	k := new(GMACKey)
	if err := k.Init(key); err != nil {
		return nil, err
	}
	return k, nil
}

// Init is like [NewGMACKey], except that it sets up k in place and replaces any previous key. Do
// not use streams of the previous key again, not even after Reset. If Init returns an error, k is
// unchanged. On amd64 and arm64 Init does not allocate, and k may be in memory that Go did not
// allocate: see "Placed state".
func (k *GMACKey) Init(key []byte) error {
	if err := RequireGCM(); err != nil {
		return err
	}
	switch len(key) {
	case 16, 24, 32:
	default:
		return KeySizeError(len(key))
	}
	return k.gcm.Init(key)
}

const deadGMACKey = "fastmac: use of a GMACKey that was destroyed or never set up"

// mustLive returns the ID of the key. It panics if there is no key.
func (k *GMACKey) mustLive() lifetime.ID {
	id := k.gcm.Life().ID()
	if id.None() {
		panic(deadGMACKey)
	}
	return id
}

func mustGMACNonce(nonce []byte) {
	if len(nonce) != GMACNonceSize {
		panic("fastmac: GMAC nonce of " + strconv.Itoa(len(nonce)) + " bytes: want 12")
	}
}

// Size returns 16, the size of a tag in bytes.
func (k *GMACKey) Size() int {
	k.mustLive()
	return GMACSize
}

// Tag appends the tag of msg under nonce, 16 bytes, to dst and returns the extended slice. dst may
// overlap msg and nonce. On amd64 and arm64 Tag does not allocate if dst has room.
//
// The nonce must be 12 bytes long, or Tag panics. Never use it for another message under this key.
func (k *GMACKey) Tag(dst, nonce, msg []byte) []byte {
	mustGMACNonce(nonce)
	var tag [GMACSize]byte
	if !k.gcm.Tag(&tag, nonce, msg) {
		panic(deadGMACKey)
	}
	return append(dst, tag[:]...)
}

// Verify reports whether tag is the tag of msg under nonce. It returns false if the tag or the
// nonce has a wrong length. The comparison is constant time.
func (k *GMACKey) Verify(tag, nonce, msg []byte) bool {
	k.mustLive()
	if len(tag) != GMACSize || len(nonce) != GMACNonceSize {
		return false
	}
	var want [GMACSize]byte
	if !k.gcm.Tag(&want, nonce, msg) {
		panic(deadGMACKey)
	}
	return gcm.Equal((*[GMACSize]byte)(tag), &want)
}

// TagBatch writes the tag of batch[i].Data under batch[i].Nonce to batch[i].Tag, for each i. It
// takes as long as a call of [GMACKey.Tag] for each.
//
// Never use a nonce for two messages under one key, in this batch or ever. If a Tag is not 16 bytes
// or a Nonce not 12 bytes long, TagBatch panics before it writes anything.
//
// batch[i].Tag may overlap batch[i].Nonce and batch[i].Data, and no slice of another message. On
// amd64 and arm64 TagBatch does not allocate.
func (k *GMACKey) TagBatch(batch []Message) {
	id := k.mustLive()
	for i := range batch {
		m := &batch[i]
		if len(m.Tag) != GMACSize {
			panic(badTag("TagBatch", i, len(m.Tag), GMACSize))
		}
		if len(m.Nonce) != GMACNonceSize {
			panic(badNonce("TagBatch", i, "GMAC", len(m.Nonce), "12"))
		}
	}
	for i := range batch {
		m := &batch[i]
		var tag [GMACSize]byte
		k.gcm.Tag(&tag, m.Nonce, m.Data)
		*(*[GMACSize]byte)(m.Tag) = tag
	}
	if !k.gcm.Life().Is(id) {
		panic(clearTags(batch, deadGMACKey))
	}
}

// VerifyBatch sets batch[i].OK to whether batch[i].Tag is the tag of batch[i].Data under
// batch[i].Nonce, and reports whether all are OK. For an empty batch it returns true. A message is
// not OK if its tag or nonce has a wrong length.
//
// VerifyBatch takes as long as a call of [GMACKey.Verify] for each message. It changes nothing
// except OK, which is false until the tag has been verified. The comparisons are constant time. All
// slices may overlap.
func (k *GMACKey) VerifyBatch(batch []Message) bool {
	refuse(batch)
	k.mustLive()
	all := true
	for i := range batch {
		m := &batch[i]
		right := false
		if len(m.Tag) == GMACSize && len(m.Nonce) == GMACNonceSize {
			var want [GMACSize]byte
			if !k.gcm.Tag(&want, m.Nonce, m.Data) {
				panic(refuseTags(batch, deadGMACKey))
			}
			right = gcm.Equal((*[GMACSize]byte)(m.Tag), &want)
		}
		m.OK, all = right, all && right
	}
	return all
}

// New returns a stream that computes tags under k. The stream refers to k. Any number of streams
// can use one key at the same time.
func (k *GMACKey) New() *GMAC {
	return &GMAC{life: lifetime.OfStream(k.mustLive()), key: k}
}

// Destroy overwrites the key with zeros, except for a number that tells keys in one place apart. Any later
// use of the key or its streams panics; a second Destroy does nothing. A call that uses the key meanwhile
// panics too, and gives nothing out: see "Destroy while in use".
//
// On architectures other than amd64 and arm64 the AES key is in crypto/cipher, which has no API to
// overwrite it.
func (k *GMACKey) Destroy() { k.gcm.Destroy() }

// GMAC is a stream that computes the GMAC tag, NIST SP 800-38D, of what is written to it.
//
// It implements [hash.Hash], except that [GMAC.Sum] takes the nonce instead of a slice to append
// to. Use [GMAC.Tag] to append, and [GMAC.Bind] for code that calls Sum as hash.Hash defines it.
//
// Never use a nonce for two messages under one key: from two tags with the same nonce an attacker
// computes the key of the hash, and then forges the tag of any message under any nonce whose tag it
// has seen.
//
// On amd64 and arm64 a GMAC has 168 bytes. Elsewhere it has 4136, because it hashes 4 KiB at a
// time.
//
// A GMAC is not safe for concurrent use. Do not copy it; use [GMAC.Clone]. It prints as
// "fastmac.GMAC(128-bit tag)". All methods except Destroy, String and Format panic if the stream or
// its key has been destroyed.
type GMAC struct {
	_ opaque.NoCopy
	_ opaque.Incomparable
	gmacName

	life    lifetime.Lifetime
	ownsKey bool
	key     *GMACKey

	sum    [gcm.BlockSize]byte // GHASH of all groups before rest, as gcm.Key keeps it
	rest   [gcm.GroupSize]byte // the last group: length%gcm.GroupSize bytes
	length uint64              // of the message in bytes
}

// NewGMAC returns a stream with its own key, of 16, 24 or 32 bytes. It does what [NewGMACKey] and
// [GMACKey.New] do, in one allocation, and returns the errors of NewGMACKey. Never use a nonce for
// two messages under one key.
func NewGMAC(key []byte) (*GMAC, error) {
	// One allocation keeps the stream and its key together, as in NewUMAC.
	p := new(struct {
		stream GMAC
		key    GMACKey
	})
	if err := p.key.Init(key); err != nil {
		return nil, err
	}
	p.stream.life, p.stream.key, p.stream.ownsKey = lifetime.OfStream(p.key.mustLive()), &p.key, true
	return &p.stream, nil
}

const deadGMAC = "fastmac: use of a GMAC that was destroyed or never set up, or whose key was"

// mustLive panics if there is no key, or another one since the stream began.
func (m *GMAC) mustLive() {
	if m.key == nil || !m.life.IsOf(m.key.gcm.Life()) {
		panic(deadGMAC)
	}
}

// mustHaveLived panics if the stream or its key was destroyed, also meanwhile.
func (m *GMAC) mustHaveLived() {
	if !m.life.IsStillOf(m.key.gcm.Life()) {
		panic(deadGMAC)
	}
}

// Write adds p to the message. It never fails and does not retain p.
func (m *GMAC) Write(p []byte) (int, error) {
	m.mustLive()
	n := len(p)
	used := int(m.length % gcm.GroupSize)
	m.length += uint64(n)
	if used > 0 {
		taken := copy(m.rest[used:], p)
		if used+taken < gcm.GroupSize {
			return n, nil
		}
		p = p[taken:]
		m.key.gcm.Absorb(&m.sum, m.rest[:])
	}
	groups := len(p) &^ (gcm.GroupSize - 1)
	if groups > 0 {
		m.key.gcm.Absorb(&m.sum, p[:groups])
	}
	if rest := p[groups:]; len(rest) == gcm.BlockSize {
		// In one store: the kernel would wait for a block that copy stores in two parts.
		*(*[gcm.BlockSize]byte)(m.rest[:]) = [gcm.BlockSize]byte(rest)
	} else {
		copy(m.rest[:], rest)
	}
	return n, nil
}

// WriteString is Write of the bytes of s, without a copy.
func (m *GMAC) WriteString(s string) (int, error) { return m.Write(bytesOf(s)) }

// Tag appends the tag of the message written so far, 16 bytes, to dst and returns the extended
// slice. The stream does not change: you can write more, and call Tag again with another nonce. dst
// may overlap nonce.
//
// The nonce must be 12 bytes long, or Tag panics. Never use it for another message under this key.
func (m *GMAC) Tag(dst, nonce []byte) []byte {
	mustGMACNonce(nonce)
	tag := m.tag(nonce)
	m.mustHaveLived()
	return append(dst, tag[:]...)
}

func (m *GMAC) tag(nonce []byte) (tag [GMACSize]byte) {
	if m.key == nil {
		panic(deadGMAC)
	}
	m.key.gcm.Finish(&tag, &m.sum, nonce, m.rest[:m.length%gcm.GroupSize], m.length)
	return tag
}

// Sum returns the tag of the message written so far, 16 bytes, under nonce. If cap(nonce) is large
// enough, it overwrites nonce: it writes the tag to nonce[:16], which is more than len(nonce) bytes. If
// not, it writes to new memory. To keep the nonce, for example a counter, use [GMAC.Tag]. Nonces are as
// for Tag.
//
// Unlike Sum of other hashes, it does not append: in Sum(header) the header is the nonce. Sum
// panics if the nonce is not 12 bytes long, so Sum(nil) panics.
func (m *GMAC) Sum(nonce []byte) []byte {
	if len(nonce) != GMACNonceSize {
		panic("fastmac: GMAC.Sum takes the nonce, 12 bytes, and got " + strconv.Itoa(len(nonce)) + ": for code that calls Sum(nil) use Bind")
	}
	return m.Tag(nonce[:0], nonce)
}

// Verify reports whether tag is the tag of the message written so far under nonce. It returns false
// if the tag or the nonce has a wrong length. The stream does not change. The comparison is
// constant time.
func (m *GMAC) Verify(tag, nonce []byte) bool {
	m.mustLive()
	if len(tag) != GMACSize || len(nonce) != GMACNonceSize {
		return false
	}
	want := m.tag(nonce)
	right := gcm.Equal((*[GMACSize]byte)(tag), &want)
	m.mustHaveLived()
	return right
}

// Bind returns a [hash.Hash] whose Sum(b) appends the tag under nonce to b, as other hashes do. It
// begins with a copy of the message written to m so far. After that the two share only the key.
//
// The nonce is as for [GMAC.Tag]: Bind panics if it has a wrong length. Tag only one message with
// the hash. After Reset use it to verify, not to tag again. The hash has a method Destroy, which
// interface{ Destroy() } reaches: it overwrites the hash but not the key.
func (m *GMAC) Bind(nonce []byte) hash.Cloner {
	mustGMACNonce(nonce)
	return bind(m.clone(), nonce)
}

// Reset returns the stream to its initial state. The last bytes of the message remain in the
// stream, up to 128 on amd64 and arm64 and up to 4096 elsewhere, until other messages or
// [GMAC.Destroy] overwrite them.
func (m *GMAC) Reset() {
	m.mustLive()
	// To clear rest as well takes up to a seventh of the time of 16 bytes.
	m.sum, m.length = [gcm.BlockSize]byte{}, 0
}

// Size returns 16, the size of a tag in bytes.
func (m *GMAC) Size() int {
	m.mustLive()
	return GMACSize
}

// BlockSize returns 16, the size of a GHASH block in bytes.
func (m *GMAC) BlockSize() int {
	m.mustLive()
	return gcm.BlockSize
}

// Clone returns a copy of the stream, a *GMAC, which shares the key. Destroy of a clone does not
// overwrite the key; Destroy of the stream that [NewGMAC] returned does. The error is always nil.
func (m *GMAC) Clone() (hash.Cloner, error) {
	return m.clone(), nil
}

// clone is Clone. As tag does, it looks only afterwards whether the key lives.
func (m *GMAC) clone() *GMAC {
	if m.key == nil {
		panic(deadGMAC)
	}
	c := &GMAC{life: lifetime.OfStream(m.life.ID()), key: m.key, sum: m.sum, rest: m.rest, length: m.length}
	if !m.life.IsStillOf(m.key.gcm.Life()) {
		*c = GMAC{}
		panic(deadGMAC)
	}
	return c
}

// Destroy overwrites the stream with zeros, except for where its key is, and also its key if [NewGMAC]
// returned the stream. Any later use panics; a second Destroy does nothing.
func (m *GMAC) Destroy() {
	m.life.EndStream()
	if m.ownsKey {
		m.key.Destroy()
	}
	m.sum, m.rest, m.length = [gcm.BlockSize]byte{}, [gcm.GroupSize]byte{}, 0 // the key's place is no secret
}

// What a key and a stream print as: see package opaque.
type (
	gmacKeyName = opaque.Name[gmacKeyText]
	gmacName    = opaque.Name[gmacText]

	gmacKeyText struct{}
	gmacText    struct{}
)

func (gmacKeyText) String() string { return "fastmac.GMACKey(128-bit tag)" }
func (gmacText) String() string    { return "fastmac.GMAC(128-bit tag)" }
