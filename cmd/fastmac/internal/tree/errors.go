// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"errors"
	"io/fs"
	"os"
)

var (
	// ErrOutput is the error for the file of Files.Output.
	ErrOutput = errors.New("is the output")

	errSpecial  = errors.New("is not a regular file: --special reads it")
	errReplaced = errors.New("was replaced while it was read")
	errChanged  = errors.New("changed while it was read")
	errUnstable = errors.New("has another inode number or other times at each look: --minimal-stat accepts that")

	// errFault is the error for a mapped file that becomes shorter, or that cannot be read.
	errFault = errors.New("fault while reading")
)

// A LinkError is the error for a link that has taken the place of a folder. It is the path, without escapes.
type LinkError string

func (e LinkError) Error() string {
	return string(e) + " is a link, and tag -r follows no links to folders"
}

// Reason returns what an error says about a file, without its name.
func Reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
