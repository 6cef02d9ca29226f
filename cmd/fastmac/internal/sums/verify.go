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
)

// Verify verifies the tags in a list that Tag has written, or in standard input if path is
// "-". If text is true it prints the result of each line. Its report has the files that Quiet
// does not leave out.
func Verify(ctx context.Context, o Options, path string, text bool) (*Report, error) {
	f, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.key.Destroy()
	f.special, f.folder = o.Special, "is a folder"
	var own os.FileInfo // of the list
	in, stop := openPipe(ctx, func() (io.ReadCloser, error) {
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
	l, err := readList(in, f.key, o.Zero, false)
	if err == nil {
		err = l.check(f.key)
	}
	if err != nil {
		return nil, about(path, err)
	}
	if path == "-" {
		f.stdinUse.Store(true)
	}
	stdout, stderr := o.Stdout, o.Stderr
	if o.Status {
		stdout, stderr = io.Discard, io.Discard
	}
	p := newPrinter(stdout, stderr, f.progress)
	defer f.progress.clear()
	v := &verifier{Options: o, files: f, printer: p, text: text, list: l, own: own, report: &Report{Files: []File{}, partial: o.Partial}}
	v.checkList(path)
	if v.report.List == listComplete {
		f.folders = l.folders
	} else {
		l.folders, l.patterns, l.unread = nil, nil, nil // anybody can have written them
	}
	for _, folder := range l.folders {
		v.report.Folders = append(v.report.Folders, Escape(folder))
	}
	for _, pattern := range l.patterns {
		v.report.Exclude = append(v.report.Exclude, Escape(pattern))
	}
	if !o.IgnoreMissing && v.allMissing() {
		return nil, about(path, fmt.Errorf("none of its %d files exists: their paths begin in the current folder, or in that of -C", l.lines.len()))
	}
	if err := v.readSkip(ctx); err != nil {
		return nil, err
	}
	// The folders are walked before the files are read, and looked at again afterwards: what is in them
	// in between is then what was found, see walker.changed.
	folders := v.walkFolders(ctx)
	if err := v.checkFiles(ctx); err != nil {
		return nil, err
	}
	if err := v.checkFolders(ctx, folders); err != nil {
		return nil, err
	}
	return v.report, p.flush()
}

// A verifier verifies a list.
type verifier struct {
	Options
	*files
	*printer
	text   bool
	list   *list
	own    os.FileInfo // of the list's own file, or nil
	report *Report

	listed, excluded func(path string, isDir bool) bool // what the list and Exclude leave out, or nil
}

// checkList reports what is wrong with the list.
func (v *verifier) checkList(path string) {
	for _, bad := range v.list.malformed {
		v.errorf("%s: line %d: %v", Escape(path), bad.number, bad.err)
	}
	if more := v.list.bad - len(v.list.malformed); more > 0 {
		v.errorf("%s: and %s", Escape(path), counted(more, "more malformed line"))
	}
	v.report.Malformed = v.list.bad
	v.report.List = listComplete
	err := v.list.complete()
	if err == nil {
		return
	}
	v.report.List, v.report.ListError = listFailed, err.Error()
	if err != errNoEnd {
		v.errorf("%s: %v", Escape(path), err)
		return
	}
	v.report.List = listNoEnd
	switch {
	case v.Partial:
	case v.Strict || v.Status: // nobody would see the warning
		v.report.List = listFailed
		v.errorf("%s: %v", Escape(path), err)
	case v.key.named:
		// The program that wrote the key writes end lines, so this one was lost.
		v.report.List = listFailed
		v.errorf("%s: %v: --partial accepts that", Escape(path), err)
	default:
		v.errorf("warning: %s: %v: if the key file had the identifier, %s KEY %s, this would be a failure", Escape(path), err, v.key.name, v.key.id)
	}
}

// checkFiles verifies the files.
func (v *verifier) checkFiles(ctx context.Context) error {
	lines := &v.list.lines
	v.files.progress.begin(func(yield func(string) bool) {
		for l := range lines.all() {
			if !yield(l.path) {
				return
			}
		}
	})
	type result struct {
		path  string
		right bool
		err   error
	}
	do := func(r *reader, i int) (result result) {
		l := lines.at(i)
		result.path = l.path
		if result.err = ofOthers(l.path, r.read(ctx, l.path)); result.err == nil {
			result.right = r.stream.Verify(l.tag, l.nonce)
		}
		return result
	}
	emit := func(_ int, result result) error {
		file, err := File{Path: result.path}, result.err
		switch {
		case v.IgnoreMissing && errors.Is(err, fs.ErrNotExist):
			v.report.Missing++
			return nil
		case err != nil:
			v.report.Unreadable++
			file.Result, file.Error = resultUnreadable, reason(err).Error()
			v.failed(file.Path, err)
		case result.right:
			v.report.Right++
			file.Result = resultOK
		default:
			v.report.Wrong++
			file.Result = resultFailed
		}
		return v.show(file)
	}
	if err := inOrder(ctx, lines.len(), v.jobs, v.reader, (*reader).destroy, do, emit, v.flush); err != nil {
		return err
	}
	for _, path := range v.list.unread {
		v.report.NotTagged++
		if err := v.show(File{Path: path, Result: resultNotTagged}); err != nil {
			return err
		}
	}
	return nil
}

// ofOthers returns the error for a file, which names the cause if its path is one of Windows, as lists of
// old versions have these, or has accents as another system encodes them.
func ofOthers(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slashes := strings.ReplaceAll(path, `\`, "/"); slashes != path {
		if _, found := os.Stat(slashes); found == nil {
			return fmt.Errorf("no such file, while %s exists: an old fastmac wrote the list on Windows", Escape(slashes))
		}
	}
	for _, other := range otherAccents(path) {
		if _, found := os.Lstat(other); found == nil {
			return errors.New("no such file; the folder has the same name with accents encoded otherwise")
		}
	}
	return err
}

// show prints the result for a file, or adds it to the report.
func (v *verifier) show(file File) error {
	if v.Quiet && file.Result == resultOK {
		return nil
	}
	if !v.text {
		v.report.Files = append(v.report.Files, file)
		return nil
	}
	_, err := fmt.Fprintf(v.out, "%s: %s\n", Escape(file.Path), verdicts[file.Result])
	return err
}

// A walkedFolder is a folder of Complete that was walked.
type walkedFolder struct {
	*walker
	found   []entry         // what the list does not have
	accents map[string]bool // of them, those that it has with accents encoded otherwise
}

// walkFolders walks the folders of Complete.
func (v *verifier) walkFolders(ctx context.Context) (folders []walkedFolder) {
	if len(v.Complete) == 0 {
		return nil
	}
	listed := newPathIndex(&v.list.lines)
	unread := make(map[string]bool)
	for _, path := range v.list.unread {
		unread[listed.absolute(path)] = true
	}
	for _, folder := range v.Complete {
		w := newWalker(v.skip(folder))
		found := slices.DeleteFunc(w.walk(ctx, nil, folder), func(e entry) bool {
			if e.err != nil && e.left() == "" {
				return false
			}
			if listed.has(e.path) || unread[listed.absolute(e.path)] {
				return true
			}
			// The list's own file is in no list.
			info, err := lookAt(e.path)
			return err == nil && v.own != nil && info.is(v.own)
		})
		accents := make(map[string]bool)
		for _, e := range found {
			if e.found && slices.ContainsFunc(otherAccents(e.path), listed.has) {
				accents[e.path] = true
			}
		}
		v.report.Excluded += w.skipped
		folders = append(folders, walkedFolder{w, slices.Clone(found), accents})
	}
	return folders
}

// allMissing reports whether none of several files exists, as in a folder that is not the one where tag
// ran.
func (v *verifier) allMissing() bool {
	for l := range v.list.lines.all() {
		if _, err := lookAt(l.path); l.path == "-" || !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return v.list.lines.len() > 1
}

// readSkip sets what the patterns of the list leave out, and those of Exclude.
func (v *verifier) readSkip(ctx context.Context) error {
	patterns, err := parsePatterns(v.list.patterns)
	if err != nil {
		return err
	}
	v.listed = skipper(patterns)
	texts, err := v.readExclude(ctx)
	if err != nil {
		return err
	}
	if patterns, err = parsePatterns(texts); err != nil {
		return err
	}
	v.excluded = skipper(patterns)
	return nil
}

// skip returns what of a folder of Complete is left out: what Exclude says of this folder, and what the
// list says of its own folders. Those can be others, above, below or in each other: left out is what
// each of them leaves out that has it.
func (v *verifier) skip(folder string) func(path string, isDir bool) bool {
	if v.listed == nil {
		return v.excluded
	}
	at := newPlaces()
	var folders []string
	for _, f := range v.list.folders {
		folders = append(folders, withSlash(at.absolute(f)))
	}
	folder = withSlash(at.absolute(folder))
	return func(path string, isDir bool) bool {
		if v.excluded != nil && v.excluded(path, isDir) {
			return true
		}
		path, has := folder+path, false
		for _, f := range folders {
			if isDir && strings.HasPrefix(f, path+"/") {
				return false // it is f, or has it
			}
			if below, ok := strings.CutPrefix(path, f); ok {
				has = true
				if !skips(v.listed, below, isDir) {
					return false
				}
			}
		}
		return has
	}
}

// checkFolders reports what is in the folders of Complete and not in the list.
func (v *verifier) checkFolders(ctx context.Context, folders []walkedFolder) error {
	for _, folder := range folders {
		folder.settle(ctx)
	}
	for _, folder := range folders {
		for _, e := range append(folder.found, folder.changed(ctx)...) {
			file := File{Path: e.path, Result: resultNotListed}
			switch {
			case e.left() != "":
				v.report.LeftOut++
				if !v.Quiet {
					v.errorf("left out: %s: %s", Escape(e.path), e.left())
				}
				continue
			case e.err != nil:
				v.report.Unreadable++
				file.Result, file.Error = resultUnreadable, reason(e.err).Error()
				v.failed(e.path, e.err)
			default:
				v.report.NotListed++
				if folder.accents[e.path] {
					file.Error = "the list has the same name with accents encoded otherwise"
					v.failed(e.path, errors.New(file.Error))
				}
			}
			if err := v.show(file); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
