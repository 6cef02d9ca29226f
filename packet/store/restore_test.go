// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A bench has a store in which counters up to 20 are used, and the files from when it was up to 10.
type bench struct {
	*testing.T
	path                     string
	oldFile, oldLock, former []byte // former is a lock from before the file was replaced
}

func newBench(t *testing.T) *bench {
	small(t)
	b := &bench{T: t, path: newStore(t)}
	b.former = mustRead(t, b.path+".lock")
	b.use(b.path, 0, 2)
	b.use(b.path, 2, 4)
	b.use(b.path, 6, 4) // the file is replaced before
	b.oldFile, b.oldLock = mustRead(t, b.path), mustRead(t, b.path+".lock")
	b.use(b.path, 10, 10)
	return b
}

// use has a process that begins with a counter and uses n.
func (b *bench) use(path string, first, n uint64) {
	b.Helper()
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	mustReserve(b.T, f, n, first)
	f.Close()
}

func (b *bench) refuses(path, text string) {
	b.Helper()
	f, err := Open(path)
	if err == nil {
		f.Close()
	}
	wantError(b.T, err, path, text)
}

// copied copies both files to another folder, or moves them.
func (b *bench) copied(move bool) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "other")
	for _, end := range []string{"", ".lock"} {
		mustWrite(b.T, path+end, mustRead(b.T, b.path+end))
		if move {
			if err := os.Remove(b.path + end); err != nil {
				b.Fatal(err)
			}
		}
	}
	return path
}

// happened has the table in the documentation of the package.
var happened = []struct {
	what, then string
	test       func(b *bench)
}{
	{"the process was killed", "Open goes on", func(b *bench) {
		f := mustOpen(b.T, b.path)
		f.set.before = failAt("write lock") // TestKilled has all steps
		f.Reserve(id, 5)
		f.Close()
		b.use(b.path, 25, 5)
	}},
	{"the power was cut", "Open goes on", powerCut},
	{"both files were moved", "Open goes on", func(b *bench) { b.use(b.copied(true), 20, 5) }},
	{"the lock was restored", "Open goes on, or refuses", func(b *bench) {
		mustWrite(b.T, b.path+".lock", b.oldLock)
		b.use(b.path, 20, 5)
		mustWrite(b.T, b.path+".lock", b.former)
		b.refuses(b.path, "it was restored")
	}},
	{"a file is missing", "Open refuses", func(b *bench) {
		lock := mustRead(b.T, b.path+".lock")
		os.Remove(b.path + ".lock")
		b.refuses(b.path, "copied or restored")
		mustWrite(b.T, b.path+".lock", lock)
		os.Remove(b.path)
		b.refuses(b.path, "is missing")
	}},
	{"a file is damaged", "Open refuses", func(b *bench) { // TestDamaged and TestDamagedLock have each bit
		last := bytes.LastIndexFunc(mustRead(b.T, b.path), func(r rune) bool { return r != 0 })
		for _, at := range []int{0, headSize, headSize + recordSize, last} {
			file := mustRead(b.T, b.path)
			file[at] ^= 0x40
			mustWrite(b.T, b.path, file)
			b.refuses(b.path, "damaged")
			file[at] ^= 0x40
			mustWrite(b.T, b.path, file)
		}
		mustWrite(b.T, b.path+".lock", nil)
		b.refuses(b.path, ".lock is damaged")
	}},
	{"the file was restored", "Open refuses", func(b *bench) {
		mustWrite(b.T, b.path, b.oldFile)
		b.refuses(b.path, "it was restored")
	}},
	{"the file was copied without its lock", "Open refuses", func(b *bench) {
		path := b.copied(false)
		os.Remove(path + ".lock")
		b.refuses(path, "copied or restored")
	}},
	{"both were copied, and later the file was put back", "Open refuses", func(b *bench) {
		path := b.copied(false)
		b.use(path, 20, 5)
		b.use(b.path, 20, 6)
		mustWrite(b.T, b.path, mustRead(b.T, path))
		b.refuses(b.path, "copied")
		b.use(path, 25, 5) // so that it has a higher number
		mustWrite(b.T, b.path, mustRead(b.T, path))
		b.refuses(b.path, "copied")
	}},
	{"the file is of another store", "Open refuses", func(b *bench) {
		mustWrite(b.T, b.path, mustRead(b.T, newStore(b.T)))
		b.refuses(b.path, "not the file of its lock")
		path := newStore(b.T) // both are new
		mustWrite(b.T, path, mustRead(b.T, b.path))
		b.refuses(path, "not the file of its lock")
	}},
	{"the file was restored while it was open", "the next write fails", func(b *bench) { // TestChanged has more
		f := mustOpen(b.T, b.path)
		mustReserve(b.T, f, 5, 20)
		mustWrite(b.T, b.path, b.oldFile)
		_, err := f.Reserve(id, 5)
		wantError(b.T, err, b.path, "it was restored")
		f.Close()
		b.refuses(b.path, "it was restored")
	}},
	{"both files were restored", "not noticed", func(b *bench) {
		mustWrite(b.T, b.path, b.oldFile)
		mustWrite(b.T, b.path+".lock", b.oldLock)
		b.use(b.path, 10, 10)
	}},
	{"both files were copied, and both copies are used", "not noticed", func(b *bench) {
		path := b.copied(false)
		b.use(path, 20, 5)
		b.use(b.path, 20, 5)
	}},
	{"a snapshot of a disk or a machine was restored", "not noticed", func(b *bench) {
		restore := keep(b.T, b.path)
		b.use(b.path, 20, 5)
		restore()
		b.use(b.path, 20, 5)
	}},
	{"both files are missing, and Create is called", "not noticed by a new process", func(b *bench) {
		os.Remove(b.path)
		os.Remove(b.path + ".lock")
		b.refuses(b.path, "is missing")
		wantError(b.T, Create(b.path), b.path, "was missing")
		clear(missing.stores) // a new process
		if err := Create(b.path); err != nil {
			b.Error(err)
		}
		b.use(b.path, 0, 5)
	}},
}

func TestHappened(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "what happened")
	table, _, _ = strings.Cut(table, "\n//\n")
	rows := strings.Split(table, "\n")[1:]
	for i, row := range rows {
		rows[i] = strings.Join(regexp.MustCompile(`  +`).Split(strings.TrimPrefix(row, "//\t"), -1), ": ")
	}
	var want []string
	for _, h := range happened {
		want = append(want, h.what+": "+h.then)
		t.Run(h.what, func(t *testing.T) { h.test(newBench(t)) })
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the documentation says\n%q\nwant\n%q", rows, want)
	}
}

// powerCut has a power cut before each step of some writes, of which some replace the file. Of what is not
// synced the disk has all, nothing, or a part.
func powerCut(b *bench) {
	s, err := OpenSet(b.path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	f, err := s.Open("")
	if err != nil {
		b.Fatal(err)
	}
	now := func() [2][]byte { return [2][]byte{mustRead(b.T, b.path), mustRead(b.T, b.path+".lock")} }
	var done string // the last step
	var ends []uint64
	synced, cuts, path := now(), 0, filepath.Join(b.TempDir(), "after")
	s.before = func(step string) error {
		disk := now()
		switch done {
		case "sync", "sync folder":
			synced[0] = disk[0]
		case "sync lock":
			synced[1] = disk[1]
		}
		for _, file := range mixed(synced[0], disk[0], done != "rename") {
			for _, lock := range mixed(synced[1], disk[1], true) {
				cuts++
				mustWrite(b.T, path, file)
				mustWrite(b.T, path+".lock", lock)
				f, err := Open(path)
				if err != nil {
					b.Errorf("after %q: %v", done, err)
					continue
				}
				if !slices.Contains(ends, f.end) || step == "return" && f.end != ends[1] {
					b.Errorf("after %q: the end is %d, want one of %d", done, f.end, ends)
				}
				f.Close()
			}
		}
		done = step
		return nil
	}
	for i, end := range []uint64{25, 30, 31, 32, 33, 40, 35} {
		ends, done = []uint64{f.end, end}, ""
		if end < f.end {
			mustRelease(b.T, f, end)
		} else {
			mustReserve(b.T, f, end-f.end, f.end)
		}
		if i == 3 {
			ends, done = []uint64{f.end, f.end}, ""
			if err := s.Create("a", "b", "c", "d"); err != nil {
				b.Error(err)
			}
		}
	}
	if cuts < 300 {
		b.Errorf("%d power cuts", cuts)
	}
}

// mixed returns what a disk may have while it writes. It may write the end first.
func mixed(before, after []byte, inPlace bool) [][]byte {
	if bytes.Equal(before, after) {
		return [][]byte{after}
	}
	all := [][]byte{before, after}
	if before = append(slices.Clone(before), make([]byte, max(0, len(after)-len(before)))...); !inPlace {
		return all
	}
	for i := 0; i < len(after); i += 8 {
		if !bytes.Equal(before[i:min(i+8, len(after))], after[i:min(i+8, len(after))]) {
			all = append(all, slices.Concat(after[:i+4], before[i+4:]), slices.Concat(before[:i+4], after[i+4:]))
		}
	}
	return all
}
