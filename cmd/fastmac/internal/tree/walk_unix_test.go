// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package tree

import (
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

// walk returns a walker that has walked a folder, and what it has found.
func walk(t *testing.T, folder string, skip func(path string, isDir bool) bool) (w *Walker, list []Entry) {
	t.Helper()
	w = NewWalker(skip, func(e Entry) { list = append(list, e) })
	w.Walk(t.Context(), folder)
	return w, list
}

// TestWalk has all that can be in a folder.
func TestWalk(t *testing.T) {
	f := newFolder(t)
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
	defer f.closed(f.open())
	for _, root := range []string{"d", "root", "root/"} {
		var asked []string
		w, list := walk(t, root, func(path string, isDir bool) bool {
			asked = append(asked, path)
			return path == "skipped" && isDir || path == "z/b" && !isDir
		})
		var got []string
		for _, e := range list {
			why, left := e.Err.(LeftOut)
			if e.Found == (e.Err != nil) || e.Err != nil && !left {
				t.Errorf("%+v", e)
			}
			got = append(got, e.Path+" "+string(why))
		}
		prefix := WithSlash(root)
		want := []string{"a ", "link ", "linkz a link to a folder", "loop a link that leads nowhere", "nowhere a link that leads nowhere",
			"nowhere2 a link that leads nowhere", "null a device", "pipe a pipe", "socket a socket"}
		if strings.Join(got, "\n") != prefix+strings.Join(want, "\n"+prefix) || w.Skipped != 2 ||
			fmt.Sprint(asked) != "[a link linkz loop nowhere nowhere2 null pipe skipped socket z z/b]" {
			t.Errorf("%s: %q, %d skipped, asked for %v", root, got, w.Skipped, asked)
		}
		if changed := w.Changed(t.Context()); len(changed) > 0 {
			t.Errorf("%s: changed: %+v", root, changed)
		}
	}
	for path, want := range map[string]string{"d/a": "not a directory", "missing": "no such file or directory", "d/pipe": "not a directory"} {
		if _, list := walk(t, path, nil); len(list) != 1 || list[0].Path != path || Reason(list[0].Err).Error() != want {
			t.Errorf("%s: %+v", path, list)
		}
	}
}

// TestMounts has a folder in which other file systems are: that of devices, as every Linux has them there.
func TestMounts(t *testing.T) {
	var here, there syscall.Stat_t
	if err := errors.Join(syscall.Stat("/dev", &here), syscall.Stat("/dev/pts", &there)); err != nil || here.Dev == there.Dev {
		t.Skip("no other file system in /dev:", err)
	}
	f := &folder{t}
	defer f.closed(f.open())
	for _, with := range []bool{true, false} {
		var left, below bool
		w := NewWalker(nil, func(e Entry) {
			left = left || e.Path == "/dev/pts" && e.Err == LeftMount
			below = below || strings.HasPrefix(e.Path, "/dev/pts/")
		})
		w.Mounts = func(above, folder string) bool { return with && above == "/dev" }
		w.Walk(t.Context(), "/dev")
		if left != with || below == with {
			t.Errorf("option %v: /dev/pts is left out: %v, something below is found: %v", with, left, below)
		}
	}
}

// TestCaches has what may go on in cache folders meanwhile, and what is no cache.
func TestCaches(t *testing.T) {
	f := newFolder(t)
	f.must(os.MkdirAll("d/c", 0o700))
	f.must(os.MkdirAll("d/link", 0o700))
	f.must(os.WriteFile("d/c/"+cacheTag, []byte(cacheSignature), 0o600))
	f.must(os.Symlink("../c/"+cacheTag, "d/link/"+cacheTag))
	f.write("d/c/a", 1)
	f.write("d/link/b", 1)
	defer f.closed(f.open())
	var got []string
	w := NewWalker(nil, func(e Entry) { got = append(got, e.Path) })
	w.Caches = func(_, _ string) bool { return true }
	w.Walk(t.Context(), "d")
	if fmt.Sprint(got) != "[d/c d/c/CACHEDIR.TAG d/link/CACHEDIR.TAG d/link/b]" {
		t.Errorf("%q", got)
	}
	f.write("d/c/new", 1)
	if changed := w.Changed(t.Context()); len(changed) > 0 {
		t.Errorf("changed: %+v", changed)
	}
	f.write("d/link/new", 1)
	if changed := w.Changed(t.Context()); len(changed) != 1 {
		t.Errorf("changed: %+v", changed)
	}
}

// TestDeep walks and verifies a tree with more levels than the system has descriptors for, and with
// paths that are too long for it.
func TestDeep(t *testing.T) {
	f := newFolder(t)
	var old unix.Rlimit
	f.must(unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	f.must(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: old.Max}))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	const levels = 1000
	f.must(os.Mkdir("d", 0o700))
	fd, err := unix.Open("d", unix.O_RDONLY, 0)
	f.must(err)
	for level := range levels {
		f.must(unix.Mkdirat(fd, "abcdefgh", 0o700))
		if level > maxOpen-3 && level < maxOpen+3 {
			f.must(unix.Mkdirat(fd, "y", 0o700)) // it is opened after all below has been walked
		}
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
	w, list := walk(t, "d", nil)
	for _, e := range list {
		if e.Err != nil {
			t.Fatalf("%.100s: %v", e.Path, e.Err)
		}
	}
	if len(list) != 2*levels || list[0].Path != "d/a" || list[1].Path != "d/abcdefgh/a" || list[len(list)-1].Path != "d/z" {
		t.Fatalf("%d files", len(list))
	}
	if changed := w.Changed(t.Context()); len(changed) > 0 {
		t.Errorf("%d folders changed: %.100s", len(changed), changed[0].Path)
	}
	r := (&Files{Folders: []string{"d"}}).NewReader(new(content))
	defer r.Close()
	for _, e := range list {
		if err := r.Read(t.Context(), e.Path); err != nil {
			t.Fatalf("%.100s: %v", e.Path, Reason(err))
		}
	}
}

// TestWalkMoved moves a folder away while the walk is in it, and its parent is not open any more.
func TestWalkMoved(t *testing.T) {
	f := newFolder(t)
	deep := "d" + strings.Repeat("/x", maxOpen+3)
	f.write(deep+"/file", 1)
	f.write("d/z", 1)
	f.must(os.Mkdir("away", 0o700))
	_, list := walk(t, "d", func(path string, _ bool) bool {
		if strings.HasSuffix(path, "/file") {
			f.must(os.Rename(deep, "away/x"))
		}
		return false
	})
	var failed []string
	for _, e := range list {
		if e.Err != nil {
			failed = append(failed, e.Path+": "+Reason(e.Err).Error())
		}
	}
	if len(failed) == 0 || failed[0] != deep+": was moved while it was read" || list[len(list)-1].Path != "d/z" {
		t.Errorf("%q", failed)
	}
}

// TestWalkLink puts a link in the place of a folder after its name was read: it is not followed.
func TestWalkLink(t *testing.T) {
	f := newFolder(t)
	f.write("d/sub/file", 1)
	f.write("other/file", 1)
	w, list := walk(t, "d", func(path string, isDir bool) bool {
		if isDir {
			f.must(errors.Join(os.Rename("d/sub", "sub"), os.Symlink("../other", "d/sub")))
		}
		return false
	})
	if len(list) != 1 || list[0].Path != "d/sub" || list[0].Err == nil {
		t.Errorf("%+v", list)
	}
	if len(w.Changed(t.Context())) == 0 {
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
		"link":  func() error { return errors.Join(os.Rename("d/sub", "sub"), os.Symlink("../sub", "d/sub")) },
		"times": func() error { return os.Chtimes("d/sub", time.Time{}, time.Unix(1e9, 0)) },
		"added, mtime set back": func() error {
			info, err := os.Stat("d/sub")
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile("d/sub/new", nil, 0o600), os.Chtimes("d/sub", time.Time{}, info.ModTime()))
		},
		"deleted": func() error { return os.RemoveAll("d") },
		"content": nil,
		"nothing": nil,
	} {
		for _, settled := range []bool{false, true} {
			f := newFolder(t)
			f.write("d/sub/file", 1)
			f.write("d/sub/file2", 1)
			if settled {
				time.Sleep(50 * time.Millisecond)
			} else { // also if this process stands still before it walks
				f.must(os.Chtimes("d/sub", time.Time{}, time.Now().Add(time.Hour)))
			}
			w, list := walk(t, "d", nil)
			if len(list) != 2 || w.settled.IsZero() != settled {
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
			if changed := w.Changed(t.Context()); (len(changed) > 0) != (change != nil) {
				t.Errorf("%s, settled %v: %+v", name, settled, changed)
			}
		}
	}
}

// TestFresh has a change that gives a folder the times that it had when it was read.
func TestFresh(t *testing.T) {
	f := newFolder(t)
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
		w, _ := walk(t, "d", nil)
		if change != nil {
			f.must(change())
		}
		info, err := LookAt("d")
		f.must(err)
		w.visits[0].info = info
		if changed := w.Changed(t.Context()); len(w.visits) != 1 || (len(changed) > 0) != (change != nil) {
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
		info := Info{Mtime: now.Add(-test.mtime).UnixNano(), Ctime: now.Add(-test.ctime).UnixNano()}
		if got := info.fresh(now); got != test.fresh {
			t.Errorf("%+v: fresh %v", test, got)
		}
	}
}
