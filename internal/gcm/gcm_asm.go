// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (amd64 || arm64) && !purego

package gcm

import (
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/wipe"
)

// GroupSize is how many bytes the kernels hash at a time.
const GroupSize = 8 * BlockSize

// Missing returns the names of the CPU features that every kernel needs and that are missing. No
// key can be set up unless there are none.
func Missing() []string {
	Choose()
	return kernel.Missing(kernel.GCM)
}

// A Key is an AES key for GCM. What a Key computes without one is meaningless: Seal, Open and Tag say so.
type Key struct {
	powers   [8][BlockSize]byte // H^8 to H^1 of GHASH, as the kernels keep them
	schedule aes.Schedule
	rounds   uint32 // of AES: 10, 12 or 14; 0 if there is no key, which is as 10 for the kernels
	life     lifetime.Lifetime
}

// Init sets up a key of 16, 24 or 32 bytes. Missing must have returned nothing. The error
// is always nil.
func (k *Key) Init(key []byte) error {
	Choose()
	k.init(key)
	return nil
}

func (k *Key) init(key []byte) {
	if !k.life.ID().None() {
		k.Destroy() // of a longer key, the last words would remain
	}
	k.rounds = uint32(k.schedule.Expand(key))
	initKey(k)
	k.life.Begin()
}

// Life returns the lifetime of the key.
func (k *Key) Life() *lifetime.Lifetime { return &k.life }

// Destroy overwrites the key.
func (k *Key) Destroy() {
	k.life.End()
	k.powers, k.schedule, k.rounds = [8][BlockSize]byte{}, aes.Schedule{}, 0
}

// Seal sets out to the ciphertext of plaintext followed by the tag, and returns true. If there is no key
// it returns false, and if the key was destroyed meanwhile, with zeros in out. len(out) is
// len(plaintext)+TagSize. If out and plaintext overlap, they begin at the same byte.
func (k *Key) Seal(out, nonce, plaintext, data []byte) (live bool) {
	id := k.life.Expect()
	var b blocks
	var r run
	r.tag, r.sum = &b.tag, &b.sum
	at := (*[NonceSize]byte)(nonce)
	r.data, r.dataBits = data, 8*uint64(len(data))
	r.dst, r.src, r.textBits = out, plaintext, 8*uint64(len(plaintext))
	switch n := len(plaintext); { // with a call of seal, 16 to 64 bytes take 1 to 2 ns more
	case !r.fits():
		k.cut(&r, at, false)
	case n == 0:
		k.gmac(&r, at)
	case isLong(n):
		sealLong(k, &r, at)
	case isShort(n):
		sealShort(k, &r, at)
	default:
		sealAny(k, &r, at)
	}
	*(*[TagSize]byte)(out[len(plaintext):]) = b.tag
	return k.life.Is(id) || refused(out)
}

// refused overwrites what must not get out, and returns false.
//
//go:noinline
func refused(out []byte) bool {
	clear(out)
	return false
}

// Open sets out to the plaintext of ciphertext, which a tag follows, and reports whether
// the tag is right, by a key that was there all the time. If not, out is zero. len(out) is
// len(ciphertext)-TagSize. If out and ciphertext overlap, they begin at the same byte.
func (k *Key) Open(out, nonce, ciphertext, data []byte) bool {
	id := k.life.Expect()
	n := len(ciphertext) - TagSize
	got := [TagSize]byte(ciphertext[n:])
	var b blocks
	var r run
	r.tag, r.sum = &b.tag, &b.sum
	at := (*[NonceSize]byte)(nonce)
	r.data, r.dataBits = data, 8*uint64(len(data))
	r.dst, r.src, r.textBits = out, ciphertext[:n], 8*uint64(n)
	switch {
	case !r.fits():
		k.cut(&r, at, true)
	case n == 0:
		k.gmac(&r, at)
	case isLong(n):
		openLong(k, &r, at)
	case isShort(n):
		openShort(k, &r, at)
	default:
		openAny(k, &r, at)
	}
	right := k.life.Is(id)
	if !Equal(&got, &b.tag) {
		right = false
	}
	return right || refused(out)
}

// Tag sets tag to the GMAC of msg, and reports whether there is a key, also after that. If not, the tag is
// meaningless.
func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) (live bool) {
	id := k.life.Expect()
	var sum [BlockSize]byte
	var r run
	r.tag, r.sum = tag, &sum
	at := (*[NonceSize]byte)(nonce)
	r.data, r.dataBits = msg, 8*uint64(len(msg))
	if r.fits() {
		k.gmac(&r, at)
	} else {
		k.cut(&r, at, false)
	}
	return k.life.Is(id)
}

// Absorb adds groups to sum, which is GHASH of additional data, and zero at the beginning.
// len(groups) is a multiple of GroupSize.
func (k *Key) Absorb(sum *[BlockSize]byte, groups []byte) { k.absorb(sum, groups, 0) }

// absorb is Absorb before a text of that many bytes.
func (k *Key) absorb(sum *[BlockSize]byte, groups []byte, text int) {
	for len(groups) > maxRun {
		k.hash(sum, groups[:maxRun], text)
		groups = groups[maxRun:]
	}
	k.hash(sum, groups, text)
}

// Finish sets tag to the GMAC of length bytes, of which rest is the end, less than a group,
// and Absorb has added the others to sum.
func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	var r run
	r.tag, r.sum = tag, sum
	r.data, r.dataBits = rest, 8*length
	k.gmacRest(&r, (*[NonceSize]byte)(nonce))
}

// blocks are a tag and what GHASH is computed in. They are aligned: a load of what a kernel has stored waits
// longer if it crosses a cache line.
type blocks struct {
	_        [0]uint64
	tag, sum [BlockSize]byte
}

// A run is what one call of the assembly encrypts or decrypts: a message, or a part of it. Its nonce is an argument,
// because all waits for it: it would wait for two loads of what has just been stored.
// It is set field by field: the compiler would make a literal somewhere else, and copy it in
// pieces of 16 bytes, which would have to wait for the stores of 8.
type run struct {
	tag                *[TagSize]byte   // of the message, or nil if other runs follow
	sum                *[BlockSize]byte // GHASH before the run, and after it if others follow
	data               []byte           // additional data
	dst, src           []byte           // dst may be longer
	blocks             uint32           // of the text in the runs before
	dataBits, textBits uint64           // of the whole message
}

// fits reports whether r is short enough for one call of the assembly. With text that takes less
// than a group of additional data.
func (r *run) fits() bool {
	return len(r.src) <= maxRun && len(r.data) < GroupSize || len(r.src) == 0 && len(r.data) <= maxRun
}

// cut is open, seal or gmac for a message that does not fit.
func (k *Key) cut(message *run, nonce *[NonceSize]byte, open bool) {
	wipe.ReserveStack()
	groups := len(message.data) &^ (GroupSize - 1)
	k.absorb(message.sum, message.data[:groups], len(message.src))
	message.data = message.data[groups:]
	if len(message.src) <= maxRun {
		k.crypt(message, nonce, open)
	} else {
		k.cutText(message, *nonce, open)
	}
	clear(message.sum[:])
}

// cutText is open or seal for a text that does not fit. The nonce is copied, because dst may overlap
// it. The run is a copy too: what is stored where a pointer points to would be on the heap.
func (k *Key) cutText(message *run, nonce [NonceSize]byte, open bool) {
	var r run
	r.sum, r.data, r.dst, r.blocks = message.sum, message.data, message.dst, message.blocks
	rest := message.src
	for len(rest) > maxRun {
		r.src, rest = rest[:maxRun], rest[maxRun:]
		k.crypt(&r, &nonce, open)
		r.data, r.dst = nil, r.dst[maxRun:]
		r.blocks += maxRun / BlockSize
	}
	r.tag, r.src = message.tag, rest
	r.dataBits, r.textBits = message.dataBits, message.textBits
	k.crypt(&r, &nonce, open)
}

// crypt encrypts or decrypts a run, for seldom cases: see Seal.
func (k *Key) crypt(r *run, nonce *[NonceSize]byte, open bool) {
	if open {
		k.open(r, nonce)
	} else {
		k.seal(r, nonce)
	}
}

func (k *Key) seal(r *run, nonce *[NonceSize]byte) {
	switch n := len(r.src); {
	case n == 0:
		k.gmac(r, nonce)
	case isLong(n):
		sealLong(k, r, nonce)
	case isShort(n):
		sealShort(k, r, nonce)
	default:
		sealAny(k, r, nonce)
	}
}

func (k *Key) open(r *run, nonce *[NonceSize]byte) {
	switch n := len(r.src); {
	case n == 0:
		k.gmac(r, nonce)
	case isLong(n):
		openLong(k, r, nonce)
	case isShort(n):
		openShort(k, r, nonce)
	default:
		openAny(k, r, nonce)
	}
}

// The kernels are in assembly, in functions that have the name of a method of Key and that of a
// kernel. hash is Absorb for at most maxRun bytes, n a multiple of GroupSize. The others are one
// run: gmac of the rest of a message without text, seal and open with text, and with less than a group of
// additional data. These set sum to GHASH after the run if there is no tag; then len(r.src) is a
// multiple of 512. With a tag they do not change sum.
