// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package measure

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// TestInTurn has two cells, of which each runs at least once.
func TestInTurn(t *testing.T) {
	var last, wrong int
	cell := func(id int) *Cell {
		return &Cell{Batch: 1, Before: func() { last = id }, Do: func(n int) {
			if last != id {
				wrong++
			}
			for start := now(); now() == start; { // so that Calibrate ends
			}
		}}
	}
	cells := []*Cell{cell(1), cell(2)}
	calls := 0
	if err := InTurn(t.Context(), cells, time.Nanosecond, 1, func(time.Duration) { calls++ }); err != nil {
		t.Fatal(err)
	}
	if len(cells[0].NS) != 1 || len(cells[1].NS) != 1 || calls != 2 || wrong > 0 {
		t.Errorf("%v and %v, %d calls, %d without Before", cells[0].NS, cells[1].NS, calls, wrong)
	}
}

// TestInterrupted ends a run of an hour while it measures.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const slice = 100 * time.Microsecond
	runs := 0
	do := func(int) {
		for start := now(); now()-start < slice; { // so that Calibrate ends
		}
		if runs++; runs == 20 {
			cancel()
		}
	}
	cells := []*Cell{{Batch: 1, Do: do}, {Batch: 1, Do: do}}
	if err := InTurn(ctx, cells, slice, time.Hour, func(time.Duration) {}); !errors.Is(err, context.Canceled) || runs > 21 {
		t.Errorf("%v after %d runs", err, runs)
	}
}

func TestCalibrate(t *testing.T) {
	c := Cell{Batch: 8, Do: func(n int) {
		if n%8 != 0 {
			t.Errorf("%d operations, want whole batches", n)
		}
		for start := now(); now()-start < time.Duration(n)*time.Microsecond; {
		}
	}}
	c.Calibrate(150 * time.Microsecond)
	if c.N%8 != 0 || c.N < 8 || c.N > 1024 {
		t.Errorf("%d operations in a slice", c.N)
	}
	c.Slice()
	if len(c.NS) != 1 || c.NS[0] < 1000 {
		t.Errorf("%v", c.NS)
	}
}

func TestQuantile(t *testing.T) {
	var values []float64
	for i := range 100 {
		values = append(values, float64(199-i)) // 100 to 199
	}
	for q, want := range map[float64]float64{0: 100, 0.01: 100, 0.02: 101, 0.5: 149, 1: 199} {
		if got := Quantile(values, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	// The halves have 150 and 100.
	if got := Drift(values, 0); got != 0.5 {
		t.Errorf("drift %v", got)
	}
	if got := Drift([]float64{100, 110}, 0); math.Abs(got-0.1) > 1e-9 {
		t.Errorf("drift %v", got)
	}
	// All of it is the machine's: the ratio is 2 in both halves.
	double := slices.Clone(values)
	for i := range double {
		double[i] *= 2
	}
	if got := RatioDrift(double, values, 0.1); got != 0 {
		t.Errorf("drift of a ratio of 2: %v", got)
	}
	if got := RatioDrift([]float64{3, 2}, []float64{1, 1}, 0); got != 0.5 {
		t.Errorf("drift of ratios of 3 and 2: %v", got)
	}
	if got := Drift(values[:1], 0); got != 0 {
		t.Errorf("drift of one value %v", got)
	}
}
