// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// process returns a process that runs a command line, with standard error in stderr. The test that
// calls it begins with runProcess.
func process(t *testing.T, line string, stderr *bytes.Buffer) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "FASTMAC_TEST_COMMAND="+line)
	cmd.Stderr = stderr
	return cmd
}

// runProcess calls main in the process of process.
func runProcess() {
	if line := os.Getenv("FASTMAC_TEST_COMMAND"); line != "" {
		os.Args = append([]string{"fastmac"}, strings.Fields(line)...)
		main()
	}
}

// TestSwitchedOff switches AVX2 off, without which no kernel for long messages runs.
func TestSwitchedOff(t *testing.T) {
	runProcess()
	if !cpu.X86.HasAVX2 || kernel.Purego {
		t.Skip("needs AVX2 and assembly")
	}
	for _, names := range []string{"best", "umac,gcm,best"} {
		var stderr bytes.Buffer
		cmd := process(t, "hardware --require "+names, &stderr)
		cmd.Env = append(cmd.Env, "GODEBUG=cpu.avx2=off")
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() != exitFailed || !regexp.MustCompile(`^fastmac: not the best implementation: NH runs generic \(lacks .*AVX2.*\), .*SHA-512 runs stdlib \(lacks .*AVX2.*\)`).MatchString(stderr.String()) {
			t.Errorf("--require %s: %v, %s", names, err, &stderr)
		}
	}
}

// TestSignals sends signals to a process that waits for a FIFO.
func TestSignals(t *testing.T) {
	runProcess()
	dir := inFolder(t, map[string]string{"d/a": "1"})
	command(t, exitOK, "keygen -o key")
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		signal  syscall.Signal
		ignored bool // as nohup does it
		want    int
	}{
		{syscall.SIGINT, false, exitInterrupted}, {syscall.SIGTERM, false, exitInterrupted},
		{syscall.SIGHUP, false, exitInterrupted}, {syscall.SIGHUP, true, exitOK},
	} {
		if !tt.ignored && signal.Ignored(tt.signal) {
			t.Logf("not tried: the test was started with %v ignored, as by nohup", tt.signal)
			continue
		}
		var stderr bytes.Buffer
		cmd := process(t, "tag -k key -o d/list fifo", &stderr)
		if tt.ignored {
			cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)
			cmd.Path = "/bin/sh"
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile("fifo", os.O_WRONLY, 0) // when the process opens it too
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(tt.signal); err != nil {
			t.Error(err)
		}
		if tt.want == exitOK {
			w.WriteString("content")
			w.Close()
		}
		cmd.Wait()
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != tt.want || tt.want == exitInterrupted && stderr.String() != "fastmac: interrupted\n" {
			t.Errorf("%+v: %v, %s", tt, cmd.ProcessState, &stderr)
		}
		left, err := filepath.Glob(filepath.Join(dir, "d", "*"))
		hidden, _ := filepath.Glob(filepath.Join(dir, "d", ".*"))
		if err != nil || len(left) != 1+(exitInterrupted-tt.want)/exitInterrupted || len(hidden) > 0 {
			t.Errorf("%+v leaves %q, %q", tt, left, hidden)
		}
	}
}

// TestExitStatus has processes with each status, and output that nobody reads.
func TestExitStatus(t *testing.T) {
	runProcess()
	// The other tests have the names of these.
	if codes := []int{exitOK, exitFailed, exitUsage, exitInterrupted}; !slices.Equal(codes, []int{0, 1, 2, 130}) {
		t.Errorf("the exit statuses are %d", codes)
	}
	inFolder(t, map[string]string{"a": "1"})
	command(t, exitOK, "keygen -o key")
	for line, want := range map[string]int{"version": exitOK, "tag -k key a": exitOK, "tag -k key missing": exitFailed, "tag a": exitUsage} {
		var stderr bytes.Buffer
		cmd := process(t, line, &stderr)
		if cmd.Run(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%s: %v, want %d: %s", line, cmd.ProcessState, want, &stderr)
		}
		if want != exitOK {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd = process(t, line, &stderr)
		cmd.Stdout = w
		cmd.Run()
		w.Close()
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.HasSuffix(stderr.String(), "broken pipe\n") {
			t.Errorf("%s: %v: %s", line, cmd.ProcessState, &stderr)
		}
	}
}

// TestZeroTerminal has standard output on a terminal, which would do what names say.
func TestZeroTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	inFolder(t, map[string]string{"a": "1"})
	command(t, exitOK, "keygen -o key")
	for line, want := range map[string]int{
		"tag -k key -z a": exitUsage, "tag -k key -z -o - a": exitUsage, "tag -k key -z -o list a": exitOK, "tag -k key a": exitOK,
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(line), terminal, &stderr); code != want || want == exitUsage && !strings.HasPrefix(stderr.String(), "fastmac: tag: -z escapes nothing, ") {
			t.Errorf("%s: %d, %q", line, code, &stderr)
		}
	}
}

// TestInstallDocsFiles has the modes of what is installed, and files that cannot be written: a page of
// man, and the completion of a shell.
func TestInstallDocsFiles(t *testing.T) {
	if mactest.Unlogged(t) {
		return
	}
	defer syscall.Umask(syscall.Umask(0o022))
	dir := inFolder(t, nil)
	stdout, _ := command(t, exitOK, "install-docs --prefix "+dir)
	err := filepath.WalkDir("share", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want := fs.FileMode(0o644)
		if entry.IsDir() {
			want = fs.ModeDir | 0o755
		}
		info, err := entry.Info()
		if err == nil && info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	size := func(line string) uint64 {
		info, err := os.Stat(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		return uint64(info.Size())
	}
	largest := uint64(0)
	for line := range strings.Lines(stdout) {
		if strings.Contains(line, "/man1/") {
			largest = max(largest, size(line))
		} else if size(line) <= largest {
			t.Fatalf("%s fits in %d bytes", line, largest)
		}
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []uint64{10, largest} {
		err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: old.Max})
		_, stderr := command(t, exitFailed, "install-docs --prefix "+dir)
		if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_FSIZE, &old)); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(stderr, ": file too large\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%d bytes: %q", limit, stderr)
		}
	}
}
