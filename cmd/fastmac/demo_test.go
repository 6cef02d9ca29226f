// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// macNames are the MACs that the demo is for.
var macNames = []string{
	"umac-64@openssh.com",
	"umac-128@openssh.com",
	"umac-64-etm@openssh.com",
	"umac-128-etm@openssh.com",
	"hmac-sha2-512",
	"hmac-sha2-512-etm@openssh.com",
}

const testSize = 300_001 // several packets and an odd rest

// A testDemo is a demo with its output and a temporary folder of its own.
type testDemo struct {
	*demo
	out, err bytes.Buffer
	temp     string
}

func newTestDemo(t *testing.T) *testDemo {
	t.Helper()
	d := &testDemo{temp: t.TempDir()}
	t.Setenv("TMPDIR", d.temp)
	t.Setenv("TMP", d.temp) // where Windows looks
	d.demo = newDemo(&d.out, &d.err)
	return d
}

// report runs the demo with --json and checks what holds for every run.
func (d *testDemo) report(t *testing.T, wantCode int, args ...string) report {
	t.Helper()
	args = append([]string{"--json", "--size", fmt.Sprint(testSize)}, args...)
	if code := d.main(t.Context(), args); code != wantCode {
		t.Fatalf("exit status %d, want %d\n%s\n%s", code, wantCode, &d.err, &d.out)
	}
	var r report
	if err := json.Unmarshal(d.out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %q", err, &d.out)
	}
	if r.Passed != (wantCode == exitOK) {
		t.Errorf("exit status %d, passed %v", wantCode, r.Passed)
	}
	d.checkEmpty(t)
	return r
}

func (d *testDemo) checkEmpty(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(d.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind in the temporary folder: %v, %v", left, err)
	}
}

// withoutSSH empties PATH.
func withoutSSH(t *testing.T) { t.Setenv("PATH", t.TempDir()) }

func needSSH(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("no ssh in PATH: install openssh-client")
	}
}

// checkPassed checks rows that went well, one for each MAC.
func checkPassed(t *testing.T, rows []*row, peer, clientVersion string) {
	t.Helper()
	var macs []string
	for _, r := range rows {
		macs = append(macs, r.MAC)
		if !r.passed() || r.Error != "" {
			t.Errorf("%s, %s: %s %s", r.MAC, r.Peer, r.Result, r.Error)
			continue
		}
		want := negotiated{algorithms{"aes128-ctr", r.MAC}, algorithms{"aes128-ctr", r.MAC}}
		if *r.Client.Negotiated != want || *r.Server.Negotiated != want {
			t.Errorf("%s, %s: client %v, server %v", r.MAC, r.Peer, r.Client.Negotiated, r.Server.Negotiated)
		}
		if r.Bytes != 2*testSize || r.Client.BytesUp != testSize || r.Server.BytesUp != testSize ||
			r.Client.BytesDown != testSize || r.Server.BytesDown != testSize {
			t.Errorf("%s, %s: %+v, client %+v, server %+v", r.MAC, r.Peer, r, r.Client, r.Server)
		}
		if len(r.Client.SHA256Up) != 64 || r.Client.SHA256Up != r.Server.SHA256Up ||
			len(r.Client.SHA256Down) != 64 || r.Client.SHA256Down != r.Server.SHA256Down {
			t.Errorf("%s, %s: client %+v, server %+v", r.MAC, r.Peer, r.Client, r.Server)
		}
		if !strings.HasPrefix(r.Peer, peer) || !strings.HasPrefix(r.ClientVersion, clientVersion) {
			t.Errorf("%s: peer %q, client version %q", r.MAC, r.Peer, r.ClientVersion)
		}
	}
	if !slices.Equal(macs, macNames) {
		t.Errorf("MACs %q", macs)
	}
}

// byPeer splits rows into those of Go's client and the others.
func byPeer(rows []*row) (goRows, sshRows []*row) {
	for _, r := range rows {
		if strings.HasPrefix(r.Peer, "Go ") {
			goRows = append(goRows, r)
		} else {
			sshRows = append(sshRows, r)
		}
	}
	return goRows, sshRows
}

func TestDemoWithoutSSH(t *testing.T) {
	withoutSSH(t)
	before := runtime.NumGoroutine()
	d := newTestDemo(t)
	r := d.report(t, exitOK)
	checkPassed(t, r.Rows, "Go x/crypto v", "SSH-2.0-Go")
	if !strings.Contains(d.err.String(), "openssh-client") || !strings.Contains(r.OpenSSH.Error, "openssh-client") {
		t.Errorf("the package to install is not named: %q, %q", &d.err, r.OpenSSH)
	}

	// What is still on its way out needs the processor, not time.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("goroutines left behind:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func TestDemoOpenSSH(t *testing.T) {
	needSSH(t)
	for name, set := range map[string]func(*testing.T){
		"as it is": func(*testing.T) {},
		"no HOME": func(t *testing.T) {
			t.Setenv("HOME", "") // to have it restored
			os.Unsetenv("HOME")
		},
		"missing home": func(t *testing.T) { t.Setenv("HOME", "/nonexistent/home") },
	} {
		t.Run(name, func(t *testing.T) {
			set(t)
			r := newTestDemo(t).report(t, exitOK)
			goRows, sshRows := byPeer(r.Rows)
			checkPassed(t, goRows, "Go x/crypto v", "SSH-2.0-Go")
			checkPassed(t, sshRows, "OpenSSH_", "SSH-2.0-OpenSSH_")
		})
	}
}

func TestDemoTempFolderName(t *testing.T) {
	needSSH(t)
	d := newTestDemo(t)
	// Characters that mean something to ssh's options.
	d.temp += "/with a space, 100%d, ${HOME} and \"quotes\""
	if err := os.Mkdir(d.temp, 0o700); err != nil {
		t.Skip(err)
	}
	t.Setenv("TMPDIR", d.temp)
	d.report(t, exitOK)
}

func TestDemoTable(t *testing.T) {
	d := newTestDemo(t)
	if code := d.main(t.Context(), []string{"--size", "100KiB"}); code != exitOK {
		t.Fatalf("exit status %d\n%s", code, &d.err)
	}
	out := d.out.String()
	for _, mac := range macNames {
		if !strings.Contains(out, "\n"+mac+" ") || !strings.Contains(out, " aes128-ctr "+mac+" ") {
			t.Errorf("no row for %s", mac)
		}
	}
	for _, s := range []string{"100 KiB up and 100 KiB down", "10^6 bytes", " 204800 ", " rows passed"} {
		if !strings.Contains(out, s) {
			t.Errorf("%q is missing", s)
		}
	}
	for line := range strings.Lines(out) {
		if utf8.RuneCountInString(line) > 121 {
			t.Errorf("too wide: %q", line)
		}
	}
	// Plain lines, as standard error is no terminal here.
	if strings.ContainsAny(d.err.String(), "\r\x1b") || !strings.Contains(d.err.String(), "] hmac-sha2-512, Go") {
		t.Errorf("progress %q", &d.err)
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestDemoBusyPort(t *testing.T) {
	withoutSSH(t)
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := busy.Addr().(*net.TCPAddr).Port

	d := newTestDemo(t)
	r := d.report(t, exitOK, "--port", fmt.Sprint(port))
	if r.Address == busy.Addr().String() {
		t.Errorf("address %s is the busy one", r.Address)
	}
	want := fmt.Sprintf("fastmac: port %d on 127.0.0.1 is busy; taking a free one instead\n", port)
	if !strings.Contains(d.err.String(), want) {
		t.Errorf("%q, want %q in it", &d.err, want)
	}

	busy.Close()
	d = newTestDemo(t)
	if r := d.report(t, exitOK, "--port", fmt.Sprint(port)); r.Address != busy.Addr().String() {
		t.Errorf("address %s, want port %d, which is free again", r.Address, port)
	}
}

func TestDemoRegisterError(t *testing.T) {
	d := newTestDemo(t)
	d.register = func() error { return errors.New("fastmac: the table has another shape") }
	if code := d.main(t.Context(), nil); code != exitFailed {
		t.Errorf("exit status %d", code)
	}
	if got := d.err.String(); got != "fastmac: the table has another shape\n" || d.out.Len() > 0 {
		t.Errorf("%q, %q", got, &d.out)
	}
}
