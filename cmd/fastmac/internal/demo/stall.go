// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A stallError reports a row without progress.
type stallError struct {
	limit time.Duration
	moved int64
}

func (e *stallError) Error() string {
	return fmt.Sprintf("no progress for %v, after %d bytes", e.limit, e.moved)
}

// stallTicks is how often watch reads moved within the limit.
const stallTicks = 10

// watch returns a context that ends with a *stallError when moved has not changed
// for limit. It counts ticks, because a ticker drops those that come while this
// process is stopped or the machine sleeps: that is not a stall of the client.
func watch(ctx context.Context, limit time.Duration, moved *atomic.Int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(limit / stallTicks)
		defer tick.Stop()
		last, idle := moved.Load(), 0
		for idle < stallTicks {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			idle++
			if now := moved.Load(); now != last {
				last, idle = now, 0
			}
		}
		cancel(&stallError{limit, last})
	}()
	return ctx, func() { cancel(nil) }
}
