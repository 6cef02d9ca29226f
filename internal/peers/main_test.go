// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"-h", exitOK, ""},
		{"-nonsense", exitUsage, "fastmac: flag provided but not defined: -nonsense\n"},
		{"-o", exitUsage, "fastmac: flag needs an argument: -o\n"},
		{"extra", exitUsage, "fastmac: unexpected argument \"extra\"\n"},
		{"-chart a -markdown b", exitUsage, "fastmac: -markdown, -chart and -bars measure nothing"},
		{"-chart a -quick", exitUsage, "fastmac: -markdown, -chart and -bars measure nothing"},
		{"-chart testdata/none.json", exitFailed, "fastmac: results: open testdata/none.json: "},
		{"-markdown main_test.go", exitFailed, "fastmac: results main_test.go: invalid character"},
		{"-o none/results.json", exitFailed, "fastmac: results: stat none: "},
		{"-chart " + sample, exitOK, ""},
		{"-bars " + sample, exitOK, ""},
		{"-markdown " + sample, exitOK, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := mainWith(t.Context(), strings.Fields(test.args), &stdout, &stderr)
		if code != test.code || !strings.HasPrefix(stderr.String(), test.stderr) || (test.stderr == "") != (stderr.Len() == 0) {
			t.Errorf("%s: exit status %d, want %d; stderr %q, want %q", test.args, code, test.code, stderr.String(), test.stderr)
		}
		if (code == exitOK) != (stdout.Len() > 0) {
			t.Errorf("%s: exit status %d and stdout %q", test.args, code, stdout.String())
		}
	}
}

// TestMeasureAll measures where there is nothing but this program: no compiler,
// no git, no go.
func TestMeasureAll(t *testing.T) {
	t.Setenv("PATH", "")
	path := filepath.Join(t.TempDir(), "results.json")
	o := options{out: path, quick: true, fakeboboliu: t.TempDir()}
	var stdout, stderr bytes.Buffer
	if err := measureAll(t.Context(), o, []string{"-quick", "-o", "a b.json"}, []group{testGroup}, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	r, err := readResults(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(r); got != stdout.String() {
		t.Errorf("printed:\n%s\nthe file says:\n%s", stdout.String(), got)
	}
	if !strings.HasSuffix(r.Command, "go run -C internal/peers . -quick -o 'a b.json'") {
		t.Errorf("command %q", r.Command)
	}
	if r.Commit != "unknown" || r.Rounds != 3 || len(r.LeftOut) != 9 || r.CPU == "" || r.Kernels.NH == "" {
		t.Errorf("results %+v", r)
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "fastmac: ") {
			t.Errorf("stderr: %q", line)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "fastmac-peers-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if _, err := os.Stat(filepath.Join(dir, "c")); err == nil {
			t.Logf("there is %s", dir) // perhaps of another run that is under way
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":                "''",
		"-o":              "-o",
		"cpu.avx512f=off": "cpu.avx512f=off",
		"a b":             "'a b'",
		"it's":            `'it'\''s'`,
		"$x":              "'$x'",
	} {
		if got := quote(s); got != want {
			t.Errorf("quote(%q) = %s, want %s", s, got, want)
		}
	}
}
