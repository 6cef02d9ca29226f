// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"cmp"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// A finder finds files by path. Below its folders it follows no links to folders: each folder is opened
// in the one above it, so nothing can lead out of them. The folders themselves may be links, and so
// may the files. A finder keeps the folder of the last file, as lists are sorted.
type finder struct {
	folders []string // with their slashes
	dir     string   // that of the last file, with its slash
	fd      int      // is dir, or unix.AT_FDCWD if that is below none of folders
}

func newFinder(folders []string) *finder {
	return &finder{folders: withSlashes(folders), fd: unix.AT_FDCWD}
}

// at returns an open folder, and the path from there.
func (f *finder) at(path string) (fd int, name string, err error) {
	if len(f.folders) == 0 {
		return unix.AT_FDCWD, path, nil
	}
	slash := strings.LastIndexByte(path, '/') + 1
	if dir := path[:slash]; dir != f.dir {
		if err := f.enter(dir); err != nil {
			return 0, "", &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	switch {
	case f.fd == unix.AT_FDCWD:
		return f.fd, path, nil
	case slash == len(path):
		return f.fd, ".", nil
	}
	return f.fd, path[slash:], nil
}

// enter makes dir the folder of f.
func (f *finder) enter(dir string) error {
	root := above(f.folders, dir)
	if f.fd == unix.AT_FDCWD || len(f.dir) < len(root) || !strings.HasPrefix(dir, f.dir) {
		f.close()
		if root != "" {
			fd, err := openFolder(unix.AT_FDCWD, root, search)
			if err != nil {
				return err
			}
			f.fd, f.dir = fd, root
		}
	}
	for f.fd != unix.AT_FDCWD && f.dir != dir {
		name, _, _ := strings.Cut(dir[len(f.dir):], "/")
		fd, err := openFolder(f.fd, cmp.Or(name, "."), search|unix.O_NOFOLLOW)
		if err != nil {
			if info, e := lookIn(f.fd, name, unix.AT_SYMLINK_NOFOLLOW); e == nil && info.kind == fs.ModeSymlink {
				err = errLink(f.dir + name)
			}
			f.close()
			return err
		}
		unix.Close(f.fd)
		f.fd, f.dir = fd, dir[:len(f.dir)+len(name)+1]
	}
	f.dir = dir
	return nil
}

// openFolder opens the folder at a path from another one.
func openFolder(fd int, path string, flags int) (int, error) {
	return again(func() (int, error) { return unix.Openat(fd, path, flags|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
}

func (f *finder) close() {
	if f.fd != unix.AT_FDCWD {
		unix.Close(f.fd)
	}
	f.fd, f.dir = unix.AT_FDCWD, ""
}
