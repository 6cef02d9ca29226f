// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSlashes has the folders of a path apart as the system has it: a list has slashes.
func TestSlashes(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	f.must(os.MkdirAll(filepath.Join("d", "e"), 0o700))
	for _, path := range []string{filepath.Join("d", "e", "f"), filepath.Join("d", "g")} {
		f.must(os.WriteFile(path, []byte("x"), 0o600))
	}
	f.Recursive = true
	for _, args := range [][]string{{"d"}, {filepath.Join("d", "")}, {filepath.Join("d", "e"), filepath.Join("d", "g")}} {
		list := f.tag(args...)
		_, stdout, stderr, err := f.verify(list, func(o *Options) { o.Complete = []string{"d"} })
		if stdout != "d/e/f: OK\nd/g: OK\n" || stderr != "" || err != nil {
			t.Errorf("%q: %q, %q, %v", args, stdout, stderr, err)
		}
	}
}

// TestBackslashes verifies a list of Windows as versions wrote them that left the backslashes.
// On Windows it is right. Elsewhere an error names the cause, and --ignore-missing does not hide it.
func TestBackslashes(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	f.must(os.Mkdir("d", 0o700))
	f.must(os.WriteFile(filepath.Join("d", "e"), nil, 0o600))
	line, _, _ := strings.Cut(strings.SplitAfter(string(f.tag("d/e")), "\n")[1], "d/e")
	for _, ignore := range []bool{false, true} {
		_, stdout, stderr, err := f.verify([]byte(`\`+line+`d\\e`+"\n"), func(o *Options) { o.Partial, o.IgnoreMissing = true, ignore })
		if filepath.Separator == '\\' {
			if stdout != `\d\\e: OK`+"\n" || stderr != "" || err != nil {
				t.Errorf("%q, %q, %v", stdout, stderr, err)
			}
			continue
		}
		want := `fastmac: \d\\e: no such file, while d/e exists: an old fastmac wrote the list on Windows` + "\n"
		if stdout != `\d\\e: FAILED open or read`+"\n" || stderr != want || err == nil {
			t.Errorf("%q, %q, %v, want %q", stdout, stderr, err, want)
		}
	}
	// A name that has a backslash, and a file that is missing.
	missing := `\` + line + `d\\f` + "\n"
	if r, _, stderr, _ := f.verify([]byte(missing), func(o *Options) { o.Partial, o.IgnoreMissing = true, true }); r.Missing != 1 || stderr != "" {
		t.Errorf("%q, %d missing", stderr, r.Missing)
	}
}
