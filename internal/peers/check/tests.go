// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

const modulePath = "example.com/fastmac"

// A module for users, with flags for its tests.
type module struct {
	folder string
	about  string // how long the tests take
	flags  []string
}

// The tests of the root also run those of packet and sshmac, except for the one that is skipped here.
var modules = []module{
	{".", "two minutes", []string{"-skip", "^TestNested$"}},
	{"packet", "a minute", nil},
	{"sshmac", "half a minute", nil},
	{"cmd/fastmac", "two minutes", nil},
}

// onlyHere are the tests that QEMU's emulator of user programs cannot run: on a real machine each has an
// outcome of its own. Without a name it is all tests of a package.
var onlyHere = []struct{ pkg, test, why string }{
	{".", "TestFeaturesOff", "starts itself"},
	{".", "TestPlacedFlags", "asks the kernel what it did with advice on memory"},
	{"hwrand", "TestMissing", "starts itself"},
	{"hwrand", "TestScan", "scans a process for keys"},
	{"internal/conformance", "TestFIPS140", "starts itself"},
	{"internal/conformance", "TestNettle", "loads libnettle"},
	{"internal/conformance", "TestOpenSSL", "loads libcrypto"},
	{"internal/fork", "TestForks", "forks in C"},
	{"internal/fork", "TestAdvice", "filters system calls"},
	{"internal/memory", "TestDestroyScan", "scans processes for keys"},
	{"packet", "TestNettle", "loads libnettle"},
	{"packet", "TestScan", "scans a process for keys"},
	{"sshmac", "TestRegisterFIPS", "starts itself"},
	{"sshmac", "TestScan", "scans a process for keys"},
	{"cmd/fastmac", "TestExitStatus", "starts itself"},
	{"cmd/fastmac", "TestSignals", "starts itself"},
	{"cmd/fastmac", "TestStuck", "starts itself"},
	{"cmd/fastmac", "TestXargs", "starts itself"},
	{"cmd/fastmac/internal/patchssh", "", "build tests and start them"},
	{"cmd/fastmac/internal/sums", "", "start themselves"},
	{"cmd/fastmac/internal/tree", "", "fault and limit themselves"},
}

// An Outcome is what became of a test that only a real machine can run, or of those of a package.
type Outcome struct {
	Package string `json:"package"`
	Test    string `json:"test,omitempty"`
	Why     string `json:"why"`
	Outcome string `json:"outcome"`
}

func (o Outcome) name() string { return Test{Package: o.Package, Name: o.Test}.String() }

// Tests are a run of the tests of a module.
type Tests struct {
	Command string  `json:"command"`
	Seconds float64 `json:"seconds"`
	Passed  int     `json:"passed"`            // without subtests
	NotRun  string  `json:"not_run,omitempty"` // why they did not run, or not to the end
	Failed  []Test  `json:"failed,omitempty"`
	Skipped []Test  `json:"skipped,omitempty"`

	passed []Test // with subtests
}

// race reports whether the race detector ran.
func (t Tests) race() bool { return strings.Contains(t.Command, " -race ") }

// A Test is one that failed, with the end of what it printed, or that was skipped, with the reason. Without
// a name it is what failed in a package beside its tests.
type Test struct {
	Package string `json:"package"`
	Name    string `json:"name,omitempty"`
	Output  string `json:"output"`
}

func (t Test) String() string {
	if t.Package == "." && t.Name != "" {
		return t.Name
	}
	return strings.TrimSpace(t.Package + " " + t.Name)
}

func (t Tests) String() string {
	s := fmt.Sprintf("%d passed, %d failed, %d skipped", t.Passed, len(t.Failed), len(t.Skipped))
	if t.NotRun != "" {
		s = "NOT RUN: " + firstLine(t.NotRun) + " (" + s + ")"
	}
	return s
}

// few is how many of the tests that failed are named where not all are.
const few = 5

// names are those of a few tests.
func names(tests []Test) string {
	var all []string
	for _, t := range tests[:min(len(tests), few)] {
		all = append(all, t.String())
	}
	if more := len(tests) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// Tally is how many tests of all runs have passed, and which have not.
func (r *Report) Tally() string {
	var all Tests
	var notes []string
	for _, t := range r.Tests {
		all.Passed += t.Passed
		all.Failed = append(all.Failed, t.Failed...)
		all.Skipped = append(all.Skipped, t.Skipped...)
		if t.NotRun != "" {
			notes = append(notes, firstLine(t.NotRun))
		}
	}
	if all.Failed != nil {
		notes = append(notes, "FAILED: "+names(all.Failed))
	}
	return strings.Join(append([]string{all.String()}, notes...), "; ")
}

// test runs the tests of a module.
func (p *Plan) test(ctx context.Context, r *Report, m module) {
	args := append([]string{"test", "-json", "-count=1", "-timeout", "60m"}, m.flags...)
	if p.Quick {
		args = append(args, "-short", "-run", "Vectors")
	}
	r.Tests = append(r.Tests, p.run(ctx, m.folder, m.about, append(args, "./...")))
}

// race runs the short tests of the root with the race detector, where there is one.
func (p *Plan) race(ctx context.Context, r *Report) {
	probe, text := p.command(ctx, ".", "test", "-race", "-run", "^$", "./internal/wipe")
	if out, err := probe.CombinedOutput(); err != nil {
		t := Tests{Command: text, NotRun: "no race detector: " + strings.TrimSpace(tail(string(out)))}
		p.logf("%s: %s", text, t)
		r.Tests = append(r.Tests, t)
		return
	}
	r.Tests = append(r.Tests, p.run(ctx, ".", "five minutes", []string{"test", "-json", "-count=1", "-race", "-short", "-timeout", "60m", "./..."}))
}

// run runs tests in a folder.
func (p *Plan) run(ctx context.Context, folder, about string, args []string) (t Tests) {
	cmd, text := p.command(ctx, folder, args...)
	t.Command = text
	p.logf("testing, about %s: %s", about, text)
	start := time.Now()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		err = t.read(out)
		if end := cmd.Wait(); end != nil {
			err = end
		}
	}
	t.Seconds = seconds(start)
	switch {
	case ctx.Err() != nil:
		t.NotRun = errInterrupted.Error()
	case err != nil && t.Failed == nil:
		t.Failed = []Test{{relative(modulePath + "/" + folder), "", failure(err, stderr.String())}}
	}
	for _, f := range t.Failed[:min(len(t.Failed), few)] {
		p.logf("FAILED: %s: %s", f, firstLine(f.Output))
	}
	p.logf("%s, %.0f s", t, t.Seconds)
	return t
}

// relative returns the name of a package in the tree.
func relative(pkg string) string {
	if pkg == modulePath || pkg == modulePath+"/." {
		return "."
	}
	return strings.TrimPrefix(pkg, modulePath+"/")
}

// An event is a line of what go test -json prints.
type event struct{ Action, Package, ImportPath, FailedBuild, Test, Output string }

// read reads what go test -json prints. Other lines are of no test.
func (t *Tests) read(r io.Reader) error {
	output := make(map[[2]string]string) // of a test; of a build without Test
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			t.add(e, output)
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (t *Tests) add(e event, output map[[2]string]string) {
	key := [2]string{e.Package, e.Test}
	test := Test{relative(e.Package), e.Test, reason(output[key])}
	inPackage := func(f Test) bool { return f.Package == test.Package }
	switch e.Action {
	case "build-output":
		output[[2]string{e.ImportPath}] += e.Output
	case "output":
		output[key] += e.Output
	case "pass":
		if test.Name == "" {
			break
		}
		t.passed = append(t.passed, test)
		if !strings.Contains(test.Name, "/") {
			t.Passed++
		}
	case "skip":
		if test.Name != "" { // without it there are no tests
			t.Skipped = append(t.Skipped, test)
		}
	case "fail":
		switch {
		case test.Name == "" && e.FailedBuild != "":
			test.Output = tail(strings.TrimSpace(output[[2]string{e.FailedBuild}]))
		case test.Name == "" && slices.ContainsFunc(t.Failed, inPackage):
			return
		case test.Output == "" && slices.ContainsFunc(t.Failed, func(f Test) bool { return inPackage(f) && strings.HasPrefix(f.Name, test.Name+"/") }):
			return
		}
		t.Failed = append(t.Failed, test)
	}
	if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
		delete(output, key)
	}
}

var (
	frameLine = regexp.MustCompile(`(?m)^(?:=== | *--- ).*\n?`)
	fileLine  = regexp.MustCompile(`(?m)^ *(?:\S+\.go:\d+: )?`)
)

// reason returns what a test has printed itself.
func reason(output string) string {
	return tail(strings.TrimSpace(fileLine.ReplaceAllString(frameLine.ReplaceAllString(output, ""), "")))
}

// outcomes are those of onlyHere.
func outcomes(runs []Tests) (all []Outcome) {
	for _, o := range onlyHere {
		all = append(all, Outcome{o.pkg, o.test, o.why, outcome(runs, o.pkg, o.test)})
	}
	return all
}

// outcome is that of a test, or of all tests of a package, except with the race detector.
func outcome(runs []Tests, pkg, name string) string {
	matches := func(t Test) bool {
		return t.Package == pkg && (name == "" || t.Name == "" || t.Name == name || strings.HasPrefix(t.Name, name+"/"))
	}
	var passed, failed, skipped int
	why := ""
	for _, run := range runs {
		if run.race() {
			continue
		}
		for _, t := range run.Failed {
			if matches(t) {
				failed++
			}
		}
		for _, t := range run.Skipped {
			if matches(t) {
				skipped++
				why = firstLine(t.Output)
			}
		}
		for _, t := range run.passed {
			if matches(t) && !strings.Contains(t.Name, "/") {
				passed++
			}
		}
	}
	switch {
	case passed+failed+skipped == 0:
		return "not run on " + runtime.GOOS + "/" + runtime.GOARCH
	case name == "":
		return fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
	case failed > 0:
		return "FAILED"
	case skipped > 0 && passed > 0:
		return "skipped in part: " + why
	case skipped > 0:
		return "skipped: " + why
	}
	return "passed"
}
