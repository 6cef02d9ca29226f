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
	"strings"
)

// A Report is what Verify found.
type Report struct {
	Files []File `json:"files"`

	Right      int `json:"ok"`
	Wrong      int `json:"failed"`
	Unreadable int `json:"unreadable"`
	Malformed  int `json:"malformed_lines"`
}

// A File is the result for one line: "ok", "failed" or "unreadable", and then the reason.
type File struct {
	Path   string `json:"path"`
	Result string `json:"result"`
	Error  string `json:"error,omitempty"`
}

// Err returns an error unless every line has the right tag.
func (r *Report) Err() error {
	all := r.Right + r.Wrong + r.Unreadable
	var parts []string
	if r.Wrong > 0 {
		parts = append(parts, count(r.Wrong, all, "file")+" FAILED")
	}
	if r.Unreadable > 0 {
		parts = append(parts, count(r.Unreadable, all, "file")+" could not be read")
	}
	if r.Malformed > 0 {
		parts = append(parts, count(r.Malformed, all+r.Malformed, "line")+" malformed")
	}
	if r.Wrong > 0 && r.Right == 0 {
		parts = append(parts, "no tag is right, so the key may be wrong")
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(parts, "; "))
}

// Verify verifies the tags in a file that Tag has printed, or in standard input if path is
// "-". If text is true it prints the result of each line. Its report has the files that Quiet
// does not leave out.
func Verify(ctx context.Context, o Options, path string, text bool) (*Report, error) {
	f, err := o.open()
	if err != nil {
		return nil, err
	}
	defer f.key.Destroy()
	p := o.printer(f)
	defer f.progress.clear()
	report := &Report{Files: []File{}}
	lines, err := readLines(ctx, path, o.Stdin, f.key.algorithm, func(n int, err error) {
		report.Malformed++
		p.errorf("%s: line %d: %v", path, n, err)
	})
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 && report.Malformed == 0 {
		return nil, fmt.Errorf("%s has no lines", path)
	}
	f.stdinUse.Store(path == "-")
	f.progress.begin(func(yield func(string) bool) {
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
	results := make([]result, len(lines))
	do := func(r *reader, i int) {
		l, result := &lines[i], &results[i]
		if result.err = r.read(ctx, l.path); result.err == nil {
			result.right = r.stream.Verify(l.tag, l.nonce)
		}
	}
	emit := func(i int) error {
		file := File{Path: lines[i].path}
		verdict := "OK"
		switch err := results[i].err; {
		case err != nil:
			report.Unreadable++
			verdict, file.Result, file.Error = "FAILED open or read", "unreadable", reason(err).Error()
			p.failed(file.Path, err)
		case results[i].right:
			report.Right++
			file.Result = "ok"
		default:
			report.Wrong++
			verdict, file.Result = "FAILED", "failed"
		}
		lines[i], results[i] = line{}, result{}
		if o.Quiet && file.Result == "ok" {
			return nil
		}
		if !text {
			report.Files = append(report.Files, file)
			return nil
		}
		begin, escaped := escape(file.Path)
		_, err := fmt.Fprintf(p.out, "%s%s: %s\n", begin, escaped, verdict)
		return err
	}
	if err := inOrder(ctx, len(lines), f.jobs, f.reader, (*reader).destroy, do, emit, p.flush); err != nil {
		return nil, err
	}
	return report, nil
}

// maxLine is more than a line has, in bytes: a path has up to 32767 characters, on Windows.
const maxLine = 256 << 10

// readLines returns the lines of a file of tags. It calls malformed with the numbers of lines
// that are none.
func readLines(ctx context.Context, path string, stdin io.Reader, a *algorithm, malformed func(n int, err error)) ([]line, error) {
	in, stop := openPipe(ctx, func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(stdin), nil
		}
		return os.Open(path)
	})
	defer stop()
	var lines []line
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for n := 1; s.Scan(); n++ {
		l, err := parseLine(s.Text(), a)
		if err != nil {
			malformed(n, err)
			continue
		}
		lines = append(lines, l)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, reason(err))
	}
	return lines, nil
}
