// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Options are those of Tag and Verify.
type Options struct {
	KeyFile   string // "-" is Stdin
	Algorithm string // if not empty, what the key must be for
	Jobs      int    // cores; 0 is all
	Quiet     bool   // print only what is not right
	Zero      bool   // lines end with a NUL, and nothing in them is escaped

	// Of what is in folders, in the language of gitignore.
	Exclude     []string // patterns
	ExcludeFrom []string // files with patterns

	// Of Tag.
	Recursive  bool     // the files in folders
	Output     string   // if not empty, the file for the list, in place of Stdout
	Force      bool     // Output may replace a list
	FilesFrom  string   // if not empty, a file with names of files, a line each; "-" is Stdin
	Files0From string   // the same, and a NUL follows each name
	KeepGoing  bool     // a list of what can be read
	Changes    *Changes // if not nil, results go there, and are not printed

	// Of Tag that updates a list.
	Update        string // the list
	OldKeyFile    string // if not empty, its key
	AcceptChanges bool   // files that have changed are tagged
	VerifyAll     bool   // files whose size and times are as they were are read too

	// Of Verify.
	Complete      []string // folders whose files the list must have
	IgnoreMissing bool     // a file that does not exist is no failure
	Partial       bool     // a list without an end line is no failure
	Special       bool     // files that are not regular, and standard input, are read
	Status        bool     // print nothing
	Strict        bool     // what would be a warning is a failure

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// open reads the key, and makes what the readers of files share.
func (o *Options) open(ctx context.Context) (*files, error) {
	key, err := ReadKey(ctx, o.KeyFile, o.Algorithm, o.Stdin, o.Stderr)
	if err != nil {
		return nil, err
	}
	f := &files{key: key, jobs: o.Jobs, stdin: o.Stdin}
	if !o.Status {
		f.progress = newProgress(o.Stderr)
	}
	if f.jobs == 0 {
		f.jobs = runtime.GOMAXPROCS(0)
	}
	f.stdinUse.Store(o.KeyFile == "-")
	return f, nil
}

// A printer prints lines on standard output, and errors on standard error, where it first
// removes the progress bar.
type printer struct {
	out      *bufio.Writer
	stderr   io.Writer
	progress *progress
}

func newPrinter(out, stderr io.Writer, bar *progress) *printer {
	return &printer{bufio.NewWriterSize(out, 64<<10), stderr, bar}
}

func (p *printer) flush() error {
	if p.out.Buffered() > 0 {
		p.progress.clear()
	}
	return p.out.Flush()
}

func (p *printer) errorf(format string, args ...any) {
	p.progress.clear()
	fmt.Fprintf(p.stderr, "fastmac: "+format+"\n", args...)
}

// failed prints that a file could not be read.
func (p *printer) failed(path string, err error) {
	p.errorf("%s: %v", Escape(path), reason(err))
}

// Tag writes a list: a line for each file with its tag under a fresh nonce, and an end line. It
// goes on after a file that it cannot read. Then it writes no end line, leaves Output as it was, and
// returns an error, unless KeepGoing is set.
func Tag(ctx context.Context, o Options, args []string) error {
	f, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer f.key.Destroy()
	f.special, f.folder = true, "is a folder: use -r"
	t := &tagger{Options: o, files: f, report: o.Changes}
	if t.report == nil {
		t.report = new(Changes)
	}
	path := o.Output
	if o.Update != "" {
		path = o.Update
	}
	toFile := path != "" && path != "-"
	if toFile {
		removeUnfinished(path)
	}
	if o.Update != "" {
		if err := t.readOld(ctx); err != nil {
			return err
		}
	}
	if err := t.expand(ctx, args); err != nil {
		return err
	}
	if !toFile {
		return t.tagStdout(ctx)
	}
	// Only now, so that it is not in the list.
	out, err := createOut(path, o.Force || o.Update != "")
	if err != nil {
		return err
	}
	defer out.discard()
	f.output = out.old
	if t.old != nil {
		out.old = t.old.info // what was read, and not what another update has put there since
	}
	if err := t.tag(ctx, out); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	t.report.Written = true
	return t.finish()
}

// A tagger makes a list.
type tagger struct {
	Options
	*files
	printer  *printer // of results, or of the list
	report   *Changes
	entries  []entry
	folders  []string // that were walked: files below them are not reached through links
	patterns []string // of what was left out there
	old      *oldList // of an update, or nil
	dropped  []File   // lines of the old list that the new one does not have
}

// tagStdout writes the list to standard output.
func (t *tagger) tagStdout(ctx context.Context) error {
	joined := false
	if out, ok := t.Stdout.(*os.File); ok {
		if info, err := out.Stat(); err == nil && info.Mode().IsRegular() {
			t.output = info
			if appends(out) {
				return errors.New("standard output appends to a file (>>), and joined lists do not verify: want > or -o FILE; --update FILE adds to a list")
			}
			at, err := out.Seek(0, io.SeekCurrent)
			joined = err == nil && at > 0
		}
	}
	const what = "standard output is a file that is not empty, and joined lists do not verify: tag all files in one run, with --files0-from - for names from find or xargs"
	if joined {
		fmt.Fprintln(t.Stderr, "fastmac: "+what)
	}
	if err := t.tag(ctx, t.Stdout); err != nil {
		return err
	}
	if joined {
		return errors.New("the list was written after something else: verify will refuse it")
	}
	return t.finish()
}

// expand sets the files of the arguments, in order, and those of the old list. If Recursive, a folder
// stands for the files in it and in its folders, sorted by name: the regular ones and links to them.
// Links to folders are not followed, unless they are arguments. Paths have slashes on all systems,
// because lists travel: Windows has them in place of backslashes, and others have backslashes in names.
func (t *tagger) expand(ctx context.Context, args []string) error {
	texts, err := t.readExclude(ctx)
	if err != nil {
		return err
	}
	names, err := t.readFiles(ctx)
	if err != nil {
		return err
	}
	if n := len(t.patterns) - len(texts); n < 0 || !slices.Equal(t.patterns[n:], texts) { // an update may have them again
		t.patterns = append(t.patterns, texts...)
	}
	patterns, err := parsePatterns(t.patterns)
	if err != nil {
		return err
	}
	w := newWalker(skipper(patterns))
	at, walked := newPlaces(), make(map[string]bool)
	for _, folder := range t.folders {
		walked[at.absolute(folder)] = true
		t.addFolder(ctx, w, folder)
	}
	if len(names) > 0 {
		args = names // the command has one or the other
	}
	t.entries = slices.Grow(t.entries, len(args))
	for _, path := range args {
		path = filepath.ToSlash(path)
		if t.Recursive && path != "-" {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				if abs := at.absolute(path); !walked[abs] {
					walked[abs] = true
					t.folders = append(t.folders, path)
					t.addFolder(ctx, w, path)
				}
				continue
			}
		}
		t.entries = append(t.entries, entry{path: path})
	}
	t.report.Excluded = w.skipped
	if t.old != nil {
		if err := t.addOld(w.skip); err != nil {
			return err
		}
		if len(args) > 0 || len(t.folders) > 1 {
			t.removeRepeated(at)
		}
	}
	return ctx.Err()
}

// addFolder adds the files in a folder.
func (t *tagger) addFolder(ctx context.Context, w *walker, folder string) {
	before := len(t.entries)
	t.entries = w.walk(ctx, t.entries, folder)
	if !slices.ContainsFunc(t.entries[before:], func(e entry) bool { return e.left() == "" }) {
		// Such as a disk that is not mounted: an empty list would say that all is well.
		t.entries = append(t.entries, entry{path: folder, err: errors.New("has no files")})
	}
}

// An outcome is what became of an entry.
type outcome struct {
	line   []byte // of the list, without its end
	result string // of an update, or empty
	err    error
}

// tag writes the list to out.
func (t *tagger) tag(ctx context.Context, out io.Writer) error {
	t.progress.begin(func(yield func(string) bool) {
		f := newFinder(t.folders)
		defer f.close()
		for _, e := range t.entries {
			if old := t.old.line(e.path); old != nil && t.old.isSame(old, f) {
				continue
			}
			if e.err == nil && !yield(e.path) {
				return
			}
		}
	})
	defer t.progress.clear()
	t.report.Files = []File{}
	t.printer = newPrinter(out, t.Stderr, t.progress)
	list := t.printer.out
	if t.Update != "" {
		t.printer.out = bufio.NewWriter(t.Stdout)
	}
	writer := newListWriter(list, t.key, t.Zero)
	defer writer.mac.Destroy()
	t.files.folders = t.folders
	emit := func(i int, o outcome) error { return t.emit(writer, &t.entries[i], o) }
	if err := inOrder(ctx, len(t.entries), t.jobs, t.reader, (*reader).destroy, func(r *reader, i int) outcome {
		return t.do(ctx, r, &t.entries[i])
	}, emit, t.printer.flush); err != nil {
		return err
	}
	for _, file := range t.dropped {
		t.report.Gone++
		if err := t.show(file); err != nil {
			return err
		}
	}
	if err := t.check(); err != nil {
		return errors.Join(t.printer.flush(), err)
	}
	if err := t.writeNotes(writer); err != nil {
		return err
	}
	if err := writer.finish(); err != nil {
		return err
	}
	return errors.Join(list.Flush(), t.printer.flush())
}

// writeNotes writes what the list says of folders, which covers all of their files except for what the
// patterns leave out.
func (t *tagger) writeNotes(w *listWriter) error {
	for _, folder := range t.folders {
		if err := w.write(note{noteFolder, folder}.format(t.Zero)); err != nil {
			return err
		}
	}
	if len(t.folders) == 0 {
		return nil
	}
	for _, pattern := range t.patterns {
		if err := w.write(note{noteExclude, pattern}.format(t.Zero)); err != nil {
			return err
		}
	}
	return nil
}

// do reads the file of an entry, if need be, and makes its line.
func (t *tagger) do(ctx context.Context, r *reader, e *entry) (o outcome) {
	if e.left() != "" {
		return outcome{err: e.err}
	}
	old := t.old.line(e.path)
	if old != nil && e.err == nil && t.old.isSame(old, r.finder) {
		return outcome{line: old.format(t.key.algorithm, t.Zero), result: resultOK}
	}
	began := time.Now()
	if o.err = e.err; o.err == nil {
		o.err = r.read(ctx, e.path)
	}
	if o.err != nil {
		if old != nil { // without its line another content would be new later
			o.line = old.format(t.key.algorithm, t.Zero)
		}
		return o
	}
	l := line{path: e.path}
	if old != nil {
		l.path = old.path
	}
	if r.info.settled(began) {
		l.times = r.info.times()
	}
	if t.old != nil {
		o.result = resultNew
		if old != nil {
			o.result = resultChanged
			if r.verifyOld(old) {
				o.result = resultOK
			}
		}
	}
	if o.result == resultOK && t.old.key == nil {
		l.nonce, l.tag = old.nonce, old.tag
	} else {
		l.nonce, l.tag = t.key.sign(r.stream)
	}
	o.line = l.format(t.key.algorithm, t.Zero)
	return o
}

// settledAfter is how long a file has not been changed when its times are those of its content: if it
// were changed again at once, they could stay the same. Tests change it.
var settledAfter = 2 * time.Second

// settled reports whether the times are those of the content that was read after began.
func (i fileInfo) settled(began time.Time) bool {
	return i.mtime != 0 && max(i.mtime, i.ctime) <= began.Add(-settledAfter).UnixNano()
}

// times returns the size and the times as a line has them.
func (i fileInfo) times() string {
	b := append(strconv.AppendInt(make([]byte, 0, 64), i.size, 10), ':')
	b = append(strconv.AppendInt(b, i.mtime, 10), ':')
	if i.ctime != 0 {
		b = strconv.AppendInt(b, i.ctime, 10)
	}
	return string(b)
}

// emit writes the line of an entry, and counts what became of it.
func (t *tagger) emit(w *listWriter, e *entry, o outcome) error {
	switch {
	case e.left() != "":
		t.report.LeftOut++
		t.report.add(File{e.path, resultLeftOut, e.left()})
		if !t.Quiet {
			t.printer.errorf("left out: %s: %s", Escape(e.path), e.left())
		}
		return nil
	case o.err != nil && e.found && errors.Is(o.err, errOutput):
		return nil
	case o.err != nil:
		t.report.Unreadable++
		t.report.add(File{e.path, resultUnreadable, reason(o.err).Error()})
		t.printer.failed(e.path, o.err)
		switch {
		case !t.KeepGoing:
			return nil
		case o.line != nil:
			return w.write(o.line)
		}
		return w.write(note{noteUnread, e.path}.format(t.Zero))
	}
	t.report.Tagged++
	switch o.result {
	case resultNew:
		t.report.New++
	case resultChanged:
		t.report.Changed++
	case resultOK:
		t.report.Kept++
	}
	if o.result == resultNew || o.result == resultChanged {
		if err := t.show(File{Path: e.path, Result: o.result}); err != nil {
			return err
		}
	}
	return w.write(o.line)
}

// show prints what an update found, or adds it to the report.
func (t *tagger) show(file File) error {
	t.report.add(file)
	if t.Changes != nil {
		return nil
	}
	_, err := fmt.Fprintf(t.printer.out, "%s: %s\n", Escape(file.Path), verdicts[file.Result])
	return err
}

// check returns an error if the list is not to be written, or not to have an end line, with which
// verify would say that it is whole.
func (t *tagger) check() error {
	r := t.report
	out := t.Output
	if t.Update != "" {
		out = t.Update
	}
	switch {
	case r.Unreadable > 0 && !t.KeepGoing:
		text := count(r.Unreadable, r.Unreadable+r.Tagged, "file") + " not tagged"
		switch {
		case out != "" && out != "-":
			text += ", so no list is written to " + Escape(out)
		case r.Tagged > 0:
			text += ", so the list has no end line"
		}
		return errors.New(text)
	case r.Changed > 0 && !t.AcceptChanges:
		return fmt.Errorf("%s changed, so %s stays as it was: --accept-changes accepts that", count(r.Changed, r.Tagged+r.Gone, "file"), Escape(out))
	case t.old != nil && len(t.old.found) > 0 && r.Kept+r.Changed+r.Unreadable == 0 && !t.AcceptChanges:
		return fmt.Errorf("no file of the list is there, so %s stays as it was: it may be the list of another folder; --accept-changes accepts that", Escape(out))
	case r.Tagged == 0 && r.Unreadable+r.Gone > 0:
		return errors.New("no file is left to tag")
	case r.Tagged == 0:
		return errors.New("no files except the output: nothing is tagged")
	case len(t.folders)+len(t.patterns)+r.Unreadable > maxNotes:
		return fmt.Errorf("more than %d folders, patterns and files that cannot be read", maxNotes)
	}
	return nil
}

// finish reports on a list that has been written.
func (t *tagger) finish() error {
	r := t.report
	switch {
	case t.Quiet || t.Changes != nil:
	case t.Update != "":
		t.printer.errorf("%s", r.summary())
	case r.LeftOut > 0:
		t.printer.errorf("%s tagged, %d left out", counted(r.Tagged, "file"), r.LeftOut)
	}
	if r.Unreadable > 0 {
		text := " not tagged, and the list says so"
		if t.old != nil {
			text = " not read: the list has the old line, or says so"
		}
		return errors.New(count(r.Unreadable, r.Unreadable+r.Tagged, "file") + text)
	}
	return nil
}

// count returns a phrase such as "1 of 3 files".
func count(n, all int, what string) string {
	return fmt.Sprintf("%d of %s", n, counted(all, what))
}

// counted returns a phrase such as "3 files".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
