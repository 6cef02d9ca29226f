// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/x86"
)

// TestCompare alters the source of each function. Each change must be noticed.
func TestCompare(t *testing.T) {
	p := linkedProgram(t)
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readSources(x86.Architecture, root, nil)
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
	p, err := Linked(x86.Architecture)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOtherBuilds has files with which other builds would have other code than the one that is
// checked.
func TestOtherBuilds(t *testing.T) {
	const good = "//go:build !purego\n\n#include \"textflag.h\"\n\nTEXT ·f(SB), NOSPLIT, $0-8\nagain:\n\tJMP again\n\tRET\n"
	with := func(line string) string { return strings.Replace(good, "\tRET\n", "\t"+line+"\n\tRET\n", 1) }
	for what, files := range map[string]map[string]string{
		"other builds may have other code": {"f_amd64.s": with("#ifdef GOAMD64_v3")},
		"want one statement":               {"f_amd64.s": with("/**/ #ifdef GOAMD64_v3 // :")},
		"without a comment or a macro":     {"f_amd64.s": with("MOVQ $0, AX // $1")},
		"build":                            {"f_amd64.s": strings.Replace(good, "!purego", "amd64.v3", 1)},
		"all builds for amd64":             {"f_linux_amd64.s": good},
		"want a name":                      {"f.s": good},
		"f is there twice":                 {"f_amd64.s": good, "g_amd64.s": good},
		"in place of Go's":                 {"f_amd64.s": good, "textflag.h": "#define RET NOP\n"},
		"code without a source":            {"f_amd64.s": good, "f.syso": ""},
		"cannot parse":                     {"f_amd64.s": strings.Replace(good, "·f(SB)", "·f<ABIInternal>(SB)", 1)},
		"0 functions":                      {"f_amd64.s": "//go:build !purego\n"},
		"":                                 {"f_amd64.s": good},
	} {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sources, err := readSources(x86.Architecture, dir, nil)
		if (err == nil) != (what == "") || err != nil && !strings.Contains(err.Error(), what) {
			t.Errorf("%v: error %v, want %q", files, err, what)
		}
		if err == nil && (len(sources) != 1 || sources[0].arguments != 8 || len(sources[0].lines) != 2) {
			t.Errorf("%d sources: %+v", len(sources), sources)
		}
	}
}
