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

	"example.com/fastmac/internal/sha512"
)

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
