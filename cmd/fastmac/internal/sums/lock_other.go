// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix && !windows

package sums

import (
	"errors"
	"os"

	"github.com/gofrs/flock"
)

// newLock returns a lock that fails: these systems have none.
func newLock(path string) *flock.Flock { return flock.New(path) }

func openList(path string) (*os.File, error) { return os.Open(path) }

const openStays = false

func newUnfinishedLock(path string) *flock.Flock { return flock.New(path) }

func isHeld(string) (bool, error) { return false, errors.ErrUnsupported }

func removeUnheld(string) error { return errors.ErrUnsupported }

func sameName(a, b string) bool { return a == b }
