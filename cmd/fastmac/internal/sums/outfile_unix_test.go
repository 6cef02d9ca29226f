// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestOutInterrupted interrupts Tag with an output file, after it has opened a file: what was
// there before stays, and nothing else is left.
func TestOutInterrupted(t *testing.T) {
	f := newFolder(t, "umac128")
	f.write("a", 1)
	f.must(os.WriteFile("list", []byte("old"), 0o600))
	f.must(syscall.Mkfifo("fifo", 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan *os.File, 1)
	go func() {
		w, _ := os.OpenFile("fifo", os.O_WRONLY, 0) // waits for Tag
		cancel()
		opened <- w
	}()
	f.Output, f.Force, f.Jobs = "list", true, 1
	err := Tag(ctx, f.Options, []string{"a", "fifo"})
	(<-opened).Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile("list")
	entries, dirErr := os.ReadDir(".")
	if err != nil || dirErr != nil || string(text) != "old" || len(entries) != 4 { // a, fifo, key, list
		t.Errorf("%q, %v, %v", text, err, entries)
	}
}

// TestOutFolder has a folder appear where the list is to go: nothing is left of the list.
func TestOutFolder(t *testing.T) {
	f := newFolder(t, "umac128")
	f.Output = "list"
	f.Stdin = readerFunc(func([]byte) (int, error) {
		f.must(os.Mkdir("list", 0o700))
		return 0, io.EOF
	})
	err := Tag(t.Context(), f.Options, []string{"-"})
	entries, dirErr := os.ReadDir(".")
	if err == nil || !strings.HasPrefix(err.Error(), "list: ") || dirErr != nil || len(entries) != 2 { // key, list
		t.Errorf("%v, %v, %v", err, dirErr, entries)
	}
}

// TestOutNotWritten has a list that may not be whole in its file: it does not replace the old one.
func TestOutNotWritten(t *testing.T) {
	f := newFolder(t, "umac128")
	f.must(os.WriteFile("list", []byte("old"), 0o600))
	o, err := createOut("list", true)
	f.must(err)
	f.must(o.Close()) // so Sync fails
	if err := o.commit(); err == nil || !strings.HasPrefix(err.Error(), "list: ") {
		t.Error(err)
	}
	o.discard()
	if text, err := os.ReadFile("list"); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOutNotSynced has a list of which the system does not say that it is on the disk.
func TestOutNotSynced(t *testing.T) {
	f := newFolder(t, "umac128")
	o, err := createOut("list", false)
	f.must(err)
	r, w, err := os.Pipe() // a pipe has no disk
	f.must(err)
	defer r.Close()
	o.File.Close()
	fd, err := syscall.Dup(int(w.Fd()))
	f.must(err)
	w.Close()
	o.File = os.NewFile(uintptr(fd), o.Name())
	if err := o.commit(); err == nil || !strings.HasPrefix(err.Error(), "list: ") {
		t.Error(err)
	}
	o.discard()
}

// TestCompleteLink verifies a list by a link to it: the list is in no list under its other name either.
func TestCompleteLink(t *testing.T) {
	f := newFolder(t, "umac128")
	f.write("d/a", 1)
	f.Output = "d/list"
	f.must(Tag(t.Context(), f.Options, []string{"d/a"}))
	f.must(os.Symlink("d/list", "link"))
	f.Complete = []string{"d"}
	if r, err := Verify(t.Context(), f.Options, "link", true); err != nil || r.Err() != nil {
		t.Errorf("%+v, %v, %s", r, err, &f.out)
	}
}

// TestOutMode has the modes of new keys and lists, and replaces a file that has more permissions than
// the umask lets a new one have.
func TestOutMode(t *testing.T) {
	f := newFolder(t, "umac128")
	for _, umask := range []int{0, 0o022, 0o027, 0o077} {
		old := syscall.Umask(umask)
		name := fmt.Sprint(umask)
		f.Output = "list" + name
		keyErr := WriteKey("key"+name, "umac128", nil)
		listErr := Tag(t.Context(), f.Options, []string{"key"})
		syscall.Umask(old)
		f.must(errors.Join(keyErr, listErr))
		for path, want := range map[string]os.FileMode{"key" + name: 0o600, f.Output: 0o666 &^ os.FileMode(umask)} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("umask %03o: %s has mode %v, %v, want %v", umask, path, info.Mode(), err, want)
			}
		}
	}
	f.must(os.WriteFile("list", nil, 0o600))
	f.must(os.Chmod("list", 0o666))
	defer syscall.Umask(syscall.Umask(0o077))
	f.Output = "list"
	f.must(Tag(t.Context(), f.Options, []string{"key"}))
	if info, err := os.Stat("list"); err != nil || info.Mode() != 0o666 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestOutStream has -o with names of standard output where that is a regular file: another
// process, which has it, stays the writer of that file.
func TestOutStream(t *testing.T) {
	if os.Getenv("FASTMAC_OUT") != "" {
		o := Options{KeyFile: "key", Output: os.Getenv("FASTMAC_OUT"), Stdin: strings.NewReader(""), Stdout: os.Stdout, Stderr: os.Stderr}
		if err := Tag(t.Context(), o, []string{"key"}); err == nil || !strings.HasSuffix(err.Error(), "without -o the list goes to standard output") {
			t.Errorf("%s: %v", o.Output, err)
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := newFolder(t, "umac128")
	for _, path := range []string{"/dev/stdout", "/dev/fd/1", "/dev/../dev/stdout", "/proc/self/fd/1"} {
		out, err := os.Create("stdout")
		f.must(err)
		defer out.Close()
		before, err := out.Stat()
		f.must(err)
		cmd := exec.Command(program, "-test.run=^TestOutStream$")
		cmd.Env = append(os.Environ(), "FASTMAC_OUT="+path)
		cmd.Stdout = out
		failed := cmd.Run()
		after, err := os.Stat("stdout")
		if text, _ := os.ReadFile("stdout"); failed != nil || err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: %v, %v, %s", path, failed, err, text)
		}
	}
}
