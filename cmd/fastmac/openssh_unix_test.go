// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeSSH puts a shell script as the only ssh into PATH.
func fakeSSH(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// asOpenSSH makes a script pass as OpenSSH until it is run in earnest.
func asOpenSSH(script string) string {
	return `[ "$1" = -V ] && { echo "OpenSSH_9.9p9 Fake-1, OpenSSL 3" >&2; exit 0; }` + "\n" + script
}

func TestDemoBrokenSSH(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		probed             bool // it is found broken before the first row
	}{
		{"fails", "echo '\033[31moh\a' >&2; exit 1", `exit status 1, output "\x1b[31moh\a"`, true},
		{"nonsense", "echo rutabaga", `is no OpenSSH: -V printed "rutabaga"`, true},
		{"silent", "exit 0", `is no OpenSSH: -V printed ""`, true},
		{"endless nonsense", "while echo rutabaga; do :; done", "-V did not end within 50ms", true},
		{"hangs", "/bin/sleep 600; exit 0", "-V did not end within 50ms", true},
		{"another ssh", "echo Dropbear v2024.85 >&2", `is no OpenSSH: -V printed "Dropbear v2024.85"`, true},
		{"fails later", asOpenSSH("echo 'Bad SSH2 MAC spec' >&2; exit 255"), `ssh: exit status 255, output "Bad SSH2 MAC spec"`, false},
		{"nonsense later", asOpenSSH("echo rutabaga rutabaga rutabaga"), "not the server's greeting", false},
		{"ends at once", asOpenSSH("exit 0"), "no greeting from the server", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fakeSSH(t, tt.script)
			d := newTestDemo(t)
			if strings.Contains(tt.want, "50ms") { // no other script has to hurry
				d.probeLimit = 50 * time.Millisecond
			}
			r := d.report(t, exitFailed)
			goRows, sshRows := byPeer(r.Rows)
			checkPassed(t, goRows, "Go x/crypto v", "SSH-2.0-Go")
			if len(sshRows) != len(macNames) {
				t.Errorf("%d rows for ssh", len(sshRows))
			}
			for _, row := range sshRows {
				if row.Result != resultFailed || !strings.Contains(row.Error, tt.want) {
					t.Errorf("%s: %s %q, want %q in it", row.MAC, row.Result, row.Error, tt.want)
				}
			}
			before, _, _ := strings.Cut(d.err.String(), "[ 1/12]")
			if tt.probed && !strings.Contains(before, "fastmac: the ssh in PATH does not work: ") {
				t.Errorf("no line about it before the rows: %q", before)
			}
			checkNoChild(t)
		})
	}
}

// TestOpenSSHHangs has ssh hang after the probe, with a child of its own.
func TestOpenSSHHangs(t *testing.T) {
	fakeSSH(t, asOpenSSH("/bin/sleep 600; exit 0"))
	t.Setenv("TMPDIR", t.TempDir())
	ids, err := newIdentities()
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, p, err := findOpenSSH(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	client.server = l.Addr().(*net.TCPAddr)
	if err := client.prepare(ids); err != nil {
		t.Fatal(err)
	}
	defer client.cleanUp()
	r := runRow(t.Context(), &server{listener: l, ids: ids}, p, "hmac-sha2-512", testSize, 100*time.Millisecond, func(int) {})
	if r.Result != resultFailed || r.Error != "no progress for 100ms, after 0 bytes" {
		t.Errorf("%s %q", r.Result, r.Error)
	}
	checkNoChild(t)
}

func TestDemoNoTempFolder(t *testing.T) {
	fakeSSH(t, asOpenSSH("exit 1"))
	d := newTestDemo(t)
	t.Setenv("TMPDIR", filepath.Join(d.temp, "missing"))
	r := d.report(t, exitFailed)
	goRows, sshRows := byPeer(r.Rows)
	checkPassed(t, goRows, "Go x/crypto v", "SSH-2.0-Go")
	const want = "no temporary folder for the keys of ssh: "
	for _, row := range sshRows {
		if row.passed() || !strings.Contains(row.Error, want) {
			t.Errorf("%s: %s %q", row.MAC, row.Result, row.Error)
		}
	}
	if len(sshRows) != len(macNames) || !strings.Contains(d.err.String(), "fastmac: "+want) {
		t.Errorf("%d rows, %q", len(sshRows), &d.err)
	}
}

// A cancelling channel ends the run in the middle of a transfer.
type cancelling struct {
	io.ReadWriter
	cancel context.CancelFunc
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.ReadWriter.Read(p)
	c.cancel()
	return n, err
}

func TestDemoInterrupted(t *testing.T) {
	needSSH(t)
	for row, name := range []string{"Go's client", "OpenSSH"} {
		t.Run(name, func(t *testing.T) {
			d := newTestDemo(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			channels := 0 // one at a time
			inUse := false
			d.tamper = func(rw io.ReadWriter) io.ReadWriter {
				channels++
				if channels <= row {
					return rw
				}
				folders, _ := filepath.Glob(filepath.Join(d.temp, "*", "identity"))
				inUse = len(folders) == 1
				return cancelling{rw, cancel}
			}
			if code := d.main(ctx, []string{"--size", "8MiB"}); code != exitInterrupted {
				t.Errorf("exit status %d", code)
			}
			if d.out.Len() > 0 || !strings.HasSuffix(d.err.String(), "fastmac: interrupted\n") {
				t.Errorf("%q, %q", &d.out, &d.err)
			}
			if !inUse {
				t.Error("there was no temporary folder to remove")
			}
			d.checkEmpty(t)
			checkNoChild(t)
		})
	}
	t.Run("probe", func(t *testing.T) {
		fakeSSH(t, "/bin/sleep 600; exit 0")
		d := newTestDemo(t)
		ctx, cancel := context.WithCancel(t.Context())
		d.register = func() error { cancel(); return nil }
		if code := d.main(ctx, nil); code != exitInterrupted {
			t.Errorf("exit status %d", code)
		}
		d.checkEmpty(t)
		checkNoChild(t)
	})
}

// checkNoChild checks that this process has no child, running or unwaited.
func checkNoChild(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("child process left behind: %d, %v", pid, err)
	}
}
