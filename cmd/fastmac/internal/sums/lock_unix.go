// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"errors"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// newLock returns a lock of the file at path. To open a FIFO that has taken its place does not wait.
func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))
}

// openList opens a list that will be replaced, without waiting for what is a FIFO.
func openList(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// newUnfinishedLock returns a lock of the file of an outFile, or of nothing that has taken its place.
func newUnfinishedLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW))
}

// isHeld reports whether a process has locked the file of an outFile.
func isHeld(path string) (bool, error) {
	lock := newUnfinishedLock(path)
	defer lock.Close()
	free, err := lock.TryRLock()
	return err == nil && !free, err
}

// removeUnheld removes the file of an outFile, if no process has locked it.
func removeUnheld(path string) error {
	lock := newUnfinishedLock(path)
	defer lock.Close()
	if free, err := lock.TryLock(); !free || err != nil {
		return err
	}
	mine, err := lock.Stat()
	there, err2 := os.Lstat(path)
	if err != nil || err2 != nil || !mine.Mode().IsRegular() || !os.SameFile(mine, there) {
		return errors.Join(err, err2)
	}
	return os.Remove(path)
}

// openStays is false: a file that is open can be removed and replaced.
const openStays = false

// sameName reports whether two names are one.
func sameName(a, b string) bool { return a == b }
