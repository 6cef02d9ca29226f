// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"runtime"
	"runtime/debug"
	"sync"

	"example.com/fastmac/internal/wipe"
)

// WriteParallel is like [UMAC.Write] for a large p, of some MiB: several goroutines, as many
// as workers, hash parts of p at the same time. If workers is less than 1, it is
// [runtime.GOMAXPROCS]. A p of less than 512 KiB is hashed by the caller's goroutine. Calls of
// Write and WriteParallel may follow each other in any order.
//
// p can be a file that is mapped into memory. The goroutines have the caller's setting of
// [debug.SetPanicOnFault], and if one of them panics, WriteParallel panics with the same value.
// The stream must then be reset.
func (u *UMAC) WriteParallel(p []byte, workers int) {
	k := u.live()
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	// The chunks begin where a block of L1 does.
	head := -(u.uhash.l1.bytes + u.uhash.n) & (l1Block - 1)
	if chunks := (len(p) - head) / chunkSize; workers > 1 && chunks > 1 {
		u.Write(p[:head])
		p = p[head:]
		u.uhash.writeChunks(&k.uhash, p[:chunks*chunkSize], min(workers, chunks))
		p = p[chunks*chunkSize:]
	}
	u.Write(p)
}

// chunkSize is what a goroutine hashes at a time, in bytes. It cannot be preempted meanwhile.
const (
	chunkSize   = 256 << 10
	chunkBlocks = chunkSize / l1Block
)

// writeChunks adds p, at least two chunks, to the message, which ends with a whole block.
// Goroutines compute the L1 words of the chunks in any order. L2 is in order, but takes
// a fraction of the time.
func (u *uhash) writeChunks(k *uhashKey, p []byte, workers int) {
	if u.l1.bytes > 0 {
		u.endBlock(k)
	}
	c := chunkQueue{key: k, p: p, l2: &u.l2, words: make([]chunkWords, 4*workers)}
	c.run(workers)
}

// run hashes all chunks.
func (c *chunkQueue) run(workers int) {
	defer clear(c.words)
	c.moved.L = &c.mu
	c.panicOnFault = debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(c.panicOnFault)
	var group sync.WaitGroup
	for range workers {
		group.Go(c.work)
	}
	group.Wait()
	if c.panicked != nil {
		panic(c.panicked)
	}
}

// chunkQueue is a part of a message of which several goroutines hash chunks.
type chunkQueue struct {
	key          *uhashKey
	p            []byte
	panicOnFault bool

	mu       sync.Mutex   // for what follows
	moved    sync.Cond    // written or panicked has changed
	taken    int          // chunks that goroutines hash or have hashed
	written  int          // chunks that are in l2
	words    []chunkWords // those of chunk i are at i modulo the length
	panicked any          // the value of the first panic

	writing bool // a goroutine writes to l2, without the lock
	l2      *l2State
}

// chunkWords has the L1 words of a chunk, for L2. Until hashed is true, they are for the
// goroutine that has taken the chunk.
type chunkWords struct {
	hashed bool
	words  [chunkBlocks]l1Words
}

// work hashes chunks until none are left.
func (c *chunkQueue) work() {
	debug.SetPanicOnFault(c.panicOnFault)
	defer func() {
		if value := recover(); value != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.panicked = value
			c.moved.Broadcast()
		}
	}()
	for i, ok := c.take(); ok; i, ok = c.take() {
		nhBlocks(c.slot(i).words[:], c.key, c.p[i*chunkSize:][:chunkSize])
		c.put(i)
	}
}

func (c *chunkQueue) slot(i int) *chunkWords { return &c.words[i%len(c.words)] }

// take returns the number of the next chunk, as soon as there is room for its words.
func (c *chunkQueue) take() (i int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.taken-c.written == len(c.words) && c.panicked == nil {
		c.moved.Wait()
	}
	if c.taken == len(c.p)/chunkSize || c.panicked != nil {
		return 0, false
	}
	c.taken++
	return c.taken - 1, true
}

// put marks chunk i as hashed. Unless another goroutine is at it, it writes the words of the
// chunks to l2 whose turn it is.
func (c *chunkQueue) put(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slot(i).hashed = true
	if c.writing {
		return
	}
	c.writing = true
	for next := c.slot(c.written); next.hashed; next = c.slot(c.written) {
		c.mu.Unlock()
		c.key.writeRun(c.l2, next.words[:])
		c.mu.Lock()
		next.hashed = false
		c.written++
		c.moved.Broadcast()
	}
	c.writing = false
}

// writeRun adds the L1 words of a run of blocks to l2.
func (k *uhashKey) writeRun(l2 *l2State, words []l1Words) {
	wipe.ReserveFrames()
	l2.write(k.l2[:k.n], words)
	wipe.Stack()
}
