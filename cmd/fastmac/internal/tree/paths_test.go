// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package tree

import "testing"

func TestAbove(t *testing.T) {
	folders := WithSlashes([]string{"d", "d/e", "f//", ".", "/g", "d.x"})
	for path, want := range map[string]string{
		"d/a": "d/", "d/e/a": "d/e/", "d/ee/a": "d/", "d/e": "d/", "dd/a": "", "f//a": "f//", "f/a": "", "./a/b": "./", "a": "", "": "", "/": "", "/g/h/i": "/g/", "/a": "", "d": "", "d.x/a": "d.x/",
	} {
		if got := Above(folders, path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if got := Above(WithSlashes([]string{"/"}), "/a/b"); got != "/" {
		t.Errorf("%q", got)
	}
}
