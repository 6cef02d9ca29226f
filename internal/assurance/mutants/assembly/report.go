// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"example.com/fastmac/internal/origin"
)

// report writes the outcomes of all mutants.
func (s *session) report(w io.Writer, commit string) {
	fmt.Fprintf(w, "Mutants of the assembly, %s, commit %s, %s, %s\n", time.Now().UTC().Format(time.DateOnly), commit, origin.CPU(), runtime.Version())
	fmt.Fprintf(w, "go run -C internal/assurance ./mutants/assembly -arch %s -every %d -sample %d -seed %d -emulate %d -function '%s'\n\n", s.architecture.Name, s.every, s.sample, s.seed, s.emulate, s.match)
	if s.resumed > 0 {
		fmt.Fprintf(w, "%d outcomes are from earlier runs with the same log, which may be of other commits.\n\n", s.resumed)
	}
	if s.isEmulated() {
		fmt.Fprintln(w, strings.TrimSpace(emulated))
	} else {
		fmt.Fprintln(w, strings.TrimSpace(explanation))
	}
	fmt.Fprintln(w)
	s.totals(w, "drops of", func(m *mutant) (string, bool) { return m.function.Name, m.kind == drop })
	s.totals(w, "alterations of", func(m *mutant) (string, bool) { return m.function.Name, m.kind != drop })
	s.totals(w, "kind", func(m *mutant) (string, bool) { return m.kind, true })
	for _, list := range []struct{ what, how string }{
		{"Open: no test kills these, and the proofs say neither that they are wrong nor that they are equivalent", undecided + tested},
		{"Open: the proofs hold, and a test fails", disputed},
		{"Undecided: the proofs have no verdict, and there was no time for all tests", undecided},
		{"The known answers do not notice these, and tags are wrong, or the process dies", wrong},
		{"Undecided: there was time for the fast tests only", survived},
		{"Undecided: no test executes these", unreached},
		{"Refused by the proofs. No test of those that ran for longer kills these", refused + tested},
		{"Refused by the proofs. There was time for the fast tests only", refused},
		{"Equivalent: the proofs hold for all sizes that are proved, and the check for constant time finds nothing", proved},
		{"Equivalent, and the tests in qemu hold too", proved + tested},
		{"Equivalent for what the instruction is, or for checks that no test lets fail", known},
	} {
		if list.how == refused && s.isEmulated() {
			continue // nearly all
		}
		s.list(w, list.what, s.with(list.how))
	}
}

// list writes mutants, those of one function and reason in a line.
func (s *session) list(w io.Writer, what string, mutants []*mutant) {
	fmt.Fprintf(w, "%s: %d\n", what, len(mutants))
	type line struct{ function, why string }
	var lines []line
	texts := make(map[line][]string)
	for _, m := range mutants {
		l, text := line{function: m.function.Name}, m.Text
		if o := s.outcomes[m]; o.How == known || o.How == disputed || strings.HasPrefix(o.How, undecided) {
			l.why = clip(o.Test) + ": "
		}
		if m.kind != drop {
			text += " -> " + m.becomes
		}
		if texts[l] == nil {
			lines = append(lines, l)
		}
		texts[l] = append(texts[l], text)
	}
	for _, l := range lines {
		fmt.Fprintf(w, "  %s, %d: %s%s\n", l.function, len(texts[l]), l.why, counted(texts[l]))
	}
	fmt.Fprintln(w)
}

// counted returns texts side by side, each once.
func counted(texts []string) string {
	times := make(map[string]int)
	var parts []string
	for _, t := range texts {
		if times[t]++; times[t] == 1 {
			parts = append(parts, t)
		}
	}
	for k, t := range parts {
		if times[t] > 1 {
			parts[k] = fmt.Sprintf("%s (%d times)", t, times[t])
		}
	}
	return strings.Join(parts, "; ")
}

const explanation = `
Each instruction of each function, or one of so many as -every says, at random, is dropped: it is
replaced with NOPs of the same length. One instruction of each form in each function is altered at
random in as many ways as -sample says. An alteration flips one or two bits of a byte, exchanges two
registers, or takes a prefix REX.W away. It is named after what the decoder then sees: another
register, immediate, offset, scale, mask, zeroing, broadcast, width of lanes or operands, length of
vectors, operation or condition, or exchanged operands (swap). Bytes that package x86 refuses to
decode, because a disassembler and a CPU may see them differently, are not made, and neither are
alterations that are known to do the same. A mutant is killed if a test that executes the
instruction fails (fail), if the process dies otherwise (crash) or uses too much time of the CPU
(time), or, with the line removed, if a test that reads the .s files fails (source). The tests are
those of -short of the packages internal/kernel, internal/aes, internal/gcm, internal/sha1,
internal/sha2, aesgcm, internal/conformance, internal/memory and the root, without those that start
processes. Those that have killed mutants of the function run first, and then the fastest that
execute the instruction, for at most 0.2 s of the CPU in all. Each survivor is given to the check
for constant time and the proofs of package proofs, for at most two minutes: it is refused,
equivalent for all sizes that are proved (proved), or undecided. Refused also means that there is no
model of the instruction, or of the addresses. What is refused has more tests, of at most 0.6 s, and
what is undecided has all tests. What is refused and these tests do not kill is in the column
refused; .ci/run has command verify and all tests. The column class has prefetches, frame pointers,
and the check whether the stack has room, which it always has in the tests. All else is open, or
untried for lack of time.
`

const emulated = `
Each instruction of each function, or one of so many as -every says, at random, is dropped: it is
replaced with a NOP. One instruction of each form in each function is altered at random in as many
ways as -sample says: one or two bits of a byte are flipped, or two registers exchanged, so that
package arm64 decodes something else. Each mutant is given to the check for constant time and the
proofs, for at most two minutes: it is refused, equivalent for all sizes that are proved (proved),
or undecided. Refused also means that there is no model of the instruction, or of the addresses.
What the proofs hold is killed if, with the line removed, a test that reads the .s files fails
(source): TestVectorsWiped, which also looks for V16 and V17, with which Go code copies. On so many
mutants as -emulate says, half of them refused and half equivalent, as far as there are so many,
those tests of the package run in qemu that take seconds: a test fails (fail), the process dies
otherwise (crash), or it uses too much time of the CPU (time). The column refused has what is
refused and either not killed by these tests or not tried.
`

var columns = []string{failed, crashed, timeOut, inSource, refused, proved, known, "open", "untried"}

// column returns that of the table that an outcome belongs to.
func (o outcome) column() string {
	if how := strings.TrimSuffix(o.How, tested); slices.Contains(columns, how) {
		return how
	}
	if o.How == "" {
		return "untried"
	}
	return "open"
}

// totals writes a table of mutants, with a line for each name that by gives to some of them. Those
// to which it gives none are left out.
func (s *session) totals(w io.Writer, what string, by func(m *mutant) (string, bool)) {
	const total = "all"
	var names []string
	instructions := make(map[string]map[*instruction]bool)
	outcomes := make(map[string]map[string]int)
	for _, m := range s.mutants {
		name, ok := by(m)
		if !ok {
			continue
		}
		for _, n := range []string{name, total} {
			if outcomes[n] == nil {
				names = append(names, n)
				instructions[n], outcomes[n] = make(map[*instruction]bool), make(map[string]int)
			}
			instructions[n][m.instruction] = true
			outcomes[n][s.outcomes[m].column()]++
			outcomes[n][""]++
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tinstructions\tmutants\t%s\t\n", what, strings.Join(columns, "\t"))
	names = append(slices.DeleteFunc(names, func(n string) bool { return n == total }), total)
	for _, n := range names {
		fmt.Fprintf(table, "%s\t%d\t%d\t", n, len(instructions[n]), outcomes[n][""])
		for _, c := range columns {
			fmt.Fprintf(table, "%d\t", outcomes[n][c])
		}
		fmt.Fprintln(table)
	}
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
