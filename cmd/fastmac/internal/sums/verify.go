// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// Verify verifies the tags in a list that Tag has written, or in standard input if path is
// "-". If text is true it prints the result of each line. Its report has the files that Quiet
// does not leave out.
func Verify(ctx context.Context, o Options, path string, text bool) (*Report, error) {
	r, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	unlock, err := o.lockList(ctx, path, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l, own, err := o.readList(ctx, r, path)
	if err != nil {
		return nil, about(path, err)
	}
	stdout, stderr := o.Stdout, o.Stderr
	if o.Status {
		stdout, stderr = io.Discard, io.Discard
	}
	v := &verifier{Options: o, run: r, printer: newPrinter(stdout, stderr, r.progress), text: text, list: l, places: placesOf(path), report: &Report{Files: []File{}, partial: o.Partial, complete: len(o.Complete) > 0}}
	v.printer.typed(slices.Concat(o.Complete, []string{path})...)
	defer r.progress.clear()
	if err := v.checkList(path); err != nil {
		return nil, err
	}
	r.files.Special, r.files.Folder, r.files.Folders = o.Special, "is a folder", l.Folders
	if !o.IgnoreMissing && v.allMissing() {
		return nil, about(path, fmt.Errorf("none of its %d files exists: their paths begin in the current folder, or in that of -C", l.Lines.Len()))
	}
	if err := v.readSkip(ctx); err != nil {
		return nil, err
	}
	// The folders are walked before the files are read, and looked at again afterwards: what is in them
	// in between is then what was found, see tree.Walker.Changed.
	folders := v.walkFolders(ctx)
	if err := v.checkFiles(ctx); err != nil {
		return nil, err
	}
	if err := v.checkFolders(ctx, folders); err != nil {
		return nil, err
	}
	if now, err := os.Stat(path); own != nil && (err != nil || !os.SameFile(now, own)) {
		v.printer.errorf("%s was replaced while it was verified: this is the result of the list that was there before", shown(path))
	}
	if err := v.printer.flush(); err != nil {
		return nil, err
	}
	if o.AtLeast != nil && v.report.Err() == nil {
		if err := o.raise(ctx, l.About.Serial); err != nil {
			return nil, err
		}
	}
	return v.report, nil
}

// readList reads the list at path, and returns what file that is, or nil.
func (o *Options) readList(ctx context.Context, r *run, path string) (*list.List, os.FileInfo, error) {
	var own os.FileInfo
	in, stop := tree.OpenPipe(ctx, func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(o.Stdin), nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		own, _ = f.Stat()
		return f, nil
	})
	defer stop()
	l, err := list.Read(in, r.key, o.Zero)
	if err == nil {
		err = l.Check(r.key)
	}
	if err != nil {
		return nil, nil, err
	}
	if path == "-" {
		r.files.UseStdin()
	}
	return l, own, nil
}

// A verifier verifies a list.
type verifier struct {
	Options
	*run
	printer *printer
	text    bool
	list    *list.List
	places  []place // of the list
	report  *Report

	listed, excluded []pattern // of what the list and Exclude leave out
}

// checkList reports what is wrong with the list.
func (v *verifier) checkList(path string) error {
	if v.AtLeast != nil {
		if err := v.AtLeast.read(); err != nil {
			return err
		}
	}
	path = shown(path)
	for _, bad := range v.list.Malformed {
		v.printer.errorf("%s: line %d: %v", path, bad.Number, bad.Err)
	}
	if more := v.list.Bad - len(v.list.Malformed); more > 0 {
		v.printer.errorf("%s: and %s", path, list.Counted(more, "more malformed line"))
	}
	v.report.Malformed = v.list.Bad
	v.report.List = listComplete
	if err := v.list.Complete(); err != nil {
		v.report.List, v.report.ListError = v.incomplete(path, err), err.Error()
		// Anybody can have written these.
		v.list.Folders, v.list.Patterns, v.list.Unread, v.list.Options, v.list.About = nil, nil, nil, nil, list.About{}
	} else if err := v.checkAbout(); err != nil {
		v.printer.errorf("%s: %v", path, err)
		v.report.List, v.report.ListError = listFailed, err.Error()
	}
	if about := v.list.About; about.Serial > 0 {
		v.report.Label, v.report.Serial, v.report.Time = list.Escape(about.Label), about.Serial, about.Time.Format(time.RFC3339)
	}
	for _, folder := range v.list.Folders {
		v.report.Folders = append(v.report.Folders, list.Escape(folder))
	}
	for _, pattern := range v.list.Patterns {
		v.report.Exclude = append(v.report.Exclude, list.Escape(pattern))
	}
	v.report.Options = v.list.Options
	return nil
}

// checkAbout returns an error if the list, which is as it was written, is not the one that is wanted.
func (v *verifier) checkAbout() error {
	about := v.list.About
	switch {
	case about.Serial == 0 && (v.Wanted != "" || v.AtLeast != nil):
		return errors.New("an old fastmac wrote the list, without a label and a serial number: tag --update adds them")
	case v.Wanted != "" && about.Label == "":
		return errors.New("the list has no label: tag --update --label adds one")
	case v.Wanted != "" && about.Label != v.Wanted:
		return fmt.Errorf("another list: its label is %s", list.Escape(about.Label))
	case v.AtLeast != nil:
		return v.AtLeast.check(about.Serial)
	}
	return nil
}

// incomplete prints why the list is not as tag wrote it, and returns what that makes it.
func (v *verifier) incomplete(path string, err error) string {
	switch {
	case err != list.ErrNoEnd:
	case v.Partial:
		return listNoEnd
	default:
		err = fmt.Errorf("%w: --partial accepts that", err)
	}
	v.printer.errorf("%s: %v", path, err)
	return listFailed
}

// checkFiles verifies the files.
func (v *verifier) checkFiles(ctx context.Context) error {
	lines := &v.list.Lines
	v.progress.begin(func(yield func(string) bool) {
		for l := range lines.All() {
			if !yield(l.Path) {
				return
			}
		}
	})
	start := func() (func(i int) File, func()) {
		r := v.worker()
		return func(i int) File { return v.verify(ctx, r, lines.At(i)) }, r.close
	}
	emit := func(_ int, file File) error { return v.add(file) }
	if err := inOrder(ctx, lines.Len(), v.jobs, start, emit, v.printer.flush); err != nil {
		return err
	}
	for _, path := range v.list.Unread {
		if err := v.add(File{Path: path, Result: resultNotTagged}); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the file of a line.
func (v *verifier) verify(ctx context.Context, r worker, l list.Line) File {
	err := ofOthers(l.Path, r.Read(ctx, l.Path))
	switch {
	case v.IgnoreMissing && errors.Is(err, fs.ErrNotExist):
		return File{Path: l.Path, Result: resultMissing}
	case err != nil:
		return File{Path: l.Path, Result: resultUnreadable, Error: reason(err).Error()}
	case r.stream.Verify(&l):
		return File{Path: l.Path, Result: resultOK}
	}
	return File{Path: l.Path, Result: resultFailed, Damaged: v.hasState(&l, r.Finder, r.Info)}
}

// add counts a result, and adds it to the report or prints it.
func (v *verifier) add(file File) error {
	r := v.report
	switch file.Result {
	case resultOK:
		r.Right++
	case resultFailed:
		r.Wrong++
	case resultUnreadable:
		r.Unreadable++
	case resultNotListed:
		r.NotListed++
	case resultNotTagged:
		r.NotTagged++
	case resultMissing:
		r.Missing++
		return nil
	case resultLeftOut:
		r.LeftOut++
		if v.Quiet {
			return nil
		}
		return v.printer.print(file, false)
	}
	right := file.Result == resultOK && v.Quiet // is not shown
	if !v.text && !right {
		r.Files = append(r.Files, file)
	}
	return v.printer.print(file, v.text && !right)
}

// ofOthers returns the error for a file, which names the cause if its path is one of Windows, as lists of
// old versions have these, or has accents as another system encodes them.
func ofOthers(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slashes := strings.ReplaceAll(path, `\`, "/"); slashes != path {
		if _, found := os.Stat(slashes); found == nil {
			return fmt.Errorf("no such file, while %s exists: an old fastmac wrote the list on Windows", shown(slashes))
		}
	}
	for _, other := range otherAccents(path) {
		if _, found := os.Lstat(other); found == nil {
			return errors.New("no such file; the folder has the same name with accents encoded otherwise")
		}
	}
	return err
}

// A walkedFolder is a folder of Complete that was walked.
type walkedFolder struct {
	*tree.Walker
	found   []tree.Entry    // what the list does not have
	accents map[string]bool // of them, those that it has with accents encoded otherwise
}

// walkFolders walks the folders of Complete.
func (v *verifier) walkFolders(ctx context.Context) (folders []*walkedFolder) {
	if len(v.Complete) == 0 {
		return nil
	}
	listed := newPathIndex(&v.list.Lines)
	watched := v.excluded[len(v.excluded)-len(v.Exclude):]
	watch(watched, listed.Places, v.Complete)
	unread := tree.NewPathSet(listed.Places)
	for _, path := range v.list.Unread {
		unread.Add(path)
	}
	for _, path := range v.Complete {
		f := &walkedFolder{accents: make(map[string]bool)}
		f.Walker = tree.NewWalker(v.skip(path), func(e tree.Entry) {
			_, left := e.Err.(tree.LeftOut)
			if e.Err == nil || left {
				if listed.has(e.Path) || unread.Has(e.Path) || areAt(v.places, e.Path) {
					return
				}
			}
			switch {
			case e.Err != nil:
			case leadsTo(v.places, e.Path):
				e.Err = leftLink
			case v.isUnfinished(e.Path):
				e.Err = leftUnfinished // and so it is named: anybody can lock a file of that name
			}
			f.found = append(f.found, e)
			if e.Found && slices.ContainsFunc(otherAccents(e.Path), listed.has) {
				f.accents[e.Path] = true
			}
		})
		f.Mounts, f.Caches = v.leaves(v.OneFileSystem, list.OneFileSystem), v.leaves(v.ExcludeCaches, list.ExcludeCaches)
		f.Minimal = v.MinimalStat
		f.Walk(ctx, path)
		v.report.Excluded += f.Skipped
		folders = append(folders, f)
	}
	if !v.Quiet {
		for _, text := range unmatched(watched) {
			v.printer.errorf("warning: %s", text)
		}
	}
	return folders
}

// leftLink is the reason for a link to the list, which tag leaves out.
const leftLink tree.LeftOut = "a link to the list"

// isUnfinished reports whether a file is one that an update is about to put in the place of a list beside this one.
func (v *verifier) isUnfinished(path string) bool {
	return isUnfinished(path) && slices.ContainsFunc(v.places, func(p place) bool { return p.has(path) })
}

// allMissing reports whether none of several files exists, as in a folder that is not the one where tag
// ran.
func (v *verifier) allMissing() bool {
	for l := range v.list.Lines.All() {
		if _, err := tree.LookAt(l.Path); l.Path == "-" || !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return v.list.Lines.Len() > 1
}

// readSkip sets what the patterns of the list leave out, and those of Exclude.
func (v *verifier) readSkip(ctx context.Context) error {
	var err error
	if v.listed, err = parsePatterns(v.list.Patterns); err != nil {
		return err
	}
	texts, err := v.readExclude(ctx)
	if err != nil {
		return err
	}
	v.excluded, err = parsePatterns(texts)
	return err
}

// skip returns what of a folder of Complete is left out: what Exclude says of this folder, and what the
// list says of its own folders. Those can be others, above, below or in each other: left out is what
// each of them leaves out that has it.
func (v *verifier) skip(folder string) skipFunc {
	listed, excluded := skipperIn(folder, v.listed), skipperIn(folder, v.excluded)
	if listed == nil {
		return excluded
	}
	at := tree.NewPlaces()
	var folders []string
	for _, f := range v.list.Folders {
		folders = append(folders, tree.WithSlash(at.Absolute(f)))
	}
	folder = tree.WithSlash(at.Absolute(folder))
	return func(path string, isDir bool) bool {
		if excluded != nil && excluded(path, isDir) {
			return true
		}
		path, has := folder+path, false
		for _, f := range folders {
			if isDir {
				if _, above := at.Below(path+"/", f); above {
					return false // it is f, or has it
				}
			}
			if below, ok := at.Below(f, path); ok {
				has = true
				if !skips(listed, below, isDir) {
					return false
				}
			}
		}
		return has
	}
}

// leaves returns what an option leaves out, for a Walker: everywhere if it is given, and in the folders of the list if
// that has it. What is or has a folder of the list is not left out with the folder above.
func (v *verifier) leaves(given bool, option string) func(above, folder string) bool {
	if !given && !slices.Contains(v.list.Options, option) {
		return nil
	}
	at := tree.NewPlaces()
	absolute := func(folder string) string { return tree.WithSlash(at.Absolute(folder)) }
	var folders []string
	for _, f := range v.list.Folders {
		folders = append(folders, absolute(f))
	}
	below := func(folder, path string) bool { _, ok := at.Below(folder, path); return ok }
	return func(above, folder string) bool {
		above, folder = absolute(above), absolute(folder)
		return given || slices.ContainsFunc(folders, func(f string) bool { return below(f, above) }) &&
			!slices.ContainsFunc(folders, func(f string) bool { return below(folder, f) && !below(f, above) })
	}
}

// checkFolders reports what is in the folders of Complete and not in the list.
func (v *verifier) checkFolders(ctx context.Context, folders []*walkedFolder) error {
	for _, f := range folders {
		f.Settle(ctx)
	}
	for _, f := range folders {
		for _, e := range append(f.found, f.Changed(ctx)...) {
			file := File{Path: e.Path, Result: resultNotListed}
			switch why := e.Err.(type) {
			case nil:
				if f.accents[e.Path] {
					file.Error = "the list has the same name with accents encoded otherwise"
				}
			case tree.LeftOut:
				file.Result, file.Error = resultLeftOut, string(why)
			default:
				file.Result, file.Error = resultUnreadable, reason(why).Error()
			}
			if err := v.add(file); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
