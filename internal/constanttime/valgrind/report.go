// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A report is an error in the XML of valgrind, as far as it is needed.
type report struct {
	Kind  string  `xml:"kind"`
	Stack []frame `xml:"stack>frame"` // the top first
}

type frame struct {
	Function string `xml:"fn"`
	Folder   string `xml:"dir"`
	File     string `xml:"file"`
	Line     int    `xml:"line"`
}

// Kinds of reports: a branch and an address.
const (
	branch  = "UninitCondition"
	address = "UninitValue"
)

// parse returns the reports of branches and addresses in the XML of valgrind. Other reports,
// such as accesses to memory that was not allocated, are about how the runtime uses memory.
func parse(text []byte) (reports []report, err error) {
	var output struct {
		Errors []report `xml:"error"`
	}
	if err := xml.Unmarshal(text, &output); err != nil {
		return nil, fmt.Errorf("XML of valgrind: %w", err)
	}
	for _, r := range output.Errors {
		if r.Kind == branch || r.Kind == address {
			reports = append(reports, r)
		}
	}
	return reports, nil
}

// An expectation is a report that must be there and is not a finding.
type expectation struct {
	what string // and why it is not a finding
	kind string
	on   func(v variant) bool // the variants in which it must be there, all if nil

	// The report is at this line of this function, or, for empty strings, anywhere in it.
	function string
	line     string
	// below is a function that has called function, directly or not.
	below string

	control bool // it must be there even if only some operations run
}

func withGCM(v variant) bool       { return !strings.HasSuffix(v.kernels, "/none") }
func withAESTables(v variant) bool { return strings.Contains(v.kernels, "/stdlib/") && !withGCM(v) }

var expected = []expectation{
	{
		what: "gcm.(*Key).Open branches on the result of subtle.ConstantTimeCompare, whether a tag is right, which is public",
		kind: branch, on: withGCM,
		function: "example.com/fastmac/internal/gcm.(*Key).Open", line: "if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {",
	},
	{
		what: "crypto/aes encrypts with tables where there are no AES instructions in use: see SECURITY.md",
		kind: address, on: withAESTables, function: "crypto/internal/fips140/aes.encryptBlockGeneric", control: true,
	},
	{
		what: "crypto/aes expands keys with tables where there are no AES instructions in use: see SECURITY.md",
		kind: address, on: withAESTables, function: "crypto/internal/fips140/aes.expandKeyGeneric", control: true,
	},
	{what: "the probe branches on a secret, as a control", kind: branch, function: "main.leakBranch", control: true},
	{what: "the probe uses a secret as an index, as a control", kind: address, function: "main.leakIndex", control: true},
	{what: "the probe compares a secret with bytes.Equal, as a control", kind: branch, below: "main.leakEqual", control: true},
}

// is reports whether r is the report that is expected.
func (e *expectation) is(r report) bool {
	top := r.Stack[0]
	return r.Kind == e.kind &&
		(e.function == "" || top.Function == e.function) &&
		(e.line == "" || strings.Contains(top.source(), e.line)) &&
		(e.below == "" || slices.ContainsFunc(r.Stack, func(f frame) bool { return f.Function == e.below }))
}

// A judgement is what the reports of a run mean.
type judgement struct {
	findings []string
	expected map[string]int // numbers of reports, by what they are
	runtime  int            // reports of the runtime, about its own memory
}

// judge judges the reports of a run. If all operations have run, all that is expected must be
// there.
func judge(reports []report, v variant, all bool) judgement {
	j := judgement{expected: make(map[string]int)}
	for _, r := range reports {
		r.Stack = goroutine(r.Stack)
		if !slices.ContainsFunc(r.Stack, frame.isProgram) {
			j.runtime++
			continue
		}
		i := slices.IndexFunc(expected, func(e expectation) bool { return (e.on == nil || e.on(v)) && e.is(r) })
		if i < 0 {
			j.findings = append(j.findings, r.String())
			continue
		}
		j.expected[expected[i].what]++
	}
	for _, e := range expected {
		if (e.on == nil || e.on(v)) && (all || e.control) && j.expected[e.what] == 0 {
			j.findings = append(j.findings, "not reported: "+e.what)
		}
	}
	return j
}

// goroutine returns the stack up to where the goroutine or thread begins. What valgrind finds
// below are remains.
func goroutine(stack []frame) []frame {
	for i, f := range stack {
		switch strings.TrimSuffix(f.Function, ".abi0") {
		case "runtime.goexit", "runtime.mstart", "runtime.clone", "runtime.rt0_go":
			return stack[:i+1]
		}
	}
	return stack
}

// isProgram reports whether the function is not the runtime's. Those that valgrind does not
// know are the program's, too.
func (f frame) isProgram() bool {
	name, _, _ := strings.Cut(f.Function, "(")
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, _, ok := strings.Cut(name[slash:], ".")
	if !ok { // of assembly, or inlined
		return !strings.HasSuffix(f.Folder, "/src/runtime") && !strings.Contains(f.Folder, "/src/internal/runtime/")
	}
	pkg = name[:slash] + pkg
	return pkg != "runtime" && !strings.HasPrefix(pkg, "internal/runtime/")
}

// source returns the line of source.
func (f frame) source() string {
	text, err := os.ReadFile(filepath.Join(f.Folder, f.File))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if f.Line < 1 || f.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[f.Line-1])
}

func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s depends on a secret: %s", map[string]string{branch: "a branch", address: "an address"}[r.Kind], r.Stack[0].source())
	for _, f := range r.Stack {
		fmt.Fprintf(&b, "\n\t%s %s:%d", f.Function, f.File, f.Line)
	}
	return b.String()
}
