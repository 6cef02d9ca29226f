// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// sideBySide returns the list d/list, and rounds.
func sideBySide(t *testing.T) (a *archive, rounds int) {
	a = newArchive(t, small, func(o *Options) { o.Output = "d/list" })
	a.Options = Options{KeyFile: "key", Update: "d/list"}
	if os.Getenv("FASTMAC_TEST_LONG") != "" {
		return a, 300
	}
	if runtime.GOOS == "windows" {
		return a, 5 // they take long in Wine
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

// mustTag runs Tag in a round.
func (a *archive) mustTag(round int, args ...string) {
	if _, stderr, err := a.tag(args...); err != nil {
		a.Errorf("%d: %v, %s", round, err, stderr)
	}
}

// TestTwoUpdates runs two updates at a time: both are right, and so is the list.
func TestTwoUpdates(t *testing.T) {
	a, rounds := sideBySide(t)
	for n := range rounds {
		a.write(map[string]string{fmt.Sprintf("d/%d", n%20): fmt.Sprint(n)})
		a.AcceptChanges, a.Quiet = true, true
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { a.mustTag(n) })
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
		group.Go(func() { a.mustTag(n) })
		other := archive{t, Options{KeyFile: "key", Recursive: true, Output: "other", Force: true}}
		group.Go(func() { other.mustTag(n, "d") })
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
		group.Go(func() { a.mustTag(n) })
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
	if maxWait != 10*time.Second {
		t.Errorf("verify waits for %v", maxWait)
	}
	defer func(old time.Duration) { maxWait = old }(maxWait)
	maxWait = time.Millisecond
	a, _ := sideBySide(t)
	lock := newLock("d/list")
	defer lock.Close()
	if locked, err := lock.TryLock(); !locked || err != nil {
		t.Fatal(locked, err)
	}
	const waiting = "fastmac: waiting for another program that reads or updates d/list\n"
	var said bytes.Buffer
	if r, text := a.complete(func(o *Options) { o.Stderr = &said }); text != "" || r.Right != len(small) || said.String() != waiting {
		t.Errorf("verify: %+v, %s, %s", r, text, &said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	said.Reset()
	interrupted := &Options{Stderr: writerFunc(func(p []byte) (int, error) {
		cancel() // it waits
		return said.Write(p)
	})}
	if _, err := interrupted.lockList(ctx, "d/list", true); err != context.Canceled || said.String() != waiting {
		t.Errorf("interrupted: %v, %s", err, &said)
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

// TestListReplaced has a list that is replaced while another run waits for its lock: that run has the lock of the new one.
func TestListReplaced(t *testing.T) {
	newArchive(t, small, nil)
	lock := newLock("list")
	if locked, err := lock.TryLock(); !locked || err != nil {
		t.Fatal(locked, err)
	}
	o := &Options{Stderr: writerFunc(func(p []byte) (int, error) {
		err := errors.Join(os.WriteFile("new", nil, 0o600), os.Rename("new", "list"), lock.Close())
		return len(p), err
	})}
	unlock, err := o.lockList(t.Context(), "list", true)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	third := newLock("list")
	defer third.Close()
	if locked, err := third.TryLock(); locked || err != nil {
		t.Errorf("two have it: %v, %v", locked, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestUnfinished has files with the names of lists that runs write. Only such a file is no content: one that
// is locked, in the folder of the list.
func TestUnfinished(t *testing.T) {
	a, _ := sideBySide(t)
	locked := func(path string) {
		f, err := createUnfinished(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if openStays {
			return
		}
		lock := newUnfinishedLock(path)
		t.Cleanup(func() { lock.Close() })
		if ok, err := lock.TryLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	const name = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	locked("d/" + name)
	if r, text := a.complete(nil); text != "" || r.LeftOut != 1 {
		t.Errorf("%+v, %s", r, text)
	}
	// It is named: another program can have locked it.
	if _, text := a.complete(func(o *Options) { o.Quiet = false }); !strings.HasSuffix(text, "fastmac: left out: d/"+name+": a list that another fastmac writes\n") {
		t.Errorf("%q", text)
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

// TestUnfinishedLooks has other programs look for lists of runs: they keep no list from its path, and what they look
// at is not taken for one.
func TestUnfinishedLooks(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, replace := range []bool{false, true} {
		out, err := createOut("list", replace)
		if err != nil {
			t.Fatal(err)
		}
		removeUnfinished("list")
		if !isUnfinished(out.Name()) {
			t.Error("the list of a run is none")
		}
		if err := out.commit(); err != nil {
			t.Error(err)
		}
		out.discard()
	}
	for _, char := range "01_a-" {
		if name := unfinished + strings.Repeat(string(char), 26); isUnfinishedName(name) {
			t.Errorf("%s is the name of a list of a run", name)
		}
	}
	const name = unfinished + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if err := os.WriteFile(name, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !openStays {
		lock := newUnfinishedLock(name)
		defer lock.Close()
		if locked, err := lock.TryRLock(); !locked || err != nil {
			t.Fatal(locked, err)
		}
	}
	if isUnfinished(name) {
		t.Error("a file that is looked at is the list of a run")
	}
}

// TestOutLocked has another process look for what is left while a list is put at its path.
func TestOutLocked(t *testing.T) {
	t.Chdir(t.TempDir())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				removeUnfinished("other")
			}
		}
	}()
	rounds := 300
	if runtime.GOOS == "windows" {
		rounds = 50
	}
	for range rounds {
		out, err := createOut("list", true)
		if err == nil {
			err = out.commit()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	<-stopped
}
