// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"sync"
	"sync/atomic"

	"example.com/fastmac"
)

// window is what a receiver remembers: the counters that it has accepted, as the ReplayWindow
// of package fastmac does, and the number of wrong tags. What changes with each packet is in one
// cache line and one word of the bitmap: see TestLines.
type window struct {
	mu      sync.Mutex // for what follows except limit and large, and forged may be read without it
	highest uint64     // the highest accepted counter, or first
	first   uint64
	end     uint64        // 0 after stop
	forged  atomic.Uint64 // wrong tags, up to limit
	limit   uint64        // 0 if there is no key
	large   *[]uint64     // the bitmap of a window of more than minWindow bits

	// Counter c has bit c%64 of word c/64 modulo the number of words, which is a power of two.
	// The words hold the counters up to the last one in the word of highest.
	small [minWindow / 64]uint64
}

func (w *window) init(c *Config, n Counters) {
	w.highest, w.first, w.end = n.First, n.First, n.End
	w.forged.Store(0)
	w.limit = c.MaxForged
	if w.limit == 0 {
		w.limit = maxForged
		if c.TagSize == fastmac.UMAC64Size {
			w.limit = maxForged8
		}
	}
	w.large = nil
	clear(w.small[:])
	if c.Window > minWindow {
		words := make([]uint64, c.Window/64)
		w.large = &words
	}
}

// destroy sets w to zero. The limit of 0 makes it refuse everything.
func (w *window) destroy() {
	w.highest, w.first, w.end, w.limit = 0, 0, 0, 0
	w.forged.Store(0)
	w.large = nil
	clear(w.small[:])
}

// words returns the bitmap.
func (w *window) words() []uint64 {
	if w.large != nil {
		return *w.large
	}
	return w.small[:]
}

// worn reports whether there have been too many wrong tags.
func (w *window) worn() bool { return w.forged.Load() >= w.limit }

// judge returns the verdict on a packet whose tag is right or not, and remembers it. The caller
// holds the mutex. It is one function, and Open itself locks, because the CPU does not overlap a
// locked instruction with what is around it, so that each call there takes its full time: with
// two more, a packet of 64 bytes takes 4 % longer to seal and open (Intel Xeon, family 6, model
// 207, Go 1.26.8).
func (w *window) judge(counter uint64, right bool) error {
	switch {
	case w.worn(): // meanwhile
		return ErrWorn
	case !right:
		w.forged.Add(1)
		return ErrForged
	case counter < w.first:
		return ErrOld
	case counter >= w.end:
		return ErrEnd
	}
	words := w.words()
	mask := uint64(len(words) - 1)
	if counter > w.highest {
		// The words after the word of highest still have the bits of counters that are
		// 64*len(words) lower.
		last := w.highest / 64
		for i := min(counter/64-last, uint64(len(words))); i > 0; i-- {
			words[(last+i)&mask] = 0
		}
		w.highest = counter
	} else if w.highest-counter > 64*mask { // its word may have been cleared
		return ErrOld
	}
	word, bit := &words[counter/64&mask], uint64(1)<<(counter%64)
	if *word&bit != 0 {
		return ErrReplayed
	}
	*word |= bit
	return nil
}

// next is Next for callers that hold the mutex.
func (w *window) next() uint64 {
	words := w.words()
	// The bit of the highest accepted counter is set.
	return w.highest + words[w.highest/64%uint64(len(words))]>>(w.highest%64)&1
}

// mustLive panics if there is no key.
func (w *window) mustLive() {
	if w.limit == 0 {
		panic(dead("receiver"))
	}
}

// Next returns one more than the highest accepted counter, or the first counter of the range if
// none has been accepted. Other goroutines may open packets at the same time: see Stop.
func (w *window) Next() uint64 {
	w.mustLive()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next()
}

// Stop ends the range for good: from then on no packet is accepted, and Extend returns an error.
// Stop returns what Next would. A program that ends may store it in place of the end of its range.
// A child after a fork must not store it, because its parent goes on.
func (w *window) Stop() uint64 {
	w.mustLive()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = 0
	return w.next()
}

// Extend moves the end of the range. Store the new end first; half-way through the range is a good
// time. If Open returns [ErrEnd], packets have been lost, or the sender has skipped counters. Then
// store an end above the counter that Open returned, extend to it, and open the packet again.
//
// Extend returns an error, and changes nothing, if end is below the present one, above 2^56, or
// more than 2^48 above the first counter, and after Stop.
func (w *window) Extend(end uint64) error {
	w.mustLive()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.end == 0 {
		return errStopped
	}
	if err := (Counters{w.first, w.end}).checkEnd(end); err != nil {
		return err
	}
	w.end = end
	return nil
}

// Forged returns how many packets had a wrong tag so far.
func (w *window) Forged() uint64 {
	w.mustLive()
	return w.forged.Load()
}
