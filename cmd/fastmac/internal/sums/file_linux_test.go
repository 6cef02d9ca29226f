// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sums

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/cmd/fastmac/internal/list"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/unix"
)

// newTerminal returns both ends of a new terminal of this width.
func newTerminal(t *testing.T, columns uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { user.Close() })
	fd := int(user.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return user, program
}

// TestProgress has standard error on a terminal.
func TestProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	for _, columns := range []uint16{100, minWidth - 1} {
		f := newFolder(t, "umac64")
		f.write("a", 5<<20)
		f.write("b", 64<<20+1)
		user, program := newTerminal(t, columns)
		f.Stderr = program
		f.must(Tag(t.Context(), f.Options, []string{"a", "b"}))
		if columns < minWidth {
			// Also none with Status, however wide it is.
			f.must(os.WriteFile("sums", f.out.Bytes(), 0o600))
			f.must(unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
			f.Status = true
			r, err := Verify(t.Context(), f.Options, "sums", true)
			f.must(err)
			f.must(r.Err())
		}
		program.Close()
		stacks := make([]byte, 1<<20)
		if stacks = stacks[:runtime.Stack(stacks, true)]; bytes.Contains(stacks, []byte("terminal.(")) {
			t.Errorf("the bar has a goroutine of its own, which may draw it again:\n%s", stacks)
		}
		var shown []byte
		buf := make([]byte, 4096)
		for {
			n, err := user.Read(buf) // EIO at the end
			shown = append(shown, buf[:n]...)
			if err != nil {
				break
			}
		}
		if columns < minWidth {
			if len(shown) > 0 {
				t.Errorf("a narrow terminal shows %q", shown)
			}
			continue
		}
		if !bytes.Contains(shown, []byte("%")) {
			t.Errorf("no bar in %q", shown)
		}
		for _, sequence := range strings.Split(string(shown), "\x1b[")[1:] {
			if end := strings.IndexFunc(sequence, func(r rune) bool { return r >= '@' && r <= '~' }); end < 0 || sequence[end] == 'm' {
				t.Errorf("a color: %q", sequence)
			}
		}
		if last := bytes.TrimRight(shown, "\r"); !bytes.HasSuffix(last, []byte("\x1b[2K")) {
			t.Errorf("the bar is not removed: %q", shown)
		}
	}
}

// TestFullDisk has an output that cannot be written.
func TestFullDisk(t *testing.T) {
	f := newFolder(t, "umac64")
	f.write("a", 1)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	f.Stdout = full
	if err := Tag(t.Context(), f.Options, []string{"a"}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	// A closed pipe.
	r, w, err := os.Pipe()
	f.must(err)
	r.Close()
	defer w.Close()
	f.Stdout = w
	if err := Tag(t.Context(), f.Options, []string{"a"}); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Error(err)
	}
}

// limitFiles makes a write beyond this size fail, until the function that it returns is called.
func limitFiles(t *testing.T, size uint64) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFileLimit has a key and a list that do not fit in a file: nothing of them is left, and what
// was there before stays.
func TestFileLimit(t *testing.T) {
	if mactest.Unlogged(t) {
		return
	}
	f := newFolder(t, "umac64")
	key, err := os.ReadFile("key")
	f.must(err)
	f.must(os.WriteFile("list", []byte("old"), 0o600))
	f.Output, f.Force = "list", true
	for _, limit := range []int{0, 1, 10, len(key) - 1} {
		restore := limitFiles(t, uint64(limit))
		keyErr := WriteKey("new", "umac64", nil)
		tagErr := Tag(t.Context(), f.Options, []string{"key"})
		restore()
		if keyErr == nil || keyErr.Error() != "new: file too large" || tagErr == nil || tagErr.Error() != "list: file too large" {
			t.Errorf("%d bytes: %v, %v", limit, keyErr, tagErr)
		}
		text, err := os.ReadFile("list")
		entries, dirErr := os.ReadDir(".")
		if err != nil || dirErr != nil || string(text) != "old" || len(entries) != 2 { // key, list
			t.Errorf("%d bytes: %q, %v, %v", limit, text, err, entries)
		}
	}
	defer limitFiles(t, uint64(len(key)))()
	f.must(WriteKey("new", "umac64", nil))
}

// TestProc has files that report another size than they have.
func TestProc(t *testing.T) {
	f := newFolder(t, "umac64")
	args := []string{"/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"}
	for _, path := range args {
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
	}
	f.must(Tag(t.Context(), f.Options, args))
	f.Partial = true
	for i, line := range strings.Split(f.out.String(), "\n")[1:][:len(args)] {
		content, err := os.ReadFile(args[i])
		f.must(err)
		f.must(os.WriteFile("copy", content, 0o600))
		before, _, _ := strings.Cut(line, "  ")
		f.must(os.WriteFile("sums", []byte(before+"  copy\n"), 0o600))
		if r, err := Verify(t.Context(), f.Options, "sums", false); err != nil || r.Right != 1 {
			t.Errorf("%s: %+v, %v", args[i], r, err)
		}
	}
}

// TestSparse has a file of 5 GiB, more than 32 bits.
func TestSparse(t *testing.T) {
	if os.Getenv("FASTMAC_TEST_LONG") == "" {
		t.Skip("needs FASTMAC_TEST_LONG")
	}
	const size = 5<<30 + 1
	f := newFolder(t, "umac128")
	f.write("sparse", 0)
	f.must(os.Truncate("sparse", size))
	f.must(Tag(t.Context(), f.Options, []string{"sparse"}))
	key := f.key()
	defer key.Destroy()
	l, err := list.Read(&f.out, key, false)
	f.must(err)
	s := key.Stream(nil)
	zeros := make([]byte, 1<<20)
	for n := int64(size); n > 0; {
		p := zeros[:min(n, int64(len(zeros)))]
		s.Write(p)
		n -= int64(len(p))
	}
	if line := l.Lines.At(0); !s.Verify(&line) {
		t.Error("the tag is wrong")
	}
}

// TestOneStep watches the folder of a list that is replaced: there is no moment at which nothing has its name.
func TestOneStep(t *testing.T) {
	a := newArchive(t, map[string]string{"d/a": ""}, nil)
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, ".", unix.IN_CREATE|unix.IN_MOVE|unix.IN_DELETE); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.tag(); err != nil {
		t.Fatal(err)
	}
	var events [4096]byte
	n, err := unix.Read(fd, events[:])
	if err != nil {
		t.Fatal(err)
	}
	var masks []uint32 // of the events with this name
	for b := events[:n]; len(b) > 0; {
		mask, end := binary.NativeEndian.Uint32(b[4:]), unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(b[12:])
		if string(bytes.TrimRight(b[unix.SizeofInotifyEvent:end], "\x00")) == "list" {
			masks = append(masks, mask)
		}
		b = b[end:]
	}
	if !slices.Equal(masks, []uint32{unix.IN_MOVED_TO}) {
		t.Errorf("events %#x of the list, want one file that is moved there", masks)
	}
}
