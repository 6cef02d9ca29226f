// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A report is an error in the log of valgrind.
type report struct {
	kind  string
	stack []frame // the top first
}

type frame struct {
	function string
	file     string // with its path, or empty
	line     int
}

// Kinds of reports.
const (
	branch  = "a branch"
	address = "an address"
)

var (
	// As in "==42== Use of uninitialised value of size 8". Lines of a stack begin with spaces.
	header = regexp.MustCompile(`^==\d+== (\S.*)$`)
	// As in "==42==    by 0x4CFCBD: main.main (/tmp/main.go:3)", or with "(in /tmp/main)".
	caller = regexp.MustCompile(`^==\d+==    (?:at|by) 0x[0-9A-F]+: (.*?)(?: \((/.*):(\d+)\)| \(in /.*\))?$`)
)

// parse returns the reports of branches and addresses in the log of valgrind. The others, such as
// accesses to memory that was not allocated, are about how the runtime uses memory.
func parse(log string) (reports []report) {
	var last *report
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if m := header.FindStringSubmatch(line); m != nil {
			switch {
			case strings.HasPrefix(m[1], "Conditional jump or move depends on uninitialised value"):
				reports = append(reports, report{kind: branch})
			case strings.HasPrefix(m[1], "Use of uninitialised value"):
				reports = append(reports, report{kind: address})
			default:
				last = nil
				continue
			}
			last = &reports[len(reports)-1]
		} else if m := caller.FindStringSubmatch(line); m != nil && last != nil {
			number, _ := strconv.Atoi(m[3]) // 0 if the line is not known
			last.stack = append(last.stack, frame{m[1], m[2], number})
		}
	}
	return reports
}

// An expectation is a report that must appear, and is not a finding.
type expectation struct {
	what string // and why it is not a finding
	kind string
	on   func(v variant) bool // the variants in which it must appear, all if nil

	// Where the report comes from, unless these are empty: the function, the line of source, and
	// a function on the stack.
	function, line, below string
}

func withStdGCM(v variant) bool    { return strings.HasSuffix(v.kernels, "/stdlib") }
func withGCM(v variant) bool       { return !strings.HasSuffix(v.kernels, "/none") && !withStdGCM(v) }
func withAESTables(v variant) bool { return strings.HasSuffix(v.kernels, "/none") }

var expected = []expectation{
	{
		what: "gcm.(*Key).Open branches on the result of Equal, whether a tag is right, which is public",
		kind: branch, on: withGCM,
		function: "example.com/fastmac/internal/gcm.(*Key).Open", line: "if !Equal(&got, &b.tag) {",
	},
	{
		what: "crypto/cipher branches on whether a tag is right, which is public",
		kind: branch, on: withStdGCM, function: "crypto/internal/fips140/aes/gcm.open",
	},
	{
		what: "packet.(*window).judge branches on whether a tag is right, which is public; it has no secrets",
		kind: branch, function: "example.com/fastmac/packet.(*window).judge",
	},
	{
		what: "packet.(*client).Answer branches on whether the tag of an answer is right, which is public",
		kind: branch, function: "example.com/fastmac/packet.(*client).Answer",
	},
	{
		what: "packet.(*server).Answer branches on whether the tag of a hello is right, which is public",
		kind: branch, function: "example.com/fastmac/packet.(*server).Answer",
	},
	{
		what: "packet.(*server).Open branches on whether an opening is right, which is public",
		kind: branch, function: "example.com/fastmac/packet.(*server).Open",
	},
	{
		what: "packet.(*server).try branches on whether the tag of an opening is right, which is public",
		kind: branch, function: "example.com/fastmac/packet.(*server).try",
	},
	{
		what: "packet.(*Config).checkSecret branches on whether all bytes of a Secret are equal, which its error says",
		kind: branch, function: "example.com/fastmac/packet.(*Config).checkSecret",
	},
	{
		what: "crypto/aes encrypts with tables where there are no AES instructions in use: see docs/platforms.md",
		kind: address, on: withAESTables, function: "crypto/internal/fips140/aes.encryptBlockGeneric",
	},
	{
		what: "crypto/aes expands keys with tables where there are no AES instructions in use: see docs/platforms.md",
		kind: address, on: withAESTables, function: "crypto/internal/fips140/aes.expandKeyGeneric",
	},
	{what: "the probe branches on a secret, as a control", kind: branch, function: "main.leakBranch"},
	{what: "the probe uses a secret as an index, as a control", kind: address, function: "main.leakIndex"},
	{what: "the probe compares a secret with bytes.Equal, as a control", kind: branch, below: "main.leakEqual"},
}

// matches reports whether r is the report that is expected.
func (e *expectation) matches(r report) bool {
	return r.kind == e.kind &&
		(e.function == "" || r.top().function == e.function) &&
		(e.line == "" || r.top().source() == e.line) &&
		(e.below == "" || slices.ContainsFunc(r.stack, func(f frame) bool { return f.function == e.below }))
}

// A judgement is what the reports of a run mean.
type judgement struct {
	findings []string
	expected map[string]int // number of reports, by what they are
	runtime  int            // number of reports in the runtime, about its own memory
}

// judge judges the reports of a run.
func judge(reports []report, v variant) judgement {
	j := judgement{expected: make(map[string]int)}
	for _, r := range reports {
		r.stack = goroutine(r.stack)
		if len(r.stack) > 0 && !slices.ContainsFunc(r.stack, frame.isProgram) {
			j.runtime++
			continue
		}
		i := slices.IndexFunc(expected, func(e expectation) bool { return (e.on == nil || e.on(v)) && e.matches(r) })
		if i < 0 {
			j.findings = append(j.findings, r.String())
			continue
		}
		j.expected[expected[i].what]++
	}
	for _, e := range expected {
		if (e.on == nil || e.on(v)) && j.expected[e.what] == 0 {
			j.findings = append(j.findings, "not reported: "+e.what)
		}
	}
	return j
}

// goroutine returns the stack up to where the goroutine or thread begins. Frames that valgrind
// finds below that are left over from earlier calls.
func goroutine(stack []frame) []frame {
	for i, f := range stack {
		switch strings.TrimSuffix(f.function, ".abi0") {
		case "runtime.goexit", "runtime.mstart", "runtime.clone", "runtime.rt0_go":
			return stack[:i+1]
		}
	}
	return stack
}

// isProgram reports whether the function is not the runtime's. A function that valgrind cannot name
// counts as the program's.
func (f frame) isProgram() bool {
	name, _, _ := strings.Cut(f.function, "(")
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, _, ok := strings.Cut(name[slash:], ".")
	if !ok { // of assembly, or inlined
		return !strings.HasSuffix(path.Dir(f.file), "/src/runtime") && !strings.Contains(f.file, "/src/internal/runtime/")
	}
	pkg = name[:slash] + pkg
	return pkg != "runtime" && !strings.HasPrefix(pkg, "internal/runtime/")
}

// source returns the line of source.
func (f frame) source() string {
	content, err := os.ReadFile(f.file)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(content), "\n")
	if f.line < 1 || f.line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[f.line-1])
}

// top returns the frame that the report is about.
func (r report) top() frame {
	if len(r.stack) == 0 {
		return frame{}
	}
	return r.stack[0]
}

func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s depends on a secret: %s", r.kind, r.top().source())
	for _, f := range r.stack {
		fmt.Fprintf(&b, "\n\t%s %s:%d", f.function, f.file, f.line)
	}
	return b.String()
}
