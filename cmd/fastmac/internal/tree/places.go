// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Places returns absolute paths of files, and says which of them name the same file. It asks once which folder
// is the current one. Several goroutines can use it.
type Places struct {
	here  string // the current folder, as the environment names it: a link can lead to it
	real  string // the same without links
	asked *asked
}

// NewPlaces returns those of the current folder.
func NewPlaces() (p Places) {
	p.here, _ = os.Getwd()
	p.here = filepath.ToSlash(p.here)
	p.real = p.here
	if real, err := filepath.EvalSymlinks(p.here); err == nil {
		p.real = filepath.ToSlash(real)
	}
	p.asked = &asked{same: make(map[[2]string]bool)}
	return p
}

// Absolute returns one path, with slashes, for paths that name the same file whatever is a link. So ".." is
// taken away only before the first name, from the current folder without links: after a name it could
// lead to anywhere. Standard input stays "-". Paths in other letters, see Same, stay different.
func (p Places) Absolute(file string) string {
	file = filepath.ToSlash(file)
	if file == "-" {
		return file
	}
	if runtime.GOOS == "windows" {
		return absoluteWindows(file)
	}
	if path.IsAbs(file) {
		if slices.Contains(strings.Split(file, "/"), "..") {
			return file
		}
		return path.Clean(file)
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

// Fold returns what paths that can name one file have in common. Which of them do depends on the folder: on
// Windows and macOS, and in some folders of Linux, case makes no difference, in others it does, and on macOS an
// accented letter is the same in each encoding.
func Fold(path string) string {
	for i := range len(path) {
		if path[i] >= utf8.RuneSelf {
			return norm.NFC.String(strings.Map(foldRune, norm.NFD.String(path)))
		}
	}
	return strings.ToLower(path)
}

// foldRune returns the first of the letters that differ only in case, for ASCII in lower case.
func foldRune(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	if 'A' <= first && first <= 'Z' {
		first += 'a' - 'A'
	}
	return first
}

// Same reports whether two paths from Absolute name the same file. Where they differ in case, it asks the folders.
func (p Places) Same(a, b string) bool {
	if a == b {
		return true
	}
	if Fold(a) != Fold(b) {
		return false
	}
	for i, j := 0, 0; ; {
		x, y := nameEnd(a, i), nameEnd(b, j)
		if a[i:x] != b[j:y] && !p.asked.oneFile(a[:x], b[:y], x < len(a)) {
			return false
		}
		if x == len(a) || y == len(b) {
			return x == len(a) && y == len(b)
		}
		i, j = x+1, y+1
	}
}

// Below returns what follows a folder in a path, if it is below the folder. Both are from Absolute, the folder
// with a slash.
func (p Places) Below(folder, path string) (rest string, ok bool) {
	if rest, ok := strings.CutPrefix(path, folder); ok {
		return rest, true
	}
	end := 0
	for range strings.Count(folder, "/") {
		if end = nameEnd(path, end) + 1; end > len(path) {
			return "", false
		}
	}
	return path[end:], p.Same(folder, path[:end])
}

// nameEnd returns the index in a path behind the name that begins at i.
func nameEnd(path string, i int) int {
	if slash := strings.IndexByte(path[i:], '/'); slash >= 0 {
		return i + slash
	}
	return len(path)
}

// asked is what folders have said, so that they are asked once.
type asked struct {
	mu     sync.Mutex
	same   map[[2]string]bool // of folders
	folder string             // the last one that was read
	names  map[string]bool    // in it
}

// oneFile reports whether two paths that differ only in the letters of their last name are one name of one file.
// A file with both names in its folder has two.
func (a *asked) oneFile(x, y string, isFolder bool) (same bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if same, known := a.same[[2]string{x, y}]; known {
		return same
	}
	if isFolder {
		defer func() { a.same[[2]string{x, y}] = same }()
	}
	folder := x[:strings.LastIndexByte(x, '/')+1]
	two := func() bool { return a.names[x[len(folder):]] && a.names[y[strings.LastIndexByte(y, '/')+1:]] }
	if a.folder == folder && two() {
		return false
	}
	one, err := os.Lstat(native(x))
	if err != nil {
		return false
	}
	other, err := os.Lstat(native(y))
	if err != nil || !os.SameFile(one, other) {
		return false
	}
	if a.folder != folder {
		names, err := os.ReadDir(native(folder))
		if err != nil {
			return false
		}
		a.folder, a.names = folder, make(map[string]bool)
		for _, name := range names {
			a.names[name.Name()] = true
		}
	}
	return !two()
}

// FoldsCase reports whether a folder finds a file also if its name is in other letters, which Git asks once for a
// repository.
func FoldsCase(folder string) bool {
	p := NewPlaces()
	folder = p.Absolute(folder)
	for _, name := range someNames(folder) {
		if other := otherCase(name); other != name {
			return p.Same(WithSlash(folder)+name, WithSlash(folder)+other)
		}
	}
	// It has no letters to ask for: it is as the folder that it is in.
	if above := filepath.ToSlash(filepath.Dir(folder)); above != folder && filepath.IsAbs(folder) {
		return FoldsCase(above)
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
}

// someNames returns some of the names in a folder, if it can be read.
func someNames(folder string) (names []string) {
	if f, err := os.Open(native(folder)); err == nil {
		names, _ = f.Readdirnames(100)
		f.Close()
	}
	return names
}

// otherCase returns a name with the case of its ASCII letters exchanged.
func otherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r ^ ('a' - 'A')
		}
		return r
	}, name)
}

// A PathSet is a set of files, by any of their paths.
type PathSet struct {
	places Places
	paths  map[string][]string // by what Fold makes of them
}

// NewPathSet returns an empty set.
func NewPathSet(p Places) *PathSet { return &PathSet{p, make(map[string][]string)} }

// Add adds a file, and reports whether it was not there.
func (s *PathSet) Add(file string) bool {
	if s.Has(file) {
		return false
	}
	file = s.places.Absolute(file)
	key := Fold(file)
	s.paths[key] = append(s.paths[key], file)
	return true
}

// Has reports whether a file is there.
func (s *PathSet) Has(file string) bool {
	file = s.places.Absolute(file)
	return slices.ContainsFunc(s.paths[Fold(file)], func(other string) bool { return s.places.Same(file, other) })
}
