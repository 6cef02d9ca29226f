// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"sync"
	"sync/atomic"

	"example.com/fastmac"
	"example.com/fastmac/internal/lifetime"
	"example.com/fastmac/internal/replay"
)

// window is what a receiver remembers: the counters that it has accepted, as the ReplayWindow
// of package fastmac does, and how many packets it has had. What changes with each packet is in one
// cache line and one word of the bitmap: see TestLines.
type window struct {
	mu       sync.Mutex     // for all but left and unknown, which may be read without it
	highest  uint64         // the highest accepted counter, or first
	first    uint64         // no lower one is accepted
	soft     uint64         // the end, or with a supply what its soft returns: beyond is slower; 0 after Stop
	left     atomic.Uint64  // wrong tags until the receiver is worn
	accepted uint64         // packets
	large    *replay.Bitmap // the bitmap of a window of more than minWindow bits
	small    [minWindow / 64]uint64

	limit     uint64  // left at first
	supply    *supply // nil if there is no Store, and no limit but MaxForged
	replayed  uint64  // packets, as old, restarted and ended
	old       uint64
	restarted uint64
	ended     uint64
	unknown   atomic.Uint64 // packets whose tag was not checked
	alone     bool          // the runtime has allocated the receiver, and nothing with it
	wiped     bool          // the runtime destroys it in the end: see receivers.add
	life      lifetime.Lifetime
}

// ReceiverStats counts packets, each of them in one field, and what is left.
type ReceiverStats struct {
	Accepted  uint64
	Replayed  uint64 // see ErrReplayed
	Old       uint64 // see ErrOld
	Restarted uint64 // see ErrRestarted
	Forged    uint64 // with a wrong tag
	Ended     uint64 // see ErrEnd and ErrExpired
	Unknown   uint64 // that are too short, of another epoch, or came after ErrWorn: no tag was checked

	Left       uint64 // counters until ErrEnd
	ForgedLeft uint64 // wrong tags until ErrWorn
}

// init sets w, whose receiver may have another key.
func (w *window) init(c *Config, n *supplied) {
	w.abandon()
	w.highest, w.first, w.soft = n.first, n.first, n.soft()
	w.supply = n.supply
	w.limit = c.forgedLimit()
	w.left.Store(w.limit)
	w.zero()
	if c.Window > minWindow {
		words := make(replay.Bitmap, c.Window/64)
		w.large = &words
	}
	w.life.Begin()
}

// zero forgets all packets.
func (w *window) zero() {
	w.accepted, w.replayed, w.old, w.restarted, w.ended = 0, 0, 0, 0, 0
	w.unknown.Store(0)
	w.large = nil
	clear(w.small[:])
}

// abandon keeps a running goroutine away from w.
func (w *window) abandon() {
	if s := w.supply; s != nil {
		s.abandon(&w.mu)
	}
}

// destroy sets w to zero, after the lifetime has ended.
func (w *window) destroy() {
	w.abandon()
	w.highest, w.first, w.soft, w.limit = 0, 0, 0, 0
	w.supply = nil
	w.left.Store(0)
	w.zero()
}

// words returns the bitmap.
func (w *window) words() replay.Bitmap {
	if large := w.large; large != nil {
		return *large
	}
	return w.small[:]
}

// worn reports whether there have been too many wrong tags.
func (w *window) worn() bool { return w.left.Load() == 0 }

// unchecked counts a packet whose tag was not checked, and returns err.
//
//go:noinline
func (w *window) unchecked(err error) error {
	w.unknown.Add(1)
	return err
}

// judge returns the verdict on a packet whose tag is right or not, and remembers it. The caller
// holds the mutex. It is one function, and Open itself locks, because the CPU does not overlap a
// locked instruction with what is around it, so that each call there takes its full time: with
// two more, a packet of 64 bytes takes 4 % longer to seal and open.
func (w *window) judge(counter uint64, right bool) error {
	switch {
	case w.worn(): // meanwhile
		return w.unchecked(ErrWorn)
	case !right:
		if left := w.left.Add(^uint64(0)); left == w.limit/2 && w.supply != nil && w.supply.near != nil {
			go w.supply.near(ErrWorn)
		}
		return ErrForged
	case counter < w.first:
		w.restarted++
		return ErrRestarted
	case counter >= w.soft:
		if err := w.beyond(counter); err != nil {
			return err
		}
	}
	words := w.words()
	if !words.Slide(&w.highest, uint64(64*(len(words)-1)+1), counter) {
		w.old++
		return ErrOld
	}
	if !words.Mark(counter) {
		w.replayed++
		return ErrReplayed
	}
	w.accepted++
	return nil
}

// refuse is the end of Open for what is not accepted, behind judge: it releases the mutex. Open does so
// itself for what is accepted, and has looked at the lifetime before that, because the CPU does nothing
// beside a locked instruction.
//
//go:noinline
func (w *window) refuse(counter uint64, err error, live bool) ([]byte, uint64, error) {
	w.mu.Unlock()
	if !live {
		panic(dead("receiver"))
	}
	return nil, authentic(counter, err), err
}

// beyond has the Store reserve more for a counter beyond soft, and returns an error if it cannot be accepted.
// It is part of judge. While it waits for the Store the mutex is free.
func (w *window) beyond(counter uint64) error {
	s := w.supply
	switch {
	case s == nil:
		w.ended++
		return ErrEnd
	case s.expired():
		w.ended++
		return ErrExpired
	case !s.reach(&w.mu, counter, w.accepted, w.extend):
		if w.supply == s { // or it was destroyed meanwhile
			w.ended++
		}
		return ErrEnd
	case w.worn(): // meanwhile
		return w.unchecked(ErrWorn)
	case counter < w.first: // somebody else has it
		w.restarted++
		return ErrRestarted
	}
	s.tell(counter)
	w.soft = s.soft()
	return nil
}

// expect has the Store reserve enough for a batch, if it reserves anything.
func (w *window) expect(batch []Packet, verified []fastmac.Message) {
	s := w.supply
	for i := 0; s != nil && i < len(batch); i++ {
		if batch[i].Err == nil && verified[i].OK {
			s.wanted = max(s.wanted, batch[i].Counter)
		}
	}
}

// extend is called when the supply has more. Counters below low, which the Store has reserved for somebody
// else, are not accepted any more.
func (w *window) extend(low uint64) {
	w.first = max(w.first, low)
	w.soft = w.supply.soft()
}

// next returns one more than the highest accepted counter, or the first one that may be accepted.
// The caller holds the mutex.
func (w *window) next() uint64 {
	words := w.words()
	// The bit of the highest accepted counter is set.
	return max(w.first, w.highest+words[w.highest/64&uint64(len(words)-1)]>>(w.highest%64)&1)
}

// mustLive returns the ID of the receiver. It panics if there is no key.
func (w *window) mustLive() lifetime.ID {
	id := w.life.ID()
	if id.None() {
		panic(dead("receiver"))
	}
	return id
}

// mustBe panics if that receiver was destroyed meanwhile.
func (w *window) mustBe(id lifetime.ID) {
	if !w.life.Is(id) {
		panic(dead("receiver"))
	}
}

// Stop ends the receiver's range for good: from then on no packet is accepted, and Open returns
// [ErrEnd] at best. With a [Store], Stop waits for it, and releases the counters above the highest
// accepted one, so that nothing is refused after a restart. If the Store fails, Stop returns its
// error, these counters are refused, and another call returns the same error. Call it before the
// program ends; after a crash the receiver refuses the packets for which it had reserved counters.
// In a child after a fork it returns [ErrCopied], if there is a Store, and stores nothing.
func (w *window) Stop() error {
	w.mustLive()
	s := w.supply
	if s != nil && s.copied() { // then the mutex may be locked for ever
		return ErrCopied
	}
	w.mu.Lock()
	w.soft = 0
	if s != nil {
		s.over = true // before next is asked
	}
	next := w.next()
	w.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.stop(&w.mu, next)
}

// StoreErr returns the error of the [Store] if it has failed to reserve counters, and has not
// succeeded since. It returns nil if there is no Store.
func (w *window) StoreErr() error {
	w.mustLive()
	s := w.supply
	if s == nil {
		return nil
	}
	if s.copied() {
		return ErrCopied
	}
	return s.failure(&w.mu)
}

// Stats returns how many packets the receiver has had.
func (w *window) Stats() ReceiverStats {
	w.mustLive()
	w.mu.Lock()
	defer w.mu.Unlock()
	end, left := w.soft, w.left.Load()
	if w.supply != nil && !w.supply.over {
		end = w.supply.most
	}
	return ReceiverStats{w.accepted, w.replayed, w.old, w.restarted, w.limit - left, w.ended, w.unknown.Load(), end - min(end, w.next()), left}
}
