// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// A tagger makes the list of a plan.
type tagger struct {
	*run
	plan     *plan
	about    list.About // but its time
	recorder *recorder
}

// write writes the list to out.
func (t *tagger) write(ctx context.Context, out *bufio.Writer) error {
	defer t.progress.clear()
	t.progress.begin(t.plan.toRead)
	o, print := t.recorder.options, t.recorder.printer
	t.recorder.report.Files = []File{}
	w := list.NewWriter(out, t.key, o.Zero)
	defer w.Destroy()
	start := func() (func(i int) outcome, func()) {
		r := t.worker()
		return func(i int) outcome { return t.tag(ctx, r, &t.plan.entries[i]) }, r.close
	}
	emit := func(_ int, o outcome) error { return t.emit(w, o) }
	if err := inOrder(ctx, len(t.plan.entries), t.jobs, start, emit, print.flush); err != nil {
		return err
	}
	for _, file := range t.plan.gone {
		if err := t.recorder.add(file); err != nil {
			return err
		}
	}
	if err := t.recorder.check(t.plan); err != nil {
		return errors.Join(print.flush(), err)
	}
	if err := t.plan.writeNotes(w); err != nil {
		return err
	}
	t.about.Time = time.Now()
	if err := w.Finish(t.about); err != nil {
		return err
	}
	return errors.Join(out.Flush(), print.flush())
}

// An outcome is what became of an entry, and its line if it has one. Without a result it is nothing.
type outcome struct {
	File
	line *list.Line
}

// tag reads the file of an entry, if need be, and makes its line.
func (t *tagger) tag(ctx context.Context, r worker, e *tree.Entry) outcome {
	if why, left := e.Err.(tree.LeftOut); left {
		return outcome{File: File{Path: e.Path, Result: resultLeftOut, Error: string(why)}}
	}
	old := t.plan.old.line(e.Path)
	if old != nil && e.Found {
		t.plan.old.rename(old, e.Path)
	}
	if old != nil && e.Err == nil && t.plan.old.isSame(old, r.Finder) {
		return outcome{File{Path: e.Path, Result: resultOK}, old}
	}
	began, err := time.Now(), e.Err
	if err == nil {
		err = r.ReadEntry(ctx, e)
	}
	switch {
	case err == nil:
		return t.sign(r, e.Path, old, began)
	case e.Found && (errors.Is(err, tree.ErrOutput) || errors.Is(err, fs.ErrNotExist) && isUnfinished(e.Path)):
		return outcome{}
	}
	return outcome{File{Path: e.Path, Result: resultUnreadable, Error: reason(err).Error()}, old} // without its line another content would be new later
}

// sign makes the line of a file that was read after began.
func (t *tagger) sign(r worker, path string, old *list.Line, began time.Time) outcome {
	l, file := &list.Line{Path: path}, File{Path: path, Result: resultTagged}
	if t.plan.old != nil {
		file.Result = resultNew
	}
	if old != nil {
		l.Path, file.Result = old.Path, resultOK
		if !r.stream.VerifyOld(old) {
			// No program has written to it, as far as the file system knows.
			file.Result, file.Damaged = resultChanged, t.recorder.options.hasState(old, r.Finder, r.Info)
		}
	}
	if settled(r.Info, began) {
		l.State = t.recorder.options.stateOf(r.Finder, l.Path, r.Info)
	}
	if file.Result == resultOK && t.oldKey == nil {
		l.Nonce, l.Tag = old.Nonce, old.Tag
	} else {
		l.Nonce, l.Tag = r.stream.Sign()
	}
	return outcome{file, l}
}

// settledAfter is how long a file has not been changed when its times are those of its content: if it
// were changed again at once, they could stay the same. Tests change it.
var settledAfter = 2 * time.Second

// settled reports whether the times are those of the content that was read after began. A program can set
// mtime, also to a time to come, and ctime is then when it did so.
func settled(i tree.Info, began time.Time) bool {
	last := max(i.Mtime, i.Ctime)
	if i.Ctime != 0 && i.Mtime > began.UnixNano() {
		last = i.Ctime
	}
	return i != tree.Info{} && last <= began.Add(-settledAfter).UnixNano()
}

// emit records what became of an entry, and writes its line or its note.
func (t *tagger) emit(w *list.Writer, o outcome) error {
	if o.Result == "" {
		return nil
	}
	if err := t.recorder.add(o.File); err != nil {
		return err
	}
	unread := o.Result == resultUnreadable
	switch {
	case unread && !t.recorder.options.KeepGoing:
		return nil
	case o.line != nil:
		return w.Line(o.line)
	case unread:
		return w.Note(list.Unread, o.Path)
	}
	return nil
}
