// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package lifetime lets a key notice that it was destroyed, or replaced, while a computation used it.
// Then the result depends on a key that is partly zeros, and must not leave the package.
//
//	id := k.life.Expect()
//	… reads the key …       // and keeps the result to itself
//	k.life.Is(id)           // if not, clears the result and panics
//
// The key is written only where it has no ID: between End and Begin. Destroy is End, and then zeros;
// Init is End if there is a key, the new key, and then Begin. A stream has a Lifetime too, which ends when
// the stream is destroyed.
//
// # Why Is cannot miss it
//
// A program that destroys a key in use has a data race, about which Go's memory model says only that a
// read of a word returns something that was written to it. So the argument is about instructions. Let
// a computation read a byte of the key that was written after the End of its lifetime.
//
//   - End stores the number of the next lifetime, and a barrier orders this before all stores after it
//     (stores). So whoever has read the byte, and looks at the number after that, finds the new number,
//     or a later one: it only rises.
//   - Is looks at the number after that, because a barrier orders all loads of the computation before it
//     (loads). Neither a plain load nor a load-acquire of the number would do: on arm64 both may be done
//     before loads that precede them.
//
// The other way round, Begin stores the number after the key (store-release), and ID and Expect load it before
// the key (load-acquire): a computation that has the ID of a key reads nothing from before its Begin.
//
// amd64, 386 and s390x have these orders for all loads and all stores, so there the barriers are nothing,
// and the compiler does not move loads over an atomic load, or stores over a store. On arm64 they are DMB
// ISHLD and DMB ISHST. Elsewhere they are an atomic addition and a load, which order all that precedes them
// before all that follows them, as all functions of sync/atomic do in Go's implementation.
package lifetime

import "sync/atomic"

//go:generate go run -C ../asm ./neon -out ../../internal/lifetime/barrier_arm64.s

// A Lifetime is a field of a key. The zero Lifetime is that of a key that was never set up. It has 4
// bytes, and stays when the key is destroyed.
type Lifetime struct{ id uint32 }

// An ID is that of a key, which is 3 modulo 4, or of the state of having none, which is 0 modulo 4. It has 32
// bits, and is not used again for 2^29 keys in one place. A variable of 4 bytes would shift the arrays beside
// it on the stack, where the CPU forwards 8 bytes from a store to a load more slowly if they are not aligned.
type ID uint64

// None reports whether there is no key.
func (id ID) None() bool { return id%2 == 0 }

// Expect returns the ID of the key, or if there is none an ID that no key has: see Is. A computation may
// begin without a key, as after Destroy, if it reads nothing outside of what is there in its place.
func (l *Lifetime) Expect() ID { return ID(atomic.LoadUint32(&l.id) | 1) }

// ID returns that of the key.
func (l *Lifetime) ID() ID { return ID(atomic.LoadUint32(&l.id)) }

// Is reports whether the key had this ID all the time, from when ID or Expect returned it until all that was
// read of the key had been read.
func (l *Lifetime) Is(id ID) bool {
	loads()
	return ID(atomic.LoadUint32(&l.id)) == id
}

// A stream needs no ID: its lifetime has that of the key with which it began, until the stream is destroyed.
// So if it is equal to that of the key, both are those of the beginning. A computation that asks afterwards
// need not ask before, because a key without an ID can be computed with, to no avail.

// OfStream returns the lifetime of a stream under the key with an ID.
func OfStream(id ID) Lifetime { return Lifetime{uint32(id)} }

// IsOf reports whether a stream and the key with which it began both live. That is for calls that return
// nothing of the key: it is not ordered with anything.
func (l *Lifetime) IsOf(key *Lifetime) bool { return l.id == key.id }

// IsStillOf is IsOf all the time, from when the stream began until all that was read of the key, and of the
// stream, had been read.
func (l *Lifetime) IsStillOf(key *Lifetime) bool {
	loads()
	return atomic.LoadUint32(&l.id) == atomic.LoadUint32(&key.id)
}

// EndStream is End of the lifetime of a stream. Its ID is then none that a key has, or had.
func (l *Lifetime) EndStream() {
	atomic.StoreUint32(&l.id, 1)
	stores()
}

// A Sum is that of the IDs of several keys, none of which is None, from before a computation with all of them.
// If that after it, and after Loads, is the same, then no ID has changed: they only rise.
type Sum uint64

// Add adds an ID.
func (s *Sum) Add(id ID) { *s += Sum(id) }

// Loads comes after a computation, before the IDs are added again.
func Loads() { loads() }

// Begin says that there is a key, which has been written.
func (l *Lifetime) Begin() { release(&l.id, l.id|3) }

// End says that there is no key. The caller overwrites it after that.
func (l *Lifetime) End() {
	for id := atomic.LoadUint32(&l.id); !atomic.CompareAndSwapUint32(&l.id, id, (id|3)+1); {
		id = atomic.LoadUint32(&l.id)
	}
	stores()
}
