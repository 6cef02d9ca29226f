// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Places returns absolute paths of files. It asks once which folder is the current one.
type Places struct {
	here string // the current folder, as the environment names it: a link can lead to it
	real string // the same without links
}

// NewPlaces returns those of the current folder.
func NewPlaces() (p Places) {
	p.here, _ = os.Getwd()
	p.here = filepath.ToSlash(p.here)
	p.real = p.here
	if real, err := filepath.EvalSymlinks(p.here); err == nil {
		p.real = filepath.ToSlash(real)
	}
	return p
}

// Absolute returns one path, with slashes, for paths that name the same file whatever is a link. So ".." is
// taken away only before the first name, from the current folder without links: after a name it could
// lead to anywhere. Standard input stays "-".
func (p Places) Absolute(file string) string {
	file = filepath.ToSlash(file)
	if file == "-" {
		return file
	}
	if path.IsAbs(file) || filepath.VolumeName(file) != "" {
		abs, err := filepath.Abs(file)
		if err != nil || slices.Contains(strings.Split(file, "/"), "..") {
			return file
		}
		return filepath.ToSlash(abs)
	}
	before, rest, up := p.here, file, false
	for {
		name, after, _ := strings.Cut(rest, "/")
		if name == ".." {
			if !up {
				before, up = p.real, true
			}
			before = path.Dir(before)
		} else if name != "." && name != "" || rest == "" {
			break
		}
		rest = after
	}
	names := slices.DeleteFunc(strings.Split(rest, "/"), func(name string) bool { return name == "" || name == "." })
	if len(names) == 0 {
		return before
	}
	return strings.TrimSuffix(before, "/") + "/" + strings.Join(names, "/")
}
