// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/fastmac/internal/mactest"
)

// What a call of a gated Store does when it is let go.
const (
	succeeds = iota
	fails
	failsLate // it has stored
)

// gated is a Store whose calls wait until the test lets them go, one at a time.
type gated struct {
	t        *testing.T
	value    uint64
	others   bool // have reserved counters
	begun    int
	outcome  chan int
	waiting  bool
	released bool
}

func (g *gated) enter() int {
	if g.begun++; g.waiting {
		g.t.Error("two calls of the Store at a time")
	}
	g.waiting = true
	how := <-g.outcome
	g.waiting = false
	return how
}

func (g *gated) Reserve(_ [16]byte, n uint64) (first uint64, err error) {
	if n == 0 {
		return g.value, nil
	}
	how := g.enter()
	if first = g.value; how != fails {
		g.value += n
	}
	if how != succeeds {
		return 0, errMemory
	}
	return first, nil
}

func (g *gated) Release(_ [16]byte, end, next uint64) error {
	if g.released {
		g.t.Error("a second Release")
	}
	g.released = true
	how := g.enter()
	if g.value != end {
		return errors.New("somebody else has reserved counters")
	}
	if how != fails {
		g.value = next
	}
	if how != succeeds {
		return errMemory
	}
	return nil
}

// An opening is a packet that a receiver of stateModel gets.
type opening struct {
	counter uint64
	done    bool
	err     error
	excused bool // the Store has failed, or the range has ended
	waits   int  // for how many calls of the Store it has waited
	begun   int  // calls of the Store before
	stopped bool // it came after Stop
}

// A stateModel is a sender or a receiver with a Store, and what must be true of it. It drives the real
// counters and window, without keys.
type stateModel struct {
	*testing.T
	path     []int
	store    *gated
	sending  bool
	step     uint64
	accepted map[uint64]bool // or used
	highest  uint64          // of them
	floor    uint64          // no lower counter need be accepted: it was reserved before a crash
	failing  bool            // the last call of the Store
	ended    bool            // by Stop, or because the Store was set back
	setBack  bool

	counters *counters
	window   *window
	openings []*opening
	stopping chan error
}

// start starts the sender or the receiver, with what is stored.
func (m *stateModel) start() {
	n := Stored(m.store, m.store)
	n.step = m.step
	c := Config{Secret: make([]byte, 16), TagSize: 16, Ahead: m.step}
	tick := time.Duration(0)
	c.Now = func() time.Time { tick++; return time.Unix(0, int64(tick)) }
	m.failing, m.ended, m.openings, m.stopping = false, false, nil, nil
	m.store.released, m.store.others = false, false
	m.floor = max(m.floor, m.store.value)
	if m.sending {
		go func() {
			rng, err := n.open(&c, umac64, sending)
			if err != nil {
				m.Error(err)
			}
			m.counters = new(counters)
			m.counters.init(&rng)
		}()
		m.letGo(succeeds)
		return
	}
	rng := mactest.Must(n.open(&c, umac64, receiving))
	rng.supply.step = m.step // as after a while
	m.window = new(window)
	m.window.init(&c, &rng)
}

// use checks a counter that was used or accepted.
func (m *stateModel) use(counter uint64) {
	if m.accepted[counter] || counter >= m.store.value && !m.setBack {
		m.Errorf("%v: counter %d is used twice, or %d is stored", m.path, counter, m.store.value)
	}
	m.accepted[counter] = true
	m.highest = max(m.highest, counter)
}

// letGo has the call of the Store end.
func (m *stateModel) letGo(how int) {
	synctest.Wait()
	if !m.store.waiting {
		return
	}
	if m.failing = how != succeeds; how == failsLate || m.store.others {
		defer func() { m.floor = max(m.floor, m.store.value) }()
	}
	for _, o := range m.openings {
		o.excused = o.excused || m.failing
		o.waits++
	}
	m.store.outcome <- how
	synctest.Wait()
	m.look()
}

// look checks the packets that are done.
func (m *stateModel) look() {
	for _, o := range m.openings {
		if o.done && o.err == nil {
			m.use(o.counter)
		}
	}
	m.openings = slices.DeleteFunc(m.openings, func(o *opening) bool {
		if !o.done {
			return false
		}
		right := false
		switch o.err {
		case nil:
			right = !o.stopped
		case ErrReplayed:
			right = m.accepted[o.counter]
		case ErrRestarted:
			right = o.counter < m.floor
		case ErrOld:
			right = o.counter+minWindow-64 < m.highest
		case ErrEnd:
			right = o.excused || m.ended
		}
		if !right || o.waits > 2 {
			m.Errorf("%v: counter %d: %v, after %d calls of the Store", m.path, o.counter, o.err, o.waits)
		}
		return true
	})
}

// open has a packet arrive.
func (m *stateModel) open(counter uint64) bool {
	if len(m.openings) == 2 { // each goroutine waits
		return false
	}
	o := &opening{counter: counter, excused: m.failing || m.ended, begun: m.store.begun, stopped: m.stopping != nil}
	m.openings = append(m.openings, o)
	w := m.window
	go func() {
		w.mu.Lock()
		o.err = w.judge(counter, true)
		w.mu.Unlock()
		o.done = true
	}()
	synctest.Wait()
	if m.store.begun > o.begun+1 {
		m.Errorf("%v: %d calls of the Store", m.path, m.store.begun-o.begun)
	}
	m.look()
	return true
}

// take has a sender use counters.
func (m *stateModel) take(n uint64) bool {
	first, err := m.counters.take(n)
	synctest.Wait()
	if err == nil {
		for i := range n {
			m.use(first + i)
		}
	} else if err != ErrEnd {
		m.Errorf("%v: %v", m.path, err)
	}
	return true
}

// crash ends all that runs. The call of the Store may have stored.
func (m *stateModel) crash(how int) {
	if m.sending {
		m.counters.abandon()
	} else {
		m.window.abandon()
	}
	m.ended = true
	for synctest.Wait(); m.store.waiting; synctest.Wait() {
		m.store.outcome <- how
	}
	m.start()
}

// The number of actions.
const modelActions = 12

// do does an action, and reports whether it is one here.
func (m *stateModel) do(action int) bool {
	switch action {
	case 0, 1, 2, 3, 4:
		if m.sending {
			return action < 2 && m.take([]uint64{1, 3}[action])
		}
		s := m.window.supply
		all := []uint64{s.end, s.end + 1, s.end - min(s.end, 1), m.highest, s.half()}
		return slices.Index(all, all[action]) == action && m.open(all[action])
	case 5, 6, 7:
		running := m.store.waiting
		m.letGo(action - 5)
		return running
	case 8, 9:
		if m.setBack || action == 9 && !m.store.waiting {
			return false
		}
		m.crash(pick(action == 8, fails, failsLate))
	case 10:
		if m.stopping != nil {
			return false
		}
		m.ended, m.stopping = true, make(chan error, 1)
		var stop func() error
		if stop = m.window.Stop; m.sending {
			stop = m.counters.Stop
		}
		go func(c chan error) { c <- stop() }(m.stopping)
		synctest.Wait()
	case 11:
		if m.store.value < 2 || m.setBack || m.store.waiting {
			return false
		}
		m.store.value -= 2
		m.setBack = true
		m.ended = true // at the next call at the latest
	}
	return true
}

// finish lets all calls go, and stops. Whoever waits must come to an end.
func (m *stateModel) finish() {
	for range 4 {
		m.letGo(succeeds)
	}
	if len(m.openings) > 0 || m.store.waiting {
		m.Errorf("%v: %d packets wait", m.path, len(m.openings))
	}
}

// TestStates has senders and receivers with all that can happen to them, in each order: packets in order,
// beyond the end, late and again, by two goroutines; calls of the Store that succeed, fail, or fail when they
// have stored; crashes at each of these, restarts, Stop, and a Store that is set back while it is in use.
// No counter is used or accepted twice, or before it is stored. No authentic packet is refused that had
// not been reserved before a crash, unless the Store fails. A packet begins one call of the Store at most.
func TestStates(t *testing.T) {
	depth := pick(mactest.Long(), 6, pick(testing.Short() || mactest.Race, 4, 5))
	for _, test := range []struct {
		sending bool
		step    uint64
	}{{false, 1}, {false, background}, {true, 1}, {true, 4}} {
		t.Run(fmt.Sprintf("sending=%v/step=%d", test.sending, test.step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				paths := 0
				var walk func(path []int)
				walk = func(path []int) {
					m := &stateModel{T: t, path: path, store: &gated{t: t, outcome: make(chan int)}, sending: test.sending, step: test.step, accepted: make(map[uint64]bool)}
					m.start()
					possible := true
					for _, action := range path {
						possible = m.do(action)
					}
					m.finish()
					if !possible || t.Failed() {
						return
					}
					if paths++; len(path) < depth {
						for action := range modelActions {
							walk(append(path[:len(path):len(path)], action))
						}
					}
				}
				walk(nil)
				t.Logf("%d paths", paths)
			})
		})
	}
}
