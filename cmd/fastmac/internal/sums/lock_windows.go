// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/tree"
	"github.com/gofrs/flock"
	"golang.org/x/sys/windows"
)

// newLock returns a lock for the file at path, whatever path it has, in the folder of temporary files of the user:
// here a lock of the file itself would keep others from reading it, and an open file cannot be replaced.
func newLock(path string) *flock.Flock {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	name := sha256.Sum256([]byte(tree.Fold(tree.NewPlaces().Absolute(path))))
	return flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("fastmac-%x.lock", name[:16])))
}

// openList opens a list that will be replaced.
func openList(path string) (*os.File, error) { return os.Open(path) }

// openStays is true: who makes the file of an outFile holds it from the first moment, and until it has its path, by
// having it open.
const openStays = true

// newUnfinishedLock returns a lock that is not used.
func newUnfinishedLock(path string) *flock.Flock { return flock.New(path) }

// createUnfinished makes the file of an outFile. Unlike one of [os.OpenFile] it can be renamed while it is open.
func createUnfinished(path string, _ os.FileMode) (*os.File, error) {
	h, err := openHandle(path, windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, windows.CREATE_NEW)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func openHandle(path string, access, share, create uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(name, access, share, nil, create, windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
}

// isHeld reports whether a process writes to the file of an outFile. Others may read it, and this does not keep it
// from its name.
func isHeld(path string) (bool, error) {
	h, err := openHandle(path, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, windows.OPEN_EXISTING)
	if err != nil {
		return errors.Is(err, windows.ERROR_SHARING_VIOLATION), err
	}
	return false, windows.CloseHandle(h)
}

// removeUnheld removes the file of an outFile, if no process writes to it.
func removeUnheld(path string) error {
	if held, err := isHeld(path); held || err != nil {
		return err
	}
	return os.Remove(path)
}

// giveName gives a file a path at which nothing is, in place of that which it has.
func giveName(name, path string) error {
	from, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return again(func() error { return windows.MoveFile(from, to) })
}

// replace renames a file to a path at which another one is.
func replace(name, path string) error { return again(func() error { return os.Rename(name, path) }) }

// patience is how long a rename waits for programs that have the file open, such as one that tags the folder, or
// looks for viruses.
const patience = 2 * time.Second

// again renames until nobody has the file open.
func again(rename func() error) error {
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := rename()
		open := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !open || time.Since(began) > patience {
			return err
		}
	}
}

// sameName reports whether two names are one, as they are in most folders.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
