// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
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
}

// expand returns the files of the arguments, in order. If recursive, a folder stands for the
// files in it and in its folders, sorted by name: the regular ones and links to them. Links to
// folders are not followed, unless they are arguments. Paths have slashes on all systems, because
// lists travel: Windows has them in place of backslashes, and others have backslashes in names.
func expand(ctx context.Context, args []string, recursive bool) ([]entry, error) {
	var list []entry
	for _, path := range args {
		path = filepath.ToSlash(path)
		if recursive && path != "-" {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				before := len(list)
				if list = walk(ctx, list, path); len(list) == before {
					// Such as a disk that is not mounted: an empty list would say that all is well.
					list = append(list, entry{path: path, err: errors.New("has no files")})
				}
				continue
			}
		}
		list = append(list, entry{path: path})
	}
	return list, ctx.Err()
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
