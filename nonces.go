// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"example.com/fastmac/internal/opaque"
)

// maxNonces is the number of nonces that one NonceSequence returns. Calls of Next after that
// still count, and no number of goroutines can make the 64-bit counter wrap around.
const maxNonces = 1 << 63

const minNoncesSize = 12 // of a nonce, in bytes

// A NonceSequence returns nonces, and never the same one twice. They are big-endian numbers modulo
// 2^(8*size). The first is from [crypto/rand], and each later one is one more than the one
// before it. They are not secret: anyone who sees one knows the next. A UMAC stream
// computes the pads for them ahead. Nothing is stored; after a restart make a new
// NonceSequence.
//
// If k sequences, of any processes and restarts, return at most q nonces each, of the same
// size and under one key, then any given two have a nonce in common with a probability of
// at most (2q-1)/2^(8*size). There are k(k-1)/2 pairs, so the probability that any nonce
// repeats is below k^2*q/2^(8*size). For k = 2^10 and q = 2^40 this is 2^-36 for nonces
// of 12 bytes, and 2^-68 for 16. For UMAC use 16 bytes, unless the size of the nonce
// matters. Use no other nonces under the same key, except that [UMACKey.Sign] may be used
// together with sequences of 16 bytes: s calls add at most s*k*q/2^128 + s^2/2^129.
//
// A copy of a NonceSequence repeats its nonces. A fork of the process's memory makes such a copy,
// and so does a restored snapshot of a virtual machine. Where these can happen, use
// [UMACKey.Sign], which draws each nonce from crypto/rand.
//
// A NonceSequence is safe for concurrent use. Do not copy it.
type NonceSequence struct {
	_ opaque.NoCopy
	_ opaque.Incomparable // == would be a data race with Next

	size      int    // size of a nonce in bytes; 0 if NewNonceSequence did not make this one
	high, low uint64 // the first nonce is the last size bytes of these
	used      atomic.Uint64
}

// NewNonceSequence returns a NonceSequence whose nonces have size bytes, 12 to 16. It panics
// for another size.
func NewNonceSequence(size int) *NonceSequence {
	if size < minNoncesSize || size > UMACMaxNonceSize {
		panic(fmt.Sprintf("fastmac: NonceSequence of %d bytes: want %d to %d", size, minNoncesSize, UMACMaxNonceSize))
	}
	var first [16]byte
	rand.Read(first[:])
	return &NonceSequence{
		size: size,
		high: binary.BigEndian.Uint64(first[:]),
		low:  binary.BigEndian.Uint64(first[8:]),
	}
}

// Next appends the next nonce to dst and returns the extended slice. It does not
// allocate if dst has room. It panics if [NewNonceSequence] did not make n, and after 2^63
// nonces.
func (n *NonceSequence) Next(dst []byte) []byte {
	used := n.used.Add(1) - 1
	start, end := len(dst), len(dst)+n.size
	if end > cap(dst) {
		dst = slices.Grow(dst, n.size)
	}
	dst = dst[:end]
	nonce := dst[start:]
	if len(nonce) < minNoncesSize {
		panic("fastmac: use of a NonceSequence that NewNonceSequence did not make")
	}
	if used >= maxNonces {
		panic("fastmac: a NonceSequence has returned all of its 2^63 nonces: make a new one")
	}
	low, carry := bits.Add64(n.low, used, 0)
	high := n.high + carry
	// The two stores overlap if size is not 16. Copying the nonce from an array would be
	// slower: the loads would have to wait for the stores before them.
	binary.BigEndian.PutUint64(nonce, high<<(8*(16-len(nonce))&63))
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], low)
	return dst
}
