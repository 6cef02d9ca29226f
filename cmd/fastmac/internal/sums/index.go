// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
	"golang.org/x/text/unicode/norm"
)

// A pathIndex finds the lines of a list that name a file, by any of its paths. It has 16 bytes for each
// line: a map of paths could have several times the size of the list.
type pathIndex struct {
	tree.Places
	lines *list.Lines
	seed  maphash.Seed
	all   []hashedLine // sorted
}

type hashedLine struct {
	hash uint64 // of the absolute path
	line uint32
}

func newPathIndex(l *list.Lines) *pathIndex {
	x := &pathIndex{Places: tree.NewPlaces(), lines: l, seed: maphash.MakeSeed(), all: make([]hashedLine, 0, l.Len())}
	for line := range l.All() {
		x.all = append(x.all, hashedLine{x.hash(x.Absolute(line.Path)), uint32(len(x.all))})
	}
	slices.SortFunc(x.all, func(a, b hashedLine) int { return cmp.Compare(a.hash, b.hash) })
	return x
}

// hash returns that of an absolute path, the same for all that Fold makes the same. Letters of ASCII are made the
// same by a bit, which is fast, and does the same to some other characters.
func (x *pathIndex) hash(path string) uint64 {
	var room [256]byte
	b := append(room[:0], path...)
	if all := setCase(b); all >= utf8.RuneSelf {
		b = append(b[:0], tree.Fold(path)...)
		setCase(b)
	}
	return maphash.Bytes(x.seed, b)
}

// setCase sets the bit of lower case in all bytes, and returns which bits they had.
func setCase(b []byte) (all byte) {
	for i, c := range b {
		all |= c
		b[i] = c | 0x20
	}
	return all
}

// has reports whether a line names a file.
func (x *pathIndex) has(file string) bool {
	_, ok := x.find(file)
	return ok
}

// find returns the number of a line that names a file, of several always the same.
func (x *pathIndex) find(file string) (line int, ok bool) {
	file = x.Absolute(file)
	hash := x.hash(file)
	i, _ := slices.BinarySearchFunc(x.all, hash, func(l hashedLine, hash uint64) int { return cmp.Compare(l.hash, hash) })
	for ; i < len(x.all) && x.all[i].hash == hash; i++ {
		if line := int(x.all[i].line); x.Same(x.Absolute(x.lines.At(line).Path), file) {
			return line, true
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
