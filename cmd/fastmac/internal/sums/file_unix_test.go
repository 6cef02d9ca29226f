// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"context"
	"encoding/hex"
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
	"time"

	"example.com/fastmac"
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
func (f *folder) key() *Key {
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
		line = strings.TrimSuffix(line, "\n")
		if _, isNote, _ := parseNote(line, false); isNote {
			continue
		}
		if _, path, ok := strings.Cut(line, "  "); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestChanges changes a file while it is read: after it is open, and before its last part is read
// or, if it has one part, before that is in the tag.
func TestChanges(t *testing.T) {
	defer func(old int64) { windowSize = old }(windowSize)
	windowSize = parallelSize
	const size = parallelSize + 1<<20
	type kind struct {
		algorithm string
		size      int64
		jobs      int
	}
	for _, k := range []kind{{"umac64", 1 << 10, 1}, {"umac64", size, 1}, {"umac64", size, 3}, {"hmac-sha512", size, 1}} {
		for name, change := range map[string]struct {
			f    func() error
			want string
		}{
			"shorter": {func() error { return os.Truncate("file", 1<<9) }, "changed while it was read"},
			"empty":   {func() error { return os.Truncate("file", 0) }, "changed while it was read"},
			"longer":  {func() error { return os.Truncate("file", size+1) }, "changed while it was read"},
			"touched": {func() error { return os.Chtimes("file", time.Time{}, time.Unix(1, 0)) }, "changed while it was read"},
			"same time": {func() error {
				return errors.Join(os.Truncate("file", size+1), os.Chtimes("file", time.Time{}, time.Unix(1e9, 0)))
			}, "changed while it was read"},
			"removed":  {func() error { return os.Remove("file") }, "was removed while it was read"},
			"replaced": {func() error { return os.Rename("other", "file") }, "was replaced while it was read"},
			"nothing":  {func() error { return nil }, ""},
		} {
			f := newFolder(t, k.algorithm)
			f.write("other", 0)
			f.write("file", 0)
			for _, path := range []string{"file", "other"} {
				f.must(os.Truncate(path, k.size))
				f.must(os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
			}
			key := f.key()
			r := (&files{key: key, jobs: k.jobs}).reader()
			ctx, calls := t.Context(), 0
			if k.size > bufferSize {
				ctx = erringContext{ctx, func() {
					if calls++; calls == 2 {
						f.must(change.f())
					}
				}}
			} else {
				r.stream = &hookedStream{r.stream, func() {
					calls = 2
					f.must(change.f())
				}, func() {}}
			}
			err := r.read(ctx, "file")
			if calls < 2 || change.want == "" && err != nil || change.want != "" && (err == nil || reason(err).Error() != change.want) {
				t.Errorf("%+v, %s: %v, want %q", k, name, err, change.want)
			}
			r.destroy()
			key.Destroy()
		}
	}
}

// TestFault reads a mapping of a file that has become shorter: an error, also if the file is as
// before when all has been read.
func TestFault(t *testing.T) {
	f := newFolder(t, "umac64")
	key := f.key()
	defer key.Destroy()
	f.write("file", 0)
	before := time.Unix(1e9, 0)
	for _, size := range []int{bufferSize + 1, 2 * parallelSize} {
		for _, left := range []int64{0, 4096, int64(size) - 1<<16} {
			for _, workers := range []int{1, 3} {
				shorten := func() { f.must(os.Truncate("file", left)) }
				restore := func() {
					f.must(os.Truncate("file", int64(size)))
					f.must(os.Chtimes("file", before, before))
				}
				r := (&files{key: key, jobs: workers}).reader()
				shorten()
				in, err := newFinder(nil).open(t.Context(), "file")
				f.must(err)
				if mapped, err := r.readMapped(t.Context(), in, int64(size), workers); !mapped || err != errFault {
					t.Errorf("%d of %d bytes, %d workers: %v, %v", left, size, workers, mapped, err)
				}
				in.Close()
				restore()
				r.stream = &hookedStream{r.stream, shorten, restore}
				if err := r.read(t.Context(), "file"); err != errFault {
					t.Errorf("%d of %d bytes for a moment, %d workers: %v", left, size, workers, err)
				}
				r.destroy()
			}
		}
	}
}

// A hookedStream calls before ahead of what it is given, and after when it has read that or failed.
type hookedStream struct {
	stream
	before, after func()
}

func (s *hookedStream) Write(p []byte) (int, error) {
	s.before()
	defer s.after()
	return s.stream.Write(p)
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
	line, _, _ := strings.Cut(f.out.String(), "  ")
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

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

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
		files, err := f.open(t.Context())
		f.must(err)
		if files.jobs != want {
			t.Errorf("%d: %d cores, want %d", jobs, files.jobs, want)
		}
		files.key.Destroy()
	}
}

// TestSizes has files of sizes at which the way to read changes.
func TestSizes(t *testing.T) {
	defer func(old int64) { windowSize = old }(windowSize)
	windowSize = 24 << 20
	for _, algorithm := range []string{"umac128", "hmac-sha512"} {
		f := newFolder(t, algorithm)
		sizes := []int{0, 1, bufferSize - 1, bufferSize, bufferSize + 1, parallelSize - 1, parallelSize, parallelSize + 1, int(windowSize), int(windowSize) + 1, 2*int(windowSize) - 1}
		if testing.Short() {
			sizes = sizes[:8]
		}
		var args []string
		for _, size := range sizes {
			path := fmt.Sprint(size)
			f.write(path, size)
			args = append(args, path)
		}
		f.Jobs = 3
		f.must(Tag(t.Context(), f.Options, args))
		f.must(os.WriteFile("sums", f.out.Bytes(), 0o600))
		f.Special, f.Partial = true, true
		// As a pipe each is read in another way.
		for i, line := range strings.Split(f.out.String(), "\n")[:len(args)] {
			before, _, _ := strings.Cut(line, "  ")
			in, err := os.Open(args[i])
			f.must(err)
			f.must(os.WriteFile("one", []byte(before+"  -\n"), 0o600))
			f.Stdin = in
			r, err := Verify(t.Context(), f.Options, "one", false)
			if err != nil || r.Right != 1 {
				t.Errorf("%s, %s bytes: %+v, %v", algorithm, args[i], r, err)
			}
			in.Close()
		}
		f.Jobs = 1
		if r, err := Verify(t.Context(), f.Options, "sums", false); err != nil || r.Right != len(sizes) {
			t.Errorf("%s: %+v, %v", algorithm, r, err)
		}
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
	k, err := parseKey(key, "gmac")
	f.must(err)
	var list strings.Builder
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
		fmt.Fprintf(&list, "%s  %s\n", file.line, name)

		part := strings.Split(file.line, ":")
		s := k.stream()
		s.Write(content)
		if got := s.Tag(nil, mactest.Unhex(part[1])); hex.EncodeToString(got) != part[2] {
			t.Errorf("%d bytes: tag %x, want %s", file.size, got, part[2])
		}
	}
	f.must(os.WriteFile("list", []byte(list.String()), 0o600))
	if report, err := Verify(t.Context(), f.Options, "list", true); err != nil || report.Right != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestSecondMap checks that it is an error if the second window of a file cannot be mapped: its offset is
// not a multiple of a page. The first window is in the tag already.
func TestSecondMap(t *testing.T) {
	defer func(size int64) { windowSize = size }(windowSize)
	windowSize = 300_001
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 2*bufferSize), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := fastmac.NewUMACKey(make([]byte, 16), 16)
	if err != nil {
		t.Fatal(err)
	}
	r := (&files{key: &Key{algorithm: byName("umac128"), umac: k}, jobs: 1}).reader()
	if err := r.read(t.Context(), path); err == nil {
		t.Error("no error")
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
