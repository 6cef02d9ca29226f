// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// events are what go test -json prints of a package with all outcomes, one that does not build, one that
// ends early, and one without tests.
const events = `{"Action":"start","Package":"example.com/fastmac/hwrand"}
{"Action":"run","Package":"example.com/fastmac/hwrand","Test":"TestScan"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestScan","Output":"=== RUN   TestScan\n"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestScan","Output":"    scan_linux_test.go:81: needs a CPU\n"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestScan","Output":"--- SKIP: TestScan (0.13s)\n"}
{"Action":"skip","Package":"example.com/fastmac/hwrand","Test":"TestScan","Elapsed":0.13}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestMissing/a","Output":"=== RUN   TestMissing/a\n"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestMissing/a","Output":"    hwrand_test.go:5: got 1\n        want 2\n"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestMissing/a","Output":"    --- FAIL: TestMissing/a (0.00s)\n"}
{"Action":"fail","Package":"example.com/fastmac/hwrand","Test":"TestMissing/a"}
{"Action":"pass","Package":"example.com/fastmac/hwrand","Test":"TestMissing/b"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Test":"TestMissing","Output":"--- FAIL: TestMissing (0.00s)\n"}
{"Action":"fail","Package":"example.com/fastmac/hwrand","Test":"TestMissing"}
go: a line that is no event
{"Action":"pass","Package":"example.com/fastmac/hwrand","Test":"TestOther"}
{"Action":"output","Package":"example.com/fastmac/hwrand","Output":"FAIL\n"}
{"Action":"fail","Package":"example.com/fastmac/hwrand","Elapsed":1}
{"ImportPath":"example.com/fastmac [example.com/fastmac.test]","Action":"build-output","Output":"# example.com/fastmac\n"}
{"ImportPath":"example.com/fastmac [example.com/fastmac.test]","Action":"build-output","Output":"./a_test.go:3:1: syntax error\n"}
{"ImportPath":"example.com/fastmac [example.com/fastmac.test]","Action":"build-fail"}
{"Action":"fail","Package":"example.com/fastmac","Elapsed":0,"FailedBuild":"example.com/fastmac [example.com/fastmac.test]"}
{"Action":"pass","Package":"example.com/fastmac/internal/memory","Test":"TestDestroyScan"}
{"Action":"skip","Package":"example.com/fastmac/internal/memory","Test":"TestDestroyScan/kernels="}
{"Action":"output","Package":"example.com/fastmac/internal/memory","Output":"signal: killed\n"}
{"Action":"fail","Package":"example.com/fastmac/internal/memory"}
{"Action":"pass","Package":"example.com/fastmac/cmd/fastmac/internal/sums","Test":"TestLine"}
{"Action":"skip","Package":"example.com/fastmac/internal/opaque"}
`

func readEvents(t *testing.T) Tests {
	t.Helper()
	var tests Tests
	if err := tests.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	return tests
}

func TestRead(t *testing.T) {
	tests := readEvents(t)
	failed := []Test{
		{"hwrand", "TestMissing/a", "got 1\nwant 2"},
		{".", "", "# example.com/fastmac\n./a_test.go:3:1: syntax error"},
		{"internal/memory", "", "signal: killed"},
	}
	if !reflect.DeepEqual(tests.Failed, failed) {
		t.Errorf("failed %q, want %q", tests.Failed, failed)
	}
	skipped := []Test{{"hwrand", "TestScan", "needs a CPU"}, {"internal/memory", "TestDestroyScan/kernels=", ""}}
	if !reflect.DeepEqual(tests.Skipped, skipped) {
		t.Errorf("skipped %q, want %q", tests.Skipped, skipped)
	}
	if tests.Passed != 3 {
		t.Errorf("%d passed, want TestOther, TestDestroyScan and TestLine", tests.Passed)
	}
}

func TestOutcomes(t *testing.T) {
	failed := readEvents(t)
	race := failed
	race.Command = "go test -json -race ./..."
	for _, tt := range []struct {
		tests     Tests
		pkg, name string
		want      string
	}{
		{failed, "hwrand", "TestScan", "skipped: needs a CPU"},
		{failed, "hwrand", "TestMissing", "FAILED"},
		{failed, "hwrand", "TestOther", "passed"},
		{failed, ".", "TestFeaturesOff", "FAILED"}, // with its package
		{failed, "cmd/fastmac/internal/sums", "", "1 passed, 0 failed, 0 skipped"},
		{failed, "sshmac", "TestScan", "not run on "},
		{race, "hwrand", "TestOther", "not run on "},
		{Tests{
			passed:  []Test{{Package: "internal/memory", Name: "TestDestroyScan"}},
			Skipped: []Test{{"internal/memory", "TestDestroyScan/kernels=", "needs a CPU\nof this kind"}},
		}, "internal/memory", "TestDestroyScan", "skipped in part: needs a CPU"},
	} {
		if got := outcome([]Tests{tt.tests}, tt.pkg, tt.name); got != tt.want && !(strings.HasSuffix(tt.want, " ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s %s: %q, want %q", tt.pkg, tt.name, got, tt.want)
		}
	}
	if got := outcomes(nil); len(got) != len(onlyHere) {
		t.Errorf("%d outcomes, want %d", len(got), len(onlyHere))
	}
}

// TestOnlyHere checks that all tests that are named are there.
func TestOnlyHere(t *testing.T) {
	for _, o := range onlyHere {
		files, err := filepath.Glob(filepath.Join("../../..", filepath.FromSlash(o.pkg), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || regexp.MustCompile(`(?m)^func `+cmp.Or(o.test, `Test\w+`)+`\(`).Match(b)
		}
		if !found {
			t.Errorf("%s has no test %s", o.pkg, o.test)
		}
	}
}

const verified = `amd64

  function  instructions
 lines           7

Models: 917744 comparisons with the CPU, no difference
 104 forms of []
  12 forms of [AES]

proved
arm64

Models: 257098 comparisons with qemu-aarch64 -cpu max, no difference
   4 forms of [AES]
   3 forms of [SHA512]: NOT COMPARED on this CPU, which lacks them. Models compared with a CPU, 2026

`

func TestParseModels(t *testing.T) {
	for _, tt := range []struct {
		text, arch string
		want       Models
		says       string
	}{
		{verified, "amd64", Models{Comparisons: 917744, Compared: []string{"104 forms of []", "12 forms of [AES]"}}, "917744 comparisons, no difference"},
		{verified, "arm64", Models{Comparisons: 257098, Compared: []string{"4 forms of [AES]"},
			Missing: []string{"3 forms of [SHA512]: NOT COMPARED on this CPU, which lacks them"}}, "257098 comparisons, no difference, some NOT COMPARED"},
		{verified, "riscv64", Models{Missing: []string{"nothing was compared for riscv64"}}, "not compared"},
	} {
		got := parseModels(tt.text, tt.arch)
		if !reflect.DeepEqual(*got, tt.want) || got.String() != tt.says {
			t.Errorf("%s: %+v, want %+v; %q, want %q", tt.arch, *got, tt.want, got, tt.says)
		}
	}
}

func TestFailure(t *testing.T) {
	err := errors.New("exit status 1")
	for stderr, want := range map[string]string{
		"":                                   "exit status 1",
		"exit status 2\n":                    "exit status 1",
		"fastmac: no\nmore\nexit status 1\n": "no\nmore",
		strings.Repeat("x", 5000):            "[...]" + strings.Repeat("x", 4000),
	} {
		if got := failure(err, stderr); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
	if got := failure(nil, "go: downloading"); got != "" {
		t.Errorf("no error: %q", got)
	}
}

// TestFaults has reports with one fault each, which the error and the lines name.
func TestFaults(t *testing.T) {
	for fault, r := range map[string]*Report{
		"hwrand TestMissing/a":  {Tests: []Tests{readEvents(t)}},
		"the CPU and the model": {Models: &Models{Comparisons: 5, Failed: "the CPU and the model differ\nmore"}},
		"DIT is not set":        {DIT: &DIT{Failed: "DIT is not set"}},
	} {
		lines := strings.Join(r.Lines(), "\n")
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), fault) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", fault, err)
		}
		if !strings.Contains(lines, "FAILED") || !strings.Contains(lines, fault) {
			t.Errorf("%s: lines %s", fault, lines)
		}
	}
	many := &Report{Tests: []Tests{{Failed: make([]Test, 8)}}}
	for i := range many.Tests[0].Failed {
		many.Tests[0].Failed[i].Name = string(rune('A' + i))
	}
	if got, want := many.Err().Error(), "tests failed: A, B, C, D, E, and 3 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if lines := many.Lines(); lines[len(lines)-1] != "FAILED: H" {
		t.Errorf("lines %q", lines)
	}
	good := &Report{
		Tests:    []Tests{{Command: "go test", Passed: 2, Skipped: []Test{{"hwrand", "TestScan", "needs a CPU\nof this kind"}}}, {Command: "go test -race", NotRun: "no race detector: no cgo\nmore"}},
		OnlyHere: outcomes(nil), Models: new(Models), DIT: &DIT{Inside: true, Goroutine: true, NSOutside: 1.25, NSInside: 1.5, NSEach: 20},
	}
	if err := good.Err(); err != nil {
		t.Error(err)
	}
	if got, want := good.Tally(), "2 passed, 0 failed, 1 skipped; no race detector: no cgo"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if lines := strings.Join(good.Lines(), "\n"); strings.Contains(lines, "FAILED") || !strings.Contains(lines, "\nskipped: hwrand TestScan: needs a CPU\n") || !strings.Contains(lines, "NOT RUN: no race detector: no cgo (") || !strings.Contains(lines, "\nTestFeaturesOff (starts itself): not run on ") {
		t.Errorf("lines %s", lines)
	}
}

// TestTests runs the tests of a module with the go command.
func TestTests(t *testing.T) {
	mactest.NeedGo(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"m/go.mod": "module example.com/fastmac/m\n",
		"m/a_test.go": `package a
			import "testing"
			func TestGood(*testing.T) {}
			func TestBad(t *testing.T) { t.Error("bad") }
			func TestLeft(t *testing.T) { t.Skip("left") }`,
		"m/b/b_test.go": "package b; func",
		"empty/README":  "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	p := &Plan{Root: root, Log: &log}
	args := []string{"test", "-json", "./..."}
	got := p.run(t.Context(), "m", "no time", args)
	if got.Command != "go test -C m -json ./..." || got.Passed != 1 || len(got.Failed) != 2 || len(got.Skipped) != 1 || got.NotRun != "" {
		t.Fatalf("%+v", got)
	}
	if got.Skipped[0] != (Test{"m", "TestLeft", "left"}) || got.Failed[0].Output == "" || got.Failed[1].Output == "" {
		t.Errorf("%q, %q", got.Skipped, got.Failed)
	}
	if !strings.Contains(log.String(), "FAILED: m TestBad: bad\n") || !strings.Contains(log.String(), "1 passed, 2 failed, 1 skipped, ") {
		t.Errorf("log %s", log.String())
	}
	// A go command that runs no test.
	if got := p.run(t.Context(), "empty", "no time", args); len(got.Failed) != 1 || !strings.Contains(got.Failed[0].Output, "module") {
		t.Errorf("no module: %q", got.Failed)
	}
	var r Report
	if p.race(t.Context(), &r); len(r.Tests) != 1 || !strings.HasPrefix(r.Tests[0].NotRun, "no race detector: ") || r.Err() != nil {
		t.Errorf("no race detector: %+v", r)
	}
}

// TestInterrupted checks that the first step that is interrupted is saved, and is the last one.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &Plan{Root: t.TempDir(), Log: io.Discard}
	var r Report
	saved := 0
	err := p.Run(ctx, &r, func() error { saved++; return nil })
	if err != errInterrupted || saved != 1 || len(r.Tests) != 1 || r.Tests[0].NotRun != "interrupted" || len(r.OnlyHere) != len(onlyHere) {
		t.Errorf("error %v, saved %d times, %+v", err, saved, r.Tests)
	}
	full := errors.New("disk full")
	if err := p.Run(t.Context(), new(Report), func() error { return full }); err != full {
		t.Errorf("error %v, want %v", err, full)
	}
}
