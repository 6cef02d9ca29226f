// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/fastmac/cmd/fastmac/internal/sums"
)

// commandVariable makes the test binary the command, or one that never ends by itself.
const commandVariable = "FASTMAC_TEST_COMMAND"

func init() {
	switch os.Getenv(commandVariable) {
	case "1":
		main()
	case "stuck":
		ctx, cancel := context.WithCancel(context.Background())
		exitAfter(ctx, os.Stderr)
		cancel()
		select {}
	}
}

// TestStuck interrupts a command that does not react.
func TestStuck(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), commandVariable+"=stuck")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitInterrupted || string(out) != "fastmac: interrupted\n" {
		t.Errorf("%v, %q", err, out)
	}
	if patience >= time.Second {
		t.Errorf("it ends after %v, and the documents say a second", patience)
	}
}

// TestXargs has more names than fit in a command line. xargs starts several runs, of which one may not
// replace the list of another.
func TestXargs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell, find and xargs")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, nil)
	const files = 3000
	for i := range files {
		if err := os.MkdirAll("d", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fmt.Sprintf("d/%0100d\n", i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command(t, exitOK, "keygen -o key")
	sh := func(script string) (string, error) {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), "FASTMAC="+program, commandVariable+"=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	const runs = `find d -type f -print0 | xargs -0 -n 1000 `
	out, err := sh(runs + `"$FASTMAC" tag -k key -o S`)
	if err == nil || strings.Count(out, "fastmac: S: is there already: ") != 2 || !strings.Contains(out, "--files0-from -") {
		t.Errorf("%v, %.400q", err, out)
	}
	// Also if they run at the same time.
	os.Remove("S")
	if out, err := sh(runs + `-P 3 "$FASTMAC" tag -k key -o S`); err == nil || strings.Count(out, "fastmac: S: is there already: ") != 2 {
		t.Errorf("%v, %.400q", err, out)
	}
	// A shell's > is one file for all runs, and verify refuses it.
	if out, err := sh(runs + `"$FASTMAC" tag -k key >S`); err == nil || strings.Count(out, "joined lists do not verify") != 2 {
		t.Errorf("%v, %.400q", err, out)
	}
	if _, stderr := command(t, exitFailed, "verify -k key -q S"); !strings.Contains(stderr, "line 1004 is the end of a list, and lines follow it: ") || !strings.Contains(stderr, "--files0-from") {
		t.Errorf("%.400q", stderr)
	}
	// >> is refused before anything is written.
	for _, old := range []string{"old\n", ""} {
		os.WriteFile("S", []byte(old), 0o600)
		if out, err := sh(runs + `"$FASTMAC" tag -k key >>S`); err == nil || strings.Count(out, "fastmac: standard output appends to a file (>>)") != 3 {
			t.Errorf("%v, %.400q", err, out)
		}
		if text, err := os.ReadFile("S"); err != nil || string(text) != old {
			t.Errorf("%v, %.400q", err, text)
		}
	}
	if out, err := sh(`find d -type f -print0 | "$FASTMAC" tag -k key --files0-from - --force -o S`); err != nil || out != "" {
		t.Errorf("%v, %.400q", err, out)
	}
	if _, stderr := command(t, exitOK, "verify -k key S --complete d --status"); stderr != "" {
		t.Errorf("%.400q", stderr)
	}
	if text, err := os.ReadFile("S"); err != nil || bytes.Count(text, []byte("\n")) != files+4 {
		t.Errorf("%v, %d lines", err, bytes.Count(text, []byte("\n")))
	}
}

// TestFolderOption has -C: only the paths of files begin there.
func TestFolderOption(t *testing.T) {
	inFolder(t, map[string]string{"d/e/a": "1", "d/e/b.o": "2", "names": "a\n", "names0": "a\x00", "patterns": "*.o\n"})
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "tag -k key -C d -r e --exclude-from patterns -o S")
	if stdout, stderr := command(t, exitOK, "verify -k key -C d S --complete e"); stdout != "e/a: OK\n" || !strings.HasPrefix(stderr, "fastmac: 1 file OK") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	for _, names := range []string{"--files-from names", "--files0-from names0"} {
		command(t, exitOK, "tag -k key -C d/e "+names+" -o S2 --force")
		list, err := os.ReadFile("S2")
		if err != nil || !strings.Contains(string(list), "  a\n") {
			t.Errorf("%s: %q, %v", names, list, err)
		}
	}
	command(t, exitOK, "tag -k key -C d --update S")
	if stdout, stderr := command(t, exitFailed, "verify -k key -C missing S"); stdout != "" || !strings.HasPrefix(stderr, "fastmac: -C: ") {
		t.Errorf("%q, %q", stdout, stderr)
	}
	if here, err := os.Getwd(); err != nil || filepath.Base(here) == "d" {
		t.Errorf("in %s, %v", here, err)
	}
	// In the wrong folder one sentence says so.
	command(t, exitOK, "tag -k key -C d -r e -o S3")
	for _, options := range []string{"", " --json", " -q", " --complete d"} {
		stdout, stderr := command(t, exitFailed, "verify -k key S3"+options)
		if stdout != "" || stderr != "fastmac: S3: none of its 2 files exists: their paths begin in the current folder, or in that of -C\n" {
			t.Errorf("%s: %q, %q", options, stdout, stderr)
		}
	}
}

// TestTagJSON has the results of tag as JSON.
func TestTagJSON(t *testing.T) {
	inFolder(t, map[string]string{"d/a": "1", "d/b": "2", "d/c.o": "3"})
	command(t, exitOK, "keygen -o key")
	tag := func(code int, line string) (r sums.Changes) {
		t.Helper()
		stdout, _ := command(t, code, line)
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatalf("%s: %v: %q", line, err, stdout)
		}
		return r
	}
	if r := tag(exitOK, "tag -k key --json -o S -r d --exclude *.o"); len(r.Files) != 0 || !r.Written || r.Tagged != 2 || r.Excluded != 1 {
		t.Errorf("%+v", r)
	}
	os.Remove("d/a")
	os.WriteFile("d/b", []byte("3"), 0o600)
	os.WriteFile("d/e", nil, 0o600)
	results := func(files []sums.File) (text string) {
		for _, f := range files {
			text += f.Path + " " + f.Result + " " + f.Error + "\n"
		}
		return text
	}
	const want = "d/b changed \nd/e new \nd/a gone \n"
	if r := tag(exitFailed, "tag -k key --json --update S"); results(r.Files) != want || r.Written || r.Serial != 2 || r.Changed != 1 || r.New != 1 || r.Gone != 1 {
		t.Errorf("%+v", r)
	}
	if r := tag(exitOK, "tag -k key --json --update S --accept-changes"); results(r.Files) != want || !r.Written {
		t.Errorf("%+v", r)
	}
	if r := tag(exitFailed, "tag -k key --json --keep-going -o T d/b missing"); len(r.Files) != 1 || r.Files[0].Result != "unreadable" || r.Files[0].Error == "" || !r.Written || r.Unreadable != 1 {
		t.Errorf("%+v", r)
	}
	if stdout, stderr := command(t, exitFailed, "tag -k key --json -o S d/b"); stdout != "" || !strings.HasPrefix(stderr, "fastmac: S: is there already: ") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// TestKill kills updates at all times: the list is the old or the new one, and the next update removes what
// is left beside it.
func TestKill(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, map[string]string{"d/a": "1"})
	command(t, exitOK, "keygen -o key")
	command(t, exitOK, "tag -k key -r d -o S")
	killed := 0
	for n := range 60 {
		if err := os.WriteFile(fmt.Sprintf("d/%d", n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n+1)*time.Millisecond/4)
		cmd := exec.CommandContext(ctx, program, "tag", "-k", "key", "--update", "S")
		cmd.Env = append(os.Environ(), commandVariable+"=1")
		if cmd.Run() != nil {
			killed++
		}
		cancel()
		command(t, exitOK, "verify -k key S --status")
	}
	command(t, exitOK, "tag -k key --update S")
	if stdout, _ := command(t, exitOK, "verify -k key S -q --complete . --exclude /key"); stdout != "" {
		t.Errorf("%d killed: %q", killed, stdout)
	}
	if killed == 0 {
		t.Error("none was killed")
	}
}
