// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

// senderState is what a sender has besides its key.
type senderState struct {
	counters counters
	form     form
}

// receiverState is what a receiver has besides its key.
type receiverState struct {
	window window
	form   form
}

func (s *senderState) init(f form, n Counters) {
	s.form = f
	s.counters.init(n)
}

func (s *senderState) destroy() {
	s.form = form{}
	s.counters.destroy()
}

// mustLive panics if there is no key.
func (s *senderState) mustLive() {
	if s.form.tagSize == 0 {
		panicDead("sender")
	}
}

// Next returns the next counter. Other goroutines may use it at the same time: see Stop.
func (s *senderState) Next() uint64 {
	s.mustLive()
	return s.counters.next.Load() &^ stopped
}

// Stop ends the range for good. From then on no packet is sealed, the error is [ErrEnd], and Extend
// returns an error. Stop returns the next counter, which a program that ends may store in place of
// the end of its range.
func (s *senderState) Stop() uint64 {
	s.mustLive()
	return s.counters.next.Or(stopped) &^ stopped
}

// Extend moves the end of the range. Store the new end first; half of the range is a good time. It
// returns an error, and changes nothing, if end is below the present one, above 2^56, or more
// than 2^48 above the first counter, and after Stop.
func (s *senderState) Extend(end uint64) error {
	s.mustLive()
	return s.counters.extend(end)
}

// Overhead returns how much longer a packet is than its message: 16 bytes with tags of 8, and 24
// with tags of 16.
func (s *senderState) Overhead() int {
	s.mustLive()
	return s.form.overhead()
}

func (r *receiverState) init(c *Config, f form, n Counters) {
	r.form = f
	r.window.init(c, n)
}

func (r *receiverState) destroy() {
	r.form = form{}
	r.window.destroy()
}

// mustLive panics if there is no key.
func (r *receiverState) mustLive() {
	if r.form.tagSize == 0 {
		panicDead("receiver")
	}
}

// Next returns one more than the highest accepted counter, or the first of the range if there is
// none. Other goroutines may open packets at the same time: see Stop.
func (r *receiverState) Next() uint64 {
	r.mustLive()
	return r.window.next()
}

// Stop ends the range for good. From then on no packet is accepted, and Extend returns an error.
// Stop returns what Next does, which a program that ends may store in place of the end of its range.
func (r *receiverState) Stop() uint64 {
	r.mustLive()
	return r.window.stop()
}

// Extend moves the end of the range. Store the new end first; half of the range is a good time. If
// Open returns [ErrEnd], packets have been lost, or the sender has skipped counters: store and
// extend to an end above the counter that Open returns, and open the packet again.
//
// Extend returns an error, and changes nothing, if end is below the present one, above 2^56, or
// more than 2^48 above the first counter, and after Stop.
func (r *receiverState) Extend(end uint64) error {
	r.mustLive()
	return r.window.extend(end)
}

// Forged returns the number of wrong tags so far.
func (r *receiverState) Forged() uint64 {
	r.mustLive()
	return r.window.forged.Load()
}

//go:noinline
func panicDead(who string) {
	panic("packet: use of a " + who + " that was destroyed or never set up")
}
