// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

// MaxLanes is how many messages [Lanes] has.
const MaxLanes = 8

// Lanes are the chaining values of several messages, word by word: word i of lane l
// is in row i at l.
type Lanes [8][MaxLanes]uint64

// Get sets state to the chaining value of a lane.
func (s *Lanes) Get(lane int, state *[8]uint64) {
	for i := range s {
		state[i] = s[i][lane]
	}
}

// Set sets the chaining value of a lane.
func (s *Lanes) Set(lane int, state *[8]uint64) {
	for i := range s {
		s[i][lane] = state[i]
	}
}

// Block compresses blocks of p[lane] into each lane of [LaneCount], the same number in
// each, and returns that number: as many as the shortest slice has, at most 512. A lane
// whose slice is empty is idle, and its chaining value is undefined afterwards; p is
// changed. At least one lane must not be idle, and each of these must have at least one
// block. Lanes may share blocks.
func (s *Lanes) Block(p *[MaxLanes][]byte) (blocks int) {
	lanes, _ := LaneCount()
	size, idle, busy := maxRun*BlockSize, 0, 0
	for l := range p[:lanes] {
		if len(p[l]) == 0 {
			idle++
			continue
		}
		size = min(size, len(p[l]))
		busy = l
	}
	blocks = size / BlockSize
	if idle == lanes || blocks == 0 {
		panic("fastmac: a SHA-512 lane without a block")
	}
	if idle > 0 {
		for l := range p {
			if len(p[l]) == 0 {
				p[l] = p[busy] // the kernel reads blocks for every lane
			}
		}
	}
	blockLanes(s, p, blocks)
	return blocks
}
