// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

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
	paths, end := o.FilesFrom, byte('\n')
	if len(o.Files0From) > 0 {
		paths, end = o.Files0From, 0
	}
	if len(paths) == 0 {
		return args, nil
	}
	for _, path := range paths {
		more, err := o.fromFile(ctx, path, func(in io.Reader) ([]string, error) {
			return list.ReadNames(in, end, end != 0 && runtime.GOOS == "windows", checkName)
		})
		if err == nil && len(more) == 0 {
			err = about(path, errors.New("it has no names"))
		}
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// checkName returns an error if name n of a file with names can be none.
func checkName(n int, name []byte) ([]byte, error) {
	switch {
	case len(name) == 0:
		return nil, fmt.Errorf("name %d is empty", n)
	case string(name) == "-":
		return nil, fmt.Errorf("name %d is -: a file of that name is ./-", n)
	case bytes.IndexByte(name, 0) >= 0:
		return nil, fmt.Errorf("name %d has a NUL: --files0-from reads such names", n)
	}
	return name, nil
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

// options returns those of the list and of o that leave out some of what is in folders.
func (o *Options) options(old *oldList) (names []string) {
	if old != nil {
		names = slices.Clone(old.Options)
	}
	for name, given := range map[string]bool{list.OneFileSystem: o.OneFileSystem, list.ExcludeCaches: o.ExcludeCaches} {
		if given && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
