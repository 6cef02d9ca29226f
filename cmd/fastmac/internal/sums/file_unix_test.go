// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/internal/mactest"
)

// A folder is a test's folder with files and a key.
type folder struct {
	*testing.T
	Options
	out, err bytes.Buffer
}

func newFolder(t *testing.T, algorithm string) *folder {
	t.Chdir(t.TempDir())
	f := &folder{T: t}
	f.Options = Options{KeyFile: "key", Stdin: strings.NewReader(""), Stdout: &f.out, Stderr: &f.err}
	f.must(WriteKey("key", algorithm, nil))
	return f
}

// key returns the key of the file.
func (f *folder) key() *list.Key {
	f.Helper()
	k, err := ReadKey(f.Context(), f.KeyFile, "", nil, io.Discard)
	f.must(err)
	return k
}

func (f *folder) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *folder) write(path string, size int) {
	f.Helper()
	f.must(os.MkdirAll(filepath.Dir(path), 0o700))
	f.must(os.WriteFile(path, bytes.Repeat([]byte{'x'}, size), 0o600))
}

// paths returns those of the lines of files in the output.
func (f *folder) paths() (paths []string) {
	f.Helper()
	for line := range strings.Lines(f.out.String()) {
		kind, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if ok && strings.Count(kind, ":") == 6 {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestKinds has files that are not regular, as arguments and in a folder.
func TestKinds(t *testing.T) {
	f := newFolder(t, "umac128")
	f.write("d/a", 1)
	f.write("d/z/b", 2)
	f.must(os.Symlink("a", "d/link"))
	f.must(os.Symlink("..", "d/up"))
	f.must(os.Symlink("nothing", "d/broken"))
	f.must(os.Symlink("d", "folder"))
	f.must(os.Symlink("loop", "loop"))
	f.must(syscall.Mkfifo("d/fifo", 0o600))
	f.Recursive = true

	err := Tag(t.Context(), f.Options, []string{"d"})
	if got := fmt.Sprint(f.paths()); got != "[d/a d/link d/z/b]" || err != nil ||
		f.err.String() != "fastmac: left out: d/broken: a link that leads nowhere\nfastmac: left out: d/fifo: a pipe\nfastmac: left out: d/up: a link to a folder\nfastmac: 3 files tagged, 3 left out\n" {
		t.Errorf("%s, %v, %q", got, err, &f.err)
	}
	f.out.Reset()
	f.err.Reset()
	f.must(os.Remove("d/broken"))
	go func() {
		w, err := os.OpenFile("d/fifo", os.O_WRONLY, 0)
		if err == nil {
			w.Write(make([]byte, 1<<20))
			w.Close()
		}
	}()
	err = Tag(t.Context(), f.Options, []string{"folder", "/dev/null", "d/fifo", "loop", "d/link"})
	if got := fmt.Sprint(f.paths()); got != "[folder/a folder/link folder/z/b /dev/null d/fifo d/link]" || err == nil || err.Error() != "1 of 7 files not tagged, so the list has no end line" ||
		!strings.Contains(f.err.String(), "\nfastmac: loop: too many ") {
		t.Errorf("%s, %v, %q", got, err, &f.err)
	}
	// The FIFO's line is that of a file with its content.
	f.must(os.Remove("d/fifo"))
	f.must(os.WriteFile("d/fifo", make([]byte, 1<<20), 0o600))
	f.must(os.WriteFile("sums", f.out.Bytes(), 0o600))
	f.err.Reset()
	f.Partial = true
	report, err := Verify(t.Context(), f.Options, "sums", false)
	if err != nil || report.Right != 5 || report.Unreadable != 1 || f.err.String() != "fastmac: /dev/null: is not a regular file: --special reads it\n" {
		t.Errorf("%+v, %v, %q", report, err, &f.err)
	}
	f.Special = true
	report, err = Verify(t.Context(), f.Options, "sums", false)
	if err != nil || report.Err() != nil || report.Right != 6 {
		t.Errorf("%+v, %v", report, err)
	}
}

// asUser runs do as a user who owns the files in the current folder. Root, who can read
// everything, becomes another one.
func asUser(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err == nil {
		err = syscall.Seteuid(nobody)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			panic(err)
		}
	}()
	do()
}

// TestUnreadable has files without the permission to read. They are there, so verify reports them
// with --ignore-missing too, as it does a path that leads to no file for another reason.
func TestUnreadable(t *testing.T) {
	f := newFolder(t, "umac128")
	f.Recursive = true
	f.write("d/a", 1)
	f.write("e/a", 1)
	f.must(os.Chmod("d/a", 0))
	f.must(os.Chmod("e", 0))
	defer os.Chmod("e", 0o700)
	var err error
	asUser(t, func() { err = Tag(t.Context(), f.Options, []string{"d", "e", "key"}) })
	if got := fmt.Sprint(f.paths()); got != "[key]" || err == nil || err.Error() != "2 of 3 files not tagged, so the list has no end line" ||
		f.err.String() != "fastmac: d/a: permission denied\nfastmac: e: permission denied\n" {
		t.Errorf("%s, %v, %q", got, err, &f.err)
	}
	f.must(os.Symlink("loop", "loop"))
	long := strings.Repeat("x", 256)
	line, _, _ := strings.Cut(strings.Split(f.out.String(), "\n")[1], "  ")
	var list, want string
	for _, file := range []struct{ path, reason string }{
		{"d/a", "permission denied"},
		{"e/a", "permission denied"},
		{"e/none", "permission denied"}, // whether it is there cannot be seen
		{"key/a", "not a directory"},
		{"loop", syscall.ELOOP.Error()},
		{long, syscall.ENAMETOOLONG.Error()},
		{"d", "is a folder"},
		{"none", ""},
	} {
		list += line + "  " + file.path + "\n"
		if file.reason != "" {
			want += "fastmac: " + file.path + ": " + file.reason + "\n"
		}
	}
	f.must(os.WriteFile("list", []byte(list), 0o644))
	f.err.Reset()
	f.IgnoreMissing, f.Partial = true, true
	var r *Report
	asUser(t, func() { r, err = Verify(t.Context(), f.Options, "list", true) })
	if err != nil || r.Unreadable != 7 || r.Missing != 1 || f.err.String() != want {
		t.Errorf("%+v, %v, %q, want %q", r, err, &f.err, want)
	}
	// A folder that cannot be read may have files that the list lacks.
	f.err.Reset()
	f.Complete = []string{"e", "."}
	asUser(t, func() { r, err = Verify(t.Context(), f.Options, "list", true) })
	if err != nil || r.Unreadable != 9 || f.err.String() != want+"fastmac: e: permission denied\nfastmac: ./e: permission denied\n" {
		t.Errorf("%+v, %v, %q", r, err, &f.err)
	}
}

// TestWaiting is interrupted while it waits for a FIFO, of a file, a list or a key, that nobody opens,
// and for one that nobody writes to.
func TestWaiting(t *testing.T) {
	f := newFolder(t, "umac128")
	f.must(syscall.Mkfifo("fifo", 0o600))
	f.write("file", 1)
	for _, opened := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if opened {
			w, err := os.OpenFile("fifo", os.O_RDWR, 0)
			f.must(err)
			defer w.Close()
		}
		f.out.Reset()
		o := f.Options
		o.Jobs = 2
		o.Stdout = writerFunc(func(p []byte) (int, error) {
			cancel()
			return len(p), nil
		})
		if err := Tag(ctx, o, []string{"file", "fifo"}); !errors.Is(err, context.Canceled) {
			t.Errorf("opened %v: %v", opened, err)
		}
		if _, err := Verify(ctx, f.Options, "fifo", true); !errors.Is(err, context.Canceled) {
			t.Errorf("opened %v: %v", opened, err)
		}
		if _, err := ReadKey(ctx, "fifo", "", nil, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("opened %v: %v", opened, err)
		}
	}
	// Also after the last file, before the folders that should be complete.
	f.out.Reset()
	f.must(Tag(t.Context(), f.Options, []string{"file"}))
	f.must(os.WriteFile("sums", f.out.Bytes(), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	o := f.Options
	o.Complete = []string{"."}
	o.Stdout = writerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	})
	if _, err := Verify(ctx, o, "sums", true); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Ends the goroutine that opens the FIFO.
	w, err := os.OpenFile("fifo", os.O_RDWR, 0)
	f.must(err)
	w.Close()
}

func TestKeyFile(t *testing.T) {
	f := newFolder(t, "umac128")
	f.write("file", 1)
	for _, tt := range []struct {
		mode os.FileMode
		want string
	}{
		{0o600, ""}, {0o400, ""}, {0o700, ""},
		{0o640, "fastmac: warning: other users can access the key in key, mode 0640: want 0600\n"},
		{0o604, "fastmac: warning: other users can access the key in key, mode 0604: want 0600\n"},
		{0o602, "fastmac: warning: other users can access the key in key, mode 0602: want 0600\n"},
	} {
		f.must(os.Chmod("key", tt.mode))
		f.err.Reset()
		f.out.Reset()
		f.must(Tag(t.Context(), f.Options, []string{"file"}))
		f.must(os.WriteFile("sums", f.out.Bytes(), 0o600))
		if f.err.String() != tt.want {
			t.Errorf("mode %o: tag prints %q, want %q", tt.mode, &f.err, tt.want)
		}
		f.err.Reset()
		if r, err := Verify(t.Context(), f.Options, "sums", true); err != nil || r.Err() != nil || f.err.String() != tt.want {
			t.Errorf("mode %o: verify prints %q, %v; want %q", tt.mode, &f.err, err, tt.want)
		}
	}
	// The mode that counts is that of the file, not of a link to it.
	f.must(os.Symlink("key", "link"))
	f.KeyFile = "link"
	f.err.Reset()
	f.must(Tag(t.Context(), f.Options, []string{"file"}))
	if want := "fastmac: warning: other users can access the key in link, mode 0602: want 0600\n"; f.err.String() != want {
		t.Errorf("%q, want %q", &f.err, want)
	}
	f.err.Reset()
	for path, want := range map[string]string{
		"/dev/zero": "/dev/zero: no key: it has more than 4096 bytes",
		"/dev/null": "/dev/null: the key file is empty",
		".":         ".: is a directory",
		"missing":   "missing: no such file or directory",
	} {
		f.KeyFile = path
		if err := Tag(t.Context(), f.Options, []string{"file"}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if f.err.Len() > 0 { // nothing that is not a file has a mode to warn of
		t.Errorf("%q", &f.err)
	}
}

// TestJobs has the numbers of cores of option -j.
func TestJobs(t *testing.T) {
	f := newFolder(t, "umac128")
	for jobs, want := range map[int]int{0: runtime.GOMAXPROCS(0), 1: 1, 7: 7} {
		f.Jobs = jobs
		r, err := f.open(t.Context())
		f.must(err)
		if r.jobs != want || r.files.Cores != want {
			t.Errorf("%d: %d and %d cores, want %d", jobs, r.jobs, r.files.Cores, want)
		}
		r.close()
	}
}

// TestGMACList verifies a list that was made on amd64, and makes the same tags. .ci/run has it
// on arm64 too. The last file does not fit in what crypto/cipher hashes at a time, where GMAC is
// its.
func TestGMACList(t *testing.T) {
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	f := newFolder(t, "gmac")
	key := []byte("gmac 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n")
	f.must(os.WriteFile("key", key, 0o600))
	k, err := list.ParseKey(key, "gmac")
	f.must(err)
	var text strings.Builder
	for _, file := range []struct {
		size int
		line string
	}{
		{100, "gmac:d52f5995d7677a875e14bf6a:4b64f6864578a5b51ecbfb654f089b58"},
		{4096, "gmac:03b739dea08d0ff2ebddc67a:cdbf491a2b6c021d35106fb0786aa30e"},
		{70001, "gmac:756aef2822239e322461a5ca:98ea1c318d2ad424375511cfa624ffe1"},
	} {
		name, content := fmt.Sprint(file.size), bytes.Repeat([]byte("a"), file.size)
		f.must(os.WriteFile(name, content, 0o600))
		fmt.Fprintf(&text, "%s  %s\n", file.line, name)

		part := strings.Split(file.line, ":")
		s := k.Stream(nil)
		s.Write(content)
		if !s.Verify(&list.Line{Nonce: mactest.Unhex(part[1]), Tag: mactest.Unhex(part[2])}) {
			t.Errorf("%d bytes: another tag than %s", file.size, part[2])
		}
	}
	f.must(os.WriteFile("list", []byte(text.String()), 0o600))
	if report, err := Verify(t.Context(), f.Options, "list", true); err != nil || report.Right != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestUpdateDevice has a device in a folder as an argument: the walk leaves it out, and an argument is read.
func TestUpdateDevice(t *testing.T) {
	a := newArchive(t, small, nil)
	if err := os.Symlink(os.DevNull, "d/null"); err != nil {
		t.Fatal(err)
	}
	const left = "fastmac: left out: d/null: a device\n"
	a.check("new", "d/null: NEW\n", left+"fastmac: 6 files: 5 kept, 0 changed, 1 new; 0 gone, 1 left out\n", "", "d/null")
	a.check("again", "", left+"fastmac: 6 files: 6 kept, 0 changed, 0 new; 0 gone, 1 left out\n", "", "d/null")
	a.check("without", "d/null: GONE\n", left+"fastmac: 5 files: 5 kept, 0 changed, 0 new; 1 gone, 1 left out\n", "")
}

// TestLeftOut verifies a folder with what is no file: that is said, and no failure.
func TestLeftOut(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("d/a", 1)
	f.must(os.Symlink(".", "d/b"))
	f.must(syscall.Mkfifo("d/c", 0o600))
	f.must(os.Symlink("nothing", "d/d"))
	f.Output = "d/list"
	f.must(Tag(t.Context(), f.Options, []string{"d/a"}))
	f.must(os.Symlink("list", "d/e"))
	f.Complete = []string{"d"}
	for _, quiet := range []bool{false, true} {
		f.Quiet = quiet
		f.out.Reset()
		f.err.Reset()
		r, err := Verify(t.Context(), f.Options, "d/list", true)
		f.must(err)
		stdout, stderr := "d/a: OK\n", "fastmac: left out: d/b: a link to a folder\nfastmac: left out: d/c: a pipe\nfastmac: left out: d/d: a link that leads nowhere\nfastmac: left out: d/e: a link to the list\n"
		if quiet {
			stdout, stderr = "", ""
		}
		if r.Err() != nil || r.LeftOut != 4 || f.out.String() != stdout || f.err.String() != stderr {
			t.Errorf("%+v, %q, %q", r, &f.out, &f.err)
		}
	}
}

// TestChangedWhileVerified adds a file after the walk: the folder is reported.
func TestChangedWhileVerified(t *testing.T) {
	for _, changed := range []string{"d/sub", "e"} {
		f := newFolder(t, "umac64")
		f.write("d/sub/a", 1)
		f.write("e/b", 1)
		f.must(Tag(t.Context(), f.Options, []string{"d/sub/a", "e/b"}))
		f.must(os.WriteFile("list", f.out.Bytes(), 0o600))
		f.Complete = []string{"d", "e"}
		var out strings.Builder
		f.Stdout = writerFunc(func(p []byte) (int, error) {
			if out.Len() == 0 {
				f.write(changed+"/new", 1)
			}
			return out.Write(p)
		})
		r, err := Verify(t.Context(), f.Options, "list", true)
		f.must(err)
		if err := r.Err(); err == nil || r.Unreadable != 1 || out.String() != "d/sub/a: OK\ne/b: OK\n"+changed+": FAILED open or read\n" || f.err.String() != "fastmac: "+changed+": changed while it was verified\n" {
			t.Errorf("%+v, %v, %q, %q", r, err, &out, &f.err)
		}
	}
}
