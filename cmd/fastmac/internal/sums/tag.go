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
	"runtime"
)

// Options are those of Tag and Verify.
type Options struct {
	KeyFile   string // "-" is Stdin
	Algorithm string // if not empty, what the key must be for
	Jobs      int    // cores; 0 is all
	Zero      bool   // lines end with a NUL, and nothing in them is escaped

	// Of Tag.
	Recursive bool   // the files in folders
	Output    string // if not empty, the file for the list, in place of Stdout

	// Of Verify.
	Complete      []string // folders whose files the list must have
	IgnoreMissing bool     // a file that does not exist is no failure
	Partial       bool     // a list without an end line is no failure
	Quiet         bool     // print only what is not right
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
// goes on after a file that it cannot read, but then it writes no end line, leaves Output as it
// was, and returns an error.
func Tag(ctx context.Context, o Options, args []string) error {
	f, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer f.key.Destroy()
	f.special, f.folder = true, "is a folder: use -r"
	list, err := expand(ctx, args, o.Recursive)
	if err != nil {
		return err
	}
	if o.Output == "" || o.Output == "-" {
		if out, ok := o.Stdout.(*os.File); ok {
			if info, err := out.Stat(); err == nil && info.Mode().IsRegular() {
				f.output = info
			}
		}
		return o.tag(ctx, f, list, o.Stdout)
	}
	// Only now, so that it is not in the list.
	out, err := createOut(o.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	f.output = out.old
	if err := o.tag(ctx, f, list, out); err != nil {
		return err
	}
	return out.commit()
}

// tag writes the list of these files to out.
func (o *Options) tag(ctx context.Context, f *files, list []entry, out io.Writer) error {
	f.progress.begin(func(yield func(string) bool) {
		for _, e := range list {
			if e.err == nil && !yield(e.path) {
				return
			}
		}
	})
	p := newPrinter(out, o.Stderr, f.progress)
	defer f.progress.clear()
	writer := newListWriter(p.out, f.key, o.Zero)
	defer writer.mac.Destroy()
	failed := 0
	do := func(r *reader, i int) []byte {
		e := &list[i]
		if e.err != nil {
			return nil
		}
		if e.err = r.read(ctx, e.path); e.err != nil {
			return nil
		}
		nonce, tag := f.key.sign(r.stream)
		l := line{nonce, tag, e.path}
		return l.format(f.key.algorithm, o.Zero)
	}
	emit := func(i int, text []byte) error {
		if e := &list[i]; e.err != nil {
			if e.found && errors.Is(e.err, errOutput) {
				return nil
			}
			failed++
			p.failed(e.path, e.err)
			return nil
		}
		return writer.write(text)
	}
	if err := inOrder(ctx, len(list), f.jobs, f.reader, (*reader).destroy, do, emit, p.flush); err != nil {
		return err
	}
	switch {
	case failed > 0:
		// With an end line verify would say that the list is whole.
		text := count(failed, len(list), "file") + " not tagged"
		switch {
		case o.Output != "" && o.Output != "-":
			text += ", so no list is written to " + Escape(o.Output)
		case writer.lines > 0:
			text += ", so the list has no end line"
		}
		return errors.New(text)
	case writer.lines == 0:
		return errors.New("no files except the output: nothing is tagged")
	}
	if err := writer.finish(); err != nil {
		return err
	}
	return p.flush()
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
