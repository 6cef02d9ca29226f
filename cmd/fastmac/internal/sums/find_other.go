// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package sums

import (
	"io/fs"
	"os"
	"strings"
)

// A finder finds files by path. Below its folders it follows no links to folders. It looks at each folder
// of a path before the file is opened: a link that takes the place of a folder in between is followed.
type finder struct {
	folders []string // with their slashes
}

func newFinder(folders []string) *finder { return &finder{withSlashes(folders)} }

// check returns an error if the path leads through a link.
func (f *finder) check(path string) error {
	for at := len(above(f.folders, path)); at > 0; {
		next := strings.IndexByte(path[at:], '/')
		if next < 0 {
			break
		}
		dir := path[:at+next]
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			if err == nil {
				err = errLink(dir)
			}
			return &fs.PathError{Op: "open", Path: path, Err: reason(err)}
		}
		at += next + 1
	}
	return nil
}

func (f *finder) close() {}
