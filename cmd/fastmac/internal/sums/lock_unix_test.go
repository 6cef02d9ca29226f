// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// sideBySide returns the list d/list, and rounds.
func sideBySide(t *testing.T) (a *archive, rounds int) {
	a = newArchive(t, small, func(o *Options) { o.Output = "d/list" })
	a.Options = Options{KeyFile: "key", Update: "d/list"}
	if os.Getenv("FASTMAC_TEST_LONG") != "" {
		return a, 300
	}
	return a, 30
}

// complete verifies that d/list has all files.
func (a *archive) complete(change func(o *Options)) (*Report, string) {
	var out, errs bytes.Buffer
	o := Options{KeyFile: "key", Complete: []string{"d"}, Quiet: true, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
	if change != nil {
		change(&o)
	}
	r, err := Verify(a.Context(), o, "d/list", true)
	if err == nil {
		err = r.Err()
	}
	text := out.String() + errs.String()
	if err != nil {
		text += err.Error()
	}
	return r, strings.ReplaceAll(text, "fastmac: waiting for another program that reads or updates d/list\n", "")
}

// TestTwoUpdates runs two updates at a time: both are right, and so is the list.
func TestTwoUpdates(t *testing.T) {
	a, rounds := sideBySide(t)
	for n := range rounds {
		a.write(map[string]string{fmt.Sprintf("d/%d", n%20): fmt.Sprint(n)})
		a.AcceptChanges, a.Quiet = true, true
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if _, stderr, err := a.tag(); err != nil {
					t.Errorf("%d: %v, %s", n, err, stderr)
				}
			})
		}
		group.Wait()
		if _, text := a.complete(nil); text != "" {
			t.Fatalf("%d: %s", n, text)
		}
	}
}

// TestUpdateBesideTag tags a folder in which a list is updated: the file that the update writes is no content.
func TestUpdateBesideTag(t *testing.T) {
	a, rounds := sideBySide(t)
	for n := range rounds {
		var group sync.WaitGroup
		group.Go(func() {
			if _, stderr, err := a.tag(); err != nil {
				t.Errorf("%d: %v, %s", n, err, stderr)
			}
		})
		other := archive{t, Options{KeyFile: "key", Recursive: true, Output: "other", Force: true}}
		group.Go(func() {
			if _, stderr, err := other.tag("d"); err != nil {
				t.Errorf("%d: %v, %s", n, err, stderr)
			}
		})
		group.Wait()
		if text, err := os.ReadFile("other"); err != nil || bytes.Contains(text, []byte("/"+unfinished)) || !bytes.Contains(text, []byte("  d/list\n")) {
			t.Fatalf("%d: %v, %s", n, err, text)
		}
	}
}

// TestVerifyBesideUpdate verifies a folder in which the list is updated.
func TestVerifyBesideUpdate(t *testing.T) {
	a, rounds := sideBySide(t)
	for n := range rounds {
		var group sync.WaitGroup
		group.Go(func() {
			if _, stderr, err := a.tag(); err != nil {
				t.Errorf("%d: %v, %s", n, err, stderr)
			}
		})
		for range 2 {
			group.Go(func() {
				if _, text := a.complete(nil); text != "" {
					t.Errorf("%d: %s", n, text)
				}
			})
		}
		group.Wait()
	}
}

// TestListLocked has a list that another program has locked: an update waits, which can be interrupted, and
// verify waits for a while only.
func TestListLocked(t *testing.T) {
	defer func(old time.Duration) { maxWait = old }(maxWait)
	maxWait = time.Millisecond
	a, _ := sideBySide(t)
	lock := flock.New("d/list", flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	if locked, err := lock.TryLock(); !locked || err != nil {
		t.Fatal(locked, err)
	}
	const waiting = "fastmac: waiting for another program that reads or updates d/list\n"
	var said bytes.Buffer
	if r, text := a.complete(func(o *Options) { o.Stderr = &said }); text != "" || r.Right != len(small) || said.String() != waiting {
		t.Errorf("verify: %+v, %s, %s", r, text, &said)
	}
	wait := make(chan string)
	go func() {
		_, stderr, err := a.tag()
		wait <- fmt.Sprint(stderr, err)
	}()
	lock.Close()
	if got := strings.TrimPrefix(<-wait, waiting); got != "fastmac: 5 files: 5 kept, 0 changed, 0 new; 0 gone\n<nil>" {
		t.Error(got)
	}
}

// TestListReplaced has a list that another update replaces while one waits for its lock: then it waits for that of the
// new file.
func TestListReplaced(t *testing.T) {
	a, _ := sideBySide(t)
	held := newLock("d/list")
	if locked, err := held.TryLock(); !locked || err != nil {
		t.Fatal(locked, err)
	}
	waits := 0
	a.Stderr = writerFunc(func(p []byte) (int, error) {
		waits++
		a.write(map[string]string{"d/new": "another list"})
		if err := os.Rename("d/new", "d/list"); err != nil {
			t.Error(err)
		}
		if isLocked(held, "d/list") {
			t.Error("a lock of the file of before is taken for one of the list")
		}
		held.Close()
		return len(p), nil
	})
	if !isLocked(held, "d/list") {
		t.Error("the list is not locked")
	}
	unlock, err := a.lockList(t.Context(), "d/list", true)
	if err != nil || waits != 1 {
		t.Fatal(waits, err)
	}
	defer unlock()
	other := newLock("d/list")
	defer other.Close()
	if locked, err := other.TryLock(); locked || err != nil {
		t.Errorf("%v, %v: the list that is there now is not locked", locked, err)
	}
}

// TestVerifyReplaced has a list that is replaced or removed while its files are read.
func TestVerifyReplaced(t *testing.T) {
	for name, change := range map[string]func() error{
		"nothing":  func() error { return nil },
		"replaced": func() error { return errors.Join(os.WriteFile("new", nil, 0o600), os.Rename("new", "list")) },
		"removed":  func() error { return os.Remove("list") },
	} {
		a := newArchive(t, small, nil)
		a.Stdin = strings.NewReader("x")
		if _, _, err := a.tag("-"); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		o := Options{KeyFile: "key", Special: true, Stdout: new(bytes.Buffer), Stderr: &errs}
		content := strings.NewReader("x")
		o.Stdin = readerFunc(func(p []byte) (int, error) {
			if content.Len() > 0 {
				if err := change(); err != nil {
					t.Error(err)
				}
			}
			return content.Read(p)
		})
		r, err := Verify(t.Context(), o, "list", true)
		want := "fastmac: list was replaced while it was verified: this is the result of the list that was there before\n"
		if name == "nothing" {
			want = ""
		}
		if err != nil || r.Err() != nil || errs.String() != want {
			t.Errorf("%s: %v, %+v, %q", name, err, r, &errs)
		}
	}
}

// TestUnfinished has files with the names of lists that runs write. Only such a file is no content: one that
// is locked, in the folder of the list.
func TestUnfinished(t *testing.T) {
	a, _ := sideBySide(t)
	locked := func(path string) {
		a.write(map[string]string{path: ""})
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
		t.Cleanup(func() { lock.Close() })
		if ok, err := lock.TryLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	const name = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	locked("d/" + name)
	if r, text := a.complete(nil); text != "" {
		t.Errorf("%+v, %s", r, text)
	}
	locked("d/" + name + "A")
	locked("d/e/" + name)
	a.write(map[string]string{"d/" + unfinished + strings.Repeat("2", 26): ""})
	want := ""
	for _, path := range []string{"d/" + unfinished + strings.Repeat("2", 26), "d/" + name + "A", "d/e/" + name} {
		want += path + ": NOT IN THE LIST\n"
	}
	if _, text := a.complete(nil); text != want+"3 files not in the list" {
		t.Errorf("%q, want %q", text, want)
	}
}

// TestListLinks has other names of the list in its folder: a link to it is no content, and another name of its file is.
func TestListLinks(t *testing.T) {
	a, _ := sideBySide(t)
	if err := errors.Join(os.Symlink("list", "d/link"), os.Link("d/list", "d/same"), os.Link("d/list", "d/e/list")); err != nil {
		t.Fatal(err)
	}
	if _, text := a.complete(nil); text != "d/e/list: NOT IN THE LIST\nd/same: NOT IN THE LIST\n2 files not in the list" {
		t.Error(text)
	}
	// So an update has them.
	if stdout, stderr, err := a.tag(); stdout != "d/e/list: NEW\nd/same: NEW\n" || err != nil {
		t.Errorf("%q, %q, %v", stdout, stderr, err)
	}
}

// TestUnfinishedPipe has a FIFO with the name of a list that a killed run has left: nothing waits for it.
func TestUnfinishedPipe(t *testing.T) {
	newArchive(t, small, nil)
	const name = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	removeUnfinished("list")
	if isUnfinished(name) {
		t.Error("a FIFO is the list of a run")
	}
	if _, err := os.Lstat(name); err != nil {
		t.Error(err)
	}
}
