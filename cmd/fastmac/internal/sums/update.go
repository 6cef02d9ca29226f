// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// An oldList is the list that an update begins with.
type oldList struct {
	*list
	*pathIndex
	info    os.FileInfo
	key     *Key   // of the list, or nil if it is that of the new one
	found   []bool // the lines whose files are among the entries
	readAll bool   // also the files whose size and times are as they were
}

// readOld reads the list of Update, which must be as it was written, and takes its folders and patterns.
func (t *tagger) readOld(ctx context.Context) error {
	key := t.key
	t.old = &oldList{readAll: t.VerifyAll}
	if t.OldKeyFile != "" {
		var err error
		key, err = ReadKey(ctx, t.OldKeyFile, "", t.Stdin, t.Stderr)
		if _, ok := errors.AsType[NoAlgorithmError](err); ok && t.Algorithm != "" && t.OldKeyFile != "-" {
			key, err = ReadKey(ctx, t.OldKeyFile, t.Algorithm, t.Stdin, t.Stderr)
		}
		if err != nil {
			return err
		}
		if key.id == t.key.id {
			return errors.New("the old key is the new one")
		}
		t.old.key, t.old.readAll = key, true
		t.key.previous = key
	}
	f, err := os.Open(t.Update)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such list: the first one is made with -o", Escape(t.Update))
	}
	if err != nil {
		return about(t.Update, err)
	}
	defer f.Close()
	if t.old.info, err = f.Stat(); err != nil || !t.old.info.Mode().IsRegular() {
		return about(t.Update, errors.New("is not a regular file"))
	}
	l, err := readList(f, key, t.Zero, true)
	if err == nil {
		err = l.check(key)
	}
	if err == nil {
		err = l.complete()
	}
	if err == nil && l.bad > 0 {
		err = fmt.Errorf("line %d: %w", l.malformed[0].number, l.malformed[0].err)
	}
	if err != nil {
		return about(t.Update, err)
	}
	t.old.list, t.old.pathIndex, t.old.found = l, newPathIndex(&l.lines), make([]bool, l.lines.len())
	t.folders, t.patterns = slices.Clone(l.folders), slices.Clone(l.patterns)
	return nil
}

// line returns the line of a path, or nil. A nil oldList has none.
func (o *oldList) line(path string) *line {
	if o == nil {
		return nil
	}
	i, ok := o.find(path)
	if !ok {
		return nil
	}
	l := o.list.lines.at(i)
	return &l
}

// isSame reports whether the file of a line is taken for unchanged without reading it.
func (o *oldList) isSame(l *line, f *finder) bool {
	if o.readAll || l.times == "" {
		return false
	}
	info, err := f.look(l.path)
	return err == nil && info.times() == l.times
}

// addOld adds the files of the old list that are in no folder that was walked, and finds those that
// are gone or that patterns leave out now.
func (t *tagger) addOld(skip func(path string, isDir bool) bool) error {
	before, err := parsePatterns(t.old.patterns)
	if err != nil {
		return about(t.Update, err)
	}
	skipped := skipper(before)
	folders := withSlashes(t.folders)
	var failed []string // folders that could not be walked
	for _, e := range t.entries {
		if i, ok := t.old.find(e.path); ok && e.left() == "" {
			t.old.found[i] = true
		}
		if e.err != nil && e.left() == "" {
			failed = append(failed, withSlash(e.path))
		}
	}
	for l := range t.old.list.lines.all() {
		i, _ := t.old.find(l.path)
		if t.old.found[i] {
			continue
		}
		t.old.found[i] = true // also for another line of the same file
		info, err := lookAt(l.path)
		folder := above(folders, l.path)
		below := l.path[len(folder):]
		switch {
		case above(failed, l.path) != "":
			t.entries = append(t.entries, entry{path: l.path, err: errors.New("its folder could not be read")})
		case nowhere(err) || err == nil && info.kind.IsDir():
			t.dropped = append(t.dropped, File{Path: l.path, Result: resultGone})
		case folder == "" || err != nil || skips(skipped, below, false): // an argument
			t.entries = append(t.entries, entry{path: l.path})
		case skips(skip, below, false):
			t.dropped = append(t.dropped, File{Path: l.path, Result: resultExcluded})
		default: // it is no file any more, or behind a link to a folder
			t.dropped = append(t.dropped, File{Path: l.path, Result: resultGone})
		}
	}
	for _, path := range t.old.unread {
		if info, err := lookAt(path); above(folders, path) == "" && !(err == nil && info.kind.IsDir()) {
			t.entries = append(t.entries, entry{path: path})
		}
	}
	return nil
}

// removeRepeated removes entries of files that are there already, such as those of a folder in another
// one.
func (t *tagger) removeRepeated(at places) {
	seen := make(map[string]bool, len(t.entries))
	t.entries = slices.DeleteFunc(t.entries, func(e entry) bool {
		if e.left() != "" { // it may also be an argument
			return false
		}
		path := at.absolute(e.path)
		repeated := seen[path]
		seen[path] = true
		return repeated
	})
}

// A pair is the stream of a new key that also computes the tag under the key of before.
type pair struct {
	stream
	old stream
}

func (p *pair) Write(b []byte) (int, error) {
	p.old.Write(b)
	return p.stream.Write(b)
}

func (p *pair) Reset()   { p.stream.Reset(); p.old.Reset() }
func (p *pair) Destroy() { p.stream.Destroy(); p.old.Destroy() }

// verifyOld reports whether the tag of a line is that of what was read.
func (r *reader) verifyOld(l *line) bool {
	if p, ok := r.stream.(*pair); ok {
		return p.old.Verify(l.tag, l.nonce)
	}
	return r.stream.Verify(l.tag, l.nonce)
}
