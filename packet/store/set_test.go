// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"example.com/fastmac/internal/fork"
)

// newSet makes a set and opens it.
func newSet(t *testing.T, names ...string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set")
	if err := CreateSet(path, names...); err != nil {
		t.Fatal(err)
	}
	return mustOpenSet(t, path)
}

func mustOpenSet(t *testing.T, path string) *Set {
	t.Helper()
	s, err := OpenSet(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func mustOpenIn(t *testing.T, s *Set, name string) *File {
	t.Helper()
	f, err := s.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSet(t *testing.T) {
	s := newSet(t, "a", "b")
	a, b := mustOpenIn(t, s, "a"), mustOpenIn(t, s, "b")
	mustReserve(t, a, 10, 0)
	mustReserve(t, b, 20, 0)
	mustReserve(t, a, 10, 10)
	if err := s.Create("c"); err != nil {
		t.Error(err)
	}
	c := mustOpenIn(t, s, "c")
	mustReserve(t, c, 5, 0)
	mustRelease(t, a, 12)
	a.Close()
	mustReserve(t, mustOpenIn(t, s, "a"), 3, 12)
	c.Close() // without a Release what was reserved stays so
	mustReserve(t, mustOpenIn(t, s, "c"), 0, 5)

	s.Close()
	s = mustOpenSet(t, s.path)
	for name, want := range map[string]uint64{"a": 15, "b": 20, "c": 5} {
		f := mustOpenIn(t, s, name)
		mustReserve(t, f, 0, want)
		_, err := f.Reserve(otherID, 1) // each has its own
		wantError(t, err, s.path+": "+name, "another secret")
	}
}

// TestSetRefuses has stores that cannot be opened or made. Nothing is written then.
func TestSetRefuses(t *testing.T) {
	s := newSet(t, "a", "b", "b")
	f := mustOpenIn(t, s, "a")
	mustReserve(t, f, 10, 0)
	before := mustRead(t, s.path)
	refused := func(name, text string, err error) {
		t.Helper()
		wantError(t, err, s.path+name, text)
	}
	open := func(name string) error { _, err := s.Open(name); return err }
	if err := open("a"); !errors.Is(err, ErrLocked) {
		t.Errorf("open twice: %v", err)
	}
	refused(": a", "has the lock", open("a"))
	refused(": c", "is missing", open("c"))
	refused(": c", "was missing", s.Create("c")) // it might have been lost
	refused(": c", "was missing", s.Create("d", "c"))
	refused(": d", "is missing", open("d"))
	refused(": c", "was missing", s.Create("c")) // so might this one still
	refused(": a", "is there already", s.Create("e", "a"))
	f.Close()
	refused(": a", "is there already", s.Create("a")) // it has an id
	_, err := f.Reserve(id, 1)
	refused(": a", "closed", err)
	if err := s.Create("b", "b"); err != nil { // it has none
		t.Error(err)
	}
	mustOpenIn(t, s, "b")
	refused(": b", "has the lock", open("b"))
	refused(": b", "is there already", s.Create("b"))
	refused("", "too many", s.Create(many(maxStores)...))
	refused("2", "too many", CreateSet(s.path+"2", many(maxStores+1)...))
	if err := s.room(maxStores - len(s.states)); err != nil {
		t.Error(err)
	}
	refused("", "too many", s.room(maxStores-len(s.states)+1))
	if !bytes.Equal(before, mustRead(t, s.path)) {
		t.Error("the file has changed")
	}
	if _, err := Open(s.path); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}

	a := mustOpenIn(t, s, "a")
	fork.Pretend()
	refused("", "forked", open("b"))
	refused("", "forked", s.Create("f"))
	_, err = a.Reserve(id, 1)
	refused("", "forked", err)

	s = newSet(t, "a")
	a = mustOpenIn(t, s, "a")
	mustReserve(t, a, 1, 0)
	before = mustRead(t, s.path)
	s.Close()
	s.Close() // again
	refused("", "closed", open("a"))
	refused("", "closed", s.Create("f"))
	for n := range uint64(2) {
		_, err := a.Reserve(id, n)
		refused("", "closed", err)
	}
	refused("", "closed", a.Release(id, 1, 1))
	if !bytes.Equal(before, mustRead(t, s.path)) {
		t.Error("the file has changed")
	}
	_, err = Open(s.path)
	refused("", "want OpenSet", err)
	s = mustOpenSet(t, s.path) // Open has released the lock
	mustReserve(t, mustOpenIn(t, s, "a"), 1, 1)
}

// many returns n names.
func many(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("peer ", i)
	}
	return names
}

// TestSetMany makes stores, also more than there is room for, and uses all at once.
func TestSetMany(t *testing.T) {
	names := many(1000)
	s := newSet(t, names[:10]...)
	if err := s.Create(names...); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for round := range uint64(2) {
		for i, name := range names {
			f := mustOpenIn(t, s, name)
			n := uint64(i + 1)
			wg.Go(func() {
				if first, err := f.Reserve(id, n); first != round*n || err != nil {
					t.Errorf("%s: %d, %v; want %d", name, first, err, round*n)
				}
			})
		}
		wg.Wait()
		s.Close()
		s = mustOpenSet(t, s.path)
	}
}

// TestTogether has writes that wait for another one: they are synced at once, and fail at once.
func TestTogether(t *testing.T) {
	names := many(8)
	s := newSet(t, names...)
	files := make([]*File, len(names))
	for i, name := range names {
		files[i] = mustOpenIn(t, s, name)
	}
	errs := make([]error, len(files))
	reserve := func(fails string) (writes int) {
		var wg sync.WaitGroup
		begun, goes := make(chan struct{}), make(chan struct{})
		s.before = func(step string) error {
			if step == "write" {
				if writes++; writes == 1 {
					close(begun)
					<-goes
				}
			}
			if writes == 2 && step == fails {
				return errFull
			}
			return nil
		}
		for i, f := range files {
			wg.Go(func() { _, errs[i] = f.Reserve(id, 10) })
			if i == 0 {
				<-begun
			}
		}
		for waiting := 0; waiting < len(files)-1; runtime.Gosched() {
			s.queue.Lock()
			if s.next != nil {
				waiting = len(s.next.records)
			}
			s.queue.Unlock()
		}
		close(goes)
		wg.Wait()
		return writes
	}
	if n := reserve(""); n != 2 || errors.Join(errs...) != nil {
		t.Errorf("%d writes, errors %v; want 2", n, errs)
	}
	reserve("sync")
	for i, err := range errs {
		if (err == nil) != (i == 0) {
			t.Errorf("store %d: %v", i, err)
		}
	}
	s.before = nil
	for i, f := range files {
		want := uint64(10)
		if i == 0 {
			want = 20
		}
		mustReserve(t, f, 0, want)
		mustReserve(t, f, 5, want)
	}
	s.Close()
	s = mustOpenSet(t, s.path)
	for i, name := range names {
		want := uint64(15)
		if i == 0 {
			want = 25
		}
		mustReserve(t, mustOpenIn(t, s, name), 0, want)
	}
}

// TestCleared has a write of two records that failed, although the disk has it. When the first of them is
// written again, the second is no record after it.
func TestCleared(t *testing.T) {
	s := newSet(t, "a", "b")
	a, b := record{keyOf("a"), state{id, true, 10}}, record{keyOf("b"), state{id, true, 20}}
	s.before = failAt("close")
	if err := s.append([]record{a, b}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	s.before = nil
	for _, r := range []record{a, {keyOf("a"), state{id, true, 11}}} {
		if err := s.append([]record{r}); err != nil {
			t.Error(err)
		}
	}
	s.Close()
	s = mustOpenSet(t, s.path)
	mustReserve(t, mustOpenIn(t, s, "a"), 0, 11)
	mustReserve(t, mustOpenIn(t, s, "b"), 0, 0)
}
