// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// fromFile calls read with what a file has, or standard input if path is "-". Until ctx is done it
// waits for a pipe.
func (o *Options) fromFile(ctx context.Context, path string, read func(io.Reader) ([]string, error)) ([]string, error) {
	in, stop := tree.OpenPipe(ctx, func() (io.ReadCloser, error) {
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

// readFiles returns the names of files in FilesFrom or Files0From, and the arguments if neither is given.
func (o *Options) readFiles(ctx context.Context, args []string) (names []string, err error) {
	path, end := o.FilesFrom, byte('\n')
	if o.Files0From != "" {
		path, end = o.Files0From, 0
	}
	if path == "" {
		return args, nil
	}
	names, err = o.fromFile(ctx, path, func(in io.Reader) ([]string, error) {
		return list.ReadNames(in, end, end != 0 && runtime.GOOS == "windows")
	})
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
