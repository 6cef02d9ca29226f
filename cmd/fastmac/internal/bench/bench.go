// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package bench compares the MACs of package fastmac with others on this machine.
package bench

import (
	"context"
	"crypto/rand"
	"io"
	"math"
	mathrand "math/rand/v2"
	"runtime"
	"slices"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/demo"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
)

// Options are those of the bench command.
type Options struct {
	Duration time.Duration
	LeaveOut bool // figures that the run cannot tell within maxUnsure
	Style    terminal.Style
}

// sizes are those of the messages, in bytes.
var sizes = []int{32, 1024, 16384, maxMessage}

const maxMessage = 1 << 20

const (
	// runTime is how long one contender runs before the next: short, so that all of them
	// meet the same quiet moments of the machine, and long beside the clock's resolution.
	runTime = 150 * time.Microsecond

	// figureQuantile is the figure among the runs of a contender. What else runs on the
	// machine only adds time, so a low one is close to what the CPU can do.
	figureQuantile = 0.02
	// quietQuantile ends the quiet runs. If they differ by more than maxSpread, so may the
	// figures. If they differ by more than maxUnsure, the machine may have had no quiet moment.
	quietQuantile = 0.2
	maxSpread     = 0.1
	maxUnsure     = 0.15
)

// A cell is a contender at a size.
type cell struct {
	*contender
	size int
	n    int       // messages in a run
	ns   []float64 // per message, one for each run
}

// Run measures for the duration, with progress on stderr. An error means that there is no
// report.
func Run(ctx context.Context, o Options, stderr io.Writer) (*Report, error) {
	all, leftOut, err := contenders()
	if err != nil {
		return nil, err
	}
	msg := make([]byte, maxMessage)
	rand.Read(msg)
	if err := check(all, msg); err != nil {
		return nil, err
	}
	var cells []*cell
	for _, size := range sizes {
		for _, c := range all {
			if c.measures(size) {
				cells = append(cells, &cell{contender: c, size: size})
			}
		}
	}
	show := newDisplay(stderr, len(cells), o.Duration)
	defer show.clear()
	if err := measure(ctx, cells, msg, o.Duration, show.at); err != nil {
		return nil, err
	}

	r := &Report{
		Hardware:      hardware.New(),
		GoVersion:     runtime.Version(),
		CryptoVersion: demo.CryptoVersion(),
		Cores:         runtime.GOMAXPROCS(0),
		Seconds:       o.Duration.Seconds(),
		LeftOut:       leftOut,
		style:         o.Style,
	}
	r.Rounds = len(cells[len(cells)-1].ns)
	for _, c := range cells {
		r.add(c.row(), o.LeaveOut)
	}
	return r, nil
}

// measure runs the cells in turns until the duration is over, each at least once.
func measure(ctx context.Context, cells []*cell, msg []byte, duration time.Duration, progress func(time.Duration)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for _, c := range cells {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.calibrate(msg)
	}
	for first := true; ; first = false {
		// The order is new in each round, so that no contender always follows the same one.
		for _, i := range mathrand.Perm(len(cells)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			elapsed := time.Since(start)
			if elapsed >= duration && !first {
				return nil
			}
			progress(elapsed)
			cells[i].run(msg)
		}
	}
}

// calibrate sets n to the number of messages that take runTime, in whole batches.
func (c *cell) calibrate(msg []byte) {
	for c.n = c.batch; ; {
		t := c.time(msg, c.n)
		if t >= runTime/2 {
			n := int(float64(c.n) * float64(runTime) / float64(t))
			c.n = max(c.batch, n-n%c.batch)
			return
		}
		c.n *= 2
	}
}

// time returns how long n messages take.
func (c *cell) time(msg []byte, n int) time.Duration {
	start := now()
	c.op(msg[:c.size], n)
	return now() - start
}

// run adds a time. Messages before it, which are not timed, bring caches, branch
// predictors and clock rate back to this contender.
func (c *cell) run(msg []byte) {
	c.op(msg[:c.size], max(c.batch, c.n/8/c.batch*c.batch))
	c.ns = append(c.ns, float64(c.time(msg, c.n).Nanoseconds())/float64(c.n))
}

// row returns the figures of a cell.
func (c *cell) row() *Row {
	sorted := slices.Sorted(slices.Values(c.ns))
	ns := quantile(sorted, figureQuantile)
	r := &Row{
		Implementation: c.impl, MAC: c.mac, Call: c.call, Bytes: c.size,
		NS:     ns,
		GBps:   float64(c.size) / ns,
		Spread: max(quantile(sorted, quietQuantile)/ns-1, drift(c.ns)),
		Runs:   len(sorted),
	}
	r.Noisy = r.Spread > maxSpread
	return r
}

// drift returns by how much the figures of the two halves of the runs differ.
func drift(ns []float64) float64 {
	if len(ns) < 2 {
		return 0
	}
	figure := func(ns []float64) float64 { return quantile(slices.Sorted(slices.Values(ns)), figureQuantile) }
	first, second := figure(ns[:len(ns)/2]), figure(ns[len(ns)/2:])
	return max(first, second)/min(first, second) - 1
}

// quantile returns the smallest value that at least the share q of the sorted values does
// not exceed.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
