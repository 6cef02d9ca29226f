// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package sums

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// An identity is of one file only.
type identity struct{ info os.FileInfo }

func (a identity) same(b identity) bool { return os.SameFile(a.info, b.info) }

// is reports whether a is of the file of b. Devices have no identity.
func (a fileInfo) is(b os.FileInfo) bool {
	return !a.kind.IsRegular() || os.SameFile(a.identity.info, b)
}

// infoOf returns what is in info, or the error.
func infoOf(info os.FileInfo, err error) (fileInfo, error) {
	if err != nil {
		return fileInfo{}, err
	}
	os.SameFile(info, info) // on Windows it asks which file that is, and only now is it this one
	return fileInfo{info.Size(), info.ModTime().UnixNano(), 0, 0, info.Mode().Type(), identity{info}}, nil
}

// look returns what is at path. If that is a link, it is followed.
func (f *finder) look(path string) (fileInfo, error) {
	if err := f.check(path); err != nil {
		return fileInfo{}, err
	}
	return infoOf(os.Stat(path))
}

// A regularFile is an open regular file.
type regularFile struct{ *os.File }

// open opens the regular file at path, which look has found, and will look at again.
func (f *finder) open(_ context.Context, path string) (*regularFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &regularFile{file}, nil
}

func (f *regularFile) info() (fileInfo, error) { return infoOf(f.Stat()) }

// canMap: on Windows nobody could shorten or replace a file while it is mapped, such as a log.
const canMap = false

// mapped returns an error: files are read.
func (f *regularFile) mapped(int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) {}

// nowhere reports whether an error is that of a link that leads nowhere.
func nowhere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// appends: here >> of a shell only begins at the end.
func appends(*os.File) bool { return false }
