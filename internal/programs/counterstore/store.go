// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"example.com/fastmac"
	"example.com/fastmac/packet"
)

// A store is a file with the end of a range of counters, a Store of package packet. Whoever
// starts uses counters from this end on, and only after it has stored a new end. So a crash
// at any point skips counters, and repeats none.
//
// A new end goes to a temporary file, which is synced and then takes the place of the old one. So
// there is always a whole file. If one of these steps fails, the end that is in use stays, and
// the file has that end or the new one. Both are right: the new one is later, or is what Stop
// returned, and then no counter is used any more.
//
// A store must not be set back: not restored from a backup, not copied to a second machine. A
// lock keeps a second process of this machine away. The lock is a file of its own, because the
// store is replaced. It is never removed, and the system releases it when the process ends,
// however it ends. Keep the store until close, not only the sender or receiver: the garbage
// collector closes the file of a store that nobody has any more, and that releases the lock.
//
// It is safe for concurrent use, except for close.
type store struct {
	path   string
	lock   *os.File
	key    string                  // the fingerprint of what the counters belong to
	before func(step string) error // for tests; nil otherwise

	mu       sync.Mutex
	end      uint64
	released bool
}

const (
	title  = "fastmac counters 1"
	maxEnd = 1 << 56 // as package packet has it
)

// createStore makes a store for a role, "send" or "receive", and a configuration whose secret is
// new. It does not replace one: where a store is missing, only a new secret helps, as nobody knows
// which counters were used.
func createStore(path, role string, c packet.Config) error {
	s := &store{path: path, key: fingerprint(role, c)}
	var err error
	if s.lock, err = lock(path + ".lock"); err != nil {
		return err
	}
	defer s.close()
	// Before the lock, another process could make the store and use it after this look.
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("counterstore: %s is there already", path)
	}
	return s.write(0)
}

// openStore locks and reads the store of a role and a configuration.
func openStore(path, role string, c packet.Config) (*store, error) {
	s := &store{path: path, key: fingerprint(role, c)}
	var err error
	if s.lock, err = lock(path + ".lock"); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close releases the lock. What is stored stays as it is.
func (s *store) close() error { return s.lock.Close() }

// Reserve stores a new end, n above the old one, and returns the old one. The id is not needed: the
// fingerprint tells the same.
func (s *store) Reserve(id [16]byte, n uint64) (first uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return 0, fmt.Errorf("counterstore: %s: released", s.path)
	}
	first = s.end
	return first, s.write(first + n)
}

// Release stores that no counter from next on was used, and that none will be.
func (s *store) Release(id [16]byte, next uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	return s.write(next)
}

// write stores an end durably. A lower one than before is right only if it comes from Stop, and
// nothing may follow Stop.
func (s *store) write(end uint64) error {
	if end > maxEnd {
		return fmt.Errorf("counterstore: %s: no counters are left: a new secret is needed", s.path)
	}
	temporary := s.path + ".new"
	if err := s.writeFile(temporary, format(s.key, end)); err != nil {
		return fmt.Errorf("counterstore: %s: not stored: %w", s.path, err)
	}
	if err := s.replace(temporary); err != nil {
		return fmt.Errorf("counterstore: %s: not stored: %w", s.path, err)
	}
	s.end = end
	return nil
}

func (s *store) writeFile(path string, b []byte) error {
	if err := s.at("create"); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.at("write"); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := s.at("sync"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := s.at("close"); err != nil {
		return err
	}
	return f.Close()
}

// replace puts the temporary file in the place of the store. The name is in the folder, so that is
// synced too.
func (s *store) replace(temporary string) error {
	if err := s.at("rename"); err != nil {
		return err
	}
	if err := rename(temporary, s.path); err != nil {
		return err
	}
	if err := s.at("sync folder"); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(s.path)); err != nil {
		return err
	}
	return s.at("stored")
}

func (s *store) at(step string) error {
	if s.before == nil {
		return nil
	}
	return s.before(step)
}

// read sets s.end to what is in the file, which must be as format makes it to the last byte. A link
// is refused: the store has another lock under its other name, and write would replace the link only.
func (s *store) read() error {
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("counterstore: %s is missing: with the same secret counters could repeat, so make a new secret and a new store", s.path)
	}
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("counterstore: %s is not a regular file", s.path)
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("counterstore: %w", err)
	}
	var key, sum string
	var end uint64
	_, err = fmt.Sscanf(string(b), title+"\nkey %s\nend %d\nsum %s\n", &key, &end, &sum)
	if err != nil || !bytes.Equal(b, format(key, end)) {
		return fmt.Errorf("counterstore: %s is damaged: make a new secret and a new store", s.path)
	}
	if key != s.key {
		return fmt.Errorf("counterstore: %s is for another secret, role or configuration", s.path)
	}
	if end > maxEnd {
		return fmt.Errorf("counterstore: %s: the end %d is above 2^56", s.path, end)
	}
	s.end = end
	return nil
}

// format returns the file. The sum is against accidents: whoever can write the file can set it
// back.
func format(key string, end uint64) []byte {
	b := fmt.Appendf(nil, "%s\nkey %s\nend %d\n", title, key, end)
	sum := sha256.Sum256(b)
	return fmt.Appendf(b, "sum %x\n", sum[:8])
}

// fingerprint tells keys apart, and the sender of a key from its receiver: each has counters of its
// own, and those of another one would repeat some. It tells nothing about the secret. Besides role
// and algorithm it has all that makes the key: of a Config, all but Window, MaxForged and Ahead.
func fingerprint(role string, c packet.Config) string {
	what := fmt.Sprintf("fastmac counterstore: %q UMAC, tags of %d bytes, from %q to %q, epoch %d, data of %d bytes",
		role, c.TagSize, c.Sender, c.Receiver, c.Epoch, c.DataSize)
	tag := fastmac.SumHMAC(crypto.SHA512, nil, c.Secret, []byte(what))
	return hex.EncodeToString(tag[:8])
}
