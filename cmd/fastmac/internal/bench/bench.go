// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package bench compares the MACs of package fastmac with others on this machine.
package bench

import (
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/demo"
	"example.com/fastmac/cmd/fastmac/internal/hardware"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"example.com/fastmac/internal/measure"
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
	measure.Cell
}

// newCell returns a cell for messages that msg begins with.
func newCell(c *contender, msg []byte, size int) *cell {
	return &cell{c, size, measure.Cell{Batch: c.batch, Do: func(n int) { c.op(msg[:size], n) }}}
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
	var measured []*measure.Cell
	for _, size := range sizes {
		for _, c := range all {
			if c.measures(size) {
				cell := newCell(c, msg, size)
				cells, measured = append(cells, cell), append(measured, &cell.Cell)
			}
		}
	}
	show := newDisplay(stderr, len(cells), o.Duration)
	defer show.clear()
	if err := measure.InTurn(ctx, measured, runTime, o.Duration, show.at); err != nil {
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
	r.Rounds = len(cells[len(cells)-1].NS)
	for _, c := range cells {
		r.add(c.row(), o.LeaveOut)
	}
	return r, nil
}

// row returns the figures of a cell.
func (c *cell) row() *Row {
	ns := measure.Quantile(c.NS, figureQuantile)
	r := &Row{
		Implementation: c.impl, MAC: c.mac, Call: c.call, Bytes: c.size,
		NS:     ns,
		GBps:   float64(c.size) / ns,
		Spread: max(measure.Quantile(c.NS, quietQuantile)/ns-1, measure.Drift(c.NS, figureQuantile)),
		Runs:   len(c.NS),
	}
	r.Noisy = r.Spread > maxSpread
	return r
}
