// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"testing"
)

func TestErrorLine(t *testing.T) {
	for text, want := range map[string]string{
		"fastmac: missing CPU instructions: AES":    "fastmac: missing CPU instructions: AES",
		"k: fastmac: missing CPU instructions: AES": "fastmac: k: missing CPU instructions: AES",
		"one\ntwo": "fastmac: one; two",
	} {
		if got := errorLine(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

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
