// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"errors"
	"sync/atomic"

	"example.com/fastmac/internal/fork"
)

// counters are those of a sender: next up to but not including end are left. They have a cache
// line of their own behind the 8 bytes that the runtime has there, because the key after them is
// only read: see TestLines.
type counters struct {
	next, end atomic.Uint64 // next <= end, except for stopped; neither falls
	first     uint64
	process   fork.Process // the one that may use them
	_         [24]byte
}

// stopped is set in next when no counter may be used any more.
const stopped = 1 << 63

var errStopped = errors.New("packet: Extend after Stop")

func (c *counters) init(n Counters) {
	c.first, c.process = n.First, fork.Current()
	c.next.Store(n.First)
	c.end.Store(n.End)
}

// take takes n counters and returns the first of them. It takes none and returns an error if fewer
// are left. After a fork it returns an error too.
func (c *counters) take(n uint64) (first uint64, err error) {
	// With an addition, calls that fail would use up counters, which an Extend could then not
	// give back.
	for {
		first = c.next.Load()
		if first+n > c.end.Load() { // also if stopped
			return 0, ErrEnd
		}
		if c.next.CompareAndSwap(first, first+n) {
			break
		}
	}
	if fork.Current() != c.process { // asked after they are taken, see package fork
		return 0, ErrCopied
	}
	return first, nil
}

// mustLive panics if there is no key.
func (c *counters) mustLive() {
	if c.end.Load() == 0 {
		panic(dead("sender"))
	}
}

// Next returns the next counter. Another goroutine may use it before you do: see Stop.
func (c *counters) Next() uint64 {
	c.mustLive()
	return c.next.Load() &^ stopped
}

// Stop ends the range for good: from then on Seal returns [ErrEnd], and Extend an error. Stop
// returns the next counter. A program that ends may store it in place of the end of its range. A
// child after a fork must not store it, because its parent goes on.
func (c *counters) Stop() uint64 {
	c.mustLive()
	return c.next.Or(stopped) &^ stopped
}

// Extend moves the end of the range. Store the new end first; half-way through the range is a good
// time. Extend returns an error, and changes nothing, if end is below the present one, above 2^56,
// or more than 2^48 above the first counter, after Stop, and after a fork.
func (c *counters) Extend(end uint64) error {
	c.mustLive()
	for {
		if c.next.Load()&stopped != 0 {
			return errStopped
		}
		if fork.Current() != c.process {
			return ErrCopied
		}
		old := c.end.Load()
		if err := (Counters{c.first, old}).checkEnd(end); err != nil {
			return err
		}
		if c.end.CompareAndSwap(old, end) {
			return nil
		}
	}
}

func (c *counters) destroy() {
	c.first, c.process = 0, 0
	c.next.Store(0)
	c.end.Store(0)
}
