// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/tree"
)

const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n# of a program\n"

// TestCaches leaves out what is in cache folders. Their CACHEDIR.TAG stays in the list, so nobody hides a file by
// adding one.
func TestCaches(t *testing.T) {
	a := newArchive(t, map[string]string{
		"d/a": "", "d/c/CACHEDIR.TAG": cacheTag, "d/c/x": "", "d/c/e/y": "",
		"d/n/CACHEDIR.TAG": "Signature: none, and more text that follows it", "d/n/z": "", "d/s/CACHEDIR.TAG": "short",
	}, func(o *Options) { o.ExcludeCaches = true })
	paths := func() (all []string) {
		for line := range strings.Lines(a.list()) {
			if _, path, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
				all = append(all, path)
			}
		}
		return all
	}
	want := []string{"d/a", "d/c/CACHEDIR.TAG", "d/n/CACHEDIR.TAG", "d/n/z", "d/s/CACHEDIR.TAG", "d", "exclude-caches"}
	for _, path := range want {
		if !slices.Contains(paths(), path) {
			t.Errorf("no %s in %q", path, paths())
		}
	}
	if strings.Contains(a.list(), "d/c/x") || strings.Contains(a.list(), "d/c/e") {
		t.Errorf("%q", a.list())
	}
	verify := func(folder string, o Options, want string) *Report {
		t.Helper()
		var out, errs bytes.Buffer
		o.KeyFile, o.Complete, o.Quiet, o.Stdin, o.Stdout, o.Stderr = "key", []string{folder}, true, strings.NewReader(""), &out, &errs
		r, err := Verify(t.Context(), o, "list", true)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != want || (r.Err() == nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", folder, &out, r.Err(), want)
		}
		return r
	}
	for _, folder := range []string{"d", "./d/", "d/c", "d/n"} {
		verify(folder, Options{}, "")
	}
	a.write(map[string]string{"o/CACHEDIR.TAG": cacheTag, "o/x": ""}) // for which the list says nothing
	verify(".", Options{}, "./key: NOT IN THE LIST\n./o/CACHEDIR.TAG: NOT IN THE LIST\n./o/x: NOT IN THE LIST\n")
	verify("o", Options{ExcludeCaches: true}, "o/CACHEDIR.TAG: NOT IN THE LIST\n")
	a.write(map[string]string{"d/c/new": "", "d/n/new": "", "d/k/CACHEDIR.TAG": cacheTag, "d/k/f": ""})
	verify("d", Options{}, "d/k/CACHEDIR.TAG: NOT IN THE LIST\nd/n/new: NOT IN THE LIST\n")
	a.ExcludeCaches = true // again: the list has it once
	a.check("new ones", "d/k/CACHEDIR.TAG: NEW\nd/n/new: NEW\n", "fastmac: left out: d/c: a cache folder, except for its CACHEDIR.TAG\nfastmac: left out: d/k: a cache folder, except for its CACHEDIR.TAG\nfastmac: 7 files: 5 kept, 0 changed, 2 new; 0 gone, 2 left out\n", "")
	a.ExcludeCaches = false
	if r := verify("d", Options{}, ""); withoutSerial(r) != "7 files OK; the list is as it was written, with --exclude-caches; 2 left out" {
		t.Error(r.Summary())
	}
	// A folder that becomes one, and one that is none any more.
	a.Quiet = true
	a.write(map[string]string{"d/n/CACHEDIR.TAG": cacheTag, "d/c/CACHEDIR.TAG": "none"})
	verify("d", Options{}, "d/c/CACHEDIR.TAG: FAILED\nd/n/CACHEDIR.TAG: FAILED\nd/c/e/y: NOT IN THE LIST\nd/c/new: NOT IN THE LIST\nd/c/x: NOT IN THE LIST\n")
	a.AcceptChanges = true
	a.check("exchanged", "d/c/CACHEDIR.TAG: CHANGED\nd/c/e/y: NEW\nd/c/new: NEW\nd/c/x: NEW\nd/n/CACHEDIR.TAG: CHANGED\nd/n/new: EXCLUDED\nd/n/z: EXCLUDED\n", "", "")
	verify("d", Options{}, "")
	// A list that is not as it was written says nothing, and who verifies can.
	list := a.list()
	if err := os.WriteFile("list", []byte(list[:strings.LastIndex(list, "end")]), 0o600); err != nil {
		t.Fatal(err)
	}
	verify("d", Options{Partial: true}, "d/k/f: NOT IN THE LIST\nd/n/new: NOT IN THE LIST\nd/n/z: NOT IN THE LIST\n")
	verify("d", Options{Partial: true, ExcludeCaches: true}, "")
}

// TestLeft has folders that options leave out, with what the old list has of them.
func TestLeft(t *testing.T) {
	a := newArchive(t, map[string]string{"d/m/a": "", "d/c/a": "", "d/b": ""}, nil)
	old := a.old()
	p := &plan{old: old}
	p.add(tree.Entry{Path: "d/b", Found: true})
	p.add(tree.Entry{Path: "d/m", Err: tree.LeftMount})
	p.add(tree.Entry{Path: "d/c", Err: tree.LeftCache})
	gone, err := old.rest([]string{"d"}, p.failed, p.left, nil, p.add)
	want := []File{{Path: "d/c/a", Result: resultExcluded}, {Path: "d/m/a", Result: resultExcluded}}
	if err != nil || !slices.Equal(gone, want) || p.files != 1 || len(p.failed) > 0 {
		t.Errorf("%+v, %v, want %+v; %+v", gone, err, want, p)
	}
}

// TestCachesNested has a folder of the list in a cache: what is added there is not left out with the cache.
func TestCachesNested(t *testing.T) {
	a := newArchive(t, map[string]string{"d/c/CACHEDIR.TAG": cacheTag, "d/c/e/y": "", "d/b": ""}, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Quiet: true, Recursive: true, ExcludeCaches: true, OneFileSystem: true}
	if _, stderr, err := a.tag("d", "d/c/e"); err != nil || stderr != "" || !strings.Contains(a.list(), "option:  exclude-caches\noption:  one-file-system\n") || strings.Count(a.list(), "y\n") != 1 {
		t.Fatalf("%q, %v, %q", stderr, err, a.list())
	}
	if out, err := a.verify(); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	a.Options = Options{KeyFile: "key", Update: "list", Quiet: true} // it keeps both options
	if _, stderr, err := a.tag(); err != nil || stderr != "" || !strings.Contains(a.list(), "option:  exclude-caches\noption:  one-file-system\n") {
		t.Errorf("%q, %v, %q", stderr, err, a.list())
	}
	a.write(map[string]string{"d/c/e/new": ""})
	if out, err := a.verify(); out != "d/c/e/new: NOT IN THE LIST\n" || err == nil {
		t.Errorf("%q, %v", out, err)
	}
}
