// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "testing"

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"go list: exit status 1: go: module . requires go >= 1.26.0, but go.work lists go 1.20; to update it:\n\tgo work use\n": "go list: exit status 1: go: module . requires go >= 1.26.0, but go.work lists go 1.20; to update it: go work use",
		"one\n\n two\r\nthree": "one; two; three",
		"":                     "",
		"one":                  "one",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
