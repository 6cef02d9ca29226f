// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// A dir is an open folder. What is in it is found from there, so no link that takes the place of a
// folder leads elsewhere.
type dir struct {
	*os.File
	was fileInfo // before it was read
}

// openDir opens a folder, which may be a link to one.
func openDir(path string) (*dir, error) { return newFinder(nil).openDir(path) }

// openDir opens a folder, which may be a link to one.
func (f *finder) openDir(path string) (*dir, error) {
	fd, name, err := f.at(path)
	if err != nil {
		return nil, err
	}
	return openDirIn(fd, name, path, 0)
}

func openDirIn(fd int, name, path string, flags int) (*dir, error) {
	fd, err := openFolder(fd, name, unix.O_RDONLY|flags)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &dir{File: os.NewFile(uintptr(fd), path)}, nil
}

func (d *dir) fd() int { return int(d.Fd()) }

func (d *dir) info() (fileInfo, error) { return lookOpen(d.fd(), d.Name()) }

// read returns what is in the folder, sorted by name.
func (d *dir) read() ([]fs.DirEntry, error) {
	names, err := d.ReadDir(-1)
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return names, err
}

// look returns what has this name, or what the link of this name leads to.
func (d *dir) look(name string) (fileInfo, error) { return lookIn(d.fd(), name, 0) }

// open opens the folder of this name, and no link. It knows its path: some file systems do not say in a
// folder which kind each name is, and then ReadDir looks at the path.
func (d *dir) open(name string) (*dir, error) {
	return openDirIn(d.fd(), name, withSlash(d.Name())+name, unix.O_NOFOLLOW)
}

// reopen opens d again, from a folder that was in it.
func (d *dir) reopen(sub *dir) error {
	up, err := openDirIn(sub.fd(), "..", d.Name(), unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	if info, err := up.info(); err != nil || !info.same(d.was) {
		up.close()
		return cmp.Or(err, errors.New("was moved while it was read"))
	}
	d.File = up.File
	return nil
}

func (d *dir) close() { d.Close() }
