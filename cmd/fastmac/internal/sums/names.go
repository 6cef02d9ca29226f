// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// readNames returns the lines of a text, whose last one may have no end. If cr is true, a carriage
// return before the end is no part of a line.
func readNames(in io.Reader, end byte, cr bool) (names []string, err error) {
	r := bufio.NewReaderSize(in, 64<<10)
	if start, _ := r.Peek(4); end != 0 {
		if err := checkEncoding(start, "a program that writes UTF-8"); err != nil {
			return nil, err
		}
	}
	// All names of a block are parts of one string.
	var block, text []byte
	var ends []int
	flush := func() {
		all, from := string(block), 0
		for _, to := range ends {
			names, from = append(names, all[from:to]), to
		}
		block, ends = block[:0], ends[:0]
	}
	for n := 1; ; n++ {
		var tooLong bool
		text, tooLong, err = readLine(r, text[:0], end)
		if err != nil && err != io.EOF || err == io.EOF && len(text) == 0 {
			break
		}
		name := bytes.TrimSuffix(text, []byte{end})
		if cr {
			name = bytes.TrimSuffix(name, []byte{'\r'})
		}
		if tooLong {
			return nil, fmt.Errorf("line %d has more than %d bytes", n, maxLine)
		}
		block, ends = append(block, name...), append(ends, len(block)+len(name))
		if len(block) >= 64<<10 {
			flush()
		}
	}
	flush()
	if err == io.EOF {
		err = nil
	}
	return names, err
}

// fromFile calls read with what a file has, or standard input if path is "-". Until ctx is done it
// waits for a pipe.
func (o *Options) fromFile(ctx context.Context, path string, read func(io.Reader) ([]string, error)) ([]string, error) {
	in, stop := openPipe(ctx, func() (io.ReadCloser, error) {
		if path == "-" {
			return io.NopCloser(o.Stdin), nil
		}
		return os.Open(path)
	})
	defer stop()
	texts, err := read(in)
	if err != nil {
		return nil, about(path, err)
	}
	return texts, nil
}

// readFiles returns the names of files in FilesFrom or Files0From, if one of them is given.
func (o *Options) readFiles(ctx context.Context) (names []string, err error) {
	path, end := o.FilesFrom, byte('\n')
	if o.Files0From != "" {
		path, end = o.Files0From, 0
	}
	if path == "" {
		return nil, nil
	}
	names, err = o.fromFile(ctx, path, func(in io.Reader) ([]string, error) { return readNames(in, end, end != 0 && runtime.GOOS == "windows") })
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		switch {
		case name == "":
			return nil, about(path, fmt.Errorf("name %d is empty", i+1))
		case name == "-":
			return nil, about(path, fmt.Errorf("name %d is -: a file of that name is ./-", i+1))
		case end != 0 && strings.Contains(name, "\x00"):
			return nil, about(path, fmt.Errorf("name %d has a NUL: --files0-from reads such names", i+1))
		}
	}
	if len(names) == 0 {
		return nil, about(path, errors.New("it has no names"))
	}
	return names, nil
}

// readExclude returns the patterns of Exclude and ExcludeFrom.
func (o *Options) readExclude(ctx context.Context) (texts []string, err error) {
	for _, path := range o.ExcludeFrom {
		more, err := o.fromFile(ctx, path, readPatterns)
		if err != nil {
			return nil, err
		}
		texts = append(texts, more...)
	}
	return append(texts, o.Exclude...), nil
}
