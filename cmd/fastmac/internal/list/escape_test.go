// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// The paths that need care, and how sha512sum writes them.
var paths = map[string]string{
	"a":          "a",
	"a b c":      "a b c",
	"é日本":        "é日本",
	`a\b`:        `a\\b`,
	"a\nb":       `a\nb`,
	"\r":         `\r`,
	`\n`:         `\\n`,
	"\\\n\\\r\n": `\\\n\\\r\n`,
}

// morePaths are those that sha512sum does not escape.
var morePaths = map[string]string{
	"\xff\x01é":      `\xff\x01é`,
	" a  b ":         `\x20a \x20b\x20`,
	"\x1b[31m":       `\x1b[31m`,
	"\u202efdp":      `\xe2\x80\xaefdp`,
	"\u00a0\u2800":   `\xc2\xa0\xe2\xa0\x80`,
	"e\u0301":        "e\u0301",
	"\u0301":         `\xcc\x81`,
	"\ufffd\xef\xbf": "\ufffd" + `\xef\xbf`,
	`\x41`:           `\\x41`,
}

// TestEscape has all characters and all bytes: what escape returns is seen, and is the name's.
func TestEscape(t *testing.T) {
	check := func(name string) {
		begin, escaped := escape(name)
		back, ok := escaped, true
		if begin != "" {
			back, ok = unescape(escaped)
		}
		if !ok || back != name || Printable(escaped) != escaped {
			t.Errorf("%q: %q, %q", name, escaped, back)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0x30000 || r >= 0xe0000 && r < 0xe0200 { // others have no tables, or are letters
			check(string(r))
		}
	}
	for b := range 256 {
		for _, s := range []string{string([]byte{byte(b)}), "\xe2" + string([]byte{byte(b)}) + "\x80", `\` + string([]byte{byte(b)}), "a " + string([]byte{byte(b)}) + " "} {
			check(s)
		}
	}
}

// TestCoreutils compares the escapes with those of sha512sum.
func TestCoreutils(t *testing.T) {
	version, err := exec.Command("sha512sum", "--version").Output()
	if err != nil || !bytes.Contains(version, []byte("(GNU coreutils) 9.")) {
		t.Skip("needs sha512sum of GNU coreutils 9")
	}
	dir := t.TempDir()
	for path, escaped := range paths {
		file := filepath.Join(dir, path)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sha512sum", path)
		cmd.Dir = dir
		out, err := cmd.Output()
		begin, _ := escape(path)
		if _, got, _ := strings.Cut(string(out), "  "); err != nil || got != escaped+"\n" || strings.HasPrefix(string(out), `\`) != (begin == `\`) {
			t.Errorf("%q: sha512sum has %q, %v", path, out, err)
		}
	}
}
