// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"math"
	"slices"
)

const (
	crops    = 100
	doubtful = 4.5  // a test with this |t| or more is repeated
	definite = 10   // every control must exceed it
	affects  = 6    // a test with this z or more is repeated
	enough   = 1000 // a crop with fewer samples of a class is not used

	// The crop that Mean and Sees are of, which leaves out the slowest 3 %.
	typical = 50
)

// A sample is a time in ns, shifted by one bit, and the class, 0 or 1.
type sample int64

func newSample(ns int64, class int) sample { return sample(ns<<1 | int64(class)) }

func (s sample) ns() int64  { return int64(s >> 1) }
func (s sample) class() int { return int(s & 1) }

// moments are the number, the sum and the sum of squares of times.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m *moments) mean() float64 { return m.sum / m.n }

// variance returns the variance of the mean, from the unbiased variance of the times.
func (m *moments) variance() float64 {
	return max(0, m.squares-m.sum*m.sum/m.n) / (m.n - 1) / m.n
}

// welch returns Welch's t, the difference of the means in units of its standard error.
func welch(m *[2]moments) float64 {
	if difference(m) == 0 {
		return 0
	}
	// JSON has no infinity, which is the result if no time varies.
	return max(-math.MaxFloat64, min(difference(m)/standardError(m), math.MaxFloat64))
}

func difference(m *[2]moments) float64 { return m[0].mean() - m[1].mean() }

func standardError(m *[2]moments) float64 { return math.Sqrt(m[0].variance() + m[1].variance()) }

// An analysis compares the times of two classes.
type analysis struct {
	Samples int
	Mean    float64 // ns, of both classes, without the slowest 3 %
	Sees    float64 // ns, the difference of the means that has |t| = doubtful there

	// Of each crop, and of all times at the end: t and the difference of the means, in ns. Both
	// are 0 for crops that are not used.
	T, Difference [crops + 1]float64

	// What influence returns.
	Byte int // -1 if none was compared
	Z    float64
}

// kept returns which part of the samples a crop keeps, the fastest: 1-2^(-i/10) for the crops 1 to
// 100, as in dudect.h, and 1 for T[crops].
func kept(i int) float64 {
	if i == crops {
		return 1
	}
	return 1 - math.Exp2(-float64(i+1)/10)
}

// all returns t of all times.
func (a *analysis) all() float64 { return a.T[crops] }

// largest returns the index of the largest |t|.
func (a *analysis) largest() int {
	largest := 0
	for i, t := range a.T {
		if math.Abs(t) > math.Abs(a.T[largest]) {
			largest = i
		}
	}
	return largest
}

// analyse sorts the samples. If a crop keeps a sample, it keeps all samples of this time, of both
// classes. So whether a sample is kept does not depend on its class.
func analyse(samples []sample) analysis {
	slices.Sort(samples)
	a := analysis{Samples: len(samples)}
	var m [2]moments
	at := 0
	for i := range a.T {
		end := int(kept(i) * float64(len(samples)))
		for ; at < len(samples) && (at < end || at > 0 && samples[at].ns() == samples[at-1].ns()); at++ {
			// Subtracting the smallest time keeps the sums exact.
			m[samples[at].class()].add(float64(samples[at].ns() - samples[0].ns()))
		}
		if min(m[0].n, m[1].n) < enough {
			continue
		}
		a.T[i], a.Difference[i] = welch(&m), difference(&m)
		if i == typical {
			a.Mean = float64(samples[0].ns()) + (m[0].sum+m[1].sum)/(m[0].n+m[1].n)
			a.Sees = doubtful * standardError(&m)
		}
	}
	return a
}

// definite reports whether a |t| is beyond doubt.
func (a *analysis) definite() bool { return math.Abs(a.T[a.largest()]) > definite }

// A result is what a test has found: its first run, and its second if there is one.
type result struct {
	Test      string
	Control   bool       // a planted leak
	Unclaimed string     `json:",omitempty"` // why no claim is made for this test, if none is
	Runs      []analysis // one or two
}

// again is the factor by which the second run has more samples than the first. The t of a leak
// grows with its square root: it doubles.
const again = 4

// at returns the crop that counts: the one in which the first run has its largest |t| or, if the
// second run is beyond doubt, the one in which the second has.
func (r *result) at() int {
	if len(r.Runs) > 1 && r.Runs[1].definite() {
		return r.Runs[1].largest()
	}
	return r.Runs[0].largest()
}

// t returns t of this crop in a run.
func (r *result) t(run int) float64 { return r.Runs[run].T[r.at()] }

// repeat reports whether the test needs a second run.
func (r *result) repeat() bool {
	return !r.Control && r.Unclaimed == "" && r.differs()
}

// differs reports whether the first run shows a difference.
func (r *result) differs() bool { return math.Abs(r.t(0)) >= doubtful || r.Runs[0].Z >= affects }

// confirmed reports whether there is a second run that is beyond doubt by its t or z, or has a |t| of
// 4.5 or more where the first has its largest, which is also 4.5 or more, with the same class slower.
func (r *result) confirmed() bool {
	return len(r.Runs) > 1 && (r.Runs[1].definite() || r.Runs[1].Z >= affects ||
		min(math.Abs(r.t(0)), math.Abs(r.t(1))) >= doubtful && (r.t(0) > 0) == (r.t(1) > 0))
}

// definite reports whether the first run is beyond doubt.
func (r *result) definite() bool { return r.Runs[0].definite() }

// failed reports whether the result makes the command fail.
func (r *result) failed() bool { return r.Control && !r.definite() || r.confirmed() }

func (r *result) verdict() string {
	switch {
	case r.Control && r.definite():
		return "caught"
	case r.Control:
		return "NOT CAUGHT"
	case r.Unclaimed != "" && r.differs():
		return "known"
	case r.confirmed():
		return "LEAK"
	case len(r.Runs) > 1:
		return "not confirmed"
	case r.repeat():
		return "again"
	}
	return "pass"
}
