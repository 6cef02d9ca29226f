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
	"sync"
	"sync/atomic"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/opaque"
)

// maxNonces is the number of nonces that one NonceSequence returns. Calls of Next after that
// still count, and no number of goroutines can make the 64-bit counter wrap around.
const maxNonces = 1 << 63

const minNoncesSize = 12 // of a nonce, in bytes

// A NonceSequence returns nonces, and never the same one twice. The first is a random number from
// [crypto/rand], and each later one is one more than the one before it, modulo 2^(8*size), in
// big-endian order. Nonces are not secret: anyone who sees one knows the next. A UMAC stream
// computes the pads for them in advance. A NonceSequence stores nothing: after a restart make a new
// one.
//
// Several sequences can be used under one key, in any processes and after any restarts. If each
// returns at most q nonces, of the same size, then two given sequences have a nonce in common with
// a probability of at most (2q-1)/2^(8*size). Among k sequences a nonce repeats with a probability
// below k^2*q/2^(8*size). For k = 2^10 and q = 2^40 this is 2^-36 with nonces of 12 bytes, and
// 2^-68 with 16. For UMAC use 16 bytes, unless the size of the nonce matters.
//
// Use no other nonces under the same key. [UMACKey.Sign] is the exception, with sequences of 16
// bytes: s calls add at most s*k*q/2^128 + s^2/2^129 to the probability.
//
// In a child process that C code forked, a NonceSequence begins again, at another number from
// crypto/rand. It then counts as one more of the k sequences. SECURITY.md in the module says how it
// notices a fork.
//
// A copy of a NonceSequence repeats its nonces. Restoring a snapshot of a virtual machine, or a
// checkpoint of a process, makes such a copy. Where this can happen, use [UMACKey.Sign], which
// draws each nonce from crypto/rand.
//
// A NonceSequence is safe for concurrent use. Do not copy it.
type NonceSequence struct {
	_ opaque.NoCopy
	_ opaque.Incomparable // == would be a data race with Next

	size int // size of a nonce in bytes; 0 if NewNonceSequence did not make this one
	used atomic.Uint64

	// The first nonce is the last size bytes of high and low, which are for one process. They
	// change in a child: begin writes process last, and Next reads it first.
	high, low, process atomic.Uint64
	beginning          sync.Mutex
}

// NewNonceSequence returns a NonceSequence whose nonces have size bytes. It panics if size is not
// 12 to 16.
func NewNonceSequence(size int) *NonceSequence {
	if size < minNoncesSize || size > UMACMaxNonceSize {
		panic(fmt.Sprintf("fastmac: NonceSequence of %d bytes: want %d to %d", size, minNoncesSize, UMACMaxNonceSize))
	}
	n := &NonceSequence{size: size}
	n.begin()
	return n
}

// begin draws the first nonce for this process, unless another goroutine has. What has been used
// still counts, so that goroutines in Next need not agree on when it began anew.
func (n *NonceSequence) begin() {
	n.beginning.Lock()
	defer n.beginning.Unlock()
	process := fork.Current()
	if n.process.Load() == process {
		return
	}
	var first [16]byte
	rand.Read(first[:])
	n.high.Store(binary.BigEndian.Uint64(first[:]))
	n.low.Store(binary.BigEndian.Uint64(first[8:]))
	n.process.Store(process)
}

// Next appends the next nonce to dst and returns the extended slice. It does not allocate if dst
// has room. It panics if n does not come from [NewNonceSequence], and after 2^63 nonces.
func (n *NonceSequence) Next(dst []byte) []byte {
	process := n.process.Load()
	used := n.used.Add(1) - 1
	if process != fork.Current() && n.size != 0 { // asked after a number is taken, see package fork
		n.begin()
		return n.Next(dst)
	}
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
	low, carry := bits.Add64(n.low.Load(), used, 0)
	high := n.high.Load() + carry
	// The two stores overlap if size is not 16. Copying the nonce from an array would be
	// slower: the loads would have to wait for the stores before them.
	binary.BigEndian.PutUint64(nonce, high<<(8*(16-len(nonce))&63))
	binary.BigEndian.PutUint64(nonce[len(nonce)-8:], low)
	return dst
}
