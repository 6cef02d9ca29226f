// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/fips140"
	"crypto/hmac"
	"hash"
	"slices"
	"sync"

	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/internal/wipe"
)

// HMAC in FIPS 140 mode: crypto/hmac, which the validated module contains, and which cannot expand a key in
// advance, so here a key is a block of the hash. Its arguments escape to the heap, because it is an interface:
// these functions give it buffers of theirs, and not what callers may keep on the stack. It leaves keys and states on
// the stack, which they overwrite. Streams of package hmac are around it too where there is no assembly for the hash.

// useFIPS reports whether FIPS 140 mode is on, once a key has been set up; tests change it.
var (
	useFIPS   bool
	fipsAsked sync.Once
)

func askFIPS() { useFIPS = fips140.Enabled() }

// setFIPS sets block, which is zeros, to the key, or to the hash of one that is longer.
func setFIPS(f *sha2.Hash, block, key []byte) {
	if len(key) <= len(block) {
		copy(block, key)
		return
	}
	wipe.ReserveFrames()
	h := f.New()
	buf := slices.Clone(key)
	h.Write(buf)
	clear(buf)
	sum := h.Sum(nil)
	copy(block, sum)
	clear(sum)
	h.Reset()
	h.Write(buf[:len(block)-1]) // zeros, over the end of the key
	wipe.Stack()
}

// newFIPS returns an HMAC under a key. It uses, and clears, a block of buf.
func newFIPS(f *sha2.Hash, key, buf []byte) hash.Hash {
	wipe.ReserveFrames()
	buf = buf[:copy(buf, key)]
	h := hmac.New(f.New, buf)
	clear(buf)
	wipe.Stack()
	return h
}

// sumFIPS sets tag to the tag of msg under a key.
func sumFIPS(f *sha2.Hash, tag, key, msg []byte) {
	buf := make([]byte, min(max(len(msg), sha2.BlockSize512), 4096))
	h := newFIPS(f, key, buf)
	for len(msg) > 0 {
		n := copy(buf, msg)
		h.Write(buf[:n])
		msg = msg[n:]
	}
	copy(tag, h.Sum(buf[:0]))
	clear(buf)
	wipe.Stack()
}

// newUnderFIPS is newFIPS for a key of any length.
func newUnderFIPS(f *sha2.Hash, key []byte) hash.Hash {
	block := make([]byte, f.BlockSize())
	setFIPS(f, block, key)
	wipe.ReserveFrames()
	h := hmac.New(f.New, block) // copies it
	clear(block)
	wipe.Stack()
	return h
}

// sumUnderFIPS is sumFIPS for a key of any length.
func sumUnderFIPS(f *sha2.Hash, tag, key, msg []byte) {
	wipe.ReserveStack()
	var block sha2.Block[uint64]
	b := block.Bytes()[:f.BlockSize()]
	setFIPS(f, b, key)
	sumFIPS(f, tag, b, msg)
	clear(block[:])
}

// batchFIPS computes a batch of tags of size bytes, or compares them, one by one: sum sets the tag of
// message i.
func batchFIPS(batch []Message, size int, verify bool, sum func(tag []byte, i int)) {
	tag := make([]byte, size)
	for i := range batch {
		m := &batch[i]
		sum(tag, i)
		if verify {
			m.OK = len(m.Nonce) == 0 && sha2.EqualTags(m.Tag, tag)
		} else {
			copy(m.Tag, tag)
		}
	}
	clear(tag)
}

// tagFIPS sets tag to the tag of what was written to an HMAC.
func tagFIPS(h hash.Hash, tag []byte) {
	wipe.ReserveFrames()
	sum := h.Sum(nil)
	copy(tag, sum)
	clear(sum)
	wipe.Stack()
}

// appendFIPS is tagFIPS without a copy. If crypto/hmac panics, as it may while it is wiped, nothing is left.
func appendFIPS(h hash.Hash, tag []byte) {
	done := false
	defer func() {
		if !done {
			clear(tag)
		}
	}()
	wipe.ReserveFrames()
	h.Sum(tag[:0:len(tag)])
	wipe.Stack()
	done = true
}

// writeFIPS adds p to an HMAC.
func writeFIPS(h hash.Hash, p []byte) (int, error) {
	wipe.ReserveFrames()
	n, err := h.Write(p)
	wipe.Stack()
	return n, err
}

func resetFIPS(h hash.Hash) {
	wipe.ReserveFrames()
	h.Reset()
	wipe.Stack()
}

// cloneFIPS returns a copy of an HMAC and of what was written to it. crypto/hmac of
// GOFIPS140=v1.0.0 cannot be cloned.
func cloneFIPS(h hash.Hash) (hash.Hash, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, unsupportedError("HMAC of this crypto/hmac cannot be cloned")
	}
	return c.Clone()
}
