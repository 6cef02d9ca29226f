// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"example.com/fastmac/internal/fork"
)

// A Set is an open file with many stores, each of which has a name. It is safe for concurrent use,
// and must not be copied. What several stores write at a time is synced at once. A new secret needs
// a store with another name: none begins again.
type Set struct {
	path    string                  // absolute, as the folder of the process may change
	before  func(step string) error // for tests; nil otherwise
	process fork.Process            // the one that has opened it
	shut    atomic.Bool             // Close has been called

	queue sync.Mutex
	next  *commit // what the one who writes next takes

	disk sync.Mutex // of all that follows
	lock *os.File
	journal
	may      [2][]byte // what may be after the last record, if a write has failed
	unsynced bool      // the file was replaced, and the folder is not synced
	half     int       // of the lock, which is written next: the other one has a good mark
	stale    bool      // the mark in the lock is not that of the last record
	open     map[sum]bool
}

// missing has the stores that Open did not find in this process, up to some number.
var missing = struct {
	sync.Mutex
	stores map[string]bool
}{stores: map[string]bool{}}

const maxMissing = 1 << 12

// missed returns the error of Open, and lets Create refuse to make a store in that place.
func missed(store string) error {
	missing.Lock()
	defer missing.Unlock()
	if len(missing.stores) >= maxMissing {
		clear(missing.stores)
	}
	missing.stores[store] = true
	return fmt.Errorf("store: %s is missing: with the same secret counters could repeat, so make a new secret and a new store", store)
}

// mayMake returns an error if Open has missed the store in this process.
func mayMake(store string) error {
	missing.Lock()
	defer missing.Unlock()
	if missing.stores[store] {
		return fmt.Errorf("store: %s was missing when this process opened it: a lost store must not begin again, so make it with its secret, before Open", store)
	}
	return nil
}

// where returns the path, and the name in a set.
func where(path, name string) string {
	if name != "" {
		path += ": " + name
	}
	return path
}

// CreateSet makes a file for many stores, each with a secret of its own, and the first of them. It is
// as Create otherwise.
func CreateSet(path string, names ...string) error { return createSet(path, nil, names...) }

func createSet(path string, before func(step string) error, names ...string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := mayMake(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("store: %s is there already", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: %w", err)
	}
	s := &Set{path: path, before: before, stale: true}
	s.states = map[sum]state{}
	for _, name := range names {
		s.states[keyOf(name)] = state{}
	}
	if err := s.room(0); err != nil {
		return err
	}
	rand.Read(s.sum[:])
	// Of several calls one makes the lock. That one makes the file, before somebody can open it.
	s.lock, err = lock(path+".lock", os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("store: %s.lock is there, and %[1]s is not: it was lost, or Create was cut short. Make a new secret if this one was ever used, and then remove the lock", path)
	}
	if err != nil {
		return err
	}
	defer s.lock.Close()
	if err := inTurn(s.writeLock, s.replace, s.syncFolder); err != nil {
		// Nobody else has had the lock. Windows cannot remove it while it is open, and keeps it.
		os.Remove(path)
		os.Remove(path + ".new")
		os.Remove(path + ".lock")
		return err
	}
	return nil
}

// OpenSet locks and reads the file of a set. It returns the errors of the function Open.
func OpenSet(path string) (*Set, error) { return openSet(path, nil) }

func openSet(path string, before func(step string) error) (*Set, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	l, err := lock(path+".lock", 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := openFile(path)
		if err != nil {
			return nil, err
		}
		f.Close()
		return nil, fmt.Errorf("store: %s has no %[1]s.lock, so it was copied or restored: make a new secret and a new store", path)
	}
	if err != nil {
		return nil, err
	}
	s := &Set{path: path, before: before, process: fork.Current(), lock: l, unsynced: true, open: map[sum]bool{}}
	if err := s.read(); err != nil {
		l.Close()
		return nil, err
	}
	return s, nil
}

// read reads the lock and the file, and syncs both and the folder: a process that was killed may have
// left them in the memory of the system only.
func (s *Set) read() error {
	f, err := openFile(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, sectorSize+recordSize)
	n, err := s.lock.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("store: %w", err)
	}
	last, half, ok := lastMark(b[:n])
	if s.journal, err = read(f, last); err != nil {
		return err
	}
	switch {
	case !ok:
		return fmt.Errorf("store: %s.lock is damaged: make a new secret and a new store", s.path)
	case !s.whole:
		return fmt.Errorf("store: %s is not the file of its lock, or an older one: it was restored, copied or damaged: make a new secret and a new store", s.path)
	}
	s.half, s.stale = 1-half, s.mark != last
	return inTurn(func() error { return s.do(step{"sync", f.Sync}, step{"sync lock", s.lock.Sync}) }, s.syncFolder)
}

// Create makes stores in the set, each for a new secret. A name that is there is an error, unless
// its store has no id yet: so after an error, or a crash, Create can be called again. A name is not
// made that Open has missed.
func (s *Set) Create(names ...string) error {
	if err := s.own(); err != nil {
		return err
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if err := s.closed(); err != nil {
		return err
	}
	var records []record
	for _, name := range names {
		key := keyOf(name)
		old, there := s.states[key]
		if old.bound || s.open[key] {
			return fmt.Errorf("store: %s is there already", where(s.path, name))
		}
		if there {
			continue
		}
		if err := mayMake(where(s.path, name)); err != nil {
			return err
		}
		records = append(records, record{key: key})
	}
	if err := s.room(len(records)); err != nil {
		return err
	}
	return s.append(records)
}

// room returns an error if n more stores are too many.
func (s *Set) room(n int) error {
	if n += len(s.states); n > maxStores {
		return fmt.Errorf("store: %s: %d stores are too many: want at most %d", s.path, n, maxStores)
	}
	return nil
}

// Open opens a store of the set. A name that was not created, or is open, is an error: see the
// function Open.
func (s *Set) Open(name string) (*File, error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	s.disk.Lock()
	defer s.disk.Unlock()
	if err := s.closed(); err != nil {
		return nil, err
	}
	key := keyOf(name)
	state, ok := s.states[key]
	if !ok {
		return nil, missed(where(s.path, name))
	}
	if s.open[key] {
		return nil, fmt.Errorf("%w: %s", ErrLocked, where(s.path, name))
	}
	s.open[key] = true
	return &File{set: s, key: key, path: where(s.path, name), state: state, low: state.end}, nil
}

// Close releases the lock. After Close, the methods of the set and of its stores return errors.
func (s *Set) Close() error {
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.shut.Swap(true) {
		return nil
	}
	return s.lock.Close()
}

// closed returns an error after Close.
func (s *Set) closed() error {
	if s.shut.Load() {
		return fmt.Errorf("store: %s is closed", s.path)
	}
	return nil
}

// own returns an error in a child after a fork, which has the lock of its parent.
func (s *Set) own() error {
	if fork.Current() != s.process {
		return fmt.Errorf("store: %s: this process was forked from the one that has opened it", s.path)
	}
	return nil
}
