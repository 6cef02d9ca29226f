// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import "unsafe"

// MaxLanes is how many messages [Lanes] has at most: as many as there are words in a row.
const MaxLanes = rowSize / 4

const rowSize = 64 // in bytes

// A row has a word of each lane.
type row [rowSize]byte

// Lanes are several messages that are hashed side by side. Row i of state has word i of all chaining
// values.
type Lanes[W Word] struct {
	state, outer [8]row // chaining values, and those of outer hashes
	hashes       [8 * rowSize]byte
	initial      State[W]
}

// A LaneSet has bit l if lane l is in it.
type LaneSet uint64

// AllHashes is no lane: see [Lanes.Block].
const AllHashes LaneSet = 1 << MaxLanes

// at returns the word of a lane.
func at[W Word](r *row, lane int) *W {
	return (*W)(unsafe.Pointer(&r[lane*wordSize[W]()]))
}

// SetInitial sets the chaining value with which lanes begin.
func (s *Lanes[W]) SetInitial(state *State[W]) { s.initial = *state }

// SetOuter sets the chaining value of the outer hash of all lanes.
func (s *Lanes[W]) SetOuter(state *State[W]) {
	for i := range s.outer {
		for l := range rowSize / wordSize[W]() {
			*at[W](&s.outer[i], l) = state[i]
		}
	}
}

// Begin sets the chaining values of a lane, for its hash and for its outer hash.
func (s *Lanes[W]) Begin(lane int, state, outer *State[W]) {
	for i := range s.state {
		*at[W](&s.state[i], lane), *at[W](&s.outer[i], lane) = state[i], outer[i]
	}
}

// MoveToOuter makes the chaining value of a lane that of its outer hash.
func (s *Lanes[W]) MoveToOuter(lane int) {
	for i := range s.state {
		*at[W](&s.outer[i], lane) = *at[W](&s.state[i], lane)
	}
}

// MoveAllToOuter is MoveToOuter for all lanes.
func (s *Lanes[W]) MoveAllToOuter() { s.outer = s.state }

// BeginOuter makes the chaining value of the outer hash of a lane its own.
func (s *Lanes[W]) BeginOuter(lane int) {
	for i := range s.state {
		*at[W](&s.state[i], lane) = *at[W](&s.outer[i], lane)
	}
}

// BeginAllOuter is BeginOuter for all lanes.
func (s *Lanes[W]) BeginAllOuter() { s.state = s.outer }

// Hash returns the hash of a lane: see Block. The next call of Block overwrites it.
func (s *Lanes[W]) Hash(lane int) []byte { return s.hashes[lane*Size[W]():][:Size[W]()] }

// Block compresses blocks of p[lane] into each lane of [LaneCount], the same number in each, and
// returns that number: as many as the shortest slice has, at most 256. A lane whose slice is empty
// is idle, and its chaining value is undefined afterwards. At least one lane must not be idle, and
// each of these must have at least one block. Lanes may share blocks.
//
// The lanes in initial begin with the initial chaining value. What a lane in outer has in p is of no
// account, except that it is one block: its chaining value becomes that of the outer hash, into which
// its former one is compressed, with its padding. Then [Lanes.Hash] has the result. It has the chaining
// values of all lanes if there is a lane in outer or AllHashes is.
func (s *Lanes[W]) Block(p *[MaxLanes][]byte, initial, outer LaneSet) (blocks int) {
	lanes, least := LaneCount[W]()
	size, busy, last := maxLaneRun*BlockSize[W](), 0, 0
	for l := range p[:lanes] {
		if len(p[l]) > 0 {
			size = min(size, len(p[l]))
			busy++
			last = l
		}
	}
	blocks = size / BlockSize[W]()
	if busy == 0 || blocks == 0 {
		panic("fastmac: a SHA-2 lane without a block")
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
	if outer&^AllHashes != 0 {
		outer |= idle // no words are loaded if all lanes are in it
	}
	compressLanes(s, &first, blocks, initial, outer)
	return blocks
}

// blockEach is Block for one lane after the other.
func (s *Lanes[W]) blockEach(p *[MaxLanes][]byte, blocks int, initial, outer LaneSet) {
	var state State[W]
	var t Tail[W]
	for l, run := range p {
		if len(run) == 0 {
			continue
		}
		run = run[:blocks*BlockSize[W]()]
		switch {
		case outer>>l&1 != 0:
			s.get(l, &state)
			state.encode(s.Hash(l))
			run = t.Write(s.Hash(l), uint64(BlockSize[W]()+Size[W]()))
			for i := range state {
				state[i] = *at[W](&s.outer[i], l)
			}
		case initial>>l&1 != 0:
			state = s.initial
		default:
			s.get(l, &state)
		}
		state.Compress(run)
		s.set(l, &state)
		state.encode(s.Hash(l))
	}
	clear(state[:])
	t = Tail[W]{}
}

// get sets state to the chaining value of a lane.
func (s *Lanes[W]) get(lane int, state *State[W]) {
	for i := range s.state {
		state[i] = *at[W](&s.state[i], lane)
	}
}

// set sets the chaining value of a lane.
func (s *Lanes[W]) set(lane int, state *State[W]) {
	for i := range s.state {
		*at[W](&s.state[i], lane) = state[i]
	}
}
