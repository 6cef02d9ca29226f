// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// A Floor is the serial number that a list must have at least: whoever restores an old list does not reach it.
type Floor struct {
	File   string // has the number, which is raised; or empty
	number uint64
}

// ParseFloor returns the floor of a number in decimal digits, or in the file of that name.
func ParseFloor(text string) (*Floor, error) {
	if text == "" || text == "-" {
		return nil, errors.New("want a number, or a file that has one")
	}
	if strings.Trim(text, "0123456789") != "" {
		return &Floor{File: text}, nil
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is too large for a serial number", text)
	}
	return &Floor{number: number}, nil
}

// read reads the number from the file, if there is one.
func (f *Floor) read() error {
	if f.File == "" {
		return nil
	}
	path := shown(f.File)
	info, err := os.Stat(f.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file: make it once, with echo 0 > %[1]s", path)
	case err != nil:
		return about(f.File, err)
	case !info.Mode().IsRegular():
		return about(f.File, errors.New("is not a regular file"))
	}
	text, err := os.ReadFile(f.File)
	if err != nil {
		return about(f.File, err)
	}
	if f.number, err = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err != nil {
		return about(f.File, errors.New("want a number in decimal digits, as from echo 0"))
	}
	return nil
}

// check returns an error if the serial number of a list is lower than the one that was read.
func (f *Floor) check(serial uint64) error {
	if serial < f.number {
		return fmt.Errorf("an old list: its serial number is %d, and at least %d is wanted", serial, f.number)
	}
	return nil
}

// raise writes the serial number of a list that is right to the file of AtLeast. It never lowers what is there,
// also if two run at the same time.
func (o *Options) raise(ctx context.Context, serial uint64) error {
	f := o.AtLeast
	if f.File == "" {
		return nil
	}
	until, stop := context.WithTimeout(ctx, maxWait)
	defer stop()
	unlock, err := o.lockList(until, f.File, true)
	switch {
	case err != nil && ctx.Err() == nil:
		return about(f.File, errors.New("another program has locked it: the number was not raised"))
	case err != nil:
		return err
	}
	defer unlock()
	removeUnfinished(f.File)
	if err := f.read(); err != nil || f.number >= serial {
		return err
	}
	out, err := createOut(f.File, true)
	if err != nil {
		return err
	}
	defer out.discard()
	if _, err := io.WriteString(out, strconv.FormatUint(serial, 10)+"\n"); err != nil {
		return err
	}
	return out.commit()
}
