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
	KeyFile   string
	Algorithm string // if not empty, what the key must be for
	Jobs      int    // cores; 0 is all
	Recursive bool   // Tag: the files in folders
	Quiet     bool   // Verify: only what is not right

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// open reads the key, and makes what the readers of files share.
func (o *Options) open() (*files, error) {
	key, err := ReadKey(o.KeyFile, o.Algorithm, o.Stderr)
	if err != nil {
		return nil, err
	}
	f := &files{key: key, jobs: o.Jobs, stdin: o.Stdin, progress: newProgress(o.Stderr)}
	if f.jobs == 0 {
		f.jobs = runtime.GOMAXPROCS(0)
	}
	if out, ok := o.Stdout.(*os.File); ok {
		if info, err := out.Stat(); err == nil && info.Mode().IsRegular() {
			f.output = info
		}
	}
	return f, nil
}

// A printer prints lines on standard output, and errors on standard error, where it first
// removes the progress bar.
type printer struct {
	out      *bufio.Writer
	stderr   io.Writer
	progress *progress
}

func (o *Options) printer(f *files) *printer {
	return &printer{bufio.NewWriterSize(o.Stdout, 64<<10), o.Stderr, f.progress}
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
	begin, path := escape(path)
	p.errorf("%s%s: %v", begin, path, reason(err))
}

// Tag prints a line for each file with its tag under a fresh nonce. It goes on after a file
// that it cannot read, and then returns an error.
func Tag(ctx context.Context, o Options, args []string) error {
	f, err := o.open()
	if err != nil {
		return err
	}
	defer f.key.Destroy()
	list, err := expand(ctx, args, o.Recursive)
	if err != nil {
		return err
	}
	f.progress.begin(func(yield func(string) bool) {
		for _, e := range list {
			if e.err == nil && !yield(e.path) {
				return
			}
		}
	})
	p := o.printer(f)
	defer f.progress.clear()
	failed := 0
	lines := make([]string, len(list))
	do := func(r *reader, i int) {
		e := &list[i]
		if e.err != nil {
			return
		}
		if e.err = r.read(ctx, e.path); e.err == nil {
			nonce, tag := f.key.sign(r.stream)
			l := line{nonce, tag, e.path}
			lines[i] = l.format(f.key.algorithm)
		}
	}
	emit := func(i int) error {
		if e := &list[i]; e.err != nil {
			if e.found && errors.Is(e.err, errOutput) {
				return nil
			}
			failed++
			p.failed(e.path, e.err)
			return nil
		}
		p.out.WriteString(lines[i])
		lines[i] = ""
		return p.out.WriteByte('\n')
	}
	if err := inOrder(ctx, len(list), f.jobs, f.reader, (*reader).destroy, do, emit, p.flush); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%s not tagged", count(failed, len(list), "file"))
	}
	return nil
}

// count returns a phrase such as "1 of 3 files".
func count(n, all int, what string) string {
	if all != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d of %d %s", n, all, what)
}
