// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/sums"
)

func TestVerifyJSON(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "b": "2", "c": "3"})
	command(t, exitOK, "keygen -o key")
	stdout, _ := command(t, exitOK, "tag -k key a b c")
	os.WriteFile("sums", []byte("# comment\n"+stdout), 0o600)
	os.WriteFile("b", []byte("x"), 0o600)
	os.Remove("c")
	for _, quiet := range []string{"", " -q"} {
		stdout, stderr := command(t, exitFailed, "verify --json -k key sums"+quiet)
		var r sums.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if quiet == "" {
			if len(r.Files) != 3 || r.Files[0] != (sums.File{Path: "a", Result: "ok"}) {
				t.Fatalf("%+v", r)
			}
			r.Files = r.Files[1:]
		}
		if len(r.Files) != 2 || r.Files[0] != (sums.File{Path: "b", Result: "failed"}) || r.Files[1].Result != "unreadable" || r.Files[1].Error == "" ||
			r.Right != 1 || r.Wrong != 1 || r.Unreadable != 1 || r.Malformed != 2 {
			t.Errorf("%+v", r)
		}
		if r.List != "failed" || r.ListError != "the list was changed: its end line is of format 2, and its first line is not" {
			t.Errorf("%+v", r)
		}
		if !strings.HasPrefix(stderr, "fastmac: sums: line 1: want ALGORITHM:NONCE:TAG  PATH\nfastmac: sums: line 2: the first line of a list, with others before it\nfastmac: sums: the list was changed: ") ||
			!strings.HasSuffix(stderr, "\nfastmac: 1 of 3 files FAILED; 1 of 3 files could not be read; 2 of 5 lines malformed; the list FAILED\n") {
			t.Errorf("%q", stderr)
		}
	}
}

// TestVerifyJSONComplete has JSON of what options add to it.
func TestVerifyJSONComplete(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "b": "2", "d/c": "3"})
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "tag -k key a b -o sums")
	os.Remove("b")
	for quiet, files := range map[string][]sums.File{
		"":    {{Path: "a", Result: "ok"}, {Path: "d/c", Result: "not listed"}},
		" -q": {{Path: "d/c", Result: "not listed"}},
	} {
		stdout, stderr := command(t, exitFailed, "verify --json --ignore-missing --complete d -k key sums"+quiet)
		var r sums.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || !slices.Equal(r.Files, files) || r.List != "complete" || stderr != "fastmac: 1 file not in the list\n" {
			t.Errorf("%v, %+v, %q", err, r, stderr)
		}
		for _, want := range []string{`"ok": 1,`, `"failed": 0,`, `"unreadable": 0,`, `"missing": 1,`, `"not_listed": 1,`, `"malformed_lines": 0`} {
			if !strings.Contains(stdout, want) {
				t.Errorf("no %s in %s", want, stdout)
			}
		}
	}
}

// TestTagGoesOn has files that cannot be tagged among others: the list has no end line, and
// verify does not take it as whole.
func TestTagGoesOn(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "z": "2", "d/e": "3"})
	command(t, exitOK, "keygen -o key")
	stdout, stderr := command(t, exitFailed, "tag -k key a missing d z")
	if strings.Count(stdout, "\n") != 3 || !strings.Contains(stdout, "  a\n") || !strings.HasSuffix(stdout, "  z\n") {
		t.Errorf("%q", stdout)
	}
	if !regexp.MustCompile(`^fastmac: missing: .+\nfastmac: d: is a folder: use -r\nfastmac: 2 of 4 files not tagged, so the list has no end line\n$`).MatchString(stderr) {
		t.Errorf("%q", stderr)
	}
	os.WriteFile("sums", []byte(stdout), 0o600)
	if _, stderr := command(t, exitFailed, "verify -k key sums"); !strings.HasSuffix(stderr, "fastmac: the list FAILED\n") {
		t.Errorf("%q", stderr)
	}
	command(t, exitOK, "verify -k key sums --partial")
}

// TestStdin has standard input as a file, and as the lines of tag.
func TestStdin(t *testing.T) {
	inFolder(t, map[string]string{"in": "content"})
	command(t, exitOK, "keygen -o key")
	withStdin(t, "in")
	if stdout, stderr := command(t, exitFailed, "tag -k key - -"); strings.Count(stdout, "  -\n") != 1 || !strings.Contains(stderr, "fastmac: -: standard input has been read\n") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	withStdin(t, "in")
	stdout, _ := command(t, exitOK, "tag -k key -")
	os.WriteFile("sums", []byte(stdout), 0o600)
	withStdin(t, "in")
	if stdout, stderr := command(t, exitFailed, "verify -k key sums"); stdout != "-: FAILED open or read\n" || !strings.HasPrefix(stderr, "fastmac: -: is not a regular file: --special reads it\n") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if stdout, _ = command(t, exitOK, "verify --special -k key sums"); stdout != "-: OK\n" {
		t.Errorf("%q", stdout)
	}
	withStdin(t, "sums")
	if stdout, stderr := command(t, exitFailed, "verify --special -k key -"); stdout != "-: FAILED open or read\n" || !strings.Contains(stderr, "standard input has been read") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	stdout, _ = command(t, exitOK, "tag -k key in")
	os.WriteFile("sums", []byte(strings.ReplaceAll(stdout, "\n", "\r\n")), 0o600)
	withStdin(t, "sums")
	if stdout, _ := command(t, exitOK, "verify -k key -"); stdout != "in: OK\n" {
		t.Errorf("%q", stdout)
	}
}

// withStdin makes a file the standard input until the test ends.
func withStdin(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = f
	t.Cleanup(func() {
		os.Stdin = old
		f.Close()
	})
}

// TestTagOutput has the output in a file of the folder that is tagged.
func TestTagOutput(t *testing.T) {
	inFolder(t, map[string]string{"d/a": "1", "d/b": "2", "d/sums": ""})
	command(t, exitOK, "keygen -o key")
	out, err := os.OpenFile("d/sums", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderr bytes.Buffer
	if code := run(t.Context(), strings.Fields("tag -k key -r d"), out, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Errorf("%d, %q", code, &stderr)
	}
	if stdout, _ := command(t, exitOK, "verify -k key d/sums"); stdout != "d/a: OK\nd/b: OK\n" {
		t.Errorf("%q", stdout)
	}
	if code := run(t.Context(), strings.Fields("tag -k key d/sums"), out, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "d/sums: is the output\n") {
		t.Errorf("%d, %q", code, &stderr)
	}
}

func TestVerifyEmpty(t *testing.T) {
	inFolder(t, map[string]string{"empty": "", "bad": "x\n", "long": strings.Repeat("x", 1<<20)})
	command(t, exitOK, "keygen -o key")
	for line, want := range map[string]string{
		"empty":   "fastmac: empty: the list has no lines\n",
		"bad":     "fastmac: bad: no line is from fastmac tag: line 1: want ALGORITHM:NONCE:TAG  PATH\n",
		"long":    "fastmac: long: no line is from fastmac tag: line 1: it has more than 524288 bytes, which no path has\n",
		"missing": "fastmac: missing: ",
	} {
		stdout, stderr := command(t, exitFailed, "verify -k key "+line)
		if stdout != "" || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: %q, %q, want %q", line, stdout, stderr, want)
		}
	}
}

func TestSumsInterrupted(t *testing.T) {
	inFolder(t, map[string]string{"a": "1"})
	command(t, exitOK, "keygen -o key")
	stdout, _ := command(t, exitOK, "tag -k key a")
	os.WriteFile("sums", []byte(stdout), 0o600)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{"tag -k key a", "tag -k key -r .", "verify -k key sums", "verify -k key sums --json"} {
		var stdout, stderr bytes.Buffer
		if code := run(ctx, strings.Fields(line), &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 || stderr.String() != "fastmac: interrupted\n" {
			t.Errorf("%s: %d, %q, %q", line, code, &stdout, &stderr)
		}
	}
}

func TestSumsBrokenOutput(t *testing.T) {
	inFolder(t, map[string]string{"a": "1"})
	command(t, exitOK, "keygen -o key")
	stdout, _ := command(t, exitOK, "tag -k key a")
	os.WriteFile("sums", []byte(stdout), 0o600)
	for _, line := range []string{"keygen -o -", "tag -k key a", "verify -k key sums", "verify -k key sums --json"} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(line), brokenWriter{}, &stderr); code != exitFailed || stderr.String() != "fastmac: disk full\n" {
			t.Errorf("%s: %d, %q", line, code, &stderr)
		}
	}
}
