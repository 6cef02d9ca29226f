// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

func TestLine(t *testing.T) {
	all := maps.Clone(paths)
	maps.Copy(all, morePaths)
	for path, escaped := range all {
		for _, a := range algorithms {
			l := Line{bytes.Repeat([]byte{0xab}, a.nonce), bytes.Repeat([]byte{0x01}, a.tagSize), path, State{}}
			want := a.name + ":" + strings.Repeat("ab", a.nonce) + ":" + strings.Repeat("01", a.tagSize) + "::::  " + escaped
			if path != escaped {
				want = `\` + want
			}
			got := string(appendLine(nil, &l, a, false))
			if got != want {
				t.Errorf("%q: %q, want %q", path, got, want)
			}
			back, err := parseLine(got, a, false)
			if err != nil || !bytes.Equal(back.Nonce, l.Nonce) || !bytes.Equal(back.Tag, l.Tag) || back.Path != path {
				t.Errorf("%q: %v, %v", got, back, err)
			}
		}
	}
}

func TestMalformed(t *testing.T) {
	nonce, tag := strings.Repeat("00", 16), strings.Repeat("00", 8)
	for text, want := range map[string]string{
		"":                                         "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag:              "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + "  ":       "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + " a":       "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + tag + "  a":                    "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + ":  a":     "want ALGORITHM:NONCE:TAG  PATH",
		"md5:" + nonce + ":" + tag + "  a":         `no algorithm "md5"`,
		"umac32:" + nonce + ":" + tag + "  a":      "a tag of umac32, and the key is for umac64",
		"umac64:" + nonce + "00:" + tag + "  a":    "a nonce of 17 bytes: want 16",
		"umac64::" + tag + "  a":                   "a nonce of 0 bytes: want 16",
		"umac64:" + nonce + "0:" + tag + "  a":     "the nonce is not hex",
		"umac64:" + nonce + ":" + tag + "x  a":     "the tag is not hex",
		"umac64:" + nonce + ":" + nonce + "  a":    "a tag of 16 bytes: want 8",
		`\umac64:` + nonce + ":" + tag + `  a\t`:   `a backslash in the path: want \\, \n, \r or \xHH`,
		`\umac64:` + nonce + ":" + tag + `  \x4`:   `a backslash in the path: want \\, \n, \r or \xHH`,
		`\umac64:` + nonce + ":" + tag + `  \xg0`:  `a backslash in the path: want \\, \n, \r or \xHH`,
		"umac64:" + nonce + ":" + tag + ":::::  a": "want ALGORITHM:NONCE:TAG  PATH",
		"umac64:" + nonce + ":" + tag + "::::":     "want ALGORITHM:NONCE:TAG  PATH",
		"fastmac list 2::  umac64":                 `no algorithm "fastmac list 2"`,
		`\umac64:` + nonce + ":" + tag + `  a\`:    `a backslash in the path: want \\, \n, \r or \xHH`,
	} {
		if l, err := parseLine(text, byName("umac64"), false); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v, want %q", text, l, err, want)
		}
	}
}

// TestState has the numbers of lines: those of format 2 have one form.
func TestState(t *testing.T) {
	const most, all = "9223372036854775807", "18446744073709551615"
	for text, want := range map[string]State{
		"::::":          {},
		":0:0::":        {},
		":1:-2::":       {Size: 1, Mtime: -2},
		":1:2:3:":       {Size: 1, Mtime: 2, Ctime: 3},
		":1:2::4":       {Size: 1, Mtime: 2, Inode: 4},
		":0:0:-5:6":     {Ctime: -5, Inode: 6},
		":1:-2:":        {Size: 1, Mtime: -2}, // of format 1, as the next
		":+01:-02:+003": {Size: 1, Mtime: -2, Ctime: 3},
		":-1:0:0":       {Size: -1},
		":" + most + ":-9223372036854775808:" + most + ":" + all: {1<<63 - 1, -1 << 63, 1<<63 - 1, 1<<64 - 1},
	} {
		text := "umac64:" + strings.Repeat("00", 16) + ":" + strings.Repeat("00", 8) + text + "  a"
		l, err := parseLine(text, byName("umac64"), false)
		if err != nil || l.State != want {
			t.Errorf("%s: %+v, %v", text, l.State, err)
		}
		lines := Lines{nonce: 16, tag: 8}
		lines.Add(l)
		if back := lines.At(0); back.State != want || back.Path != "a" {
			t.Errorf("%s: %+v", text, back)
		}
		written := string(appendLine(nil, &l, byName("umac64"), false))
		if again, err := parseLine(written, byName("umac64"), false); l.State.Size >= 0 && (err != nil || again.State != want) ||
			strings.Count(text, ":") == 6 && want != (State{}) && written != text {
			t.Errorf("%s: written as %s, %v", text, written, err)
		}
	}
	for _, text := range []string{
		":1:2:3:+4", ":1:2:3:-4", ":1:2:3:04", ":1:2:3:0", ":1:2:3: 4", ":1:2:3:x", ":1:2:3:18446744073709551616",
		":1:2:0:4", ":1:2:03:4", ":1:2:+3:4", ":1:2:-0:4", ":1:02:3:4", ":1:+2:3:4", ":1::3:4", ":01:2:3:4", ":+1:2:3:4", ":-1:2:3:4", "::2:3:4",
		":9223372036854775808:2:3:4", ":1:9223372036854775808:3:4", ":1:2:9223372036854775808:4", ":::4", ":1:2:x", ":1::3", "::2:3", ":9223372036854775808:2:3",
		":1_0:2:3:4", ":1:2:3_0", ":0x1:2:3",
	} {
		text := "umac64:" + strings.Repeat("00", 16) + ":" + strings.Repeat("00", 8) + text + "  a"
		if l, err := parseLine(text, byName("umac64"), false); err == nil || err.Error() != "a size, times or an inode that are no numbers" {
			t.Errorf("%s: %+v, %v", text, l.State, err)
		}
	}
}

// FuzzLine checks that what parseLine accepts is what appendLine writes.
func FuzzLine(f *testing.F) {
	mactest.Seeds(f)
	for path := range paths {
		for _, a := range algorithms {
			l := Line{make([]byte, a.nonce), make([]byte, a.tagSize), path, State{}}
			f.Add(string(appendLine(nil, &l, a, false)))
		}
	}
	f.Add(`\umac32:` + strings.Repeat("AB", 16) + ":00000000  a")
	f.Fuzz(func(t *testing.T, text string) {
		accepted := 0
		for _, a := range algorithms {
			l, err := parseLine(text, a, false)
			if err != nil {
				continue
			}
			accepted++
			if len(l.Nonce) != a.nonce || len(l.Tag) != a.tagSize || l.Path == "" {
				t.Errorf("%q: %+v", text, l)
			}
			again, err := parseLine(string(appendLine(nil, &l, a, false)), a, false)
			if err != nil || again.Path != l.Path || !bytes.Equal(again.Nonce, l.Nonce) || !bytes.Equal(again.Tag, l.Tag) {
				t.Errorf("%q: %+v, then %+v, %v", text, l, again, err)
			}
		}
		if accepted > 1 {
			t.Errorf("%q is for %d algorithms", text, accepted)
		}
	})
}
