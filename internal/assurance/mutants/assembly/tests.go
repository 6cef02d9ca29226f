// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/x86"
	"golang.org/x/sys/unix"
)

// A test is a function of a binary. Its exported fields are kept in a file.
type test struct {
	*binary
	Name    string
	CPU     time.Duration
	Reaches []bool // by number of instruction; nil for a test that starts processes with kernels
	Idle    bool   // it executes only what the package does before any test
}

// trap is INT3.
const trap = 0xcc

// cover finds out which instructions each test executes. It also checks that all tests pass.
// What it finds is kept in a directory for the next time, unless that is "".
func (p *suite) cover(kept, pattern string, progress func(format string, a ...any)) error {
	for _, b := range p.binaries {
		file := os.DevNull
		if kept != "" {
			image, err := os.ReadFile(b.path)
			if err != nil {
				return err
			}
			image = append(image, pattern...)
			for _, i := range p.instructions { // which it numbers
				image = fmt.Append(image, i.function.Name)
			}
			file = filepath.Join(kept, fmt.Sprintf("cover-%x", sha256.Sum256(image)))
		}
		if data, err := os.ReadFile(file); err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&b.tests) == nil {
			for _, t := range b.tests {
				t.binary = b
			}
			continue
		}
		if err := p.trace(b, pattern); err != nil {
			return fmt.Errorf("%s: %w", b.pkg, err)
		}
		progress("%s: %d tests execute assembly\n", b.pkg, len(b.tests))
		var data bytes.Buffer
		if err := gob.NewEncoder(&data).Encode(b.tests); err != nil {
			return err
		}
		if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// trace finds the tests of a binary that execute instructions.
func (p *suite) trace(b *binary, pattern string) error {
	image, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	trapped := make(map[uint64]*instruction) // by address
	for _, i := range p.instructions {
		if c, ok := b.at[i.function.Name]; ok {
			image[c.Offset+i.offset()] = trap
			trapped[c.Address+uint64(i.offset())] = i
		}
	}
	traps := b.path + ".traps"
	if err := os.WriteFile(traps, image, 0o700); err != nil {
		return err
	}
	list, err := program.Output(x86.Architecture, b.path, "-test.list", pattern)
	if err != nil {
		return err
	}
	none := &test{binary: b, Name: "none"}
	if err := none.trace(traps, trapped, len(p.instructions)); err != nil {
		return err
	}
	for _, name := range strings.Fields(list) {
		t := &test{binary: b, Name: name}
		state, out, err := run(b.dir, b.path, only(name), 60)
		if err != nil || state.ExitCode() != 0 {
			return fmt.Errorf("%s fails: %v, %v: %s", name, err, state, out)
		}
		t.CPU = state.UserTime() + state.SystemTime()
		if err := t.trace(traps, trapped, len(p.instructions)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if t.Idle = slices.Equal(t.Reaches, none.Reaches); slices.Contains(t.Reaches, true) {
			b.tests = append(b.tests, t)
		}
	}
	return nil
}

// only returns a pattern that selects tests.
func only(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }

// trace runs a test with the binary that has traps, in a program of so many instructions. It removes
// each trap where it is first reached.
func (t *test) trace(path string, trapped map[uint64]*instruction, instructions int) error {
	runtime.LockOSThread() // which alone may trace the process
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path, "-test.short", "-test.run", only(t.Name))
	cmd.Dir, cmd.Env, cmd.SysProcAttr = t.dir, environment(), &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	leader := cmd.Process.Pid
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", leader), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	t.Reaches = make([]bool, instructions)
	options := 0
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case pid == leader && (status.Exited() || status.Signaled()):
			if !status.Exited() || status.ExitStatus() != 0 {
				t.Reaches = nil
			}
			return nil
		case !status.Stopped():
			continue
		}
		if options == 0 {
			options = syscall.PTRACE_O_TRACECLONE
			if err := syscall.PtraceSetOptions(pid, options); err != nil {
				return err
			}
		}
		signal := int(status.StopSignal())
		if signal == int(syscall.SIGSTOP) || signal == int(syscall.SIGTRAP) { // of a new thread, or of a trap
			signal = 0
		}
		if status.TrapCause() == 0 {
			var registers syscall.PtraceRegs
			if err := syscall.PtraceGetRegs(pid, &registers); err != nil {
				return err
			}
			if i := trapped[registers.Rip-1]; i != nil {
				t.Reaches[i.number] = true
				registers.Rip--
				_, err := memory.WriteAt(i.Bytes[:1], int64(registers.Rip))
				if err := errors.Join(err, syscall.PtraceSetRegs(pid, &registers)); err != nil {
					return err
				}
			}
		}
		if err := syscall.PtraceCont(pid, signal); err != nil && err != syscall.ESRCH {
			return err
		}
	}
}

// environment is that of tests.
func environment() []string {
	return append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=none", "FASTMAC_TEST_LONG=")
}

// run runs tests of a binary in a directory. They get at most so many seconds of the CPU, and
// what they leave running is killed.
func run(dir, path, pattern string, seconds uint64) (*os.ProcessState, []byte, error) {
	var out bytes.Buffer
	command := append(strings.Fields(path), "-test.short", "-test.failfast", "-test.run", pattern)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	limit := &unix.Rlimit{Cur: seconds, Max: seconds}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_CPU, limit, nil); err != nil && err != unix.ESRCH {
		return nil, nil, err
	}
	// A mutant that waits for ever uses no CPU.
	timer := time.AfterFunc(time.Duration(20*seconds)*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	cmd.Wait()
	timer.Stop()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	return cmd.ProcessState, out.Bytes(), nil
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
