// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const (
	title   = "fastmac counters 2"
	warning = "Do not edit, copy or restore this file: counters would repeat."
	unbound = "none"
	maxEnd  = 1 << 56 // as package packet has it
	maxSize = 1 << 10 // above the bytes of any file, so that no other one is read whole
)

// A state is what a file says.
type state struct {
	id    [16]byte
	bound bool   // there is an id; otherwise end is 0
	end   uint64 // no counter from this one on was used; at most maxEnd
}

// format returns the file.
func format(s state) []byte {
	id := unbound
	if s.bound {
		id = hex.EncodeToString(s.id[:])
	}
	b := fmt.Appendf(nil, "%s\n%s\nid %s\nend %d\n", title, warning, id, s.end)
	sum := sha256.Sum256(b)
	return fmt.Appendf(b, "sum %x\n", sum[:8])
}

// parse is the inverse of format. It takes no other bytes.
func parse(b []byte) (s state, ok bool) {
	var id, sum string
	if _, err := fmt.Sscanf(string(b), title+"\n"+warning+"\nid %s\nend %d\nsum %s\n", &id, &s.end, &sum); err != nil {
		return state{}, false
	}
	if id != unbound {
		n, err := hex.Decode(s.id[:], []byte(id[:min(len(id), 2*len(s.id))]))
		if err != nil || n != len(s.id) {
			return state{}, false
		}
		s.bound = true
	}
	ok = bytes.Equal(b, format(s)) && s.end <= maxEnd && (s.bound || s.end == 0)
	return s, ok
}

// read returns what a file says. A link is refused: replacing it would leave the file as it is.
func read(path string) (state, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, fmt.Errorf("store: %s is missing: with the same secret counters could repeat, so make a new secret and a new store", path)
	}
	if err != nil {
		return state{}, fmt.Errorf("store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return state{}, fmt.Errorf("store: %s is not a regular file", path)
	}
	var b []byte
	if info.Size() <= maxSize {
		if b, err = os.ReadFile(path); err != nil {
			return state{}, fmt.Errorf("store: %w", err)
		}
	}
	s, ok := parse(b)
	if !ok {
		return state{}, fmt.Errorf("store: %s is damaged, or not a store: make a new secret and a new store", path)
	}
	return s, nil
}
