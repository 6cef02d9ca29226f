// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestCompressPair has runs of blocks of equal and of different lengths, with part of a block after
// them, directly before and after pages that cannot be read, from random states.
func TestCompressPair(t *testing.T) {
	forAllKernels(t, testCompressPair[uint32], testCompressPair[uint64])
}

func testCompressPair[W Word](t *testing.T) {
	if !HasPairs[W]() {
		return
	}
	const most = 9
	size := BlockSize[W]()
	random8 := seeded("testCompressPair")
	rng := rand.New(random8)
	mem := [2][]byte{mactest.Guarded(t, most*size), mactest.Guarded(t, most*size)}
	check := func(p, q []byte) {
		t.Helper()
		s, other := random[W](random8), random[W](random8)
		want, wantOther := s, other
		blocks := min(len(p), len(q)) / size * size
		compressGeneric(&want, p[:blocks])
		compressGeneric(&wantOther, q[:blocks])
		CompressPair(&s, &other, p, q)
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
	long := make([]byte, (2*maxRun+1)*size)
	rng.Shuffle(len(long), func(i, j int) { long[i] = byte(j) })
	check(long, long[:(maxRun+1)*size])
}

// TestSumPair compares with the standard library messages of all lengths from 0 to 300 bytes, each
// with all others around a block's end. They are directly before a page that cannot be read.
func TestSumPair(t *testing.T) { forAllFunctions(t, testSumPair[uint32], testSumPair[uint64]) }

func testSumPair[W Word](t *testing.T, f *function[W]) {
	if !HasPairs[W]() {
		return
	}
	const most = 300
	size := BlockSize[W]()
	random := seeded("testSumPair")
	mem := [2][]byte{mactest.Guarded(t, most), mactest.Guarded(t, most)}
	check := func(first, n, o int) {
		t.Helper()
		var m [2]Message[W]
		var want [2][]byte
		var states, outers [2]State[W]
		for i, n := range []int{n, o} {
			begin, block := mactest.Random(random, first), mactest.Random(random, size)
			p := mem[i][most-n:]
			copy(p, mactest.Random(random, n))
			want[i] = f.sum(block, f.sum(begin, p))
			states[i], outers[i] = *f.initial, *f.initial
			compressGeneric(&states[i], begin)
			compressGeneric(&outers[i], block)
			m[i] = Message[W]{Out: make([]byte, len(want[i])), State: &states[i], Outer: &outers[i], N: uint64(first), P: p}
		}
		before, beforeOuter := states, outers
		if SumPair(&m); !bytes.Equal(m[0].Out, want[0]) || !bytes.Equal(m[1].Out, want[1]) {
			t.Fatalf("%d and %d bytes, %d in the state: %x and %x, want %x", n, o, first, m[0].Out, m[1].Out, want)
		}
		if states != before || outers != beforeOuter {
			t.Fatalf("%d and %d bytes: SumPair has changed a chaining value", n, o)
		}
	}
	for n := range most + 1 {
		for _, o := range []int{n, 0, 1, 3, 4, 7, 8, 15, 16, 55, 56, 60, 63, 64, 110, 111, 112, 119, 120, 127, 128, 129, 239, 240, 256, 300} {
			check(n%3*size, n, o)
			check(n%3*size, o, n)
		}
	}
}

// TestSumPairLength checks a length in bits that needs all bits of the words that have it.
func TestSumPairLength(t *testing.T) {
	forAllKernels(t, testSumPairLength[uint32], testSumPairLength[uint64])
}

func testSumPairLength[W Word](t *testing.T) {
	if !HasPairs[W]() {
		return
	}
	initial := random[W](seeded("testSumPairLength"))
	var want [2][]byte
	var m [2]Message[W]
	for i, n := range []uint64{0xfedcba9876543280, uint64(BlockSize[W]())} {
		want[i] = make([]byte, Size[W]())
		m[i] = Message[W]{Out: make([]byte, Size[W]()), State: &initial, Outer: &initial, N: n, P: make([]byte, 5)}
		Sum(want[i], &initial, &initial, n, m[i].P)
	}
	if SumPair(&m); !bytes.Equal(m[0].Out, want[0]) || !bytes.Equal(m[1].Out, want[1]) {
		t.Errorf("%x and %x, want %x", m[0].Out, m[1].Out, want)
	}
}

func BenchmarkPair(b *testing.B) { forAllKernels(b, benchmarkPair[uint32], benchmarkPair[uint64]) }

func benchmarkPair[W Word](b *testing.B) {
	if !HasPairs[W]() {
		return
	}
	var s, t State[W]
	p := make([]byte, 16*BlockSize[W]())
	for b.Loop() {
		CompressPair(&s, &t, p, p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*16), "ns/block")
}
