// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report writes the outcomes of all mutants.
func (s *session) report(w io.Writer) error {
	commit, err := output("git", "-C", s.root, "rev-parse", "--short", "HEAD")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Mutants of the assembly, %s, commit %s, %s, %s\n", time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(commit), cpuModel(), runtime.Version())
	fmt.Fprintf(w, "go run -C internal/asm ./mutate -sample %d -seed %d -function '%s'\n\n", s.sample, s.seed, s.match)
	fmt.Fprintln(w, strings.TrimSpace(explanation))

	fmt.Fprintln(w)
	reasons := make(map[string][]*mutant)
	var open, undecided []*mutant
	for _, m := range s.mutants {
		switch o := s.outcomes[m]; o.how {
		case known, proved, argued:
			reasons[o.reason()] = append(reasons[o.reason()], m)
		case unproved, unreached:
			open = append(open, m)
		case survived, "":
			undecided = append(undecided, m)
		}
	}
	s.totals(w, "drop", func(m *mutant) bool { return m.kind == drop })
	s.totals(w, "alteration", func(m *mutant) bool { return m.kind != drop })

	fmt.Fprintf(w, "Open: no test kills these %d, and they are not shown to be equivalent\n\n", len(open))
	for _, m := range open {
		fmt.Fprintf(w, "%s | %s\n", m, cmp.Or(clip(s.outcomes[m].test), s.outcomes[m].how))
	}
	fmt.Fprintf(w, "\nUndecided: the fast tests do not kill these %d; there was no time for proofs and other tests\n\n", len(undecided))
	for _, m := range undecided {
		fmt.Fprintf(w, "%s\n", m)
	}
	fmt.Fprintf(w, "\nEquivalent, by reason\n")
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(len(reasons[b])-len(reasons[a]), strings.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "\n%d: %s\n", len(reasons[name]), name)
		for _, m := range reasons[name] {
			fmt.Fprintf(w, "  %s\n", m)
		}
	}
	return nil
}

const explanation = `
Each instruction of each function is dropped: it is replaced with NOPs of the same length. One
instruction of each form in each function is altered in so many ways as -sample, at random, that
keep the length: another register, source, immediate, offset, mask, width of lanes or of the
vector, operation or condition. A mutant is killed if a test that executes the instruction fails
(fail), if the process dies otherwise (crash) or uses too much time of the CPU (time), or, with
the line removed, if a test that reads the .s files fails (source). The tests are those of -short
of the packages internal/aesni, internal/gcm, internal/sha512, aesgcm and the root, without those
that start processes. Survivors of the tests that take
up to 150 ms also have all that take up to 500 ms. All others are equivalent, open or undecided.
`

// reason says why a mutant is equivalent.
func (o outcome) reason() string {
	switch {
	case o.how != proved:
		return o.test
	case o.test == "":
		return "the proofs of the function hold, and no secret leaks (command verify)"
	}
	return o.test
}

// totals writes a table with a line for each function.
func (s *session) totals(w io.Writer, what string, include func(m *mutant) bool) {
	columns := []string{failed, crashed, timeOut, inSource, proved, known, argued, "open", "undecided"}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%ss of\tinstructions\tmutants\t%s\t\n", what, strings.Join(columns, "\t"))
	sum := make(map[string]int)
	instructions, mutants := 0, 0
	line := func(name string, instructions, mutants int, count map[string]int) {
		fmt.Fprintf(table, "%s\t%d\t%d\t", name, instructions, mutants)
		for _, c := range columns {
			fmt.Fprintf(table, "%d\t", count[c])
		}
		fmt.Fprintln(table)
	}
	for _, f := range s.functions {
		count, n := make(map[string]int), 0
		for _, m := range s.mutants {
			if m.function == f && include(m) {
				n++
				how := s.outcomes[m].how
				switch {
				case how == "" || how == survived: // the fast tests, and there was no time for more
					how = "undecided"
				case !slices.Contains(columns, how):
					how = "open"
				}
				count[how]++
				sum[how]++
			}
		}
		if n > 0 {
			line(f.name, len(f.code), n, count)
			instructions, mutants = instructions+len(f.code), mutants+n
		}
	}
	line("all", instructions, mutants, sum)
	table.Flush()
	fmt.Fprintln(w)
}

// clip returns the first part of a verdict.
func clip(s string) string {
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// cpuModel returns the name of the CPU, with family and model.
func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	value := func(key string) string {
		if m := regexp.MustCompile(`(?m)^` + key + `\s*: (.*)$`).FindSubmatch(info); m != nil {
			return string(m[1])
		}
		return "?"
	}
	return fmt.Sprintf("%s (family %s model %s)", value("model name"), value("cpu family"), value("model"))
}
