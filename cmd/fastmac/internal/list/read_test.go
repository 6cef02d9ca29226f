// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// newList returns a key, and the lines of a list of three files by it.
func newList(t *testing.T) (*Key, []string) {
	t.Helper()
	text, err := NewKey("umac64")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(text, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(key.Destroy)
	var out bytes.Buffer
	w := NewWriter(bufio.NewWriter(&out), key, false)
	defer w.Destroy()
	s := key.Stream(nil)
	defer s.Destroy()
	for _, path := range []string{"a", "b", "c d"} {
		l := Line{Path: path}
		l.Nonce, l.Tag = s.Sign()
		if err := w.Line(&l); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	w.out.Flush()
	l, err := Read(bytes.NewReader(out.Bytes()), key, false, false)
	if err != nil || l.Check(key) != nil || l.Complete() != nil || l.Lines.Len() != 3 {
		t.Fatal(err, l)
	}
	return key, strings.SplitAfter(out.String(), "\n")
}

// TestOptions has options in a list: one that nobody knows may leave out anything.
func TestOptions(t *testing.T) {
	key, lines := newList(t)
	for option, bad := range map[string]int{OneFileSystem: 0, ExcludeCaches: 0, "exclude-all": 1} {
		text := strings.Join(lines[:3], "") + "option:  " + option + "\n"
		if l, err := Read(strings.NewReader(text), key, false, false); err != nil || l.Bad != bad || len(l.Options) != 1-bad {
			t.Errorf("%s: %v, %+v", option, err, l)
		}
	}
}

// TestWriterMemory writes a list of many lines: what it allocates does not grow with them.
func TestWriterMemory(t *testing.T) {
	key, _ := newList(t)
	w := NewWriter(bufio.NewWriter(io.Discard), key, false)
	l := Line{make([]byte, 16), make([]byte, 8), "path", "1:2:3"}
	if n := testing.AllocsPerRun(10_000, func() { w.Line(&l) }); n > 0 {
		t.Errorf("%v allocations for each line", n)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
}

// TestNoList has a text that is no list, which is not read to its end, and a list that begins as one is.
func TestNoList(t *testing.T) {
	key, lines := newList(t)
	text := strings.Repeat("\n", maxNoLines+10)
	if l, err := Read(strings.NewReader(text), key, false, false); err != nil || l.count != maxNoLines || l.Check(key) == nil {
		t.Errorf("%d lines, %v", l.count, err)
	}
	for _, before := range []string{lines[0], lines[3]} {
		if l, err := Read(strings.NewReader(before+text+lines[0]), key, false, false); err != nil || l.Bad != maxNoLines+10 || len(l.Malformed) != maxMalformed || l.Check(key) != nil {
			t.Errorf("%d malformed lines, %v", l.Bad, err)
		}
	}
}

// TestManyEnds has many end lines, of which two are kept.
func TestManyEnds(t *testing.T) {
	key, lines := newList(t)
	own := lines[3]
	foreign := strings.Replace(own, key.ID, strings.Repeat("0", 16), 1)
	other := strings.Replace(own, "umac64", "umac32", 1)
	for _, tt := range []struct{ ends, want string }{
		{strings.Repeat(own, 1000), ""},
		{strings.Repeat(foreign, 1000), "the list was made with the key 0000000000000000, and this is the key " + key.ID},
		{strings.Repeat(foreign, 1000) + own + other, ""},
		{strings.Repeat(foreign, 1000) + other + own, "the tags are umac32, and the key is for umac64"},
		{other + own, "the tags are umac32, and the key is for umac64"},
		{own + other, ""},
	} {
		l, err := Read(strings.NewReader(lines[0]+tt.ends), key, false, false)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := l.Check(key); err != nil {
			got = err.Error()
		}
		if got != tt.want || len(l.ends) > 2 || l.ends[0].number != 2 || l.Complete() == nil {
			t.Errorf("%.200q: %q, %d ends, %v", tt.ends, got, len(l.ends), l.Complete())
		}
	}
}
