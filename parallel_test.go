// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// TestWriteParallel compares WriteParallel with Write.
func TestWriteParallel(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testWriteParallel) }

func testWriteParallel(t *testing.T) {
	const (
		chunk  = 256 << 10
		poly64 = 16 << 20 // bytes before POLY-128
	)
	rng := rand.NewChaCha8([32]byte([]byte("testWriteParallel, seed 32 bytes")))
	msg := mactest.Random(rng, 4096+poly64+9*chunk)
	nonce := []byte("nonce")
	type test struct{ before, size int }
	var tests []test
	for i, size := range []int{0, 1, 31, 1024, 2*chunk - 1, 2 * chunk, 2*chunk + 1, 2*chunk + 1024, 3*chunk + 1025, 9 * chunk} {
		for j, before := range []int{0, 1, 32, 1000, 1023, 1024, 1025, 4096} {
			if (i+j)%3 == 0 {
				tests = append(tests, test{before, size})
			}
		}
	}
	tests = append(tests, test{0, poly64}, test{0, poly64 + 1}, test{1000, poly64 - 1000}, test{3, poly64 + 5*chunk}, test{1024, poly64 + 9*chunk})
	if testing.Short() {
		tests = tests[:len(tests)-3]
	}
	for i, test := range tests {
		for j := range 4 {
			if test.size >= poly64 && i%4 != j {
				continue
			}
			k := mactest.Must(NewUMACKey(make([]byte, 16), mactest.UMACTagSizes[j]))
			want, got := k.New(), k.New()
			want.Write(msg[:test.before+test.size])
			got.Write(msg[:test.before])
			workers := []int{0, 1, 2, 3, -1, 5, math.MaxInt}[(i+j)%7]
			got.WriteParallel(msg[test.before:][:test.size], workers)
			for after := range 2 {
				if tag := got.Tag(nil, nonce); !want.Verify(tag, nonce) {
					t.Errorf("UMAC-%d, %v, %d workers, %d after: tag %x is wrong", 8*k.Size(), test, workers, after, tag)
				}
				want.Write(msg[:1])
				got.WriteParallel(msg[:1], workers)
			}
		}
	}
}

// TestWriteParallelWorkers finds the number of workers from the memory that is allocated.
func TestWriteParallelWorkers(t *testing.T) {
	const chunk, worker = 256 << 10, 4 * int(unsafe.Sizeof(chunkWords{})) // bytes that a worker needs
	u := mactest.Must(NewUMACKey(make([]byte, 16), 8)).New()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, test := range []struct{ before, size, workers, want int }{
		{0, 8 * chunk, 0, 3},
		{0, 8 * chunk, -1, 3},
		{0, 8 * chunk, 1, 0}, // the caller's goroutine
		{0, 8 * chunk, 2, 2},
		{0, 8 * chunk, 5, 5},
		{0, 8 * chunk, 9, 8}, // one for each chunk
		{0, 2 * chunk, 9, 2},
		{0, 2*chunk - 1, 9, 0},
		{1, 2*chunk + 1022, 9, 0}, // 1023 bytes are to the end of a block
		{1, 2*chunk + 1023, 9, 2},
	} {
		msg := make([]byte, test.size)
		var before, after runtime.MemStats
		u.Reset()
		u.Write(make([]byte, test.before))
		runtime.ReadMemStats(&before)
		u.WriteParallel(msg, test.workers)
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc-before.TotalAlloc) / worker; got != test.want {
			t.Errorf("%+v: %d workers", test, got)
		}
	}
}

func TestWriteParallelDestroyed(t *testing.T) {
	u := mactest.Must(NewUMACKey(make([]byte, 16), 16)).New()
	u.Destroy()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	u.WriteParallel(nil, 1)
}

// TestChunksWiped checks that the L1 words of WriteParallel are all zeros after use.
func TestChunksWiped(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		k := mactest.Must(NewUMACKey([]byte("0123456789abcdef"), 16))
		c := chunkQueue{key: &k.uhash, p: make([]byte, 3*chunkSize), l2: new(l2State), words: make([]chunkWords, 8)}
		c.run(2)
		for i := range c.words {
			if c.words[i] != (chunkWords{}) {
				t.Errorf("%s: L1 words of a chunk are left", kernel)
			}
		}
		if c.written != 3 {
			t.Errorf("%s: %d chunks", kernel, c.written)
		}
	})
}
