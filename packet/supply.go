// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"example.com/fastmac/internal/fork"
)

// A Store keeps a number durably: below it, counters may have been used. Package packet/store has
// one in a file. Nothing notices a Store that forgets it when the program ends: its counters repeat. A
// Store is for one direction of one key, and for one sender or receiver at a time.
// It must be safe for concurrent use: senders and receivers call it from goroutines of their own, also
// while Open waits.
type Store interface {
	// Reserve makes n more counters usable. It stores the sum of n and the number that was stored
	// before, 0 at first, and returns the earlier number. When it returns, the sum must survive a
	// crash of the system. If there is an error, it may have stored the sum or not. A receiver
	// begins with an n of 0, for which a Store need not write once it has the id.
	//
	// id identifies the key and the direction, and is not secret: a Store that has another id
	// returns an error and stores nothing. One that has none takes it.
	Reserve(id [16]byte, n uint64) (first uint64, err error)

	// Release stores next, the first counter that was not used, in place of end, the sum that the
	// last good Reserve of the caller stored. If another number is stored, because somebody else
	// has reserved counters, it returns an error and stores nothing. No other call may come between
	// the comparison and the change: in a database, make both one transaction. Release is called at
	// most once, as the last call, even if it returns an error.
	//
	// Neither method may call the sender or receiver, or wait for a call of theirs, which may be waiting
	// for it.
	Release(id [16]byte, end, next uint64) error
}

// A supply is what a Store has reserved for a sender or a receiver, with the limits of a Config. Where a
// mutex is an argument, it is that of all that follows mu. Its holders call all methods, except reserve,
// wait, stop, abandon and failure. A supply does not point to its sender or receiver, because a finalizer
// would then never run: see receivers.add.
//
// Its states, and what leads from one to another:
//
//	+---> idle --------- a counter from half on ---------> running, and a receiver's
//	|      ^                                               packets from the end on wait
//	|      +------------------- good ------------------------+     |
//	|                                                            fails
//	|                                                              v
//	|    failed and idle -- a counter from half on ---> failed: packets from the end on
//	|          ^    |                                   get ErrEnd at once, and one of them
//	good       |    |                                   has it run again, in the background
//	|          +----|--------------- fails ----------------+   |
//	+---------------|------------------------------------------+
//	                v
//	abandon, in any state: over. Nothing is given or accepted, and no call begins. Those that
//	wait get ErrEnd. stop waits for the call that runs, and then calls Release, once.
//
// A packet waits for the call of Reserve that runs, and if that does not reach it, for one more, which then
// reaches all that wait. It begins only one of them.
type supply struct {
	store   Store // nil if the range is fixed
	id      [16]byte
	process fork.Process // the one that may use the Store
	most    uint64       // the end does not get above it
	ahead   uint64       // of a receiver: step does not get above it; 0 for a sender

	clock   func() time.Time
	expires time.Time // or zero
	near    func(error)
	nearAt  uint64 // the counter for which it is called

	stopping sync.Mutex // held by stop
	mu       sync.Mutex // of a sender; a receiver has another one

	end     uint64        // of what is reserved
	stored  uint64        // what the last good Reserve has stored
	low     uint64        // counters below it are used, or were reserved by somebody else
	step    uint64        // what is reserved at a time
	wanted  uint64        // of a receiver: the highest authentic counter from half on
	running chan struct{} // closed when the call of Reserve has ended; nil if there is none
	err     error         // of the last call of Reserve that has ended
	over    bool          // nothing is reserved any more
	done    bool          // Release has been called
	failed  error         // by Release

	began   time.Time     // the last call of Reserve
	took    time.Duration // it, or the one before
	packets uint64        // that a receiver had accepted before it
	quick   int           // calls one after the other that wanted a longer step
}

var errSetBack = errors.New("packet: the Store was set back")

// supplied is the first range of a sender or a receiver.
type supplied struct {
	first, end uint64
	supply     *supply // nil if there is no Store, and no limit
}

// soft returns the counter from which on the supply is asked, or the end.
func (n *supplied) soft() uint64 {
	if n.supply != nil {
		return n.supply.soft()
	}
	return n.end
}

// open returns the first range. algorithm and role are those of the id.
func (n *Counters) open(c *Config, algorithm, role byte) (supplied, error) {
	if n.kind != kindStored && c.Near == nil && c.MaxAge == 0 {
		return supplied{n.first, n.end, nil}, n.use(role)
	}
	s := &supply{process: fork.Current(), end: n.end, most: n.end, near: c.Near, clock: c.Now}
	if s.clock == nil {
		s.clock = time.Now
	}
	if c.MaxAge > 0 {
		s.expires = s.clock().Add(c.MaxAge)
	}
	first := n.first
	if n.kind == kindStored {
		s.store, s.id, s.step = n.store(role), c.storeID(algorithm, n, role), cmp.Or(c.Ahead, n.step)
		size := s.step
		if role == receiving { // it reserves with the first packet
			s.ahead, s.step, size = cmp.Or(c.Ahead, maxAhead), 1, 0
		}
		var err error
		if first, err = s.reserve(size); err != nil {
			return supplied{}, err
		}
		if s.most = maxEnd; role == sending {
			s.most = min(first+maxRange, maxEnd)
		}
		s.stored, s.end = first+size, min(first+size, s.most)
	} else if err := n.use(role); err != nil {
		return supplied{}, err
	}
	s.nearAt = s.most - min(s.most, nearEnd)
	return supplied{first, s.end, s}, nil
}

// soft returns the counter from which on the supply is asked.
func (s *supply) soft() uint64 {
	switch {
	case !s.expires.IsZero():
		return 0
	case s.near != nil:
		return min(s.half(), s.nearAt)
	}
	return s.half()
}

// half returns the counter from which on more is reserved. A receiver whose steps are short waits for the
// Store at the end instead: a crash then loses less.
func (s *supply) half() uint64 {
	if s.ahead > 0 && s.step < background {
		return s.end
	}
	return s.end - min(s.end, (s.step+1)/2) // step may grow while the Store fails
}

// expired reports whether MaxAge is over.
func (s *supply) expired() bool { return !s.expires.IsZero() && !s.clock().Before(s.expires) }

// tell has Near called for a counter that is used, once.
func (s *supply) tell(counter uint64) {
	if s.near != nil && counter >= s.nearAt {
		s.nearAt = math.MaxUint64
		go s.near(ErrEnd)
	}
}

// copied reports whether this process is a copy, which may not use the Store.
func (s *supply) copied() bool { return s.store != nil && fork.Current() != s.process }

// reserve calls Reserve.
func (s *supply) reserve(n uint64) (first uint64, err error) {
	if s.copied() {
		return 0, ErrCopied
	}
	first, err = s.store.Reserve(s.id, n)
	switch {
	case err != nil:
		return 0, fmt.Errorf("packet: the Store reserves no counters: %w", err)
	case first < s.stored:
		return 0, fmt.Errorf("%w: it returned counter %d after %d", errSetBack, first, s.stored)
	case first >= maxEnd:
		return 0, fmt.Errorf("packet: the Store has used the counters up to %d: a new key is needed", first)
	}
	return first, nil
}

// start has a goroutine reserve counters up to end, unless that is done, or being done. The goroutine then
// calls extend, with the mutex locked, and the counter below which none may be used.
func (s *supply) start(mu *sync.Mutex, end uint64, extend func(low uint64)) {
	if end = min(end, s.most); end <= s.end || s.running != nil || s.over {
		return
	}
	n, running := end-s.end, make(chan struct{})
	s.running, s.began = running, s.clock()
	go func() {
		defer close(running)
		first, err := s.reserve(n)
		mu.Lock()
		defer mu.Unlock()
		if s.running, s.err, s.took = nil, err, s.clock().Sub(s.began); err != nil {
			s.over = s.over || errors.Is(err, errSetBack)
			return
		}
		if first > s.end {
			s.low = first
		}
		s.stored = first + n
		s.end = min(s.stored, s.most)
		if !s.over {
			extend(s.low)
		}
	}()
}

// reach has a receiver's Store reserve more for a counter from half on, waits if it is beyond the end, with
// the mutex unlocked, and reports whether it is below the end then. packets is how many were accepted.
func (s *supply) reach(mu *sync.Mutex, counter, packets uint64, extend func(low uint64)) bool {
	if counter < s.half() || s.copied() { // in a copy nobody ends the call that runs
		return counter < s.end && !s.over
	}
	s.wanted = max(s.wanted, counter)
	for own := false; ; {
		if !own && s.running == nil && !s.over {
			own = true
			s.pace(packets)
			s.start(mu, s.wanted+s.step, extend)
		}
		running := s.running
		if counter < s.end || s.over || s.err != nil || running == nil {
			return counter < s.end && !s.over
		}
		mu.Unlock()
		<-running
		mu.Lock()
	}
}

// pace sets the step of a receiver, for calls of Reserve to take a part of the time at the rate of the
// packets since the last one began. It grows only after several calls that want more, and slowly at first:
// after a few packets at once a crash loses nothing, and then fewer than there were.
func (s *supply) pace(packets uint64) {
	const part, patience = 16, 4
	now := s.clock()
	since := max(1, now.Sub(s.began))
	step := part * float64(s.took) * float64(packets-s.packets) / float64(since)
	most := s.step
	if s.quick++; step <= float64(most) {
		s.quick = 0
	}
	if most >= background {
		most *= 16
	} else if s.quick >= patience {
		most *= 2
	}
	s.step = uint64(max(1, min(step, float64(min(most, s.ahead))))) // step is negative if the clock was set back
	s.began, s.packets = now, packets
}

// wait waits until no call of Reserve runs.
func (s *supply) wait(mu *sync.Mutex) {
	mu.Lock()
	running := s.running
	mu.Unlock()
	if running != nil {
		<-running
	}
}

// stop ends what is reserved, and releases what was not used, from next on, once.
func (s *supply) stop(mu *sync.Mutex, next uint64) error {
	s.stopping.Lock()
	defer s.stopping.Unlock()
	s.abandon(mu)
	s.wait(mu)
	if s.copied() {
		return ErrCopied
	}
	if s.done || s.store == nil {
		return s.failed
	}
	s.done = true
	if err := s.store.Release(s.id, s.stored, max(next, s.low)); err != nil {
		s.failed = fmt.Errorf("packet: the Store releases no counters: %w", err)
	}
	return s.failed
}

// abandon ends what is reserved: extend is not called any more.
func (s *supply) abandon(mu *sync.Mutex) {
	mu.Lock()
	s.over = true
	mu.Unlock()
}

// failure returns the error of the last call of Reserve.
func (s *supply) failure(mu *sync.Mutex) error {
	mu.Lock()
	defer mu.Unlock()
	return s.err
}
