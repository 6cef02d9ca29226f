// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/origin"
)

// A printer prints the results, and counts them.
type printer struct {
	w       io.Writer
	kernels []kernel.Report // of the processes so far

	tests, repeated, known, leaks int
	controls, missed              int
}

func (p *printer) header(now time.Time, args []string) {
	fmt.Fprintf(p.w, `Timing tests of fastmac: Welch's t-test on the times of two classes of inputs.

date     %s
commit   %s
CPU      %s
Go       %s %s/%s
command  %s

A test passes if |t| is below %g in all %d crops, and z below %d. Otherwise it is repeated in a new
process, with new inputs and %d times as many samples. It is a leak if the second run confirms it, in
the same crop and with the same class slower, or has a |t| above %d in any crop, or such a z. A
control leaks, and is caught if |t| is above %d. The documentation of the command says why:

	go doc -C internal/assurance ./timing/dudect

samples  of the run
ns       mean time of a call and of reading the clock, without the slowest 3 %%
sees     the smallest difference of the mean times that has |t| = %g there, in ns
all      |t| of all times
max      the largest |t| of the crops and of all times; in a second run that of the same crop,
         unless one is above 10
ns       the difference of the mean times in this crop, the first class less the second
kept     the part of the samples that this crop keeps
z        of the byte of the inputs on which the times of the second class depend most, if any varies
`, now.UTC().Format(time.DateTime+" UTC"), origin.Commit(), origin.CPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		strings.Join(append([]string{"go run -C internal/assurance ./timing/dudect"}, args...), " "),
		doubtful, crops+1, affects, again, definite, definite, doubtful)
}

// errSame is the error of read if these kernels have already been measured.
var errSame = errors.New("the same kernels as before")

// read prints the results of a process as they arrive, and returns the tests that need a second
// run.
func (p *printer) read(name string, d *json.Decoder) (repeat []result, err error) {
	var machine process
	if err := d.Decode(&machine); err != nil {
		return nil, err
	}
	k := machine.Kernels
	fmt.Fprintf(p.w, "\nkernels %s: UMAC %s, AES %s, SHA-256 %s, SHA-512 %s, AES-GCM %s\n", name, k.NH, k.AES, k.SHA256, k.SHA512, k.GCM)
	if slices.Contains(p.kernels, k) {
		fmt.Fprintf(p.w, "not run: %v\n", errSame)
		return nil, errSame
	}
	p.kernels = append(p.kernels, k)
	fmt.Fprintf(p.w, "clock: two readings are %s\n", machine.Clock)
	if machine.Missing != "" {
		fmt.Fprintf(p.w, "not run, because they are not available: %s\n", machine.Missing)
	}
	fmt.Fprintf(p.w, "\n%8s %7s %7s %7s %7s %7s %6s %7s  %s\n", "samples", "ns", "sees", "all", "max", "ns", "kept", "z", "verdict and test")
	for {
		var r result
		switch err := d.Decode(&r); err {
		case nil:
			p.result(&r)
			if r.repeat() {
				repeat = append(repeat, r)
			}
		case io.EOF:
			return repeat, nil
		default:
			return nil, err
		}
	}
}

// readAgain prints the second run of a test, and puts it into r.
func (p *printer) readAgain(r *result, d *json.Decoder) error {
	var (
		machine process
		second  result
	)
	if err := d.Decode(&machine); err != nil {
		return err
	}
	if err := d.Decode(&second); err != nil {
		return err
	}
	r.Runs = append(r.Runs, second.Runs...)
	p.result(r)
	return nil
}

// result prints the last run of a result, and counts the result.
func (p *printer) result(r *result) {
	verdict, second := r.verdict(), len(r.Runs) > 1
	switch {
	case r.Control:
		p.controls++
		if r.failed() {
			p.missed++
		}
	case second:
		p.repeated++
	default:
		p.tests++
	}
	switch verdict {
	case "LEAK":
		p.leaks++
	case "known":
		p.known++
		verdict += ", " + r.Unclaimed
	}
	a, at, z := &r.Runs[len(r.Runs)-1], r.at(), "-"
	if a.Byte >= 0 {
		z = fmt.Sprintf("%.2f", a.Z)
	}
	fmt.Fprintf(p.w, "%8d %7.1f %7.3f %7s %7s %+7.2f %5.1f%% %7s  %s: %s", a.Samples, a.Mean, a.Sees,
		short(a.all()), short(a.T[at]), a.Difference[at], 100*kept(at), z, verdict, r.Test)
	if a.Z >= affects {
		fmt.Fprintf(p.w, " (byte %d)", a.Byte)
	}
	fmt.Fprintln(p.w)
}

// short formats |t| in at most seven characters.
func short(t float64) string {
	if t = math.Abs(t); t >= 1000 {
		return fmt.Sprintf("%.0e", t)
	}
	return fmt.Sprintf("%.2f", t)
}

// summary prints the counts, and returns an error if there is a leak or a control is not caught.
func (p *printer) summary(took time.Duration) error {
	// The probability of |t| >= 4.5 in a normal distribution, times the number of crops, is an
	// upper bound for all crops together.
	chance := float64(p.tests*(crops+1)) * math.Erfc(doubtful/math.Sqrt2)
	fmt.Fprintf(p.w, `
%d tests, %d of them run again (by chance of t at most %.2g), %d known leaks, %d leaks
%d controls, %d not caught
%v
`, p.tests, p.repeated, chance, p.known, p.leaks, p.controls, p.missed, took.Round(time.Second))
	switch {
	case p.leaks > 0 || p.missed > 0:
		return fmt.Errorf("fastmac: %d leaks, and %d of %d controls not caught", p.leaks, p.missed, p.controls)
	case p.tests == 0:
		return errors.New("fastmac: no test was run")
	}
	return nil
}
