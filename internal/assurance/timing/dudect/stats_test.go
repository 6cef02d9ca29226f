// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWelch compares with the example of Welch's t-test that is easy by hand. The classes have
// means 3 and 5, squared deviations 10 and 40 of 5 times, so variances 2.5 and 10, and of the
// means 0.5 and 2: t = -2/sqrt(2.5).
func TestWelch(t *testing.T) {
	var m [2]moments
	for i := range 5 {
		m[0].add(float64(1 + i))
		m[1].add(float64(1 + 2*i))
	}
	if got, want := welch(&m), -2/math.Sqrt(2.5); math.Abs(got-want) > 1e-12 {
		t.Errorf("t = %v, want %v", got, want)
	}
	for _, test := range []struct {
		name   string
		second float64
		want   float64
	}{
		{"equal times that do not vary", 7, 0},
		{"different times that do not vary", 8, -math.MaxFloat64},
	} {
		m := [2]moments{}
		for range 3 {
			m[0].add(7)
			m[1].add(test.second)
		}
		if got := welch(&m); got != test.want {
			t.Errorf("%s: t = %v, want %v", test.name, got, test.want)
		}
	}
}

// twoPass is Welch's t by its definition, without sums of squares.
func twoPass(times [2][]float64) float64 {
	var mean, variance [2]float64
	for class, x := range times {
		for _, v := range x {
			mean[class] += v / float64(len(x))
		}
		for _, v := range x {
			variance[class] += (v - mean[class]) * (v - mean[class])
		}
		variance[class] /= float64(len(x)-1) * float64(len(x))
	}
	return (mean[0] - mean[1]) / math.Sqrt(variance[0]+variance[1])
}

// synthetic returns n times: normal ones with a deviation of 20 ns in steps of 10 ns, a
// hundredth of them interrupted. Those of class 1 are longer by the leak.
func synthetic(r *rand.Rand, n int, leak float64) []sample {
	samples := make([]sample, n)
	for i := range samples {
		class := r.IntN(2)
		ns := 500 + 20*r.NormFloat64() + leak*float64(class)
		if r.IntN(100) == 0 {
			ns += 10000 * r.ExpFloat64()
		}
		begin := 10 * r.Float64()
		samples[i] = newSample(int64(math.Floor((begin+ns)/10)-math.Floor(begin/10))*10, class)
	}
	return samples
}

// TestAnalyse compares all crops with the definition, and with what they should keep.
func TestAnalyse(t *testing.T) {
	samples := synthetic(rand.New(rand.NewPCG(1, 2)), 40000, 1)
	a := analyse(slices.Clone(samples))
	slices.SortFunc(samples, func(x, y sample) int { return int(x.ns() - y.ns()) })
	used := 0
	for i, got := range a.T {
		end := len(samples)
		if i < crops {
			end = int((1 - math.Pow(0.5, float64(i+1)/10)) * float64(len(samples)))
		}
		last := samples[end-1].ns()
		var times [2][]float64
		for _, s := range samples {
			if s.ns() <= last {
				times[s.class()] = append(times[s.class()], float64(s.ns()))
			}
		}
		want := 0.0
		if min(len(times[0]), len(times[1])) >= enough {
			used++
			want = twoPass(times)
		}
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("crop %d: t = %v, want %v", i, got, want)
		}
	}
	if used != crops+1 {
		t.Errorf("%d crops used, want %d", used, crops+1)
	}
	// The deviation of a mean of 20000 times of this distribution, with the steps, is about
	// 0.15 ns, and a difference has sqrt(2) times as much: 4.5 * 0.22 = 1. Without the slowest 3 % it
	// is less.
	if a.Samples != len(samples) || math.Abs(a.Mean-499) > 2 || a.Sees < 0.6 || a.Sees > 1 {
		t.Errorf("%d samples, mean %v, sees %v", a.Samples, a.Mean, a.Sees)
	}
	if few := analyse(synthetic(rand.New(rand.NewPCG(1, 2)), enough, 500)); few.T[few.largest()] != 0 {
		t.Errorf("t = %v of too few samples", few.T[few.largest()])
	}
}

// fake is a meter whose clock is not one: each call takes a synthetic time, and the longer
// by leak if the first byte of the input is not 0.
func fake(seed byte, leak float64) (*meter, *subject) {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	now := 0.0
	s := &subject{name: "synthetic", size: 12, classes: [2]filler{repeated(0), repeated(1)}, run: func(in []byte) {
		now += 500 + 20*r.NormFloat64() + leak*float64(in[0])
		if r.IntN(100) == 0 {
			now += 10000 * r.ExpFloat64()
		}
	}}
	return &meter{
		rand: rand.NewChaCha8([32]byte{seed}),
		now: func() int64 {
			now += 30 + 5*r.Float64()
			return int64(now/10) * 10
		},
	}, s
}

// TestSynthetic checks that equal distributions pass, and that a leak is found and confirmed:
// 1 ns, a tenth of the step of the clock and a twentieth of the deviation.
func TestSynthetic(t *testing.T) {
	const n = 100000
	seeds, leaks := byte(8), []float64{1, -1}
	if testing.Short() {
		seeds, leaks = 1, leaks[:1]
	}
	for seed := range seeds {
		m, s := fake(seed, 0)
		if r := m.test(s, n); r.verdict() != "pass" || r.failed() || r.Runs[0].Samples != n {
			t.Errorf("no leak, seed %d: %s, t = %v, %d samples", seed, r.verdict(), r.t(0), r.Runs[0].Samples)
		}
	}
	for _, leak := range leaks {
		m, s := fake(1, leak)
		r := m.test(s, n)
		// The variance of a time is 20^2 and that of two steps 10^2/6, so 1 ns is 7.7 times the
		// standard error, sqrt(4*417/n). The deviation of t is 1. Class 1 has the leak.
		if x := -r.t(0) * leak; x < 5 || x > 11 || r.verdict() != "again" || r.failed() {
			t.Errorf("a leak of %v ns: t = %v, %s", leak, r.t(0), r.verdict())
		}
		r.Runs = append(r.Runs, m.test(s, again*n).Runs...)
		if r.verdict() != "LEAK" || !r.failed() {
			t.Errorf("a leak of %v ns, again: t = %v, %s", leak, r.t(1), r.verdict())
		}
		if d := r.Runs[1].Difference[typical]; math.Abs(d+leak) > 0.3 {
			t.Errorf("a leak of %v ns: the difference is %v", leak, d)
		}
		s.control = true
		if r := m.test(s, n); r.verdict() != "NOT CAUGHT" || !r.failed() {
			t.Errorf("a control below the threshold: %s", r.verdict())
		}
	}
	m, s := fake(1, 5)
	s.unclaimed = "reason"
	if r := m.test(s, n); r.verdict() != "known" || r.failed() {
		t.Errorf("a known leak: %s", r.verdict())
	}
	s.control = true
	if r := m.test(s, n); r.verdict() != "caught" || r.failed() {
		t.Errorf("a control: %s", r.verdict())
	}
}

// TestInfluence checks that a byte is found of which six bits matter, if they have one value, and
// none if no byte matters, or if it is always the same.
func TestInfluence(t *testing.T) {
	constant := func(in []byte, r *rand.ChaCha8) { random(in, r); in[7] = 0x41 }
	for _, test := range []struct {
		leak  float64
		class filler
		found bool
	}{{0, random, false}, {20, random, true}, {20, constant, false}} {
		m, s := fake(1, test.leak)
		slower := s.run
		s.classes = [2]filler{random, test.class}
		s.run = func(in []byte) {
			var longer byte
			if in[7]&0x7e == 0x40 {
				longer = 1
			}
			slower([]byte{longer})
		}
		r := m.test(s, 200000)
		if got := &r.Runs[0]; (got.Z >= affects) != test.found || got.Byte < 0 || test.found && got.Byte != 7 {
			t.Errorf("%v ns: byte %d, z = %v", test.leak, got.Byte, got.Z)
		}
	}
}

// TestInfluenceNormal checks that z has the mean 0 and the variance 1 if no byte matters.
func TestInfluenceNormal(t *testing.T) {
	runs := 100
	if testing.Short() {
		runs = 20
	}
	var z moments
	for seed := range runs {
		m, s := fake(byte(seed), 0)
		s.classes, s.size = [2]filler{random, random}, 1
		r := m.test(s, 80000)
		z.add(r.Runs[0].Z)
	}
	deviation := 1 / math.Sqrt(z.n)
	if variance := z.variance() * z.n; math.Abs(z.mean()) > 4*deviation || math.Abs(variance-1) > 6*deviation {
		t.Errorf("z has the mean %.2f and the variance %.2f", z.mean(), variance)
	}
}

// TestInfluenceRare checks that a few times which are shorter than all others say nothing.
func TestInfluenceRare(t *testing.T) {
	seeds := byte(10)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		now := int64(0)
		m := &meter{rand: rand.NewChaCha8([32]byte{seed}), now: func() int64 { return now }}
		s := newSubject("rare", 64, random, random, func([]byte) {
			switch u := r.Float64(); {
			case u < 1e-5:
				now += 30
			case u < 0.96:
				now += 40
			default:
				now += 50
			}
		})
		if r := m.test(&s, 400000); r.Runs[0].Z >= affects {
			t.Errorf("seed %d: z = %v", seed, r.Runs[0].Z)
		}
	}
}

// TestConfirmed checks which second runs confirm the first.
func TestConfirmed(t *testing.T) {
	for _, test := range []struct {
		first, second float64 // t of crop 7
		other         float64 // t of crop 8 in the second run
		z             [2]float64
		want          string
	}{
		{4.6, 4.6, 0, [2]float64{}, "LEAK"},
		{-4.6, -4.6, 0, [2]float64{}, "LEAK"},
		{4.6, 4.4, 9, [2]float64{}, "not confirmed"},
		{4.6, -9, -9, [2]float64{}, "not confirmed"},
		{-12, 9, 9, [2]float64{}, "not confirmed"},
		{-5, 11, 0, [2]float64{}, "LEAK"},
		{4.6, 0, -11, [2]float64{}, "LEAK"},
		{0, 0, 0, [2]float64{6, 6}, "LEAK"},
		{4.6, 4.4, 0, [2]float64{0, 6}, "LEAK"},
		{1, 9, 0, [2]float64{6, 5.9}, "not confirmed"},
		{0, 0, 0, [2]float64{7, 5.9}, "not confirmed"},
	} {
		r := result{Runs: make([]analysis, 1)}
		if r.verdict() != "pass" {
			t.Errorf("no difference: %s", r.verdict())
		}
		if r.Runs[0].T[7], r.Runs[0].Z = test.first, test.z[0]; r.verdict() != "again" || r.failed() {
			t.Errorf("%+v, first run: %s", test, r.verdict())
		}
		r.Runs = append(r.Runs, analysis{})
		r.Runs[1].T[7], r.Runs[1].T[8], r.Runs[1].Z = test.second, test.other, test.z[1]
		if got := r.verdict(); got != test.want || r.failed() != (got == "LEAK") {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// TestSelectInput checks that each class gets its input.
func TestSelectInput(t *testing.T) {
	both := [2][]byte{pattern(24), make([]byte, 24)}
	got := make([]byte, 24)
	for class, want := range both {
		if selectInput(got, &both, class); !slices.Equal(got, want) {
			t.Errorf("class %d: %x", class, got)
		}
	}
}
