// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"crypto/sha512"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestBlockPair has runs of blocks of equal and of different lengths, with part of a block after
// them, directly before and after pages that cannot be read, from random states.
func TestBlockPair(t *testing.T) { forAllKernels(t, testBlockPair) }

func testBlockPair(t *testing.T) {
	if !HasPairs() {
		return
	}
	const most = 9
	rng := rand.New(seeded("testBlockPair"))
	mem := [2][]byte{mactest.Guarded(t, most*BlockSize), mactest.Guarded(t, most*BlockSize)}
	check := func(p, q []byte) {
		t.Helper()
		var s, other [8]uint64
		for i := range s {
			s[i], other[i] = rng.Uint64(), rng.Uint64()
		}
		want, wantOther := s, other
		blocks := min(len(p), len(q)) / BlockSize * BlockSize
		blockGeneric(&want, p[:blocks])
		blockGeneric(&wantOther, q[:blocks])
		BlockPair(&s, &other, p, q)
		if s != want || other != wantOther {
			t.Fatalf("%d and %d bytes: %x and %x, want %x and %x", len(p), len(q), s, other, want, wantOther)
		}
	}
	for range 500 {
		var p [2][]byte
		for i, m := range mem {
			n := rng.IntN(len(m) + 1)
			p[i] = m[:n:n]
			if rng.IntN(2) == 0 {
				p[i] = m[len(m)-n:]
			}
			for j := range p[i] {
				p[i][j] = byte(rng.Uint32())
			}
		}
		check(p[0], p[1])
		check(p[0], p[0])
	}
	check(nil, nil)
	check(mem[0], nil)
	long := make([]byte, (2*maxRun+1)*BlockSize)
	rng.Shuffle(len(long), func(i, j int) { long[i] = byte(j) })
	check(long, long[:(maxRun+1)*BlockSize])
}

// TestSumPair compares with crypto/sha512 messages of all lengths from 0 to 300 bytes, each with
// itself in length and with all others around a block's end. They are directly before a page that
// cannot be read.
func TestSumPair(t *testing.T) { forAllKernels(t, testSumPair) }

func testSumPair(t *testing.T) {
	if !HasPairs() {
		return
	}
	const most = 300
	random := seeded("testSumPair")
	mem := [2][]byte{mactest.Guarded(t, most), mactest.Guarded(t, most)}
	check := func(first, n, o int) {
		t.Helper()
		var m [2]Message
		var want, out [2][Size]byte
		var states, outers, before, beforeOuter [2][8]uint64
		for i, n := range []int{n, o} {
			begin, block := mactest.Random(random, first), mactest.Random(random, BlockSize)
			p := mem[i][most-n:]
			copy(p, mactest.Random(random, n))
			inner := sha512.Sum512(slices.Concat(begin, p))
			want[i] = sha512.Sum512(slices.Concat(block, inner[:]))
			states[i], outers[i] = Initial(), Initial()
			blockGeneric(&states[i], begin)
			blockGeneric(&outers[i], block)
			m[i] = Message{State: &states[i], Outer: &outers[i], N: uint64(first), P: p}
		}
		before, beforeOuter = states, outers
		if SumPair(&out, &m); out != want {
			t.Fatalf("%d and %d bytes, %d in the state: %x, want %x", n, o, first, out, want)
		}
		if states != before || outers != beforeOuter {
			t.Fatalf("%d and %d bytes: SumPair has changed a chaining value", n, o)
		}
	}
	for n := range most + 1 {
		for _, o := range []int{n, 0, 1, 7, 8, 15, 16, 64, 110, 111, 112, 119, 120, 127, 128, 129, 239, 240, 256, 300} {
			check(n%3*BlockSize, n, o)
			check(n%3*BlockSize, o, n)
		}
	}
}

// TestSumPairLength checks a length of more than 64 bits.
func TestSumPairLength(t *testing.T) {
	forAllKernels(t, func(t *testing.T) {
		if !HasPairs() {
			return
		}
		initial := Initial()
		var got, want [2][Size]byte
		var m [2]Message
		for i, n := range []uint64{0xfedcba9876543280, BlockSize} {
			m[i] = Message{State: &initial, Outer: &initial, N: n, P: make([]byte, 5)}
			Sum(&want[i], &initial, &initial, n, m[i].P)
		}
		if SumPair(&got, &m); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	})
}

func BenchmarkPair(b *testing.B) {
	forAllKernels(b, func(b *testing.B) {
		if !HasPairs() {
			return
		}
		s, t := Initial(), Initial()
		p := make([]byte, 16*BlockSize)
		for b.Loop() {
			BlockPair(&s, &t, p, p)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*16), "ns/block")
	})
}
