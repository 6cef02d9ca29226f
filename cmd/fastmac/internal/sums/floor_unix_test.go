// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// TestRaiseLocked has a number in a file that another program has locked, as whoever can read it can: nobody waits
// for long, and it is said that the number stays. What a killed run has left goes.
func TestRaiseLocked(t *testing.T) {
	defer func(old time.Duration) { maxWait = old }(maxWait)
	maxWait = time.Millisecond
	t.Chdir(t.TempDir())
	const left = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, name := range []string{"n", left} {
		if err := os.WriteFile(name, []byte("3\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock := flock.New("n", flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	if ok, err := lock.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	o := Options{AtLeast: &Floor{File: "n"}, Status: true}
	if err := o.raise(t.Context(), 4); err == nil || !strings.Contains(err.Error(), "n: another program has locked it") {
		t.Error(err)
	}
	lock.Close()
	if err := o.raise(t.Context(), 4); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile("n"); err != nil || string(text) != "4\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what a killed run has left stays")
	}

	// For verify that is a failure.
	newArchive(t, map[string]string{"d/a": "", "d/b": ""}, nil)
	if err := os.WriteFile("n", []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock = flock.New("n", flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	if ok, err := lock.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r, err := Verify(t.Context(), Options{KeyFile: "key", AtLeast: &Floor{File: "n"}, Status: true, Stdout: io.Discard, Stderr: io.Discard}, "list", true)
	if err == nil || r != nil || !strings.Contains(err.Error(), "the number was not raised") {
		t.Errorf("%+v, %v", r, err)
	}
}
