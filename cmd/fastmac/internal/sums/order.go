// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"sync"
)

// inOrder calls do for each of n items, on as many goroutines as workers, each with what
// start returns to it, and emit for each in order, on the goroutine of its caller. idle is
// called before inOrder waits for the next item. It stops when ctx is done or emit fails.
func inOrder[W, R any](ctx context.Context, n, workers int, start func() W, stop func(W), do func(w W, i int) R, emit func(i int, r R) error, idle func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu      sync.Mutex
		ended   = sync.Cond{L: &mu}
		next    int // to do
		first   int // to emit
		done    = make([]bool, n)
		group   sync.WaitGroup
		results = make([]R, n)
	)
	defer context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		ended.Signal()
	})()
	for range min(workers, n) {
		group.Go(func() {
			w := start()
			defer stop(w)
			mu.Lock()
			defer mu.Unlock()
			for next < n && ctx.Err() == nil {
				i := next
				next++
				mu.Unlock()
				results[i] = do(w, i)
				mu.Lock()
				done[i] = true
				if i == first {
					ended.Signal()
				}
			}
		})
	}
	defer group.Wait()
	defer cancel()
	for i := range n {
		mu.Lock()
		first = i
		if !done[i] {
			mu.Unlock()
			if err := idle(); err != nil {
				return err
			}
			mu.Lock()
		}
		for !done[i] && ctx.Err() == nil {
			ended.Wait()
		}
		mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(i, results[i]); err != nil {
			return err
		}
	}
	return idle()
}
