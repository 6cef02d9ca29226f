// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestLanes puts runs of blocks directly before and after pages that cannot be read,
// with a chaining value for each. Some lanes have more blocks than others, some have
// part of a block after them, some are idle, some begin, and some have outer hashes.
func TestLanes(t *testing.T) { forAllKernels(t, testLanes[uint32], testLanes[uint64]) }

func testLanes[W Word](t *testing.T) {
	lanes, _ := LaneCount[W]()
	if lanes == 0 {
		return
	}
	const most = 9
	rng := rand.New(rand.NewPCG(180, 4))
	blockSize := BlockSize[W]()
	var mem [MaxLanes][]byte
	for l := range mem {
		mem[l] = mactest.Guarded(t, 2*most*blockSize)
	}
	for round := range 300 {
		blocks := 1 + round%most
		if round%4 == 3 {
			blocks = 1
		}
		shortest := rng.IntN(lanes)
		var state Lanes[W]
		var p [MaxLanes][]byte
		var initial, outer LaneSet
		var want [MaxLanes]State[W]
		first := randomState[W](rng)
		state.SetInitial(&first)
		for l := range lanes {
			if round%5 == 4 && l != shortest && rng.IntN(2) == 0 {
				continue // idle
			}
			size := blocks * blockSize
			if l != shortest && round%3 == 2 {
				size += rng.IntN(3 * blockSize)
			}
			run := mem[l][:size]
			if round%2 == 1 {
				run = mem[l][len(mem[l])-size:]
			}
			if other := p[rng.IntN(l+1)]; round%7 == 6 && len(other) >= size { // some share blocks
				p[l] = other[:size]
			} else {
				for i := range run {
					run[i] = byte(rng.Uint32())
				}
				p[l] = run
			}
			outerValue := randomState[W](rng)
			state.set(l, &outerValue)
			state.MoveToOuter(l)
			want[l] = randomState[W](rng)
			state.set(l, &want[l])
			switch choice := rng.IntN(3); {
			case blocks == 1 && (round%8 == 7 || choice == 0): // at times all of them
				outer |= 1 << l
				inner := encoded(&want[l])
				want[l] = outerValue
				compressGeneric(&want[l], append(inner, pad[W](blockSize+len(inner))...))
				continue
			case round%16 < 8 || choice == 1:
				initial |= 1 << l
				want[l] = first
			}
			compressGeneric(&want[l], p[l][:blocks*blockSize])
		}
		if round%3 == 1 {
			outer |= AllHashes
		}
		if n := state.Block(&p, initial, outer); n != blocks {
			t.Fatalf("%d blocks of %d", n, blocks)
		}
		for l := range lanes {
			if len(p[l]) > 0 && get(&state, l) != want[l] {
				t.Fatalf("%d blocks, lane %d, initial %b, outer %b: %x, want %x", blocks, l, initial, outer, get(&state, l), want[l])
			}
			// All lanes have hashes if one of them has an outer one, or by request.
			if len(p[l]) > 0 && outer != 0 && !bytes.Equal(state.Hash(l), encoded(&want[l])) {
				t.Fatalf("lane %d, outer %b: hash %x, want %x", l, outer, state.Hash(l), encoded(&want[l]))
			}
		}
	}
	var state Lanes[W]
	long := make([]byte, (maxLaneRun+1)*blockSize)
	if n := state.Block(&[MaxLanes][]byte{long}, 0, 0); n != maxLaneRun {
		t.Errorf("%d blocks at once, want %d", n, maxLaneRun)
	}
	for name, p := range map[string]*[MaxLanes][]byte{
		"all lanes are idle":              {},
		"a lane has only part of a block": {long, long[:blockSize-1]},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic when %s", name)
				}
			}()
			state.Block(p, 0, 0)
		}()
	}
}

// TestLaneSets compresses a block with each set of lanes that begin a hash, and each set that ends one.
func TestLaneSets(t *testing.T) { forAllKernels(t, testLaneSets[uint32], testLaneSets[uint64]) }

func testLaneSets[W Word](t *testing.T) {
	lanes, _ := LaneCount[W]()
	if lanes == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(2, 16))
	size := BlockSize[W]()
	var before Lanes[W]
	first := randomState[W](rng)
	before.SetInitial(&first)
	var p [MaxLanes][]byte
	var want [3]Lanes[W] // of lanes that go on, begin, and end
	for l := range lanes {
		p[l] = make([]byte, size)
		for i := range p[l] {
			p[l][i] = byte(rng.Uint32())
		}
		begins, ends, goesOn := first, randomState[W](rng), randomState[W](rng)
		before.set(l, &ends)
		before.MoveToOuter(l)
		before.set(l, &goesOn)
		inner := encoded(&goesOn)
		compressGeneric(&goesOn, p[l])
		compressGeneric(&begins, p[l])
		compressGeneric(&ends, append(inner, pad[W](size+len(inner))...))
		want[0].set(l, &goesOn)
		want[1].set(l, &begins)
		want[2].set(l, &ends)
	}
	check := func(initial, outer LaneSet) {
		state := before
		state.Block(&p, initial, outer)
		for l := range lanes {
			kind := initial>>l&1 | outer>>l&1<<1
			if got, want := get(&state, l), get(&want[kind], l); got != want {
				t.Fatalf("lane %d, initial %b, outer %b: %x, want %x", l, initial, outer, got, want)
			}
		}
	}
	for set := range LaneSet(1) << lanes {
		check(set, 0)
		check(0, set)
		check(set, LaneSet(rng.Uint32())&(1<<lanes-1)&^set)
	}
}

func randomState[W Word](rng *rand.Rand) (s State[W]) {
	for i := range s {
		s[i] = W(rng.Uint64())
	}
	return s
}

// get returns the chaining value of a lane.
func get[W Word](s *Lanes[W], lane int) (state State[W]) {
	s.get(lane, &state)
	return state
}

func BenchmarkLanes(b *testing.B) {
	forAllKernels(b, benchmarkLanes[uint32], benchmarkLanes[uint64])
}

func benchmarkLanes[W Word](b *testing.B) {
	lanes, _ := LaneCount[W]()
	if lanes == 0 {
		return
	}
	for _, size := range []struct{ blocks, gap int }{{1, 0}, {16, 0}, {256, 0}, {256, 64}} {
		blocks := size.blocks
		b.Run(fmt.Sprintf("blocks=%d,gap=%d", blocks, size.gap), func(b *testing.B) {
			var state Lanes[W]
			var p [MaxLanes][]byte
			message := blocks * BlockSize[W]()
			mem := make([]byte, len(p)*(message+size.gap))
			for l := range p {
				p[l] = mem[l*(message+size.gap):][:message]
			}
			for b.Loop() {
				state.Block(&p, 0, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*blocks*lanes), "ns/block")
		})
	}
}
