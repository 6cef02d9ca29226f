// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"fmt"
	"io"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

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

// print prints the result for a file on standard output, if result is true, and on standard error why it
// could not be read, is left out or is not in the list.
func (p *printer) print(file File, result bool) error {
	path := shown(file.Path)
	switch {
	case file.Result == resultLeftOut:
		p.errorf("left out: %s: %s", path, file.Error)
	case file.Error != "":
		p.errorf("%s: %s", path, file.Error)
	}
	if !result {
		return nil
	}
	_, err := fmt.Fprintf(p.out, "%s: %s\n", list.Escape(file.Path), verdicts[file.Result])
	return err
}
