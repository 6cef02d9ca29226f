// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoSpace has a system that writes a part of the file only, as a full disk does.
func TestNoSpace(t *testing.T) {
	path := newStore(t)
	f := mustOpen(t, path)
	mustReserve(t, f, 10, 0)
	before := mustRead(t, path)
	limit := func(n uint64) (old unix.Rlimit) {
		t.Helper()
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		return old
	}
	for n := range uint64(len(before)) {
		old := limit(n)
		_, err := f.Reserve(id, 10)
		limit(old.Cur)
		if !errors.Is(err, unix.EFBIG) {
			t.Errorf("room for %d bytes: %v", n, err)
		}
		wantError(t, err, path, "not stored")
		if !bytes.Equal(before, mustRead(t, path)) {
			t.Errorf("room for %d bytes: the file has changed", n)
		}
	}
	mustReserve(t, f, 10, 10)
	old := limit(10)
	err := f.Release(id, 15)
	limit(old.Cur)
	if !errors.Is(err, unix.EFBIG) {
		t.Error(err)
	}
	f.Close()
	mustReserve(t, mustOpen(t, path), 10, 20)
}
