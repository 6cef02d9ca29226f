// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package tree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/list"
)

// A folder is a test's folder with files.
type folder struct{ *testing.T }

func newFolder(t *testing.T) *folder {
	t.Chdir(t.TempDir())
	return &folder{t}
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

// open returns how many files are open.
func (f *folder) open() (n int) {
	for fd := range 256 {
		var info syscall.Stat_t
		if syscall.Fstat(fd, &info) == nil {
			n++
		}
	}
	return n
}

// closed says that no more files are open than before.
func (f *folder) closed(before int) {
	f.Helper()
	if now := f.open(); now != before {
		f.Errorf("files stay open: %d, and before %d", now, before)
	}
}

// newStream returns a stream as the command has it.
func newStream(t *testing.T, algorithm string) *list.Stream {
	t.Helper()
	text, err := list.NewKey(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	key, err := list.ParseKey(text, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(key.Destroy)
	return key.Stream(nil)
}

// A content is a stream that keeps what a file has.
type content struct{ bytes.Buffer }

func (c *content) WriteParallel(p []byte, _ int) { c.Write(p) }

// An erringContext calls f each time that a reader asks whether it should stop.
type erringContext struct {
	context.Context
	f func()
}

func (c erringContext) Err() error {
	c.f()
	return c.Context.Err()
}

// TestFolders reads files below a folder of a list, where links have taken the places of folders.
func TestFolders(t *testing.T) {
	f := newFolder(t)
	f.write("real/sub/deep/file", 1)
	f.write("real/file", 1)
	f.must(os.Symlink("real", "d"))
	f.must(os.Symlink("sub", "real/link"))
	f.must(os.Symlink("deep", "real/sub/inner"))
	f.must(os.Symlink("../file", "real/sub/linked"))
	f.must(os.Symlink("nothing", "real/nowhere"))
	f.write("other", 1)
	here, err := os.Getwd()
	f.must(err)
	defer f.closed(f.open())
	for _, folders := range [][]string{nil, {"d"}, {"d/", "e"}, {".", "d"}, {here + "/d", "d", "d/link"}} {
		r := (&Files{Folder: "is a folder", Folders: folders}).NewReader(new(content))
		prefixes := []string{"d/"}
		if len(folders) == 3 {
			prefixes = append(prefixes, here+"/d/")
		}
		for _, prefix := range prefixes {
			// In an order in which folders are left, entered again and passed through.
			for _, tt := range []struct{ path, want string }{
				{"file", ""}, {"sub/deep/file", ""}, {"sub/linked", ""}, {"sub/deep/file", ""}, {"sub//deep/./file", ""}, {"sub/../file", ""}, {"file", ""},
				{"sub/deep", "is a folder"}, {"sub/deep/", "is a folder"}, {"sub/none", "no such file or directory"}, {"none/file", "no such file or directory"},
				{"file/a", "not a directory"},
				{"nowhere/a", prefix + "nowhere is a link, and tag -r follows no links to folders"},
				{"link/deep/file", prefix + "link is a link, and tag -r follows no links to folders"},
				{"sub/inner/file", prefix + "sub/inner is a link, and tag -r follows no links to folders"},
				{"link/linked", prefix + "link is a link, and tag -r follows no links to folders"},
				{"sub/deep/file", ""},
			} {
				want := tt.want
				switch {
				case folders == nil && strings.HasPrefix(tt.path, "nowhere"):
					want = "no such file or directory"
				case folders == nil && strings.HasSuffix(want, " follows no links to folders"), len(folders) == 3 && prefix == "d/" && strings.HasPrefix(tt.path, "link"):
					want = "" // links may be followed, or the folder is an argument
				}
				err := r.Read(t.Context(), prefix+tt.path)
				if want == "" && err != nil || want != "" && (err == nil || Reason(err).Error() != want) {
					t.Errorf("folders %q, %s: %v, want %q", folders, prefix+tt.path, err, want)
				}
			}
			if err := r.Read(t.Context(), "other"); err != nil {
				t.Error(err)
			}
		}
		r.Close()
	}
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
			"empty": {func() error {
				return errors.Join(os.Truncate("file", 0), os.Chtimes("file", time.Time{}, time.Unix(1e9, 0)))
			}, "changed while it was read"},
			"longer":  {func() error { return os.Truncate("file", size+1) }, "changed while it was read"},
			"touched": {func() error { return os.Chtimes("file", time.Time{}, time.Unix(1, 0)) }, "changed while it was read"},
			"same time": {func() error {
				return errors.Join(os.Truncate("file", size+1), os.Chtimes("file", time.Time{}, time.Unix(1e9, 0)))
			}, "changed while it was read"},
			"removed":       {func() error { return os.Remove("file") }, "was removed while it was read"},
			"replaced once": {func() error { os.Rename("other", "file"); return nil }, ""},
			"replaced": {func() error {
				return errors.Join(os.WriteFile("other", nil, 0o600), os.Truncate("other", k.size), os.Rename("other", "file"))
			}, "was replaced while it was read"},
			"nothing": {func() error { return nil }, ""},
		} {
			f := newFolder(t)
			f.write("other", 0)
			f.write("file", 0)
			for _, path := range []string{"file", "other"} {
				f.must(os.Truncate(path, k.size))
				f.must(os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)))
			}
			s := newStream(t, k.algorithm)
			r := (&Files{Cores: k.jobs}).NewReader(s)
			ctx, calls := t.Context(), 0
			if k.size > bufferSize {
				ctx = erringContext{ctx, func() {
					if calls++; calls == 2 || calls > 2 && name == "replaced" {
						f.must(change.f())
					}
				}}
			} else {
				r.stream = &hookedStream{s, func() {
					calls = 2
					f.must(change.f())
				}, func() {}}
			}
			err := r.Read(ctx, "file")
			if calls < 2 || change.want == "" && err != nil || change.want != "" && (err == nil || Reason(err).Error() != change.want) {
				t.Errorf("%+v, %s: %v, want %q", k, name, err, change.want)
			}
			r.Close()
		}
	}
}

// A twiceStream looks twice at what it gets, as one of two keys does, and changes the file in between.
type twiceStream struct {
	*testing.T
	change func()
	seen   int
}

func (s *twiceStream) Write(p []byte) (int, error) {
	before := bytes.Clone(p)
	s.change()
	if !bytes.Equal(p, before) {
		s.Errorf("other content after %d bytes", s.seen)
	}
	s.seen += len(p)
	return len(p), nil
}

func (s *twiceStream) WriteParallel(p []byte, _ int) { s.Write(p) }
func (s *twiceStream) Reset()                        { s.seen = 0 }

// TestTwice has a file that somebody has mapped and writes to while it is read: who reads it twice sees one
// content, and nothing is left out.
func TestTwice(t *testing.T) {
	f := newFolder(t)
	for _, size := range []int{1, bufferSize, bufferSize + 1, parallelSize - 1, parallelSize, 2*parallelSize + 7} {
		f.write("file", 0)
		f.must(os.Truncate("file", int64(size)))
		file, err := os.OpenFile("file", os.O_RDWR, 0)
		f.must(err)
		mapped, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		f.must(err)
		s := &twiceStream{T: t, change: func() {
			for i := 0; i < size; i += 4096 {
				mapped[i]++
			}
		}}
		for _, cores := range []int{1, 2, 3} {
			r := (&Files{Cores: cores, Twice: true}).NewReader(s)
			// A file that is written to may have other times.
			if err := r.Read(t.Context(), "file"); err != nil && Reason(err) != errChanged || s.seen != size {
				t.Errorf("%d bytes on %d cores: %v, read %d", size, cores, err, s.seen)
			}
			r.Close()
			if len(bytes.Trim(r.buf, "\x00"))+len(bytes.Trim(r.copied, "\x00")) > 0 {
				t.Errorf("%d bytes on %d cores: some of them are left", size, cores)
			}
		}
		f.must(errors.Join(syscall.Munmap(mapped), file.Close()))
	}
}

// TestMinimal has a file system with another inode number, or other times of folders, at each look.
func TestMinimal(t *testing.T) {
	defer func() { looked = nil }()
	f := newFolder(t)
	f.write("d/file", 1)
	n := uint64(1 << 40)
	for name, look := range map[string]func(*Info){
		"inodes":  func(i *Info) { n++; i.identity.inode = n },
		"folders": func(i *Info) { n++; i.Mtime += int64(n) * int64(i.Kind/os.ModeDir) },
	} {
		for _, minimal := range []bool{false, true} {
			looked = func(i Info) Info {
				look(&i)
				return i
			}
			r := (&Files{Minimal: minimal}).NewReader(new(content))
			err := r.Read(t.Context(), "d/file")
			r.Close()
			if bad := name == "inodes" && !minimal; bad != (err != nil) || bad && Reason(err) != errUnstable {
				t.Errorf("%s, minimal %v: %v", name, minimal, err)
			}
			w := NewWalker(nil, func(Entry) {})
			w.Minimal = minimal
			w.Walk(t.Context(), "d")
			changed := w.Changed(t.Context())
			if minimal != (len(changed) == 0) || !minimal && changed[0].Err != errUnstable {
				t.Errorf("%s, minimal %v: %+v", name, minimal, changed)
			}
			looked = nil
			f.write("d/new", 1)
			if changed := w.Changed(t.Context()); len(changed) != 1 || changed[0].Err.Error() != "changed while it was verified" {
				t.Errorf("%s, minimal %v, a file more: %+v", name, minimal, changed)
			}
			f.must(os.Remove("d/new"))
		}
	}
}

// TestUnstable looks twice at what changes, and at what a file system makes up.
func TestUnstable(t *testing.T) {
	is := Info{Size: 1, Mtime: 2, Ctime: 3, identity: identity{4, 5}}
	for name, tt := range map[string]struct {
		change func(*Info)
		err    error
		want   bool
	}{
		"nothing":           {func(*Info) {}, nil, false},
		"an inode":          {func(i *Info) { i.identity.inode++ }, nil, true},
		"mtime":             {func(i *Info) { i.Mtime++ }, nil, true},
		"ctime":             {func(i *Info) { i.Ctime++ }, nil, true},
		"a file that grows": {func(i *Info) { i.Size, i.Mtime, i.Ctime = i.Size+1, i.Mtime+1, i.Ctime+1 }, nil, false},
		"a file that goes":  {func(i *Info) { *i = Info{Size: i.Size} }, os.ErrNotExist, false},
	} {
		looks := 0
		got := unstable(func() (Info, error) {
			i := is
			if looks++; looks == 1 {
				return i, nil
			}
			tt.change(&i)
			return i, tt.err
		})
		if got != tt.want || looks != 2 {
			t.Errorf("%s: %v after %d looks", name, got, looks)
		}
	}
}

// TestFault reads a mapping of a file that has become shorter: an error, also if the file is as
// before when all has been read.
func TestFault(t *testing.T) {
	f := newFolder(t)
	s := newStream(t, "umac64")
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
				r := (&Files{Cores: workers}).NewReader(s)
				shorten()
				in, err := NewFinder(nil).open(t.Context(), "file")
				f.must(err)
				if mapped, err := r.readMapped(t.Context(), in, int64(size), workers); !mapped || err != errFault {
					t.Errorf("%d of %d bytes, %d workers: %v, %v", left, size, workers, mapped, err)
				}
				in.Close()
				restore()
				r.stream = &hookedStream{s, shorten, restore}
				if err := r.Read(t.Context(), "file"); err != errFault {
					t.Errorf("%d of %d bytes for a moment, %d workers: %v", left, size, workers, err)
				}
				r.Close()
			}
		}
	}
}

// A hookedStream calls before ahead of what it is given, and after when it has read that or failed.
type hookedStream struct {
	Stream
	before, after func()
}

func (s *hookedStream) Write(p []byte) (int, error) {
	s.before()
	defer s.after()
	return s.Stream.Write(p)
}

func (s *hookedStream) WriteParallel(p []byte, _ int) { s.Write(p) }

// TestSizes has files of sizes at which the way to read changes.
func TestSizes(t *testing.T) {
	defer func(old int64) { windowSize = old }(windowSize)
	windowSize = 24 << 20
	f := newFolder(t)
	sizes := []int{0, 1, bufferSize - 1, bufferSize, bufferSize + 1, parallelSize - 1, parallelSize, parallelSize + 1, int(windowSize), int(windowSize) + 1, 2*int(windowSize) - 1}
	if testing.Short() {
		sizes = sizes[:8]
	}
	for _, algorithm := range []string{"umac128", "hmac-sha512"} {
		s := newStream(t, algorithm)
		for _, size := range sizes {
			f.write("file", size)
			// As a pipe it is read in another way.
			in, err := os.Open("file")
			f.must(err)
			f.must((&Files{Special: true, Stdin: in}).NewReader(s).Read(t.Context(), "-"))
			in.Close()
			var l list.Line
			l.Nonce, l.Tag = s.Sign()
			for _, cores := range []int{1, 3} {
				var read int
				files := &Files{Cores: cores, Count: func(n int) { read += n }}
				if err := files.NewReader(s).Read(t.Context(), "file"); err != nil || !s.Verify(&l) || read != size {
					t.Errorf("%s, %d bytes, %d cores: %v, %d bytes read, or another tag", algorithm, size, cores, err, read)
				}
			}
		}
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
	r := new(Files).NewReader(new(content))
	if err := r.Read(t.Context(), path); err == nil {
		t.Error("no error")
	}
}

// TestFound reads a file that was found, after something else has taken its place.
func TestFound(t *testing.T) {
	f := newFolder(t)
	var got content
	r := (&Files{Folder: "is a folder", Special: true}).NewReader(&got)
	defer r.Close()
	for _, tt := range []struct {
		name    string
		replace func() error
		want    string
	}{
		{"nothing", func() error { return nil }, ""},
		{"file", func() error { return os.Rename("other", "d/file") }, ""},
		{"link", func() error { return errors.Join(os.Remove("d/file"), os.Symlink("../other", "d/file")) }, ""},
		{"fifo", func() error { return errors.Join(os.Remove("d/file"), syscall.Mkfifo("d/file", 0o600)) }, errReplaced.Error()},
		{"link to a device", func() error { return errors.Join(os.Remove("d/file"), os.Symlink("/dev/zero", "d/file")) }, errReplaced.Error()},
		{"folder", func() error { return errors.Join(os.Remove("d/file"), os.Mkdir("d/file", 0o700)) }, "is a folder"},
		{"none", func() error { return os.Remove("d/file") }, "no such file or directory"},
	} {
		f.write("other", 3)
		f.write("d/file", 3)
		_, list := walk(t, "d", nil)
		if len(list) != 1 || !list[0].Found {
			t.Fatalf("found %v", list)
		}
		f.must(tt.replace())
		err := r.ReadEntry(t.Context(), &list[0])
		if tt.want == "" && (err != nil || got.Len() != 3) || tt.want != "" && (err == nil || Reason(err).Error() != tt.want) {
			t.Errorf("%s: %v, %d bytes", tt.name, err, got.Len())
		}
		f.must(os.RemoveAll("d"))
	}
}

// TestOpened exchanges a file after it was looked at and before it is opened: a FIFO does not wait, and
// nothing is read that is not what was looked at.
func TestOpened(t *testing.T) {
	f := newFolder(t)
	f.write("other", 1)
	f.must(os.Chtimes("other", time.Time{}, time.Unix(1, 0)))
	r := new(Files).NewReader(new(content))
	defer r.Close()
	was := f.open()
	for name, replace := range map[string]func() error{
		"file":   func() error { return os.WriteFile("file", nil, 0o600) },
		"fifo":   func() error { return syscall.Mkfifo("file", 0o600) },
		"folder": func() error { return os.Mkdir("file", 0o700) },
		"link":   func() error { return os.Symlink("other", "file") },
	} {
		f.write("file", 1)
		before, err := LookAt("file")
		f.must(err)
		f.must(os.Rename("file", "old")) // so that its inode is not used again
		f.must(replace())
		if _, err := r.openSame(t.Context(), "file", before); err == nil || Reason(err) != errReplaced {
			t.Errorf("%s: %v", name, err)
		}
		r.Minimal = true
		if _, err := r.openSame(t.Context(), "file", before); err == nil || Reason(err) != errReplaced {
			t.Errorf("minimal, %s: %v", name, err)
		}
		r.Minimal = false
		if _, err := openSpecial("old", before); err == nil || Reason(err) != errReplaced {
			t.Errorf("%s: %v", name, err)
		}
		f.must(os.Remove("file"))
	}
	f.closed(was)
	// A FIFO that keeps its inode.
	f.must(syscall.Mkfifo("file", 0o600))
	fifo, err := LookAt("file")
	f.must(err)
	if _, err := r.openSame(t.Context(), "file", fifo); err == nil || Reason(err).Error() != "is not a regular file" {
		t.Error(err)
	}
}

// A wrongFile reports another size than it has, as files of FUSE do, or one that has changed.
type wrongFile struct {
	*regularFile
	size, later int64
	asked       *int
}

func (f wrongFile) info() (Info, error) {
	info, err := f.regularFile.info()
	if info.Size = f.size; *f.asked > 0 {
		info.Size = f.later
	}
	*f.asked++
	return info, err
}

// TestWrongSize reads files that have more or less than they report, up to their end.
func TestWrongSize(t *testing.T) {
	f := newFolder(t)
	text := make([]byte, 3*bufferSize+12345)
	for i := range text {
		text[i] = byte(i >> 8)
	}
	f.must(os.WriteFile("file", text, 0o600))
	var got content
	r := new(Files).NewReader(&got)
	defer r.Close()
	for _, size := range []int64{0, 1, 4096, bufferSize, bufferSize + 4096, 2 * bufferSize, int64(len(text)) - 1, int64(len(text)), 1 << 40} {
		for _, grows := range []bool{false, true} {
			if size == 1<<40 && canMap {
				continue // a mapping would end in a fault
			}
			open, err := NewFinder(nil).open(t.Context(), "file")
			f.must(err)
			later := size
			if grows {
				later++
			}
			file := wrongFile{open, size, later, new(int)}
			r.Info, err = file.info()
			f.must(err)
			r.stream.Reset()
			err = r.readRegular(t.Context(), file)
			more := size < int64(len(text))
			switch {
			case grows && more && err != errChanged:
				t.Errorf("%d bytes, more later: %v", size, err)
			case !(grows && more) && (err != nil || !bytes.Equal(got.Bytes(), text)):
				t.Errorf("%d bytes: %v, or another content", size, err)
			}
			open.Close()
		}
	}
}

// TestShorter reads a file on several cores that is shorter than it was: it ends.
func TestShorter(t *testing.T) {
	f := newFolder(t)
	f.write("file", parallelSize/2+7)
	for _, size := range []int64{parallelSize, 3 * parallelSize} {
		var got content
		r := (&Files{Twice: true}).NewReader(&got)
		open, err := NewFinder(nil).open(t.Context(), "file")
		f.must(err)
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		at, err := r.readCopied(erringContext{ctx, func() {
			if calls++; calls > 9 {
				cancel()
			}
		}}, open, size, 3)
		if err != nil || at != parallelSize/2+7 || int64(got.Len()) != at {
			t.Errorf("%d bytes: read %d, %v", size, at, err)
		}
		open.Close()
		r.Close()
		cancel()
	}
}

// TestGrows reads a file to which somebody else appends all the time.
func TestGrows(t *testing.T) {
	f := newFolder(t)
	f.write("file", 100)
	out, err := os.OpenFile("file", os.O_APPEND|os.O_WRONLY, 0)
	f.must(err)
	defer out.Close()
	r := new(Files).NewReader(&hookedStream{new(content), func() { out.Write(make([]byte, 100)) }, func() {}})
	defer r.Close()
	if err := r.Read(t.Context(), "file"); err == nil || Reason(err) != errChanged {
		t.Error(err)
	}
}
