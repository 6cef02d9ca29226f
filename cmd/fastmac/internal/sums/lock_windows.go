// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"golang.org/x/sys/windows"
)

// newLock returns a lock for the file at path, in the folder of temporary files of its user: here a lock
// of the file itself would keep others from reading it, and an open file cannot be replaced.
func newLock(path string) *flock.Flock {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := sha256.Sum256([]byte(strings.ToLower(path)))
	return flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("fastmac-%x.lock", name[:16])))
}

// openList opens a list that will be replaced.
func openList(path string) (*os.File, error) { return os.Open(path) }

// openStays is true because nobody can remove a file that a process has open.
const openStays = true

// newUnfinishedLock returns a lock that is not used.
func newUnfinishedLock(path string) *flock.Flock { return flock.New(path) }

// isHeld reports whether a process has the file of an outFile open.
func isHeld(path string) (bool, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false, err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return errors.Is(err, windows.ERROR_SHARING_VIOLATION), err
	}
	return false, windows.CloseHandle(h)
}

// removeUnheld removes the file of an outFile, if no process has it open.
func removeUnheld(path string) error { return os.Remove(path) }

// sameName reports whether two names are one, as they are in most folders.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
