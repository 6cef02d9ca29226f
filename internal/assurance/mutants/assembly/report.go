// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/origin"
)

// report writes the outcomes of all mutants.
func (s *session) report(w io.Writer) {
	fmt.Fprintf(w, "Mutants of the assembly, %s, commit %s, %s, %s\n", time.Now().UTC().Format(time.DateOnly), s.commit, origin.CPU(), runtime.Version())
	fmt.Fprintf(w, "go run -C internal/assurance ./mutants/assembly -sample %d -seed %d -function '%s'\n\n", s.sample, s.seed, s.match)
	if s.resumed > 0 {
		fmt.Fprintf(w, "%d outcomes are from earlier runs with the same log, which may be of other commits.\n\n", s.resumed)
	}
	fmt.Fprintln(w, strings.TrimSpace(explanation))
	fmt.Fprintln(w)
	s.totals(w, "drop", func(m *mutant) bool { return m.kind == drop })
	s.totals(w, "alteration", func(m *mutant) bool { return m.kind != drop })
	s.kinds(w)
	for _, list := range []struct{ what, how string }{
		{"Open: no test kills these, and command verify says neither that they are wrong nor that they are equivalent", undecided + tested},
		{"Undecided: command verify has no verdict, and there was no time for all tests", undecided},
		{"Undecided: there was time for the fast tests only", survived},
		{"Undecided: no test executes these", unreached},
		{"Refused by command verify. No test of at most 0.6 s kills these", refused + tested},
		{"Refused by command verify. There was time for the fast tests only", refused},
		{"Equivalent: the proofs of command verify hold for all sizes that are proved, and its check for constant time finds nothing", proved},
		{"Equivalent for what the instruction is, or for checks that no test lets fail", known},
	} {
		s.list(w, list.what, s.with(list.how))
	}
}

// list writes mutants, those of one function and reason in a line.
func (s *session) list(w io.Writer, what string, all []*mutant) {
	fmt.Fprintf(w, "\n%s: %d\n", what, len(all))
	type line struct {
		f   *function
		why string
	}
	var lines []line
	texts := make(map[line][]string)
	for _, m := range all {
		l := line{m.function, ""}
		if o := s.outcomes[m]; o.how == known || strings.HasPrefix(o.how, undecided) {
			l.why = clip(o.test)
		}
		if texts[l] == nil {
			lines = append(lines, l)
		}
		text := m.instruction.text
		if m.kind != drop {
			text += " -> " + m.text
		}
		texts[l] = append(texts[l], text)
	}
	for _, l := range lines {
		fmt.Fprintf(w, "  %s, %d: %s%s\n", l.f.name, len(texts[l]), l.why+strings.Repeat(": ", min(1, len(l.why))), counted(texts[l]))
	}
}

// counted returns texts side by side, each once.
func counted(texts []string) string {
	times := make(map[string]int)
	var parts []string
	for _, t := range texts {
		times[t]++
	}
	for _, t := range texts {
		switch n := times[t]; {
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s (%d times)", t, n))
		case n == 1:
			parts = append(parts, t)
		}
		times[t] = 0
	}
	return strings.Join(parts, "; ")
}

const explanation = `
Each instruction of each function is dropped: it is replaced with NOPs of the same length. One
instruction of each form in each function is altered in so many ways as -sample, at random, that
keep the length: another register, source, immediate, offset, mask, width of lanes or of the
vector, operation or condition. A mutant is killed if a test that executes the instruction fails
(fail), if the process dies otherwise (crash) or uses too much time of the CPU (time), or, with
the line removed, if a test that reads the .s files fails (source). The tests are those of -short
of the packages internal/kernel, internal/aes, internal/gcm, internal/sha512, aesgcm,
internal/conformance, internal/memory and the root, without those that start processes. Those that
have killed mutants of the function run first, and then the fastest that execute the instruction,
for at most 0.2 s of the CPU in all. Command verify has a verdict on each survivor, from its check
for constant time and its proofs, in at most two minutes: it is refused, equivalent for all sizes
that are proved (proved), or undecided. Refused also means that command verify has no model of the
instruction, or of the addresses. What is refused has more tests, of at most 0.6 s, and what is
undecided has all tests. What command verify refuses and these tests do not kill is in the column
refused; .ci/run has command verify and all tests. The column class has prefetches, frame
pointers, and the check whether the stack has room, which it always has in the tests. All else is
open, or untried for lack of time.
`

// kinds writes how many alterations of each kind have each outcome.
func (s *session) kinds(w io.Writer) {
	count := make(map[string]map[string]int)
	for _, m := range s.mutants {
		if m.kind != drop {
			if count[m.kind] == nil {
				count[m.kind] = make(map[string]int)
			}
			count[m.kind][s.outcomes[m].column()]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		var parts []string
		for _, c := range columns {
			if n := count[kind][c]; n > 0 {
				parts = append(parts, fmt.Sprintf("%s %d", c, n))
			}
		}
		fmt.Fprintf(w, "alterations of %s: %s\n", kind, strings.Join(parts, ", "))
	}
}

var columns = []string{failed, crashed, timeOut, inSource, refused, proved, known, "open", "untried"}

// column returns that of the table that an outcome belongs to.
func (o outcome) column() string {
	if how := strings.TrimSuffix(o.how, tested); slices.Contains(columns, how) {
		return how
	}
	if o.how == "" {
		return "untried"
	}
	return "open"
}

// totals writes a table with a line for each function.
func (s *session) totals(w io.Writer, what string, include func(m *mutant) bool) {
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
				how := s.outcomes[m].column()
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
