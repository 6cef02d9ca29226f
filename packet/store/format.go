// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	title   = "fastmac counters 3\n"
	warning = "Do not edit, copy or restore this file: counters would repeat.\n"
	earlier = "fastmac counters 2\n"

	headSize   = 128
	recordSize = 64
	sectorSize = 512 // of disks, which write one as a whole, or not

	maxEnd    = 1 << 56 // as package packet has it
	maxStores = 1 << 18
)

// spare is how many records are written before the file is replaced. With one store it has 4 KiB.
var spare = 59 // less in tests

// head is how a file begins, for people.
var head = title + warning + strings.Repeat(" ", headSize-len(title+warning)-1) + "\n"

// fileSize returns the bytes of a file with n stores, which do not change until it is replaced: a
// write is faster if it does not make the file longer.
func fileSize(n int) int { return headSize + (1+2*n+spare)*recordSize }

// A sum is the first half of a SHA-256. A key is that of the name of a store.
type sum = [16]byte

func keyOf(name string) sum {
	h := sha256.Sum256([]byte(name))
	return sum(h[:])
}

// A state is what is stored under a name.
type state struct {
	id    [16]byte
	bound bool   // there is an id; otherwise end is 0
	end   uint64 // no counter from this one on was used; at most maxEnd
}

// A mark is the number of a record and its sum. That is also of the mark of the record before it,
// and so of all records since the first mark, whose sum is random: what has this mark has the same
// history.
type mark struct {
	seq uint64
	sum sum
}

// A record is a change: the store key is in the state from now on.
type record struct {
	key sum
	state
}

// append appends the record that comes after m, and sets m to its mark.
func (r record) append(b []byte, m *mark) []byte {
	n := len(b)
	m.seq++
	end := r.end << 1
	if r.bound {
		end |= 1
	}
	b = append(append(b, r.key[:]...), r.id[:]...)
	b = binary.BigEndian.AppendUint64(b, m.seq)
	b = binary.BigEndian.AppendUint64(b, end)
	h := sha256.Sum256(append(m.sum[:], b[n:]...))
	m.sum = sum(h[:])
	return append(b, m.sum[:]...)
}

// next reads the record that comes after m, and sets m to its mark, or leaves it.
func (m *mark) next(b []byte) (r record, ok bool) {
	if len(b) < recordSize {
		return record{}, false
	}
	b = b[:recordSize]
	end := binary.BigEndian.Uint64(b[40:])
	r = record{sum(b), state{[16]byte(b[16:]), end&1 != 0, end >> 1}}
	after := *m
	if !bytes.Equal(b, r.append(nil, &after)) || r.end > maxEnd || !r.bound && (r.end != 0 || r.id != [16]byte{}) {
		return record{}, false
	}
	*m = after
	return r, true
}

// format returns a half of a lock: a record after none, with the mark in place of key and end.
func (m mark) format() []byte {
	return record{m.sum, state{bound: true, end: m.seq}}.append(nil, new(mark))
}

// lastMark returns the mark that was written last to a lock, and which half has it. One half may have
// anything, after a write that was cut short.
func lastMark(b []byte) (last mark, half int, ok bool) {
	for i := range 2 {
		if r, good := new(mark).next(b[min(i*sectorSize, len(b)):]); good && (!ok || r.end > last.seq) {
			last, half, ok = mark{r.end, r.key}, i, true
		}
	}
	return last, half, ok
}

// A journal is what a file says: after the head, how many stores there were, and the mark of the last
// record, when it was written; their states; and the records since then. The rest is zero, or of a
// write that was cut short.
type journal struct {
	mark   // of the last record
	states map[sum]state

	size  int // of the file, when it is whole
	used  int // bytes of it up to the end of the last record
	last  [recordSize]byte
	whole bool // in parse: it has the mark that was looked for
}

// format returns a file with the states, and sets j to it.
func (j *journal) format() []byte {
	b := make([]byte, 0, fileSize(len(j.states)))
	b = append(b, head...)
	m := mark{seq: j.seq}
	b = record{j.sum, state{bound: true, end: uint64(len(j.states))}}.append(b, &m)
	for key, s := range j.states {
		b = record{key, s}.append(b, &m)
	}
	j.used, j.size = len(b), cap(b)
	j.last = [recordSize]byte(b[len(b)-recordSize:])
	return b[:cap(b)]
}

// parse is the inverse of format. It reports in whole whether the file has a mark.
func parse(b []byte, want mark) (j journal, ok bool) {
	if len(b) < headSize+recordSize || string(b[:headSize]) != head {
		return j, false
	}
	// The first record is after none, except that it has a number.
	m := mark{seq: binary.BigEndian.Uint64(b[headSize+32:]) - 1}
	j.seq = m.seq
	first, ok := m.next(b[headSize:])
	if !ok || first.end > maxStores || len(b) != fileSize(int(first.end)) {
		return j, false
	}
	j.sum, j.size = first.key, len(b)
	j.states = make(map[sum]state, first.end)
	at := headSize + recordSize
	for range first.end {
		r, ok := m.next(b[at:])
		if !ok {
			return j, false
		}
		j.states[r.key] = r.state
		at += recordSize
	}
	j.whole = j.mark == want
	for r, ok := j.next(b[at:]); ok; r, ok = j.next(b[at:]) {
		j.states[r.key] = r.state
		j.whole = j.whole || j.mark == want
		at += recordSize
	}
	j.used, j.last = at, [recordSize]byte(b[at-recordSize:])
	return j, true
}

// read returns what a file says, and whether it has a mark.
func read(f *os.File, want mark) (journal, error) {
	path := f.Name()
	b, err := io.ReadAll(io.LimitReader(f, int64(fileSize(maxStores))+1)) // no other file is read whole
	if err != nil {
		return journal{}, fmt.Errorf("store: %w", err)
	}
	j, ok := parse(b, want)
	switch {
	case ok:
		return j, nil
	case bytes.HasPrefix(b, []byte(earlier)):
		return journal{}, fmt.Errorf("store: %s has the format of an earlier version of this package: make a new secret and a new store", path)
	}
	return journal{}, fmt.Errorf("store: %s is damaged, or not a store: make a new secret and a new store", path)
}
