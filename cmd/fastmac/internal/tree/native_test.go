// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import (
	"strings"
	"testing"
)

// TestCheckWindows has paths that are those of other files than they say, and paths that are not.
func TestCheckWindows(t *testing.T) {
	for _, path := range []string{
		"a", "a/b c", ".", "..", "./a", "../a/..", "/a", "C:/", "c:/a", "C:/a/./b.c", "//server/share/a", "//server/C$/a", "//?/C:/a.", "//?/C:/a:b",
		"//?/C:/NUL", "//./pipe/a", "//./pipe/a.", "//./C:", "//./C:/a", "//./UNC/server/share/a", ".a", "a.b", " a", "a~1", "é", "", "-",
	} {
		if err := checkWindows(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	for path, want := range map[string]string{
		"C:": `want C:\ for the drive`, "c:x.txt": `want c:\ for the drive`, "C:d/x": `want C:\ for the drive`, "C:..": `want C:\ for the drive`, "a:b": `want a:\ for the drive`,
		"ab:c": "a stream", "d/a:b": "a stream", "ab::$DATA": "a stream", "a::$DATA": `want a:\ for the drive`, "C:/a:b": "a stream", "C:/d:/a": "a stream", "//server/share/a:b": "a stream", "1:/a": "a stream",
		"a.": "a dot or a space", "a ": "a dot or a space", "d./a": "a dot or a space", "d /a": "a dot or a space", "a. .": "a dot or a space", "...": "a dot or a space", "C:/a.": "a dot or a space", "//server/share/a ": "a dot or a space", "//./C:/a.": "a dot or a space", "//./c:/a:b": "a stream", "//./unc/server/share/a.": "a dot or a space",
	} {
		if err := checkWindows(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

func TestUniform(t *testing.T) {
	for path, want := range map[string]string{
		"c:/d/e": "C:/d/e", "C:/": "C:/", "c:/d/": "C:/d", "//?/c:/d": "C:/d", "//./c:/d": "C:/d", "//?/c:/": "C:/",
		"//server/share/d": "//SERVER/SHARE/d", "//server/share": "//SERVER/SHARE", "//server/share/": "//SERVER/SHARE", "//?/UNC/server/share/d": "//SERVER/SHARE/d", "//./unc/Server/share/d": "//SERVER/SHARE/d", "//server": "//SERVER",
		// These are other files than without their beginning, or have no other path.
		"//?/c:/d.": "//?/c:/d.", "//?/c:/a:b": "//?/c:/a:b", "//?/Volume{1}/a": "//?/Volume{1}/a", "//./pipe/a": "//./pipe/a", "//./NUL": "//./NUL",
	} {
		if got := uniform(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
