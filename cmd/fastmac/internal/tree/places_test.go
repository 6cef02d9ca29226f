// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"/d/a.txt", "/D/A.TXT", "/d/a.Txt"}, {"/é", "/É", "/e\u0301", "/E\u0301"}, {"k", "K", "\u212a"}, {"ß", "ẞ"}, {"σ", "ς", "Σ"}, {"ÅK", "\u212bk"}, {"\xff", "\xff"},
	} {
		for _, path := range same {
			if Fold(path) != Fold(same[0]) {
				t.Errorf("%q: %q, want %q", path, Fold(path), Fold(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"a/b", "ab"}, {"e", "é"}, {"i", "ı"}} {
		if Fold(pair[0]) == Fold(pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}

// places makes a folder with a file, and returns its path and whether case makes no difference there.
func places(t *testing.T) (p Places, folder string, fold bool) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("d/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("d/sub/a", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p = NewPlaces()
	_, err := os.Lstat("D")
	return p, p.Absolute("."), err == nil
}

// TestSame compares paths that differ in case as the file system has it.
func TestSame(t *testing.T) {
	p, here, fold := places(t)
	if runtime.GOOS == "windows" && !fold {
		t.Error("case makes a difference")
	}
	for range 2 { // the second time it has asked before
		for _, tt := range []struct {
			a, b string
			want bool
		}{
			{"/d/sub/a", "/d/sub/a", true}, {"/d/sub/a", "/D/sub/a", fold}, {"/D/Sub/A", "/d/sUb/a", fold}, {"/d/sub", "/d/SUB", fold},
			{"/d/sub/a", "/d/sub/b", false}, {"/d/sub/missing", "/d/sub/MISSING", false}, {"/d/missing/a", "/d/MISSING/a", false}, {"/d/sub/", "/D/sub/", fold}, {"/d", "/d/sub", false},
		} {
			if got := p.Same(here+tt.a, here+tt.b); got != tt.want {
				t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.want)
			}
		}
		for _, tt := range []struct {
			folder, path, rest string
			ok                 bool
		}{
			{"/d/", "/d/sub/a", "sub/a", true}, {"/D/", "/d/sub/a", "sub/a", fold}, {"/d/", "/d/", "", true}, {"/d/sub/a/", "/d/sub/", "", false}, {"/d/", "/dd/sub", "", false}, {"/d/", "/e/sub", "", false}, {"/d/", "/d", "", false},
		} {
			if rest, ok := p.Below(here+tt.folder, here+tt.path); ok != tt.ok || ok && rest != tt.rest {
				t.Errorf("%s below %s: %q, %v", tt.path, tt.folder, rest, ok)
			}
		}
	}
	s := NewPathSet(p)
	for _, tt := range []struct {
		path string
		want bool
	}{{"d/sub/a", true}, {"./d/sub/a", false}, {"d/SUB/a", !fold}, {"D/sub/a", !fold}, {"D/sub/a", false}, {"d/sub/A", !fold}} {
		if got := s.Add(tt.path); got != tt.want {
			t.Errorf("%s is new: %v", tt.path, got)
		}
	}
	if FoldsCase("d") != fold || FoldsCase(".") != fold {
		t.Errorf("case makes no difference in d: %v, want %v", FoldsCase("d"), fold)
	}
	os.Mkdir("1", 0o700)
	if FoldsCase("1") != fold {
		t.Errorf("an empty folder is not as the one that it is in")
	}
}

// TestTwoNames has two files, and two names of one file, that differ only in case.
func TestTwoNames(t *testing.T) {
	p, here, fold := places(t)
	if fold {
		return // there is no second name
	}
	if err := os.Link("d/sub/a", "d/sub/A"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("d/SUB", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"/d/sub/a", "/d/sub/A"}, {"/d/sub", "/d/SUB"}} {
		for range 2 {
			if p.Same(here+pair[0], here+pair[1]) {
				t.Errorf("%q are the same", pair)
			}
		}
	}
	if FoldsCase("d/sub") {
		t.Error("two names are one")
	}
}

// TestAbsolute has paths of the current folder, and above it.
func TestAbsolute(t *testing.T) {
	p, here, _ := places(t)
	above := filepath.ToSlash(filepath.Dir(here))
	if runtime.GOOS != "windows" {
		above = filepath.Dir(p.real)
	}
	for path, want := range map[string]string{".": here, "": here, "d": here + "/d", "./d//sub/": here + "/d/sub", "..": above, "../x": above + "/x", here + "/d/": here + "/d", "-": "-"} {
		if got := p.Absolute(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestOtherCase has the letters at both ends of the alphabet, and what is beside them.
func TestOtherCase(t *testing.T) {
	if got := otherCase("@AZ[`az{Éé"); got != "@az[`AZ{Éé" {
		t.Errorf("%q", got)
	}
}
