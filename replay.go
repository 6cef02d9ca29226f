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

// A ReplayWindow finds messages that arrive twice, RFC 4418 section 6.4, by the counter that
// the sender gives each message. It is the sliding window of RFC 4303 section 3.4.3,
// stored as in RFC 6479: it remembers which of the last counters have been accepted, and
// refuses all counters before them.
//
// The counter may start at any number and skip numbers. It must not repeat or wrap
// around. The tag must authenticate it, so it is the nonce, or part of the nonce or of the
// message. The nonces of a [NonceSequence] wrap around and cannot be the counter: with them, put a
// counter into the message. Use one window for each key and sender.
//
// After a restart the receiver has a new window, which accepts old messages again. So
// change the key then. Or store the highest counter before its message has an effect, and
// after a restart refuse all counters up to the stored one.
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

// NewReplayWindow returns a window with one bit for each counter that it remembers. The
// number of bits is 1 to 1048576; for another number NewReplayWindow panics. The
// window uses at most twice the memory of these bits, plus 16 bytes.
//
// A message is refused if another one, whose counter is higher by bits or more, has been
// accepted before it. RFC 4303 advises 64 bits. Fast networks with several paths need
// thousands. If messages arrive in order, 1 is enough.
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

// Accept reports whether counter is new, and remembers it. It returns true if counter has
// not been accepted before, and is above the highest accepted counter or less than the
// size of the window below it. Otherwise Accept returns false and changes nothing. It does
// not allocate. It panics if [NewReplayWindow] did not make w.
//
// Call Accept only after you have verified the tag. With forged counters an attacker could
// move the window, so that all later messages would be refused. Use the message only if
// Accept returns true.
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
