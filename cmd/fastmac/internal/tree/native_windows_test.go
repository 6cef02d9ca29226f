// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// shortPath returns the path of a file that exists with short names.
func shortPath(t *testing.T, path string) string {
	t.Helper()
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]uint16, 1000)
	n, err := windows.GetShortPathName(long, &buf[0], uint32(len(buf)))
	if err != nil {
		t.Fatal(err)
	}
	return windows.UTF16ToString(buf[:n])
}

// TestAbsoluteWindows has the paths of one file.
func TestAbsoluteWindows(t *testing.T) {
	p, here, _ := places(t)
	if err := os.Mkdir("a long name", 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.FromSlash(here + "/a long name/another long name")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	short := shortPath(t, file)
	if !strings.Contains(short, "~") {
		t.Errorf("no short name: %q", short)
	}
	want, drive := filepath.ToSlash(file), filepath.VolumeName(file)
	for _, path := range []string{
		file, want, short, short[len(drive):], file[len(drive):], strings.ToLower(drive) + file[len(drive):],
		`\\?\` + file, `//?/` + want, `\\.\` + file, `d\..\.\a long name\\another long name`,
	} {
		if got := p.Absolute(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	// What is missing has no long name, and what is above it has.
	if got := p.Absolute(short + `~\missing~1`); got != filepath.ToSlash(filepath.Dir(file))+"/"+filepath.Base(short)+"~/missing~1" {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]string{drive + `\`: drive + "/", drive + `\..\..\x`: drive + "/x", `\\server\share\..\d`: "//SERVER/SHARE/d", "NUL": "//./NUL", `\\?\` + drive + `\a.`: "//?/" + drive + "/a.", "d/sub/a.": "d/sub/a.", drive + "d": drive + "d"} {
		if got := p.Absolute(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestOtherFile has paths at which Windows has another file, and none of them is read.
func TestOtherFile(t *testing.T) {
	places(t)
	if err := os.WriteFile("ab", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LookAt("ab"); err != nil {
		t.Fatal(err)
	}
	drive := filepath.VolumeName(t.TempDir())
	for path, want := range map[string]string{
		drive: "begins in the current folder of that drive", drive + "ab": "begins in the current folder of that drive", "ab.": "dot or a space", "ab ": "dot or a space", "ab:s": "a stream", "ab::$DATA": "a stream",
		"./NUL": "a device", "d/con": "a device", "d/aux.c": "a device", "d/COM1": "a device", "d/lpt9.": "dot or a space", "NUL/ab": "a device",
	} {
		for _, path := range []string{path, strings.ReplaceAll(path, "/", `\`)} {
			if _, err := LookAt(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", path, err, want)
			}
			var found []Entry
			NewWalker(nil, func(e Entry) { found = append(found, e) }).Walk(t.Context(), path)
			if len(found) != 1 || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), want) {
				t.Errorf("%q: %v, want %q", path, found, want)
			}
		}
	}
}

// TestVerbatim has files that only paths after \\?\ reach: others say so, and do not find a file of another name.
func TestVerbatim(t *testing.T) {
	_, here, _ := places(t)
	verbatim := `\\?\` + filepath.FromSlash(here) + `\d\`
	names := []string{"ab", "ab.", "com1", "sub", "x "}
	for _, name := range names {
		if err := os.WriteFile(verbatim+name, nil, 0o600); err != nil && name != "sub" {
			t.Fatal(name, err)
		}
	}
	walk := func(folder string) (paths []string) {
		NewWalker(nil, func(e Entry) {
			if _, err := LookAt(e.Path); (err == nil) != (e.Err == nil) {
				t.Errorf("%q: %v, %v", e.Path, e.Err, err)
			}
			if e.Err == nil {
				paths = append(paths, e.Path)
			}
		}).Walk(t.Context(), folder)
		return paths
	}
	if got, want := walk("d"), []string{"d/ab", "d/sub/a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	folder := "//?/" + here + "/d/"
	if got, want := walk(verbatim), []string{folder + "ab", folder + "ab.", folder + "com1", folder + "sub/a", folder + "x "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
