// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// A plan is what a list is to have.
type plan struct {
	entries  []tree.Entry
	folders  []string // that were walked: files below them are not reached through links
	patterns []string // of what was left out there
	options  []string // list.OneFileSystem and list.ExcludeCaches
	excluded int      // by them

	unmatched []string // warnings about those of Exclude that match nothing
	gone      []File   // lines of the old list that the new one does not have

	old    *oldList
	at     tree.Places
	walked *tree.PathSet // folders
	seen   *tree.PathSet // entries, if one can be found twice, such as in a folder in another one, or nil
	files  int           // found so far, also those that cannot be read
	failed []string      // folders that could not be walked
	left   []string      // those that options have left out
}

// plan finds the files of the arguments, in order, and those of the old list, less what the patterns leave
// out of folders. If Recursive, a folder stands for the files in it and in its folders, sorted by name: the
// regular ones and links to them. Links to folders are not followed, unless they are arguments. Paths have
// slashes on all systems, because lists travel: Windows has them in place of backslashes, and others have
// backslashes in names.
func (o *Options) plan(ctx context.Context, old *oldList, args, patterns []string) (*plan, error) {
	p := &plan{entries: make([]tree.Entry, 0, len(args)), patterns: patterns, old: old, at: tree.NewPlaces()}
	p.walked = tree.NewPathSet(p.at)
	if old != nil {
		p.folders, p.patterns = slices.Clone(old.Folders), old.withPatterns(patterns)
		if len(args) > 0 || len(old.Folders) > 1 {
			p.seen = tree.NewPathSet(p.at)
		}
	}
	p.options = o.options(old)
	parsed, err := parsePatterns(p.patterns)
	if err != nil {
		return nil, err
	}
	watch(parsed[len(parsed)-len(o.Exclude):], p.at, slices.Concat(p.folders, args))
	for _, folder := range p.folders {
		p.walk(ctx, parsed, folder)
	}
	for _, path := range args {
		path = filepath.ToSlash(path)
		if !o.Recursive || !isFolder(path) {
			p.add(tree.Entry{Path: path})
		} else if p.walk(ctx, parsed, path) {
			p.folders = append(p.folders, path)
		}
	}
	if old != nil {
		if p.gone, err = old.rest(p.folders, p.failed, p.left, parsed, p.add); err != nil {
			return nil, about(o.Update, err)
		}
	}
	p.unmatched = unmatched(parsed)
	return p, ctx.Err()
}

// walk adds the files in a folder, unless that was done. It reports whether it has done it.
func (p *plan) walk(ctx context.Context, patterns []pattern, folder string) bool {
	if !p.walked.Add(folder) {
		return false
	}
	before := p.files
	w := tree.NewWalker(skipperIn(folder, patterns), p.add)
	w.Mounts, w.Caches = p.leaves(list.OneFileSystem), p.leaves(list.ExcludeCaches)
	w.Walk(ctx, folder)
	p.excluded += w.Skipped
	if p.files == before {
		// Such as a disk that is not mounted: an empty list would say that all is well.
		p.add(tree.Entry{Path: folder, Err: errors.New("has no files")})
	}
	return true
}

// leaves returns what an option leaves out, for a Walker.
func (p *plan) leaves(option string) func(above, folder string) bool {
	if !slices.Contains(p.options, option) {
		return nil
	}
	return func(_, _ string) bool { return true }
}

func isFolder(path string) bool {
	info, err := tree.LookAt(path)
	return path != "-" && err == nil && info.Kind.IsDir()
}

// leftUnfinished is the reason for a file that will be a list, or nothing.
const leftUnfinished tree.LeftOut = "a list that another fastmac writes"

// add adds an entry, unless that of its file is there already.
func (p *plan) add(e tree.Entry) {
	if e.Err == tree.LeftMount || e.Err == tree.LeftCache {
		p.left = append(p.left, e.Path)
	}
	if e.Found && isUnfinished(e.Path) {
		e.Err = leftUnfinished
	}
	if _, left := e.Err.(tree.LeftOut); !left { // that may also be an argument
		p.files++
		p.old.mark(e.Path)
		if e.Err != nil {
			p.failed = append(p.failed, e.Path)
		}
		if p.seen != nil && !p.seen.Add(e.Path) {
			return
		}
	}
	p.entries = append(p.entries, e)
}

// toRead yields the paths of the files that will be read, as far as is known.
func (p *plan) toRead(yield func(path string) bool) {
	f := tree.NewFinder(p.folders)
	defer f.Close()
	for _, e := range p.entries {
		if old := p.old.line(e.Path); old != nil && p.old.isSame(old, f) {
			continue
		}
		if e.Err == nil && !yield(e.Path) {
			return
		}
	}
}

// writeNotes writes what the list says of folders, which covers all of their files except for what the
// patterns and the options leave out. An option that leaves out others must not have a folder written.
func (p *plan) writeNotes(w *list.Writer) error {
	for _, folder := range p.folders {
		if err := w.Note(list.Folder, folder); err != nil {
			return err
		}
	}
	if len(p.folders) == 0 {
		return nil
	}
	for _, pattern := range p.patterns {
		if err := w.Note(list.Exclude, pattern); err != nil {
			return err
		}
	}
	for _, option := range p.options {
		if err := w.Note(list.Option, option); err != nil {
			return err
		}
	}
	return nil
}
