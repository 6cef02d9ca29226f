// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"example.com/fastmac/internal/wipe"
)

// WriteParallel is like [UMAC.Write], on several cores, for a large p. It uses at most workers
// goroutines, including the caller's, and never more than [runtime.GOMAXPROCS], which is also the
// limit if workers is less than 1. Calls of Write and WriteParallel may follow each other in any
// order.
//
// If p has less than 32 MiB, the caller's goroutine hashes all of it. Otherwise it begins at the front of
// p and the others at the end, and for each 2 KiB of p a byte is allocated. If the others do not help,
// because they only run when the caller's does not, all calls in the process do without them for the
// next GiB.
//
// p can be a file that is mapped into memory. The other goroutines have the caller's setting of
// [debug.SetPanicOnFault]. If one of them panics, WriteParallel panics with the same value, and the
// stream must be reset.
func (u *UMAC) WriteParallel(p []byte, workers int) {
	k := u.live()
	if helpers := helpersFor(len(p), workers); helpers > 0 {
		// A chunk has words of POLY-64 only, or of POLY-128 only.
		head := -(int(u.uhash.l2.words%chunkBlocks)*l1Block + u.uhash.l1.bytes + u.uhash.n) & (chunkSize - 1)
		u.Write(p[:head])
		p = p[head:]
		chunks := len(p) / chunkSize
		u.uhash.writeChunks(&k.uhash, p[:chunks*chunkSize], helpers)
		p = p[chunks*chunkSize:]
	}
	u.Write(p)
}

// helpersFor returns how many goroutines hash n bytes with the caller's.
func helpersFor(n, workers int) int {
	if most := runtime.GOMAXPROCS(0); workers < 1 || workers > most {
		workers = most
	}
	if workers == 1 || n < parallelSize || isPaused(n) {
		return 0
	}
	return workers - 1
}

// parallelSize is what is worth a second goroutine, in bytes. Until one begins, about 100
// microseconds pass on a virtual machine, in which the caller's goroutine hashes 4 MiB, or stands still.
// Tests change it.
var parallelSize = 32 << 20

const (
	// chunkSize is what a goroutine begins at a time, in bytes. In the end the caller may have to wait
	// for a chunk of each helper.
	chunkSize   = 256 << 10
	chunkBlocks = chunkSize / l1Block

	// runBlocks is for how many blocks at a time a helper computes L1 and then L2. The CPU reads the next
	// ones from memory while it computes L2, which hides some of the time for that.
	runBlocks = 8

	// judgedChunks is after how many chunks of helpers it is known whether these are of use: the
	// caller has begun a chunk meanwhile in one of so many at least.
	judgedChunks = 32
	usefulPart   = 8

	// pauseSize is how much is hashed without helpers after some that were of no use, in bytes.
	pauseSize = 1 << 30
)

// paused is what is left of pauseSize.
var paused atomic.Int64

// isPaused reports whether n bytes are hashed without helpers.
func isPaused(n int) bool { return paused.Load() > 0 && paused.Add(-int64(n)) > 0 }

// writeChunks adds whole chunks to the message, which ends with a whole chunk.
func (u *uhash) writeChunks(k *uhashKey, p []byte, helpers int) {
	if u.n > 0 {
		u.endGroup(k)
	}
	if u.l1.bytes > 0 {
		u.endBlock(k)
	}
	newChunkQueue(k, p, &u.l2, helpers).run()
}

// A chunkQueue is a part of a message. The caller's goroutine adds chunks to L2, from the first one on,
// while helpers compute the sums of others, from the last one back, until they meet. Then the caller
// adds these sums. Nobody waits for another goroutine before that: a helper may not run for
// milliseconds, if another program has its core.
type chunkQueue struct {
	key          *uhashKey
	p            []byte
	l2           *l2State
	words        uint64 // in l2 at the beginning, a multiple of chunkBlocks
	helpers      int
	panicOnFault bool

	mu       sync.Mutex // for what follows
	idle     sync.Cond  // busy has become 0
	next     int        // the caller has begun the chunks before this one
	last     int        // helpers have begun this one and those after it
	sums     []chunkSum // of the helpers' chunks, which set them without the lock
	busy     int        // helpers that have begun a chunk
	closed   bool       // no helper may begin another one
	panicked any        // the value of a helper's first panic
	hashed   int        // chunks by helpers
	beside   int        // those during which the caller has begun one
}

func newChunkQueue(k *uhashKey, p []byte, l2 *l2State, helpers int) *chunkQueue {
	chunks := len(p) / chunkSize
	c := &chunkQueue{key: k, p: p, l2: l2, words: l2.words, last: chunks, sums: make([]chunkSum, chunks)}
	c.helpers = min(helpers, chunks-1)
	c.idle.L = &c.mu
	c.panicOnFault = debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(c.panicOnFault)
	return c
}

func (c *chunkQueue) chunk(i int) []byte { return c.p[i*chunkSize:][:chunkSize] }

// run adds all chunks to L2.
func (c *chunkQueue) run() {
	defer c.end()
	for range c.helpers {
		go c.help()
	}
	for {
		i, ok := c.begin()
		if !ok {
			break
		}
		c.key.writeBlocks(c.l2, c.chunk(i))
	}
	c.wait()
	for i := c.last; i < len(c.sums); i++ {
		c.key.writeSum(c.l2, &c.sums[i])
	}
}

// begin begins the caller's next chunk. It returns false if there is none.
func (c *chunkQueue) begin() (i int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == c.last {
		return 0, false
	}
	c.next++
	return c.next - 1, true
}

// close lets no helper begin another chunk.
func (c *chunkQueue) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// wait waits for helpers that have begun a chunk. Those that have not, or have not yet run at all,
// will not begin one.
func (c *chunkQueue) wait() {
	c.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy > 0 {
		c.idle.Wait()
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
}

// end waits, also after a panic, and overwrites the sums.
func (c *chunkQueue) end() {
	defer clear(c.sums)
	c.wait()
}

// help hashes chunks for the caller.
func (c *chunkQueue) help() {
	debug.SetPanicOnFault(c.panicOnFault)
	for {
		i, next, ok := c.take()
		if !ok {
			return
		}
		c.hash(i, next)
	}
}

// take begins the last chunk that nobody has begun, unless it is the caller's next one. It also returns
// which one that is.
func (c *chunkQueue) take() (i, next int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.panicked != nil || c.next+1 >= c.last {
		return 0, 0, false
	}
	c.busy++
	c.last--
	return c.last, c.next, true
}

// hash computes the sum of chunk i, which a helper has begun when next was the caller's next one.
func (c *chunkQueue) hash(i, next int) {
	defer func() {
		value := recover()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.panicked == nil {
			c.panicked = value
		}
		if c.busy--; c.busy == 0 {
			c.idle.Signal()
		}
		c.judge(next)
	}()
	c.key.sum(&c.sums[i], c.chunk(i), c.words+uint64(i)*chunkBlocks)
}

// judge dismisses the helpers if the caller hardly ever gets on while they hash: then they run on its
// core, and only take time from it. next was the caller's next chunk before the last one of theirs.
func (c *chunkQueue) judge(next int) {
	c.hashed++
	if c.next > next {
		c.beside++
	}
	if c.hashed >= judgedChunks && c.beside*usefulPart < c.hashed && !c.closed {
		c.closed = true
		paused.Store(pauseSize)
	}
}

// A chunkSum is what a chunk does to the values y of L2: they become factor*y + addend, modulo p64
// in the words of POLY-64, or else p128.
type chunkSum struct {
	factor, addend [maxIterations]uint128 // addend is reduced
}

// sum sets s for a chunk p that has so many words before it, a multiple of chunkBlocks and not 0.
func (k *uhashKey) sum(s *chunkSum, p []byte, words uint64) {
	wipe.ReserveFrames()
	k.sumOnStack(s, p, words)
	wipe.Stack()
}

//go:noinline
func (k *uhashKey) sumOnStack(s *chunkSum, p []byte, words uint64) {
	// Two words have no begin and no begin128.
	l2, size := l2State{words: 2}, 1
	if words >= poly64Words {
		l2.words, size = poly64Words+2, 2
	}
	var run [runBlocks]l1Words
	var steps [maxIterations]uint64
	for ; len(p) > 0; p = p[runBlocks*l1Block:] {
		nhBlocks(run[:], k, p[:runBlocks*l1Block])
		l2.write(k.l2[:k.n], run[:])
		for b := 0; b < runBlocks; b += size {
			for i := range steps {
				steps[i] += 1 + (run[b][i]>>32+1)>>32 // two for a marked coefficient
			}
		}
	}
	for i := range k.n {
		if size == 1 {
			s.factor[i].lo, s.addend[i].lo = power64(k.l2[i].k64, steps[i]), reduce64(l2.y[i].lo)
		} else {
			s.factor[i], s.addend[i] = power128(k.l2[i].k128, steps[i]), reduce128(l2.y[i])
		}
	}
}

// powerBits is the size of the exponents of power64 and power128: a chunk has up to two steps for
// each block.
const powerBits = 10

// power64 returns k^n modulo p64, not reduced.
func power64(k, n uint64) uint64 {
	y := uint64(1)
	for range powerBits {
		y ^= (y ^ mulAdd64(y, k, 0)) & -(n & 1)
		k, n = mulAdd64(k, k, 0), n>>1
	}
	return y
}

// power128 returns k^n modulo p128, not reduced.
func power128(k uint128, n uint64) uint128 {
	y := uint128{lo: 1}
	for range powerBits {
		t := mul128(y, k)
		y.hi ^= (y.hi ^ t.hi) & -(n & 1)
		y.lo ^= (y.lo ^ t.lo) & -(n & 1)
		k, n = mul128(k, k), n>>1
	}
	return y
}

// writeSum adds a chunk to l2.
func (k *uhashKey) writeSum(l2 *l2State, s *chunkSum) {
	wipe.ReserveFrames()
	k.writeSumOnStack(l2, s)
	wipe.Stack()
}

//go:noinline
func (k *uhashKey) writeSumOnStack(l2 *l2State, s *chunkSum) {
	l2.begin128(k.l2[:k.n])
	for i := range k.n {
		if l2.words < poly64Words {
			l2.y[i].lo = mulAdd64(s.factor[i].lo, l2.y[i].lo, s.addend[i].lo)
		} else {
			l2.y[i] = mulAdd128(s.factor[i], l2.y[i], s.addend[i])
		}
	}
	l2.words += chunkBlocks
}
