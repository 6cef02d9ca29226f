// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"testing"

	"example.com/fastmac/internal/mactest"
)

// after returns the chaining values after each number of blocks of p, from s on. They are computed once for all
// numbers, by portable code.
func after[W Word](s State[W], p []byte) (states []State[W]) {
	states = append(states, s)
	for ; len(p) >= BlockSize[W](); p = p[BlockSize[W]():] {
		compressGeneric(&s, p[:BlockSize[W]()])
		states = append(states, s)
	}
	return states
}

// TestSizes has each number of blocks that a kernel gets in a call: in one message, in pairs, and in lanes. Each
// message and each state is another one.
func TestSizes(t *testing.T) { forAllKernels(t, testSizes[uint32], testSizes[uint64]) }

func testSizes[W Word](t *testing.T) {
	size, rng := BlockSize[W](), seeded("testSizes")
	var messages [MaxLanes][]byte
	var begin [MaxLanes]State[W]
	var want [MaxLanes][]State[W]
	lanes, _ := LaneCount[W]()
	for l := range max(lanes, 2) {
		blocks := maxLaneRun
		if l < 2 {
			blocks = maxRun
		}
		messages[l], begin[l] = mactest.Random(rng, (blocks+3)*size), random[W](rng)
		want[l] = after(begin[l], messages[l])
	}
	t.Run("one", func(t *testing.T) {
		mactest.Sizes(t, maxRun, nil, func(n int, _ *mactest.Fault) (got, wants []byte) {
			s := begin[0]
			s.Compress(messages[0][:n*size])
			return s.bytes(), want[0][n].bytes()
		})
	})
	if HasPairs[W]() {
		t.Run("pair", func(t *testing.T) {
			mactest.Sizes(t, maxRun, nil, func(n int, f *mactest.Fault) (got, wants []byte) {
				s := [2]State[W]{begin[0], begin[1]}
				p := [2][]byte{messages[0][:n*size], messages[1][:n*size]}
				mactest.In(f, n, p[:])
				p[n%2] = p[n%2][:(n+n/2%4)*size] // one may be longer
				CompressPair(&s[0], &s[1], p[0], p[1])
				return mactest.Storage(&s), mactest.Storage(&[2]State[W]{want[0][n], want[1][n]})
			})
		})
	}
	if lanes == 0 {
		return
	}
	first := random[W](rng)
	var wantFirst [MaxLanes][]State[W] // of lanes that begin with that
	for l := range lanes {
		wantFirst[l] = after(first, messages[l])
	}
	t.Run("lanes", func(t *testing.T) {
		mactest.Sizes(t, maxLaneRun, nil, func(n int, f *mactest.Fault) (got, wants []byte) {
			var s Lanes[W]
			s.SetInitial(&first)
			p := messages
			mactest.In(f, n, p[:lanes])
			var initial LaneSet
			for l := range lanes {
				s.Begin(l, &begin[l], &first)
				p[l] = p[l][:n*size]
				if l != n%lanes { // the others may be longer
					p[l] = p[l][:len(p[l])+(l+n)%5*size/2]
				}
				if (l+1)*n/3%2 == 1 {
					initial |= 1 << l
					wants = append(wants, wantFirst[l][n].bytes()...)
				} else {
					wants = append(wants, want[l][n].bytes()...)
				}
			}
			if blocks := s.Block(&p, initial, 0); blocks != n {
				t.Errorf("%d blocks of %d", blocks, n)
			}
			for l := range lanes {
				state := get(&s, l)
				got = append(got, state.bytes()...)
			}
			return got, wants
		})
	})
}

// TestLongSizes has numbers of blocks that a kernel gets in several calls.
func TestLongSizes(t *testing.T) { forAllKernels(t, testLongSizes[uint32], testLongSizes[uint64]) }

func testLongSizes[W Word](t *testing.T) {
	size, rng := BlockSize[W](), seeded("testLongSizes")
	begin, sizes := random[W](rng), mactest.LongSizes(rng, maxRun, 1<<16)
	p := mactest.Random(rng, sizes[len(sizes)-1]*size)
	want, done := begin, 0
	for _, n := range sizes {
		compressStd(&want, p[done*size:n*size])
		done = n
		got, other := begin, begin
		got.Compress(p[:n*size])
		if got != want {
			t.Errorf("%d blocks: %x, want %x", n, got, want)
		}
		if HasPairs[W]() && n < 1<<13 {
			got = begin
			CompressPair(&other, &got, p[size:n*size], p[:n*size])
			if got.Compress(p[(n-1)*size : n*size]); got != want {
				t.Errorf("%d blocks, but for the last one in a pair: %x, want %x", n, got, want)
			}
		}
	}
}
