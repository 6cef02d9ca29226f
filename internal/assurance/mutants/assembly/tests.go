// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && amd64

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
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
)

// A test is a function of a binary.
type test struct {
	*binary
	name    string
	cpu     time.Duration
	reaches []bool // by number of instruction; nil for a test that starts processes with kernels
	idle    bool   // it executes only what the package does before any test
}

// trap is INT3.
const trap = 0xcc

// cover finds out which instructions each test executes. It also checks that all tests pass.
// What it finds is kept in a directory for the next time, unless that is "".
func (p *program) cover(kept string, progress func(format string, a ...any)) error {
	for _, b := range p.binaries {
		file, err := b.keep(p, kept)
		if err != nil {
			return err
		}
		if b.recall(file) {
			continue
		}
		traps := b.path + ".traps"
		if err := b.plant(p, traps); err != nil {
			return err
		}
		list, err := output(b.path, "-test.list", "^(Test|Fuzz|Example)")
		if err != nil {
			return err
		}
		none := &test{binary: b, name: "none"}
		if err := none.trace(p, traps); err != nil {
			return err
		}
		for _, name := range strings.Fields(list) {
			t := &test{binary: b, name: name}
			state, out, err := run(b.dir, b.path, only(name), 60)
			if err != nil || state.ExitCode() != 0 {
				return fmt.Errorf("%s: %s fails: %v, %v: %s", b.pkg, name, err, state, out)
			}
			t.cpu = state.UserTime() + state.SystemTime()
			if err := t.trace(p, traps); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if t.idle = slices.Equal(t.reaches, none.reaches); t.reaches != nil && slices.Contains(t.reaches, true) {
				b.tests = append(b.tests, t)
			}
		}
		progress("%s: %d tests execute assembly\n", b.pkg, len(b.tests))
		if err := b.store(file); err != nil {
			return err
		}
	}
	return nil
}

// A kept is what is stored about a test.
type kept struct {
	Name    string
	CPU     time.Duration
	Reaches []bool
	Idle    bool
}

// keep returns the name of the file for what cover finds about a binary, or "".
func (b *binary) keep(p *program, dir string) (string, error) {
	image, err := os.ReadFile(b.path)
	if err != nil || dir == "" {
		return "", err
	}
	for _, f := range p.functions { // which number the instructions
		image = fmt.Append(image, f.name, f.first)
	}
	return filepath.Join(dir, fmt.Sprintf("cover-%x", sha256.Sum256(image))), nil
}

func (b *binary) recall(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var tests []kept
	if gob.NewDecoder(f).Decode(&tests) != nil {
		return false
	}
	for _, t := range tests {
		b.tests = append(b.tests, &test{b, t.Name, t.CPU, t.Reaches, t.Idle})
	}
	return true
}

func (b *binary) store(file string) error {
	if file == "" {
		return nil
	}
	var tests []kept
	for _, t := range b.tests {
		tests = append(tests, kept{t.name, t.cpu, t.reaches, t.idle})
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(tests)
}

// only returns a pattern that selects tests.
func only(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }

// plant writes a copy of a binary that traps at each instruction of the assembly.
func (b *binary) plant(p *program, path string) error {
	image, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	for _, i := range p.instructions {
		if at, ok := b.at[i.name]; ok {
			image[at.offset+int64(i.offset)] = trap
		}
	}
	return os.WriteFile(path, image, 0o700)
}

// trace runs a test with the binary that has traps. It removes each of them where it is first
// reached.
func (t *test) trace(p *program, path string) error {
	numbers := make(map[uint64]*instruction)
	for _, i := range p.instructions {
		if at, ok := t.at[i.name]; ok {
			numbers[at.Address+uint64(i.offset)] = i
		}
	}
	runtime.LockOSThread() // which alone may trace the process
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path, "-test.short", "-test.run", only(t.name))
	cmd.Dir = t.dir
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	leader := cmd.Process.Pid
	memory, err := os.OpenFile(filepath.Join("/proc", fmt.Sprint(leader), "mem"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	t.reaches = make([]bool, len(p.instructions))
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
				t.reaches = nil
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
		switch {
		case signal == int(syscall.SIGSTOP): // a new thread
			signal = 0
		case signal == int(syscall.SIGTRAP):
			signal = 0
			if status.TrapCause() != 0 {
				break
			}
			var registers syscall.PtraceRegs
			if err := syscall.PtraceGetRegs(pid, &registers); err != nil {
				return err
			}
			i := numbers[registers.Rip-1]
			if i == nil {
				break
			}
			t.reaches[i.first+i.index] = true
			registers.Rip--
			if _, err := memory.WriteAt(i.bytes[:1], int64(registers.Rip)); err != nil {
				return err
			}
			if err := syscall.PtraceSetRegs(pid, &registers); err != nil {
				return err
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
	cmd := exec.Command(path, "-test.short", "-test.failfast", "-test.run", pattern)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	if err := limitCPU(cmd.Process.Pid, seconds); err != nil {
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
