// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// ErrLocked means that another File has the lock, in this process or in another one. The errors of
// Open and Create wrap it.
var ErrLocked = errors.New("store: another process has the lock, or another File")

// A File is an open store: one in a file of its own, or one of a Set. It is safe for concurrent use,
// and must not be copied.
//
// Keep a reference to it until Close, or to a sender or receiver that has it: the lock is released
// when the garbage collector frees the File, or the Set with all its Files.
type File struct {
	set   *Set
	key   sum
	path  string // with the name, if there is one
	alone bool   // in its set, which nobody else has

	mu       sync.Mutex
	state           // what the caller has: after a write that failed, the set may have another one
	low      uint64 // Release takes no lower number: counters below it were used, or may have been
	released bool   // Release has been called
	closed   bool
}

// Create makes the store of a new secret. Nothing is reserved in it, and it takes the id of the
// first Reserve. Create does not open the store.
//
// If the file or its lock is there, Create returns an error, and changes nothing. So it does if the
// function Open has missed the file in this process: a program that makes what it does not find
// would begin at 0 again after a loss. If Create was cut short by a crash, the lock may be there
// without the file: remove it, and call Create again, but only if the secret was never used.
func Create(path string) error { return CreateSet(path, "") }

// Open locks and reads a store. If it returns an error other than ErrLocked, read the documentation
// of the package before you do anything about it. A missing file is not reported as fs.ErrNotExist,
// so that no program makes a new one.
func Open(path string) (*File, error) {
	s, err := OpenSet(path)
	if err != nil {
		return nil, err
	}
	f, err := s.Open("")
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("store: %s is a set of stores: want OpenSet", s.path)
	}
	f.alone = true
	return f, nil
}

// open opens a file. Its name must be that of the file still, and no link: a lock under another name
// is no lock, and a link would be replaced and leave the file as it is.
func open(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("store: %s is not a regular file", path) // which might block
	}
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	opened, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Lstat(path); err == nil && !os.SameFile(opened, named) {
			err = errors.New("it was replaced")
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("store: %s: %v", path, err) // not that it is missing, which has another answer
	}
	return f, nil
}

// openFile opens the file of a set.
func openFile(path string) (*os.File, error) {
	f, err := open(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missed(path)
	}
	return f, err
}

// lock opens a file and locks it.
func lock(path string, flag int) (*os.File, error) {
	l, err := open(path, flag)
	if err != nil {
		return nil, err
	}
	if err := flock(l); err != nil {
		l.Close()
		if flag&os.O_EXCL != 0 && !errors.Is(err, ErrLocked) {
			os.Remove(path) // nobody can have locked it either
		}
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	return l, nil
}

// Close releases the lock. What is stored stays as it is, so without a Release before it all
// reserved counters are skipped. After Close, all methods except Close return an error. A store of a
// set can be opened again then.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.alone {
		return f.set.Close()
	}
	f.set.disk.Lock()
	delete(f.set.open, f.key)
	f.set.disk.Unlock()
	return nil
}

// Reserve stores durably that n more counters may be used: the caller may use first to first+n-1.
// It returns when they are on the disk. n is at most 2^56 less what was reserved before: there are
// 2^56 counters. With n = 0 it returns where the next ones begin, and stores the id at most.
//
// The id tells which key and direction the counters belong to. The first Reserve after Create binds
// the store to it. A store with another id returns an error.
//
// After an error the caller has what it had before, and may try again. In a child after a fork, Reserve
// and Release return errors.
func (f *File) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	if err := f.set.own(); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(id); err != nil {
		return 0, err
	}
	first = f.end
	switch {
	case f.released:
		return 0, fmt.Errorf("store: %s: Release has been called: open the store again", f.path)
	case n > maxEnd-first:
		return 0, fmt.Errorf("store: %s: %d counters are asked for, and %d are left: make a new secret and a new store", f.path, n, maxEnd-first)
	case n == 0 && f.bound:
		return first, f.set.closed()
	}
	if err := f.write(state{id, true, first + n}); err != nil {
		return 0, err
	}
	return first, nil
}

// Release stores durably that no counter from next on was used, and that the caller will use none. So
// the next process skips none. end is first+n of the caller's last Reserve: if somebody else has
// reserved counters since then, Release returns an error and stores nothing. next is not above end, not
// below the first counter that was reserved since Open, and not below that of an earlier call. If
// nothing was reserved, both are where counters would have begun.
//
// After Release, Reserve returns an error until the store is opened again. After an error of the
// disk, Release may be tried again.
func (f *File) Release(id [16]byte, end, next uint64) error {
	if err := f.set.own(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(id); err != nil {
		return err
	}
	if end != f.end {
		return fmt.Errorf("store: %s: counters up to %d are reserved, and not up to %d: somebody else has used the store, and nothing is released", f.path, f.end, end)
	}
	if next < f.low || next > f.end {
		return fmt.Errorf("store: %s: the next counter is said to be %d: want %d to %d", f.path, next, f.low, f.end)
	}
	f.released, f.low = true, next
	return f.write(state{f.id, f.bound, next})
}

func (f *File) check(id [16]byte) error {
	if f.closed {
		return fmt.Errorf("store: %s is closed", f.path)
	}
	if f.bound && f.id != id {
		return fmt.Errorf("store: %s is for another secret, configuration or direction", f.path)
	}
	return nil
}

func (f *File) write(s state) error {
	if err := f.set.write(record{f.key, s}); err != nil {
		return err
	}
	f.state = s
	return nil
}
