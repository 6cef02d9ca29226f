// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// An oldList is the list that an update begins with.
type oldList struct {
	*list.List
	*pathIndex
	info    os.FileInfo
	found   []bool // the lines whose files are among the entries
	readAll bool   // also the files that seem to be as they were
	options *Options
}

// readOld reads the list of Update, if there is one, which must be as it was written.
func (o *Options) readOld(ctx context.Context, r *run) (*oldList, error) {
	if o.Update == "" {
		return nil, nil
	}
	key, err := o.readOldKey(ctx, r)
	if err == nil && o.AtLeast != nil {
		err = o.AtLeast.read()
	}
	if err != nil {
		return nil, err
	}
	f, err := openList(o.Update)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such list: the first one is made with -o", shown(o.Update))
	}
	if err != nil {
		return nil, about(o.Update, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, about(o.Update, errors.New("is not a regular file"))
	}
	l, err := list.Read(f, key, o.Zero)
	if err == nil {
		err = l.Check(key)
	}
	if err == nil {
		err = l.Complete()
	}
	if err == nil && l.Bad > 0 {
		err = fmt.Errorf("line %d: %w", l.Malformed[0].Number, l.Malformed[0].Err)
	}
	if err == nil && l.About.Serial == math.MaxUint64 {
		err = errors.New("it has the last serial number: make a new list with -o")
	}
	if err == nil && o.AtLeast != nil {
		err = o.AtLeast.check(l.About.Serial)
	}
	if err != nil {
		return nil, about(o.Update, err)
	}
	return &oldList{l, newPathIndex(&l.Lines), info, make([]bool, l.Lines.Len()), o.VerifyAll || key != r.key, o}, nil
}

// readOldKey returns the key of the old list, which may be that of the new one.
func (o *Options) readOldKey(ctx context.Context, r *run) (*list.Key, error) {
	if o.OldKeyFile == "" {
		return r.key, nil
	}
	key, err := readKey(ctx, o.OldKeyFile, "", o.Algorithm, o.Stdin, o.Stderr)
	if err != nil {
		return nil, err
	}
	r.oldKey, r.files.Twice = key, true // both keys must see the same content
	if key.ID == r.key.ID {
		return nil, errors.New("the old key is the new one")
	}
	return key, nil
}

// withPatterns returns those of the list and texts, which it may have already.
func (o *oldList) withPatterns(texts []string) []string {
	if n := len(o.Patterns) - len(texts); n >= 0 && slices.Equal(o.Patterns[n:], texts) {
		return o.Patterns
	}
	return slices.Concat(o.Patterns, texts)
}

// line returns the line of a path, or nil. A nil oldList has none.
func (o *oldList) line(path string) *list.Line {
	if o == nil {
		return nil
	}
	i, ok := o.find(path)
	if !ok {
		return nil
	}
	l := o.Lines.At(i)
	return &l
}

// rename gives a line the path at which its file was found, if that differs in case.
func (o *oldList) rename(l *list.Line, path string) {
	if l.Path != path && o.Absolute(l.Path) != o.Absolute(path) {
		l.Path = path
	}
}

// mark notes that a file is among the entries.
func (o *oldList) mark(path string) {
	if o == nil {
		return
	}
	if i, ok := o.find(path); ok {
		o.found[i] = true
	}
}

// isSame reports whether the file of a line is taken for unchanged without reading it.
func (o *oldList) isSame(l *list.Line, f *tree.Finder) bool {
	if o.readAll || l.State.Inode == 0 && !o.options.MinimalStat {
		return false
	}
	info, err := f.Look(l.Path)
	return err == nil && o.options.hasState(l, f, info)
}

// stateOf returns what a line has of a file.
func (o *Options) stateOf(f *tree.Finder, path string, i tree.Info) list.State {
	s := list.State{Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}
	if !o.MinimalStat {
		s.Inode = f.Inode(path, i)
	}
	return s
}

// hasState reports whether a file has the size, the times and, if its line has one, the inode of its line.
func (o *Options) hasState(l *list.Line, f *tree.Finder, i tree.Info) bool {
	was, now := l.State, list.State{Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}
	switch {
	case o.MinimalStat:
		was.Inode = 0
	case was.Inode != 0:
		now.Inode = f.Inode(l.Path, i)
	}
	return l.State != list.State{} && was == now
}

// rest adds the files of the list that are in no folder that was walked, and returns those that are gone
// or that patterns and options leave out now. The folders that could not be walked are failed, and those that
// options leave out are left.
func (o *oldList) rest(folders, failed, left []string, patterns []pattern, add func(tree.Entry)) (gone []File, err error) {
	before, err := parsePatterns(o.Patterns)
	if err != nil {
		return nil, err
	}
	skipped, skip := make(map[string]skipFunc), make(map[string]skipFunc)
	for _, folder := range folders {
		skipped[tree.WithSlash(folder)], skip[tree.WithSlash(folder)] = skipperIn(folder, before), skipperIn(folder, patterns)
	}
	folders, failed, left = tree.WithSlashes(folders), tree.WithSlashes(failed), tree.WithSlashes(left)
	for l := range o.Lines.All() {
		i, _ := o.find(l.Path)
		if o.found[i] {
			continue
		}
		o.found[i] = true // also for another line of the same file
		info, err := tree.LookAt(l.Path)
		folder := tree.Above(folders, l.Path)
		below := l.Path[len(folder):]
		switch {
		case tree.Above(failed, l.Path) != "":
			add(tree.Entry{Path: l.Path, Err: errors.New("its folder could not be read, or is empty")})
		case tree.Nowhere(err) || err == nil && info.Kind.IsDir():
			gone = append(gone, File{Path: l.Path, Result: resultGone})
		case folder == "" || err != nil || skips(skipped[folder], below, false): // an argument
			add(tree.Entry{Path: l.Path})
		case skips(skip[folder], below, false) || tree.Above(left, l.Path) != "":
			gone = append(gone, File{Path: l.Path, Result: resultExcluded})
		default: // it is no file any more, or behind a link to a folder
			gone = append(gone, File{Path: l.Path, Result: resultGone})
		}
	}
	for _, path := range o.Unread {
		if info, err := tree.LookAt(path); tree.Above(folders, path) == "" && !(err == nil && info.Kind.IsDir()) {
			add(tree.Entry{Path: path})
		}
	}
	return gone, nil
}
