// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// A printer prints lines on standard output, and errors on standard error, where it first
// removes the progress bar.
type printer struct {
	out      *bufio.Writer
	stderr   io.Writer
	progress *progress
	native   bool // paths of files have backslashes in errors
}

func newPrinter(out, stderr io.Writer, bar *progress) *printer {
	return &printer{out: bufio.NewWriterSize(out, 64<<10), stderr: stderr, progress: bar}
}

// typed notes how paths were typed, so that those in errors can be pasted: on Windows with slashes or with
// backslashes, of which lists have none.
func (p *printer) typed(paths ...string) {
	p.native = slices.ContainsFunc(paths, func(path string) bool { return filepath.ToSlash(path) != path })
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

// print prints the result for a file on standard output, if result is true, and on standard error why it
// could not be read, is left out or is not in the list.
func (p *printer) print(file File, result bool) error {
	path := file.Path
	if p.native {
		path = filepath.FromSlash(path)
	}
	path = shown(path)
	switch {
	case file.Result == resultLeftOut:
		p.errorf("left out: %s: %s", path, file.Error)
	case file.Error != "":
		p.errorf("%s: %s", path, file.Error)
	}
	if file.Damaged {
		p.errorf("%s: has the size and the times that it had: damaged?", path)
	}
	if !result {
		return nil
	}
	_, err := fmt.Fprintf(p.out, "%s: %s\n", list.Escape(file.Path), verdicts[file.Result])
	return err
}
