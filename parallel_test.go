// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"example.com/fastmac/internal/mactest"
)

// TestWriteParallel compares WriteParallel with Write.
func TestWriteParallel(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testWriteParallel) }

// setParallelSize makes parallelSize smaller for a test: helpers begin after the first half.
func setParallelSize(t *testing.T) (size int) {
	size = 2 * paceChunks * chunkSize
	old := parallelSize
	t.Cleanup(func() { parallelSize = old })
	parallelSize = size
	return size
}

func testWriteParallel(t *testing.T) {
	large := setParallelSize(t)
	const (
		chunk  = chunkSize
		poly64 = 16 << 20 // bytes before POLY-128
	)
	rng := rand.NewChaCha8([32]byte([]byte("testWriteParallel, seed 32 bytes")))
	msg := mactest.Random(rng, 4096+poly64+large)
	nonce := []byte("nonce")
	type test struct{ before, size int }
	var tests []test
	for i, size := range []int{0, 1, 31, 1024, 2*chunk - 1, large - 1, large, large + 1, large + 1024, large + 3*chunk + 1025} {
		for j, before := range []int{0, 1, 32, 992, 1000, 1023, 1024, 1025, 4096} {
			if (i+j)%3 == 0 {
				tests = append(tests, test{before, size})
			}
		}
	}
	tests = append(tests, test{0, poly64}, test{0, poly64 + 1}, test{1000, poly64 - 1000}, test{3, poly64 + 5*chunk}, test{1024, poly64 + large})
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
			paused.Store(0)
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

// TestWriteParallelWorkers finds the number of helpers from the memory that is allocated.
func TestWriteParallelWorkers(t *testing.T) {
	const helper = windowChunks * int(unsafe.Sizeof(chunkWords{})) // bytes that a helper needs
	u := mactest.Must(NewUMACKey(make([]byte, 16), 8)).New()
	parallelSize := setParallelSize(t)
	msg := make([]byte, parallelSize)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, test := range []struct{ size, workers, want int }{
		{parallelSize, 0, 2},
		{parallelSize, -1, 2},
		{parallelSize, 1, 0}, // the caller's goroutine
		{parallelSize, 2, 1},
		{parallelSize, 3, 2},
		{parallelSize, 4, 2},
		{parallelSize, math.MaxInt, 2},
		{parallelSize - 1, 9, 0},
	} {
		var before, after runtime.MemStats
		u.Reset()
		paused.Store(0)
		runtime.ReadMemStats(&before)
		u.WriteParallel(msg[:test.size], test.workers)
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc-before.TotalAlloc) / helper; got != test.want {
			t.Errorf("%+v: %d helpers", test, got)
		}
	}
	for _, test := range []struct{ chunks, helpers, want int }{{100, 2, 2 * windowChunks}, {13, 2, 13}, {13, 1 << 20, 13}} {
		if c := newChunkQueue(nil, make([]byte, test.chunks*chunkSize), nil, test.helpers); len(c.window) != test.want {
			t.Errorf("%+v: the window has %d chunks", test, len(c.window))
		}
	}
}

// TestPace has helpers that are of use, some that are not at times, and some that are not.
func TestPace(t *testing.T) {
	defer paused.Store(0)
	paused.Store(0)
	k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
	c := newChunkQueue(k, nil, new(l2State), 0)
	now := c.since
	for i, test := range []struct {
		took           time.Duration
		helped, closed bool
	}{
		{100, false, false}, // alone
		{300, false, false}, // they have not begun
		{100, true, false},
		{99, true, false},
		{100, true, false},
		{200, false, false},
		{100, true, false},
		{101, true, true},
	} {
		now = now.Add(test.took)
		c.helped = test.helped
		c.pace((i+1)*paceChunks, now)
		if c.closed != test.closed || isPaused(0) != test.closed {
			t.Fatalf("step %d: closed %v, paused %v", i, c.closed, isPaused(0))
		}
	}
	for _, paused := range []bool{true, true, false, false} {
		if isPaused(pauseSize*2/5) != paused {
			t.Errorf("paused: want %v", paused)
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
		c := newChunkQueue(&k.uhash, make([]byte, 9*chunkSize), new(l2State), 1)
		for range 3 {
			i, _ := c.take()
			c.hash(i)
			if c.at(i).words == [chunkBlocks]l1Words{} {
				t.Fatalf("%s: no words", kernel)
			}
		}
		c.run()
		c.checkWiped(t, kernel)
	})
}

func (c *chunkQueue) checkWiped(t *testing.T, what string) {
	t.Helper()
	if i, ok := c.take(); ok || c.busy != 0 {
		t.Errorf("%s: took chunk %d at the end, %d helpers are busy", what, i, c.busy)
	}
	for i := range c.window {
		if c.window[i] != (chunkWords{}) {
			t.Errorf("%s: L1 words of a chunk are left", what)
		}
	}
}

// TestChunkQueue has a helper that is ahead, one that is late, one that is late by more than the
// window, and none.
func TestChunkQueue(t *testing.T) {
	const chunks = 20
	k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
	p := mactest.Random(rand.NewChaCha8([32]byte{}), chunks*chunkSize)
	var got, want l2State
	k.writeBlocks(&want, p)
	c := newChunkQueue(k, p, &got, 1)
	take := func(want int) {
		t.Helper()
		if i, ok := c.take(); !ok || i != want { // take waits if there is none
			t.Fatalf("took %d, %v: want %d", i, ok, want)
		}
	}
	write := func(i int, helped bool) {
		t.Helper()
		w := c.begin(i)
		if (w != nil) != helped {
			t.Fatalf("chunk %d is from a helper: %v", i, w != nil)
		}
		if w != nil {
			k.writeRun(&got, w.words[:])
			c.free(w)
		} else {
			k.writeBlocks(&got, c.chunk(i))
		}
	}
	if windowChunks != 8 || aheadChunks != 4 {
		t.Fatal("the numbers below are for 8 and 4 chunks")
	}
	take(7) // the last ones first
	take(6)
	take(5)
	take(4)
	c.hash(7)
	c.hash(5)
	for i := range 4 {
		write(i, false)
	}
	take(11) // its place was that of chunk 3
	take(10)
	c.hash(11)
	write(4, false) // begun, but not hashed
	write(5, true)
	write(6, false)
	write(7, true)
	c.hash(6)
	for i := 8; i < 11; i++ {
		write(i, false)
	}
	write(11, true)
	take(19) // the last of all
	take(17) // the place of 18 is still that of 10
	take(16)
	c.hash(4) // too late
	c.hash(10)
	take(18)
	c.hash(17)
	for i := 12; i < chunks; i++ {
		write(i, i == 17)
	}
	for _, i := range []int{16, 18, 19} {
		c.hash(i)
	}
	c.end()
	if i, ok := c.take(); ok {
		t.Errorf("took %d at the end", i)
	}
	for i := range got.y {
		got.y[i].lo, want.y[i].lo = reduce64(got.y[i].lo), reduce64(want.y[i].lo)
	}
	if got != want {
		t.Errorf("L2 is %x, want %x", got, want)
	}
	c = newChunkQueue(k, p, &got, 1)
	c.panicked = "x"
	if _, ok := c.take(); ok {
		t.Error("took a chunk after a panic")
	}
}

// TestChunksAwaited has a helper that is at work when the caller has come to its end, or panics. The
// caller must not return before it, because the helper reads the message.
func TestChunksAwaited(t *testing.T) {
	for _, panics := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
			c := newChunkQueue(k, make([]byte, 9*chunkSize), new(l2State), 1)
			i, _ := c.take()
			if panics {
				c.panicked = "x"
			}
			returned := false
			go func() {
				defer func() {
					returned = true
					if value := recover(); value != c.panicked {
						t.Errorf("panic %v, want %v", value, c.panicked)
					}
				}()
				c.run()
			}()
			if synctest.Wait(); returned {
				t.Errorf("panics %v: run returns while a helper reads", panics)
			}
			c.hash(i)
			if synctest.Wait(); !returned {
				t.Errorf("panics %v: run does not return", panics)
			}
			c.checkWiped(t, "after a wait")
		})
	}
}

// TestHelperFaults checks that a helper has the caller's setting of SetPanicOnFault, and that the caller
// keeps it.
func TestHelperFaults(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(false))
	for _, want := range []bool{true, false} {
		debug.SetPanicOnFault(want)
		c := newChunkQueue(nil, make([]byte, 9*chunkSize), nil, 1)
		if got := debug.SetPanicOnFault(!want); got != want {
			t.Errorf("the caller has %v after %v", got, want)
		}
		c.close()
		c.help()
		if got := debug.SetPanicOnFault(!want); got != want {
			t.Errorf("a helper has %v, want %v", got, want)
		}
	}
}

// TestHelperPanics has a helper with a fault, before the caller has come to its chunk and after.
func TestHelperPanics(t *testing.T) {
	for _, late := range []bool{false, true} {
		k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
		p := make([]byte, 9*chunkSize)
		c := newChunkQueue(k, p, new(l2State), 1)
		i, _ := c.take()
		if late {
			for j := range i + 1 {
				c.begin(j)
			}
		}
		c.p = p[: i*chunkSize : i*chunkSize] // so that the chunk is out of range
		c.hash(i)
		c.p = p
		value := func() (value any) {
			defer func() { value = recover() }()
			c.run()
			return nil
		}()
		if _, ok := value.(runtime.Error); !ok {
			t.Errorf("late %v: panic %v", late, value)
		}
		c.checkWiped(t, "after a panic")
	}
}
