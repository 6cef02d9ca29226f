// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"context"
	"sync"
	"time"
)

const (
	// window is how many items are done, or begun, before the first of them is emitted.
	window = 1 << 14

	// batch is how many items are done, or begun, and pause how much time passes, before those that are done
	// are emitted. To wake the goroutine that does so takes as long as to read a small file.
	batch = 64
	pause = 20 * time.Millisecond

	// grace is how long inOrder waits for its workers after an interrupt.
	grace = 500 * time.Millisecond
)

// inOrder calls do for each of n items, on as many goroutines as workers, each with what start returns to
// it, and emit for each in order, with what do has returned, on the goroutine of its caller, at most pause
// later. It calls idle before it waits for more items, and stop at the end of each goroutine. It stops when
// ctx is done or emit fails.
func inOrder[R any](ctx context.Context, n, workers int, start func() (do func(i int) R, stop func()), emit func(i int, result R) error, idle func() error) error {
	interrupted := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := queue[R]{n: n, items: make([]item[R], min(n, window))}
	q.ended.L, q.room.L = &q.mu, &q.mu
	q.timer = time.AfterFunc(pause, q.ended.Signal)
	defer q.timer.Stop()
	defer context.AfterFunc(ctx, q.wake)()
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			do, stop := start()
			defer stop()
			q.work(ctx, do)
		})
	}
	defer waitFor(interrupted, &group)
	defer cancel()
	for i := range n {
		result, err := q.take(ctx, i, idle)
		if err == nil {
			err = emit(i, result)
		}
		if err != nil {
			return err
		}
	}
	return idle()
}

// A queue has the results of items that are done, until they are emitted.
type queue[R any] struct {
	n     int
	mu    sync.Mutex
	ended sync.Cond // the first item is done, for some time or with others
	timer *time.Timer
	room  sync.Cond // for a worker to go on
	next  int       // to do
	first int       // to emit
	items []item[R]
}

type item[R any] struct {
	result R
	done   bool
}

// wake ends all waiting: the context is done.
func (q *queue[R]) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended.Signal()
	q.room.Broadcast()
}

// work does items until there are no more.
func (q *queue[R]) work(ctx context.Context, do func(i int) R) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for q.next < q.n && q.next-q.first >= len(q.items) && ctx.Err() == nil {
			q.room.Wait()
		}
		if q.next >= q.n || ctx.Err() != nil {
			return
		}
		i := q.next
		q.next++
		q.mu.Unlock()
		result := do(i)
		q.mu.Lock()
		q.items[i%len(q.items)] = item[R]{result, true}
		switch {
		case !q.items[q.first%len(q.items)].done:
		case q.next >= q.n || q.next-q.first > batch:
			q.ended.Signal()
		case i == q.first:
			q.timer.Reset(pause)
		}
	}
}

// take waits for item i, the first, and returns its result.
func (q *queue[R]) take(ctx context.Context, i int, idle func() error) (result R, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	item := &q.items[i%len(q.items)]
	if !item.done {
		q.mu.Unlock()
		err = idle()
		q.mu.Lock()
	}
	for !item.done && ctx.Err() == nil && err == nil {
		q.ended.Wait()
	}
	if err != nil || ctx.Err() != nil {
		return result, cmp.Or(err, ctx.Err())
	}
	var none R
	result = item.result
	item.result, item.done = none, false
	q.first = i + 1
	q.room.Broadcast()
	return result, nil
}

// waitFor waits for a group, but not for long after ctx is done: a system call for a file on a server
// that is down may never return.
func waitFor(ctx context.Context, group *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	select {
	case <-ended:
	case <-time.After(grace):
	}
}
