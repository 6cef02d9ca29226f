// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"example.com/fastmac/internal/fork"
)

// ErrLocked means that another File has the lock, in this process or in another one. The errors of
// Open and Create wrap it.
var ErrLocked = errors.New("store: another process has the lock, or another File")

// A File is an open store. It is safe for concurrent use, and must not be copied.
//
// Keep a reference to it until Close, or to a sender or receiver that has it: the lock is released
// when the garbage collector frees the File.
type File struct {
	path   string                  // absolute, as the folder of the process may change
	before func(step string) error // for tests; nil otherwise

	process fork.Process // the one that has opened it

	mu    sync.Mutex
	lock  *os.File // nil after Close
	state          // what the caller has

	// A write that failed may have changed the file, or not. Both are right: until a write
	// succeeds, no counter from state.end on is used.
	may [2]state // what may be in the file

	low      uint64 // Release takes no lower number: counters below it were used, or may have been
	released bool   // Release has been called
}

// Create makes the store of a new secret. Nothing is reserved in it, and it takes the id of the
// first Reserve. Create does not open the store.
//
// If the file or its lock is there, Create returns an error, and changes nothing. If Create was cut
// short by a crash, the lock may be there without the file: remove it, and call Create again, but
// only if the secret was never used.
func Create(path string) error { return create(path, nil) }

func create(path string, before func(step string) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("store: %s is there already", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: %w", err)
	}
	// Of several calls one makes the lock. That one makes the file, before somebody can open it.
	l, err := lock(path+".lock", os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("store: %s.lock is there, and %[1]s is not: it was lost, or Create was cut short. Make a new secret if this one was ever used, and then remove the lock", path)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	f := &File{path: path, before: before}
	if err := f.replace(state{}); err != nil {
		// Nobody else has had the lock. Windows cannot remove it while it is open, and keeps it.
		os.Remove(path)
		os.Remove(path + ".new")
		os.Remove(path + ".lock")
		return err
	}
	return nil
}

// Open locks and reads a store. If it returns an error other than ErrLocked, read the documentation
// of the package before you do anything about it. A missing file is not reported as fs.ErrNotExist,
// so that no program makes a new one.
func Open(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	l, err := lock(path+".lock", 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := read(path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("store: %s has no %[1]s.lock, so it was copied or restored: make a new secret and a new store. "+
			"If only the lock was removed, end all programs that use the store, and make an empty file of that name", path)
	}
	if err != nil {
		return nil, err
	}
	s, err := read(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &File{path: path, process: fork.Current(), lock: l, state: s, may: [2]state{s, s}, low: s.end}, nil
}

// lock opens a file and locks it.
func lock(path string, flag int) (*os.File, error) {
	l, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := flock(l); err != nil {
		l.Close()
		if flag&os.O_EXCL != 0 && !errors.Is(err, ErrLocked) {
			os.Remove(path) // nobody can have locked it either
		}
		return nil, fmt.Errorf("%w: %s", err, path)
	}
	// Its name must be that of this file still, and no link: a lock under another name is no lock.
	opened, err := l.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Lstat(path); err == nil && !os.SameFile(opened, named) {
			err = errors.New("it is a link, or was replaced")
		}
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("store: %s: %v", path, err) // not that it is missing, which Open has another answer to
	}
	return l, nil
}

// Close releases the lock. What is stored stays as it is, so without a Release before it all
// reserved counters are skipped. After Close, all methods except Close return an error.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return nil
	}
	err := f.lock.Close()
	f.lock = nil
	return err
}

// Reserve stores durably that n more counters may be used: the caller may use first to first+n-1.
// It returns when they are on the disk. n is at most 2^56 less what was reserved before: there are
// 2^56 counters. If n is 0, it only stores the id, if there is none yet.
//
// The id tells which key and direction the counters belong to. The first Reserve after Create binds
// the store to it. A store with another id returns an error.
//
// After an error the caller has what it had before, and may try again. In a child after a fork, Reserve
// and Release return errors.
func (f *File) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	if err := f.own(); err != nil {
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
	case n == 0 && f.bound:
		return first, nil
	case n > maxEnd-first:
		return 0, fmt.Errorf("store: %s: %d counters are asked for, and %d are left: make a new secret and a new store", f.path, n, maxEnd-first)
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
	if err := f.own(); err != nil {
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

// own returns an error in a child after a fork, which has the lock of its parent.
func (f *File) own() error {
	if fork.Current() != f.process {
		return fmt.Errorf("store: %s: this process was forked from the one that has opened it", f.path)
	}
	return nil
}

func (f *File) check(id [16]byte) error {
	if f.lock == nil {
		return fmt.Errorf("store: %s is closed", f.path)
	}
	if f.bound && f.id != id {
		return fmt.Errorf("store: %s is for another secret, configuration or direction", f.path)
	}
	return nil
}

// write stores s. It refuses to replace what it does not know: after a restart this process would
// go on where somebody else has used counters, or has set them back.
func (f *File) write(s state) error {
	found, err := read(f.path)
	if err != nil {
		return err
	}
	if found != f.may[0] && found != f.may[1] {
		return fmt.Errorf("store: %s was changed since this process has opened it: another one uses it, or it was restored: make a new secret and a new store", f.path)
	}
	f.may = [2]state{found, s}
	if err := f.replace(s); err != nil {
		return err
	}
	f.state, f.may[0] = s, s
	return nil
}

// replace writes a new file and puts it in the place of the old one. Its name is in the folder, so
// that is synced too.
func (f *File) replace(s state) error {
	temporary := f.path + ".new"
	var w *os.File
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"remove", func() error { // of a write that was cut short
			if err := os.Remove(temporary); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}},
		{"create", func() (err error) {
			w, err = os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		}},
		{"write", func() error { _, err := w.Write(format(s)); return err }},
		{"sync", func() error { return w.Sync() }},
		{"close", func() error { return w.Close() }},
		{"rename", func() error { return rename(temporary, f.path) }},
		{"sync folder", func() error { return syncFolder(filepath.Dir(f.path)) }},
		{"return", func() error { return nil }},
	} {
		var err error
		if f.before != nil {
			err = f.before(step.name)
		}
		if err == nil {
			err = step.do()
		}
		if err != nil {
			w.Close() // again, or of nil: then it does nothing
			return fmt.Errorf("store: %s: not stored: %w", f.path, err)
		}
	}
	return nil
}
