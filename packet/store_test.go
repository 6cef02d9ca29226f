// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/packet/internal/packetref"
)

var errMemory = errors.New("no space left")

// memory is a Store that forgets all in the end. It is for one key and direction.
type memory struct {
	mu       sync.Mutex
	id       [16]byte // zero until the first Reserve
	value    uint64   // what is stored
	calls    int      // of Reserve and Release
	fail     int      // the number of the call that fails, from 1 on
	always   bool     // the later ones fail too
	late     bool     // a call that fails has stored
	failed   int
	refuses  bool // Reserve, because Release was called
	releases int
	before   func() // each call
}

// call is the common part of Reserve and Release.
func (m *memory) call(id [16]byte, store func()) error {
	if m.before != nil {
		m.before()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.id == [16]byte{} {
		m.id = id
	}
	fails := m.calls == m.fail || m.always && m.fail > 0 && m.calls > m.fail
	switch {
	case m.id != id:
		return errors.New("the Store of another key")
	case fails && !m.late:
		m.failed++
		return errMemory
	}
	store()
	if fails {
		m.failed++
		return errMemory
	}
	return nil
}

func (m *memory) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	if m.refuses {
		return 0, errors.New("released")
	}
	err = m.call(id, func() { first, m.value = m.value, m.value+n })
	return first, err
}

func (m *memory) Release(id [16]byte, end, next uint64) (err error) {
	m.refuses = true
	failed := m.call(id, func() {
		if m.value != end {
			err = errors.New("somebody else has reserved counters")
			return
		}
		m.value, m.releases = next, m.releases+1
	})
	return errors.Join(err, failed)
}

func (m *memory) stored() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value
}

func (m *memory) failures() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// mustHave checks that a counter that is used is below what is stored.
func (m *memory) mustHave(t *testing.T, counter uint64) {
	t.Helper()
	if stored := m.stored(); counter >= stored {
		t.Errorf("counter %d is used, and %d is stored", counter, stored)
	}
}

// restart is what a Store is after a crash or a stop.
func (m *memory) restart() *memory { return &memory{id: m.id, value: m.stored()} }

// steps returns Counters of a sender that reserves so many at a time.
func (m *memory) steps(step uint64) Counters {
	n := Stored(m, nil)
	n.step = step
	return n
}

// sealStored returns a packet with this counter, of a sender with a Store.
func sealStored(t testing.TB, a packetref.Algorithm, c Config, counter uint64) []byte {
	t.Helper()
	s := newSender(a, c, Stored(&memory{value: counter}, nil))
	defer s.Destroy()
	return mactest.Must(s.Seal(nil, make([]byte, c.DataSize)))
}

// TestSteps has a sender and a receiver whose Stores fail at a call, before or after it has stored,
// once or for good. No counter is used above what is stored, none twice, and none is accepted twice.
func TestSteps(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const step, ahead, packets = 10, 8, 60
		for fail := range 25 {
			for kind := range 4 {
				ms := &memory{value: 1000, fail: fail, late: kind&1 != 0, always: kind&2 != 0}
				mr := &memory{value: 1000, fail: fail, late: kind&1 != 0, always: kind&2 != 0}
				c := config()
				c.Ahead = ahead
				if fail == 1 {
					c.TagSize = a.TagSize()
					var err error
					if a == packetref.GMAC {
						_, err = NewGMACReceiver(c, Stored(nil, mr))
					} else {
						_, err = NewUMACReceiver(c, Stored(nil, mr))
					}
					if !errors.Is(err, errMemory) {
						t.Errorf("the first call fails: %v", err)
					}
					continue
				}
				s, r := newSender(a, c, ms.steps(step)), newReceiver(a, c, Stored(nil, mr))
				accepted, sent, ended := uint64(0), uint64(0), uint64(0)
				last := uint64(0)
				for i := range packets {
					p, err := s.Seal(nil, nil)
					s.settle()
					if failed := ms.failures() > 0 && s.StoreErr() != nil; failed != (err == ErrEnd) && err != nil {
						t.Fatalf("packet %d: %v, %v", i, err, s.StoreErr())
					} else if failed && !errors.Is(s.StoreErr(), errMemory) {
						t.Fatalf("packet %d: StoreErr is %v", i, s.StoreErr())
					}
					if err != nil {
						ended++
						continue
					}
					sent++
					counter := counterOf(mactest.Must((&form{tagSize: uint8(a.TagSize()), epoch: 5}).parse(p)))
					if ms.mustHave(t, counter); counter <= last {
						t.Fatalf("counter %d after %d", counter, last)
					}
					last = counter
					_, counter, err = r.Open(p, nil)
					if r.settle(); err == nil {
						mr.mustHave(t, counter)
						accepted++
					} else if err != ErrEnd && (err != ErrRestarted || !mr.late) { // the next call skips what was stored
						t.Fatal(err)
					}
					if _, _, again := r.Open(p, nil); err == nil && again != ErrReplayed || err != nil && again == nil {
						t.Fatalf("%v, and then %v", err, again) // the Store has failed: it is tried again in the background
					}
					r.settle()
				}
				if got := s.Stats(); got.Sealed != sent || got.Ended != ended || sent+ended != packets {
					t.Errorf("%+v, want %d and %d", got, sent, ended)
				}
				if got := r.Stats(); got.Accepted != accepted {
					t.Errorf("%+v, want %d accepted", got, accepted)
				}
				if kind&2 == 0 && (ended != 0 || accepted < packets-2) {
					t.Errorf("one failure at call %d, kind %d: %d packets are sealed, and %d accepted", fail, kind, sent, accepted)
				}
			}
		}
	})
}

// TestCrashes has a sender and a receiver that crash in any call of their Stores, before or after it
// has stored, twice, and stop in the end. No counter is used twice, and no packet is accepted twice,
// with all packets replayed after each restart.
func TestCrashes(t *testing.T) {
	a := algorithms()[0]
	const step, packets, most = 6, 20, 9
	for first := 2; first < most; first++ {
		for second := 2; second < most; second++ {
			for kind := range 4 {
				ms, mr := new(memory), new(memory)
				used, accepted := make(map[uint64]bool), make(map[uint64]bool)
				var capture [][]byte
				for run, crash := range []int{first, second, 0} {
					c := config()
					c.Ahead = step
					ms, mr = ms.restart(), mr.restart()
					ms.fail, mr.fail, ms.late, mr.late = crash, crash, kind&1 != 0, kind&2 != 0
					ms.always, mr.always = crash > 0, crash > 0
					s, r := newSender(a, c, ms.steps(step)), newReceiver(a, c, Stored(nil, mr))
					open := func(p []byte) {
						_, counter, err := r.Open(p, nil)
						if r.settle(); err == nil && accepted[counter] {
							t.Fatalf("crashes at calls %d and %d: counter %d is accepted twice", first, second, counter)
						} else if err == nil {
							accepted[counter] = true
							mr.mustHave(t, counter)
						}
					}
					for _, p := range capture {
						open(p)
					}
					for ms.failures() == 0 && s.Stats().Sealed < packets {
						p, err := s.Seal(nil, nil)
						if s.settle(); err != nil {
							t.Fatal(err)
						}
						counter := counterOf(mactest.Must((&form{tagSize: 8, epoch: 5}).parse(p)))
						if ms.mustHave(t, counter); used[counter] {
							t.Fatalf("crashes at calls %d and %d: counter %d is used twice", first, second, counter)
						}
						used[counter] = true
						capture = append(capture, p)
						if mr.failures() == 0 {
							open(p)
						}
					}
					if run == 2 {
						if err := errors.Join(s.Stop(), r.Stop()); err != nil {
							t.Fatal(err)
						}
						if ms.stored() != s.Next() || mr.stored() != r.Next() {
							t.Errorf("%d and %d are stored, want %d and %d", ms.stored(), mr.stored(), s.Next(), r.Next())
						}
					}
				}
			}
		}
	}
}

// TestCatchUp has a sender that is far ahead of its receiver. Each packet is accepted, after one call of the
// Store, which reserves no more than that. A forged or a repeated one makes nobody store.
func TestCatchUp(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		m := new(memory)
		c := config()
		r := newReceiver(a, c, Stored(nil, m))
		for _, at := range []uint64{64, 1 << 32, 1<<32 + 5000, 1 << 48, 1 << 55, maxEnd - 2} {
			bad := sealStored(t, a, c, at+1)
			bad[len(bad)-1]++
			calls := m.calls
			if _, _, err := r.Open(bad, nil); err != ErrForged {
				t.Fatal(err)
			}
			if r.settle(); m.calls != calls {
				t.Errorf("a forged packet makes the receiver store")
			}
			for i, want := range []error{nil, ErrReplayed, nil, ErrReplayed, nil} {
				counter := at + uint64(i/2) - 3*uint64(i/4) // at, the next one, and one before
				if _, _, err := r.Open(sealStored(t, a, c, counter), nil); err != want {
					t.Errorf("counter %d: %v, want %v", counter, err, want)
				}
				r.settle()
			}
			if m.stored() != at+2 || m.calls != calls+2 {
				t.Errorf("%d is stored in %d calls, want %d in 2", m.stored(), m.calls-calls, at+2)
			}
		}
		// A late packet has the Store tried again for the highest one, if the call for that has failed.
		m = &memory{fail: 2}
		r = newReceiver(a, c, Stored(nil, m))
		for _, step := range []struct {
			counter uint64
			want    error
		}{{63, ErrEnd}, {40, ErrEnd}, {40, nil}, {63, nil}} {
			if _, _, err := r.Open(sealStored(t, a, c, step.counter), nil); err != step.want {
				t.Errorf("counter %d: %v, want %v", step.counter, err, step.want)
			}
			r.settle()
		}
		if m.stored() != 64 || m.calls != 3 {
			t.Errorf("%d is stored in %d calls, want 64 in 3", m.stored(), m.calls)
		}
	})
}

// TestBlocked has Stores that take long. Seal does not wait for them. Open waits for the packets beyond the
// end, and not for others, and Stop waits.
func TestBlocked(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const step = 64
		block := make(chan struct{})
		ms, mr := new(memory), new(memory)
		s, r := newSender(a, config(), ms.steps(step)), newReceiver(a, config(), Stored(nil, mr))
		mustOpen(r, sealStored(t, a, config(), step), nil)
		wait := func() func() {
			var busy atomic.Bool
			return func() {
				if busy.Swap(true) {
					t.Error("two calls of a Store at a time")
				}
				<-block
				busy.Store(false)
			}
		}
		ms.before, mr.before = wait(), wait()
		stopped := make(chan error, 3)
		go func() {
			_, _, err := r.Open(sealStored(t, a, config(), step+1), nil)
			stopped <- err
		}()
		for windowOf(r).isIdle() {
			runtime.Gosched()
		}
		for i := range step {
			p, err := s.Seal(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, counter, err := r.Open(p, nil); err != nil || counter != uint64(i) {
				t.Fatal(counter, err)
			}
		}
		if _, err := s.Seal(nil, nil); err != ErrEnd {
			t.Errorf("%v, want ErrEnd", err)
		}
		go func() { stopped <- s.Stop() }()
		go func() { stopped <- r.Stop() }()
		for range 1000 { // so that they wait
			runtime.Gosched()
		}
		close(block)
		for range 3 {
			if err := <-stopped; err != nil && err != ErrEnd { // of the packet that waits, if Stop comes first
				t.Error(err)
			}
		}
		if ms.stored() != step || mr.stored() != r.Next() {
			t.Errorf("%d and %d are stored, want %d and %d", ms.stored(), mr.stored(), step, r.Next())
		}
	})
}

// TestAbandoned sets up a sender and a receiver again, and destroys them, while their Stores reserve.
// What the Stores return then is for nobody.
func TestAbandoned(t *testing.T) {
	for _, destroy := range []bool{true, false} {
		block := make(chan struct{})
		ms, mr := new(memory), new(memory)
		c := config()
		c.TagSize = 16
		var s UMACSender
		var r UMACReceiver
		if err := errors.Join(s.Init(c, ms.steps(2)), r.Init(c, Stored(nil, mr))); err != nil {
			t.Fatal(err)
		}
		wait := func() { <-block }
		ms.before, mr.before = wait, wait
		mactest.Must(s.Seal(nil, nil))
		mactest.Must(s.Seal(nil, nil))
		old, waits := []*supply{s.supply, r.supply}, make(chan string)
		p := sealStored(t, packetref.UMAC128, c, 70)
		go func() {
			defer func() { waits <- fmt.Sprint(recover()) }()
			r.Open(p, nil)
		}()
		for r.isIdle() {
			runtime.Gosched()
		}
		if destroy {
			s.Destroy()
			r.Destroy()
		} else if err := errors.Join(s.Init(c, steps(5, 2)), r.Init(c, steps(5, 2))); err != nil {
			t.Fatal(err)
		}
		close(block)
		old[0].wait(&old[0].mu)
		old[1].wait(&r.window.mu)
		if text := <-waits; !strings.Contains(text, "destroyed") {
			t.Errorf("the packet that waits: %s", text)
		}
		if old[0].stored != 4 || old[1].stored != 71 {
			t.Errorf("%d and %d", old[0].stored, old[1].stored)
		}
		if destroy {
			for i, b := range slices.Concat(mactest.Contents(&s), mactest.Contents(&r)) {
				if b != 0 {
					t.Errorf("byte %d is %#x after Destroy", i, b)
				}
			}
		} else if s.Next() != 5 || s.soft.Load() != 7 || r.Next() != 5 || r.soft != 7 {
			t.Errorf("%d, %d, %d, %d", s.Next(), s.soft.Load(), r.Next(), r.soft)
		}
	}
}

// TestShared has two senders and two receivers that share a Store, and one that is set back. No
// counter is used twice, and nothing is released under the other's feet.
func TestShared(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		m, used := new(memory), make(map[uint64]bool)
		mr := new(memory)
		c := config()
		c.Ahead = 10
		ends := []struct {
			sender
			receiver
		}{
			{newSender(a, c, m.steps(10)), newReceiver(a, c, Stored(nil, mr))},
			{newSender(a, c, m.steps(10)), newReceiver(a, c, Stored(nil, mr))},
		}
		var packets [][]byte
		for i := range 200 {
			s := ends[i*7%13%2].sender
			p, err := s.Seal(nil, nil)
			if s.settle(); err != nil {
				t.Fatal(err)
			}
			packets = append(packets, p)
			counter := counterOf(mactest.Must((&form{tagSize: uint8(a.TagSize()), epoch: 5}).parse(p)))
			if m.mustHave(t, counter); used[counter] {
				t.Fatalf("counter %d is used twice", counter)
			}
			used[counter] = true
		}
		accepted := make(map[uint64]bool)
		for _, p := range packets {
			for _, e := range ends {
				_, counter, err := e.Open(p, nil)
				if e.receiver.settle(); err == nil && accepted[counter] {
					t.Fatalf("counter %d is accepted twice", counter)
				} else if err == nil {
					accepted[counter] = true
				}
			}
		}
		if got := ends[0].sender.Stats().Sealed + ends[1].sender.Stats().Sealed; got != 200 {
			t.Errorf("%d packets are sealed, want 200", got)
		}
		before := m.stored()
		last := ends[0]
		if last.sender.Next() > ends[1].sender.Next() {
			last = ends[1] // the other one has reserved last
		}
		if err := last.sender.Stop(); err == nil || m.stored() < before {
			t.Errorf("%v, %d is stored, and %d was", err, m.stored(), before)
		}

		// What somebody else has reserved is not set back.
		m = new(memory)
		r := newReceiver(a, c, Stored(nil, m))
		mustOpen(r, sealStored(t, a, c, 6), nil)
		m.value += 1000
		for range 2 {
			if _, _, err := r.Open(sealStored(t, a, c, 7), nil); err != ErrRestarted {
				t.Errorf("a counter that was skipped: %v", err)
			}
		}
		if got := r.Stats(); got.Restarted != 2 || got.Old != 0 || got.Left != maxEnd-1007 {
			t.Errorf("%+v, want 2 Restarted, and what is above them Left", got)
		}
		if err := r.Stop(); err != nil || m.stored() != 1007 {
			t.Errorf("%v, %d is stored, want 1007", err, m.stored())
		}

		m = new(memory)
		s := newSender(a, c, m.steps(10))
		m.value = 3
		for range 6 { // with the last it reserves more
			mactest.Must(s.Seal(nil, nil))
			s.settle()
		}
		calls := m.calls
		if _, err := s.Seal(nil, nil); err != ErrEnd || s.StoreErr() == nil || !strings.Contains(s.StoreErr().Error(), "set back") {
			t.Errorf("%v, %v", err, s.StoreErr())
		}
		s.settle()
		if got := s.Stats(); got.Left != 0 || m.calls != calls {
			t.Errorf("%+v, %d calls, want 0 Left and %d", got, m.calls, calls)
		}
	})
}

// TestCopiedStore has a child, after a fork, of a process with Stores: it stores nothing.
func TestCopiedStore(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		ms, mr := new(memory), new(memory)
		s, r := newSender(a, config(), ms.steps(10)), newReceiver(a, config(), Stored(nil, mr))
		mustOpen(r, sealStored(t, a, config(), 50), nil)
		parent := fork.Current()
		restore := fork.Replace(func() fork.Process { return parent + 1 })
		defer restore()
		for range 20 {
			if _, err := s.Seal(nil, nil); err != ErrCopied {
				t.Error(err)
			}
		}
		for i := range uint64(100) {
			if _, _, err := r.Open(sealStored(t, a, config(), i), nil); (err == nil) != (i < 50) || i > 50 && err != ErrEnd {
				t.Error(i, err)
			}
		}
		if err := r.StoreErr(); err != ErrCopied {
			t.Errorf("StoreErr is %v", err)
		}
		for range 2 {
			if err1, err2 := s.Stop(), r.Stop(); err1 != ErrCopied || err2 != ErrCopied {
				t.Errorf("%v, %v", err1, err2)
			}
		}
		if ms.calls != 1 || mr.calls != 2 || s.Stats().Sealed != 0 {
			t.Errorf("%d and %d calls, %+v", ms.calls, mr.calls, s.Stats())
		}
	})
}

// TestStopping has a receiver that gets packets while Stop waits: it accepts none of them.
func TestStopping(t *testing.T) {
	m, c := new(memory), config()
	c.TagSize = 16
	r := mactest.Must(NewUMACReceiver(c, Stored(nil, m)))
	r.supply.stopping.Lock()
	done := make(chan error)
	go func() { done <- r.Stop() }()
	for stopped := false; !stopped; runtime.Gosched() {
		r.mu.Lock()
		stopped = r.supply.over
		r.mu.Unlock()
	}
	if _, _, err := r.Open(sealStored(t, packetref.UMAC128, c, 7), nil); err != ErrEnd || m.calls != 1 {
		t.Errorf("%v, want ErrEnd, and %d calls", err, m.calls)
	}
	r.supply.stopping.Unlock()
	if err := <-done; err != nil || m.stored() != 0 {
		t.Errorf("%v, %d is stored, want 0", err, m.stored())
	}
}

// TestMost has a sender that uses all 2^48 counters that it may.
func TestMost(t *testing.T) {
	for _, others := range []uint64{0, 7} { // which somebody else reserves each time
		m := &memory{value: 5}
		n := m.steps(1 << 46)
		first := mactest.Must(n.open(new(Config), umac64, sending))
		var c counters
		c.init(&first)
		total, end := uint64(0), uint64(0)
		for size := uint64(1 << 45); size > 0; {
			m.others(others)
			next, err := c.take(size)
			c.settle()
			switch err {
			case nil:
				total, end = total+size, next+size
			case ErrEnd:
				size /= 2
			default:
				t.Fatal(err)
			}
		}
		if others == 0 && (total != maxRange || m.stored() != 5+maxRange) || end != 5+maxRange || c.StoreErr() != nil {
			t.Errorf("%d counters up to %d, %d is stored, %v", total, end, m.stored(), c.StoreErr())
		}
	}
}

// uncomparable is a Store of a type that == cannot compare.
type uncomparable struct {
	*memory
	_ []byte
}

// TestUncomparable has Stores that cannot be compared. The id tells that they are one.
func TestUncomparable(t *testing.T) {
	store := uncomparable{memory: new(memory)}
	c := config()
	c.Sender, c.TagSize = "", 16
	if _, _, err := NewUMACPair(c, "a", "b", Stored(store, store)); err == nil {
		t.Error("one Store for both directions")
	}
	if _, _, err := NewUMACPair(c, "a", "b", Stored(uncomparable{memory: new(memory)}, uncomparable{memory: new(memory)})); err != nil {
		t.Error(err)
	}
	type inside struct { // comparable, but with what is not
		*memory
		any
	}
	if _, _, err := NewUMACPair(c, "a", "b", Stored(inside{new(memory), []int{1}}, inside{new(memory), []int{1}})); err != nil {
		t.Error(err)
	}
}

// held is a memory whose second call waits, until it is let go.
func held() (m *memory, waits, goes chan struct{}) {
	m, waits, goes = new(memory), make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	m.before = func() {
		if calls.Add(1) == 2 {
			close(waits)
			<-goes
		}
	}
	return m, waits, goes
}

// others reserves counters as somebody else.
func (m *memory) others(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.value += n
}

// TestStopBusy stops a sender and a receiver whose Store is at work and gives counters to somebody else
// first: these are not released. The packet that waits is not accepted.
func TestStopBusy(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		c := config()
		c.Ahead = 100
		ms, sends, send := held()
		s := newSender(a, c, ms.steps(100))
		for range 51 {
			mactest.Must(s.Seal(nil, nil))
		}
		mr, receives, receive := held()
		r := newReceiver(a, c, Stored(nil, mr))
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := r.Open(sealStored(t, a, c, 60), nil); err == nil {
				t.Error("somebody else has reserved this counter")
			}
		})
		<-sends
		<-receives
		ms.others(100)
		mr.others(100)
		for _, stop := range []func() error{s.Stop, r.Stop} {
			wg.Go(func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		}
		close(send)
		close(receive)
		wg.Wait()
		if ms.stored() != 200 || mr.stored() != 100 {
			t.Errorf("%d and %d are stored, want 200 and 100", ms.stored(), mr.stored())
		}
	})
}

// TestStopLate has somebody else reserve counters directly before a Stop, which then releases nothing.
func TestStopLate(t *testing.T) {
	m := new(memory)
	s := newSender(packetref.UMAC64, config(), m.steps(100))
	mactest.Must(s.Seal(nil, nil))
	m.others(100)
	for range 2 {
		if err := s.Stop(); err == nil || m.stored() != 200 {
			t.Errorf("%v, %d is stored, want 200", err, m.stored())
		}
	}
}

// TestStopInCopy has a child after a fork, in which nobody ends a call of the Store.
func TestStopInCopy(t *testing.T) {
	m, waits, goes := held()
	r := newReceiver(packetref.UMAC64, config(), Stored(nil, m))
	p, done := sealStored(t, packetref.UMAC64, config(), 40), make(chan struct{})
	go func() {
		defer close(done)
		r.Open(p, nil)
	}()
	<-waits
	fork.Pretend()
	if _, _, err := r.Open(p, nil); err != ErrEnd {
		t.Errorf("Open: %v", err) // nobody ends the call for which it would wait
	}
	if err := r.Stop(); err != ErrCopied {
		t.Errorf("Stop: %v", err)
	}
	if err := r.StoreErr(); err != ErrCopied {
		t.Errorf("StoreErr: %v", err)
	}
	close(goes)
	<-done
}

// TestStopFails has a Store that fails when it is released. It is asked once: between two calls somebody
// else could use the counters.
func TestStopFails(t *testing.T) {
	ms, mr := &memory{fail: 2}, &memory{fail: 3}
	s, r := newSender(packetref.UMAC64, config(), ms.steps(10)), newReceiver(packetref.UMAC64, config(), Stored(nil, mr))
	p := mactest.Must(s.Seal(nil, nil))
	mustOpen(r, p, nil)
	for range 2 {
		for _, stop := range []func() error{s.Stop, r.Stop} {
			if err := stop(); !errors.Is(err, errMemory) {
				t.Errorf("the Store fails: %v", err)
			}
		}
	}
	if ms.stored() != 10 || mr.stored() != 1 || ms.calls != 2 || mr.calls != 3 {
		t.Errorf("%d and %d are stored in %d and %d calls", ms.stored(), mr.stored(), ms.calls, mr.calls)
	}
}

// random returns n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// TestReplayedCapture has 200 devices that send to a server, which crashes or stops, and starts
// again. Then the whole capture is replayed. Nothing is accepted twice, with each kind of Counters,
// and nothing at all if the server comes back with another kind.
func TestReplayedCapture(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		const devices, packets = 200, 95
		for _, kind := range []int{kindSession, kindStored, kindSecret} {
			var capture [devices][][]byte
			twice, again, other, fresh, total := 0, 0, 0, 0, 0
			for d := range devices {
				c := config()
				c.Secret, c.Sender, c.Receiver = random(32), fmt.Sprint("device ", d), "server"
				ms, mr := new(memory), new(memory)
				counters := func() Counters { // right: what each kind says
					switch kind {
					case kindSession:
						return NewSession(random(32))
					case kindSecret:
						c.Secret = random(32)
						return SecretIsNew()
					}
					return Stored(ms, mr)
				}
				n := counters()
				s, r := newSender(a, c, n), newReceiver(a, c, n)
				accepted := make(map[uint64]bool)
				for range packets {
					p := mactest.Must(s.Seal(nil, nil))
					capture[d] = append(capture[d], p)
					_, counter, err := r.Open(p, nil)
					if r.settleIfStored(); err != nil {
						t.Fatal(err)
					}
					accepted[counter] = true
					total++
				}
				if d%2 == 0 {
					if err := r.Stop(); err != nil {
						t.Fatal(err)
					}
				}
				// Whoever keeps the Secret and comes back with another kind hears nothing.
				for _, wrong := range []Counters{NewSession(random(32)), SecretIsNew(), Stored(nil, new(memory))} {
					if wrong.kind == n.kind && kind != kindSession { // a session is another one
						continue
					}
					r := newReceiver(a, c, wrong)
					for _, p := range capture[d][:3] {
						if _, _, err := r.Open(p, nil); err != ErrForged {
							other++
						}
					}
				}
				mr = mr.restart()
				n = counters()
				r = newReceiver(a, c, n)
				for _, p := range capture[d] {
					if _, counter, err := r.Open(p, nil); err == nil {
						if again++; accepted[counter] {
							twice++
						}
					}
					r.settleIfStored()
				}
				if kind != kindStored {
					s = newSender(a, c, n)
				}
				for range packets { // the session goes on
					if _, _, err := r.Open(mactest.Must(s.Seal(nil, nil)), nil); err == nil {
						fresh++
					}
					r.settleIfStored()
				}
			}
			if twice != 0 || again != 0 || other != 0 || total != devices*packets {
				t.Errorf("kind %d: %d packets are accepted twice, %d again, %d with another kind, of %d", kind, twice, again, other, total)
			}
			if fresh != devices*packets {
				t.Errorf("kind %d: %d new packets of %d are accepted", kind, fresh, devices*packets)
			}
		}
	})
}

// TestSecondBoot has a program with a constant Secret, which starts twice. It cannot seal two packets
// with one nonce under one key, unless it says what is not true.
func TestSecondBoot(t *testing.T) {
	forAll(t, func(t *testing.T, a packetref.Algorithm) {
		ms := new(memory)
		boot := func(n Counters) (nonces []string) {
			s := newSender(a, config(), n)
			for range 10 {
				// With a nonce and a key the tag of a message is always the same.
				nonces = append(nonces, string(mactest.Must(s.Seal([]byte("message"), nil))))
			}
			return nonces
		}
		for what, n := range map[string]func() Counters{
			"session": func() Counters { return NewSession(random(32)) },
			"stored":  func() Counters { ms = ms.restart(); return Stored(ms, nil) },
		} {
			first, second := boot(n()), boot(n())
			for _, p := range first {
				if slices.Contains(second, p) {
					t.Errorf("%s: %x is sealed twice", what, p)
				}
			}
		}
	})
}
