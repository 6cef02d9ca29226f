// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package patchssh

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Scripts for fakeGo.
const (
	// quickTest passes the test of the patch.
	quickTest = `if [ "$1" = test ]; then echo "--- PASS: TestRegisterMAC"; exit; fi
`
	// lastEdit runs what follows when the module's go.mod is to be edited, up to esac.
	lastEdit = `case "$*" in "mod edit "*.mod|"mod edit -json") ;; "mod edit "*)
`
)

// fakeGo puts a go command into PATH that runs script before the real one.
func fakeGo(t *testing.T, script string) {
	t.Helper()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	content := "#!/bin/sh\n" + script + "\nexec '" + goCommand + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestCopyUndone has steps fail after which there is something to undo.
func TestCopyUndone(t *testing.T) {
	const noRoom = "echo no room >&2; exit 1;; esac"
	for _, tt := range []struct {
		name, script string
		patched      bool // already, except for the replace line in some cases
		mode         mode
		want         string
	}{
		{"edit of the scratch file", `case "$*" in "mod edit "*.mod) ` + noRoom, false, apply, "no room"},
		{"go test", `if [ "$1" = test ]; then echo --- FAIL; exit 1; fi`, false, apply, "go test: exit status 1: --- FAIL"},
		{"no test", `if [ "$1" = test ]; then echo ok; exit; fi`, false, apply, "the test of ssh.RegisterMAC did not run: want Go 1.24 or newer"},
		{"edit", quickTest + lastEdit + noRoom, false, apply, "no room"},
		{"go test over a copy", `if [ "$1" = test ]; then echo --- FAIL; exit 1; fi`, true, apply, "--- FAIL"},
		{"edit over a copy", quickTest + lastEdit + noRoom, true, apply, "no room"},
		{"edit of revert", lastEdit + noRoom, true, revert, "no room"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newModule(t)
			if tt.patched {
				path := os.Getenv("PATH")
				fakeGo(t, quickTest)
				succeed(t, apply(dir))
				t.Setenv("PATH", path)
				// Without its replace line the copy must be made again.
				if tt.name != "edit of revert" {
					goTool(t, dir, "mod", "edit", "-dropreplace="+cryptoPath+"@"+usedRelease(t))
				}
			}
			before := snapshot(t, dir)
			fakeGo(t, tt.script)
			fail(t, tt.mode(dir), tt.want)
			checkUnchanged(t, dir, before)
		})
	}
}

// TestCopyInterrupted ends the run while the go command tests.
func TestCopyInterrupted(t *testing.T) {
	dir := newModule(t)
	before := snapshot(t, dir)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	fakeGo(t, `if [ "$1" = test ]; then exec 3>'`+pipe+`'; /bin/sleep 600; exit; fi`)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		r, err := os.Open(pipe) // which waits for the writer
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, r) // which waits for the end of all writers
		}
		ended <- err
	}()
	if text, err := Run(ctx, apply(dir), t.Output()); err == nil || ctx.Err() == nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	checkUnchanged(t, dir, before)
}

// TestCopyKilled kills the process at various steps. What it left is not in place,
// and the next run and --revert put it right.
func TestCopyKilled(t *testing.T) {
	const kill = "kill -9 $PPID; exit 1;"
	for _, tt := range []struct{ name, script string }{
		{"test", `if [ "$1" = test ]; then ` + kill + ` fi`},
		{"edit", quickTest + lastEdit + kill + "; esac"},
	} {
		for _, upgrade := range []bool{false, true} {
			name := tt.name
			if upgrade {
				name += " of an upgrade"
			}
			t.Run(name, func(t *testing.T) {
				dir := newModule(t)
				path := os.Getenv("PATH")
				unpatched := snapshot(t, dir)
				fakeGo(t, quickTest)
				if upgrade {
					version := usedRelease(t)
					next := version[:strings.LastIndexByte(version, '.')] + ".999"
					addRelease(t, next)
					succeed(t, apply(dir))
					goTool(t, dir, "get", cryptoPath+"@"+next)
				}
				t.Setenv("PATH", path)
				fakeGo(t, tt.script)
				t.Setenv("FASTMAC_TEST_MODULE", dir)
				cmd := exec.Command(os.Args[0])
				if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.Exited() {
					t.Fatalf("%v, %s", err, out)
				}
				t.Setenv("PATH", path)
				fakeGo(t, quickTest)
				killed := snapshot(t, dir)
				stage := filepath.Join(dir, "third_party", "golang.org", "x", ".fastmac-patch-ssh")
				if !exists(stage) {
					t.Error("nothing is left of the run: was it killed?")
				}
				fail(t, check(dir), "not in place")
				checkUnchanged(t, dir, killed)

				if !upgrade {
					succeed(t, revert(dir))
					checkUnchanged(t, dir, unpatched)
				}
				succeed(t, apply(dir), "is a copy")
				succeed(t, check(dir), "in place")
				if exists(stage) {
					t.Error("the folder of the killed run is still there")
				}
			})
		}
	}
}

// TestCopyLeftOver has a run killed at its very end: the patch is in place.
func TestCopyLeftOver(t *testing.T) {
	dir := newModule(t)
	fakeGo(t, quickTest)
	for _, mode := range []mode{apply, revert} {
		succeed(t, apply(dir))
		patched := snapshot(t, dir)
		stage := filepath.Join(dir, "third_party", "golang.org", "x", ".fastmac-patch-ssh")
		write(t, filepath.Join(stage, "old", "file"), "content")
		succeed(t, check(dir))
		succeed(t, mode(dir))
		if exists(stage) {
			t.Errorf("%+v: %s is still there", mode(dir), stage)
		}
		succeed(t, apply(dir))
		checkUnchanged(t, dir, patched)
	}
}

// TestCopyAtOnce has several runs in one module at the same time.
func TestCopyAtOnce(t *testing.T) {
	dir := newModule(t)
	fakeGo(t, quickTest)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	texts := make(chan string)
	for i := range 4 {
		go func() {
			text, err := Run(t.Context(), apply([]string{dir, link}[i%2]), io.Discard)
			texts <- fmt.Sprintln(text, err)
		}()
	}
	made, inPlace := 0, 0
	for range 4 {
		text := <-texts
		made += strings.Count(text, "is a copy")
		inPlace += strings.Count(text, "is in place")
		if !strings.HasSuffix(text, "<nil>\n") {
			t.Error(text)
		}
	}
	if made != 1 || inPlace != 3 {
		t.Errorf("%d runs made the copy and %d found it, want 1 and 3", made, inPlace)
	}
	succeed(t, check(dir))
}

// TestCopyMeanwhile has another program write to go.mod during a run.
func TestCopyMeanwhile(t *testing.T) {
	for _, outcome := range []string{"exit 1", `echo "--- PASS: TestRegisterMAC"; exit`} {
		dir := newModule(t)
		const line = "\n// written meanwhile\n"
		fakeGo(t, `if [ "$1" = test ]; then printf '`+strings.ReplaceAll(line, "\n", `\n`)+`' >>go.mod; `+outcome+`; fi`)
		_, err := Run(t.Context(), apply(dir), t.Output())
		got := read(t, filepath.Join(dir, "go.mod"))
		if replaced := strings.Contains(got, "third_party"); !strings.Contains(got, line) || replaced != (err == nil) {
			t.Errorf("%v, and go.mod is\n%s", err, got)
		}
	}
}
