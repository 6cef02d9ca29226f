// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestStyleOf(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "40": 40, "0": 80, "-1": 80, "wide": 80, "132": 132} {
		t.Setenv("COLUMNS", columns)
		if got := StyleOf(new(bytes.Buffer)); got != (Style{Width: want}) {
			t.Errorf("COLUMNS=%q: %+v, want width %d", columns, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		head, in, want string
	}{
		{"", "", "\n"},
		{"", "one two three", "one two\nthree\n"},
		{"", "one  two\nthree", "one two\nthree\n"},
		{"", "1234567 9", "1234567 9\n"},
		{"", "1234567 90", "1234567\n90\n"},
		{"", "very-long-word and another-long-word", "very-long-word\nand\nanother-long-word\n"},
		{"é    ", "very-long-word", "é    very-long-word\n"},
		{"é    ", "one two to", "é    one\n     two\n     to\n"},
	} {
		if got := (Style{Width: 9}).Wrap(tt.head, tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestBar(t *testing.T) {
	plain, colored := Style{Bars: true}, Style{Bars: true, Color: true}
	for _, tt := range []struct {
		value, limit float64
		want         int
	}{{10, 10, 20}, {5, 10, 10}, {0.001, 10, 1}, {0, 10, 1}, {1, 0, 0}} {
		if got := plain.Bar(tt.value, tt.limit, 20, true); got != strings.Repeat("█", tt.want) {
			t.Errorf("%v of %v: %q, want %d columns", tt.value, tt.limit, got, tt.want)
		}
	}
	if got := colored.Bar(1, 1, 2, true); got != "\x1b[34m██\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := colored.Bar(1, 1, 2, false); got != "██" {
		t.Errorf("%q", got)
	}
}
