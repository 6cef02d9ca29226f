// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"example.com/fastmac/internal/wipe"
)

// WriteParallel is like [UMAC.Write], on several cores, for a large p. It uses at most workers
// goroutines, including the caller's, and never more than [runtime.GOMAXPROCS], which is also the
// limit if workers is less than 1. Calls of Write and WriteParallel may follow each other in any
// order.
//
// If p has less than 32 MiB, the caller's goroutine hashes all of it. Otherwise it hashes the parts
// that no other goroutine has begun when it gets there. If the others do not help, for example
// because other programs use their cores, all calls in the process do without them for the next
// GiB.
//
// p can be a file that is mapped into memory. The other goroutines have the caller's setting of
// [debug.SetPanicOnFault]. If one of them panics, WriteParallel panics with the same value, and the
// stream must be reset.
func (u *UMAC) WriteParallel(p []byte, workers int) {
	k := u.live()
	if most := runtime.GOMAXPROCS(0); workers < 1 || workers > most {
		workers = most
	}
	if workers > 1 && len(p) >= parallelSize && !isPaused(len(p)) {
		// The chunks begin where a block of L1 does.
		head := -(u.uhash.l1.bytes + u.uhash.n) & (l1Block - 1)
		u.Write(p[:head])
		p = p[head:]
		chunks := len(p) / chunkSize
		u.uhash.writeChunks(&k.uhash, p[:chunks*chunkSize], workers-1)
		p = p[chunks*chunkSize:]
	}
	u.Write(p)
}

// parallelSize is what is worth a second goroutine, in bytes. Until one begins, on two cores of a
// virtual machine (AMD EPYC, Zen 4, Go 1.26.8), 80 to 120 microseconds pass, in which the caller's
// goroutine hashes 4 MiB, or stands still. Tests change it.
var parallelSize = 32 << 20

const (
	// chunkSize is what a goroutine hashes at a time, in bytes. It cannot be preempted meanwhile.
	chunkSize   = 128 << 10
	chunkBlocks = chunkSize / l1Block

	// windowChunks is how many chunks the window has for each helper, if there are so many.
	windowChunks = 8

	// aheadChunks is how far ahead of the caller a helper begins a chunk at least. If it were nearer the
	// caller would be there first, or at its end wait for the helper.
	aheadChunks = 4

	// paceChunks is after how many chunks the caller looks at the time.
	paceChunks = 16

	// pauseSize is how much is hashed without helpers after some that were of no use, in bytes.
	pauseSize = 1 << 30
)

// paused is what is left of pauseSize.
var paused atomic.Int64

// isPaused reports whether n bytes are hashed without helpers.
func isPaused(n int) bool { return paused.Load() > 0 && paused.Add(-int64(n)) > 0 }

// writeChunks adds whole chunks to the message, which ends with a whole block.
func (u *uhash) writeChunks(k *uhashKey, p []byte, helpers int) {
	if u.n > 0 {
		u.endGroup(k)
	}
	if u.l1.bytes > 0 {
		u.endBlock(k)
	}
	newChunkQueue(k, p, &u.l2, helpers).run()
}

// A chunkQueue is a part of a message whose chunks the caller's goroutine adds to L2 in order, while
// others help: they compute the L1 words of chunks that it has not reached, and of these the last
// ones in a window, so that most are done when it does. Of a chunk that is not done then it does not
// wait for the words. A helper may not run for milliseconds, if another program has its core. The
// caller waits only at its end, for helpers that have begun a chunk.
type chunkQueue struct {
	key          *uhashKey
	p            []byte
	l2           *l2State
	helpers      int
	panicOnFault bool

	// How long the caller takes for paceChunks.
	since  time.Time
	alone  time.Duration // before there are helpers
	helped bool          // since then, with a chunk
	slow   int           // how many times in succession it was longer with helpers

	mu       sync.Mutex   // for what follows
	moved    sync.Cond    // next, busy or closed has changed
	next     int          // the first chunk that the caller has not begun
	window   []chunkWords // those of chunk i are at i modulo the length
	busy     int          // helpers that have begun a chunk
	closed   bool         // no helper may begin another one
	panicked any          // the value of a helper's first panic
}

// chunkWords has the L1 words of a chunk.
type chunkWords struct {
	state chunkState
	words [chunkBlocks]l1Words
}

type chunkState byte

const (
	chunkFree    chunkState = iota
	chunkBegun              // by a helper, which sets the words without the lock
	chunkHashed             // the caller may read the words without the lock
	chunkDropped            // begun, but the caller has not waited for it
)

func newChunkQueue(k *uhashKey, p []byte, l2 *l2State, helpers int) *chunkQueue {
	c := &chunkQueue{key: k, p: p, l2: l2, helpers: helpers}
	c.window = make([]chunkWords, min(windowChunks*helpers, c.chunks()))
	c.moved.L = &c.mu
	c.panicOnFault = debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(c.panicOnFault)
	return c
}

func (c *chunkQueue) chunks() int          { return len(c.p) / chunkSize }
func (c *chunkQueue) chunk(i int) []byte   { return c.p[i*chunkSize:][:chunkSize] }
func (c *chunkQueue) at(i int) *chunkWords { return &c.window[i%len(c.window)] }

// run adds all chunks to L2.
func (c *chunkQueue) run() {
	defer c.end()
	c.since = time.Now()
	for i := range c.chunks() {
		if i > 0 && i%paceChunks == 0 {
			c.pace(i, time.Now())
		}
		if w := c.begin(i); w != nil {
			c.helped = true
			c.key.writeRun(c.l2, w.words[:])
			c.free(w)
		} else {
			c.key.writeBlocks(c.l2, c.chunk(i))
		}
	}
}

// pace starts the helpers after paceChunks, so that there is a time to compare with. It dismisses them
// when all was slower with them twice in succession.
func (c *chunkQueue) pace(i int, now time.Time) {
	took := now.Sub(c.since)
	c.since = now
	switch {
	case i == paceChunks:
		c.alone = took
		for range c.helpers {
			go c.help()
		}
	case !c.helped || took < c.alone:
		c.slow = 0
	default:
		c.slow++
		if c.slow == 2 {
			c.close()
			paused.Store(pauseSize)
		}
	}
	c.helped = false
}

// close lets no helper begin another chunk.
func (c *chunkQueue) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.moved.Broadcast()
}

// begin moves the window to the chunk after i. It returns the words of chunk i, if a helper has
// hashed it.
func (c *chunkQueue) begin(i int) *chunkWords {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.panicked != nil {
		panic(c.panicked)
	}
	c.next = i + 1
	c.moved.Signal()
	switch w := c.at(i); w.state {
	case chunkHashed:
		return w
	case chunkBegun:
		w.state = chunkDropped
	}
	return nil
}

func (c *chunkQueue) free(w *chunkWords) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.state = chunkFree
}

// end waits for helpers that have begun a chunk. Those that have not, or have not yet run at all,
// will not begin one.
func (c *chunkQueue) end() {
	c.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy > 0 {
		c.moved.Wait()
	}
	clear(c.window)
	if c.panicked != nil {
		panic(c.panicked)
	}
}

// help hashes chunks for the caller.
func (c *chunkQueue) help() {
	debug.SetPanicOnFault(c.panicOnFault)
	for {
		i, ok := c.take()
		if !ok {
			return
		}
		c.hash(i)
	}
}

// take begins the last chunk in the window that is free, as soon as there is one.
func (c *chunkQueue) take() (i int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && c.panicked == nil {
		for i := min(c.next+len(c.window), c.chunks()) - 1; i >= c.next+aheadChunks; i-- {
			if w := c.at(i); w.state == chunkFree {
				w.state = chunkBegun
				c.busy++
				return i, true
			}
		}
		c.moved.Wait()
	}
	return 0, false
}

// hash computes the L1 words of chunk i, which the helper has begun.
func (c *chunkQueue) hash(i int) {
	defer func() {
		value := recover()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.panicked == nil {
			c.panicked = value
		}
		if w := c.at(i); w.state == chunkDropped {
			w.state = chunkFree
		} else {
			w.state = chunkHashed
		}
		if c.busy--; c.busy == 0 && c.closed {
			c.moved.Broadcast()
		}
	}()
	nhBlocks(c.at(i).words[:], c.key, c.chunk(i))
}

// writeRun adds the L1 words of a run of blocks to l2.
func (k *uhashKey) writeRun(l2 *l2State, words []l1Words) {
	wipe.ReserveFrames()
	l2.write(k.l2[:k.n], words)
	wipe.Stack()
}
