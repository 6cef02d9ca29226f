// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"

	"example.com/fastmac/internal/opaque"
)

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
// key. Or store the highest counter before its message has an effect, and after a restart
// refuse all counters up to the stored one.
//
// A ReplayWindow is not safe for concurrent use. Do not copy it.
type ReplayWindow struct {
	_ opaque.NoCopy

	size    uint64
	highest uint64 // the highest accepted counter; 0 if there is none yet
	// Counter c has bit c%64 of word c/64 modulo the number of words, which is a power of
	// two. The words hold the counters up to the last one in the word of highest.
	words []uint64
}

// NewReplayWindow returns a window that remembers bits counters, one bit for each. It panics if
// bits is not 1 to 1048576. The window uses at most twice the memory of these bits, plus 16 bytes.
//
// The window refuses a message if it has accepted a counter that is higher by bits or more. RFC
// 4303 advises 64 bits. Fast networks with several paths need thousands. If messages arrive in
// order, 1 is enough.
func NewReplayWindow(bits int) *ReplayWindow {
	if bits < 1 || bits > maxReplayWindow {
		panic(fmt.Sprintf("fastmac: ReplayWindow of %d bits: want 1 to %d", bits, maxReplayWindow))
	}
	// A window that begins with the last bit of a word is in this many words.
	needed := 1 + (bits-1+63)/64
	words := 1
	for words < needed {
		words *= 2
	}
	return &ReplayWindow{size: uint64(bits), words: make([]uint64, words)}
}

// Accept reports whether counter is new, and remembers it. A counter is new if it has not been
// accepted before, and is above the highest accepted counter or less than the size of the window
// below it. If it is not new, Accept changes nothing. Use the message only if Accept returns true.
//
// Call Accept only after you have verified the tag. Otherwise an attacker could move the window
// with forged counters, and the window would refuse all later messages.
//
// Accept does not allocate. It panics if w does not come from [NewReplayWindow].
func (w *ReplayWindow) Accept(counter uint64) bool {
	if len(w.words) == 0 {
		panic("fastmac: use of a ReplayWindow that NewReplayWindow did not make")
	}
	mask := uint64(len(w.words) - 1)
	if counter > w.highest {
		// The words after the word of highest still have the bits of counters that are
		// 64*len(w.words) lower.
		last := w.highest / 64
		for i := min(counter/64-last, uint64(len(w.words))); i > 0; i-- {
			w.words[(last+i)&mask] = 0
		}
		w.highest = counter
	} else if w.highest-counter >= w.size {
		return false
	}
	word, bit := &w.words[counter/64&mask], uint64(1)<<(counter%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}
