// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package replay is the sliding window of RFC 4303 section 3.4.3, stored as in RFC 6479. A counter is
// new if [Bitmap.Slide] and then [Bitmap.Mark] return true. They are two, because the compiler inlines
// each of them, and a call takes 2 % of the time to seal and open a short packet.
package replay

// A Bitmap has a bit for each counter of a window: counter c has bit c%64 of word c/64 modulo the number
// of words, which is a power of two. The words hold the counters up to the last one in the word of the
// highest. So a window has at most 64*(len-1)+1 counters.
type Bitmap []uint64

// Slide moves a window of size counters up to counter, if that is above highest, which it then sets to
// counter. It reports whether counter is in the window.
func (b Bitmap) Slide(highest *uint64, size, counter uint64) bool {
	if counter <= *highest {
		return *highest-counter < size
	}
	// The words after the word of highest still have the bits of counters that are 64*len(b) lower.
	last := *highest / 64
	for i := min(counter/64-last, uint64(len(b))); i > 0; i-- {
		b[(last+i)&uint64(len(b)-1)] = 0
	}
	*highest = counter
	return true
}

// Mark sets the bit of a counter in the window, and reports whether it was 0.
func (b Bitmap) Mark(counter uint64) bool {
	word, bit := &b[counter/64&uint64(len(b)-1)], uint64(1)<<(counter%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}
