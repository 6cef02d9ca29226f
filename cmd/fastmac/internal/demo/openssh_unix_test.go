// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package demo

import (
	"net"
	"os"
	"path/filepath"
	"strings"
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

// asOpenSSH makes a script pass the probe as OpenSSH.
func asOpenSSH(script string) string {
	return `[ "$1" = -V ] && { echo "OpenSSH_9.9p9 Fake-1, OpenSSL 3" >&2; exit 0; }` + "\n" + script
}

func TestDemoBrokenSSH(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string
		probed             bool // the probe finds that it does not work
	}{
		{"fails", "echo '\033[31moh\a' >&2; exit 1", `exit status 1, output "\x1b[31moh\a"`, true},
		{"nonsense", "echo rutabaga", `is not OpenSSH: -V printed "rutabaga"`, true},
		{"silent", "exit 0", `is not OpenSSH: -V printed ""`, true},
		{"endless nonsense", "while echo rutabaga; do :; done", "-V did not end within 50ms", true},
		{"hangs", "/bin/sleep 600; exit 0", "-V did not end within 50ms", true},
		{"another ssh", "echo Dropbear v2024.85 >&2", `is not OpenSSH: -V printed "Dropbear v2024.85"`, true},
		{"fails later", asOpenSSH("echo 'Bad SSH2 MAC spec' >&2; exit 255"), `ssh: exit status 255, output "Bad SSH2 MAC spec"`, false},
		{"nonsense later", asOpenSSH("echo rutabaga rutabaga rutabaga"), `no greeting from the server: "rutabaga rutabaga ru", want`, false},
		{"ends at once", asOpenSSH("exit 0"), "no greeting from the server", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fakeSSH(t, tt.script)
			d := newTestDemo(t)
			if strings.Contains(tt.want, "50ms") { // no other script has to hurry
				d.probeLimit = 50 * time.Millisecond
			}
			r := d.report(t, false)
			goRows, sshRows := byClient(r.Rows)
			checkPassed(t, goRows, rowNames, "Go x/crypto ", "SSH-2.0-Go")
			const prefix = "the ssh in PATH does not work: "
			if tt.probed {
				if len(sshRows) > 0 || !strings.HasPrefix(r.OpenSSH.Error, prefix) || !strings.Contains(r.OpenSSH.Error, tt.want) {
					t.Errorf("%d rows for ssh, error %q", len(sshRows), r.OpenSSH.Error)
				}
				if strings.Count(d.err.String()+strings.Join(strings.Fields(r.String()), " "), prefix) != 1 {
					t.Errorf("standard error %q, report %q", &d.err, r)
				}
			} else if len(sshRows) != len(rowNames)-1+2 || strings.Count(r.String(), "\nfailed:\n") != 1 {
				t.Errorf("%d rows for ssh, or more than one explanation: %v", len(sshRows), r)
			}
			for _, row := range sshRows {
				if row.Result != resultFailed || !strings.Contains(row.Error, tt.want) {
					t.Errorf("%v: %s %q, want %q in it", row.suite, row.Result, row.Error, tt.want)
				}
			}
			checkNoChild(t)
		})
	}
}

// TestOpenSSHHangs has ssh hang after the probe, with a child process.
func TestOpenSSHHangs(t *testing.T) {
	fakeSSH(t, asOpenSSH("/bin/sleep 600; exit 0"))
	t.Setenv("TMPDIR", t.TempDir())
	s := newServer(t)
	ssh, c, err := newOpenSSH(t.Context(), time.Minute, s.listener.Addr().(*net.TCPAddr), s.ids)
	if err != nil {
		t.Fatal(err)
	}
	defer ssh.cleanUp()
	r := runRow(t.Context(), s, c[0], newJob(suite{cipher: "aes128-ctr", mac: "hmac-sha2-512"}, testSize), 100*time.Millisecond, func(int) {})
	if r.Result != resultFailed || r.Error != "no progress for 100ms, after 0 bytes" {
		t.Errorf("%s %q", r.Result, r.Error)
	}
	checkNoChild(t)
}

func TestDemoNoTempFolder(t *testing.T) {
	fakeSSH(t, asOpenSSH("exit 1"))
	d := newTestDemo(t)
	t.Setenv("TMPDIR", filepath.Join(d.temp, "missing"))
	r := d.report(t, false)
	checkPassed(t, r.Rows, rowNames, "Go x/crypto ", "SSH-2.0-Go")
	const want = "no temporary folder for the keys of ssh: "
	if !strings.HasPrefix(r.OpenSSH.Error, want) {
		t.Errorf("%q", r.OpenSSH.Error)
	}
}
