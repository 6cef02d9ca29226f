// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

// between returns Counters whose range is from first up to but not including end.
func between(first, end uint64) Counters {
	return Counters{kind: kindSecret, first: first, end: end}
}

// steps returns Counters whose range is step counters from first on.
func steps(first, step uint64) Counters { return between(first, first+step) }

// Next returns the next counter of a sender.
func (c *counters) Next() uint64 {
	c.mustLive()
	return c.next.Load() &^ stopped
}

// Next returns one more than the highest counter that a receiver has accepted.
func (w *window) Next() uint64 {
	w.mustLive()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next()
}

// Forged returns how many packets had a wrong tag.
func (w *window) Forged() uint64 { return w.Stats().Forged }

// settle waits until a sender or a receiver reserves nothing.
func (c *counters) settle() { c.supply.wait(&c.supply.mu) }
func (w *window) settle()   { w.supply.wait(&w.mu) }

// isIdle reports whether no call of the Store runs.
func (w *window) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.supply.running == nil
}

// settleIfStored is settle, for all kinds.
func (w *window) settleIfStored() {
	if w.supply != nil {
		w.settle()
	}
}
