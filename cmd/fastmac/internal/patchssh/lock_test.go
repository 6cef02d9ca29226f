// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package patchssh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// setLocks puts the locks into a new folder.
func setLocks(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	before := cacheDir
	cacheDir = func() (string, error) { return dir, nil }
	t.Cleanup(func() { cacheDir = before })
	return dir
}

// TestLockPlace has the lock in the user's own folder, which no other user can enter.
func TestLockPlace(t *testing.T) {
	locks, shared := setLocks(t), t.TempDir()
	t.Setenv("TMPDIR", shared)
	t.Setenv("TMP", shared) // where Windows looks
	m := &module{root: t.TempDir()}
	unlock, err := m.lock(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if left, err := os.ReadDir(shared); err != nil || len(left) > 0 {
		t.Errorf("in the temporary folder: %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(locks, "fastmac"))
	if err != nil || filepath.Separator == '/' && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the folder of the lock: %v, %v", info, err)
	}
}

// TestLockWaits has another run hold the lock for more than a second.
func TestLockWaits(t *testing.T) {
	setLocks(t)
	m := &module{root: t.TempDir()}
	unlock, err := m.lock(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	before := afterSecond
	defer func() { afterSecond = before }()
	stopped := false
	afterSecond = func(f func()) func() bool {
		f()
		if !strings.HasPrefix(stderr.String(), "fastmac: waiting for another patch-ssh in "+m.root) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q", &stderr)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
		return func() bool { stopped = true; return false }
	}
	next, err := m.lock(t.Context(), &stderr)
	if err != nil {
		t.Fatal(err)
	}
	if !stopped {
		t.Error("after the wait it would still say that it waits")
	}

	// An interrupt ends the wait.
	ctx, cancel := context.WithCancel(t.Context())
	afterSecond = func(func()) func() bool { cancel(); return func() bool { return true } }
	if _, err := m.lock(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held: %v", err)
	}
	afterSecond = func(func()) func() bool {
		t.Error("a lock that is free is waited for")
		return func() bool { return true }
	}
	next()
	if next, err = m.lock(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	next()
}

func TestLockNoFolder(t *testing.T) {
	dir := setLocks(t)
	m := &module{root: t.TempDir()}
	write(t, filepath.Join(dir, "fastmac"), "a file")
	if _, err := m.lock(t.Context(), io.Discard); err == nil || !strings.HasPrefix(err.Error(), "no folder for a lock: ") {
		t.Error(err)
	}
	cacheDir = func() (string, error) { return "", errors.New("HOME is not defined") }
	if _, err := m.lock(t.Context(), io.Discard); err == nil || err.Error() != "no folder for a lock: HOME is not defined: set one to a folder of yours" {
		t.Error(err)
	}
}
