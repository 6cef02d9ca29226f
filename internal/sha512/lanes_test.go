// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// TestBlockLanes puts runs of blocks at the ends of pages before others that cannot
// be read and behind them, with chaining values of their own.
func TestBlockLanes(t *testing.T) { forAllKernels(t, testBlockLanes) }

func testBlockLanes(t *testing.T) {
	lanes, _ := LaneCount()
	if lanes == 0 {
		return
	}
	const most = 9
	rng := rand.New(rand.NewPCG(180, 4))
	var mem [MaxLanes][]byte
	for l := range mem {
		mem[l] = mactest.Guarded(t, 2*most*BlockSize)
	}
	for round := range 50 {
		blocks := 1 + round%most
		var state, want Lanes
		var p [MaxLanes]*byte
		for l := range lanes {
			run := mem[l][:blocks*BlockSize]
			if round%2 == 1 {
				run = mem[l][len(mem[l])-blocks*BlockSize:]
			}
			if round%7 == 6 && l > 0 { // some share blocks
				p[l] = p[rng.IntN(l)]
			} else {
				for i := range run {
					run[i] = byte(rng.Uint32())
				}
				p[l] = &run[0]
			}
			var s [8]uint64
			for i := range s {
				s[i] = rng.Uint64()
			}
			state.Set(l, &s)
			if state.Get(l) != s {
				t.Fatal("Get does not return what Set was given")
			}
			blockGeneric(&s, unsafe.Slice(p[l], blocks*BlockSize))
			want.Set(l, &s)
		}
		BlockLanes(&state, &p, blocks)
		if state != want {
			t.Fatalf("%d blocks: %x, want %x", blocks, state, want)
		}
	}
}

func BenchmarkLanes(b *testing.B) {
	forAllKernels(b, func(b *testing.B) {
		lanes, _ := LaneCount()
		if lanes == 0 {
			return
		}
		for _, blocks := range []int{1, 16} {
			b.Run(fmt.Sprint("blocks=", blocks), func(b *testing.B) {
				var state Lanes
				var p [MaxLanes]*byte
				for l := range p {
					p[l] = &make([]byte, blocks*BlockSize)[0]
				}
				for b.Loop() {
					BlockLanes(&state, &p, blocks)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*blocks*lanes), "ns/block")
			})
		}
	})
}
