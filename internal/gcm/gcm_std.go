// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (!amd64 && !arm64) || purego

package gcm

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/wipe"
)

// GroupSize is how many bytes of a stream crypto/cipher hashes at a time.
const GroupSize = 4096

func register() {
	name := "stdlib"
	if kernel.Purego || !kernel.StdGCM().Has() {
		name = ""
	}
	kernel.Register(kernel.GCM, name, nil)
}

// Missing returns the names of the CPU features that crypto/cipher needs to run on AES-GCM
// instructions and that are missing. No key can be set up unless there are none.
func Missing() []string { return kernel.StdGCM().Missing() }

// A Key is an AES key for GCM. What a Key computes without one is meaningless: Seal, Open and Tag say so.
type Key struct {
	life lifetime.Lifetime
	aead *cipher.AEAD // a pointer: whoever loads it has all of it or nothing
	h    element      // the key of GHASH

	// For Absorb: h to the number of blocks in a group, and what a group's tag is xored with.
	power, constant element
}

// Init sets up a key of 16, 24 or 32 bytes. It panics where AES-GCM cannot be used: Missing must
// have returned nothing, in a build without the tag purego. With GODEBUG=fips140=only it returns
// crypto/cipher's error.
func (k *Key) Init(key []byte) error {
	if Choose(); kernel.List(kernel.GCM) == nil {
		panic("fastmac: AES-GCM cannot be used here")
	}
	if !k.life.ID().None() {
		k.Destroy()
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	var h [BlockSize]byte
	block.Encrypt(h[:], h[:])
	k.aead, k.h = &aead, elementOf(&h)
	k.power = k.h.power(GroupSize / BlockSize)
	aead.Seal(h[:0], groupNonce[:], nil, nil)
	k.constant = elementOf(&h).xor(k.h.times(lengthOf(GroupSize)))
	clear(h[:])
	wipe.Stack()
	k.life.Begin()
	return nil
}

// Life returns the lifetime of the key.
func (k *Key) Life() *lifetime.Lifetime { return &k.life }

// Destroy drops the key. It overwrites the key of GHASH, and cannot overwrite that of
// crypto/cipher, which has no API for that.
func (k *Key) Destroy() {
	k.life.End()
	k.aead, k.h, k.power, k.constant = nil, element{}, element{}, element{}
}

// Seal sets out to the ciphertext of plaintext followed by the tag, and returns true. If there is no key
// it returns false, and if the key was destroyed meanwhile, with zeros in out. len(out) is
// len(plaintext)+TagSize. If out and plaintext overlap, they begin at the same byte.
func (k *Key) Seal(out, nonce, plaintext, data []byte) (live bool) {
	id, aead := k.life.ID(), k.aead
	if id.None() || aead == nil {
		return false
	}
	(*aead).Seal(out[:0], nonce, plaintext, data)
	if !k.life.Is(id) {
		clear(out)
		return false
	}
	return true
}

// Open sets out to the plaintext of ciphertext, which a tag follows, and reports whether
// the tag is right, by a key that was there all the time. If not, out is zero. len(out) is
// len(ciphertext)-TagSize. If out and ciphertext overlap, they begin at the same byte.
func (k *Key) Open(out, nonce, ciphertext, data []byte) bool {
	id, aead := k.life.ID(), k.aead
	if id.None() || aead == nil {
		return false
	}
	if _, err := (*aead).Open(out[:0], nonce, ciphertext, data); k.life.Is(id) && err == nil {
		return true
	}
	clear(out)
	return false
}

// Tag sets tag to the GMAC of msg, and reports whether there is a key, also after that. If not, the tag is
// meaningless.
func (k *Key) Tag(tag *[TagSize]byte, nonce, msg []byte) (live bool) {
	return k.Seal(tag[:], nonce, nil, msg)
}

// crypto/cipher has no GHASH. But the GMAC of a group under any nonce, xor the GMAC of nothing
// under it, is the GHASH of the group and of the block with its length in bits. It is linear:
// with the length of the whole message n in the place of the group's it is
//
//	GHASH(message) = GHASH(all before the group) * H^blocks xor GHASH(group) xor (n xor length) * H
//
// where the GHASH of all before is also with a block at its end, of zeros. That is what sum holds.
// These tags are never returned, so the nonce of groups may be the same for all, and a nonce
// that the caller uses.
var groupNonce [NonceSize]byte

// Absorb adds groups to sum, which is GHASH of additional data as far as it is known, and zero
// at the beginning. len(groups) is a multiple of GroupSize.
func (k *Key) Absorb(sum *[BlockSize]byte, groups []byte) {
	wipe.ReserveStack()
	var tag [TagSize]byte
	s := elementOf(sum)
	for ; len(groups) > 0; groups = groups[GroupSize:] {
		k.Tag(&tag, groupNonce[:], groups[:GroupSize])
		s = s.times(k.power).xor(k.constant).xor(elementOf(&tag))
	}
	s.put(sum)
	tag, s = [TagSize]byte{}, element{}
	wipe.Stack()
}

// Finish sets tag to the GMAC of length bytes, of which rest is the end, less than a group,
// and Absorb has added the others to sum.
func (k *Key) Finish(tag, sum *[BlockSize]byte, nonce, rest []byte, length uint64) {
	k.Tag(tag, nonce, rest)
	if length < GroupSize {
		return
	}
	wipe.ReserveStack()
	blocks := (len(rest) + BlockSize - 1) / BlockSize
	s := elementOf(sum).times(k.h.power(blocks)).xor(k.h.times(lengthOf(length).xor(lengthOf(uint64(len(rest))))))
	s.xor(elementOf(tag)).put(tag)
	s = element{}
	wipe.Stack()
}

// An element of GF(2^128), section 6.3: the first bit is the highest of high.
type element struct{ high, low uint64 }

func elementOf(b *[BlockSize]byte) element {
	return element{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// lengthOf returns the block for additional data of n bytes.
func lengthOf(n uint64) element { return element{high: 8 * n} }

func (x element) put(b *[BlockSize]byte) {
	binary.BigEndian.PutUint64(b[:], x.high)
	binary.BigEndian.PutUint64(b[8:], x.low)
}

func (x element) xor(y element) element { return element{x.high ^ y.high, x.low ^ y.low} }

// times returns x * y. Its time does not depend on them.
func (x element) times(y element) (z element) {
	for range 8 * BlockSize {
		bit := -(x.high >> 63)
		z.high, z.low = z.high^y.high&bit, z.low^y.low&bit
		x.high, x.low = x.high<<1|x.low>>63, x.low<<1
		carry := -(y.low & 1)
		y.high, y.low = y.high>>1^0xe1<<56&carry, y.low>>1|y.high<<63
	}
	return z
}

// power returns x^n. Its time depends on n.
func (x element) power(n int) element {
	z := element{high: 1 << 63} // 1
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			z = z.times(x)
		}
		x = x.times(x)
	}
	return z
}
