// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"sync"
	"time"
)

const (
	// window is how many items are done, or begun, before the first of them is emitted.
	window = 1 << 14

	// grace is how long inOrder waits for its workers after an interrupt.
	grace = 500 * time.Millisecond
)

// inOrder calls do for each of n items, on as many goroutines as workers, each with what
// start returns to it, and emit for each in order, with what do has returned, on the goroutine of its
// caller. idle is called before inOrder waits for the next item. It stops when ctx is done or emit
// fails.
func inOrder[W, R any](ctx context.Context, n, workers int, start func() W, stop func(W), do func(w W, i int) R, emit func(i int, result R) error, idle func() error) error {
	interrupted := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type item struct {
		result R
		done   bool
	}
	var (
		mu    sync.Mutex
		ended = sync.Cond{L: &mu} // the first item is done
		room  = sync.Cond{L: &mu} // for a worker to go on
		next  int                 // to do
		first int                 // to emit
		items = make([]item, min(n, window))
		group sync.WaitGroup
	)
	defer context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		ended.Signal()
		room.Broadcast()
	})()
	for range min(workers, n) {
		group.Go(func() {
			w := start()
			defer stop(w)
			mu.Lock()
			defer mu.Unlock()
			for {
				for next < n && next-first >= len(items) && ctx.Err() == nil {
					room.Wait()
				}
				if next >= n || ctx.Err() != nil {
					return
				}
				i := next
				next++
				mu.Unlock()
				result := do(w, i)
				mu.Lock()
				items[i%len(items)] = item{result, true}
				if i == first {
					ended.Signal()
				}
			}
		})
	}
	defer waitFor(interrupted, &group)
	defer cancel()
	for i := range n {
		mu.Lock()
		item := &items[i%len(items)]
		if !item.done {
			mu.Unlock()
			if err := idle(); err != nil {
				return err
			}
			mu.Lock()
		}
		for !item.done && ctx.Err() == nil {
			ended.Wait()
		}
		result := item.result
		if item.done {
			var none R
			item.result, item.done = none, false
			first = i + 1
			room.Broadcast()
		}
		mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(i, result); err != nil {
			return err
		}
	}
	return idle()
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
