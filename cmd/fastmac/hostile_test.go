// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/sums"
)

// hostileParts are what names can have to make a terminal show something else.
var hostileParts = []string{
	"\x1b[31m", "\x1b[8m", "\x1b[1A\x1b[2K", "\x1b]0;title\a", "\x1b[2J", "\x1bc", "\x9b31m", "\u009b8m", "\x1b(0",
	"\b\b\b\b", "\r", "\n", "\r\n", "\t", "\v", "\f", "\a", "\x7f", "\x0e", "\x05",
	"\u202e", "\u202d", "\u202a", "\u2066", "\u2067", "\u2069", "\u200e", "\u200f", "\u061c",
	"\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060", "\u180e", "\u3164", "\u115f", "\uffa0", "\u2800", "\u034f", "\ufe0f", "\U000e0041", "\U000e0100",
	"\u00a0", "\u2003", "\u3000", "\u2028", "\u2029", "\u0085", "\u0301", "\u20dd", "\ue000", "\U0010ffff", "\ufffd",
	"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x9f", "\xe2\x80", "\\", "\\n", `\x1b`, `\\`, "  ", strings.Repeat(" ", 90),
	": OK", ": OK\n", ": FAILED", "é", "日本", "a", "umac128:", "end:", "fastmac: ", "%s%n", "'\"`$(id)", "-",
}

// hostileNames returns n names of files.
func hostileNames(n int) (names []string) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for len(names) < n {
		var name string
		if len(names) < len(hostileParts) {
			name = "f" + hostileParts[len(names)]
		} else {
			for range 1 + r.IntN(6) {
				switch r.IntN(4) {
				case 0:
					name += string(rune('a' + r.IntN(26)))
				case 1:
					name += string([]byte{byte(1 + r.IntN(255))})
				default:
					name += hostileParts[r.IntN(len(hostileParts))]
				}
			}
		}
		name = strings.ReplaceAll(name, "/", "_")
		if len(name) < 200 && name != "." && name != ".." && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// checkScreen returns an error if text has anything that a terminal does not show as it is: it
// is lines of UTF-8, of characters that are seen, without two spaces in a row in names.
func checkScreen(text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return fmt.Errorf("no newline at the end of %q", text)
	}
	for line := range strings.Lines(text) {
		before := ' '
		for i, r := range strings.TrimSuffix(line, "\n") {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\ufffd"):
				return fmt.Errorf("not UTF-8: %q", line)
			case !strconv.IsPrint(r), unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp), r == '\u2800',
				unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
				return fmt.Errorf("%q is not seen: %q", r, line)
			case unicode.IsMark(r) && before == ' ':
				return fmt.Errorf("%q stands on nothing: %q", r, line)
			}
			before = r
		}
	}
	return nil
}

// TestHostileNames has files whose names are made to deceive. All that is printed is seen, and
// says the name.
func TestHostileNames(t *testing.T) {
	inFolder(t, nil)
	command(t, exitOK, "keygen -o key")
	all := hostileNames(520)
	if runtime.GOOS == "windows" {
		// It has none of these, while Wine has.
		all = slices.DeleteFunc(all, func(name string) bool { return strings.Contains(name, ":") })
	}
	if err := os.Mkdir("d", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		os.WriteFile("d/"+name, []byte(name), 0o600)
	}
	// No file system has all of the names, and some have others in their place.
	entries, err := os.ReadDir("d")
	if err != nil {
		t.Fatal(err)
	}
	real := len(entries)
	there := make(map[string]bool)
	for _, entry := range entries {
		there[entry.Name()] = true
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !there[name] })
	want := 500
	if runtime.GOOS == "windows" {
		want = 100
	}
	if len(all) < want {
		t.Skipf("the file system has %d of the names", len(all))
	}
	list, stderr := command(t, exitOK, "tag -k key -r d")
	if stderr != "" || strings.Count(list, "\n") != real+5 { // also the first one, the folder, the serial number, the time, and the end
		t.Errorf("%d lines, want %d; %q", strings.Count(list, "\n"), real+5, stderr)
	}
	listed := make(map[string]bool)
	for line := range strings.Lines(fileLines(list)) {
		before, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		listed[original(t, strings.HasPrefix(before, `\`), name)] = true
	}
	os.WriteFile("sums", []byte(list), 0o600)
	verified, stderr2 := command(t, exitOK, "verify -k key sums")
	for i, text := range []string{list, verified, stderr2} {
		if err := checkScreen(text); err != nil {
			t.Errorf("output %d: %v", i, err)
		}
	}
	shown := make(map[string]bool)
	for line := range strings.Lines(verified) {
		name, ok := strings.CutSuffix(line, ": OK\n")
		if strings.Contains(name, "  ") || !ok {
			t.Errorf("%q", line)
		}
		name, escaped := strings.CutPrefix(name, `\`)
		shown[original(t, escaped, name)] = true
	}
	for _, name := range all {
		if name := "d/" + name; !listed[name] || !shown[name] {
			t.Errorf("%q: listed %v, shown %v", name, listed[name], shown[name])
		}
	}

	// JSON has every name exactly, and shows nothing else either.
	text, _ := command(t, exitOK, "verify --json -k key sums")
	if err := checkScreen(strings.ReplaceAll(text, "  ", "")); err != nil {
		t.Errorf("JSON: %v", err)
	}
	var r sums.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Files {
		if !listed[f.Path] {
			t.Errorf("JSON has %q", f.Path)
		}
		delete(listed, f.Path)
	}
	if len(listed) > 0 {
		t.Errorf("JSON lacks %d names", len(listed))
	}

	// The same for errors, and for what the list does not have.
	if err := os.WriteFile("one", []byte("umac128:00000000000000000000000000000000:00000000000000000000000000000000  key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verified, stderr = command(t, exitFailed, "verify -k key one --partial --complete d")
	if got := strings.Count(verified, ": NOT IN THE LIST\n"); got != real {
		t.Errorf("%d files are not in the list, want %d", got, real)
	}
	if err := os.RemoveAll("d"); err != nil {
		t.Fatal(err)
	}
	missing, missingErr := command(t, exitFailed, "verify -k key sums")
	for i, text := range []string{verified, stderr, missing, missingErr} {
		if err := checkScreen(text); err != nil {
			t.Errorf("output %d of failures: %v", i, err)
		}
	}
}

// original returns the name that is escaped, by the rules in the help of tag.
func original(t *testing.T, escaped bool, name string) string {
	t.Helper()
	if !escaped {
		return name
	}
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			b = append(b, name[i])
			continue
		}
		i++
		switch name[i] {
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 'x':
			b = append(b, mustHex(t, name[i+1:i+3])...)
			i += 2
		default:
			b = append(b, name[i])
		}
	}
	return string(b)
}

// TestHostileArguments has such names as arguments, and in a list, of files that do not exist.
func TestHostileArguments(t *testing.T) {
	inFolder(t, nil)
	command(t, exitOK, "keygen -o key")
	for _, part := range hostileParts {
		name := "f" + part
		for _, args := range [][]string{
			{"tag", "-k", name, "x"}, {"tag", "-k", "key", name}, {"verify", "-k", "key", name}, {"verify", "-k", name, "x"},
			{"tag", "-k", "key", "-o", name + "/x", "key"}, {"keygen", "-o", name + "/x"}, {"keygen", "-o", "key" + part + "/"}, {"keygen", "-a", name, "-o", "x"},
			{"verify", "-k", "key", "--complete", name, "key"}, {"verify", "--" + name}, {name}, {"verify", "-k", "key", "-j", name, "x"},
		} {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), args, &stdout, &stderr); code == exitOK {
				t.Errorf("%q succeeds", args)
			}
			for _, text := range []string{stdout.String(), stderr.String()} {
				if err := checkScreen(text); err != nil {
					t.Errorf("%q: %v", args, err)
				}
			}
		}
	}
	// Lines that were not escaped, as in a list that somebody made.
	for _, part := range hostileParts {
		line := "umac128:" + strings.Repeat("0", 32) + ":" + strings.Repeat("0", 32) + "  f" + part + "\n"
		if err := os.WriteFile("sums", []byte(line+"\x1b[2J"+part+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr := command(t, exitFailed, "verify -k key sums")
		if err := checkScreen(stdout + stderr); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}
