// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import "unsafe"

// MaxLanes is how many messages [Lanes] has.
const MaxLanes = 8

// Lanes are several messages that are hashed side by side. Word i of a chaining value of lane l is
// in row i at l.
type Lanes struct {
	state   [8][MaxLanes]uint64
	outer   [8][MaxLanes]uint64 // chaining values of outer hashes
	initial [8]uint64

	Hashes [MaxLanes][Size]byte // see Block
}

// A LaneSet has bit l if lane l is in it.
type LaneSet uint64

// SetInitial sets the chaining value with which lanes begin.
func (s *Lanes) SetInitial(state *[8]uint64) { s.initial = *state }

// SetOuter sets the chaining value of the outer hash of all lanes.
func (s *Lanes) SetOuter(state *[8]uint64) {
	for i := range s.outer {
		for l := range s.outer[i] {
			s.outer[i][l] = state[i]
		}
	}
}

// Begin sets the chaining values of a lane, for its hash and for its outer hash.
func (s *Lanes) Begin(lane int, state, outer *[8]uint64) {
	for i := range s.state {
		s.state[i][lane], s.outer[i][lane] = state[i], outer[i]
	}
}

// MoveToOuter makes the chaining value of a lane that of its outer hash.
func (s *Lanes) MoveToOuter(lane int) {
	for i := range s.state {
		s.outer[i][lane] = s.state[i][lane]
	}
}

// Block compresses blocks of p[lane] into each lane of [LaneCount], the same number in each, and
// returns that number: as many as the shortest slice has, at most 512. A lane whose slice is empty
// is idle, and its chaining value is undefined afterwards. At least one lane must not be idle, and
// each of these must have at least one block. Lanes may share blocks.
//
// The lanes in initial begin with the initial chaining value. What a lane in outer has in p is of no
// account, except that it is one block: its chaining value becomes that of the outer hash, into which
// its former one is compressed, with its padding. Then its element of Hashes is the result; those of
// other lanes are undefined.
func (s *Lanes) Block(p *[MaxLanes][]byte, initial, outer LaneSet) (blocks int) {
	lanes, least := LaneCount()
	size, busy, last := maxRun*BlockSize, 0, 0
	for l := range p[:lanes] {
		if len(p[l]) > 0 {
			size = min(size, len(p[l]))
			busy++
			last = l
		}
	}
	blocks = size / BlockSize
	if busy == 0 || blocks == 0 {
		panic("fastmac: a SHA-512 lane without a block")
	}
	if busy < least {
		s.blockEach(p, blocks, initial, outer)
		return blocks
	}
	var first [MaxLanes]*byte
	var idle LaneSet
	for l, run := range p[:lanes] {
		if len(run) == 0 {
			idle |= 1 << l
			run = p[last] // the kernel reads blocks for every lane
		}
		first[l] = unsafe.SliceData(run)
	}
	if outer != 0 {
		outer |= idle // no words are loaded if all lanes are in it
	}
	compressLanes(s, &first, blocks, initial, outer)
	return blocks
}

// blockEach is Block for one lane after the other.
func (s *Lanes) blockEach(p *[MaxLanes][]byte, blocks int, initial, outer LaneSet) {
	var state [8]uint64
	var b Buffer
	for l, run := range p {
		if len(run) == 0 {
			continue
		}
		run = run[:blocks*BlockSize]
		switch {
		case outer>>l&1 != 0:
			s.get(l, &state)
			Encode((*[Size]byte)(b[:]), &state)
			copy(b[Size:], OuterPadding[:])
			run = b[:]
			for i := range state {
				state[i] = s.outer[i][l]
			}
		case initial>>l&1 != 0:
			state = s.initial
		default:
			s.get(l, &state)
		}
		Block(&state, run)
		s.set(l, &state)
		Encode(&s.Hashes[l], &state)
	}
	clear(state[:])
	clear(b[:])
}

// get sets state to the chaining value of a lane.
func (s *Lanes) get(lane int, state *[8]uint64) {
	for i := range s.state {
		state[i] = s.state[i][lane]
	}
}

// set sets the chaining value of a lane.
func (s *Lanes) set(lane int, state *[8]uint64) {
	for i := range s.state {
		s.state[i][lane] = state[i]
	}
}
