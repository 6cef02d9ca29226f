// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestWalk has all that can be in a folder.
func TestWalk(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("d/a", 1)
	f.write("d/z/b", 1)
	f.write("d/skipped/b", 1)
	f.must(os.Symlink("a", "d/link"))
	f.must(os.Symlink("z", "d/linkz"))
	f.must(os.Symlink("nothing", "d/nowhere"))
	f.must(os.Symlink("a/b", "d/nowhere2"))
	f.must(os.Symlink("loop", "d/loop"))
	f.must(os.Symlink("/dev/null", "d/null"))
	f.must(syscall.Mkfifo("d/pipe", 0o600))
	socket, err := net.Listen("unix", "d/socket")
	f.must(err)
	defer socket.Close()
	f.must(os.Symlink("d", "root"))
	for _, root := range []string{"d", "root", "root/"} {
		var asked []string
		w := newWalker(func(path string, isDir bool) bool {
			asked = append(asked, path)
			return path == "skipped" && isDir || path == "z/b" && !isDir
		})
		var got []string
		for _, e := range w.walk(t.Context(), nil, root) {
			if e.found == (e.err != nil) || e.err != nil && e.left() == "" {
				t.Errorf("%+v", e)
			}
			got = append(got, e.path+" "+e.left())
		}
		prefix := withSlash(root)
		want := []string{"a ", "link ", "linkz a link to a folder", "loop a link that leads nowhere", "nowhere a link that leads nowhere",
			"nowhere2 a link that leads nowhere", "null a device", "pipe a pipe", "socket a socket"}
		if strings.Join(got, "\n") != prefix+strings.Join(want, "\n"+prefix) || w.skipped != 2 ||
			fmt.Sprint(asked) != "[a link linkz loop nowhere nowhere2 null pipe skipped socket z z/b]" {
			t.Errorf("%s: %q, %d skipped, asked for %v", root, got, w.skipped, asked)
		}
		if changed := w.changed(t.Context()); len(changed) > 0 {
			t.Errorf("%s: changed: %+v", root, changed)
		}
	}
	for path, want := range map[string]string{"key": "not a directory", "missing": "no such file or directory", "d/pipe": "not a directory"} {
		if list := newWalker(nil).walk(t.Context(), nil, path); len(list) != 1 || list[0].path != path || reason(list[0].err).Error() != want {
			t.Errorf("%s: %+v", path, list)
		}
	}
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
		stdout, stderr := "d/a: OK\n", "fastmac: left out: d/b: a link to a folder\nfastmac: left out: d/c: a pipe\nfastmac: left out: d/d: a link that leads nowhere\n"
		if quiet {
			stdout, stderr = "", ""
		}
		if r.Err() != nil || r.LeftOut != 3 || f.out.String() != stdout || f.err.String() != stderr {
			t.Errorf("%+v, %q, %q", r, &f.out, &f.err)
		}
	}
}

// TestChangedWhileVerified adds a file after the walk: the folder is reported.
func TestChangedWhileVerified(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("d/sub/a", 1)
	f.must(Tag(t.Context(), f.Options, []string{"d/sub/a"}))
	f.must(os.WriteFile("list", f.out.Bytes(), 0o600))
	f.Complete = []string{"d"}
	var out strings.Builder
	f.Stdout = writerFunc(func(p []byte) (int, error) {
		if out.Len() == 0 {
			f.write("d/sub/new", 1)
		}
		return out.Write(p)
	})
	r, err := Verify(t.Context(), f.Options, "list", true)
	f.must(err)
	if err := r.Err(); err == nil || r.Unreadable != 1 || out.String() != "d/sub/a: OK\nd/sub: FAILED open or read\n" || f.err.String() != "fastmac: d/sub: changed while it was verified\n" {
		t.Errorf("%+v, %v, %q, %q", r, err, &out, &f.err)
	}
}

// TestDeep walks and verifies a tree with more levels than the system has descriptors for, and with
// paths that are too long for it.
func TestDeep(t *testing.T) {
	f := newFolder(t, "umac64")
	var old unix.Rlimit
	f.must(unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	f.must(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: old.Max}))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	const levels = 1000
	f.must(os.Mkdir("d", 0o700))
	fd, err := unix.Open("d", unix.O_RDONLY, 0)
	f.must(err)
	for range levels {
		f.must(unix.Mkdirat(fd, "abcdefgh", 0o700))
		for _, name := range []string{"a", "z"} {
			file, err := unix.Openat(fd, name, unix.O_CREAT|unix.O_WRONLY, 0o600)
			f.must(err)
			unix.Close(file)
		}
		next, err := unix.Openat(fd, "abcdefgh", unix.O_RDONLY, 0)
		f.must(err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	defer os.RemoveAll("d")
	w := newWalker(nil)
	list := w.walk(t.Context(), nil, "d")
	for _, e := range list {
		if e.err != nil {
			t.Fatalf("%.100s: %v", e.path, e.err)
		}
	}
	if len(list) != 2*levels || list[0].path != "d/a" || list[1].path != "d/abcdefgh/a" || list[len(list)-1].path != "d/z" {
		t.Fatalf("%d files", len(list))
	}
	if changed := w.changed(t.Context()); len(changed) > 0 {
		t.Errorf("%d folders changed: %.100s", len(changed), changed[0].path)
	}
	key := f.key()
	defer key.Destroy()
	r := (&files{key: key, jobs: 1, folders: []string{"d"}}).reader()
	defer r.destroy()
	for _, e := range list {
		if err := r.read(t.Context(), e.path); err != nil {
			t.Fatalf("%.100s: %v", e.path, reason(err))
		}
	}
}

// TestWalkMoved moves a folder away while the walk is in it, and its parent is not open any more.
func TestWalkMoved(t *testing.T) {
	f := newFolder(t, "umac64")
	deep := "d" + strings.Repeat("/x", maxOpen+3)
	f.write(deep+"/file", 1)
	f.write("d/z", 1)
	f.must(os.Mkdir("away", 0o700))
	w := newWalker(func(path string, _ bool) bool {
		if strings.HasSuffix(path, "/file") {
			f.must(os.Rename(deep, "away/x"))
		}
		return false
	})
	var failed []string
	list := w.walk(t.Context(), nil, "d")
	for _, e := range list {
		if e.err != nil {
			failed = append(failed, e.path+": "+reason(e.err).Error())
		}
	}
	if len(failed) == 0 || failed[0] != deep+": was moved while it was read" || list[len(list)-1].path != "d/z" {
		t.Errorf("%q", failed)
	}
}

// TestWalkLink puts a link in the place of a folder after its name was read: it is not followed.
func TestWalkLink(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("d/sub/file", 1)
	f.write("other/file", 1)
	w := newWalker(func(path string, isDir bool) bool {
		if isDir {
			f.must(errors.Join(os.Rename("d/sub", "sub"), os.Symlink("../other", "d/sub")))
		}
		return false
	})
	if list := w.walk(t.Context(), nil, "d"); len(list) != 1 || list[0].path != "d/sub" || list[0].err == nil {
		t.Errorf("%+v", list)
	}
	if len(w.changed(t.Context())) == 0 {
		t.Error("the folder is as it was")
	}
}

// TestChanged changes folders between a walk and its second look at them, at once and when their times
// have settled.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func() error{
		"added":    func() error { return os.WriteFile("d/sub/new", nil, 0o600) },
		"removed":  func() error { return os.Remove("d/sub/file") },
		"renamed":  func() error { return os.Rename("d/sub/file", "d/sub/other") },
		"replaced": func() error { return os.Rename("d/sub/file2", "d/sub/file") },
		"and back": func() error {
			return errors.Join(os.Rename("d/sub/file", "file"), os.Rename("file", "d/sub/file"))
		},
		"folder": func() error {
			return errors.Join(os.Rename("d/sub", "sub"), os.Mkdir("d/sub", 0o700))
		},
		"link":    func() error { return errors.Join(os.Rename("d/sub", "sub"), os.Symlink("../sub", "d/sub")) },
		"times":   func() error { return os.Chtimes("d/sub", time.Time{}, time.Unix(1e9, 0)) },
		"deleted": func() error { return os.RemoveAll("d") },
		"content": nil,
		"nothing": nil,
	} {
		for _, settled := range []bool{false, true} {
			f := newFolder(t, "umac64")
			f.write("d/sub/file", 1)
			f.write("d/sub/file2", 1)
			if settled {
				time.Sleep(50 * time.Millisecond)
			} else { // also if this process stands still before it walks
				f.must(os.Chtimes("d/sub", time.Time{}, time.Now().Add(time.Hour)))
			}
			w := newWalker(nil)
			if list := w.walk(t.Context(), nil, "d"); len(list) != 2 || w.settled.IsZero() != settled {
				t.Fatalf("%+v, settled %v", list, w.settled)
			}
			if !settled {
				// Without this a change can have the time of what was there before, and be undone.
				time.Sleep(time.Until(w.settled))
			}
			if change != nil {
				f.must(change())
			}
			if name == "content" {
				f.write("d/sub/file", 100)
			}
			if changed := w.changed(t.Context()); (len(changed) > 0) != (change != nil) {
				t.Errorf("%s, settled %v: %+v", name, settled, changed)
			}
		}
	}
}

// TestFresh has a change that gives a folder the times that it had when it was read.
func TestFresh(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("d/file", 1)
	for name, change := range map[string]func() error{
		"added":   func() error { return os.WriteFile("d/new", nil, 0o600) },
		"renamed": func() error { return os.Rename("d/new", "d/other") },
		"a link":  func() error { return errors.Join(os.Remove("d/file"), os.Symlink("x", "d/file")) },
		"nothing": nil,
	} {
		f.must(os.RemoveAll("d"))
		f.write("d/file", 1)
		if name == "renamed" {
			f.write("d/new", 1)
		}
		// Fresh, also if this process stands still before it walks.
		f.must(os.Chtimes("d", time.Time{}, time.Now().Add(time.Hour)))
		w := newWalker(nil)
		w.walk(t.Context(), nil, "d")
		if change != nil {
			f.must(change())
		}
		info, err := lookAt("d")
		f.must(err)
		w.walked[0].info = info
		if changed := w.changed(t.Context()); len(w.walked) != 1 || (len(changed) > 0) != (change != nil) {
			t.Errorf("%s: %+v", name, changed)
		}
	}
	now := time.Unix(100, 0)
	for _, test := range []struct {
		mtime, ctime time.Duration // before now
		fresh        bool
	}{
		{19 * time.Millisecond, 30 * time.Millisecond, true},
		{30 * time.Millisecond, 19 * time.Millisecond, true},
		{21 * time.Millisecond, 21 * time.Millisecond, false},
		{3 * time.Second, 2 * time.Second, true}, // a file system without fractions
		{2 * time.Second, 3 * time.Second, true},
		{3 * time.Second, 3 * time.Second, false},
	} {
		info := fileInfo{mtime: now.Add(-test.mtime).UnixNano(), ctime: now.Add(-test.ctime).UnixNano()}
		if got := info.fresh(now); got != test.fresh {
			t.Errorf("%+v: fresh %v", test, got)
		}
	}
}

// TestFolders reads files below a folder of a list, where links have taken the places of folders.
func TestFolders(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("real/sub/deep/file", 1)
	f.write("real/file", 1)
	f.must(os.Symlink("real", "d"))
	f.must(os.Symlink("sub", "real/link"))
	f.must(os.Symlink("../file", "real/sub/linked"))
	f.must(os.Symlink("nothing", "real/nowhere"))
	here, err := os.Getwd()
	f.must(err)
	key := f.key()
	defer key.Destroy()
	for _, folders := range [][]string{nil, {"d"}, {"d/", "e"}, {".", "d"}, {here + "/d", "d", "d/link"}} {
		r := (&files{key: key, jobs: 1, folder: "is a folder", folders: folders}).reader()
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
				err := r.read(t.Context(), prefix+tt.path)
				if want == "" && err != nil || want != "" && (err == nil || reason(err).Error() != want) {
					t.Errorf("folders %q, %s: %v, want %q", folders, prefix+tt.path, err, want)
				}
			}
			if err := r.read(t.Context(), "key"); err != nil {
				t.Error(err)
			}
		}
		r.destroy()
	}
}

func TestAbove(t *testing.T) {
	folders := withSlashes([]string{"d", "d/e", "f//", ".", "/g", "d.x"})
	for path, want := range map[string]string{
		"d/a": "d/", "d/e/a": "d/e/", "d/ee/a": "d/", "d/e": "d/", "dd/a": "", "f//a": "f//", "f/a": "", "./a/b": "./", "a": "", "": "", "/": "", "/g/h/i": "/g/", "/a": "", "d": "", "d.x/a": "d.x/",
	} {
		if got := above(folders, path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if got := above(withSlashes([]string{"/"}), "/a/b"); got != "/" {
		t.Errorf("%q", got)
	}
}

// TestOpened exchanges a file after it was looked at and before it is opened: a FIFO does not wait, and
// nothing is read that is not what was looked at.
func TestOpened(t *testing.T) {
	f := newFolder(t, "umac64")
	key := f.key()
	defer key.Destroy()
	r := (&files{key: key, jobs: 1}).reader()
	defer r.destroy()
	for name, replace := range map[string]func() error{
		"file":   func() error { return os.WriteFile("file", nil, 0o600) },
		"fifo":   func() error { return syscall.Mkfifo("file", 0o600) },
		"folder": func() error { return os.Mkdir("file", 0o700) },
		"link":   func() error { return os.Symlink("key", "file") },
	} {
		f.write("file", 1)
		before, err := lookAt("file")
		f.must(err)
		f.must(os.Rename("file", "old")) // so that its inode is not used again
		f.must(replace())
		if _, err := r.openSame(t.Context(), "file", before); err == nil || reason(err) != errReplaced {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := openSpecial("old", before); err == nil || reason(err) != errReplaced {
			t.Errorf("%s: %v", name, err)
		}
		f.must(os.Remove("file"))
	}
	// A FIFO that keeps its inode.
	f.must(syscall.Mkfifo("file", 0o600))
	fifo, err := lookAt("file")
	f.must(err)
	if _, err := r.openSame(t.Context(), "file", fifo); err == nil || reason(err).Error() != "is not a regular file" {
		t.Error(err)
	}
}

// A wrongFile reports another size than it has, as files of FUSE do, or one that has changed.
type wrongFile struct {
	*regularFile
	size, later int64
	asked       *int
}

func (f wrongFile) info() (fileInfo, error) {
	info, err := f.regularFile.info()
	if info.size = f.size; *f.asked > 0 {
		info.size = f.later
	}
	*f.asked++
	return info, err
}

// TestWrongSize reads files that have more or less than they report, up to their end.
func TestWrongSize(t *testing.T) {
	f := newFolder(t, "umac64")
	key := f.key()
	defer key.Destroy()
	content := make([]byte, 3*bufferSize+12345)
	for i := range content {
		content[i] = byte(i >> 8)
	}
	f.must(os.WriteFile("file", content, 0o600))
	nonce := make([]byte, key.nonce)
	s := key.stream()
	s.Write(content)
	want := s.Tag(nil, nonce)
	r := (&files{key: key, jobs: 1}).reader()
	defer r.destroy()
	for _, size := range []int64{0, 1, 4096, bufferSize, bufferSize + 4096, 2 * bufferSize, int64(len(content)) - 1, int64(len(content)), 1 << 40} {
		for _, grows := range []bool{false, true} {
			if size == 1<<40 && canMap {
				continue // a mapping would end in a fault
			}
			open, err := newFinder(nil).open(t.Context(), "file")
			f.must(err)
			later := size
			if grows {
				later++
			}
			file := wrongFile{open, size, later, new(int)}
			r.info, err = file.info()
			f.must(err)
			r.stream.Reset()
			err = r.readRegular(t.Context(), file)
			more := size < int64(len(content))
			switch {
			case grows && more && err != errChanged:
				t.Errorf("%d bytes, more later: %v", size, err)
			case !(grows && more) && (err != nil || !bytes.Equal(r.stream.Tag(nil, nonce), want)):
				t.Errorf("%d bytes: %v, or another tag", size, err)
			}
			open.Close()
		}
	}
}

// TestGrows reads a file to which somebody else appends all the time.
func TestGrows(t *testing.T) {
	f := newFolder(t, "umac64")
	key := f.key()
	defer key.Destroy()
	f.write("file", 100)
	out, err := os.OpenFile("file", os.O_APPEND|os.O_WRONLY, 0)
	f.must(err)
	defer out.Close()
	r := (&files{key: key, jobs: 1}).reader()
	defer r.destroy()
	r.stream = &hookedStream{r.stream, func() { out.Write(make([]byte, 100)) }, func() {}}
	if err := r.read(t.Context(), "file"); err == nil || reason(err) != errChanged {
		t.Error(err)
	}
}
