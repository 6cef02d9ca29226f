// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/cmd/fastmac/internal/tree"
)

// An archive is a test's folder d with a list.
type archive struct {
	*testing.T
	Options
}

// newArchive makes a list of these files, by path, in which all have times.
func newArchive(t *testing.T, files map[string]string, change func(o *Options)) *archive {
	t.Helper()
	t.Chdir(t.TempDir())
	old := settledAfter
	settledAfter = -time.Hour
	t.Cleanup(func() { settledAfter = old })
	a := &archive{T: t, Options: Options{KeyFile: "key", Recursive: true, Output: "list", Quiet: true}}
	a.write(files)
	if err := WriteKey("key", "umac64", nil); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&a.Options)
	}
	if _, stderr, err := a.tag("d"); err != nil || stderr != "" {
		t.Fatal(stderr, err)
	}
	a.Options = Options{KeyFile: "key", Update: "list", Zero: a.Zero}
	return a
}

func (a *archive) write(files map[string]string) {
	a.Helper()
	for path, content := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			a.Fatal(err)
		}
	}
}

// tag runs Tag, and returns what it prints.
func (a *archive) tag(args ...string) (stdout, stderr string, err error) {
	a.Helper()
	var out, errs bytes.Buffer
	o := a.Options
	if o.Stdin == nil {
		o.Stdin = strings.NewReader("")
	}
	o.Stdout, o.Stderr = &out, &errs
	err = Tag(a.Context(), o, args)
	return out.String(), errs.String(), err
}

// verify verifies the list and that it has all files in d.
func (a *archive) verify() (stdout string, err error) {
	a.Helper()
	var out, errs bytes.Buffer
	o := Options{KeyFile: "key", Zero: a.Zero, Complete: []string{"d"}, Quiet: true, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	r, err := Verify(a.Context(), o, "list", true)
	if err == nil {
		err = r.Err()
	}
	return out.String(), err
}

// old returns the list as an update reads it.
func (a *archive) old() *oldList {
	a.Helper()
	r, err := a.open(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(r.close)
	old, err := a.readOld(a.Context(), r)
	if err != nil {
		a.Fatal(err)
	}
	return old
}

func (a *archive) list() string {
	a.Helper()
	text, err := os.ReadFile("list")
	if err != nil {
		a.Fatal(err)
	}
	return string(text)
}

// body returns a list without its last two lines, which differ in each list.
func body(list string) string {
	return list[:strings.LastIndex(list, "time:  ")]
}

// withoutSerial returns the summary of a report without what the list says of itself.
func withoutSerial(r *Report) string {
	text, _, _ := strings.Cut(r.Summary(), fmt.Sprintf("; serial %d, %s", r.Serial, r.Time))
	return text
}

// check runs an update and compares what it prints. If it fails the list must be as it was.
func (a *archive) check(what, stdout, stderr, failure string, args ...string) {
	a.Helper()
	before := a.list()
	gotOut, gotErr, err := a.tag(args...)
	got := ""
	if err != nil {
		got = err.Error()
	}
	if gotOut != stdout || gotErr != stderr || got != failure {
		a.Errorf("%s: %q, %q, %q, want %q, %q, %q", what, gotOut, gotErr, got, stdout, stderr, failure)
	}
	if err != nil && a.list() != before {
		a.Errorf("%s: the list has changed", what)
	}
	if names, err := filepath.Glob(".fastmac-*"); err != nil || names != nil {
		a.Errorf("%s: left: %q", what, names)
	}
}

var small = map[string]string{"d/a": "1", "d/b": "2", "d/e/c": "3", "d/e/f": "4", "d/x.o": "5"}

// TestUpdate changes files in each way.
func TestUpdate(t *testing.T) {
	for _, zero := range []bool{false, true} {
		a := newArchive(t, small, func(o *Options) { o.Exclude, o.Zero = []string{"*.o"}, zero })
		first := a.list()
		a.check("nothing", "", "fastmac: 4 files: 4 kept, 0 changed, 0 new; 0 gone, 1 excluded\n", "")
		if next := strings.NewReplacer("serial:  1", "serial:  2").Replace(body(first)); body(a.list()) != next {
			t.Errorf("%q, was %q", a.list(), first)
		}
		a.write(map[string]string{"d/a": "changed", "d/e/new": "", "d/e/y.o": ""})
		os.Remove("d/b")
		const found = "d/a: CHANGED\nd/e/new: NEW\nd/b: GONE\n"
		a.check("changes", found, "", "1 of 5 files changed, so list stays as it was: --accept-changes accepts that")
		a.AcceptChanges = true
		a.check("accepted", found, "fastmac: 4 files: 2 kept, 1 changed, 1 new; 1 gone, 2 excluded\n", "")
		if out, err := a.verify(); out != "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		a.write(map[string]string{"d/x.o": "others", "d/z": ""})
		if out, err := a.verify(); out != "d/z: NOT IN THE LIST\n" || err == nil {
			t.Errorf("%q, %v", out, err)
		}
		// More patterns, a file and a folder.
		a.AcceptChanges = false
		a.write(map[string]string{"g": "", "h/i": "", "h/j.o": ""})
		a.Recursive, a.Exclude = true, []string{"/e/"}
		a.check("more", "d/z: NEW\nh/i: NEW\ng: NEW\nd/e/c: EXCLUDED\nd/e/f: EXCLUDED\nd/e/new: EXCLUDED\n", "fastmac: 4 files: 1 kept, 0 changed, 3 new; 3 gone, 3 excluded\n", "", "h", "g")
		if out, err := a.verify(); out != "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		// Arguments that are there already.
		a.check("again", "", "fastmac: 4 files: 4 kept, 0 changed, 0 new; 0 gone, 3 excluded\n", "", "./g", "d/z", "./h", "h")
		os.RemoveAll("h")
		_, gone := os.ReadDir("h")
		a.check("a folder is gone", "", "fastmac: h: "+reason(gone).Error()+"\nfastmac: h/i: its folder could not be read, or is empty\n", "2 of 5 files not tagged, so no list is written to list")
	}
}

// forge gives a file a wrong tag in the list, under the right tag of the list.
func (a *archive) forge(path string) {
	a.Helper()
	key, err := ReadKey(a.Context(), "key", "", nil, os.Stderr)
	if err != nil {
		a.Fatal(err)
	}
	defer key.Destroy()
	l, err := list.Read(strings.NewReader(a.list()), key, false)
	if err != nil || l.Complete() != nil {
		a.Fatal(err, l.Complete())
	}
	f, err := os.Create("list")
	if err != nil {
		a.Fatal(err)
	}
	out := bufio.NewWriter(f)
	w := list.NewWriter(out, key, false)
	defer w.Destroy()
	for line := range l.Lines.All() {
		if line.Path == path {
			line.Tag[0] ^= 1
		}
		w.Line(&line)
	}
	plan := &plan{folders: l.Folders, patterns: l.Patterns}
	if err := errors.Join(plan.writeNotes(w), w.Finish(l.About), out.Flush(), f.Close()); err != nil {
		a.Fatal(err)
	}
}

// TestUpdateReads says which files are read: those that may have changed. A wrong tag in the list, under
// the list's own tag, shows it.
func TestUpdateReads(t *testing.T) {
	a := newArchive(t, small, nil)
	if strings.Contains(a.list(), ":  d/b\n") {
		t.Skip("the file system does not keep the numbers of files")
	}
	a.forge("d/b")
	const all, changed = "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n", "1 of 5 files changed, so list stays as it was: --accept-changes accepts that"
	a.check("not read", "", all, "")
	a.VerifyAll = true
	a.check("all are read", "d/b: CHANGED\n", "fastmac: d/b: has the size and the times that it had: damaged?\n", changed)
	a.VerifyAll = false
	if err := os.Chtimes("d/b", time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	a.check("another time", "d/b: CHANGED\n", "", changed)
	a.forge("d/b")
	a.check("right again", "", all, "")
	a.check("with its new time", "", all, "")
	// A file that was changed just now has no times: it is read each time.
	settledAfter = time.Hour
	a.write(map[string]string{"d/new": ""})
	a.check("new", "d/new: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "")
	a.forge("d/new")
	a.check("read", "d/new: CHANGED\n", "", "1 of 6 files changed, so list stays as it was: --accept-changes accepts that")
}

// TestTimes checks which times a line has.
func TestTimes(t *testing.T) {
	began := time.Unix(100, 0)
	at := func(seconds float64) int64 { return int64(seconds * 1e9) }
	for _, test := range []struct {
		info tree.Info
		want bool
	}{
		{tree.Info{Mtime: at(97)}, true},
		{tree.Info{Mtime: at(98)}, true},
		{tree.Info{Mtime: at(98) + 1}, false},
		{tree.Info{Mtime: at(97), Ctime: at(98) + 1}, false},
		{tree.Info{Mtime: at(99), Ctime: at(97)}, false},
		{tree.Info{Mtime: at(200)}, false},
		{tree.Info{Mtime: at(200), Ctime: at(98)}, true}, // a program has set it
		{tree.Info{Mtime: at(200), Ctime: at(98) + 1}, false},
		{tree.Info{Mtime: at(97), Ctime: at(200)}, false},
		{tree.Info{Ctime: at(97)}, true}, // of 1970
		{tree.Info{}, false},             // no file
	} {
		if got := settled(test.info, began); got != test.want {
			t.Errorf("%+v: %v", test.info, got)
		}
	}
}

// TestUpdateKey gives a list another key, also of another algorithm.
func TestUpdateKey(t *testing.T) {
	files := maps.Clone(small)
	files["d/large"] = strings.Repeat("x", 32<<20+1)
	for _, algorithm := range []string{"umac128", "hmac-sha256"} {
		a := newArchive(t, files, nil)
		if err := errors.Join(os.Rename("key", "old"), WriteKey("key", algorithm, nil)); err != nil {
			t.Fatal(err)
		}
		_, stderr, err := a.tag()
		if err == nil || !strings.HasPrefix(err.Error(), "list: the tags are umac64") {
			t.Errorf("%q, %v", stderr, err)
		}
		a.OldKeyFile, a.Jobs = "old", 2
		a.write(map[string]string{"d/a": "changed"})
		a.check("changed", "d/a: CHANGED\n", "", "1 of 6 files changed, so list stays as it was: --accept-changes accepts that")
		a.write(map[string]string{"d/a": "1"})
		a.check("another key", "", "fastmac: 6 files: 6 kept, 0 changed, 0 new; 0 gone\n", "")
		if out, err := a.verify(); out != "" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		a.OldKeyFile = ""
		a.check("as it is now", "", "fastmac: 6 files: 6 kept, 0 changed, 0 new; 0 gone\n", "")
		a.OldKeyFile = "key"
		a.check("the same key", "", "", "the old key is the new one")
	}

	// The old key is in hex, without its algorithm.
	a := newArchive(t, small, nil)
	key, err := os.ReadFile("key")
	err = errors.Join(err, os.Remove("key"), WriteKey("key", "umac64", nil), os.WriteFile("old", []byte(strings.Fields(string(key))[1]+"\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	a.OldKeyFile = "old"
	if _, _, err := a.tag(); err == nil {
		t.Error("an old key of an unknown algorithm is accepted")
	}
	a.Algorithm = "umac64"
	if _, stderr, err := a.tag(); err != nil {
		t.Errorf("an old key in hex: %q, %v", stderr, err)
	}
}

// TestUpdateRefuses has lists that are not as they were written.
func TestUpdateRefuses(t *testing.T) {
	a := newArchive(t, small, nil)
	list := a.list()
	lines := strings.SplitAfter(list, "\n")
	for name, text := range map[string]string{
		"cut":       strings.Join(lines[:3], ""),
		"a line":    strings.Join(lines[1:], ""),
		"joined":    list + list,
		"a path":    strings.Replace(list, "  d/a", "  d/q", 1),
		"a time":    strings.Replace(list, ":1:", ":2:", 1),
		"a folder":  strings.Replace(list, "folder:  d", "folder:  e", 1),
		"empty":     "",
		"not ended": list[:len(list)-1],
	} {
		if text == list {
			t.Fatal(name)
		}
		os.WriteFile("list", []byte(text), 0o600)
		_, _, err := a.tag()
		if err == nil || !strings.HasPrefix(err.Error(), "list: ") || a.list() != text {
			t.Errorf("%s: %v", name, err)
		}
	}
	os.Remove("list")
	if _, _, err := a.tag(); err == nil || err.Error() != "list: no such list: the first one is made with -o" {
		t.Error(err)
	}
	if _, err := os.Lstat("list"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	// Somebody else has changed the list meanwhile.
	os.WriteFile("list", []byte(list), 0o600)
	a.Stdin = readerFunc(func([]byte) (int, error) {
		os.WriteFile("list", []byte(list+list), 0o600)
		return 0, errors.New("at its end")
	})
	a.KeepGoing = true
	if _, _, err := a.tag("-"); err == nil || err.Error() != "list: another program has changed it meanwhile: try again" || a.list() != list+list {
		t.Error(err)
	}
}

// TestUpdateLaunders tries to have other content accepted as new.
func TestUpdateLaunders(t *testing.T) {
	// The list of another folder.
	a := newArchive(t, small, nil)
	a.write(map[string]string{"other/z": "1"})
	a.Options = Options{KeyFile: "key", Recursive: true, Output: "others"}
	if _, _, err := a.tag("other"); err != nil {
		t.Fatal(err)
	}
	os.Rename("others", "list")
	os.RemoveAll("other/z")
	a.write(map[string]string{"other/y": "2"})
	a.Options = Options{KeyFile: "key", Update: "list"}
	a.check("another folder", "other/y: NEW\nother/z: GONE\n", "", "no file of the list is there, so list stays as it was: it may be the list of another folder; --accept-changes accepts that")
	a.AcceptChanges = true
	a.check("accepted", "other/y: NEW\nother/z: GONE\n", "fastmac: 1 file: 0 kept, 0 changed, 1 new; 1 gone\n", "")
	os.Remove("other/y")
	a.write(map[string]string{"other/d/x": ""})
	os.Remove("other/d/x")
	a.check("nothing", "", "fastmac: other: has no files\nfastmac: other/y: its folder could not be read, or is empty\n", "2 of 2 files not tagged, so no list is written to list")

	// A file that cannot be read for a while, and a folder that is not there for a while.
	a = newArchive(t, small, nil)
	a.write(map[string]string{"g": ""})
	a.check("a file outside", "g: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "", "g")
	a.KeepGoing = true
	if err := os.Rename("d", "away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("d", 0o700); err != nil {
		t.Fatal(err)
	}
	before := a.list()
	if stdout, _, err := a.tag(); err == nil || stdout != "" || err.Error() != "6 of 7 files not read: the list has the old line, or says so" || strings.Count(a.list(), "\n") != strings.Count(before, "\n")+1 {
		t.Errorf("%q, %v, %q", stdout, err, a.list())
	}
	if out, err := a.verify(); !strings.HasPrefix(out, "d/a: FAILED open or read\n") || err == nil {
		t.Errorf("%q, %v", out, err)
	}
	os.Remove("d")
	os.Rename("away", "d")
	a.write(map[string]string{"d/a": "2"})
	a.KeepGoing = false
	a.check("there again", "d/a: CHANGED\n", "", "1 of 6 files changed, so list stays as it was: --accept-changes accepts that")

	// Two folders that are not there for a while, in another order than that of their names.
	a = newArchive(t, map[string]string{"d/a": "", "b/c": ""}, nil)
	a.Recursive = true
	a.check("a second folder", "b/c: NEW\n", "fastmac: 2 files: 1 kept, 0 changed, 1 new; 0 gone\n", "", "b")
	for _, folder := range []string{"d", "b"} {
		if err := os.Rename(folder, folder+" away"); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, err := a.tag()
	if stdout != "" || strings.Count(stderr, ": its folder could not be read, or is empty\n") != 2 || err == nil || err.Error() != "4 of 4 files not tagged, so no list is written to list" {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

// TestUpdateTwice has a list with two lines for one file: the new one has one.
func TestUpdateTwice(t *testing.T) {
	a := newArchive(t, small, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true}
	if _, stderr, err := a.tag("d/a", "./d/a", "d/b", "d/a"); err != nil || strings.Count(a.list(), "d/a\n") != 3 {
		t.Fatal(stderr, err)
	}
	a.Options = Options{KeyFile: "key", Update: "list"}
	three := a.list()
	os.Rename("d/a", "away")
	a.check("gone", "d/a: GONE\n", "fastmac: 1 file: 1 kept, 0 changed, 0 new; 1 gone\n", "")
	os.Rename("away", "d/a")
	os.WriteFile("list", []byte(three), 0o600)
	a.check("twice", "", "fastmac: 2 files: 2 kept, 0 changed, 0 new; 0 gone\n", "")
	if strings.Count(a.list(), "d/a\n") != 1 || strings.Count(a.list(), "d/b\n") != 1 {
		t.Errorf("%q", a.list())
	}
}

// TestKeysDestroyed says that nothing of both keys is left when a run is over.
func TestKeysDestroyed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(WriteKey("key", "umac64", nil), WriteKey("old", "hmac-sha256", nil)); err != nil {
		t.Fatal(err)
	}
	o := Options{KeyFile: "key", OldKeyFile: "old", Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	r, err := o.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	old, err := o.readOldKey(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	w := r.worker()
	dead := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s lives", what)
			}
		}()
		f()
	}
	w.close()
	dead("the stream", func() { w.stream.Sign() })
	dead("the old key's stream", func() { w.stream.VerifyOld(&list.Line{Tag: make([]byte, 32)}) })
	r.close()
	dead("the key", func() { r.key.Stream(nil) })
	dead("the old key", func() { old.Stream(nil) })
	// A key that is refused is destroyed too.
	o.OldKeyFile = "key"
	if r, err = o.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := o.readOldKey(t.Context(), r); err == nil {
		t.Error("the same key twice")
	}
	if old = r.oldKey; old == nil {
		t.Fatal("the same old key is forgotten")
	}
	r.close()
	dead("the same old key", func() { old.Stream(nil) })
}

// TestChangedBesideUnread has a file with other content beside one that cannot be read: to go on without this one does
// not accept the other.
func TestChangedBesideUnread(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": "1", "d/b": ""}, nil)
	a.KeepGoing = true
	a.write(map[string]string{"d/a": "2"})
	before := a.list()
	if stdout, _, err := a.tag("missing"); err == nil || !strings.Contains(err.Error(), "1 of 2 files changed, so list stays as it was") || stdout != "d/a: CHANGED\n" || a.list() != before {
		t.Errorf("%q, %v, %q", stdout, err, a.list())
	}
}

// TestNothingThere has an update that finds only new files, and files that cannot be read, which are there.
func TestNothingThere(t *testing.T) {
	p := &plan{old: &oldList{found: make([]bool, 1)}}
	for _, tt := range []struct {
		found Changes
		right bool
	}{
		{Changes{Tagged: 1, New: 1, Gone: 1}, false},
		{Changes{Tagged: 1, New: 1, Unreadable: 1}, true},
		{Changes{Tagged: 1, Kept: 1}, true},
		{Changes{Unreadable: 1}, false},
		{Changes{Gone: 1}, false},
		{Changes{Tagged: 1, Changed: 1}, false},
	} {
		r := recorder{options: &Options{Update: "list", KeepGoing: true}, report: &tt.found}
		if err := r.check(p); (err == nil) != tt.right {
			t.Errorf("%+v: %v", tt.found, err)
		}
	}
}

// TestTooManyNotes has more folders, patterns and files that cannot be read than verify takes.
func TestTooManyNotes(t *testing.T) {
	for more := range 2 {
		r := &recorder{options: &Options{KeepGoing: true}, report: &Changes{Tagged: 1, Unreadable: 1}}
		p := &plan{folders: make([]string, list.MaxNotes-2+more), patterns: make([]string, 1)}
		if err := r.check(p); (err != nil) != (more > 0) {
			t.Errorf("%d more: %v", more, err)
		}
	}
}

// TestUpdateKinds has files that became folders, and folders that became files.
func TestUpdateKinds(t *testing.T) {
	a := newArchive(t, small, func(o *Options) {
		os.WriteFile("g", nil, 0o600)
		var out bytes.Buffer
		o.Stdin, o.Stdout = strings.NewReader(""), &out
	})
	a.Options = Options{KeyFile: "key", Update: "list"}
	a.check("an argument", "g: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "", "g")
	os.RemoveAll("d/e")
	os.Remove("g")
	a.write(map[string]string{"d/e": "", "g/h": ""})
	a.check("exchanged", "d/e: NEW\nd/e/c: GONE\nd/e/f: GONE\ng: GONE\n", "fastmac: 4 files: 3 kept, 0 changed, 1 new; 3 gone\n", "")
	a.Recursive = true
	a.check("the folder", "g/h: NEW\n", "fastmac: 5 files: 4 kept, 0 changed, 1 new; 0 gone\n", "", "g")
	// A folder in a folder, and files that are there already.
	a.write(map[string]string{"d/s/t": ""})
	a.check("a folder in a folder", "d/s/t: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "", "d/s", "./d/s/t", "d/a")
	if out, err := a.verify(); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	a.Exclude = []string{"a", "b"}
	a.check("an argument that is excluded", "d/b: EXCLUDED\n", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 1 gone, 2 excluded\n", "", "d/a")
	list := a.list()
	a.Exclude = []string{"a", "b"}
	a.check("the same patterns", "", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone, 2 excluded\n", "", "d/a")
	if strings.Count(a.list(), "exclude:") != 2 || strings.Count(list, "exclude:") != 2 {
		t.Errorf("%q", a.list())
	}
	a.Exclude = []string{"!b", "a\x00"}
	if _, _, err := a.tag(); err == nil || !strings.Contains(err.Error(), "has a NUL") {
		t.Error(err)
	}
}

// TestUpdateStdin has standard input in a list.
func TestUpdateStdin(t *testing.T) {
	a := newArchive(t, small, nil)
	a.Stdin = strings.NewReader("one")
	a.check("new", "-: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "", "-")
	a.Stdin = strings.NewReader("one")
	a.check("again", "", "fastmac: 6 files: 6 kept, 0 changed, 0 new; 0 gone\n", "", "-")
	// It is always there: verify does not say that none of the files is.
	o := Options{KeyFile: "key", Special: true, Stdin: strings.NewReader("one"), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}
	if err := os.Rename("d", "elsewhere"); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(t.Context(), o, "list", true); err != nil || r.Right != 1 || r.Unreadable != len(small) {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Rename("elsewhere", "d"); err != nil {
		t.Fatal(err)
	}
	a.Stdin = strings.NewReader("two")
	a.check("changed", "-: CHANGED\n", "", "1 of 6 files changed, so list stays as it was: --accept-changes accepts that", "-")
	a.check("without", "-: GONE\n", "fastmac: 5 files: 5 kept, 0 changed, 0 new; 1 gone\n", "")
}

// TestOldKeyTwice checks that who has an old key reads files so that both keys see the same content: see TestTwice of
// package tree.
func TestOldKeyTwice(t *testing.T) {
	a := newArchive(t, small, nil)
	if err := WriteKey("key 2", "umac64", nil); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"", "key"} {
		o := Options{KeyFile: "key 2", OldKeyFile: old, Stdin: strings.NewReader(""), Stderr: new(bytes.Buffer)}
		r, err := o.open(a.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		_, err = o.readOldKey(a.Context(), r)
		w := r.worker()
		defer w.close()
		if err != nil || w.Twice != (old != "") {
			t.Errorf("old key %q: %v, Twice is %v", old, err, w.Twice)
		}
	}
}

// TestUpdateMeanwhile has an update whose list another program changes, which knows no locks: its content, of another
// size or at another time, or which file it is.
func TestUpdateMeanwhile(t *testing.T) {
	for name, change := range map[string]func(a *archive, info os.FileInfo) error{
		"all": func(a *archive, _ os.FileInfo) error { return os.WriteFile("list", []byte("another"), 0o600) },
		"size": func(a *archive, info os.FileInfo) error {
			a.write(map[string]string{"list": "another"})
			return os.Chtimes("list", info.ModTime(), info.ModTime())
		},
		"time": func(a *archive, info os.FileInfo) error {
			a.write(map[string]string{"list": strings.Repeat("x", int(info.Size()))})
			return os.Chtimes("list", time.Time{}, info.ModTime().Add(time.Second))
		},
		"file": func(a *archive, info os.FileInfo) error {
			a.write(map[string]string{"new": strings.Repeat("x", int(info.Size()))})
			return errors.Join(os.Chtimes("new", info.ModTime(), info.ModTime()), os.Rename("new", "list"))
		},
		"no file": func(a *archive, _ os.FileInfo) error { return os.Rename("list", "elsewhere") },
	} {
		t.Run(name, func(t *testing.T) {
			a := newArchive(t, small, nil)
			a.write(map[string]string{"d/n": ""})
			var changed []byte
			a.Stdin = readerFunc(func([]byte) (int, error) {
				info, err := os.Stat("list")
				if err != nil {
					t.Error(err)
				}
				if err := change(a, info); err != nil {
					t.Error(err)
				}
				changed, _ = os.ReadFile("list")
				return 0, io.EOF
			})
			_, _, err := a.tag("-")
			if now, _ := os.ReadFile("list"); err == nil || err.Error() != "list: another program has changed it meanwhile: try again" || !bytes.Equal(now, changed) {
				t.Errorf("%v, %q", err, now)
			}
		})
	}
}

// TestOldMeanwhile changes a list after an update has read it, and before it makes the new one.
func TestOldMeanwhile(t *testing.T) {
	a := newArchive(t, small, nil)
	old := a.old()
	a.write(map[string]string{"list": "another"})
	out, err := a.createOutput(old)
	if err != nil {
		t.Fatal(err)
	}
	defer out.discard()
	if err := out.commit(); err == nil || a.list() != "another" {
		t.Errorf("%v, %q", err, a.list())
	}
}

// TestMeanwhile changes a list before another one takes its place: it stays.
func TestMeanwhile(t *testing.T) {
	at := time.Unix(1e9, 0)
	write := func(text string, at time.Time) error {
		return errors.Join(os.WriteFile("list", []byte(text), 0o600), os.Chtimes("list", at, at))
	}
	for name, change := range map[string]func() error{
		"size":  func() error { return write("longer", at) },
		"mtime": func() error { return write("another", at.Add(time.Second)) },
		"file": func() error {
			return errors.Join(os.WriteFile("other", nil, 0o600), os.Rename("other", "list"), write("another", at))
		},
		"gone": func() error { return os.Remove("list") },
	} {
		t.Chdir(t.TempDir())
		if err := write("the old", at); err != nil {
			t.Fatal(err)
		}
		out, err := createOut("list", true)
		if err == nil {
			err = change()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := out.commit(); err == nil || err.Error() != "list: another program has changed it meanwhile: try again" {
			t.Errorf("%s: %v", name, err)
		}
		out.discard()
	}
}

// TestKeepGoing has a file that cannot be read: the list says so, and an update tries again.
func TestKeepGoing(t *testing.T) {
	a := newArchive(t, small, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, KeepGoing: true, Recursive: true}
	if _, stderr, err := a.tag("d", "d/y"); err == nil || err.Error() != "1 of 6 files not tagged, and the list says so" || !strings.HasPrefix(stderr, "fastmac: d/y: ") {
		t.Fatalf("%q, %v", stderr, err)
	}
	if out, err := a.verify(); out != "d/y: NOT TAGGED\n" || err == nil || err.Error() != "1 file could not be read when the list was made: --partial accepts that" {
		t.Errorf("%q, %v", out, err)
	}
	o := Options{KeyFile: "key", Partial: true, Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}
	if r, err := Verify(t.Context(), o, "list", true); err != nil || r.Err() != nil || withoutSerial(r) != "5 files OK; the list is as it was written, without 1 file that could not be read; added files are not looked for without --complete d" {
		t.Errorf("%v, %v, %s", err, r.Err(), r.Summary())
	}
	// It is there now, and no list had it: it is new. The list says so once.
	a.write(map[string]string{"d/y": ""})
	stdout := new(bytes.Buffer)
	o.Complete, o.Quiet, o.Stdout = []string{"d"}, true, stdout
	if _, err := Verify(t.Context(), o, "list", true); err != nil || stdout.String() != "d/y: NOT TAGGED\n" {
		t.Errorf("%q, %v", stdout, err)
	}
	a.Options = Options{KeyFile: "key", Update: "list"}
	a.check("update", "d/y: NEW\n", "fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone\n", "")
	if out, err := a.verify(); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// TestNames has names in a file.
func TestNames(t *testing.T) {
	a := newArchive(t, small, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Stdin: strings.NewReader("d/a\x00d/e\n\x00./d/b")}
	for _, test := range []struct {
		from, from0, stdin, failure string
		lines                       int
	}{
		{"-", "", "d/a\nd/b\n", "", 2},
		{"-", "", "d/a\nd/b", "", 2},
		{"", "-", "d/a\x00d/b\x00", "", 2},
		{"", "-", "d/a\x00d/b", "", 2},
		{"names", "", "", "", 1},
		{"names -", "", "d/b\n", "", 2},
		{"", "names", "", `1 of 1 file not tagged, so no list is written to list`, 0}, // "d/a\n"
		{"-", "", "", "-: it has no names", 0},
		{"-", "", "d/a\n\nd/b\n", "-: name 2 is empty", 0},
		{"", "-", "d/a\x00\x00", "-: name 2 is empty", 0},
		{"names -", "", "", "-: it has no names", 0},
		{"-", "", "d/a\n-\n", "-: name 2 is -: a file of that name is ./-", 0},
		{"-", "", "d/a\x00d/b\x00", "-: name 1 has a NUL: --files0-from reads such names", 0},
		{"-", "", "\xff\xfed\x00", "-: it is in UTF-16, which > writes in some Windows shells: make it with a program that writes UTF-8", 0},
		{"-", "", strings.Repeat("x", maxLine+1), fmt.Sprintf("-: line 1 has more than %d bytes", maxLine), 0},
		{"missing", "", "", "missing: no such file or directory", 0},
		{"d", "", "", "d: is a directory", 0},
	} {
		os.WriteFile("names", []byte("d/a\n"), 0o600)
		a.FilesFrom, a.Files0From, a.Stdin = strings.Fields(test.from), strings.Fields(test.from0), strings.NewReader(test.stdin)
		_, stderr, err := a.tag()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.failure && filepath.Separator == '/' || (err == nil) != (test.failure == "") {
			t.Errorf("%+v: %q, %q", test, got, stderr)
		}
		if n := strings.Count(a.list(), "\n"); err == nil && n != test.lines+4 {
			t.Errorf("%+v: %d lines", test, n)
		}
	}
}

// TestKilled removes what a process has left that was killed, and nothing else.
func TestKilled(t *testing.T) {
	a := newArchive(t, small, func(o *Options) { o.Output = "d/list" })
	const left = "d/" + unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	others := []string{"d/" + unfinished + "x", "d/" + unfinished + strings.Repeat("a", 26), left + "A"}
	for _, path := range append(others, left) {
		a.write(map[string]string{path: ""})
	}
	// One that a process still writes.
	o, err := createOut("d/other", false)
	if err != nil {
		t.Fatal(err)
	}
	defer o.discard()
	a.Options = Options{KeyFile: "key", Update: "d/list", Quiet: true}
	stdout, _, err := a.tag()
	slices.Sort(others)
	if err != nil || stdout != strings.Join(others, ": NEW\n")+": NEW\n" {
		t.Errorf("%v: %q, want %q", err, stdout, others)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// TestUpdateInterrupted interrupts updates at each look at the context: the list is the old or the new one.
func TestUpdateInterrupted(t *testing.T) {
	a := newArchive(t, small, nil)
	first := a.list()
	a.write(map[string]string{"d/new": "1"})
	done := false
	for n := 1; !done && n < 1000; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		o := a.Options
		o.Jobs, o.Stdin, o.Stdout, o.Stderr = 1, strings.NewReader(""), new(bytes.Buffer), new(bytes.Buffer)
		err := Tag(erringContext{ctx, func() {
			if calls++; calls == n {
				cancel()
			}
		}}, o, nil)
		cancel()
		list := a.list()
		if done = err == nil; done == (list == first) {
			t.Fatalf("%d: %v, %q", n, err, list)
		}
		if names, _ := filepath.Glob(".fastmac-*"); names != nil {
			t.Fatalf("%d: left: %q", n, names)
		}
	}
	if !done {
		t.Error("never done")
	}
	if out, err := a.verify(); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// A readerFunc is an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// An erringContext calls f each time that a reader asks whether it should stop.
type erringContext struct {
	context.Context
	f func()
}

func (c erringContext) Err() error {
	c.f()
	return c.Context.Err()
}
