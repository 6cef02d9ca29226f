// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"slices"
	"strings"
	"testing"
)

// TestCompare alters the source of each function. Each change must be noticed.
func TestCompare(t *testing.T) {
	p := linkedProgram(t)
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readSources(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]int{}
	for _, f := range p.Functions {
		s := sources[slices.IndexFunc(sources, func(s source) bool { return f.Pkg == s.pkg && f.Name == s.name })]
		original := s.lines
		try := func(what string, lines []string) {
			s.lines = lines
			if s.compare(p, f) == nil {
				t.Errorf("%s: %s is not noticed", f.Name, what)
			}
			changes[what]++
		}
		for _, c := range []struct{ what, old, new string }{
			{"another register", "X0", "X1"}, {"another register", "AX", "DX"}, {"another offset", "16(", "24("},
			{"another number", "$0x", "$0x1"}, {"another mask", "K1", "K2"}, {"another instruction", "VPADDQ ", "VPADDD "},
			{"another condition", "JNE ", "JEQ "}, {"another argument", "+8(FP)", "+16(FP)"}, {"another width", " Y", " Z"},
		} {
			if n := slices.IndexFunc(original, func(l string) bool { return strings.Contains(l, c.old) }); n >= 0 {
				lines := slices.Clone(original)
				lines[n] = strings.Replace(lines[n], c.old, c.new, 1)
				try(c.what, lines)
			}
		}
		last := len(original) - 1
		try("a line less", slices.Delete(slices.Clone(original), last/2, last/2+1))
		try("a line more", slices.Insert(slices.Clone(original), last/2, "VPADDD X9, X8, X7"))
		try("no end", original[:last])
		s.lines = original
		for name, n := range s.labels {
			if n > 0 && slices.ContainsFunc(original, func(l string) bool { return strings.HasPrefix(l, "J") && strings.HasSuffix(l, " "+name) }) {
				s.labels[name] = n - 1
				try("another target", original)
				s.labels[name] = n
				break
			}
		}
	}
	t.Log(changes)
}

// linkedProgram returns the program with all kernels.
func linkedProgram(t *testing.T) *Program {
	t.Helper()
	p, err := Linked()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
