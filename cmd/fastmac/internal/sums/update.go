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
	"strings"
)

// An oldList is the list that an update begins with.
type oldList struct {
	*list
	key     *Key           // of the list, or nil if it is that of the new one
	at      map[string]int // the lines, by path
	readAll bool           // also the files whose size and times are as they were
}

// readOld reads the list of Update, which must be as it was written, and takes its folders and patterns.
func (t *tagger) readOld(ctx context.Context) error {
	key := t.key
	t.old = &oldList{readAll: t.VerifyAll, at: make(map[string]int)}
	if t.OldKeyFile != "" {
		var err error
		if key, err = ReadKey(ctx, t.OldKeyFile, "", t.Stdin, t.Stderr); err != nil {
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
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return about(t.Update, errors.New("is not a regular file"))
	}
	l, err := readList(f, key, t.Zero)
	if err == nil {
		err = l.check(key)
	}
	if err == nil {
		err = l.complete()
	}
	if err == nil && len(l.malformed) > 0 {
		err = fmt.Errorf("line %d: %w", l.malformed[0].number, l.malformed[0].err)
	}
	if err != nil {
		return about(t.Update, err)
	}
	t.old.list, t.folders, t.patterns = l, l.folders, l.patterns
	for i := range l.lines {
		t.old.at[l.lines[i].path] = i
	}
	return nil
}

// line returns the line of a path, or nil.
func (o *oldList) line(path string) *line {
	if i, ok := o.at[path]; ok {
		return &o.lines[i]
	}
	return nil
}

// isSame reports whether the file of a line is taken for unchanged without reading it.
func (o *oldList) isSame(l *line, path string) bool {
	if o.readAll || l.times == "" {
		return false
	}
	info, err := lookAt(path)
	return err == nil && info.times() == l.times
}

// addOld adds the files of the old list that are in no folder that was walked, and finds those that
// are gone or that patterns leave out now.
func (t *tagger) addOld(skip func(path string, isDir bool) bool) {
	there := make(map[string]bool, len(t.entries))
	for _, e := range t.entries {
		if e.left == "" {
			there[e.path] = true
		}
	}
	for i := range t.old.lines {
		path := t.old.lines[i].path
		if there[path] {
			continue
		}
		_, err := lookAt(path)
		below, walked := t.below(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			t.dropped = append(t.dropped, File{Path: path, Result: resultGone})
		case err == nil && walked && skips(skip, below):
			t.dropped = append(t.dropped, File{Path: path, Result: resultExcluded})
		case err == nil && walked: // it is no file any more, or behind a link to a folder
			t.dropped = append(t.dropped, File{Path: path, Result: resultGone})
		default:
			t.entries = append(t.entries, entry{path: path})
		}
	}
	for _, path := range t.old.unread {
		if _, walked := t.below(path); !walked && !there[path] {
			t.entries = append(t.entries, entry{path: path})
		}
	}
}

// below returns a path without the folder that was walked and that has it, and whether there is one.
func (t *tagger) below(path string) (string, bool) {
	for _, folder := range t.folders {
		if !strings.HasSuffix(folder, "/") {
			folder += "/"
		}
		if rest, ok := strings.CutPrefix(path, folder); ok {
			return rest, true
		}
	}
	return "", false
}

// skips reports whether a file or one of its folders is left out.
func skips(skip func(path string, isDir bool) bool, path string) bool {
	if skip == nil {
		return false
	}
	for i, c := range []byte(path) {
		if c == '/' && skip(path[:i], true) {
			return true
		}
	}
	return skip(path, false)
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
