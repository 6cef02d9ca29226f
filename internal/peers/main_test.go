// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/fastmac/internal/peers/check"
	"example.com/fastmac/internal/peers/report"
	"example.com/fastmac/internal/peers/rivals"
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
		{"-tables", exitOK, ""},
		{"-tables -page", exitUsage, "fastmac: -tables and -page allow no other flag\n"},
		{"-page -quick", exitUsage, "fastmac: -tables and -page allow no other flag\n"},
		{"-check", exitUsage, "fastmac: -check needs -o results/NAME.json, for machine NAME\n"},
		{"-o none/results.json", exitFailed, "fastmac: results: stat none: "},
		{"-only (", exitUsage, "fastmac: invalid value \"(\" for flag -only: "},
		{"-only nobody", exitFailed, "fastmac: -only nobody: nothing matches\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(test.args), &stdout, &stderr)
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
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := filepath.Join(t.TempDir(), "results.json")
	o := options{out: path, quick: true, only: regexp.MustCompile("gmac|nettle")}
	var stdout, stderr bytes.Buffer
	if err := measureAll(t.Context(), o, nil, []rivals.Group{testGroup}, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	r, err := report.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Section(r); got != stdout.String() {
		t.Errorf("printed:\n%s\nthe file says:\n%s", stdout.String(), got)
	}
	if len(r.Rows) != 2 || r.Commit != "unknown" || r.Rounds != 3 || len(r.LeftOut) != 1 || r.CPU == "" || r.Kernels.NH == "" {
		t.Errorf("results %+v", r)
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "fastmac: ") {
			t.Errorf("stderr: %q", line)
		}
	}
	o.only = regexp.MustCompile("nettle")
	if err := measureAll(t.Context(), o, nil, []rivals.Group{testGroup}, &stdout, &stderr); err == nil || !strings.HasPrefix(err.Error(), "nothing was measured: nettle left out: cc not found") {
		t.Errorf("nothing to measure: error %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %q, error %v", left, err)
	}
}

// TestInterrupted checks that a run that is interrupted leaves a file with what is known.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "results.json")
	plan := &check.Plan{Root: t.TempDir(), Log: io.Discard}
	err := measureAll(ctx, options{out: path, check: true}, plan, []rivals.Group{testGroup}, io.Discard, io.Discard)
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("error %v", err)
	}
	r, err := report.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Check == nil || len(r.Check.Tests) != 1 || len(r.LeftOut) != 1 || r.LeftOut[0] != unfinished {
		t.Errorf("results %+v", r)
	}
	if section := report.Section(r); !strings.Contains(section, unfinished) || !strings.Contains(section, "NOT RUN: interrupted") {
		t.Errorf("printed:\n%s", section)
	}
}

// TestTables checks that the tables of all results are printed.
func TestTables(t *testing.T) {
	var out strings.Builder
	if err := printTables(&out, "results"); err != nil {
		t.Fatal(err)
	}
	all, err := report.ReadAll("results")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if !strings.Contains(out.String(), "\n"+report.Section(r)) {
			t.Errorf("no section of %s", r.Name)
		}
	}
	if err := printTables(&out, t.TempDir()); err == nil {
		t.Error("tables without results")
	}
}

// TestPage checks that the chart and the tables of documents in the tree are made from the results.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := writePage("results", dir, "../..", dir); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"chart.svg": "../../assets/chart.svg"}
	for _, name := range withTables {
		files[name] = filepath.Join("../..", name)
	}
	for made, file := range files {
		got, err := os.ReadFile(filepath.Join(dir, made))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go run -C internal/peers . -page, and look at it", file)
		}
		if made != "chart.svg" && !bytes.Contains(want, []byte("<!-- table: ")) {
			t.Errorf("%s has no table", file)
		}
	}
	if err := writePage(dir, dir, dir, dir); err == nil || err.Error() != "fastmac: no results in "+dir {
		t.Errorf("without results: error %v", err)
	}
}

// TestCommand checks that the command can be repeated: it has no directory of this
// machine.
func TestCommand(t *testing.T) {
	for _, name := range []string{"GOAMD64", "GOFLAGS", "GOMAXPROCS", "RUSTFLAGS"} {
		t.Setenv(name, "")
	}
	t.Setenv("GODEBUG", "cpu.avx512f=off")
	for args, want := range map[string]string{
		"":                                   "",
		"-quick -openssh /tmp/ssh -o a.json": " -quick -o a.json -openssh DIR",
		"-check -quick -o a.json":            " -check -quick -o a.json",
		"-boringssl -quick":                  " -quick -boringssl",
		"-only ^(seal|open):":                " -only '^(seal|open):'",
		"-fakeboboliu /tmp/fake -o it's":     ` -o 'it'"'"'s' -fakeboboliu DIR`,
	} {
		var o options
		if err := flags(&o).Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := command(o); !strings.HasPrefix(got, "GODEBUG=cpu.avx512f=off go run -C internal/peers") || !strings.HasSuffix(got, " ."+want) {
			t.Errorf("%q: command %q", args, got)
		}
	}
}
