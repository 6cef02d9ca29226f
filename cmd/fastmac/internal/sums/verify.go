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
	in, stop := openPipe(ctx, func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(o.Stdin), nil
		}
		return os.Open(path)
	})
	defer stop()
	l, err := readList(in, f.key, o.Zero)
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
	v := &verifier{Options: o, files: f, printer: p, text: text, list: l, report: &Report{Files: []File{}}}
	v.checkList(path)
	if err := v.checkFiles(ctx); err != nil {
		return nil, err
	}
	if err := v.checkFolders(ctx, path); err != nil {
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
	report *Report
}

// checkList reports what is wrong with the list.
func (v *verifier) checkList(path string) {
	for _, bad := range v.list.malformed {
		v.errorf("%s: line %d: %v", Escape(path), bad.number, bad.err)
	}
	v.report.Malformed = len(v.list.malformed)
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
	lines := v.list.lines
	v.files.progress.begin(func(yield func(string) bool) {
		for _, l := range lines {
			if !yield(l.path) {
				return
			}
		}
	})
	type result struct {
		right bool
		err   error
	}
	do := func(r *reader, i int) (res result) {
		l := &lines[i]
		if res.err = ofWindows(l.path, r.read(ctx, l.path)); res.err == nil {
			res.right = r.stream.Verify(l.tag, l.nonce)
		}
		return res
	}
	emit := func(i int, res result) error {
		file, err := File{Path: lines[i].path}, res.err
		switch {
		case v.IgnoreMissing && errors.Is(err, fs.ErrNotExist):
			v.report.Missing++
			return nil
		case err != nil:
			v.report.Unreadable++
			file.Result, file.Error = resultUnreadable, reason(err).Error()
			v.failed(file.Path, err)
		case res.right:
			v.report.Right++
			file.Result = resultOK
		default:
			v.report.Wrong++
			file.Result = resultFailed
		}
		return v.show(file)
	}
	return inOrder(ctx, len(lines), v.jobs, v.reader, (*reader).destroy, do, emit, v.flush)
}

// ofWindows returns the error for a file, which names the cause if its path is one of Windows: lists
// of old versions have these.
func ofWindows(path string, err error) error {
	if slashes := strings.ReplaceAll(path, `\`, "/"); slashes != path && errors.Is(err, fs.ErrNotExist) {
		if _, found := os.Stat(slashes); found == nil {
			return fmt.Errorf("no such file, while %s exists: an old fastmac wrote the list on Windows", Escape(slashes))
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

// checkFolders reports the files in the folders of Complete that the list at path does not
// have.
func (v *verifier) checkFolders(ctx context.Context, path string) error {
	if len(v.Complete) == 0 {
		return nil
	}
	listed := make(map[string]bool, len(v.list.lines))
	for _, l := range v.list.lines {
		listed[absolute(l.path)] = true
	}
	var own os.FileInfo // the list's own file is in no list
	if path != "-" {
		own, _ = os.Stat(path)
	}
	for _, folder := range v.Complete {
		for _, e := range walk(ctx, nil, folder) {
			if e.err != nil {
				v.report.Unreadable++
				v.failed(e.path, e.err)
				if err := v.show(File{e.path, resultUnreadable, reason(e.err).Error()}); err != nil {
					return err
				}
				continue
			}
			if listed[absolute(e.path)] {
				continue
			}
			if info, err := os.Stat(e.path); err == nil && own != nil && os.SameFile(info, own) {
				continue
			}
			v.report.NotListed++
			if err := v.show(File{Path: e.path, Result: resultNotListed}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
