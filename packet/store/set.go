// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"example.com/fastmac/internal/fork"
)

// A Set is an open file with many stores, each of which has a name. It is safe for concurrent use,
// and must not be copied. What several stores write at a time is synced at once. A new secret needs
// a store with another name: none begins again.
type Set struct {
	path    string                  // absolute, as the folder of the process may change
	before  func(step string) error // for tests; nil otherwise
	process fork.Process            // the one that has opened it

	queue sync.Mutex
	next  *commit // what the one who writes next takes

	disk sync.Mutex // of all that follows
	lock *os.File   // nil after Close
	journal
	may      [2][]byte // what may be after the last record, if a write has failed
	unsynced bool      // the file was replaced, and the folder is not synced
	half     int       // of the lock, which is written next: the other one has a good mark
	stale    bool      // the mark in the lock is not that of the last record
	open     map[sum]bool
}

// A commit is records that are written together.
type commit struct {
	records []record
	done    chan struct{}
	err     error
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
func OpenSet(path string) (*Set, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	l, err := lock(path+".lock", 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := read(path, mark{}); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("store: %s has no %[1]s.lock, so it was copied or restored: make a new secret and a new store", path)
	}
	if err != nil {
		return nil, err
	}
	s := &Set{path: path, process: fork.Current(), lock: l, open: map[sum]bool{}}
	b := make([]byte, sectorSize+recordSize)
	n, err := l.ReadAt(b, 0)
	last, half, ok := lastMark(b[:n])
	if s.journal, err = read(path, last); err == nil {
		switch {
		case !ok:
			err = fmt.Errorf("store: %s.lock is damaged: make a new secret and a new store", path)
		case !s.whole:
			err = fmt.Errorf("store: %s is not the file of its lock, or an older one: it was restored, copied or damaged: make a new secret and a new store", path)
		}
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	s.half, s.stale = 1-half, s.mark != last
	return s, nil
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
	if s.lock == nil {
		return nil
	}
	err := s.lock.Close()
	s.lock = nil
	return err
}

// closed returns an error after Close.
func (s *Set) closed() error {
	if s.lock == nil {
		return fmt.Errorf("store: %s is closed", s.path)
	}
	return nil
}

// opened is closed for those who have not locked the disk.
func (s *Set) opened() error {
	s.disk.Lock()
	defer s.disk.Unlock()
	return s.closed()
}

// own returns an error in a child after a fork, which has the lock of its parent.
func (s *Set) own() error {
	if fork.Current() != s.process {
		return fmt.Errorf("store: %s: this process was forked from the one that has opened it", s.path)
	}
	return nil
}

// write stores a record, together with those of other goroutines that wait for the disk meanwhile.
func (s *Set) write(r record) error {
	s.queue.Lock()
	c := s.next
	first := c == nil
	if first {
		c = &commit{done: make(chan struct{})}
		s.next = c
	}
	c.records = append(c.records, r)
	s.queue.Unlock()
	if first {
		s.disk.Lock()
		s.queue.Lock()
		s.next = nil
		s.queue.Unlock()
		c.err = s.append(c.records)
		s.disk.Unlock()
		close(c.done)
	}
	<-c.done
	return c.err
}

// append writes records after the last one, and then the mark of the last of them to the lock. So a
// file without the mark of its lock is not the newest one.
func (s *Set) append(records []record) error {
	if err := s.closed(); err != nil {
		return err
	}
	for len(records) > 0 {
		f, err := s.known()
		if err != nil {
			return err
		}
		n := min(len(records), (s.size-s.used)/recordSize)
		if n > 0 {
			err = inTurn(s.syncFolder, func() error { return s.extend(f, records[:n]) }, s.writeLock)
		}
		f.Close()   // again, or after an error
		if n == 0 { // a file that was replaced has no marks of earlier records
			err = inTurn(s.writeLock, s.replace)
		}
		if err != nil {
			return err
		}
		records = records[n:]
	}
	return s.do(step{"return", func() error { return nil }}) // between this and the caller nothing is written
}

// inTurn calls functions until one returns an error.
func inTurn(functions ...func() error) error {
	for _, f := range functions {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// known opens the file, and returns an error if it is not as this process has left it. Otherwise, after
// a restart this process would go on where somebody else has used counters, or has set them back.
func (s *Set) known() (*os.File, error) {
	f, err := open(s.path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missed(s.path)
	}
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(2*recordSize, s.size-s.used+recordSize))
	_, err = f.ReadAt(b, int64(s.used-recordSize))
	if err != nil && err != io.EOF {
		f.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	last, after, m := b[:recordSize], b[recordSize:], s.mark
	if _, more := m.next(after); err != nil || !bytes.Equal(last, s.last[:]) || more && !bytes.Equal(after, s.may[0]) && !bytes.Equal(after, s.may[1]) {
		f.Close()
		return nil, fmt.Errorf("store: %s was changed since this process has opened it: another one uses it, or it was restored: make a new secret and a new store", s.path)
	}
	s.may[0] = after
	return f, nil
}

// A step is a change of the disk. After each of them a process may end, or the power.
type step struct {
	name string
	do   func() error
}

func (s *Set) do(steps ...step) error {
	for _, step := range steps {
		var err error
		if s.before != nil {
			err = s.before(step.name)
		}
		if err == nil {
			err = step.do()
		}
		if err != nil {
			return fmt.Errorf("store: %s: not stored: %w", s.path, err)
		}
	}
	return nil
}

// extend writes records in the place that the file has for them.
func (s *Set) extend(f *os.File, records []record) error {
	var b []byte
	m := s.mark
	for _, r := range records {
		b = r.append(b, &m)
	}
	used := s.used + len(b)
	last := [recordSize]byte(b[len(b)-recordSize:])
	s.may[1] = b[:recordSize]
	if used < s.size {
		b = append(b, make([]byte, recordSize)...) // what an earlier write has left is no record after these
	}
	if err := s.do(
		step{"write", func() error { _, err := f.WriteAt(b, int64(s.used)); return err }},
		step{"sync", f.Sync},
		step{"close", f.Close},
	); err != nil {
		return err
	}
	s.mark, s.last, s.used, s.stale = m, last, used, true
	for _, r := range records {
		s.states[r.key] = r.state
	}
	return nil
}

// writeLock writes the mark of the last record to the lock, unless it is there.
func (s *Set) writeLock() error {
	if !s.stale {
		return nil
	}
	if err := s.do(
		step{"write lock", func() error { _, err := s.lock.WriteAt(s.mark.format(), int64(s.half*sectorSize)); return err }},
		step{"sync lock", s.lock.Sync},
	); err != nil {
		return err
	}
	s.half, s.stale = 1-s.half, false
	return nil
}

// replace writes a new file, without records of states that have changed since, and puts it in the
// place of the old one. Its name is in the folder, so that is synced too.
func (s *Set) replace() error {
	temporary := s.path + ".new"
	var w *os.File
	j := s.journal
	b := j.format()
	err := s.do(
		step{"remove", func() error { // of a write that was cut short
			if err := os.Remove(temporary); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}},
		step{"create", func() (err error) {
			w, err = os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			return err
		}},
		step{"write new", func() error { _, err := w.Write(b); return err }},
		step{"sync new", func() error { return w.Sync() }},
		step{"close new", func() error { return w.Close() }},
		step{"rename", func() error { return rename(temporary, s.path) }},
	)
	w.Close() // again, or of nil: then it does nothing
	if err != nil {
		return err
	}
	s.journal, s.unsynced = j, true
	return nil
}

// syncFolder makes the name of a file durable that has replaced another one, before it is changed.
func (s *Set) syncFolder() error {
	if !s.unsynced {
		return nil
	}
	err := s.do(step{"sync folder", func() error { return syncFolder(filepath.Dir(s.path)) }})
	s.unsynced = err != nil
	return err
}
