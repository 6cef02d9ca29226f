// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A pathIndex finds the lines of a list that name a file, by any of its paths. It has 16 bytes for each
// line: a map of paths could have several times the size of the list.
type pathIndex struct {
	places
	lines *lines
	seed  maphash.Seed
	all   []hashedLine // sorted
}

type hashedLine struct {
	hash uint64 // of the absolute path
	line uint32
}

func newPathIndex(l *lines) *pathIndex {
	x := &pathIndex{places: newPlaces(), lines: l, seed: maphash.MakeSeed(), all: make([]hashedLine, 0, l.len())}
	for line := range l.all() {
		x.all = append(x.all, hashedLine{maphash.String(x.seed, x.absolute(line.path)), uint32(len(x.all))})
	}
	slices.SortFunc(x.all, func(a, b hashedLine) int { return cmp.Compare(a.hash, b.hash) })
	return x
}

// has reports whether a line names a file.
func (x *pathIndex) has(file string) bool {
	_, ok := x.find(file)
	return ok
}

// find returns the number of a line that names a file, of several always the same.
func (x *pathIndex) find(file string) (line int, ok bool) {
	file = x.absolute(file)
	hash := maphash.String(x.seed, file)
	i, _ := slices.BinarySearchFunc(x.all, hash, func(l hashedLine, hash uint64) int { return cmp.Compare(l.hash, hash) })
	for ; i < len(x.all) && x.all[i].hash == hash; i++ {
		if x.absolute(x.lines.at(int(x.all[i].line)).path) == file {
			return int(x.all[i].line), true
		}
	}
	return 0, false
}

// places returns absolute paths of files. It asks once which folder is the current one.
type places struct {
	here string // the current folder, as the environment names it: a link can lead to it
	real string // the same without links
}

func newPlaces() (p places) {
	p.here, _ = os.Getwd()
	p.here = filepath.ToSlash(p.here)
	p.real = p.here
	if real, err := filepath.EvalSymlinks(p.here); err == nil {
		p.real = filepath.ToSlash(real)
	}
	return p
}

// absolute returns one path, with slashes, for paths that name the same file whatever is a link. So ".." is
// taken away only before the first name, from the current folder without links: after a name it could
// lead to anywhere. Standard input stays "-".
func (p places) absolute(file string) string {
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
	return withSlash(before) + strings.Join(names, "/")
}

// otherAccents returns the paths that look the same: an accented letter can be one character or several, and
// systems and programs write it in one way or keep what they get.
func otherAccents(path string) (paths []string) {
	name := strings.LastIndexByte(path, '/') + 1
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		for _, other := range []string{form.String(path), path[:name] + form.String(path[name:])} {
			if other != path && !slices.Contains(paths, other) {
				paths = append(paths, other)
			}
		}
	}
	return paths
}
