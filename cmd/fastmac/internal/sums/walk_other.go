// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package sums

import (
	"io/fs"
	"os"
)

// A dir is a folder, found by its path: a link that takes the place of one is followed.
type dir struct {
	path string
	was  fileInfo // before it was read
}

// openDir returns a folder, which may be a link to one.
func openDir(path string) (*dir, error) { return &dir{path: path}, nil }

// openDir returns a folder, which may be a link to one.
func (f *finder) openDir(path string) (*dir, error) { return &dir{path: path}, f.check(path) }

func (d *dir) info() (fileInfo, error) { return infoOf(os.Stat(d.path)) }

// read returns what is in the folder, sorted by name.
func (d *dir) read() ([]fs.DirEntry, error) { return os.ReadDir(d.path) }

// look returns what has this name, or what the link of this name leads to.
func (d *dir) look(name string) (fileInfo, error) { return infoOf(os.Stat(withSlash(d.path) + name)) }

// open returns the folder of this name.
func (d *dir) open(name string) (*dir, error) {
	path := withSlash(d.path) + name
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = errLink(path)
	}
	return &dir{path: path}, err
}

func (d *dir) reopen(*dir) error { return nil }

func (d *dir) close() {}
