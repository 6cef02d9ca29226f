// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"example.com/fastmac/packet"
)

// counts are what a receiver made of datagrams, or should.
type counts struct {
	Good, Forged, Epoch, Replayed, Old, Unknown, Other uint64
}

func (c *counts) add(err error) {
	switch {
	case err == nil:
		c.Good++
	case errors.Is(err, packet.ErrForged):
		c.Forged++
	case errors.Is(err, packet.ErrEpoch):
		c.Epoch++
	case errors.Is(err, packet.ErrReplayed), errors.Is(err, errAgain):
		c.Replayed++
	case errors.Is(err, packet.ErrOld):
		c.Old++
	case errors.Is(err, packet.ErrUnknown):
		c.Unknown++
	default:
		c.Other++
	}
}

// as returns what a receiver of a kind can tell apart.
func (c counts) as(mac string) counts {
	switch mac {
	case "none":
		return counts{Good: c.Good + c.Forged + c.Epoch + c.Replayed + c.Old, Unknown: c.Unknown, Other: c.Other}
	case "aesgcm":
		c.Replayed, c.Old = c.Replayed+c.Old, 0
	}
	return c
}

func (c counts) String() string {
	return fmt.Sprintf("%d good, %d forged, %d of another epoch, %d replayed, %d too old, %d of unknown peers, %d others",
		c.Good, c.Forged, c.Epoch, c.Replayed, c.Old, c.Unknown, c.Other)
}

// Faults are what a network and an attacker do to packets. Loss, Replay and Forge are
// probabilities.
type Faults struct {
	Loss, Replay, Forge float64
	Reorder             int // one packet in lateOne is late, by 1 to this many packets
	Seed                uint64
}

const (
	lateOne = 10

	// replayAfter is how many packets later a replay comes at most, if there is no reordering.
	replayAfter = 500

	// windowBack is how far below the highest accepted counter one may be: Window is 1024
	// bits, and one word of 64 is being filled.
	windowBack = 1024 - 64
)

// A faulty network is between the sender and the socket. It knows what the receiver must make
// of each packet that it lets through.
type faulty struct {
	Faults
	random  *rand.Rand
	peers   int
	number  int      // how far before the end of a packet its number is
	highest []uint64 // accepted counters of the peers, as package packet defines the window
	expect  counts

	out  [][]byte    // what is to be written
	late [][]delayed // late[t%len(late)] leaves when t packets have come
	now  int
	held int      // packets in late
	free [][]byte // buffers
	used [][]byte // buffers of out
}

// delayed is a copy of a packet that leaves later.
type delayed struct {
	bytes   []byte
	peer    uint32
	counter uint64
	again   bool // it has left before
}

// newFaulty returns a network for peers whose sessions have opened with the counter 0.
func newFaulty(f Faults, peers, number int) *faulty {
	return &faulty{
		Faults:  f,
		random:  rand.New(rand.NewPCG(f.Seed, 1)),
		peers:   peers,
		number:  number,
		highest: make([]uint64, peers),
		late:    make([][]delayed, max(f.Reorder, replayAfter)+1),
	}
}

// send takes packets, and returns those to write, which are valid until the next call.
func (f *faulty) send(peers []uint32, batch []packet.Packet) [][]byte {
	f.begin()
	for i := range batch {
		p := delayed{batch[i].Bytes, peers[i], batch[i].Counter, false}
		f.step()
		if f.chance(f.Loss) {
			continue
		}
		if f.chance(f.Forge) {
			f.forge(p)
		}
		if f.Reorder > 0 && f.random.IntN(lateOne) == 0 {
			f.hold(p, 1+f.random.IntN(f.Reorder))
			continue
		}
		f.leave(p)
	}
	return f.out
}

// flush lets more of the late packets out, and returns none when there are no more.
func (f *faulty) flush() [][]byte {
	f.begin()
	for f.held > 0 && len(f.out) == 0 {
		f.step()
	}
	return f.out
}

// begin takes back the buffers that have been written.
func (f *faulty) begin() {
	f.free = append(f.free, f.used...)
	f.used, f.out = f.used[:0], f.out[:0]
}

// step lets out the late packets whose time it is.
func (f *faulty) step() {
	f.now++
	slot := &f.late[f.now%len(f.late)]
	for _, p := range *slot {
		f.held--
		f.used = append(f.used, p.bytes)
		f.leave(p)
	}
	*slot = (*slot)[:0]
}

func (f *faulty) chance(p float64) bool { return p > 0 && f.random.Float64() < p }

// hold keeps a copy of a packet.
func (f *faulty) hold(p delayed, after int) {
	p.bytes = f.clone(p.bytes)
	slot := &f.late[(f.now+after)%len(f.late)]
	*slot = append(*slot, p)
	f.held++
}

func (f *faulty) clone(b []byte) []byte {
	if n := len(f.free); n > 0 {
		buffer := f.free[n-1]
		f.free = f.free[:n-1]
		return append(buffer[:0], b...)
	}
	return append([]byte(nil), b...)
}

// leave lets a right packet out, and perhaps once more later.
func (f *faulty) leave(p delayed) {
	f.out = append(f.out, p.bytes)
	highest := &f.highest[p.peer]
	switch {
	case p.counter+windowBack < *highest:
		f.expect.Old++
	case p.again:
		f.expect.Replayed++
	default:
		f.expect.Good++
		*highest = max(*highest, p.counter)
	}
	if !p.again && f.chance(f.Replay) {
		p.again = true
		f.hold(p, 1+f.random.IntN(len(f.late)-1))
	}
}

// forge lets out a changed copy of a packet.
func (f *faulty) forge(p delayed) {
	b := f.clone(p.bytes)
	f.used = append(f.used, b)
	f.out = append(f.out, b)
	epoch := len(b) - f.number // its byte
	switch f.random.IntN(8) {
	case 0: // a number that no peer has, and no mark
		binary.BigEndian.PutUint32(b, 1<<31|p.peer)
		f.expect.Unknown++
	case 1:
		b[epoch] ^= 1 << f.random.IntN(8)
		f.expect.Epoch++
	case 2: // another peer, if there is one
		if other := f.random.IntN(f.peers); other != int(p.peer) {
			binary.BigEndian.PutUint32(b, uint32(other))
			f.expect.Forged++
			break
		}
		fallthrough
	default:
		i := 4 + f.random.IntN(len(b)-4)
		b[i] ^= 1 << f.random.IntN(8)
		if i == epoch {
			f.expect.Epoch++
		} else {
			f.expect.Forged++
		}
	}
}
