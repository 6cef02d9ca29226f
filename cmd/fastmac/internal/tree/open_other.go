// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package tree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// A Finder finds files by path. Below its folders it follows no links to folders. It looks at each folder
// of a path before the file is opened: a link that takes the place of a folder in between is followed.
type Finder struct {
	folders []string // with their slashes
	base    baseInfo // see Inode
}

// NewFinder returns a finder with these folders, or with none.
func NewFinder(folders []string) *Finder { return &Finder{folders: WithSlashes(folders)} }

// check returns an error if the path leads through a link, or to another file than it says.
func (f *Finder) check(path string) error {
	if err := checkPath(path); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	for at := len(Above(f.folders, path)); at > 0; {
		next := strings.IndexByte(path[at:], '/')
		if next < 0 {
			break
		}
		dir := path[:at+next]
		if info, err := os.Lstat(native(dir)); err != nil || !info.IsDir() {
			if err == nil {
				err = LinkError(dir)
			}
			return &fs.PathError{Op: "open", Path: path, Err: Reason(err)}
		}
		at += next + 1
	}
	return nil
}

// Close closes nothing here.
func (f *Finder) Close() {}

// infoOf returns what is in info, or the error.
func infoOf(info os.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	os.SameFile(info, info) // on Windows it asks which file that is, and only now is it this one
	return Info{info.Size(), info.ModTime().UnixNano(), 0, 0, info.Mode().Type(), identity{info}}, nil
}

// Look returns what is at path. If that is a link, it is followed.
func (f *Finder) Look(path string) (Info, error) {
	if err := f.check(path); err != nil {
		return Info{}, err
	}
	return infoOf(os.Stat(native(path)))
}

// A regularFile is an open regular file.
type regularFile struct{ *os.File }

// open opens the regular file at path, which look has found, and will look at again.
func (f *Finder) open(_ context.Context, path string) (*regularFile, error) {
	file, err := os.Open(native(path))
	if err != nil {
		return nil, err
	}
	return &regularFile{file}, nil
}

func (f *regularFile) info() (Info, error) { return infoOf(f.Stat()) }

// canMap: on Windows nobody could shorten or replace a file while it is mapped, such as a log.
const canMap = false

// mapped returns an error: files are read.
func (f *regularFile) mapped(int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}

// Nowhere reports whether an error is that of a link that leads nowhere.
func Nowhere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Appends: here >> of a shell only begins at the end.
func Appends(*os.File) bool { return false }

// A dir is a folder, found by its path: a link that takes the place of one is followed.
type dir struct {
	path string
	was  Info // before it was read
}

// openDir returns a folder, which may be a link to one.
func openDir(path string) (*dir, error) { return NewFinder(nil).openDir(path) }

// openDir returns a folder, which may be a link to one.
func (f *Finder) openDir(path string) (*dir, error) { return &dir{path: path}, f.check(path) }

func (d *dir) info() (Info, error) { return infoOf(os.Stat(native(d.path))) }

// read returns what is in the folder, sorted by name.
func (d *dir) read() ([]fs.DirEntry, error) { return os.ReadDir(native(d.path)) }

// look returns what has this name, or what the link of this name leads to.
func (d *dir) look(_, path string) (Info, error) { return infoOf(os.Stat(native(path))) }

// open returns the folder of this name.
func (d *dir) open(_, path string) (*dir, error) {
	info, err := os.Lstat(native(path))
	if err == nil && !info.IsDir() {
		err = LinkError(path)
	}
	return &dir{path: path}, err
}

// openFile opens the file of this name.
func (d *dir) openFile(_, path string) (*regularFile, error) {
	f, err := os.Open(native(path))
	return &regularFile{f}, err
}

func (d *dir) reopen(*dir) error { return nil }

func (d *dir) close() {}
