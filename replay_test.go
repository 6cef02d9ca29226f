// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// replayOracle is the definition of a window: it remembers every accepted counter.
type replayOracle struct {
	size     uint64
	highest  uint64
	accepted map[uint64]bool
}

func (o *replayOracle) accept(counter uint64) bool {
	end, carry := bits.Add64(counter, o.size, 0)
	if o.accepted[counter] || len(o.accepted) > 0 && carry == 0 && end <= o.highest {
		return false
	}
	o.accepted[counter] = true
	o.highest = max(o.highest, counter)
	return true
}

// TestReplayWindow compares windows with the definition, for counters in order, late,
// repeated, next to the end of the window, and after jumps. There are 10^7 counters if
// FASTMAC_TEST_LONG is set.
func TestReplayWindow(t *testing.T) {
	sizes := []int{1, 2, 63, 64, 65, 66, 127, 128, 129, 1000, 1024, 4096, 1 << 20}
	counters := 40_000
	if mactest.Long() {
		counters = 800_000
	}
	rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestReplayWindow, 32 bytes seed."))))
	for _, size := range sizes {
		var w *ReplayWindow
		var o *replayOracle
		var accepted, repeated, late, rounds int
		for i := range counters {
			if i%5000 == 0 {
				w = NewReplayWindow(size)
				o = &replayOracle{size: uint64(size), accepted: make(map[uint64]bool)}
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
			if got := w.Accept(counter); got != want {
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

// TestReplayWindowConcurrent passes each counter twice, to a window that 1,000 goroutines
// share, under a lock. Each must be accepted once. Each goroutine also has its own window,
// which accepts all of them.
func TestReplayWindowConcurrent(t *testing.T) {
	const goroutines, counters = 1000, 8
	shared, accepted := NewReplayWindow(goroutines*counters), 0
	var mu sync.Mutex
	mactest.Concurrently(goroutines, func(g int) {
		own := NewReplayWindow(goroutines * counters)
		for i := range counters {
			counter := uint64(g/2*2*counters + 2*i) // the same in two goroutines
			for range 2 {
				if !own.Accept(counter) {
					t.Errorf("counter %d is refused", counter)
				}
				mu.Lock()
				if shared.Accept(counter) {
					accepted++
				}
				mu.Unlock()
				counter++
			}
		}
	})
	if accepted != goroutines*counters {
		t.Errorf("%d counters accepted, want %d", accepted, goroutines*counters)
	}
}

// TestReplayWindowEdges accepts counters at both ends of a window, and the lowest and highest
// of all counters.
func TestReplayWindowEdges(t *testing.T) {
	const top = 1<<64 - 1
	for _, test := range []struct {
		size    int
		counter []uint64
		want    string // for each counter, y if it is accepted
	}{
		{1, []uint64{0, 0, 1, 0, 1, 2}, "ynynny"},
		{1, []uint64{top, top, top - 1, 0}, "ynnn"},
		{2, []uint64{5, 4, 4, 3, 5, 7, 5, 6}, "yynnnyny"},
		{63, []uint64{1000, 938, 937, 1001, 938, 939}, "yynyny"},
		{64, []uint64{0, 64, 0, 1, 1, 65, 128, 64}, "yynynyyn"},
		{64, []uint64{63, 0, 127, 63, 64, 62}, "yyynyn"},
		{64, []uint64{top - 64, top, top - 64, top - 63, top - 63, 0}, "yynynn"},
		{65, []uint64{0, 64, 0, 65, 0, 1}, "yynyny"},
		{65, []uint64{0, top, 0, top - 64, top - 65, top}, "yynynn"},
		{1000, []uint64{1 << 63, 1<<63 - 999, 1<<63 - 1000, 1 << 63}, "yynn"},
		{1024, []uint64{1023, 1024, 0, 1, 2047, 1023, 1024, 1025}, "yynyynny"},
		{4096, []uint64{1, 1 + 1<<12, 1 + 1<<13, 2 + 1<<12, 1 + 1<<12}, "yyyyn"},
		{1 << 20, []uint64{1<<20 - 1, 0, 1 << 20, 0, 1, 1 << 40, 1<<40 - 1<<20, 1<<40 - 1<<20 + 1}, "yyynyyny"},
	} {
		w := NewReplayWindow(test.size)
		got := ""
		for _, c := range test.counter {
			if w.Accept(c) {
				got += "y"
			} else {
				got += "n"
			}
		}
		if got != test.want {
			t.Errorf("%d bits, counters %d: accepted %s, want %s", test.size, test.counter, got, test.want)
		}
	}
}

func TestNewReplayWindow(t *testing.T) {
	for _, n := range []int{-1 << 31, -64, -1, 0, 1<<20 + 1, 1<<31 - 1} {
		mactest.MustPanic(t, "NewReplayWindow", fmt.Sprintf("fastmac: ReplayWindow of %d bits: want 1 to 1048576", n),
			func() { NewReplayWindow(n) })
	}
	mactest.MustPanic(t, "Accept of the zero value", "NewReplayWindow did not make", func() { new(ReplayWindow).Accept(1) })
	mactest.MustPanic(t, "Accept(0) of the zero value", "NewReplayWindow did not make", func() { new(ReplayWindow).Accept(0) })
}

// TestReplayWindowMemory checks that a window has the fewest words, a power of two, that it can
// be in when it begins with the last bit of a word. This is less than twice its bits, and 16
// bytes.
func TestReplayWindowMemory(t *testing.T) {
	for size := 1; size <= 1000; size++ {
		words := len(NewReplayWindow(size).words)
		if room := 64*words - 63; room < size || words > 1 && room-32*words >= size || 8*words > 2*size/8+16 {
			t.Errorf("%d bits: %d words", size, words)
		}
	}
}

func TestReplayWindowAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	w := NewReplayWindow(1000)
	counter := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { counter += 300; w.Accept(counter); w.Accept(counter - 500) }); n != 0 {
		t.Errorf("Accept makes %v allocations", n)
	}
}

// FuzzReplayWindow compares a window with its definition. Each step is a distance from the
// last number, and how often it is doubled.
func FuzzReplayWindow(f *testing.F) {
	mactest.Seeds(f)
	f.Add(uint16(64), uint64(0), []byte{1, 0, 2, 0, 2, 6, 1, 1, 255, 0, 100, 1, 192, 0})
	f.Add(uint16(1024), ^uint64(0)-10, []byte{0, 0, 200, 0, 128, 3, 4, 9, 129, 9})
	f.Fuzz(func(t *testing.T, size uint16, number uint64, steps []byte) {
		if size == 0 {
			return
		}
		w := NewReplayWindow(int(size))
		o := replayOracle{size: uint64(size), accepted: make(map[uint64]bool)}
		for s := mactest.Script(steps); len(s) > 0; {
			number += uint64(int64(int8(s.Byte()))) << (s.Byte() % 64) // wraps around
			highest, want := o.highest, o.accept(number)
			if got := w.Accept(number); got != want {
				t.Fatalf("window of %d, steps %x: Accept(%d) after %d: %v, want %v", size, steps, number, highest, got, want)
			}
		}
	})
}
