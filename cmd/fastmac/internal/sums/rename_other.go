// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !windows

package sums

import "os"

// createUnfinished makes the file of an outFile.
func createUnfinished(path string, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
}

// giveName gives a file a path at which nothing is, besides that which it has.
func giveName(name, path string) error { return os.Link(name, path) }

// replace renames a file to a path at which another one is.
func replace(name, path string) error { return os.Rename(name, path) }
