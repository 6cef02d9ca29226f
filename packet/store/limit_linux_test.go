// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
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
	if err := f.Release(id, 15); !errors.Is(err, unix.EFBIG) {
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
