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

// use is the program. It makes a store, or uses counters and prints each of them before it uses the next
// one; with "hold" it prints one range only, and keeps the store open until its input ends.
func use(what, path string, before func(string) error) error {
	switch what {
	case "create":
		return create(path, before)
	case "limited":
		return limited(path)
	}
	f, err := Open(path)
	if err != nil {
		return err
	}
	f.before = before
	const step, ranges = 5, 3
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
			fmt.Println(c)
		}
		if what == "hold" {
			io.Copy(io.Discard, os.Stdin)
			return f.Close()
		}
	}
	if err := f.Release(id, f.end, first+(ranges-1)*step+1); err != nil {
		return err
	}
	return f.Close()
}

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

// killed is whether the process killed itself. Another error of it is one of the test.
func killed(t *testing.T, cmd *exec.Cmd, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	message, isBuffer := cmd.Stderr.(*bytes.Buffer)
	if !errors.As(err, &exit) || isBuffer && message.Len() > 0 {
		t.Fatal(err, cmd.Stderr)
	}
	return true
}

// TestKilled kills a process before each step of each of its writes, always with the same store. The
// memory of the kernel outlives a process, so this does not test the syncs: TestOrder and TestSync do.
func TestKilled(t *testing.T) {
	path := newStore(t)
	used := map[uint64]bool{}
	var last uint64
	for at := 0; ; at++ {
		var message bytes.Buffer
		cmd := program(t, at, "use", path)
		cmd.Stderr = &message
		out, err := cmd.Output()
		n := 0
		for line := range bytes.Lines(out) {
			c, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if used[c] {
				t.Errorf("killed at step %d: %d was used before", at, c)
			}
			used[c] = true
			last = max(last, c)
			n++
		}
		again := killed(t, cmd, err)
		if want := min(at/len(steps)*5, 11); n != want {
			t.Errorf("killed at step %d: %d counters were used, want %d", at, n, want)
		}
		if !again {
			if at != 4*len(steps) {
				t.Errorf("killed at %d steps, want %d", at, 4*len(steps))
			}
			break
		}
	}
	// The end was an orderly one.
	mustReserve(t, mustOpen(t, path), 1, last+1)
}

// TestCreateKilled kills a process before each step of Create. Then there is no store, or a new one.
func TestCreateKilled(t *testing.T) {
	for at, step := range steps {
		path := filepath.Join(t.TempDir(), "store")
		var message bytes.Buffer
		cmd := program(t, at, "create", path)
		cmd.Stderr = &message
		if !killed(t, cmd, cmd.Run()) {
			t.Fatalf("not killed before %q", step)
		}
		if !renamed(step) {
			_, err := Open(path)
			wantError(t, err, path, "is missing")
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

// TestSecondProcess has a process that has the store, and is killed.
func TestSecondProcess(t *testing.T) {
	path := newStore(t)
	cmd := program(t, 1<<30, "hold", path)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "0\n" {
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
