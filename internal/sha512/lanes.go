// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

// MaxLanes is how many messages [BlockLanes] compresses side by side, at most.
const MaxLanes = 8

// Lanes are chaining values, word by word: word i of lane l is in row i at l.
type Lanes [8][MaxLanes]uint64

// Get returns the chaining value of a lane.
func (s *Lanes) Get(lane int) (state [8]uint64) {
	for i := range s {
		state[i] = s[i][lane]
	}
	return state
}

// Set sets the chaining value of a lane.
func (s *Lanes) Set(lane int, state *[8]uint64) {
	for i := range s {
		s[i][lane] = state[i]
	}
}
