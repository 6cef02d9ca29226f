// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestVerifyReplaced has a list that is replaced or removed while its files are read.
func TestVerifyReplaced(t *testing.T) {
	for name, change := range map[string]func() error{
		"nothing":  func() error { return nil },
		"replaced": func() error { return errors.Join(os.WriteFile("new", nil, 0o600), os.Rename("new", "list")) },
		"removed":  func() error { return os.Remove("list") },
	} {
		a := newArchive(t, small, nil)
		a.Stdin = strings.NewReader("x")
		if _, _, err := a.tag("-"); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		o := Options{KeyFile: "key", Special: true, Stdout: new(bytes.Buffer), Stderr: &errs}
		content := strings.NewReader("x")
		o.Stdin = readerFunc(func(p []byte) (int, error) {
			if content.Len() > 0 {
				if err := change(); err != nil {
					t.Error(err)
				}
			}
			return content.Read(p)
		})
		r, err := Verify(t.Context(), o, "list", true)
		want := "fastmac: list was replaced while it was verified: this is the result of the list that was there before\n"
		if name == "nothing" {
			want = ""
		}
		if err != nil || r.Err() != nil || errs.String() != want {
			t.Errorf("%s: %v, %+v, %q", name, err, r, &errs)
		}
	}
}

// TestListLinks has other names of the list in its folder: a link to it is no content, and another name of its file is.
func TestListLinks(t *testing.T) {
	a, _ := sideBySide(t)
	if err := errors.Join(os.Symlink("list", "d/link"), os.Link("d/list", "d/same"), os.Link("d/list", "d/e/list")); err != nil {
		t.Fatal(err)
	}
	if _, text := a.complete(nil); text != "d/e/list: NOT IN THE LIST\nd/same: NOT IN THE LIST\n2 files not in the list" {
		t.Error(text)
	}
	if _, text := a.complete(func(o *Options) { o.Quiet = false }); !strings.Contains(text, "fastmac: left out: d/link: a link to the list\n") || strings.Contains(text, "d/list") {
		t.Error(text)
	}
	// So an update has them.
	if stdout, stderr, err := a.tag(); stdout != "d/e/list: NEW\nd/same: NEW\n" || err != nil {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

// TestVerifyLink has a link in the place of a folder that tag -r has tagged: verify follows none.
func TestVerifyLink(t *testing.T) {
	a := newArchive(t, map[string]string{"d/e/x": "1", "d/y": "2"}, nil)
	if err := errors.Join(os.Rename("d/e", "e"), os.Symlink("../e", "d/e")); err != nil {
		t.Fatal(err)
	}
	if out, err := a.verify(); !strings.HasPrefix(out, "d/e/x: FAILED open or read\n") || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestUnfinishedLinks has a list that a killed run has left where a link leads.
func TestUnfinishedLinks(t *testing.T) {
	newArchive(t, small, nil)
	const name = "d/" + unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := errors.Join(os.WriteFile(name, []byte("left"), 0o600), os.Symlink("d/list", "link"), os.WriteFile("d/list", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	removeUnfinished("link")
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestUnfinishedPipe has a FIFO with the name of a list that a killed run has left: nothing waits for it.
func TestUnfinishedPipe(t *testing.T) {
	newArchive(t, small, nil)
	const name = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	removeUnfinished("list")
	if isUnfinished(name) {
		t.Error("a FIFO is the list of a run")
	}
	if _, err := os.Lstat(name); err != nil {
		t.Error(err)
	}
	// Nor for one in the place of the list.
	if _, err := (&Options{Update: name}).readOld(t.Context(), new(run)); err == nil || !strings.HasSuffix(err.Error(), name+": is not a regular file") {
		t.Error(err)
	}
}
