// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha512"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/tree"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// twins writes two files of one size until both have the same times, as in one tick of the system's clock.
func (a *archive) twins(one, two string) {
	a.Helper()
	for range 10_000 {
		a.write(map[string]string{one: "1", two: "2"})
		x, err := tree.LookAt(one)
		y, err2 := tree.LookAt(two)
		if err := errors.Join(err, err2); err != nil {
			a.Fatal(err)
		}
		if x.Mtime == y.Mtime && x.Ctime == y.Ctime {
			return
		}
	}
	a.Skip("the clock of files has no ticks")
}

// TestLinkedFolder has a link in the place of a folder, to a folder with the same files: they are not OK.
func TestLinkedFolder(t *testing.T) {
	a := newArchive(t, map[string]string{"c/\x1b/x": "content", "d/e/f": "content", "d/g": ""}, nil)
	a.Recursive = true
	if _, _, err := a.tag("c"); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"c/\x1b", "d/e"} {
		moved := filepath.Base(folder)
		if err := errors.Join(os.Rename(folder, moved), os.Symlink("../"+moved, folder)); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	r, err := Verify(t.Context(), Options{KeyFile: "key", Stdout: &out, Stderr: &errs}, "list", true)
	if err != nil || r.Unreadable != 2 || r.Right != 1 || out.String() != "d/e/f: FAILED open or read\nd/g: OK\n\\c/\\x1b/x: FAILED open or read\n" || strings.Count(errs.String(), `\c/\x1b`) != 2 || strings.Contains(errs.String(), "\x1b") {
		t.Errorf("%q, %q, %+v, %v", out.String(), errs.String(), r, err)
	}
}

// TestSwapped exchanges files of one size that were written in one tick, by their parent folders, or by where
// links lead: no file is kept that is another one.
func TestSwapped(t *testing.T) {
	a := newArchive(t, map[string]string{"d/z": ""}, nil)
	a.twins("d/a/x", "d/b/x")
	a.twins("to/a", "to/b")
	for _, name := range []string{"a", "b"} {
		if err := os.Symlink("../to/"+name, "d/l"+name); err != nil {
			t.Fatal(err)
		}
	}
	a.check("new", "d/a/x: NEW\nd/b/x: NEW\nd/la: NEW\nd/lb: NEW\n", "fastmac: 5 files: 1 kept, 0 changed, 4 new; 0 gone\n", "")
	a.check("kept", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	exchange := func(one, two string) {
		t.Helper()
		if err := errors.Join(os.Rename(one, "away"), os.Rename(two, one), os.Rename("away", two)); err != nil {
			t.Fatal(err)
		}
	}
	before := a.list()
	exchange("d/a", "d/b")
	a.check("folders", "d/a/x: CHANGED\nd/b/x: CHANGED\n", "", "2 of 5 files changed, so list stays as it was: --accept-changes accepts that")
	exchange("d/a", "d/b")
	exchange("d/la", "d/lb")
	a.check("links", "d/la: CHANGED\nd/lb: CHANGED\n", "", "2 of 5 files changed, so list stays as it was: --accept-changes accepts that")
	exchange("d/la", "d/lb")
	a.check("as they were", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	// With --minimal-stat that cannot be seen.
	a.MinimalStat = true
	exchange("d/a", "d/b")
	a.check("minimal", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	exchange("d/a", "d/b")
	// Its lines have no inode, which would be another one at the next look.
	a.VerifyAll = true
	a.check("minimal, read", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	for line := range strings.Lines(a.list()) {
		if sums, _, _ := strings.Cut(line, "  "); strings.Count(sums, ":") == 6 && (!strings.HasSuffix(sums, ":") || strings.HasSuffix(sums, "::")) {
			t.Errorf("%q", line)
		}
	}
	a.MinimalStat, a.VerifyAll = false, false

	// A line of format 1 has no inode: its file is read.
	if err := os.WriteFile("list", a.formatOne(before), 0o600); err != nil {
		t.Fatal(err)
	}
	exchange("d/a", "d/b")
	a.check("format 1", "d/a/x: CHANGED\nd/b/x: CHANGED\n", "fastmac: d/a/x: has the size and the times that it had: damaged?\nfastmac: d/b/x: has the size and the times that it had: damaged?\n",
		"2 of 5 files changed, so list stays as it was: --accept-changes accepts that")
	exchange("d/a", "d/b")
	a.check("format 1, right", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	if !strings.HasPrefix(a.list(), "fastmac list 2::  umac64\n") || !strings.Contains(a.list(), "\nserial:  1\n") {
		t.Errorf("%q", a.list())
	}
}

// formatOne returns a list in format 1.
func (a *archive) formatOne(text string) []byte {
	a.Helper()
	key, err := os.ReadFile("key")
	if err != nil {
		a.Fatal(err)
	}
	fields := strings.Fields(string(key))
	listKey, err := hkdf.Key(sha512.New, mactest.Unhex(fields[1]), []byte("fastmac list 1"), "list tag "+fields[0], 64)
	if err != nil {
		a.Fatal(err)
	}
	lines := ""
	count := 0
	add := func(line string) { lines, count = lines+line, count+1 }
	for line := range strings.Lines(text) {
		sums, path, _ := strings.Cut(line, "  ")
		switch n := strings.Count(sums, ":"); {
		case n == 6:
			add(strings.TrimSuffix(sums[:strings.LastIndexByte(sums, ':')], ":::") + "  " + path)
		case n == 1 && sums != "label:" && sums != "serial:" && sums != "time:":
			add(line)
		}
	}
	lines += fmt.Sprintf("end:%s:%s:%d:", fields[0], fields[2], count)
	mac := hmac.New(sha512.New, listKey)
	mac.Write([]byte(lines))
	return fmt.Appendf(nil, "%s%x\n", lines, mac.Sum(nil))
}

// TestDevices has files on other devices than the folder that was tagged: they have no inode, and are read.
func TestDevices(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "1"}, nil)
	other, err := os.MkdirTemp("/dev/shm", "fastmac")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(other)
	var here, there unix.Stat_t
	if err := errors.Join(unix.Stat(".", &here), unix.Stat(other, &there)); err != nil || here.Dev == there.Dev {
		t.Skip("/dev/shm is no other device")
	}
	file := filepath.Join(other, "f")
	a.write(map[string]string{file: "2"})
	if err := errors.Join(os.Symlink(file, "d/link"), os.Symlink(other, "folder")); err != nil {
		t.Fatal(err)
	}
	a.Recursive = true
	a.check("new", "d/link: NEW\nfolder/f: NEW\n"+file+": NEW\n", "fastmac: 4 files: 1 kept, 0 changed, 3 new; 0 gone\n", "", "folder", file)
	inodes := make(map[string]bool)
	for line := range strings.Lines(a.list()) {
		if sums, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  "); ok && strings.Count(sums, ":") == 6 {
			inodes[path] = !strings.HasSuffix(sums, ":")
			if strings.HasSuffix(sums, "::") {
				t.Errorf("no times: %q", line)
			}
		}
	}
	if len(inodes) != 4 || !inodes["d/a"] || inodes["d/link"] || !inodes["folder/f"] || !inodes[file] {
		t.Errorf("%v", inodes)
	}
}

// TestDamaged changes files and sets their times back, as far as a program can: damage is what changes no time.
func TestDamaged(t *testing.T) {
	a := newArchive(t, small, nil)
	before, err := tree.LookAt("d/a")
	if err != nil {
		t.Fatal(err)
	}
	verify := func() (r *Report, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		r, err := Verify(t.Context(), Options{KeyFile: "key", Quiet: true, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}, "list", false)
		if err != nil {
			t.Fatal(err)
		}
		return r, errs.String()
	}
	// An edit, which sets mtime back. It cannot set ctime.
	a.write(map[string]string{"d/a": "x"})
	if err := os.Chtimes("d/a", time.Time{}, time.Unix(0, before.Mtime)); err != nil {
		t.Fatal(err)
	}
	if r, stderr := verify(); r.Wrong != 1 || len(r.Files) != 1 || r.Files[0].Damaged || stderr != "" {
		t.Errorf("%+v, %q", r, stderr)
	}
	a.check("an edit", "d/a: CHANGED\n", "", "1 of 5 files changed, so list stays as it was: --accept-changes accepts that")
	// Damage: here the list has another tag.
	const damaged = "fastmac: d/b: has the size and the times that it had: damaged?\n"
	a.write(map[string]string{"d/a": "1"})
	a.check("as it was", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "")
	a.forge("d/b")
	if r, stderr := verify(); r.Wrong != 1 || len(r.Files) != 1 || !r.Files[0].Damaged || stderr != damaged {
		t.Errorf("%+v, %q", r, stderr)
	}
	a.VerifyAll = true
	a.Changes = new(Changes)
	a.check("damage", "", damaged, "1 of 5 files changed, so list stays as it was: --accept-changes accepts that")
	if len(a.Changes.Files) != 1 || !a.Changes.Files[0].Damaged {
		t.Errorf("%+v", a.Changes)
	}
	// A line without times says nothing of that.
	settledAfter = time.Hour
	a.Changes, a.VerifyAll, a.AcceptChanges = nil, true, true
	a.check("accepted", "d/b: CHANGED\n", damaged+"fastmac: 5 files: 4 kept, 1 changed, 0 new; 0 gone\n", "")
	a.forge("d/b")
	if r, stderr := verify(); r.Wrong != 1 || r.Files[0].Damaged || stderr != "" {
		t.Errorf("%+v, %q", r, stderr)
	}
}
