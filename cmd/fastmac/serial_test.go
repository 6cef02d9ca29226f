// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/sums"
)

// copyFolder copies the files of a folder without folders.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestRollback restores an old folder with its old list, and puts one folder with its list in the place of
// another: --at-least and --label refuse them.
func TestRollback(t *testing.T) {
	here := filepath.ToSlash(inFolder(t, map[string]string{"d/a": "1", "e/a": "other", "seen": "0\n"})) + "/"
	said := func(stderr string) string { return strings.ReplaceAll(filepath.ToSlash(stderr), here, "") } // -C makes paths absolute
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "tag -k key -C d -r . -o d/S --label photos")
	command(t, exitOK, "tag -k key -C e -r . -o e/S --label letters")
	copyFolder(t, "d", "old")
	os.WriteFile("d/a", []byte("2"), 0o600)
	command(t, exitOK, "tag -k key -C d --update d/S --accept-changes")
	const verify = "verify -k key -C d d/S --complete . "
	seen := func() string {
		text, err := os.ReadFile("seen")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, options := range []string{"", "--at-least 2", "--at-least 0 --label photos", "--at-least seen"} {
		stdout, stderr := command(t, exitOK, verify+options)
		if stdout != "a: OK\n" && stdout != "./a: OK\n" || !strings.Contains(stderr, "; serial 2, 20") || !strings.HasSuffix(stderr, "Z, label photos\n") {
			t.Errorf("%s: %q, %q", options, stdout, stderr)
		}
	}
	if seen() != "2\n" {
		t.Errorf("%q", seen())
	}
	refused := func(options, want string) {
		t.Helper()
		stdout, stderr := command(t, exitFailed, verify+options)
		if stdout != "./a: OK\n" || said(stderr) != "fastmac: d/S: "+want+"\nfastmac: the list FAILED\n" {
			t.Errorf("%s: %q, %q", options, stdout, stderr)
		}
		var r sums.Report
		text, _ := command(t, exitFailed, verify+options+" --json")
		if err := json.Unmarshal([]byte(text), &r); err != nil || r.List != "failed" || r.ListError != want {
			t.Errorf("%s: %v, %s", options, err, text)
		}
		command(t, exitFailed, verify+options+" --status")
	}
	refused("--at-least 3", "an old list: its serial number is 2, and at least 3 is wanted")
	refused("--at-least 18446744073709551615", "an old list: its serial number is 2, and at least 18446744073709551615 is wanted")
	refused("--label letters", "another list: its label is photos")
	refused("--label photo", "another list: its label is photos")
	refused("--label photos2", "another list: its label is photos")
	command(t, exitOK, "tag -k key -C e -r . -o escaped --label \x1b[2J")
	if _, stderr := command(t, exitFailed, "verify -k key -C e escaped --label x"); !strings.Contains(stderr, `: another list: its label is \\x1b[2J`+"\n") || strings.Contains(stderr, "\x1b") {
		t.Errorf("%q", stderr)
	}
	// The old folder, with its list.
	copyFolder(t, "d", "new")
	copyFolder(t, "old", "d")
	command(t, exitOK, verify)
	refused("--at-least seen", "an old list: its serial number is 1, and at least 2 is wanted")
	refused("--at-least 2", "an old list: its serial number is 1, and at least 2 is wanted")
	if seen() != "2\n" {
		t.Errorf("%q", seen())
	}
	// An update would give it the number that is wanted.
	for _, floor := range []string{"seen", "2"} {
		if _, stderr := command(t, exitFailed, "tag -k key -C d --update d/S --at-least "+floor); said(stderr) != "fastmac: d/S: an old list: its serial number is 1, and at least 2 is wanted\n" {
			t.Errorf("%s: %q", floor, stderr)
		}
	}
	refused("--at-least seen", "an old list: its serial number is 1, and at least 2 is wanted")
	// Another folder, with its list.
	copyFolder(t, "e", "d")
	command(t, exitOK, verify)
	refused("--label photos", "another list: its label is letters")

	// What fails raises nothing.
	copyFolder(t, "new", "d")
	command(t, exitFailed, "tag -k key -C d --update d/S --at-least 3")
	command(t, exitOK, "tag -k key -C d --update d/S --at-least 2")
	os.WriteFile("d/b", nil, 0o600)
	command(t, exitFailed, verify+"--at-least seen")
	if seen() != "2\n" {
		t.Errorf("%q", seen())
	}
	os.Remove("d/b")
	command(t, exitOK, verify+"--at-least seen --status")
	if seen() != "3\n" {
		t.Errorf("%q", seen())
	}
	text, _ := command(t, exitOK, verify+"--json")
	var r sums.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Label != "photos" || r.Serial != 3 || len(r.Time) != 20 {
		t.Errorf("%v, %s", err, text)
	}

	// The file: none, no number, a folder, and a name of digits.
	os.WriteFile("bad", []byte("x\n"), 0o600)
	os.WriteFile("12", []byte(" 3\r\n"), 0o600)
	for options, want := range map[string]string{
		"--at-least missing": "missing: no such file: make it once, with echo 0 > missing",
		"--at-least bad":     "bad: want a number in decimal digits, as from echo 0",
		"--at-least e":       "e: is not a regular file",
	} {
		stdout, stderr := command(t, exitFailed, verify+options)
		if said(stderr) != "fastmac: "+want+"\n" || stdout != "" {
			t.Errorf("%s: %q, %q", options, stdout, stderr)
		}
	}
	command(t, exitOK, verify+"--at-least ."+string(filepath.Separator)+"12")
	command(t, exitFailed, verify+"--at-least 12")

	// An update raises the number in the file.
	command(t, exitFailed, "tag -k key -C d --update d/S --at-least missing")
	command(t, exitOK, "tag -k key -C d --update d/S --at-least seen")
	if seen() != "4\n" {
		t.Errorf("%q", seen())
	}
	command(t, exitOK, verify+"--at-least seen")
}

// TestSignedMalformed has a malformed line, and a second one of a kind, under a right tag: verify fails, and an
// update does not drop them.
func TestSignedMalformed(t *testing.T) {
	inFolder(t, map[string]string{"a": "1", "b": "2"})
	command(t, exitOK, "keygen -o key")
	text, _ := command(t, exitOK, "tag -k key a b")
	lines := strings.Split(text, "\n")
	lines = lines[:len(lines)-2]
	for _, bad := range []string{"x", "", lines[2] + "\x00", strings.Replace(lines[2], "::::", ":1:2:3:04", 1), "serial:  5", "end2:umac128:0:0:0", "umac64::  a"} {
		list := sign(t, slices.Insert(slices.Clone(lines), 2, bad), 2, false)
		os.WriteFile("S", []byte(list), 0o600)
		if stdout, stderr := command(t, exitFailed, "verify -k key S"); stdout != "a: OK\nb: OK\n" || !strings.HasSuffix(stderr, "fastmac: 1 of 3 lines malformed\n") {
			t.Errorf("%q: %q, %q", bad, stdout, stderr)
		}
		_, stderr := command(t, exitFailed, "tag -k key --update S")
		if now, err := os.ReadFile("S"); err != nil || string(now) != list || !strings.HasPrefix(stderr, "fastmac: S: line ") {
			t.Errorf("%q: %q", bad, stderr)
		}
	}
}

// TestSerial has the lists that replace others.
func TestSerial(t *testing.T) {
	inFolder(t, map[string]string{"a": "1"})
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "keygen -o key2")
	list := func(line string) string {
		t.Helper()
		command(t, exitOK, "tag "+line)
		text, err := os.ReadFile("S")
		if err != nil {
			t.Fatal(err)
		}
		all := strings.NewReplacer("\x00", "\n").Replace(string(text))
		got := ""
		for line := range strings.Lines(all) {
			if strings.HasPrefix(line, "label:") || strings.HasPrefix(line, "serial:") {
				got += strings.TrimSuffix(line, "\n") + "|"
			}
		}
		return got
	}
	for _, tt := range []struct{ line, want string }{
		{"-k key -o S a", "serial:  1|"},
		{"-k key --update S", "serial:  2|"},
		{"-k key --update S --label x", "label:  x|serial:  3|"},
		{"-k key --update S", "label:  x|serial:  4|"},
		{"-k key --update S --label y", "label:  y|serial:  5|"},
		{"-k key -o S --force a", "serial:  6|"},
		{"-k key -o S --force -z a", "serial:  7|"},
		{"-k key -o S --force a", "serial:  8|"},
		{"-k key2 --old-key key --update S --label z", "label:  z|serial:  9|"},
		{"-k key2 -o S --force a", "serial:  10|"},
		{"-k key -o S --force a", "serial:  1|"}, // this key knows no list
	} {
		if got := list(tt.line); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
	// A list that was changed, or cut, and one of format 1.
	text, _ := os.ReadFile("S")
	os.WriteFile("S", []byte(strings.Replace(string(text), "serial:  1", "serial:  9", 1)), 0o600)
	if got := list("-k key -o S --force a"); got != "serial:  1|" {
		t.Error(got)
	}
	text, _ = os.ReadFile("S")
	one := formatOne(t, string(text), false)
	os.WriteFile("S", []byte(one), 0o600)
	for _, options := range []string{"--label x", "--at-least 0", "--at-least 1"} {
		if _, stderr := command(t, exitFailed, "verify -k key S "+options); stderr != "fastmac: S: an old fastmac wrote the list, without a label and a serial number: tag --update adds them\nfastmac: the list FAILED\n" {
			t.Errorf("%s: %q", options, stderr)
		}
	}
	command(t, exitOK, "verify -k key S")
	if got := list("-k key --update S --label x"); got != "label:  x|serial:  1|" {
		t.Error(got)
	}
	if _, stderr := command(t, exitFailed, "verify -k key --label y S"); !strings.Contains(stderr, "another list: its label is x") {
		t.Errorf("%q", stderr)
	}
	os.WriteFile("S", []byte(one), 0o600)
	command(t, exitOK, "tag -k key --update S")
	if _, stderr := command(t, exitFailed, "verify -k key --label y S"); !strings.Contains(stderr, "the list has no label: tag --update --label adds one") {
		t.Errorf("%q", stderr)
	}
	// The last number.
	text, _ = os.ReadFile("S")
	lines := strings.Split(strings.Replace(string(text), "serial:  1", "serial:  18446744073709551615", 1), "\n")
	os.WriteFile("S", []byte(sign(t, lines[:len(lines)-2], 2, false)), 0o600)
	command(t, exitOK, "verify -k key --at-least 18446744073709551615 S")
	if _, stderr := command(t, exitFailed, "tag -k key --update S"); stderr != "fastmac: S: it has the last serial number: make a new list with -o\n" {
		t.Errorf("%q", stderr)
	}
	// A list without its end says nothing.
	os.WriteFile("S", []byte(strings.Join(lines[:len(lines)-2], "\n")+"\n"), 0o600)
	text2, _ := command(t, exitOK, "verify -k key --partial --json S")
	if strings.Contains(text2, `"serial"`) || strings.Contains(text2, `"time"`) {
		t.Error(text2)
	}
}
