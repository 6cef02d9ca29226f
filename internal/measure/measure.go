// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package measure times operations in turn in one process, in slices so short that all of them
// meet the same quiet moments of a machine. What else runs there only adds time.
package measure

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// A Cell is an operation at a size.
type Cell struct {
	// Do runs the operation n times, a multiple of Batch. Before is nil, or called before each slice
	// and not timed.
	Do     func(n int)
	Before func()
	Batch  int

	N  int       // operations in a slice
	NS []float64 // of an operation, one for each slice
}

// InTurn gives each cell a slice of about that time in turn until the duration is over, and at least
// one. It calls progress before each.
func InTurn(ctx context.Context, cells []*Cell, slice, duration time.Duration, progress func(elapsed time.Duration)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for _, c := range cells {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.Calibrate(slice)
	}
	for first := true; ; first = false {
		// The order is new in each round, so that no cell always follows the same one.
		for _, i := range rand.Perm(len(cells)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			elapsed := time.Since(start)
			if elapsed >= duration && !first {
				return nil
			}
			progress(elapsed)
			cells[i].Slice()
		}
	}
}

// Calibrate sets N to the number of operations that take that time, in whole batches. It takes the least of a few
// times, since the machine may do something else during one.
func (c *Cell) Calibrate(slice time.Duration) {
	c.before()
	for c.N = c.Batch; ; {
		if t := min(c.time(c.N), c.time(c.N), c.time(c.N), c.time(c.N)); t >= slice/2 {
			n := int(float64(c.N) * float64(slice) / float64(t))
			c.N = max(c.Batch, n-n%c.Batch)
			return
		}
		c.N *= 2
	}
}

// Slice adds a time. Operations before it, which are not timed, bring caches, branch
// predictors and clock rate back to this cell.
func (c *Cell) Slice() {
	c.before()
	c.Do(max(c.Batch, c.N/8/c.Batch*c.Batch))
	c.NS = append(c.NS, float64(c.time(c.N).Nanoseconds())/float64(c.N))
}

func (c *Cell) before() {
	if c.Before != nil {
		c.Before()
	}
}

// time returns how long n operations take.
func (c *Cell) time(n int) time.Duration {
	start := now()
	c.Do(n)
	return now() - start
}

// Quantile returns the smallest of the values that at least the share q of them does not exceed.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// Drift returns by how much the quantiles of the two halves of the values differ, as a share.
func Drift(values []float64, q float64) float64 {
	if len(values) < 2 {
		return 0
	}
	return differ(halves(values, q))
}

// RatioDrift returns by how much the ratio of the quantiles of two cells in turn differs between the halves.
func RatioDrift(a, b []float64, q float64) float64 {
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	a1, a2 := halves(a, q)
	b1, b2 := halves(b, q)
	return differ(a1/b1, a2/b2)
}

func halves(values []float64, q float64) (first, second float64) {
	return Quantile(values[:len(values)/2], q), Quantile(values[len(values)/2:], q)
}

// differ returns by how much two values differ, as a share of the smaller one.
func differ(a, b float64) float64 { return max(a, b)/min(a, b) - 1 }
