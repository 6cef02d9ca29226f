// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// TestEnd has 16 goroutines at the end of a range, which is extended meanwhile, until the Store
// fails. Each counter is used once, in order of a goroutine, and none that is not stored.
func TestEnd(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const first, extensions, step = 1<<40 - 7, 40, 100
		m := &memory{value: first, fail: extensions + 1, always: true}
		s := newSender(a, config(), m.steps(step))
		r := newReceiver(a, config(), Stored(nil, &memory{value: first}))
		var used [extensions * step]atomic.Int32
		use := func(counter uint64) {
			if counter < first || counter >= first+uint64(len(used)) {
				t.Errorf("counter %d", counter)
				return
			}
			m.mustHave(t, counter)
			used[counter-first].Add(1)
		}
		var done atomic.Bool
		mactest.Concurrently(16, func(g int) {
			if g == 0 {
				for m.failures() == 0 {
					s.settle()
					runtime.Gosched()
				}
				for s.Next() < first+extensions*step-5 {
					runtime.Gosched()
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
					if err != ErrEnd || packet != nil {
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
			if dst, err := s.Trailer([]byte("a"), nil); err != ErrEnd || dst != nil {
				t.Errorf("Trailer: %q, %v, want ErrEnd", dst, err)
			}
			if packet, err := s.Seal([]byte("a"), nil); err != ErrEnd || packet != nil {
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
	c.init(&supplied{100, 1 << 48, nil})
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

// TestStop stops senders and receivers while others use them: no counter is used from the one on
// that Stop returns.
func TestStop(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for range 20 {
			c := config()
			c.Ahead = 1 << 20
			ms, mr := &memory{value: 7}, &memory{value: 7}
			s, r := newSender(a, config(), ms.steps(1<<20)), newReceiver(a, c, Stored(nil, mr))
			var sent, accepted atomic.Uint64
			greatest := func(of *atomic.Uint64, counter uint64) {
				for old := of.Load(); counter > old && !of.CompareAndSwap(old, counter); old = of.Load() {
				}
			}
			var sealed sync.WaitGroup
			sealed.Add(1)
			mactest.Concurrently(4, func(g int) {
				if g == 0 {
					sealed.Wait()
					for _, err := range []error{s.Stop(), r.Stop(), s.Stop(), r.Stop()} {
						if err != nil {
							t.Error(err)
						}
					}
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
			if got := ms.stored(); sent.Load()+1 != got || s.Next() != got {
				t.Errorf("%d is stored, Next is %d after counter %d", got, s.Next(), sent.Load())
			}
			if got := mr.stored(); accepted.Load() >= got || r.Next() != got {
				t.Errorf("%d is stored, Next is %d after counter %d", got, r.Next(), accepted.Load())
			}
			if ms.releases != 1 || mr.releases != 1 {
				t.Errorf("%d and %d releases, want 1", ms.releases, mr.releases)
			}
			if p, err := s.Seal([]byte("a"), nil); err != ErrEnd || p != nil {
				t.Errorf("Seal after Stop: %q, %v", p, err)
			}
			if err := s.SealBatch(nil); err != nil {
				t.Errorf("SealBatch of nothing after Stop: %v", err)
			}
			if err := s.SealBatch(make([]Packet, 2)); err != ErrEnd {
				t.Errorf("SealBatch after Stop: %v", err)
			}
			if got := s.Stats(); got.Sealed != ms.stored()-7 || got.Ended < 3 || got.Left != 0 {
				t.Errorf("%+v, want %d sealed, at least 3 ended, and none left", got, ms.stored()-7)
			}
			ended := r.Stats().Ended
			for _, counter := range []uint64{ms.stored(), 1 << 19} {
				if msg, got, err := r.Open(sealStored(t, a, config(), counter), nil); msg != nil || got != counter || err != ErrEnd {
					t.Errorf("Open after Stop: %q, %d, %v", msg, got, err)
				}
			}
			r.settle()
			if r.Stats().Ended != ended+2 || ms.calls != 2 || mr.stored() != r.Next() {
				t.Errorf("%+v, %d calls of the sender's Store, %d is stored", r.Stats(), ms.calls, mr.stored())
			}
		}
	})
}
