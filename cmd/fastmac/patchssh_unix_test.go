// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeGo puts a go command into PATH that is the real one except for what script
// does before.
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

// TestPatchSSHUndone has steps fail after which there is something to undo.
func TestPatchSSHUndone(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		patched      bool // before, with a copy for another version
		args         []string
		want         string
	}{
		{"go mod edit", `case "$3" in -replace=*) echo no room >&2; exit 1;; esac`, false, nil, "no room"},
		{"go build", `if [ "$1" = build ]; then echo broken >&2; exit 1; fi`, false, nil, "go build golang.org/x/crypto/ssh: exit status 1\nbroken"},
		{"go test", `if [ "$1" = test ]; then echo --- FAIL; exit 1; fi`, false, nil, "exit status 1\n--- FAIL"},
		{"no test", `if [ "$1" = build ]; then exit; fi; if [ "$1" = test ]; then echo ok; exit; fi`, false, nil, "the test of ssh.RegisterMAC did not run: it needs Go 1.24 or newer"},
		{"go build over a copy", `if [ "$1" = build ]; then echo broken >&2; exit 1; fi`, true, nil, "broken"},
		{"go mod edit of revert", `case "$3" in -dropreplace=*) echo no room >&2; exit 1;; esac`, true, revert, "no room"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := patchModule(t)
			if tt.patched {
				path := os.Getenv("PATH")
				fakeGo(t, `if [ "$1" = build ]; then exit; fi; if [ "$1" = test ]; then echo "--- PASS: TestRegisterMAC"; exit; fi`)
				patchSSHIn(t, dir, exitOK, nil)
				t.Setenv("PATH", path)
				// Without its replace line the copy has to be made anew.
				if len(tt.args) == 0 {
					version := strings.TrimSpace(goTool(t, dir, "list", "-m", "-f", "{{.Version}}", cryptoPath))
					goTool(t, dir, "mod", "edit", "-dropreplace="+cryptoPath+"@"+version)
				}
			}
			before := snapshot(t, dir)
			fakeGo(t, tt.script)
			patchSSHIn(t, dir, exitFailed, tt.args, tt.want)
			checkUnchanged(t, dir, before)
		})
	}
}

// TestPatchSSHInterrupted ends the run while the go command builds.
func TestPatchSSHInterrupted(t *testing.T) {
	dir := patchModule(t)
	before := snapshot(t, dir)
	started := filepath.Join(t.TempDir(), "started")
	fakeGo(t, `if [ "$1" = build ]; then : >'`+started+`'; /bin/sleep 600; exit; fi`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for {
			if _, err := os.Stat(started); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"patch-ssh", "-C", dir}, &stdout, &stderr); code != exitInterrupted {
		t.Errorf("exit status %d", code)
	}
	if stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "fastmac: interrupted: ") {
		t.Errorf("%q, %q", &stdout, &stderr)
	}
	checkUnchanged(t, dir, before)
	checkNoChild(t)
}

// TestPatchSSHLinks puts the copy behind a link to a folder, which is not the
// command's to remove.
func TestPatchSSHLinks(t *testing.T) {
	for _, args := range [][]string{{"-o", "link/crypto"}, nil} {
		dir := patchModule(t)
		fakeGo(t, `if [ "$1" = build ]; then exit; fi; if [ "$1" = test ]; then echo "--- PASS: TestRegisterMAC"; exit; fi`)
		link, shared := filepath.Join(dir, "third_party"), t.TempDir()
		if args != nil {
			link = filepath.Join(dir, "link")
		}
		write(t, filepath.Join(shared, "file"), "content")
		if err := os.Symlink(shared, link); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{args, revert} {
			patchSSHIn(t, dir, exitOK, args)
			if got := read(t, filepath.Join(link, "file")); got != "content" {
				t.Errorf("%q: the file behind the link has %q", args, got)
			}
		}
	}
}

// TestPatchSSHMeanwhile has somebody write to go.mod while a run goes on that fails.
func TestPatchSSHMeanwhile(t *testing.T) {
	dir := patchModule(t)
	before := read(t, filepath.Join(dir, "go.mod"))
	const line = "\n// written meanwhile\n"
	fakeGo(t, `if [ "$1" = build ]; then printf '`+strings.ReplaceAll(line, "\n", `\n`)+`' >>go.mod; echo broken >&2; exit 1; fi`)
	patchSSHIn(t, dir, exitFailed, nil, "broken")
	if got := read(t, filepath.Join(dir, "go.mod")); !strings.Contains(got, line) || strings.Contains(got, "third_party") {
		t.Errorf("go.mod was\n%s\nand is\n%s", before, got)
	}
}

// TestPatchSSHNoSum has a go.sum that does not know x/crypto, which looks like
// vendoring to whoever asks the go command.
func TestPatchSSHNoSum(t *testing.T) {
	dir := patchModule(t)
	t.Setenv("GOFLAGS", "")
	if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	for _, args := range [][]string{nil, check, revert} {
		patchSSHIn(t, dir, exitFailed, args, "run go mod tidy")
	}
	checkUnchanged(t, dir, before)
}

// TestPatchSSHItself runs the command as the README does, but without -C.
func TestPatchSSHItself(t *testing.T) {
	before := read(t, "go.mod")
	patchSSHIn(t, ".", exitFailed, nil, "-C")
	if after := read(t, "go.mod"); after != before {
		t.Errorf("go.mod is\n%s", after)
	}
}
