// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/internal/mactest"
)

// What package list has.
const (
	maxLine      = 512 << 10
	maxMalformed = 20
)

// A listFolder is a test's folder with three small files, a key and their list.
type listFolder struct {
	*testing.T
	Options
	args []string
	key  *list.Key
	list []byte
}

func newListFolder(t *testing.T, algorithm string, zero bool) *listFolder {
	t.Helper()
	t.Chdir(t.TempDir())
	f := &listFolder{T: t, args: []string{"a", "b", "c d"}}
	for i, path := range f.args {
		f.must(os.WriteFile(path, bytes.Repeat([]byte{'x'}, i), 0o600))
	}
	f.Options = Options{KeyFile: "key", Zero: zero, Stdin: strings.NewReader(""), Stderr: io.Discard}
	f.must(WriteKey("key", algorithm, nil))
	var err error
	f.key, err = ReadKey(t.Context(), "key", "", nil, io.Discard)
	f.must(err)
	t.Cleanup(f.key.Destroy)
	f.list = f.tag(f.args...)
	return f
}

// lineEnd returns what the lines of a list end with.
func lineEnd(zero bool) byte {
	if zero {
		return 0
	}
	return '\n'
}

func (f *listFolder) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// tag returns a list of files.
func (f *listFolder) tag(args ...string) []byte {
	f.Helper()
	var out bytes.Buffer
	f.Stdout = &out
	f.must(Tag(f.Context(), f.Options, args))
	return out.Bytes()
}

// noted returns a list with lines of all kinds: of files with and without times, of one that could not be
// read, of a folder, and of a pattern.
func (f *listFolder) noted() []byte {
	f.Helper()
	defer func(old time.Duration) { settledAfter = old }(settledAfter)
	settledAfter = -time.Hour
	f.must(os.MkdirAll("d", 0o700))
	for _, path := range []string{"d/e", "d/e.o"} {
		f.must(os.WriteFile(path, nil, 0o600))
	}
	var out bytes.Buffer
	o := f.Options
	o.Stdout, o.Recursive, o.Exclude, o.Output, o.Force, o.KeepGoing = &out, true, []string{"*.o"}, "noted", true, true
	if err := Tag(f.Context(), o, []string{"a", "missing\n", "-", "d"}); err == nil || !strings.HasSuffix(err.Error(), "1 of 4 files not tagged, and the list says so") {
		f.Fatal(err)
	}
	list, err := os.ReadFile("noted")
	f.must(err)
	text := string(list)
	for _, want := range []string{"unread:  missing", "folder:  d", "exclude:  *.o", "d/e", "  -"} {
		if !strings.Contains(text, want) || strings.Contains(text, "d/e.o") {
			f.Fatalf("%q", text)
		}
	}
	return list
}

// refused reports whether list.Read and what it returns refuse a list as a whole.
func (f *listFolder) refused(text []byte) bool {
	l, err := list.Read(bytes.NewReader(text), f.key, f.Zero)
	return err != nil || l.Check(f.key) != nil || l.Complete() != nil
}

// verify returns what Verify says of a list, and what it prints.
func (f *listFolder) verify(list []byte, change func(o *Options)) (r *Report, stdout, stderr string, err error) {
	f.Helper()
	f.must(os.WriteFile("list", list, 0o600))
	var out, errs bytes.Buffer
	o := f.Options
	o.Stdout, o.Stderr = &out, &errs
	if change != nil {
		change(&o)
	}
	r, err = Verify(f.Context(), o, "list", true)
	if err == nil {
		err = r.Err()
	}
	return r, out.String(), errs.String(), err
}

// TestEveryByte changes a list at every byte, and at every line. With one algorithm it tries all
// bytes, except in short runs, and with others those that have a meaning.
func TestEveryByte(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	some := []byte("\x00\n\r \t:\\09afAFx\x7f\xff")
	for _, algorithm := range []string{"umac32", "hmac-sha256", "hmac-sha512", "umac64 with notes", "hmac-sha256 with notes"} {
		for _, zero := range []bool{false, true} {
			name, noted := strings.CutSuffix(algorithm, " with notes")
			f := newListFolder(t, name, zero)
			values := some
			if algorithm == "umac32" && !zero && !testing.Short() {
				values = every
			}
			if noted {
				f.list = f.noted()
			}
			if mactest.Race {
				values = some[:4] // the others take the same ways
			}
			changes := 0
			try := func(what string, list ...[]byte) {
				joined := slices.Concat(list...)
				if bytes.Equal(joined, f.list) {
					return
				}
				changes++
				if !f.refused(joined) {
					t.Errorf("%s, zero %v: %s is accepted", algorithm, zero, what)
				}
			}
			if f.refused(f.list) {
				t.Fatalf("%s, zero %v: refused as it is", algorithm, zero)
			}
			for i := range f.list {
				before, after := f.list[:i], f.list[i+1:]
				try(fmt.Sprintf("cut after %d bytes", i), before)
				try(fmt.Sprintf("without its first %d bytes", i+1), after)
				try(fmt.Sprintf("without byte %d", i), before, after)
				for _, c := range append(values, f.list[i]^0x20, f.list[i]^1) {
					b := []byte{c}
					try(fmt.Sprintf("byte %d as %#x", i, c), before, b, after)
					try(fmt.Sprintf("byte %#x before byte %d", c, i), before, b, f.list[i:])
				}
			}
			for c := range 256 {
				try(fmt.Sprintf("%#x at the end", c), f.list, []byte{byte(c)})
			}
			// Lines: all subsets, orders and repetitions of one line; those of another list; and joined lists.
			lines := bytes.SplitAfter(f.list, []byte{lineEnd(zero)})
			lines = lines[:len(lines)-1]
			other := bytes.SplitAfter(f.tag("c d", "b", "a"), []byte{lineEnd(zero)})
			for i := range lines {
				try(fmt.Sprintf("line %d twice", i), slices.Concat(lines[:i+1]...), slices.Concat(lines[i:]...))
				for j := range lines {
					swapped := slices.Clone(lines)
					swapped[i], swapped[j] = swapped[j], swapped[i]
					try(fmt.Sprintf("lines %d and %d exchanged", i, j), swapped...)
					mixed := slices.Clone(lines)
					mixed[i] = other[j%len(other)]
					try(fmt.Sprintf("line %d of another list as line %d", j, i), mixed...)
					added := slices.Insert(slices.Clone(lines), i, other[j%len(other)])
					try(fmt.Sprintf("line %d of another list before line %d", j, i), added...)
				}
			}
			for set := range 1 << len(lines) {
				var left [][]byte
				for i, line := range lines {
					if set>>i&1 == 1 {
						left = append(left, line)
					}
				}
				try(fmt.Sprintf("the lines of set %b", set), left...)
			}
			try("twice", f.list, f.list)
			try("two lists", f.list, f.tag("b"))
			try("two lists, the other first", f.tag("b"), f.list)
			t.Logf("%s, zero %v: %d changes", algorithm, zero, changes)
		}
	}
}

// TestVerifyLists checks what Verify says of lists, and that it verifies the files of lists that
// were changed.
func TestVerifyLists(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	lines := strings.SplitAfter(string(f.list), "\n")
	first, a, b, c, end := lines[0], lines[1], lines[2], lines[3], strings.Join(lines[4:], "")
	swapped := strings.Replace(a, "  a\n", "  b\n", 1) + strings.Replace(b, "  b\n", "  a\n", 1)
	f.must(os.WriteFile("empty", nil, 0o600))
	all := "a: OK\nb: OK\nc d: OK\n"
	for name, tt := range map[string]struct{ list, stdout, stderr, err string }{
		"whole":      {first + a + b + c + end, all, "", ""},
		"CRLF":       {strings.ReplaceAll(string(f.list), "\n", "\r\n"), all, "", ""},
		"cut":        {first + a + b, "a: OK\nb: OK\n", "fastmac: list: the list has no end line, so lines may be missing and paths exchanged: --partial accepts that\n", "the list FAILED"},
		"no last":    {first + a + b + end, "a: OK\nb: OK\n", "fastmac: list: the list was changed: it has 5 lines before the end line, which is for 6\n", "the list FAILED"},
		"no first":   {first + b + c + end, "b: OK\nc d: OK\n", "fastmac: list: the list was changed: it has 5 lines before the end line, which is for 6\n", "the list FAILED"},
		"reordered":  {first + b + a + c + end, "b: OK\na: OK\nc d: OK\n", "fastmac: list: the list was changed: its tag is wrong, so a line or a path was edited, moved or exchanged\n", "the list FAILED"},
		"renamed":    {strings.Replace(string(f.list), "  a\n", "  empty\n", 1), "empty: OK\nb: OK\nc d: OK\n", "fastmac: list: the list was changed: its tag is wrong, so a line or a path was edited, moved or exchanged\n", "the list FAILED"},
		"joined":     {first + a + b + c + end + first + a + b + c + end, all + all, "fastmac: list: line 7 is the end of a list, and lines follow it: lists were joined, or lines added; one run makes one list, of many names with tag --files0-from, and tag --update adds to it\n", "the list FAILED"},
		"added":      {first + a + b + c + end + a, all + "a: OK\n", "fastmac: list: line 7 is the end of a list, and lines follow it: lists were joined, or lines added; one run makes one list, of many names with tag --files0-from, and tag --update adds to it\n", "the list FAILED"},
		"one LF":     {strings.TrimSuffix(strings.ReplaceAll(string(f.list), "\n", "\r\n"), "\r\n") + "\n", all, "fastmac: list: the list was changed: some lines end with a carriage return, and some do not\n", "the list FAILED"},
		"one CR":     {first + a[:len(a)-1] + "\r\n" + b + c + end, all, "fastmac: list: the list was changed: some lines end with a carriage return, and some do not\n", "the list FAILED"},
		"no newline": {string(f.list[:len(f.list)-1]), all, "fastmac: list: the list was changed: its last line is incomplete\n", "the list FAILED"},
		"exchanged":  {first + swapped + c + end, "b: FAILED\na: FAILED\nc d: OK\n", "", "2 of 3 files FAILED; the list FAILED"},
		"long line": {first + a + strings.Repeat("x", maxLine+1) + "\n" + b + c + end, all, "fastmac: list: line 3: it has more than 524288 bytes, which no path has\n" +
			"fastmac: list: the list was changed: it has 7 lines before the end line, which is for 6\n", "1 of 4 lines malformed; the list FAILED"},
		"long and cut": {strings.Repeat("x", 8*maxLine) + "\n" + a + strings.Repeat("y", maxLine+1), "a: OK\n", "", "2 of 3 lines malformed; the list FAILED"},
		"bad end":      {first + a + b + c + strings.Replace(end, "umac64", "umac", 1), all, "", "1 of 4 lines malformed; the list FAILED"},
		"not UTF-8":    {"\xff\xfea", "", "", "list: it is in UTF-16, which > writes in some Windows shells: make it with tag -o FILE"},
		"big-endian":   {"\xfe\xffa\x00", "", "", "list: it is in UTF-16, which > writes in some Windows shells: make it with tag -o FILE"},
		"NUL first":    {"\x00umac", "", "", "list: it is in UTF-16, which > writes in some Windows shells: make it with tag -o FILE"},
		"UTF-16":       {"u\x00m\x00a\x00c\x00", "", "", "list: it is in UTF-16, which > writes in some Windows shells: make it with tag -o FILE"},
		"BOM":          {"\xef\xbb\xbf" + string(f.list), "", "", "list: it begins with a byte order mark, which some editors and shells add: make it with tag -o FILE"},
		"-z":           {strings.ReplaceAll(string(f.list), "\n", "\x00"), "", "", "list: no line is from fastmac tag: line 1: a NUL character: a list of tag -z needs verify -z"},
		"nothing":      {"", "", "", "list: the list has no lines"},
		"end only":     {first + end, "", "fastmac: list: the list was changed: it has 3 lines before the end line, which is for 6\n", "the list FAILED"},
	} {
		_, stdout, stderr, err := f.verify([]byte(tt.list), nil)
		if stdout != tt.stdout || tt.stderr != "" && stderr != tt.stderr || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%s: %q, %q, %v, want %q, %q, %q", name, stdout, stderr, err, tt.stdout, tt.stderr, tt.err)
		}
	}
	// Lists without an end line: what becomes of them depends on the key file and the options.
	partial := func(o *Options) { o.Partial = true }
	if r, _, stderr, err := f.verify([]byte(a+b), partial); err != nil || stderr != "" || r.List != listNoEnd {
		t.Errorf("%q, %v", stderr, err)
	}
	// Anybody can have written the notes of such a list: none counts.
	notes := "folder:  d\nexclude:  *\noption:  exclude-caches\nunread:  x\nlabel:  all\nserial:  7\ntime:  2026-01-01T00:00:00Z\n"
	for name, list := range map[string]string{"no end": first + a + b + notes, "another tag": first + a + notes + b + c + end} {
		r, stdout, _, _ := f.verify([]byte(list), partial)
		if !strings.HasPrefix(all, stdout) || r.NotTagged != 0 || r.Folders != nil || r.Exclude != nil || r.Options != nil || r.Label != "" || r.Serial != 0 || r.Time != "" {
			t.Errorf("%s: %q, %+v", name, stdout, r)
		}
	}
	if _, _, _, err := f.verify([]byte(a+"x\n"+b), partial); err == nil || err.Error() != "1 of 3 lines malformed" {
		t.Error(err)
	}
	// Other changes of a list fail in any case.
	if _, _, _, err := f.verify([]byte(first+a+b+end), partial); err == nil {
		t.Error("accepted")
	}
	key, err := os.ReadFile("key")
	f.must(err)
	f.must(os.WriteFile("key", key[:bytes.LastIndexByte(key, ' ')], 0o600)) // as an old keygen wrote it
	const noEnd = "fastmac: list: the list has no end line, so lines may be missing and paths exchanged: --partial accepts that\n"
	if r, stdout, stderr, err := f.verify([]byte(a+b), nil); err == nil || err.Error() != "the list FAILED" || stdout != "a: OK\nb: OK\n" || stderr != noEnd || r.List != listFailed {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
	status := func(o *Options) { o.Status = true }
	if _, stdout, stderr, err := f.verify([]byte(a+b), status); err == nil || stdout+stderr != "" {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
	if _, _, _, err := f.verify([]byte(a+b), func(o *Options) { o.Status, o.Partial = true, true }); err != nil {
		t.Error(err)
	}
	if _, _, _, err := f.verify(f.list, status); err != nil {
		t.Error(err)
	}
}

// TestOtherProgram makes the end line and the identifier of the key with the standard library.
func TestOtherProgram(t *testing.T) {
	for _, algorithm := range list.Names() {
		if algorithm == "gmac" && fastmac.RequireGCM() != nil {
			continue
		}
		f := newListFolder(t, algorithm, algorithm == "umac96")
		text, err := os.ReadFile("key")
		f.must(err)
		fields := strings.Fields(string(text))
		derive := func(info string, size int) []byte {
			derived, err := hkdf.Key(sha512.New, mactest.Unhex(fields[1]), []byte("fastmac list 1"), info+algorithm, size)
			f.must(err)
			return derived
		}
		id := hex.EncodeToString(derive("key identifier ", 8))
		if id != fields[2] {
			t.Errorf("%s: the key file has the identifier %s, want %s", algorithm, fields[2], id)
		}
		colon := bytes.LastIndexByte(f.list, ':')
		mac := hmac.New(sha512.New, derive("list tag ", 64))
		mac.Write(f.list[:colon+1])
		last := f.list[bytes.LastIndex(f.list, []byte("end2:")):]
		if want := fmt.Sprintf("end2:%s:%s:6:%x%c", algorithm, id, mac.Sum(nil), lineEnd(f.Zero)); string(last) != want {
			t.Errorf("%s: the end line is %q, want %q", algorithm, last, want)
		}
	}
}

// TestListIsNoFile tags a file with the content of a list, up to the tag: it does not get the
// tag of the list, and neither does any other content that HMAC and HKDF hash for it.
func TestListIsNoFile(t *testing.T) {
	f := newListFolder(t, "hmac-sha512", false)
	colon := bytes.LastIndexByte(f.list, ':')
	tag := string(f.list[colon+1 : len(f.list)-1])
	for _, content := range [][]byte{f.list[:colon+1], f.list, []byte("list tag hmac-sha512"), []byte("list tag hmac-sha512\x01"), []byte("fastmac list 1")} {
		f.must(os.WriteFile("content", content, 0o600))
		if list := string(f.tag("content")); strings.Contains(list, tag) || strings.Contains(list, f.key.ID+":"+tag) {
			t.Errorf("a file with %q has the tag of a list: %q", content, list)
		}
	}
}

// TestComplete has files that the list does not have.
func TestComplete(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	f.must(os.Mkdir("d", 0o700))
	f.must(os.Rename("c d", filepath.Join("d", "c")))
	list := f.tag("a", filepath.Join("d", "c"))
	in := func(folders ...string) func(o *Options) { return func(o *Options) { o.Complete = folders } }
	here, err := os.Getwd()
	f.must(err)
	for _, folder := range []string{"d", "./d/", filepath.Join(here, "d")} {
		if _, stdout, stderr, err := f.verify(list, in(folder)); err != nil || stderr != "" || strings.Count(stdout, "\n") != 2 {
			t.Errorf("%s: %q, %q, %v", folder, stdout, stderr, err)
		}
	}
	_, stdout, _, err := f.verify(list, in("."))
	if want := "./b: NOT IN THE LIST\n./key: NOT IN THE LIST\n"; !strings.HasSuffix(stdout, ": OK\n"+want) || err == nil || err.Error() != "2 files not in the list" {
		t.Errorf("%q, %v, want the end %q", stdout, err, want)
	}
	// The list is the only file that is left out, and no name is: not that of the list, and none with a dot.
	f.must(os.MkdirAll(filepath.Join("d", ".git", "list"), 0o700))
	for _, path := range []string{"d/list", "d/.git/list/list", "d/.git/config", ".x"} {
		f.must(os.WriteFile(filepath.FromSlash(path), list, 0o600))
	}
	_, stdout, _, err = f.verify(list, in("."))
	if want := "./.x: NOT IN THE LIST\n./b: NOT IN THE LIST\n./d/.git/config: NOT IN THE LIST\n./d/.git/list/list: NOT IN THE LIST\n./d/list: NOT IN THE LIST\n./key: NOT IN THE LIST\n"; !strings.HasSuffix(stdout, ": OK\n"+want) || err == nil || err.Error() != "6 files not in the list" {
		t.Errorf("%q, %v, want the end %q", stdout, err, want)
	}
	f.must(os.RemoveAll(filepath.Join("d", ".git")))
	f.must(os.Remove(filepath.Join("d", "list")))
	f.must(os.WriteFile(filepath.Join("d", "new"), nil, 0o600))
	// None of this hides that.
	r, stdout, stderr, err := f.verify(list, func(o *Options) {
		o.Complete, o.Quiet, o.IgnoreMissing, o.Partial, o.Special = []string{"d", "missing"}, true, true, true, true
	})
	if stdout != "d/new: NOT IN THE LIST\nmissing: FAILED open or read\n" || !strings.HasPrefix(stderr, "fastmac: missing: ") || err == nil || r.NotListed != 1 || r.Unreadable != 1 {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

// TestMinimalStat has a folder whose times change while it is verified, and no name in it.
func TestMinimalStat(t *testing.T) {
	a := newArchive(t, small, nil)
	a.Options = Options{KeyFile: "key", Output: "list", Force: true, Recursive: true}
	if _, stderr, err := a.tag("d", "-"); err != nil {
		t.Fatal(stderr, err)
	}
	n := int64(0)
	for minimal, want := range map[bool]string{false: "d: FAILED open or read\n", true: ""} {
		var out, errs bytes.Buffer
		o := Options{KeyFile: "key", Complete: []string{"d"}, Quiet: true, Special: true, MinimalStat: minimal, Stdout: &out, Stderr: &errs, Stdin: readerFunc(func([]byte) (int, error) {
			n++
			return 0, cmp.Or(os.Chtimes("d", time.Unix(n, 0), time.Unix(n, 0)), io.EOF)
		})}
		if r, err := Verify(t.Context(), o, "list", true); err != nil || out.String() != want || (r.Err() == nil) != minimal {
			t.Errorf("%v: %q, %q, %v", minimal, &out, &errs, err)
		}
	}
}

// TestIgnoreMissing has files that do not exist.
func TestIgnoreMissing(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	ignore := func(o *Options) { o.IgnoreMissing = true }
	f.must(os.Remove("b"))
	if _, stdout, _, err := f.verify(f.list, nil); err == nil || !strings.Contains(stdout, "b: FAILED open or read\n") {
		t.Errorf("%q, %v", stdout, err)
	}
	r, stdout, stderr, err := f.verify(f.list, ignore)
	if err != nil || strings.Contains(stdout, "b: ") || stderr != "" || withoutSerial(r) != "2 of 3 files OK, the others are missing; the list is as it was written" {
		t.Errorf("%q, %q, %v, %s", stdout, stderr, err, r.Summary())
	}
	f.must(os.Remove("a"))
	f.must(os.Remove("c d"))
	if _, stdout, _, err := f.verify(f.list, ignore); stdout != "" || err == nil || err.Error() != "no file was verified" {
		t.Errorf("%q, %v", stdout, err)
	}
}

// TestManyMalformed has more malformed lines than are reported: the others are counted, and not kept.
func TestManyMalformed(t *testing.T) {
	f := newListFolder(t, "umac64", false)
	lines := strings.SplitAfter(string(f.list), "\n")
	for n, more := range map[int]string{maxMalformed: "", maxMalformed + 1: "fastmac: list: and 1 more malformed line\n", 1000: "fastmac: list: and 980 more malformed lines\n"} {
		r, stdout, stderr, err := f.verify([]byte(lines[1]+strings.Repeat("x\n", n)), func(o *Options) { o.Partial = true })
		if r.Malformed != n || stdout != "a: OK\n" || strings.Count(stderr, ": want ALGORITHM:NONCE:TAG  PATH\n") != maxMalformed || !strings.HasSuffix(stderr, more) || strings.Contains(stderr, " more ") != (more != "") ||
			err == nil || err.Error() != fmt.Sprintf("%d of %d lines malformed", n, n+1) {
			t.Errorf("%d malformed lines: %+v, %q, %q, %v", n, r, stdout, stderr, err)
		}
	}
	// The line of another algorithm may be any.
	other := strings.Replace(lines[1], "umac64", "umac32", 1)
	if _, _, _, err := f.verify([]byte(strings.Repeat("x\n", 100)+other), nil); err == nil || err.Error() != "list: the tags are umac32, and the key is for umac64" {
		t.Error(err)
	}
}

// TestPathIndex finds paths in all their forms, also if all have one hash.
func TestPathIndex(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var l list.Lines
	for _, path := range []string{"b", ".//a", "d//c", "g/../h", "../" + filepath.Base(here) + "/i", "-", filepath.ToSlash(here) + "/e", "b", ".f"} {
		l.Add(list.Line{Path: path})
	}
	x := newPathIndex(&l)
	for _, collide := range []bool{false, true} {
		for path, want := range map[string]bool{"h": runtime.GOOS == "windows" /* ".." goes before links are looked at */, "g/../h": true, "i": true, "../" + filepath.Base(here) + "/a": true, "-": true, "./-": false, "../a": false, "a": true, "./b": true, "d/c": true, "d/./c": true, "e": true, here + "/a": true, ".f": true, "d": false, "c": false, "": false, "f": false} {
			if collide {
				for i := range x.all {
					x.all[i].hash = x.hash(x.Absolute(path))
				}
			}
			if x.has(path) != want {
				t.Errorf("%q: %v, want %v", path, !want, want)
			}
		}
	}
}

// TestAccents has names with accents that are encoded in another way in the list and in the folder.
func TestAccents(t *testing.T) {
	const composed, decomposed = "\u00e9", "e\u0301"
	for _, tt := range []struct{ listed, there string }{
		{composed, decomposed}, {decomposed, composed},
		{"d" + composed + "/" + composed, "d" + composed + "/" + decomposed},
		{"d" + composed + "/" + composed, "d" + decomposed + "/" + decomposed},
	} {
		f := newListFolder(t, "umac64", false)
		write := func(path string) {
			path = "x/" + path
			f.must(os.MkdirAll(filepath.Dir(path), 0o700))
			f.must(os.WriteFile(path, nil, 0o600))
		}
		write(tt.listed)
		text := f.tag("x/" + tt.listed)
		f.must(os.RemoveAll("x"))
		write(tt.there)
		if _, err := os.Stat("x/" + tt.listed); err == nil {
			t.Skip("the file system takes both for the same")
		}
		for _, ignore := range []bool{false, true} {
			r, stdout, stderr, err := f.verify(text, func(o *Options) { o.Complete, o.IgnoreMissing = []string{"x"}, ignore })
			listed, there := list.Escape("x/"+tt.listed), list.Escape("x/"+tt.there)
			if want := listed + ": FAILED open or read\n" + there + ": NOT IN THE LIST\n"; stdout != want || err == nil || r.Missing != 0 {
				t.Errorf("%q, want %q", stdout, want)
			}
			want := "fastmac: " + listed + ": no such file; the folder has the same name with accents encoded otherwise\n" +
				"fastmac: " + there + ": the list has the same name with accents encoded otherwise\n"
			if stderr != want {
				t.Errorf("%q, want %q", stderr, want)
			}
		}
	}
	if other := otherAccents("plain/name"); len(other) > 0 {
		t.Errorf("%q", other)
	}
}
