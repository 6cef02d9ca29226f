// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"hash/maphash"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A pathIndex finds the lines of a list that name a file, by any of its paths. It has 16 bytes for each
// line: a map of paths could have several times the size of the list.
type pathIndex struct {
	lines *lines
	here  string // the current folder
	seed  maphash.Seed
	all   []hashedLine // sorted
}

type hashedLine struct {
	hash uint64 // of the absolute path
	line uint32
}

func newPathIndex(l *lines) *pathIndex {
	x := &pathIndex{lines: l, here: absolute("."), seed: maphash.MakeSeed(), all: make([]hashedLine, 0, l.len())}
	for line := range l.all() {
		x.all = append(x.all, hashedLine{maphash.String(x.seed, x.absolute(line.path)), uint32(len(x.all))})
	}
	slices.SortFunc(x.all, func(a, b hashedLine) int { return cmp.Compare(a.hash, b.hash) })
	return x
}

// absolute is the function of this name, which asks for the current folder each time.
func (x *pathIndex) absolute(path string) string {
	if runtime.GOOS == "windows" || filepath.IsAbs(path) {
		return absolute(path)
	}
	return filepath.Join(x.here, path)
}

// has reports whether a line names the file at path.
func (x *pathIndex) has(path string) bool {
	_, ok := x.find(path)
	return ok
}

// find returns the number of a line that names the file at path, of several always the same.
func (x *pathIndex) find(path string) (line int, ok bool) {
	path = x.absolute(path)
	hash := maphash.String(x.seed, path)
	i, _ := slices.BinarySearchFunc(x.all, hash, func(l hashedLine, hash uint64) int { return cmp.Compare(l.hash, hash) })
	for ; i < len(x.all) && x.all[i].hash == hash; i++ {
		if x.absolute(x.lines.at(int(x.all[i].line)).path) == path {
			return int(x.all[i].line), true
		}
	}
	return 0, false
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
