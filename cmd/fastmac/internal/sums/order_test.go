// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// doing returns what starts a worker that calls do.
func doing(do func(i int) int) func() (func(i int) int, func()) {
	return func() (func(i int) int, func()) { return do, func() {} }
}

func TestInOrder(t *testing.T) {
	const n = 1000
	for _, workers := range []int{1, 2, 7} {
		var began, ended, did atomic.Int32
		var order []int
		err := inOrder(t.Context(), n, workers,
			func() (func(int) int, func()) {
				began.Add(1)
				return func(i int) int { did.Add(1); return i }, func() { ended.Add(1) }
			},
			func(_, i int) error { order = append(order, i); return nil },
			func() error { return nil })
		if err != nil || len(order) != n || !slices.IsSorted(order) || did.Load() != n || int(began.Load()) != workers || ended.Load() != began.Load() {
			t.Errorf("%d workers: %v, %d of %d in order", workers, err, len(order), n)
		}
	}
	// A window of items is done before the first of them is emitted, and no more.
	var did atomic.Int32
	release, full := make(chan struct{}), make(chan struct{})
	err := inOrder(t.Context(), 3*window, 2, doing(func(i int) int {
		if i == 0 {
			<-release
		}
		if did.Add(1) == window-1 {
			close(full)
		}
		return i
	}),
		func(i, result int) error {
			if result != i {
				t.Errorf("item %d has the result of item %d", i, result)
			}
			return nil
		},
		func() error {
			select {
			case <-release:
			default:
				<-full
				time.Sleep(10 * time.Millisecond)
				if n := did.Load(); n != window-1 {
					t.Errorf("%d items are done before the first", n)
				}
				close(release)
			}
			return nil
		})
	if err != nil || did.Load() != 3*window {
		t.Errorf("%v, %d items", err, did.Load())
	}
	// What is done is emitted while the next one takes long.
	seen := make(chan int, n)
	err = inOrder(t.Context(), n, 1, doing(func(i int) int {
		if 0 < i && i < 4 {
			<-seen
		}
		return i
	}),
		func(i, _ int) error { seen <- i; return nil },
		func() error { return nil })
	if err != nil {
		t.Error(err)
	}
	// A worker that never comes back does not hold up an interrupt.
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	err = inOrder(ctx, n, 2, doing(func(i int) int {
		if i == 3 {
			cancel()
			<-stuck
		}
		return i
	}),
		func(int, int) error { return nil }, func() error { return nil })
	if err != context.Canceled {
		t.Error(err)
	}
	// What is done later is emitted later, and an error of emit ends all.
	broken := errors.New("broken")
	release = make(chan struct{})
	emitted := 0
	err = inOrder(t.Context(), n, 2, doing(func(i int) int {
		switch i {
		case 0:
			<-release
		case 1:
			close(release)
		}
		return i
	}),
		func(_, i int) error {
			emitted++
			if i == 5 {
				return broken
			}
			return nil
		},
		func() error { return nil })
	if err != broken || emitted != 6 {
		t.Errorf("%v, %d emitted", err, emitted)
	}
}
