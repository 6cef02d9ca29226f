// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// An output is where a list goes.
type output interface {
	io.Writer
	is(path string, i tree.Info) bool // the file at path is where the list goes, and so not in it
	commit() error                    // ends the list
	discard()                         // removes what was not committed, if that is possible
}

// createOutput makes the file of Update or Output, or checks standard output.
func (o *Options) createOutput(old *oldList) (output, error) {
	path := cmp.Or(o.Update, o.Output)
	if path == "" || path == "-" {
		return o.toStdout()
	}
	out, err := createOut(path, o.Force || old != nil)
	if err == nil && old != nil {
		out.old = old.info // what was read, and not what another update has put there since
	}
	return out, err
}

// A stdOut is standard output.
type stdOut struct {
	io.Writer
	file   os.FileInfo // if it is one
	joined bool        // it is not empty
}

func (o *Options) toStdout() (output, error) {
	s := stdOut{Writer: o.Stdout}
	if out, ok := o.Stdout.(*os.File); ok {
		if info, err := out.Stat(); err == nil && info.Mode().IsRegular() {
			s.file = info
			if tree.Appends(out) {
				return nil, errors.New("standard output appends to a file (>>), and joined lists do not verify: want > or -o FILE; --update FILE adds to a list")
			}
			at, err := out.Seek(0, io.SeekCurrent)
			s.joined = err == nil && at > 0
		}
	}
	if s.joined {
		fmt.Fprintln(o.Stderr, "fastmac: standard output is a file that is not empty, and joined lists do not verify: tag all files in one run, with --files0-from - for names from find or xargs")
	}
	return s, nil
}

func (s stdOut) is(_ string, i tree.Info) bool { return s.file != nil && i.Is(s.file) }

func (s stdOut) commit() error {
	if s.joined {
		return errors.New("the list was written after something else: verify will refuse it")
	}
	return nil
}

func (s stdOut) discard() {}
