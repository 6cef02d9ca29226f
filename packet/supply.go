// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"fmt"
	"sync"

	"example.com/fastmac/internal/fork"
)

// A Store keeps a number durably: below it, counters may have been used. Package packet/store has
// one in a file. A Store is for one direction of one key, and for one sender or receiver at a time.
// It must be safe for concurrent use: senders and receivers call it from goroutines of their own.
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
	// Neither method may call the sender or receiver, which may be waiting for it.
	Release(id [16]byte, end, next uint64) error
}

// A supply is what a Store has reserved for a sender or a receiver. Where a mutex is an argument, it
// is that of all that follows mu, and is held by the caller only of ready and start. A supply does
// not point to its sender or receiver, because a finalizer would then never run: see receivers.add.
type supply struct {
	store   Store
	id      [16]byte
	process fork.Process // the one that may use the Store
	step    uint64       // what is reserved at a time
	most    uint64       // the end does not get above it

	stopping sync.Mutex // held by stop
	mu       sync.Mutex // of a sender; a receiver has another one

	end     uint64        // of what is reserved
	stored  uint64        // what the last good Reserve has stored
	low     uint64        // counters below it are used, or were reserved by somebody else
	running chan struct{} // closed when the call of Reserve has ended; nil if there is none
	asked   uint64        // the end after that call
	outrun  bool          // of a receiver: a packet beyond that came meanwhile
	err     error         // of the last call of Reserve
	over    bool          // nothing is reserved any more
	done    bool          // Release has been called
	failed  error         // by Release
}

var errSetBack = errors.New("packet: the Store was set back")

// supplied is the first range of a sender or a receiver.
type supplied struct {
	first, end uint64
	supply     *supply // nil if there is no Store
}

// soft returns the end, or half-way to it if there is more.
func (n *supplied) soft() uint64 {
	if n.supply != nil {
		return n.supply.half()
	}
	return n.end
}

// open returns the first range. algorithm and role are those of the id.
func (n *Counters) open(c *Config, algorithm, role byte) (supplied, error) {
	if n.kind != kindStored {
		return supplied{n.first, n.end, nil}, nil
	}
	step := n.step
	if c.Ahead > 0 {
		step = c.Ahead
	} else if role == receiving {
		step = defaultAhead
	}
	s := &supply{store: n.store(role), id: c.storeID(algorithm, n, role), process: fork.Current(), step: step}
	first, err := s.reserve(step)
	if err != nil {
		return supplied{}, err
	}
	if s.most = maxEnd; role == sending {
		s.most = min(first+maxRange, maxEnd)
	}
	s.stored, s.end = first+step, min(first+step, s.most)
	return supplied{first, s.end, s}, nil
}

// half returns the counter from which on more is reserved.
func (s *supply) half() uint64 {
	if s.end >= s.most {
		return s.end
	}
	return s.end - (s.step+1)/2
}

// reserve calls Reserve.
func (s *supply) reserve(n uint64) (first uint64, err error) {
	if fork.Current() != s.process {
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

// ready reports whether start would do something.
func (s *supply) ready() bool { return s.running == nil && !s.over }

// start has a goroutine reserve counters up to end, and then call extend, with the mutex locked, and
// the first of the new counters if some were skipped, or 0.
func (s *supply) start(mu *sync.Mutex, end uint64, extend func(first uint64)) {
	if end = min(end, s.most); end <= s.end {
		return
	}
	n, running := end-s.end, make(chan struct{})
	s.running, s.asked = running, end
	go func() {
		defer close(running)
		first, err := s.reserve(n)
		mu.Lock()
		defer mu.Unlock()
		if s.running, s.err = nil, err; err != nil {
			s.over = s.over || errors.Is(err, errSetBack)
			return
		}
		skipped := first > s.end
		if s.stored = first + n; skipped {
			s.low = first
		}
		s.end = min(s.stored, s.most)
		if s.over {
			return
		}
		if !skipped {
			first = 0
		}
		extend(first)
	}()
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
	if fork.Current() != s.process {
		return ErrCopied
	}
	if s.done {
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
