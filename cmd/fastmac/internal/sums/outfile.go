// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// An outFile is a file that appears at its path complete, or not at all: until then what was
// there stays.
type outFile struct {
	*os.File
	path string
	old  os.FileInfo // what is at path, or nil
}

// createOut makes an outFile, next to its path: only there a rename is certain to work.
func createOut(path string) (*outFile, error) {
	o := &outFile{path: path}
	mode := os.FileMode(0o666) // less what the umask takes away, as a shell has it
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, about(path, errors.New("is a folder: want a file for the list"))
	case err == nil && !info.Mode().IsRegular():
		return nil, about(path, errors.New("is no regular file: want one, or > of a shell"))
	case err == nil:
		o.old, mode = info, info.Mode().Perm()
		// The file that a link leads to is replaced, not the link.
		if o.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, about(path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, about(path, err)
	}
	name := filepath.Join(filepath.Dir(o.path), ".fastmac-"+rand.Text())
	if o.File, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode); err != nil {
		return nil, about(path, err)
	}
	return o, nil
}

// commit puts the file at its path.
func (o *outFile) commit() error {
	err := o.Sync()
	if closed := o.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(o.Name(), o.path)
	}
	if err != nil {
		return about(o.path, err)
	}
	return nil
}

// discard removes what was not committed.
func (o *outFile) discard() {
	o.Close()
	os.Remove(o.Name())
}
