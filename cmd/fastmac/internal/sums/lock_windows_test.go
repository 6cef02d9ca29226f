// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"os"
	"testing"
	"time"
)

// TestLockPath has paths of one list, which have one lock, and of others.
func TestLockPath(t *testing.T) {
	a := newArchive(t, small, nil)
	a.write(map[string]string{"d/long name of a list": "1", "d/other": "2"})
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := newLock("d/long name of a list").Path()
	for _, path := range []string{`D\LONG NAME of a list`, here + `\d\long name of a list`, `.\e\..\d\Long name of a list`, `\\?\` + here + `\d\long name of a list`} {
		if got := newLock(path).Path(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"d/other", "long name of a list"} {
		if newLock(path).Path() == want {
			t.Errorf("%s has the same lock", path)
		}
	}
}

// TestReplaceOpen has a list that another program reads when a new one takes its place.
func TestReplaceOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("list", []byte("the old"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := createOut("list", true)
	if err != nil {
		t.Fatal(err)
	}
	defer out.discard()
	f, err := os.Open("list")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { f.Close() })
	if err := out.commit(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("list"); err != nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// TestMoveNew has a file where a first list is to go: it stays.
func TestMoveNew(t *testing.T) {
	t.Chdir(t.TempDir())
	out, err := createOut("list", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := removeUnheld(out.Name()); err == nil {
		t.Error("the list of a run is removed")
	}
	if err := os.WriteFile("list", []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := out.commit(); err != existsError("list") {
		t.Error(err)
	}
	out.discard()
	names, err := os.ReadDir(".")
	if text, _ := os.ReadFile("list"); string(text) != "another" || err != nil || len(names) != 1 {
		t.Errorf("%q, %v, %v", text, names, err)
	}
}
