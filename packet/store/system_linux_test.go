// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { limited = useLimited }

// TestNoSpace has a system that writes a part of a file only, as with a full disk.
func TestNoSpace(t *testing.T) {
	// Another process, because package testing has a file too.
	if out, err := program(t, 0, "limited", newStore(t)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSync has a file and a folder that cannot be synced. So it notices that they are.
func TestSync(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 10, 0)
	var log []string
	f.before = func(step string) error {
		log = append(log, step)
		if step != "sync" {
			return nil
		}
		// A pipe takes the place of the temporary file.
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		defer w.Close()
		descriptors, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		for _, d := range descriptors {
			if name, _ := os.Readlink("/proc/self/fd/" + d.Name()); name == path+".new" {
				fd, err := strconv.Atoi(d.Name())
				return errors.Join(err, unix.Dup3(int(w.Fd()), fd, unix.O_CLOEXEC))
			}
		}
		return errors.New("the temporary file is not open")
	}
	if _, err := f.Reserve(id, 10); !errors.Is(err, unix.EINVAL) || !slices.Equal(log, steps[:slices.Index(steps, "sync")+1]) {
		t.Errorf("with a file that cannot be synced: %v, after the steps %q", err, log)
	}

	folder := filepath.Dir(path)
	f.before = func(step string) error {
		if step != "sync folder" {
			return nil
		}
		return os.Rename(folder, folder+".moved")
	}
	if _, err := f.Reserve(id, 10); !errors.Is(err, unix.ENOENT) {
		t.Errorf("with a folder that cannot be synced: %v", err)
	}
	if err := os.Rename(folder+".moved", folder); err != nil {
		t.Fatal(err)
	}
	f.before = nil
	mustReserve(t, f, 10, 10)
}

func useLimited(path string) error {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := func(n uint64) error { return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: old.Max}) }
	f, err := Open(path)
	if err != nil {
		return err
	}
	if _, err := f.Reserve(id, 10); err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n := range uint64(len(before)) {
		if err := limit(n); err != nil {
			return err
		}
		if _, err := f.Reserve(id, 10); !errors.Is(err, unix.EFBIG) {
			return fmt.Errorf("Reserve with room for %d bytes: %w", n, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			return fmt.Errorf("room for %d bytes: the file has changed (%w)", n, err)
		}
	}
	if err := limit(old.Cur); err != nil {
		return err
	}
	if first, err := f.Reserve(id, 10); first != 10 || err != nil {
		return fmt.Errorf("with room again: %d, %w", first, err)
	}
	if err := limit(20); err != nil {
		return err
	}
	if err := f.Release(id, f.end, 15); !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("Release without room: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if f, err = Open(path); err != nil || f.end != 20 {
		return fmt.Errorf("without a Release: %+v, %w", f, err)
	}
	return f.Close()
}
