// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package check finds out whether fastmac does on a machine what it should: it runs the tests, among
// them those that no emulator can run, compares the models of the proofs with the CPU, and looks at DIT.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Report is what was found.
type Report struct {
	Tests    []Tests   `json:"tests"`
	OnlyHere []Outcome `json:"only_here"`
	Models   *Models   `json:"models,omitempty"`
	DIT      *DIT      `json:"dit,omitempty"`
}

// Models are the models of instructions with which the assembly is proved, compared with the CPU. The
// same command looks for secrets in branches and addresses.
type Models struct {
	Command     string   `json:"command"`
	Seconds     float64  `json:"seconds"`
	Comparisons int      `json:"comparisons"`
	Compared    []string `json:"compared,omitempty"`
	Missing     []string `json:"missing,omitempty"` // with the reason
	Failed      string   `json:"failed,omitempty"`
}

// DIT is what command dit of internal/assurance prints.
type DIT struct {
	Missing   string  `json:"missing,omitempty"` // why nothing could be looked at
	Outside   bool    `json:"outside"`           // whether the bit is set outside WithDataIndependentTiming
	Inside    bool    `json:"inside"`
	Goroutine bool    `json:"goroutine"`            // the same, in a goroutine that starts inside
	NSOutside float64 `json:"ns_outside,omitempty"` // for a UMAC-64 tag of 64 bytes
	NSInside  float64 `json:"ns_inside,omitempty"`
	NSEach    float64 `json:"ns_each,omitempty"` // with a call of WithDataIndependentTiming
	Failed    string  `json:"failed,omitempty"`
}

// A Plan is what a check runs, in a tree with the folder Root.
type Plan struct {
	Root  string
	Quick bool      // only tests of vectors, no race detector, and few comparisons
	Log   io.Writer // what it does, and the time of each step
}

var errInterrupted = errors.New("interrupted")

// Run does all steps, and calls save after each: r then has what is known. A step that finds a fault does
// not end the run, see [Report.Err].
func (p *Plan) Run(ctx context.Context, r *Report, save func() error) error {
	steps := []func(context.Context, *Report){}
	for _, m := range modules {
		steps = append(steps, func(ctx context.Context, r *Report) { p.test(ctx, r, m) })
	}
	if !p.Quick {
		steps = append(steps, p.race)
	}
	steps = append(steps, p.models, p.dit)
	for _, step := range steps {
		step(ctx, r)
		r.OnlyHere = outcomes(r.Tests)
		if err := save(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	return nil
}

func (p *Plan) logf(format string, args ...any) { fmt.Fprintf(p.Log, "fastmac: "+format+"\n", args...) }

// command returns a command of the go command in a folder of the tree, and how it is written there.
func (p *Plan) command(ctx context.Context, folder string, args ...string) (cmd *exec.Cmd, text string) {
	cmd = exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(p.Root, folder)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second // for programs that it has started
	words := append([]string{"go", args[0]}, args[1:]...)
	if folder != "." {
		words = append([]string{"go", args[0], "-C", filepath.ToSlash(folder)}, args[1:]...)
	}
	for i, w := range words {
		if strings.ContainsAny(w, "^$ ") {
			words[i] = "'" + w + "'"
		}
	}
	return cmd, strings.Join(words, " ")
}

// seconds is the time since a start, to tenths.
func seconds(start time.Time) float64 { return math.Round(10*time.Since(start).Seconds()) / 10 }

// models compares the models.
func (p *Plan) models(ctx context.Context, r *Report) {
	trials := 20_000
	if p.Quick {
		trials = 500
	}
	cmd, text := p.command(ctx, "internal/assurance", "run", "./verify", "-arch", runtime.GOARCH, "-function", "^$", "-trials", strconv.Itoa(trials))
	p.logf("comparing the models of the proofs with the CPU, about a minute: %s", text)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r.Models = parseModels(stdout.String(), runtime.GOARCH)
	r.Models.Command, r.Models.Seconds, r.Models.Failed = text, seconds(start), failure(err, stderr.String())
	p.logf("%s, %.0f s", r.Models, r.Models.Seconds)
}

var modelLine = regexp.MustCompile(`^Models: (\d+) comparisons `)

// parseModels finds what command verify prints about the models of an architecture.
func parseModels(text, arch string) *Models {
	m := new(Models)
	here, below := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch found := modelLine.FindStringSubmatch(line); {
		case line == "amd64" || line == "arm64":
			here, below = line == arch, false
		case !here:
		case found != nil:
			m.Comparisons, _ = strconv.Atoi(found[1])
			below = true
		case line == "":
			below = false
		case below && strings.Contains(line, "NOT COMPARED"):
			missing, _, _ := strings.Cut(line, ". ") // without where they were compared
			m.Missing = append(m.Missing, missing)
		case below:
			m.Compared = append(m.Compared, line)
		}
	}
	if m.Comparisons == 0 && m.Missing == nil {
		m.Missing = []string{"nothing was compared for " + arch}
	}
	return m
}

// failure returns what a command that has failed says on standard error, or "".
func failure(err error, stderr string) string {
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if strings.HasPrefix(lines[len(lines)-1], "exit status ") { // from go run
		lines = lines[:len(lines)-1]
	}
	if text := tail(strings.TrimSpace(strings.Join(lines, "\n"))); text != "" {
		return strings.TrimPrefix(text, "fastmac: ")
	}
	return err.Error()
}

// dit looks at DIT.
func (p *Plan) dit(ctx context.Context, r *Report) {
	cmd, text := p.command(ctx, "internal/assurance", "run", "./timing/dit")
	p.logf("looking at DIT: %s", text)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	r.DIT = new(DIT)
	if bad := json.Unmarshal(stdout.Bytes(), r.DIT); err == nil {
		err = bad
	}
	r.DIT.Failed = failure(err, stderr.String())
	p.logf("%s, %.0f s", r.DIT, seconds(start))
}

// Err returns an error that names the faults that were found, or nil.
func (r *Report) Err() error {
	var faults []string
	var failed []Test
	for _, t := range r.Tests {
		failed = append(failed, t.Failed...)
	}
	if failed != nil {
		faults = append(faults, "tests failed: "+names(failed))
	}
	if r.Models != nil && r.Models.Failed != "" {
		faults = append(faults, "models: "+firstLine(r.Models.Failed))
	}
	if r.DIT != nil && r.DIT.Failed != "" {
		faults = append(faults, "DIT: "+firstLine(r.DIT.Failed))
	}
	if faults == nil {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// Lines are what readers are told.
func (r *Report) Lines() (lines []string) {
	for _, t := range r.Tests {
		lines = append(lines, fmt.Sprintf("`%s`: %s", t.Command, t))
		for _, f := range t.Failed {
			lines = append(lines, "FAILED: "+f.String())
		}
		for _, s := range t.Skipped {
			if t.race() { // far more, because they are the short tests
				break
			}
			lines = append(lines, fmt.Sprintf("skipped: %s: %s", s, firstLine(s.Output)))
		}
	}
	for _, o := range r.OnlyHere {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", o.name(), o.Why, o.Outcome))
	}
	if r.Models != nil {
		lines = append(lines, "Models: "+r.Models.String())
		for _, m := range r.Models.Missing {
			lines = append(lines, "Models: "+m)
		}
	}
	if r.DIT != nil {
		lines = append(lines, "DIT: "+r.DIT.String())
	}
	return lines
}

func (m *Models) String() string {
	switch {
	case m == nil:
		return "not compared"
	case m.Failed != "":
		return "FAILED: " + firstLine(m.Failed)
	case m.Comparisons == 0:
		return "not compared"
	case len(m.Missing) > 0:
		return fmt.Sprintf("%d comparisons, no difference, some NOT COMPARED", m.Comparisons)
	}
	return fmt.Sprintf("%d comparisons, no difference", m.Comparisons)
}

func (d *DIT) String() string {
	switch {
	case d == nil:
		return "not looked at"
	case d.Failed != "":
		return "FAILED: " + firstLine(d.Failed)
	case d.Missing != "":
		return d.Missing
	}
	return fmt.Sprintf("set inside WithDataIndependentTiming only; a tag of 64 bytes takes %.1f ns outside, %.1f inside, and %.1f with a call for each", d.NSOutside, d.NSInside, d.NSEach)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// tail returns the end of a long text.
func tail(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return "[...]" + strings.ToValidUTF8(s[len(s)-most:], "")
}
