// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"bytes"
	"crypto/pbkdf2"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// TestIterate compares all numbers of iterations side by side, and each number of steps that a kernel makes in a
// call, with one iteration step by step. Each has a key and a beginning of its own. They are directly after or
// before a page that cannot be read.
func TestIterate(t *testing.T) {
	// The kernels of a function begin alike, and are compared with the same steps.
	steps256, steps512 := make(map[string][][]Iteration[uint32]), make(map[string][][]Iteration[uint64])
	forAllFunctions(t, func(t *testing.T, f *function[uint32]) { testIterate(t, f, steps256) },
		func(t *testing.T, f *function[uint64]) { testIterate(t, f, steps512) })
}

func testIterate[W Word](t *testing.T, f *function[W], steps map[string][][]Iteration[W]) {
	const most = 2*MaxLanes + 1
	size := f.new().Size()
	if steps[f.name] == nil {
		steps[f.name] = genericSteps(f, most)
	}
	its := steps[f.name]
	mem := mactest.Guarded(t, most*int(unsafe.Sizeof(Iteration[W]{})))
	all := unsafe.Slice((*Iteration[W])(unsafe.Pointer(&mem[0])), most)
	run := func(count, n int, f *mactest.Fault) (got, want []byte) {
		some := all[:count]
		if n%2 == 1 {
			some = all[most-count:]
		}
		for i := range some {
			some[i] = its[i][0]
			want = append(want, mactest.Storage(&its[i][n])...)
		}
		mactest.In(f, n, some)
		Iterate(some, size, n)
		return mactest.Bytes(some), want
	}
	// One, two if there are pairs, and as many as there are lanes.
	for _, count := range []int{1, 2, rowSize / wordSize[W]()} {
		mostSteps := maxSteps
		switch n, inLanes := sideBySide[W](count); {
		case count > 1 && (n < count || size < Size[W]()): // one by one
			continue
		case inLanes:
			mostSteps = maxLaneSteps
		}
		t.Run(fmt.Sprint("side=", count), func(t *testing.T) {
			severalCalls := []int{2*maxSteps + 1}
			mactest.Sizes(t, mostSteps, severalCalls, func(n int, f *mactest.Fault) (got, want []byte) { return run(count, n, f) })
		})
	}
	for count := range most + 1 {
		for n := range 4 {
			if got, want := run(count, n, nil); !bytes.Equal(got, want) {
				t.Errorf("%d iterations, %d steps: %x, want %x", count, n, got, want)
			}
		}
	}
}

// TestStart checks that nothing of the last T stays behind a hash that is cut.
func TestStart(t *testing.T) {
	it := Iteration[uint32]{T: State[uint32]{7: 1}}
	if it.Start(28, nil); it.T[7] != 0 || it.U[7] != 0 {
		t.Errorf("T and U of SHA-224 end with %x and %x", it.T[7], it.U[7])
	}
}

// genericSteps returns so many iterations after each number of steps that TestIterate has.
func genericSteps[W Word](f *function[W], most int) (its [][]Iteration[W]) {
	size, rng := f.new().Size(), seeded("testIterate")
	for i := range most {
		it := Iteration[W]{Key: Key[W]{random[W](rng), random[W](rng)}}
		it.Start(size, mactest.Random(rng, 20))
		it.T = random[W](rng)
		clear(it.T[(size+wordSize[W]()-1)/wordSize[W]():])
		n := 3
		if i < MaxLanes {
			n = 2*maxSteps + 1
		}
		after := []Iteration[W]{it}
		for range n {
			it.stepGeneric(size)
			after = append(after, it)
		}
		its = append(its, after)
	}
	return its
}

// stepGeneric is steps for one step, with the portable compression function.
func (it *Iteration[W]) stepGeneric(size int) {
	u := encoded(&it.U)[:size]
	for _, state := range []State[W]{it.Key.Inner, it.Key.Outer} {
		compressGeneric(&state, append(u, pad[W](BlockSize[W]()+size)...))
		u = encoded(&state)[:size]
	}
	b := make([]byte, Size[W]())
	copy(b, u)
	it.U.decode(b)
	for i, word := range it.U {
		it.T[i] ^= word
	}
}

// TestIteratePBKDF2 compares several keys of one block with the standard library.
func TestIteratePBKDF2(t *testing.T) {
	forAllFunctions(t, testIteratePBKDF2[uint32], testIteratePBKDF2[uint64])
}

func testIteratePBKDF2[W Word](t *testing.T, f *function[W]) {
	size, rng := f.new().Size(), seeded("testIteratePBKDF2")
	for count := 1; count <= MaxLanes; count++ {
		n := 1 + rand.New(rng).IntN(600)
		its, want := make([]Iteration[W], count), make([][]byte, count)
		for i := range its {
			password, salt := mactest.Random(rng, 5*i), mactest.Random(rng, 16)
			var err error
			if want[i], err = pbkdf2.Key(f.new, string(password), salt, n, size); err != nil {
				t.Fatal(err)
			}
			its[i].Key.Init(f.initial, size, password)
			its[i].Start(size, append(salt, 0, 0, 0, 1))
		}
		Iterate(its, size, n-1)
		for i := range its {
			got := make([]byte, size)
			if its[i].Sum(got); !bytes.Equal(got, want[i]) {
				t.Fatalf("%d iterations, key %d of %d: %x, want %x", n, i, count, got, want[i])
			}
		}
	}
}

// BenchmarkIterate has the time of a step of each number of iterations side by side. The crossings
// between kernels in sideBySide come from it.
func BenchmarkIterate(b *testing.B) {
	forAllKernels(b, benchmarkIterate[uint32], benchmarkIterate[uint64])
}

func benchmarkIterate[W Word](b *testing.B) {
	const n = 1000
	for count := 1; count <= MaxLanes; count++ {
		b.Run(fmt.Sprint("side=", count), func(b *testing.B) {
			its := make([]Iteration[W], count)
			for b.Loop() {
				Iterate(its, Size[W](), n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*count), "ns/step")
		})
	}
}
