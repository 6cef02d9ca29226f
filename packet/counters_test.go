// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"sync"
	"sync/atomic"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// TestEnd has 16 goroutines at the end of a range, which is extended meanwhile. Each counter is used
// once, in order of a goroutine, and none outside.
func TestEnd(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const first, extensions, step = 1<<40 - 7, 40, 100
		s := newSender(a, config(), Counters{first, first + step})
		r := newReceiver(a, config(), Fresh())
		var used [extensions * step]atomic.Int32
		use := func(counter uint64) {
			if counter < first || counter >= first+uint64(len(used)) {
				t.Errorf("counter %d", counter)
				return
			}
			used[counter-first].Add(1)
		}
		var done atomic.Bool
		mactest.Concurrently(16, func(g int) {
			if g == 0 {
				for i := range uint64(extensions) {
					if err := s.Extend(first + (i+1)*step); err != nil {
						t.Error(err)
					}
					for range 1000 {
						if s.Next() == first+(i+1)*step {
							break
						}
					}
				}
				done.Store(true)
				return
			}
			batch := make([]Packet, 1+g%5)
			for last := false; ; {
				if g%2 == 0 {
					packet, err := s.Seal([]byte{1}, nil)
					if err == nil {
						_, counter, err := r.Open(packet, nil)
						if err != nil && err != ErrOld {
							t.Error(err)
						}
						use(pick(err == nil, counter, counterOf(mactest.Must((&form{tagSize: uint8(a.TagSize()), epoch: 5}).parse(packet)))))
						continue
					}
					if err != ErrEnd || len(packet) != 1 {
						t.Errorf("%v, %x", err, packet)
					}
				} else {
					clear(batch)
					err := s.SealBatch(batch)
					if err == nil {
						for i, p := range batch {
							if p.Counter != batch[0].Counter+uint64(i) {
								t.Errorf("%d after %d", p.Counter, batch[0].Counter)
							}
							use(p.Counter)
						}
						continue
					}
					if err != ErrEnd || batch[0].Bytes != nil {
						t.Errorf("%v, %x", err, batch[0].Bytes)
					}
				}
				if last {
					return
				}
				last = done.Load()
			}
		})
		for i := range used {
			if n := used[i].Load(); n != 1 {
				t.Fatalf("counter %d of %d has been used %d times", i, len(used), n)
			}
		}
		end := first + uint64(len(used))
		for range 100 {
			if _, err := s.Seal(nil, nil); err != ErrEnd {
				t.Errorf("%v, want ErrEnd", err)
			}
			if dst, err := s.Trailer([]byte("a"), nil); err != ErrEnd || string(dst) != "a" {
				t.Errorf("Trailer: %q, %v, want ErrEnd", dst, err)
			}
			if packet, err := s.Seal([]byte("a"), nil); err != ErrEnd || string(packet) != "a" {
				t.Errorf("Seal: %q, %v, want ErrEnd", packet, err)
			}
			if err := s.SealBatch(make([]Packet, 3)); err != ErrEnd {
				t.Errorf("%v, want ErrEnd", err)
			}
		}
		if s.Next() != end {
			t.Errorf("Next is %d, want %d", s.Next(), end)
		}
		if err := s.SealBatch(nil); err != nil {
			t.Errorf("an empty batch: %v", err)
		}
	})
}

// TestTake counts what many goroutines take at the same time.
func TestTake(t *testing.T) {
	var c counters
	c.init(Counters{100, 1 << 48})
	var sum atomic.Uint64
	mactest.Concurrently(16, func(g int) {
		var mine uint64
		last := uint64(99)
		for i := range uint64(100_000) {
			n := i % 3
			first, err := c.take(n)
			if err != nil || first <= last {
				t.Errorf("%d after %d, %v", first, last, err)
				return
			}
			if n > 0 {
				last = first + n - 1
			}
			mine += n
		}
		sum.Add(mine)
	})
	if got, want := c.next.Load(), 100+sum.Load(); got != want {
		t.Errorf("next is %d after %d counters, want %d", got, sum.Load(), want)
	}
}

// TestExtend has the limits of ranges.
func TestExtend(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for _, n := range []Counters{{5, 10}, {1<<56 - 100, 1<<56 - 90}} {
			for what, extend := range map[string]func(uint64) error{
				"sender":   newSender(a, config(), n).Extend,
				"receiver": newReceiver(a, config(), n).Extend,
			} {
				most := min(n.First+1<<48, 1<<56)
				for _, test := range []struct {
					end  uint64
					good bool
				}{
					{0, false}, {n.End - 1, false}, {n.End, true}, {n.End + 5, true}, {n.End + 4, false},
					{most + 1, false}, {1<<64 - 1, false}, {most, true}, {most - 1, false}, {most + 1, false},
				} {
					if err := extend(test.end); (err == nil) != test.good {
						t.Errorf("%s of %v, Extend to %d: %v", what, n, test.end, err)
					}
				}
			}
		}
	})
}

// TestCrashPoints has a program that stores the end of its range before it uses it, and crashes
// after any of its steps, several times. No counter is used twice.
func TestCrashPoints(t *testing.T) {
	a := algorithms()[0]
	const step = 5
	for first := range 30 {
		for second := range 30 {
			var stored uint64 // what is on the disk
			used := make(map[uint64]bool)
			r := newReceiver(a, config(), Fresh())
			for _, crash := range []int{first, second, 30} {
				done := 0
				next := func() bool { // whether the program gets to its next step
					done++
					return done <= crash
				}
				run := func() {
					first := stored
					if !next() {
						return
					}
					stored = first + step
					if !next() {
						return
					}
					s := newSender(a, config(), Stored(first, step))
					for next() {
						packet, err := s.Seal(nil, nil)
						if err != nil {
							t.Fatalf("%v at %d of %d", err, s.Next(), stored)
						}
						_, counter, err := r.Open(packet, nil)
						if err != nil || used[counter] {
							t.Fatalf("crashes after %d and %d steps: counter %d, %v", first, second, counter, err)
						}
						used[counter] = true
						if end := stored + step; s.Next()+step/2 >= stored {
							if !next() {
								return
							}
							stored = end
							if !next() {
								return
							}
							if err := s.Extend(end); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				run()
			}
		}
	}
}

// TestStop stops senders and receivers while others use them: no counter is used from the one on
// that Stop returns.
func TestStop(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for range 20 {
			s, r := newSender(a, config(), Stored(7, 1<<20)), newReceiver(a, config(), Stored(7, 1<<20))
			var sent, stop, accepted, last atomic.Uint64
			greatest := func(of *atomic.Uint64, counter uint64) {
				for old := of.Load(); counter > old && !of.CompareAndSwap(old, counter); old = of.Load() {
				}
			}
			var sealed sync.WaitGroup
			sealed.Add(1)
			mactest.Concurrently(4, func(g int) {
				if g == 0 {
					sealed.Wait()
					stop.Store(s.Stop())
					last.Store(r.Stop())
					return
				}
				for i := range 2000 {
					batch := []Packet{{Bytes: make([]byte, 3)}, {}}
					if err := s.SealBatch(batch); err != nil {
						if err != ErrEnd {
							t.Error(err)
						}
						break
					}
					greatest(&sent, batch[1].Counter)
					if r.OpenBatch(batch) == 2 {
						greatest(&accepted, batch[1].Counter)
					}
					if g == 1 && i == 0 {
						sealed.Done()
					}
				}
			})
			if sent.Load()+1 != stop.Load() || s.Next() != stop.Load() || s.Stop() != stop.Load() {
				t.Errorf("Stop returns %d and %d, Next %d after counter %d", stop.Load(), s.Stop(), s.Next(), sent.Load())
			}
			if accepted.Load() >= last.Load() || r.Next() != last.Load() || r.Stop() != last.Load() {
				t.Errorf("Stop returns %d and %d, Next %d after counter %d", last.Load(), r.Stop(), r.Next(), accepted.Load())
			}
			if p, err := s.Seal([]byte("a"), nil); err != ErrEnd || string(p) != "a" {
				t.Errorf("Seal after Stop: %q, %v", p, err)
			}
			if err := s.SealBatch(nil); err != ErrEnd {
				t.Errorf("SealBatch after Stop: %v", err)
			}
			if msg, counter, err := r.Open(sealAt(t, a, config(), 1<<19, ""), nil); msg != nil || counter != 1<<19 || err != ErrEnd {
				t.Errorf("Open after Stop: %q, %d, %v", msg, counter, err)
			}
			for _, err := range []error{s.Extend(1 << 30), r.Extend(1 << 30)} {
				if err != errStopped {
					t.Errorf("Extend after Stop: %v", err)
				}
			}
		}
	})
}
