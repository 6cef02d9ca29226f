// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import "sync/atomic"

// counters are those of a sender: next up to but not including end are left. It has a cache
// line of its own, because the key after it is only read.
type counters struct {
	next, end atomic.Uint64 // next <= end; neither falls
	first     uint64
	_         [40]byte
}

func (c *counters) init(n Counters) {
	c.first = n.First
	c.next.Store(n.First)
	c.end.Store(n.End)
}

// take takes n counters and returns the first of them. It takes none and returns false if fewer
// are left.
func (c *counters) take(n uint64) (first uint64, ok bool) {
	// With an addition, calls that fail would use up counters, which an Extend could then not
	// give back.
	for {
		first = c.next.Load()
		if c.end.Load()-first < n { // end, loaded later, is not below first
			return 0, false
		}
		if c.next.CompareAndSwap(first, first+n) {
			return first, true
		}
	}
}

func (c *counters) extend(end uint64) error {
	for {
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
	c.first = 0
	c.next.Store(0)
	c.end.Store(0)
}
