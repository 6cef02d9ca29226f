// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// verifyFolders verifies the list, and that it has all files in these folders.
func (a *archive) verifyFolders(folders ...string) (stdout string, err error) {
	a.Helper()
	var out strings.Builder
	o := Options{KeyFile: "key", Complete: folders, Quiet: true, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &strings.Builder{}}
	r, err := Verify(a.Context(), o, "list", true)
	if err == nil {
		err = r.Err()
	}
	return out.String(), err
}

// TestCase names folders and files in other letters than the list, where the file system takes them for the same.
func TestCase(t *testing.T) {
	a := newArchive(t, map[string]string{"d/A.txt": "1", "d/sub/b": "2"}, func(o *Options) { o.Exclude = []string{"*.TMP"} })
	if !tree.FoldsCase("d") {
		testTwoCases(a)
		return
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	a.write(map[string]string{"d/x.tmp": ""})
	for _, folder := range []string{"d", "D", filepath.Join(strings.ToUpper(here), "D"), filepath.Join(strings.ToLower(here), "d"), filepath.Dir(strings.ToUpper(filepath.Join(here, "d", "x")))} {
		if out, err := a.verifyFolders(folder, "D/SUB"); out != "" || err != nil {
			t.Errorf("%s: %q, %v", folder, out, err)
		}
		a.Recursive = true
		a.check("update of "+folder, "", "fastmac: 2 files: 2 kept, 0 changed, 0 new; 0 gone, 1 excluded\n", "", folder)
		a.Recursive = false
	}
	a.check("files in other letters", "", "fastmac: 2 files: 2 kept, 0 changed, 0 new; 0 gone, 1 excluded\n", "", "D/a.TXT", "D/SUB/B")
	if text := a.list(); strings.Count(text, "\n") != 8 || !strings.Contains(text, "  d/A.txt\n") {
		t.Errorf("%q", text)
	}
	// The file has another name now, which the list gets.
	if err := errors.Join(os.Rename("d/A.txt", "d/x"), os.Rename("d/x", "d/a.TXT")); err != nil {
		t.Fatal(err)
	}
	if out, err := a.verifyFolders("d"); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	a.check("other name", "", "fastmac: 2 files: 2 kept, 0 changed, 0 new; 0 gone, 1 excluded\n", "")
	if text := a.list(); !strings.Contains(text, "  d/a.TXT\n") || strings.Contains(text, "A.txt") {
		t.Errorf("%q", text)
	}
	a.write(map[string]string{"D/NEW": ""})
	if out, err := a.verifyFolders("D"); out != "D/NEW: NOT IN THE LIST\n" || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestCaseHash has one hash for paths that can name one file, also if only one of them is ASCII.
func TestCaseHash(t *testing.T) {
	x := newPathIndex(new(list.Lines))
	for _, same := range [][]string{{"/d/a.TXT", "/D/A.txt"}, {"/d_/k", "/d_/K", "/d_/\u212a"}, {"/é", "/É", "/e\u0301"}, {"/\u017f" + strings.Repeat("x", 300), "/S" + strings.Repeat("X", 300)}} {
		for _, path := range same {
			if x.hash(path) != x.hash(same[0]) {
				t.Errorf("%q and %q differ", path, same[0])
			}
		}
	}
	if x.hash("/a") == x.hash("/b") || x.hash("/é") == x.hash("/e") {
		t.Error("others have one hash")
	}
}

// testTwoCases has names that differ in case, where each is of a file of its own.
func testTwoCases(a *archive) {
	a.write(map[string]string{"D/A.txt": "1", "d/x.tmp": ""})
	if err := os.Link("d/A.txt", "d/a.txt"); err != nil {
		a.Fatal(err)
	}
	if out, err := a.verifyFolders("d", "D"); out != "d/a.txt: NOT IN THE LIST\nd/x.tmp: NOT IN THE LIST\nD/A.txt: NOT IN THE LIST\n" || err == nil {
		a.Errorf("%q, %v", out, err)
	}
	a.Recursive = true
	a.check("all", "d/a.txt: NEW\nd/x.tmp: NEW\nD/A.txt: NEW\n", "fastmac: 5 files: 2 kept, 0 changed, 3 new; 0 gone, 0 excluded\n", "", "D")
}
