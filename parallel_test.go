// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"

	"example.com/fastmac/internal/mactest"
)

// TestChunkQueue has two helpers, of which one is late, and a caller that waits for it. It is the first
// test: it fails at once where the others would wait forever.
func TestChunkQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a goroutine that waits forever fails the test
		const chunks = 9
		k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
		p := mactest.Random(rand.NewChaCha8([32]byte{}), chunks*chunkSize)
		got, want := l2State{words: poly64Words - 5*chunkBlocks}, l2State{words: poly64Words - 5*chunkBlocks}
		k.writeBlocks(&want, p)
		c := newChunkQueue(k, p, &got, 0)
		take := func(want, wantNext int) {
			t.Helper()
			if i, next, ok := c.take(); ok != (want > 0) || i != want || next != wantNext {
				t.Fatalf("took %d, %v, before %d: want %d before %d", i, ok, next, want, wantNext)
			}
		}
		begin := func(want int) {
			t.Helper()
			if i, ok := c.begin(); !ok || i != want {
				t.Fatalf("began %d, %v: want %d", i, ok, want)
			}
			k.writeBlocks(&got, c.chunk(want))
		}
		take(8, 0) // the last one first
		take(7, 0)
		c.hash(7, 0)
		begin(0)
		begin(1)
		take(6, 2)
		begin(2)
		take(5, 3)
		c.hash(5, 3)
		take(4, 3)
		c.hash(4, 3)
		take(0, 0) // the caller's next one
		c.hash(8, 0)
		if c.hashed != 4 || c.beside != 1 || c.busy != 1 {
			t.Errorf("%d hashed, %d beside the caller, %d busy", c.hashed, c.beside, c.busy)
		}
		returned := false
		go func() {
			c.run() // the caller begins 3
			returned = true
		}()
		if synctest.Wait(); returned {
			t.Error("run returns before all chunks are hashed")
		}
		c.hash(6, 2)
		if synctest.Wait(); !returned {
			t.Fatal("run does not return")
		}
		if i, ok := c.begin(); ok {
			t.Errorf("began %d at the end", i)
		}
		take(0, 0)
		if reduce(&got, k.n); got != want {
			reduce(&want, k.n)
			if got != want {
				t.Errorf("L2 is %x, want %x", got, want)
			}
		}
		c = newChunkQueue(k, p, &got, 1)
		c.panicked = "x"
		take(0, 0)
	})
}

// TestWriteParallel compares WriteParallel with Write.
func TestWriteParallel(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testWriteParallel) }

// setParallelSize makes parallelSize smaller for a test.
func setParallelSize(t *testing.T) (size int) {
	size = 16 * chunkSize
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

// TestWriteParallelWorkers counts the goroutines that WriteParallel starts.
func TestWriteParallelWorkers(t *testing.T) {
	u := mactest.Must(NewUMACKey(make([]byte, 16), 8)).New()
	parallelSize := setParallelSize(t)
	msg := make([]byte, parallelSize)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	runtime.GC()                                                                // starts goroutines too
	started := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}} // from Go 1.26 on
	for _, test := range []struct{ size, workers, want int }{
		{parallelSize, 0, 2},
		{parallelSize, -1, 2},
		{parallelSize, 1, 0}, // the caller's goroutine
		{parallelSize, 2, 1},
		{parallelSize, 3, 2},
		{parallelSize, 4, 2},
		{parallelSize, math.MaxInt, 2},
		{parallelSize - 1, 9, 0},
		{-parallelSize, 2, 0}, // paused
	} {
		u.Reset()
		paused.Store(0)
		if test.size < 0 {
			test.size = -test.size
			paused.Store(pauseSize)
		}
		metrics.Read(started)
		if started[0].Value.Kind() != metrics.KindUint64 {
			if got := helpersFor(test.size, test.workers); got != test.want {
				t.Errorf("%+v: %d helpers", test, got)
			}
			continue
		}
		before := started[0].Value.Uint64()
		u.WriteParallel(msg[:test.size], test.workers)
		metrics.Read(started)
		if got := int(started[0].Value.Uint64() - before); got != test.want {
			t.Errorf("%+v: %d helpers", test, got)
		}
	}
	for _, test := range []struct{ chunks, helpers, want int }{{100, 2, 2}, {13, 12, 12}, {13, 1 << 20, 12}} {
		if c := newChunkQueue(nil, make([]byte, test.chunks*chunkSize), new(l2State), test.helpers); c.helpers != test.want {
			t.Errorf("%+v: %d helpers", test, c.helpers)
		}
	}
}

// TestJudge has helpers during whose first chunks the caller gets on, and not during the others.
func TestJudge(t *testing.T) {
	defer paused.Store(0)
	if judgedChunks != 32 || usefulPart != 8 {
		t.Fatal("the numbers below are for 32 and 8")
	}
	for _, test := range []struct{ beside, others, closed int }{ // closed after so many, or never
		{0, 40, 32},
		{3, 40, 32},
		{4, 40, 33},
		{32, 300, 257},
		{32, 224, 0},
		{0, 31, 0},
	} {
		paused.Store(0)
		c := newChunkQueue(nil, make([]byte, chunkSize), new(l2State), 0)
		closed := 0
		for i := range test.beside + test.others {
			next := c.next
			if i < test.beside {
				c.next++
			}
			c.judge(next)
			if closed == 0 && c.closed {
				closed = i + 1
			}
			if isPaused(0) != c.closed {
				t.Fatalf("%+v: closed %v, paused %v", test, c.closed, isPaused(0))
			}
		}
		if closed != test.closed {
			t.Errorf("%+v: dismissed after %d", test, closed)
		}
	}
	paused.Store(pauseSize)
	for _, paused := range []bool{true, true, false, false} {
		if isPaused(pauseSize*2/5) != paused {
			t.Errorf("paused: want %v", paused)
		}
	}
}

// TestWriteParallelInside begins at any block of a chunk.
func TestWriteParallelInside(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	msg := make([]byte, setParallelSize(t))
	for i := range msg {
		msg[i] = byte(rng.Uint32())
	}
	k := mactest.Must(NewUMACKey(make([]byte, 16), 16))
	for _, words := range []uint64{1, chunkBlocks - 1, poly64Words - 8*chunkBlocks - 1, poly64Words - 8*chunkBlocks + 10, poly64Words + 1, poly64Words + 2} {
		want, got := k.New(), k.New()
		want.uhash.l2.words = words
		for i := range want.uhash.l2.y {
			want.uhash.l2.y[i].lo, want.uhash.l2.pending[i] = rng.Uint64(), rng.Uint64()
		}
		got.uhash = want.uhash
		want.Write(msg)
		paused.Store(0)
		got.WriteParallel(msg, 2)
		if tag := got.Tag(nil, []byte("nonce")); !want.Verify(tag, []byte("nonce")) {
			t.Errorf("after %d words: tag %x is wrong", words, tag)
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

// TestChunkSum compares a chunk's sum with the chunk, in POLY-64 and in POLY-128, with coefficients that
// are marked and without.
func TestChunkSum(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestChunkSum, a seed of 32 bytes"))))
		for _, size := range mactest.UMACTagSizes {
			k := &mactest.Must(NewUMACKey([]byte("0123456789abcdef"), size)).uhash
			for _, marks := range []int{0, 1, 3, chunkBlocks} {
				p := make([]byte, chunkSize)
				for i := range p {
					p[i] = byte(rng.Uint32())
				}
				if marks > 0 {
					k.l1 = l1Key{} // so that the sum is that of the products in the message
				}
				for b := range marks {
					setMarked(p[b*(chunkBlocks/marks)*l1Block:][:l1Block])
				}
				for _, words := range []uint64{chunkBlocks, poly64Words - chunkBlocks, poly64Words, poly64Words + chunkBlocks} {
					want := l2State{words: words}
					for i := range k.n {
						want.y[i].lo = rng.Uint64()
						if words > poly64Words {
							want.y[i].hi = rng.Uint64()
						}
					}
					got := want
					k.writeBlocks(&want, p)
					var s chunkSum
					k.sum(&s, p, words)
					k.writeSum(&got, &s)
					reduce(&got, k.n)
					reduce(&want, k.n)
					if got != want {
						t.Errorf("%s, %d bytes, %d marked, after %d words: %x, want %x", kernel, size, marks, words, got, want)
					}
				}
			}
		}
	})
}

// setMarked makes p a block whose L1 words are 2^64-1, with an L1 key of zeros.
func setMarked(p []byte) {
	clear(p)
	const length = 8 * l1Block // is added to the sum of the products
	for i, product := range [][2]uint32{
		{1<<32 - 1, 1<<32 - 1},    // 2^64 - 2^33 + 1
		{1<<32 - 1 - length/2, 2}, // 2^33 - 2 - length
	} {
		binary.LittleEndian.PutUint32(p[4*i:], product[0])
		binary.LittleEndian.PutUint32(p[4*i+16:], product[1])
	}
}

// reduce makes n values comparable, and clears the others, which have no meaning.
func reduce(s *l2State, n int) {
	for i := range s.y {
		switch {
		case i >= n:
			s.y[i] = uint128{}
		case s.words <= poly64Words:
			s.y[i] = uint128{lo: reduce64(s.y[i].lo)}
		default:
			s.y[i] = reduce128(s.y[i])
		}
	}
}

// TestPowers compares power64 and power128 with as many multiplications.
func TestPowers(t *testing.T) {
	k64, k128 := uint64(0x01ffffff01ffffff), uint128{0x01ffffff01ffffff, 0x01ffffff01fffffe}
	y64, y128 := uint64(1), uint128{lo: 1}
	for n := range uint64(2*chunkBlocks + 1) {
		if got := power64(k64, n); reduce64(got) != reduce64(y64) {
			t.Errorf("k^%d is %x, want %x modulo p64", n, got, y64)
		}
		if got := power128(k128, n); reduce128(got) != reduce128(y128) {
			t.Errorf("k^%d is %x, want %x modulo p128", n, got, y128)
		}
		y64, y128 = mulAdd64(y64, k64, 0), mul128(y128, k128)
	}
}

// TestChunksWiped checks that the sums of WriteParallel are all zeros after use.
func TestChunksWiped(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		k := mactest.Must(NewUMACKey([]byte("0123456789abcdef"), 16))
		c := newChunkQueue(&k.uhash, make([]byte, 9*chunkSize), new(l2State), 1)
		for range 3 {
			i, next, _ := c.take()
			c.hash(i, next)
			if c.sums[i] == (chunkSum{}) {
				t.Fatalf("%s: no sum", kernel)
			}
		}
		c.run()
		c.checkWiped(t, kernel)
	})
}

func (c *chunkQueue) checkWiped(t *testing.T, what string) {
	t.Helper()
	if i, _, ok := c.take(); ok || c.busy != 0 {
		t.Errorf("%s: took chunk %d at the end, %d helpers are busy", what, i, c.busy)
	}
	for _, s := range c.sums {
		if s != (chunkSum{}) {
			t.Errorf("%s: the sum of a chunk is left", what)
		}
	}
}

// TestChunksAwaited has a helper that is at work when the caller has come to its end, panics because another helper
// has, or has a fault itself. The caller must not return before it, because the helper reads the message.
func TestChunksAwaited(t *testing.T) {
	for _, how := range []string{"ends", "panics", "faults"} {
		synctest.Test(t, func(t *testing.T) {
			k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
			p := make([]byte, 9*chunkSize)
			c := newChunkQueue(k, p, new(l2State), 1)
			i, next, _ := c.take()
			switch how {
			case "panics":
				c.panicked = "x"
			case "faults":
				c.p = nil // so that the caller's chunk is out of range
			}
			var value any
			returned := false
			go func() {
				defer func() {
					value = recover()
					returned = true
				}()
				c.run()
			}()
			if synctest.Wait(); returned {
				t.Errorf("the caller %s: run returns while a helper reads", how)
			}
			c.p = p
			c.hash(i, next)
			if synctest.Wait(); !returned {
				t.Errorf("the caller %s: run does not return", how)
			}
			if _, fault := value.(runtime.Error); fault != (how == "faults") || !fault && value != c.panicked {
				t.Errorf("the caller %s: panic %v", how, value)
			}
			c.checkWiped(t, "the caller "+how+", after a wait")
		})
	}
}

// TestHelperFaults checks that a helper has the caller's setting of SetPanicOnFault, and that the caller
// keeps it.
func TestHelperFaults(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(false))
	for _, want := range []bool{true, false} {
		debug.SetPanicOnFault(want)
		c := newChunkQueue(nil, make([]byte, 9*chunkSize), new(l2State), 1)
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

// TestHelperPanics has a helper with a fault, before the caller has come to its last chunk and after.
func TestHelperPanics(t *testing.T) {
	for i := range 4 {
		late, chunks := i%2 == 1, 9+i/2*300
		k := &mactest.Must(NewUMACKey(make([]byte, 16), 16)).uhash
		p := make([]byte, chunks*chunkSize)
		c := newChunkQueue(k, p, new(l2State), 1)
		i, next, _ := c.take()
		if late {
			for range i {
				c.begin()
			}
		}
		c.p = p[: i*chunkSize : i*chunkSize] // so that the chunk is out of range
		c.hash(i, next)
		c.p = p
		value := func() (value any) {
			defer func() { value = recover() }()
			c.run()
			return nil
		}()
		if _, ok := value.(runtime.Error); !ok {
			t.Errorf("%d chunks, late %v: panic %v", chunks, late, value)
		}
		c.checkWiped(t, "after a panic")
	}
}
