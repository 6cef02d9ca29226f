// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/opaque"
	"example.com/fastmac/internal/replay"
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
// A NonceSequence is safe for concurrent use. Goroutines on several cores that share one wait for each
// other: give each its own. Do not copy it.
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

// maxReplayWindow is the size of the largest window, in counters. Its words occupy 256 KiB.
const maxReplayWindow = 1 << 20

// A ReplayWindow refuses messages that arrive twice, RFC 4418 section 6.4. It knows them by the
// counter that the sender gives each message. It is the sliding window of RFC 4303 section 3.4.3,
// stored as in RFC 6479: it remembers which of the last counters it has accepted, and refuses all
// counters before them. Use one window for each key and sender.
//
// The counter may start at any number and skip numbers. It must not repeat or wrap around. The tag
// must authenticate it, so put it into the nonce or the message. The nonces of a [NonceSequence]
// wrap around and cannot be the counter: with them, put a counter into the message.
//
// After a restart the receiver has a new window, which accepts old messages again. So change the
// key. Or store the highest counter before its message has an effect, and after a restart begin
// above the stored one: see [NewReplayWindowFrom].
//
// A ReplayWindow is not safe for concurrent use. Do not copy it.
type ReplayWindow struct {
	_ opaque.NoCopy

	size    uint64
	highest uint64 // the highest accepted counter; the first one if there is none yet
	words   replay.Bitmap
}

// NewReplayWindow returns a window that remembers bits counters, one bit for each. It panics if
// bits is not 1 to 1048576. The window uses at most twice the memory of these bits, plus 16 bytes.
//
// The window refuses a message if it has accepted a counter that is higher by bits or more. RFC
// 4303 advises 64 bits. Fast networks with several paths need thousands. If messages arrive in
// order, 1 is enough.
func NewReplayWindow(bits int) *ReplayWindow { return NewReplayWindowFrom(0, bits) }

// NewReplayWindowFrom is [NewReplayWindow] for a window that refuses all counters below first, as after a
// restart those that may have been accepted before it.
func NewReplayWindowFrom(first uint64, bits int) *ReplayWindow {
	if bits < 1 || bits > maxReplayWindow {
		panic(fmt.Sprintf("fastmac: ReplayWindow of %d bits: want 1 to %d", bits, maxReplayWindow))
	}
	// A window that begins with the last bit of a word is in this many words.
	needed := 1 + (bits-1+63)/64
	words := 1
	for words < needed {
		words *= 2
	}
	w := &ReplayWindow{size: uint64(bits), highest: first, words: make(replay.Bitmap, words)}
	for i := range w.words {
		w.words[i] = math.MaxUint64 // accepted before
	}
	w.words[first/64&uint64(words-1)] = 1<<(first%64) - 1
	return w
}

// Accept reports whether counter is new, and remembers it. A counter is new if it has not been
// accepted before, and is above the highest accepted counter or less than the size of the window
// below it. If it is not new, Accept changes nothing. Use the message only if Accept returns true.
//
// Call Accept only after you have verified the tag. Otherwise an attacker could move the window
// with forged counters, and the window would refuse all later messages.
//
// Accept does not allocate. It panics if w does not come from [NewReplayWindow] or [NewReplayWindowFrom].
func (w *ReplayWindow) Accept(counter uint64) bool {
	if len(w.words) == 0 {
		panic("fastmac: use of a ReplayWindow that NewReplayWindow did not make")
	}
	return w.words.Slide(&w.highest, w.size, counter) && w.words.Mark(counter)
}

// signNonceSize is the largest size that RFC 4418 allows, because the nonces are random.
const signNonceSize = UMACMaxNonceSize

// Sign draws a nonce of 16 bytes from [crypto/rand]. It appends the nonce and the tag of msg under
// it to dst, 16 + Size() bytes in all, and returns the extended slice. dst may overlap msg.
//
// As in JWT, to sign means to authenticate with a shared key: anyone who can verify can sign.
//
// A random nonce needs no counter, which a crash or a restored snapshot could set back. After a
// snapshot has been restored, the nonce is new only if the kernel was told of it, on Linux by
// VMGENID. Sign at most 2^48 messages with one key: then the probability that two nonces are equal
// is below 2^-33.
func (k *UMACKey) Sign(dst, msg []byte) []byte {
	k.mustLive()
	var sig [signNonceSize + maxUMACTagSize]byte
	nonce := sig[:signNonceSize]
	rand.Read(nonce)
	return append(dst, k.Tag(nonce, nonce, msg)...)
}

// VerifySigned reports whether sig is what [UMACKey.Sign] or [UMAC.Sign] appends for msg: a nonce
// of 16 bytes, then the tag. It returns false if sig has a wrong length.
func (k *UMACKey) VerifySigned(sig, msg []byte) bool {
	if len(sig) != signNonceSize+k.Size() {
		return false
	}
	return k.Verify(sig[signNonceSize:], sig[:signNonceSize], msg)
}

// Sign is [UMACKey.Sign] for a message in parts. It draws a nonce of 16 bytes from [crypto/rand],
// appends it and the tag of the message written so far to dst, 16 + Size() bytes in all, and
// returns the extended slice. It counts towards the same limit of 2^48 messages. The stream does
// not change.
func (u *UMAC) Sign(dst []byte) []byte {
	u.live()
	// Drawn after the message, whose parts may come slowly: a snapshot of the machine that is
	// made between two of them, and restored, must not repeat the nonce.
	var nonce [signNonceSize]byte
	rand.Read(nonce[:])
	dst = slices.Grow(dst, signNonceSize+u.Size())
	return u.Tag(append(dst, nonce[:]...), nonce[:])
}

// VerifySigned reports whether sig is what [UMACKey.Sign] or [UMAC.Sign] appends for the message
// written so far. It returns false if sig has a wrong length. The stream does not change.
//
// Use no part of the message before VerifySigned has returned true. The message that you use must
// be the one that was written: a file, for example, must not change in between.
func (u *UMAC) VerifySigned(sig []byte) bool {
	if len(sig) != signNonceSize+u.Size() {
		return false
	}
	return u.Verify(sig[signNonceSize:], sig[:signNonceSize])
}
