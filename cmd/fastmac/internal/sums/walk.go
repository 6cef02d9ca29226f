// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An entry is a file to tag, or why there is none.
type entry struct {
	path  string
	found bool // in a folder
	err   error
	left  string // what it is if it is left out
}

type walker struct {
	skip    func(path string, isDir bool) bool
	skipped int
}

func newWalker(skip func(path string, isDir bool) bool) *walker { return &walker{skip: skip} }

func (w *walker) walk(ctx context.Context, list []entry, folder string) []entry {
	return walk(ctx, list, folder)
}

// walk appends the files in a folder, with slashes.
func walk(ctx context.Context, list []entry, folder string) []entry {
	folder = filepath.ToSlash(folder)
	names, err := os.ReadDir(folder)
	if err != nil {
		list = append(list, entry{path: folder, err: err})
	}
	if !strings.HasSuffix(folder, "/") {
		folder += "/"
	}
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		path, mode := folder+name.Name(), name.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			if err == nil && info.IsDir() {
				continue
			}
			if err == nil {
				mode = info.Mode()
			} else {
				mode = 0 // to read it reports the error
			}
		}
		switch {
		case mode.IsDir():
			list = walk(ctx, list, path)
		case mode.IsRegular():
			list = append(list, entry{path: path, found: true})
		}
	}
	return list
}

// absolute returns one path for all that name the same file, apart from links.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
