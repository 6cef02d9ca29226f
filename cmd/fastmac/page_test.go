// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pageLines returns the lines of docs/files.md that are commands for files, and the options that leave out what
// systems put on a disk.
func pageLines(t *testing.T) (lines []string, left string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "files.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "    "); ok && strings.HasPrefix(line, "fastmac ") && line != "fastmac install-docs" {
			lines = append(lines, line)
		}
	}
	found := regexp.MustCompile("`(--exclude [^`]*RECYCLE[^`]*)`").FindSubmatch(text)
	if len(lines) < 7 || found == nil {
		t.Fatalf("%q, %q", lines, found)
	}
	return lines, string(found[1])
}

// TestPageQuotes has only quotes and characters in the lines that mean the same to sh, cmd.exe and PowerShell.
func TestPageQuotes(t *testing.T) {
	same := regexp.MustCompile(`^([A-Za-z0-9./_ -]|"[A-Za-z0-9./_ *?-]*")*$`)
	lines, left := pageLines(t)
	for _, line := range append(lines, left) {
		if !same.MatchString(line) {
			t.Errorf("%s", line)
		}
	}
}
