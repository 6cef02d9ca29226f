// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// killAt is the variable that makes the test a program, which kills itself before the step of this number.
const killAt = "STORE_KILL_AT"

// limited is a program too, where systems have limits.
var limited func(path string) error

func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		os.Exit(m.Run())
	}
	err = use(os.Args[1], os.Args[2], func(string) error {
		if at--; at >= 0 {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		self.Kill()
		select {} // until it is dead
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// use is the program. It makes stores, or uses counters of one, or of those of a set, and prints each of
// them before it uses the next one; with "hold" it prints one range only, and keeps the store open until
// its input ends.
func use(what, path string, before func(string) error) error {
	spare = 1 // as in small
	switch what {
	case "create":
		return createSet(path, before, "")
	case "limited":
		return limited(path)
	}
	s, err := OpenSet(path)
	if err != nil {
		return err
	}
	s.before = before
	if what == "add" {
		return s.Create(added...)
	}
	names := pair
	if what == "hold" {
		names = []string{""}
	}
	const step, ranges = 5, 2
	for _, name := range names {
		f, err := s.Open(name)
		if err != nil {
			return err
		}
		var first, end uint64
		for i := range ranges {
			c, err := f.Reserve(id, step)
			if err != nil {
				return err
			}
			if i == 0 {
				first, end = c, c
			}
			if c != end {
				return fmt.Errorf("counters from %d on, want %d", c, end)
			}
			end = c + step
			used := end
			if i == ranges-1 {
				used = c + 1
			}
			for ; c < used; c++ {
				fmt.Printf("%s:%d\n", name, c)
			}
			if what == "hold" {
				io.Copy(io.Discard, os.Stdin)
				return s.Close()
			}
		}
		if err := f.Release(id, f.end, first+(ranges-1)*step+1); err != nil {
			return err
		}
	}
	return s.Close()
}

var pair, added = []string{"b", "c"}, []string{"d", "e", "f"}

// program returns the program, as a process that kills itself before a step.
func program(t *testing.T, at int, what, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, what, path)
	// With -race a process would take a second to end.
	cmd.Env = append(os.Environ(), killAt+"="+strconv.Itoa(at), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// killed runs the program, and returns what it has printed, and whether it killed itself. Another error
// of it is one of the test.
func killed(t *testing.T, at int, what, path string) (out []byte, killed bool) {
	t.Helper()
	var message bytes.Buffer
	cmd := program(t, at, what, path)
	cmd.Stderr = &message
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || message.Len() > 0) {
		t.Fatal(err, &message)
	}
	return out, err != nil
}

// TestKilled kills a process before each step of each of its writes, always with the same two stores, whose
// file is replaced at each third write. The memory of the kernel outlives a process, so this does not test
// the syncs: TestOrder, TestSync and TestPowerCut do.
func TestKilled(t *testing.T) {
	small(t)
	path := filepath.Join(t.TempDir(), "store")
	if err := CreateSet(path, pair...); err != nil {
		t.Fatal(err)
	}
	used, next := map[string]bool{}, map[string]uint64{}
	for at, again := 0, true; again; at++ {
		var out []byte
		out, again = killed(t, at, "use", path)
		for line := range strings.Lines(string(out)) {
			if used[line] {
				t.Errorf("killed at step %d: %q was used before", at, line)
			}
			used[line] = true
			name, number, _ := strings.Cut(line, ":")
			c, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			next[name] = max(next[name], c+1)
		}
		const writes, counters = 2 * 3, 2 * 6
		n := strings.Count(string(out), "\n")
		if again && at >= writes*len(replaceSteps) || !again && (at < writes*len(steps) || n != counters) || n > counters {
			t.Errorf("killed at step %d: %v, after %d counters", at, again, n)
		}
	}
	// The end was an orderly one.
	s, err := OpenSet(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range pair {
		f, err := s.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		mustReserve(t, f, 1, next[name])
	}
}

// TestCreateKilled kills a process before each step of Create. Then there is no store, or a new one.
func TestCreateKilled(t *testing.T) {
	small(t)
	for at, step := range createSteps {
		path := filepath.Join(t.TempDir(), "store")
		if _, again := killed(t, at, "create", path); !again {
			t.Fatalf("not killed before %q", step)
		}
		if step != "sync folder" {
			_, err := Open(path)
			wantError(t, err, path, "is missing")
			clear(missing.stores) // another process
			wantError(t, Create(path), path, ".lock is there")
			// What the documentation of Create says.
			if err := os.Remove(path + ".lock"); err != nil {
				t.Fatal(err)
			}
			if err := Create(path); err != nil {
				t.Error(err)
			}
		}
		mustReserve(t, mustOpen(t, path), 1, 0)
	}
}

// TestAddKilled kills a process before each step of the Create of a set. The others stay as they were, and
// the new ones can be made again.
func TestAddKilled(t *testing.T) {
	small(t)
	for at, again := 0, true; again; at++ {
		path := newStore(t)
		f := mustOpen(t, path)
		mustReserve(t, f, 7, 0)
		f.Close()
		_, again = killed(t, at, "add", path)
		s, err := OpenSet(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Create(added...); err != nil {
			t.Error(err)
		}
		for _, name := range append(added, "") {
			f, err := s.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(0)
			if name == "" {
				want = 7
			}
			mustReserve(t, f, 1, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSecondProcess has a process that has the store, and is killed.
func TestSecondProcess(t *testing.T) {
	small(t)
	path := newStore(t)
	cmd := program(t, 1<<30, "hold", path)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != ":0\n" {
		t.Errorf("it prints %q, %v", line, err)
	}
	if _, err := Open(path); !errors.Is(err, ErrLocked) {
		t.Errorf("two processes: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	// The system has released the lock.
	mustReserve(t, mustOpen(t, path), 1, 5)
}
