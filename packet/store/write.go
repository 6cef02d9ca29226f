// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A commit is records that are written together.
type commit struct {
	records []record
	done    chan struct{}
	err     error
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
	f, err := openFile(s.path)
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
