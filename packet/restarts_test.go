// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

// testEnds has the counters of a sender and the window of a receiver, without keys, whose Stores take a time
// of a clock.
type testEnds struct {
	*testing.T
	send, receive *memory
	c             Config
	now           time.Time
	counters      counters
	window        window
}

func newEnds(t *testing.T, took time.Duration) *testEnds {
	e := &testEnds{T: t, send: new(memory), receive: new(memory), c: Config{Secret: make([]byte, 16), TagSize: 16}}
	e.c.Now = func() time.Time { return e.now }
	e.receive.before = func() { e.now = e.now.Add(took) }
	return e
}

// startSender and startReceiver begin after a crash, or for the first time.
func (e *testEnds) startSender() {
	n := Stored(e.send, nil)
	rng := mactest.Must(n.open(&e.c, umac64, sending))
	e.counters.init(&rng)
}

func (e *testEnds) startReceiver() {
	n := Stored(nil, e.receive)
	rng := mactest.Must(n.open(&e.c, umac64, receiving))
	e.window.init(&e.c, &rng)
}

// judge is Open.
func (e *testEnds) judge(counter uint64) error {
	e.window.mu.Lock()
	defer e.window.mu.Unlock()
	return e.window.judge(counter, true)
}

// accept is judge for a packet that is good, and waits until nothing is reserved.
func (e *testEnds) accept(counter uint64) {
	e.Helper()
	if err := e.judge(counter); err != nil {
		e.Errorf("counter %d: %v", counter, err)
	}
	e.window.settle()
}

// TestRestarts has both ends crash ten times, with three packets between, for each Ahead at either end.
// Nothing is refused. The time that a Store takes does not matter for so few.
func TestRestarts(t *testing.T) {
	all := make([]uint64, 256)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	some := []uint64{1, 2, 3, 4, 32, 63, 64, 65, 256}
	for _, grid := range [][2][]uint64{{all, some}, {some, all}} {
		for _, sends := range grid[0] {
			for _, receives := range grid[1] {
				e := newEnds(t, 10*time.Millisecond)
				for range 10 {
					e.c.Ahead = sends
					e.startSender()
					e.c.Ahead = receives
					e.startReceiver()
					for range 3 {
						counter, err := e.counters.take(1)
						e.counters.settle()
						if err != nil {
							t.Fatal(err)
						}
						if e.accept(counter); t.Failed() {
							t.Fatalf("Ahead of %d and %d", sends, receives)
						}
					}
				}
			}
		}
	}
}

// TestIdleRestarts restarts a receiver 100 times without a packet. It stores nothing, and refuses nothing.
func TestIdleRestarts(t *testing.T) {
	e := newEnds(t, 0)
	for range 100 {
		e.startReceiver()
	}
	if err := e.judge(0); err != nil || e.receive.stored() != 1 {
		t.Errorf("%v, %d is stored, want 1", err, e.receive.stored())
	}
}

// TestClockSetBack has a clock that goes back while the Store writes. That does not reserve more.
func TestClockSetBack(t *testing.T) {
	e := newEnds(t, -time.Millisecond)
	e.startReceiver()
	for counter := range uint64(10) {
		e.accept(counter)
	}
	if n := e.receive.stored(); n != 10 {
		t.Errorf("%d is stored, want 10", n)
	}
}

// TestSlowSensor has a packet a minute, and a receiver that is killed after any of them, also after a burst, or
// while its Store writes. At most one reading is lost for it.
func TestSlowSensor(t *testing.T) {
	e := newEnds(t, 10*time.Millisecond)
	e.startReceiver()
	counter := uint64(0)
	for minute := range 300 {
		if minute == 100 { // a burst of what the network held back
			for range 3000 {
				e.accept(counter)
				counter++
			}
			if e.window.supply.step < 100 {
				t.Errorf("the step is %d after a burst", e.window.supply.step)
			}
			for e.window.supply.end > counter {
				e.now = e.now.Add(time.Minute)
				e.accept(counter)
				counter++
			}
			for range 10 {
				e.now = e.now.Add(time.Minute)
				e.accept(counter)
				counter++
			}
			if e.window.supply.step != 1 {
				t.Errorf("the step is %d after some packets that came slowly", e.window.supply.step)
			}
		}
		if minute%3 == 1 { // it is killed when it has stored a counter, and not accepted it
			e.receive.others(e.window.supply.end + 1 - e.receive.stored())
			counter++
		}
		if minute%3 != 0 {
			e.startReceiver()
		}
		e.accept(counter)
		counter++
		e.now = e.now.Add(time.Minute)
	}
}

// TestBursts has packets at once, and then a crash. After a few nothing is refused, and then fewer than came.
func TestBursts(t *testing.T) {
	for n := range uint64(400) {
		e := newEnds(t, 10*time.Millisecond)
		e.startReceiver()
		for counter := range n {
			end, calls := e.window.supply.end, e.receive.calls
			e.accept(counter)
			if counter < end && end < background && e.receive.calls > calls {
				t.Errorf("counter %d is below the end, and more is reserved", counter)
			}
		}
		if lost := e.receive.stored() - n; lost > 0 && (n <= 4 || lost >= n && n < background || lost > 16*n) {
			t.Errorf("after %d packets %d are refused", n, lost)
		}
	}
}

// TestPace has 10^6 packets, one after the other, and a Store of 10 ms: all are accepted, in a time in which
// the Store is called 30 times. A receiver reserves at most Ahead.
func TestPace(t *testing.T) {
	for _, ahead := range []uint64{0, 1000} {
		e := newEnds(t, 10*time.Millisecond)
		e.c.Ahead = ahead
		e.startReceiver()
		for counter := range uint64(pick(testing.Short() || mactest.Race, 50_000, 1_000_000)) {
			e.now = e.now.Add(50)
			calls := e.receive.calls
			if e.accept(counter); t.Failed() || e.receive.calls > calls+1 {
				t.Fatalf("counter %d: %d calls", counter, e.receive.calls-calls)
			}
			if most := pick(ahead == 0, maxAhead, ahead); e.receive.stored() > counter+most {
				t.Fatalf("%d is stored for counter %d", e.receive.stored(), counter)
			}
		}
		if want := pick(ahead == 0, 30, 2100); e.receive.calls > want {
			t.Errorf("Ahead of %d: %d calls, want at most %d", ahead, e.receive.calls, want)
		}
	}
	// With packets at a steady rate, a crash loses those that arrive in the time of 16 calls at most.
	e := newEnds(t, 10*time.Millisecond)
	e.startReceiver()
	for counter := range uint64(20_000) {
		e.now = e.now.Add(100 * time.Microsecond)
		if e.accept(counter); e.receive.stored() > counter+1+16*100 {
			t.Fatalf("%d is stored for counter %d", e.receive.stored(), counter)
		}
	}
}

// TestBatchReserves opens batches beyond the end. Each group of lanes begins one call of the Store at most.
func TestBatchReserves(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		m := new(memory)
		s, r := newSender(a, config(), Stored(new(memory), nil)), newReceiver(a, config(), Stored(nil, m))
		batch := make([]Packet, 3*lanes)
		if err := s.SealBatch(batch); err != nil {
			t.Fatal(err)
		}
		batch[1].Bytes[0] ^= 0xff // the epoch
		forged := sealStored(t, a, config(), 1<<40)
		forged[len(forged)-1]++
		batch[2].Bytes = forged
		if good := r.OpenBatch(batch); good != len(batch)-2 {
			t.Errorf("%d are good, want %d", good, len(batch)-2)
		}
		if r.settle(); m.calls != 1+3 || m.stored() != 3*lanes {
			t.Errorf("%d is stored in %d calls, want %d in 4", m.stored(), m.calls, 3*lanes)
		}
	})
}

// TestDead has a Store that has failed, and then hangs. Nobody waits for it.
func TestDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t, 0)
		e.startReceiver()
		block := make(chan struct{})
		e.receive.fail, e.receive.always = 2, true
		if err := e.judge(0); err != ErrEnd || !errors.Is(e.window.StoreErr(), errMemory) {
			t.Errorf("%v, want ErrEnd; StoreErr is %v", err, e.window.StoreErr())
		}
		e.receive.before = func() { <-block }
		for counter := range uint64(3) { // the test ends only if they return
			if err := e.judge(counter); err != ErrEnd {
				t.Errorf("%v, want ErrEnd", err)
			}
		}
		e.receive.fail, e.receive.always = 0, false
		close(block)
		if synctest.Wait(); e.judge(0) != nil || e.window.StoreErr() != nil {
			t.Errorf("the Store works again: %v", e.window.StoreErr())
		}
	})
}

// TestWornMeanwhile has a packet that waits for the Store while the receiver gets its last wrong tag.
func TestWornMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t, 0)
		e.c.MaxForged = 1
		e.startReceiver()
		block := make(chan struct{})
		e.receive.before = func() { <-block }
		done := make(chan error)
		go func() { done <- e.judge(0) }()
		synctest.Wait()
		e.window.mu.Lock()
		e.window.judge(0, false)
		e.window.mu.Unlock()
		close(block)
		if err := <-done; err != ErrWorn || e.window.Stats().Unknown != 1 {
			t.Errorf("%v, %+v", err, e.window.Stats())
		}
	})
}

// TestNear has senders and receivers that come near the end of their counters, and receivers that have had
// half of MaxForged wrong tags. Near is told once.
func TestNear(t *testing.T) {
	const nearEnd = 1 << 44 // as Config.Near says
	synctest.Test(t, func(t *testing.T) {
		forAllIn(func(a packetref.Algorithm) {
			for _, stored := range []bool{false, true} {
				first := uint64(maxRange - nearEnd - 3)
				told := make(chan error, 9)
				mustTell := func(want ...error) {
					t.Helper()
					synctest.Wait()
					if len(told) != len(want) {
						t.Fatalf("%d are told, want %v", len(told), want)
					}
					for _, err := range want {
						if got := <-told; got != err {
							t.Errorf("%v is told, want %v", got, err)
						}
					}
				}
				c := config()
				c.MaxForged = 8
				var s sender
				var r receiver
				c.Near = func(err error) { // in a goroutine of its own, or it waits for a lock for ever
					s.Stats()
					r.Stats()
					told <- err
				}
				ofSender, ofReceiver := between(first, maxRange), between(first, maxRange)
				if stored {
					first = maxEnd - nearEnd - 3
					ofSender, ofReceiver = Stored(&memory{value: first}, nil), Stored(nil, &memory{value: first})
				}
				s, r = newSender(a, c, ofSender), newReceiver(a, c, ofReceiver)
				if s.Stats().Left != nearEnd+3 || r.Stats().Left != nearEnd+3 || r.Stats().ForgedLeft != 8 {
					t.Errorf("%+v, %+v", s.Stats(), r.Stats())
				}
				if !stored { // the last packet of a batch is near the end
					if err := newSender(a, c, between(first, maxRange)).SealBatch(make([]Packet, 4)); err != nil {
						t.Error(err)
					}
					mustTell(ErrEnd)
				}
				var packets [][]byte
				for i := range 6 {
					packets = append(packets, mactest.Must(s.Seal(nil, nil)))
					if i == 3 {
						mustTell(ErrEnd)
					}
					mustTell()
				}
				for i, p := range packets {
					if mustOpen(r, p, nil); i == 3 {
						mustTell(ErrEnd)
					}
					mustTell()
				}
				if s.Stats().Left != nearEnd-3 || r.Stats().Left != nearEnd-3 {
					t.Errorf("%+v, %+v", s.Stats(), r.Stats())
				}
				if w := windowOf(r); w.soft != w.supply.half() {
					t.Errorf("packets are slow from %d on, and not from %d on", w.soft, w.supply.half())
				}
				if c := countersOf(s); c.soft.Load() != c.supply.half() {
					t.Errorf("packets are slow from %d on, and not from %d on", c.soft.Load(), c.supply.half())
				}
				p := packets[0]
				p[len(p)-1]++
				for i := range 8 {
					if r.Open(p, nil); i == 3 {
						mustTell(ErrWorn)
					}
					mustTell()
				}
				if got := r.Stats(); got.ForgedLeft != 0 || got.Forged != 8 {
					t.Errorf("%+v", got)
				}
			}
		})
	})
}

// forAllIn is forAll where there are no subtests.
func forAllIn(f func(a packetref.Algorithm)) {
	for _, a := range algorithms() {
		f(a)
	}
}

// TestMaxAge has senders and receivers that get too old.
func TestMaxAge(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		for kind := range 4 {
			now, stored := time.Unix(0, 0), kind == 0
			c := config()
			c.MaxAge, c.Now = time.Hour, func() time.Time { return now }
			if kind != 1 {
				c.Near = func(err error) { t.Errorf("Near: %v", err) }
			}
			ms, mr := new(memory), new(memory)
			n := []Counters{Stored(ms, mr), SecretIsNew(), SecretIsNew(), NewSession(random(32))}[kind]
			s, r := newSender(a, c, n), newReceiver(a, c, n)
			now = now.Add(time.Minute)
			first := mustSeal(t, s)
			now = now.Add(time.Hour - time.Minute - 1)
			p := mustSeal(t, s)
			mustOpen(r, mustSeal(t, s), nil)
			if _, _, err := r.Open(p[:3], nil); err != ErrForged {
				t.Error(err)
			}
			now = now.Add(1)
			if out, err := s.Seal(nil, nil); err != ErrExpired || len(out) != 0 {
				t.Errorf("Seal: %x, %v, want ErrExpired", out, err)
			}
			if err := s.SealBatch(make([]Packet, 2)); err != ErrExpired {
				t.Errorf("SealBatch: %v, want ErrExpired", err)
			}
			if msg, counter, err := r.Open(p, nil); err != ErrExpired || msg != nil || counter != 1 {
				t.Errorf("Open: %q, %d, %v, want ErrExpired", msg, counter, err)
			}
			first[len(first)-1]++
			batch := []Packet{{Bytes: p}, {Bytes: first}}
			if r.OpenBatch(batch); batch[0].Err != ErrExpired || batch[1].Err != ErrForged {
				t.Errorf("OpenBatch: %v, %v", batch[0].Err, batch[1].Err)
			}
			if r.Stats().Ended != 2 || s.Stats().Ended != 3 {
				t.Errorf("%+v, %+v", s.Stats(), r.Stats())
			}
			now = now.Add(-time.Hour) // a clock that is set back
			mustOpen(r, p, nil)
			if err1, err2 := s.Stop(), r.Stop(); err1 != nil || err2 != nil || stored && (ms.stored() != 3 || mr.stored() != 3) {
				t.Errorf("%v, %v; %d and %d are stored", err1, err2, ms.stored(), mr.stored())
			}
			if _, err := s.Seal(nil, nil); err != ErrEnd {
				t.Errorf("Seal after Stop: %v", err)
			}
			if _, _, err := r.Open(first[:len(first):len(first)], nil); err == nil {
				t.Error("Open after Stop")
			}
			if r.Stats().Left != 0 || s.Stats().Left != 0 {
				t.Errorf("after Stop: %+v, %+v", s.Stats(), r.Stats())
			}
		}
	})
}

func mustSeal(t *testing.T, s sender) []byte {
	t.Helper()
	return mactest.Must(s.Seal(make([]byte, 0, 100), nil))
}
