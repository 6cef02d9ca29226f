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
	small(t)
	// Another process, because package testing has a file too.
	if out, err := program(t, 0, "limited", newStore(t)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSync has files and a folder that cannot be synced. So it notices that they are.
func TestSync(t *testing.T) {
	small(t)
	path := newStore(t)
	f := mustOpen(t, path)
	for _, c := range []struct {
		step, path string
		steps      []string // until then
	}{
		{"sync", path, steps[:2]},
		{"sync lock", path + ".lock", steps[:5]},
		{"sync new", path + ".new", replaceSteps[:4]},
	} {
		want := f.end
		if c.step == "sync new" {
			want = fill(t, f)
		}
		var log []string
		saved := -1
		fd := -1
		f.set.before = func(step string) (err error) {
			log = append(log, step)
			if step != c.step {
				return nil
			}
			fd = descriptor(t, c.path)
			if saved, err = unix.Dup(fd); err != nil {
				return err
			}
			return plug(fd)
		}
		if _, err := f.Reserve(id, 10); !errors.Is(err, unix.EINVAL) || !slices.Equal(log, c.steps) {
			t.Errorf("with a file that cannot be synced: %v, after the steps %q", err, log)
		}
		f.set.before = nil
		if c.step == "sync lock" { // which stays open
			if err := unix.Dup3(saved, fd, unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Close(saved); err != nil {
			t.Fatal(err)
		}
		mustReserve(t, f, 10, want)
	}

	end := fill(t, f)
	folder := filepath.Dir(path)
	f.set.before = func(step string) error {
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
	var log []string
	f.set.before = func(step string) error {
		log = append(log, step)
		return nil
	}
	mustReserve(t, f, 10, end)
	if want := replaceSteps[6:]; !slices.Equal(log, want) {
		t.Errorf("then steps %q, want %q", log, want)
	}
}

// descriptor returns that of an open file.
func descriptor(t *testing.T, path string) int {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		if name, _ := os.Readlink("/proc/self/fd/" + d.Name()); name == path {
			fd, err := strconv.Atoi(d.Name())
			if err != nil {
				t.Fatal(err)
			}
			return fd
		}
	}
	t.Fatalf("%s is not open", path)
	return 0
}

// plug puts a pipe in the place of a file.
func plug(fd int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()
	return unix.Dup3(int(w.Fd()), fd, unix.O_CLOEXEC)
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
	for f.set.used < f.set.size {
		if _, err := f.Reserve(id, 10); err != nil {
			return err
		}
	}
	end := f.end
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
	if first, err := f.Reserve(id, 10); first != end || err != nil {
		return fmt.Errorf("with room again: %d, %w", first, err)
	}
	if err := limit(20); err != nil {
		return err
	}
	if err := f.Release(id, f.end, end+5); !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("Release without room: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if f, err = Open(path); err != nil || f.end != end+10 {
		return fmt.Errorf("without a Release: %+v, %w", f, err)
	}
	return f.Close()
}
