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
	"strings"
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
	errNoFile := errors.New("is not a regular file: want one; without -o the list goes to standard output")
	if isStream(path) {
		return nil, about(path, errNoFile)
	}
	mode := os.FileMode(0o666) // less what the umask takes away, as a shell has it
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, about(path, errors.New("is a folder: want a file for the list"))
	case err == nil && !info.Mode().IsRegular():
		return nil, about(path, errNoFile)
	case err == nil:
		o.old, mode = info, info.Mode().Perm()
		// The file that a link leads to is replaced, not the link.
		if o.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, about(path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, about(path, err)
	default:
		if _, err := os.Lstat(path); err == nil {
			return nil, about(path, errors.New("is a link to a file that does not exist: make the file, or remove the link"))
		}
	}
	name := filepath.Join(filepath.Dir(o.path), ".fastmac-"+rand.Text())
	if o.File, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode); err != nil {
		return nil, about(path, err)
	}
	if o.old != nil {
		// The umask may have taken away what the old file had.
		if err := o.Chmod(mode); err != nil {
			o.discard()
			return nil, about(path, err)
		}
	}
	return o, nil
}

// isStream reports whether a path is a name of a file that is open, such as /dev/stdout. What a
// shell has put there, often a regular file, is not to be replaced.
func isStream(path string) bool {
	path = filepath.ToSlash(absolute(path))
	switch path {
	case "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

// Write has the name in its errors that the file will have.
func (o *outFile) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil {
		err = about(o.path, err)
	}
	return n, err
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
