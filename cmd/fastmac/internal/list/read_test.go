// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package list

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
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
	if err := w.Finish(About{"x", 7, time.Unix(1, 2).In(time.FixedZone("", 3600))}); err != nil {
		t.Fatal(err)
	}
	w.out.Flush()
	l, err := Read(bytes.NewReader(out.Bytes()), key, false)
	if err != nil || l.Check(key) != nil || l.Complete() != nil || l.Lines.Len() != 3 || l.About != (About{"x", 7, time.Unix(1, 0).UTC()}) {
		t.Fatal(err, l)
	}
	return key, strings.SplitAfter(out.String(), "\n")
}

// TestOptions has options in a list: one that nobody knows may leave out anything.
func TestOptions(t *testing.T) {
	key, lines := newList(t)
	for option, bad := range map[string]int{OneFileSystem: 0, ExcludeCaches: 0, "exclude-all": 1} {
		text := strings.Join(lines[:3], "") + "option:  " + option + "\n"
		if l, err := Read(strings.NewReader(text), key, false); err != nil || l.Bad != bad || len(l.Options) != 1-bad {
			t.Errorf("%s: %v, %+v", option, err, l)
		}
	}
}

// TestWriterMemory writes a list of many lines: what it allocates does not grow with them.
func TestWriterMemory(t *testing.T) {
	key, _ := newList(t)
	w := NewWriter(bufio.NewWriter(io.Discard), key, false)
	l := Line{make([]byte, 16), make([]byte, 8), "path", State{1, 2, 3, 4}}
	if n := testing.AllocsPerRun(10_000, func() { w.Line(&l) }); n > 0 {
		t.Errorf("%v allocations for each line", n)
	}
	if err := w.Finish(About{Serial: 1}); err != nil {
		t.Fatal(err)
	}
}

// TestNoList has a text that is no list, which is not read to its end, nor is one that begins as a list does.
func TestNoList(t *testing.T) {
	key, lines := newList(t)
	text := strings.Repeat("\n", maxBad+10)
	if l, err := Read(strings.NewReader(text), key, false); err != nil || l.count != maxBad || l.Check(key) == nil {
		t.Errorf("%d lines, %v", l.count, err)
	}
	for _, before := range []string{lines[0], lines[1]} {
		if l, err := Read(strings.NewReader(before+text[:maxBad]), key, false); err != nil || l.Bad != maxBad || len(l.Malformed) != maxMalformed || (l.Check(key) == nil) == (before == lines[0]) {
			t.Errorf("%q: %d malformed lines, %v", before, l.Bad, err)
		}
		rest := strings.NewReader(before + text + lines[1] + strings.Repeat("\n", 1<<20))
		if _, err := Read(rest, key, false); err == nil || err.Error() != "1048576 of its first 1048577 lines are malformed: it is no list" || rest.Len() < 1<<19 {
			t.Errorf("%q: %v, %d bytes left", before, err, rest.Len())
		}
	}
}

// TestFormats has lists of both formats, and of none.
func TestFormats(t *testing.T) {
	key, lines := newList(t)
	first, files, end := lines[0], strings.Join(lines[1:4], ""), lines[7]
	about := strings.Join(lines[4:7], "")
	ending := func(prefix, covered string) string {
		mac := key.list.New()
		defer mac.Destroy()
		covered = fmt.Sprintf("%s%s%s:%s:%d:", covered, prefix, key.name, key.ID, strings.Count(covered, "\n"))
		mac.Write([]byte(covered))
		return fmt.Sprintf("%s%x\n", covered, mac.Sum(nil))
	}
	// LINES with leading zeros: only format 1 has them.
	for prefix, bad := range map[string]int{"end:": 0, "end2:": 1} {
		covered := map[string]string{"end:": "", "end2:": first}[prefix] + files
		covered += fmt.Sprintf("%s%s:%s:%03d:", prefix, key.name, key.ID, strings.Count(covered, "\n"))
		mac := key.list.New()
		mac.Write([]byte(covered))
		l, err := Read(strings.NewReader(fmt.Sprintf("%s%x\n", covered, mac.Sum(nil))), key, false)
		mac.Destroy()
		if err != nil || l.Bad != bad || (l.Complete() == nil) != (bad == 0) {
			t.Errorf("%s: %v, %v, %v", prefix, err, l.Malformed, l.Complete())
		}
	}
	const format, none = "the list was changed: its end line is of format %d, and its first line is not", "the list has no end line, so lines may be missing and paths exchanged"
	for _, tt := range []struct {
		name, text, complete string
		bad                  int
		about                bool
	}{
		{"2", first + files + about + end, "", 0, true},
		{"1", ending("end:", strings.ReplaceAll(files, "::::", "")), "", 0, false},
		{"1 with times", ending("end:", strings.ReplaceAll(files, "::::", ":+1:02:")), "", 0, false},
		{"1 with what format 2 has", ending("end:", files+about), "", 0, false},
		{"2 with times of format 1", ending("end2:", first+strings.ReplaceAll(files, "::::", ":1:2:")+about), "", 0, true},
		{"2 by its end only", ending("end2:", files+about), fmt.Sprintf(format, 2), 0, false},
		{"2 by its first line only", ending("end:", first+files+about), fmt.Sprintf(format, 1), 0, true},
		{"without its first line", files + about + end, fmt.Sprintf(format, 2), 0, false},
		{"without its end", first + files + about, none, 0, true},
		{"joined", first + files + about + end + first + files + about + end, "line 8 is the end of a list, and lines follow it: lists were joined, or lines added; one run makes one list, of many names with tag --files0-from, and tag --update adds to it", 0, true},
		{"another algorithm", ending("end2:", strings.Replace(first, "64", "128", 1)+files), "", 1, false},
		{"no algorithm", ending("end2:", first[:len(first)-1]+"x\n"+files), "", 1, false},
		{"a second label", ending("end2:", first+files+about+lines[4]), "", 1, true},
		{"a second serial", ending("end2:", first+files+about+lines[5]), "", 1, true},
		{"a second time", ending("end2:", first+files+about+lines[6]), "", 1, true},
	} {
		l, err := Read(strings.NewReader(tt.text), key, false)
		if err != nil {
			t.Fatal(err)
		}
		complete := ""
		if err := l.Complete(); err != nil {
			complete = err.Error()
		}
		if complete != tt.complete || l.Bad != tt.bad || l.Check(key) != nil || (l.About != About{}) != tt.about {
			t.Errorf("%s: %q, %d malformed lines, %v, %+v", tt.name, complete, l.Bad, l.Malformed, l.About)
		}
	}
	for text, want := range map[string]string{
		"fastmac list 3::  umac64\n" + files: "the list has a format that this fastmac does not know: a newer one made it",
		"fastmac list 2:  umac64\n" + files:  "the list has a format that this fastmac does not know: a newer one made it",
	} {
		if _, err := Read(strings.NewReader(text), key, false); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	zero := strings.ReplaceAll(first+files+about+end, "\n", "\x00")
	if l, err := Read(strings.NewReader(zero), key, false); err != nil || l.Check(key) == nil || l.Malformed[0].Err != errNUL {
		t.Errorf("%v, %v", err, l.Malformed)
	}
	if l, err := Read(strings.NewReader(first+files), key, true); err != nil || l.Bad != 1 || l.Malformed[0].Err.Error() != "a newline: verify -z is for a list of tag -z" {
		t.Errorf("%v, %v", err, l.Malformed)
	}
}

// TestAbout has what a list says of itself, in other forms than tag writes.
func TestAbout(t *testing.T) {
	key, lines := newList(t)
	for _, note := range []string{
		"serial:  0", "serial:  01", "serial:  +1", "serial:  -1", "serial:  1 ", "serial:  18446744073709551616", "serial:  x", "serial:  ",
		"time:  2026-11-29T05:43:34", "time:  2026-11-29 05:43:34Z", "time:  2026-11-29T05:43:34.0Z", "time:  2026-02-29T05:43:34Z", "time:  2026-11-29T05:43:60Z", "time:  1969-11-29T05:43:34Z", "time:  26-11-29T05:43:34Z",
		"label:  ", "label: x", "folder:  a\x00", lines[1][:len(lines[1])-1] + "\x00", lines[7][:len(lines[7])-1] + "\x00", `\label:  \q`,
	} {
		l, err := Read(strings.NewReader(lines[0]+note+"\n"), key, false)
		if err != nil || l.Bad != 1 || l.About != (About{}) {
			t.Errorf("%q: %v, %+v", note, err, l)
		}
	}
	for _, note := range []string{"serial:  18446744073709551615", "serial:  1", "time:  2024-02-29T23:59:59Z", `\label:  \\\n`, "label:    "} {
		l, err := Read(strings.NewReader(lines[0]+note+"\n"), key, false)
		if err != nil || l.Bad != 0 || l.About == (About{}) {
			t.Errorf("%q: %v, %+v", note, err, l)
		}
	}
}

// TestManyNotes has as many notes as a list may have, and one more.
func TestManyNotes(t *testing.T) {
	key, lines := newList(t)
	note := map[bool]string{false: "folder:  d\n", true: "unread:  d\n"}
	for more := range 2 {
		text := lines[0] + strings.Repeat(note[false], MaxNotes/2) + strings.Repeat(note[true], MaxNotes/2+more) + strings.Join(lines[4:7], "")
		l, err := Read(strings.NewReader(text), key, false)
		if err != nil || l.Bad != more || len(l.Folders)+len(l.Unread) != MaxNotes || l.About.Serial != 7 {
			t.Errorf("%d more: %v, %d malformed lines, %d and %d notes", more, err, l.Bad, len(l.Folders), len(l.Unread))
		}
		if more > 0 && l.Malformed[0].Err.Error() != "it is one of more than 1048576 about folders and files that were left out" {
			t.Error(l.Malformed[0].Err)
		}
	}
}

// TestManyEnds has many end lines, of which two are kept.
func TestManyEnds(t *testing.T) {
	key, lines := newList(t)
	own := lines[7]
	foreign := strings.Replace(own, key.ID, strings.Repeat("0", 16), 1)
	other := strings.Replace(own, "umac64", "umac32", 1)
	last := key.ID[:15] + map[bool]string{true: "1", false: "0"}[key.ID[15] == '0'] // each digit counts
	for _, tt := range []struct{ ends, want string }{
		{strings.Repeat(own, 1000), ""},
		{strings.Repeat(foreign, 1000), "the list was made with the key 0000000000000000, and this is the key " + key.ID},
		{strings.Replace(own, key.ID, last, 1), "the list was made with the key " + last + ", and this is the key " + key.ID},
		{strings.Repeat(foreign, 1000) + own + other, ""},
		{strings.Repeat(foreign, 1000) + other + own, "the tags are umac32, and the key is for umac64"},
		{other + own, "the tags are umac32, and the key is for umac64"},
		{own + other, ""},
	} {
		l, err := Read(strings.NewReader(lines[0]+tt.ends), key, false)
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
