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

// maxNonces is the number of nonces that one Nonces returns. Calls of Next after that
// still count, and no number of goroutines can make the 64-bit counter wrap around.
const maxNonces = 1 << 63

const minNoncesSize = 12 // of a nonce, in bytes

// A Nonces returns nonces, and never the same one twice. They are big-endian numbers modulo
// 2^(8*size). The first is from [crypto/rand], and each later one is one more than the one
// before it. They are not secret: anyone who sees one knows the next. A UMAC stream
// computes the pads for them ahead. Nothing is stored; after a restart make a new Nonces.
//
// If k Nonces, of any processes and restarts, return at most q nonces each, of the same
// size and under one key, then any given two have a nonce in common with a probability of
// at most (2q-1)/2^(8*size). There are k(k-1)/2 pairs, so the probability that any nonce
// repeats is below k^2*q/2^(8*size). For k = 2^10 and q = 2^40 this is 2^-36 for nonces
// of 12 bytes, and 2^-68 for 16. For UMAC use 16 bytes, unless the size of the nonce
// matters. Use no other nonces under the same key, except that [UMACKey.Sign] may be used
// together with Nonces of 16 bytes: s calls add at most s*k*q/2^128 + s^2/2^129.
//
// A copy of a Nonces repeats its nonces. A fork of the process's memory makes such a copy,
// and so does a restored snapshot of a virtual machine. Where these can happen, use
// [UMACKey.Sign], which draws each nonce from crypto/rand.
//
// A Nonces is safe for concurrent use. Do not copy it.
type Nonces struct {
	_ opaque.NoCopy
	_ opaque.Incomparable // == would be a data race with Next

	size      int    // size of a nonce in bytes; 0 if NewNonces did not make this Nonces
	high, low uint64 // the first nonce is the last size bytes of these
	used      atomic.Uint64
}

// NewNonces returns a Nonces whose nonces have size bytes. The size is 12 to 16; for
// another size NewNonces returns an error.
func NewNonces(size int) (*Nonces, error) {
	if size < minNoncesSize || size > MaxNonceSize {
		return nil, fmt.Errorf("fastmac: Nonces of %d bytes: want %d to %d", size, minNoncesSize, MaxNonceSize)
	}
	var first [16]byte
	rand.Read(first[:])
	return &Nonces{
		size: size,
		high: binary.BigEndian.Uint64(first[:]),
		low:  binary.BigEndian.Uint64(first[8:]),
	}, nil
}

// Next appends the next nonce to dst and returns the extended slice. It does not
// allocate if dst has room. It panics if [NewNonces] did not make n, and after 2^63
// nonces.
func (n *Nonces) Next(dst []byte) []byte {
	used := n.used.Add(1) - 1
	start, end := len(dst), len(dst)+n.size
	if end > cap(dst) {
		dst = slices.Grow(dst, n.size)
	}
	dst = dst[:end]
	nonce := dst[start:]
	if len(nonce) < minNoncesSize {
		panic("fastmac: use of a Nonces that NewNonces did not make")
	}
	if used >= maxNonces {
		panic("fastmac: a Nonces has returned all of its 2^63 nonces: make a new one")
	}
	low, carry := bits.Add64(n.low, used, 0)
	high := n.high + carry
	// The two stores overlap if size is not 16. Copying the nonce from an array would be
	// slower: the loads would have to wait for the stores before them.
	binary.BigEndian.PutUint64(nonce, high<<(8*(16-len(nonce))&63))
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], low)
	return dst
}
