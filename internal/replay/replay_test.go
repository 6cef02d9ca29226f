// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package replay

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// window is what keeps a bitmap.
type window struct {
	size, highest uint64
	words         Bitmap
}

// newWindow returns a window with as few words as there can be.
func newWindow(size int) *window {
	words := 1
	for 64*(words-1)+1 < size {
		words *= 2
	}
	return &window{size: uint64(size), words: make(Bitmap, words)}
}

func (w *window) accept(counter uint64) bool {
	return w.words.Slide(&w.highest, w.size, counter) && w.words.Mark(counter)
}

// oracle is the definition of a window: it remembers every accepted counter.
type oracle struct {
	size     uint64
	highest  uint64
	accepted map[uint64]bool
}

func (o *oracle) accept(counter uint64) bool {
	end, carry := bits.Add64(counter, o.size, 0)
	if o.accepted[counter] || len(o.accepted) > 0 && carry == 0 && end <= o.highest {
		return false
	}
	o.accepted[counter] = true
	o.highest = max(o.highest, counter)
	return true
}

// TestBitmap compares windows with the definition, for counters in order, late,
// repeated, next to the end of the window, and after jumps. There are 10^7 counters if
// FASTMAC_TEST_LONG is set.
func TestBitmap(t *testing.T) {
	sizes := []int{1, 2, 63, 64, 65, 66, 127, 128, 129, 961, 1000, 1024, 4096, 1 << 20}
	counters := 40_000
	if mactest.Long() {
		counters = 800_000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range sizes {
		var w *window
		var o *oracle
		var accepted, repeated, late, rounds int
		for i := range counters {
			if i%5000 == 0 {
				w = newWindow(size)
				o = &oracle{size: uint64(size), accepted: make(map[uint64]bool)}
			}
			var counter uint64
			switch r := rng.Uint64N(100); {
			case len(o.accepted) == 0: // the first, of each kind in turn
				below := rng.Uint64N(4 * uint64(size))
				counter = []uint64{0, 1<<64 - 1, below, -below, 1<<63 - below, rng.Uint64()}[rounds%6]
				rounds++
			case r < 50: // the next one
				counter = o.highest + 1
			case r < 60: // ahead, by more than a ring at times; may wrap around
				counter = o.highest + rng.Uint64N(4*uint64(size)+200)>>rng.Uint64N(8)
			case r < 85: // in the window, or a little before
				counter = o.highest - rng.Uint64N(uint64(size)+10)
			case r < 90: // next to its end
				counter = o.highest - uint64(size) + rng.Uint64N(5) - 2
			case r < 95: // a word or a ring away
				counter = o.highest + 64<<rng.Uint64N(16) - 128<<rng.Uint64N(16)
			case r < 99: // near the highest
				counter = o.highest - rng.Uint64N(4)
			case i%7 == 0: // anywhere above
				counter = o.highest + (^o.highest)>>rng.Uint64N(64)
			default: // anywhere
				counter = rng.Uint64() >> rng.Uint64N(64)
			}
			known := o.accepted[counter]
			want := o.accept(counter)
			if got := w.accept(counter); got != want {
				t.Fatalf("%d bits, highest %d: counter %d: %v, want %v", size, o.highest, counter, got, want)
			}
			switch {
			case want:
				accepted++
			case known:
				repeated++
			default:
				late++
			}
		}
		if least := counters / 100; accepted < least || repeated < least || late < least {
			t.Errorf("%d bits: %d accepted, %d repeated, %d too late: too few to test", size, accepted, repeated, late)
		}
	}
}

// FuzzBitmap compares a window with its definition. Each step is a distance from the
// last number, and how often it is doubled.
func FuzzBitmap(f *testing.F) {
	mactest.Seeds(f)
	f.Add(uint16(64), uint64(0), []byte{1, 0, 2, 0, 2, 6, 1, 1, 255, 0, 100, 1, 192, 0})
	f.Add(uint16(1024), ^uint64(0)-10, []byte{0, 0, 200, 0, 128, 3, 4, 9, 129, 9})
	f.Fuzz(func(t *testing.T, size uint16, number uint64, steps []byte) {
		if size == 0 {
			return
		}
		w := newWindow(int(size))
		o := oracle{size: uint64(size), accepted: make(map[uint64]bool)}
		for s := mactest.Script(steps); len(s) > 0; {
			number += uint64(int64(int8(s.Byte()))) << (s.Byte() % 64) // wraps around
			highest, want := o.highest, o.accept(number)
			if got := w.accept(number); got != want {
				t.Fatalf("window of %d, steps %x: counter %d after %d: %v, want %v", size, steps, number, highest, got, want)
			}
		}
	})
}
