// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package packet

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"example.com/fastmac/internal/fork"
	"example.com/fastmac/internal/lifetime"
)

// The kinds of Counters, as the derivation of a key has them.
const (
	kindSession = 1
	kindStored  = 2
	kindSecret  = 3
)

const (
	minSessionSize = 32
	storeStep      = 1 << 32 // what a sender reserves at a time
	maxAhead       = 1 << 20 // what a receiver reserves at most, by default
	background     = 64      // a receiver that reserves at least so many at a time does so before the end
	nearEnd        = maxRange / 16
)

// Counters says why no counter is used twice under one key, and why no packet is accepted twice,
// even after restarts. Make it with [NewSession], [Stored] or [SecretIsNew]: with the zero value
// the constructors return an error. Both ends must use the same one of the three. The key depends
// on it, so otherwise each end refuses every packet of the other.
//
// One value, with its copies, serves both directions of an end: from one of [NewSession] or
// [SecretIsNew], a second sender or a second receiver is an error.
type Counters struct {
	kind          byte
	used          *atomic.Uint32 // by which roles, each of which is a bit; nil if that does not matter
	session       []byte
	send, receive Store
	step          uint64 // what a sender reserves at a time
	first, end    uint64 // the range, if there is no Store
}

// NewSession is for a key that is new with each session, the first choice: nothing is stored, and
// packets of earlier sessions are refused. session has at least 32 bytes, the same at both ends: 16
// random bytes of the client, and then 16 of the server. Each end draws its bytes for this session
// and sends them to the other. They need not be secret. NewSession copies them.
//
// The constructors return an error if session is shorter, or if its halves are equal or all bytes of
// one are, because then an end has drawn nothing. Call NewSession once for a session: nothing notices
// a second call with the same bytes, whose sender repeats counters, and whose receiver accepts packets
// again.
func NewSession(session []byte) Counters {
	return Counters{kind: kindSession, used: new(atomic.Uint32), session: bytes.Clone(session), end: maxRange}
}

// Stored is for a key that stays after a restart. The counters then go on above all that may have
// been used before: send stores them for the sender, and receive for the receiver. If send is nil
// there is no sender, and if receive is nil there is no receiver: their constructors return an
// error. They also return one if send and receive are the same Store, and if a Store fails or
// belongs to another key.
//
// A sender reserves 2^32 counters, and more when half of them are left, in a goroutine of its own. A
// receiver reserves those of the packets that it accepts: Open waits for the Store, in which time packets
// below the end go on. While that takes more than a small part of the time, it reserves more at a
// time, and then ahead too. A batch of one receiver waits for it once in 32 packets at most.
//
// If the Store fails, StoreErr returns the error. A packet beyond the end then gets [ErrEnd] at once,
// and has the Store tried again in the background.
//
// This fails if a Store is set back, for example from a backup, or is copied.
func Stored(send, receive Store) Counters {
	return Counters{kind: kindStored, send: send, receive: receive, step: storeStep}
}

// SecretIsNew is for a Secret that has never been used with these names, and will never be again,
// such as one that a TLS exporter or a key exchange returns. Do not use it with one from a file, an
// environment variable or the program's text: after a restart the sender would repeat its counters,
// and an attacker could forge packets. Nothing notices a second call for the same Secret and names.
func SecretIsNew() Counters {
	return Counters{kind: kindSecret, used: new(atomic.Uint32), end: maxRange}
}

// use returns an error if n has been used for a role.
func (n *Counters) use(role byte) error {
	if n.used != nil && n.used.Or(uint32(role))&uint32(role) != 0 {
		return fmt.Errorf("packet: these Counters have a %s already: another one would repeat counters, or accept packets again", roleNames[role])
	}
	return nil
}

// giveBack undoes use, for what has been used for nothing.
func (n *Counters) giveBack(role byte) {
	if n.used != nil {
		n.used.And(^uint32(role))
	}
}

// store returns the Store for a role.
func (n *Counters) store(role byte) Store {
	if role == sending {
		return n.send
	}
	return n.receive
}

// check returns an error if a sender or a receiver cannot have n.
func (n *Counters) check(role byte) error {
	switch n.kind {
	case 0:
		return errors.New("packet: Counters is the zero value: want NewSession, Stored or SecretIsNew")
	case kindSession:
		if len(n.session) < minSessionSize {
			return fmt.Errorf("packet: session of %d bytes: want at least %d, 16 random ones of each end", len(n.session), minSessionSize)
		}
		half := len(n.session) / 2
		first, second := n.session[:half], n.session[len(n.session)-half:]
		if bytes.Equal(first, second) || constant(first) || constant(second) {
			return errors.New("packet: the halves of the session are equal, or all bytes of one are: want 16 random bytes of each end")
		}
	case kindStored:
		if n.store(role) == nil {
			return fmt.Errorf("packet: Stored without a Store for the %s", roleNames[role])
		}
		// Of a type that cannot be compared the id tells.
		if n.send != nil && n.receive != nil && reflect.ValueOf(n.send).Comparable() && reflect.ValueOf(n.receive).Comparable() && n.send == n.receive {
			return errors.New("packet: Stored with one Store for both directions: want two")
		}
	}
	return nil
}

// A sender or a receiver has a role, in the id for a Store.
const (
	sending   = 1
	receiving = 2
)

var roleNames = [...]string{sending: "sender", receiving: "receiver"}

// counters are those of a sender: next up to but not including the end are left. They have a cache
// line of their own behind the 8 bytes that the runtime has there, because the key after them is
// only read: see TestLines.
type counters struct {
	next    atomic.Uint64 // it does not fall
	soft    atomic.Uint64 // the end, or with a supply what its soft returns: beyond is slower
	place   fork.Process  // the process that may use them, and their address: see process
	supply  *supply       // nil if there is no Store, and no limit
	skipped atomic.Uint64 // next less the number of counters used
	ended   atomic.Uint64 // packets that had no counter
	life    lifetime.Lifetime
	_       [4]byte
}

// stopped is set in next when no counter may be used any more.
const stopped = 1 << 63

// SenderStats counts packets.
type SenderStats struct {
	Sealed uint64 // that have a counter
	Ended  uint64 // that had none: see ErrEnd and ErrExpired
	Left   uint64 // that may still be sealed
}

// init sets c, whose sender may have another key.
func (c *counters) init(n *supplied) {
	c.abandon()
	c.place, c.supply = fork.Current()+c.address(), n.supply
	c.skipped.Store(n.first)
	c.ended.Store(0)
	c.next.Store(n.first)
	c.soft.Store(n.soft())
	c.life.Begin()
}

// process returns the one that may use c. For a copy of c, which is at another address, that is none. What
// take is called for does not move, because it is on the heap.
func (c *counters) process() fork.Process { return c.place - c.address() }

func (c *counters) address() fork.Process { return fork.Process(uintptr(unsafe.Pointer(c))) }

// abandon keeps a running goroutine away from c.
func (c *counters) abandon() {
	if s := c.supply; s != nil {
		s.abandon(&s.mu)
	}
}

// take takes n counters and returns the first of them. It takes none and returns an error if fewer
// are left. After a fork it returns an error too.
func (c *counters) take(n uint64) (first uint64, err error) {
	// With an addition, calls that fail would use up counters that are reserved later.
	for {
		first = c.next.Load()
		if first+n > c.soft.Load() { // also if stopped
			return c.takeBeyond(n)
		}
		if c.next.CompareAndSwap(first, first+n) {
			break
		}
	}
	if fork.Current() != c.process() { // asked after they are taken, see package fork
		return 0, ErrCopied
	}
	return first, nil
}

// takeBeyond takes counters beyond soft, unless MaxAge is over, and has the Store reserve more.
func (c *counters) takeBeyond(n uint64) (first uint64, err error) {
	if fork.Current() != c.process() { // then the mutex may be locked for ever
		return 0, ErrCopied
	}
	s := c.supply
	if s == nil {
		c.ended.Add(n)
		return 0, ErrEnd
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expired() {
		c.ended.Add(n)
		return 0, ErrExpired
	}
	for {
		first = c.next.Load()
		enough := first+n <= s.end && !s.over // also not if stopped
		if first&stopped == 0 && first+n > s.half() {
			s.start(&s.mu, s.end+s.step, c.extend)
		}
		if !enough {
			c.ended.Add(n)
			return 0, ErrEnd
		}
		if !c.next.CompareAndSwap(first, first+n) {
			continue
		}
		s.tell(first + n - 1)
		c.soft.Store(s.soft())
		if fork.Current() != c.process() {
			return 0, ErrCopied
		}
		return first, nil
	}
}

// extend is called when the supply has more. Counters below low, which the Store has reserved for somebody
// else, are skipped.
func (c *counters) extend(low uint64) {
	for old := c.next.Load(); old < low; old = c.next.Load() { // not if stopped
		if c.next.CompareAndSwap(old, low) {
			c.skipped.Add(low - old)
			break
		}
	}
	c.soft.Store(c.supply.soft())
}

// mustLive returns the ID of the sender. It panics if there is no key.
func (c *counters) mustLive() lifetime.ID {
	id := c.life.ID()
	if id.None() {
		panic(dead("sender"))
	}
	return id
}

// mustBe panics if that sender was destroyed meanwhile.
func (c *counters) mustBe(id lifetime.ID) {
	if !c.life.Is(id) {
		panic(dead("sender"))
	}
}

// refuse is the end of Seal without a counter.
//
//go:noinline
func (c *counters) refuse(id lifetime.ID, err error) ([]byte, error) {
	c.mustBe(id)
	return nil, err
}

// Stop ends the sender's range for good: from then on Seal returns [ErrEnd]. With a [Store], Stop
// waits for it, and releases the counters that are left, so that nothing is skipped after a restart.
// It returns the Store's error: then these counters are skipped, and another call returns the same.
// Call it before the program ends; after a crash the counters that were reserved are skipped. In a child
// after a fork it returns [ErrCopied] and stores nothing.
func (c *counters) Stop() error {
	id := c.mustLive()
	if fork.Current() != c.process() {
		c.mustBe(id)
		return ErrCopied
	}
	next := c.next.Or(stopped) &^ stopped
	s := c.supply
	if c.mustBe(id); s == nil {
		return nil
	}
	return s.stop(&s.mu, next)
}

// StoreErr returns the error of the [Store] if it has failed to reserve counters, and has not
// succeeded since. It returns nil if there is no Store.
func (c *counters) StoreErr() error {
	c.mustLive()
	s := c.supply
	if s == nil {
		return nil
	}
	if s.copied() {
		return ErrCopied
	}
	return s.failure(&s.mu)
}

// Stats returns how many packets the sender has had. In a child after a fork it returns zeros.
func (c *counters) Stats() SenderStats {
	c.mustLive()
	if fork.Current() != c.process() {
		return SenderStats{}
	}
	if s := c.supply; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	next, end := c.next.Load(), c.soft.Load()
	if c.supply != nil && !c.supply.over {
		end = c.supply.most
	}
	return SenderStats{next&^stopped - c.skipped.Load(), c.ended.Load(), end - min(end, next)} // none if stopped
}

// destroy is for the end of Destroy, after the lifetime has ended.
func (c *counters) destroy() {
	c.abandon()
	c.place, c.supply = 0, nil
	for _, v := range []*atomic.Uint64{&c.next, &c.soft, &c.skipped, &c.ended} {
		v.Store(0)
	}
}
