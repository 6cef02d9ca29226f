// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/packet"
)

var testConfig = config(bytes.Repeat([]byte{7}, secretSize))

// newStore returns the path of a new store.
func newStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	if err := createStore(path, "send", testConfig); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t *testing.T, path string) *store {
	t.Helper()
	s, err := openStore(path, "send", testConfig)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// steps are those of a write, in their order.
var steps = []string{"create", "write", "sync", "close", "rename", "sync folder", "stored"}

// id is that of no key: these stores have a fingerprint.
var id [16]byte

func TestOrder(t *testing.T) {
	s := mustOpen(t, newStore(t))
	defer s.close()
	var log []string
	s.before = func(step string) error {
		log = append(log, step)
		return nil
	}
	if n, err := s.Reserve(id, 10); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if !slices.Equal(log, steps) {
		t.Errorf("steps %q, want %q", log, steps)
	}
	log = nil
	if n, err := s.Reserve(id, 10); n != 10 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if !slices.Equal(log, steps) {
		t.Errorf("steps %q, want %q", log, steps)
	}
}

// TestFailedStep lets each step of a write fail. The range is not extended, and the file is a store
// with the end that is in use or a later one.
func TestFailedStep(t *testing.T) {
	for i, step := range steps {
		path := newStore(t)
		s := mustOpen(t, path)
		if _, err := s.Reserve(id, 10); err != nil {
			t.Fatal(err)
		}
		s.before = func(now string) error {
			if now == step {
				return errFull
			}
			return nil
		}
		if _, err := s.Reserve(id, 10); !errors.Is(err, errFull) {
			t.Errorf("failure before %q: error %v", step, err)
		}
		if s.end != 10 {
			t.Errorf("failure before %q: the end in use is %d", step, s.end)
		}
		s.before = nil
		s.close()

		s = mustOpen(t, path)
		want := uint64(10)
		if i > slices.Index(steps, "rename") {
			want = 20
		}
		if s.end != want {
			t.Errorf("failure before %q: %d is stored, want %d", step, s.end, want)
		}
		if n, err := s.Reserve(id, 10); err != nil || n != want {
			t.Errorf("after a failure before %q: %v, %v", step, n, err)
		}
		s.close()
	}
}

// TestStopFails lets each step of the last write fail. The file has the end of the range or what
// Stop returned, and both are above all counters that were used.
func TestStopFails(t *testing.T) {
	for _, step := range steps {
		path := newStore(t)
		s := mustOpen(t, path)
		if _, err := s.Reserve(id, 100); err != nil {
			t.Fatal(err)
		}
		s.before = func(now string) error {
			if now == step {
				return errFull
			}
			return nil
		}
		if err := s.write(50); !errors.Is(err, errFull) || s.end != 100 {
			t.Errorf("failure before %q: error %v, the end in use is %d", step, err, s.end)
		}
		s.close()
		s = mustOpen(t, path)
		if s.end != 50 && s.end != 100 {
			t.Errorf("failure before %q: %d is stored", step, s.end)
		}
		s.close()
	}
}

// TestNoRoom has failures of the system itself.
func TestNoRoom(t *testing.T) {
	path := newStore(t)
	s := mustOpen(t, path)
	defer s.close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reserve(id, 10); err == nil || !strings.Contains(err.Error(), "not stored") {
		t.Errorf("error %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store has changed: %v", err)
	}
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Reserve(id, 10); err != nil || n != 0 {
		t.Errorf("%v, %v", n, err)
	}
}

// TestLeftover has a temporary file of a write that was cut short.
func TestLeftover(t *testing.T) {
	path := newStore(t)
	if err := os.WriteFile(path+".new", format("x", 1<<40), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path)
	defer s.close()
	if n, err := s.Reserve(id, 10); err != nil || n != 0 {
		t.Errorf("%v, %v", n, err)
	}
}

// TestDamaged changes the file. It is refused, and left as it is.
func TestDamaged(t *testing.T) {
	path := newStore(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key := fingerprint("send", testConfig)
	bad := map[string][]byte{
		"empty":              {},
		"longer":             append(slices.Clone(good), '\n'),
		"above 2^56":         format(key, maxEnd+1),
		"other secret":       format(fingerprint("send", config([]byte("other"))), 10),
		"no number":          []byte(title + "\nkey " + key + "\nend -5\nsum 00\n"),
		"more than 64 bits":  []byte(title + "\nkey " + key + "\nend 18446744073709551616\nsum 00\n"),
		"zeros after a loss": make([]byte, len(good)),
	}
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		bad[fmt.Sprint("bit ", i)] = b
	}
	for n := range good {
		bad[fmt.Sprint(n, " bytes")] = good[:n]
	}
	for name, b := range bad {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := openStore(path, "send", testConfig); err == nil {
			s.close()
			t.Errorf("%s: no error", name)
		} else if !strings.HasPrefix(err.Error(), "counterstore: ") {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
			t.Errorf("%s: the file has changed: %v", name, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path).close()
}

func TestMissing(t *testing.T) {
	path := newStore(t)
	if err := createStore(path, "send", testConfig); err == nil {
		t.Error("a store is replaced")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(path, "send", testConfig); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a missing store: %v", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openStore(path, "send", testConfig); err == nil {
		t.Error("a folder is a store")
	}
	if _, err := openStore(filepath.Join(path, "no", "folder"), "send", testConfig); err == nil {
		t.Error("there is no such folder, and no error")
	}
}

// TestOtherUse opens a store for what it was not made for.
func TestOtherUse(t *testing.T) {
	path := newStore(t)
	if s, err := openStore(path, "receive", testConfig); err == nil {
		s.close()
		t.Error("the store of a sender is one of a receiver")
	}
	for name, change := range map[string]func(*packet.Config){
		"secret":    func(c *packet.Config) { c.Secret = bytes.Repeat([]byte{8}, secretSize) },
		"sender":    func(c *packet.Config) { c.Sender = "another" },
		"receiver":  func(c *packet.Config) { c.Receiver = "another" },
		"names":     func(c *packet.Config) { c.Sender, c.Receiver = c.Receiver, c.Sender },
		"epoch":     func(c *packet.Config) { c.Epoch++ },
		"tag size":  func(c *packet.Config) { c.TagSize = 8 },
		"data size": func(c *packet.Config) { c.DataSize = 4 },
	} {
		c := testConfig
		change(&c)
		if s, err := openStore(path, "send", c); err == nil {
			s.close()
			t.Errorf("another %s: no error", name)
		} else if !strings.Contains(err.Error(), "another secret, role or configuration") {
			t.Errorf("another %s: %v", name, err)
		}
	}
	mustOpen(t, path).close()
}

// TestLink has a second name of a store. Under it there would be a second lock.
func TestLink(t *testing.T) {
	path := newStore(t)
	link := path + " link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err) // no package helps: Windows allows it to few users
	}
	if s, err := openStore(link, "send", testConfig); err == nil {
		s.close()
		t.Error("a link is a store")
	} else if !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := createStore(link, "send", testConfig); err == nil {
		t.Error("a link that points nowhere is replaced")
	}
}

func TestLastCounters(t *testing.T) {
	path := newStore(t)
	s := mustOpen(t, path)
	defer s.close()
	if err := s.write(maxEnd - 10); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Reserve(id, 11); err == nil {
		t.Errorf("a range beyond 2^56: %v", n)
	}
	if n, err := s.Reserve(id, 10); err != nil || n != maxEnd-10 {
		t.Errorf("the last range: %v, %v", n, err)
	}
}

// TestLock has the second user in this process: the lock is of the open file.
func TestLock(t *testing.T) {
	path := newStore(t)
	s := mustOpen(t, path)
	if _, err := openStore(path, "send", testConfig); !errors.Is(err, errLocked) {
		t.Errorf("a second user: %v", err)
	}
	// It must have the lock before it looks whether there is a store.
	if err := createStore(path, "send", testConfig); !errors.Is(err, errLocked) {
		t.Errorf("a store is made anew while it is in use: %v", err)
	}
	s.close()
	mustOpen(t, path).close()
}
