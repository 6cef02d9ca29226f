// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
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

// A testDemo is a demo with its own standard error and temporary folder.
type testDemo struct {
	*demo
	err  bytes.Buffer
	temp string
}

func newTestDemo(t *testing.T) *testDemo {
	t.Helper()
	d := &testDemo{temp: t.TempDir()}
	t.Setenv("TMPDIR", d.temp)
	t.Setenv("TMP", d.temp) // where Windows looks
	d.demo = newDemo(Options{Size: testSize}, &d.err)
	return d
}

// report runs the demo and checks what holds for every run.
func (d *testDemo) report(t *testing.T, wantPassed bool) *Report {
	t.Helper()
	r, err := d.run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, &d.err)
	}
	if r.Passed != wantPassed || (r.Err() == nil) != wantPassed {
		t.Fatalf("passed %v, error %v\n%s\n%v", r.Passed, r.Err(), &d.err, r)
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
func checkPassed(t *testing.T, rows []*row, client, id string) {
	t.Helper()
	var macs []string
	for _, r := range rows {
		macs = append(macs, r.MAC)
		if !r.passed() || r.Error != "" {
			t.Errorf("%s, %s: %s %s", r.MAC, r.Client, r.Result, r.Error)
			continue
		}
		want := negotiated{algorithms{"aes128-ctr", r.MAC}, algorithms{"aes128-ctr", r.MAC}}
		if *r.ClientReport.Negotiated != want || *r.ServerReport.Negotiated != want {
			t.Errorf("%s, %s: client %v, server %v", r.MAC, r.Client, r.ClientReport.Negotiated, r.ServerReport.Negotiated)
		}
		if r.Bytes != 2*testSize || r.ClientReport.BytesUp != testSize || r.ServerReport.BytesUp != testSize ||
			r.ClientReport.BytesDown != testSize || r.ServerReport.BytesDown != testSize {
			t.Errorf("%s, %s: %+v, client %+v, server %+v", r.MAC, r.Client, r, r.ClientReport, r.ServerReport)
		}
		if len(r.ClientReport.SHA256Up) != 64 || r.ClientReport.SHA256Up != r.ServerReport.SHA256Up ||
			len(r.ClientReport.SHA256Down) != 64 || r.ClientReport.SHA256Down != r.ServerReport.SHA256Down {
			t.Errorf("%s, %s: client %+v, server %+v", r.MAC, r.Client, r.ClientReport, r.ServerReport)
		}
		if !strings.HasPrefix(r.Client, client) || r.ClientVersion == "" || !strings.HasPrefix(r.ClientID, id) {
			t.Errorf("%s: client %q, version %q, identification %q", r.MAC, r.Client, r.ClientVersion, r.ClientID)
		}
	}
	if !slices.Equal(macs, macNames) {
		t.Errorf("MACs %q", macs)
	}
}

// byClient splits rows into those of Go's client and the others.
func byClient(rows []*row) (goRows, sshRows []*row) {
	for _, r := range rows {
		if strings.HasPrefix(r.Client, "Go ") {
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
	r := d.report(t, true)
	checkPassed(t, r.Rows, "Go x/crypto ", "SSH-2.0-Go")
	if !strings.Contains(d.err.String(), "openssh-client") || !strings.Contains(r.OpenSSH.Error, "openssh-client") || !r.OpenSSH.Missing {
		t.Errorf("the package to install is not named: %q, %q", &d.err, r.OpenSSH.Error)
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
			r := newTestDemo(t).report(t, true)
			goRows, sshRows := byClient(r.Rows)
			checkPassed(t, goRows, "Go x/crypto ", "SSH-2.0-Go")
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
	d.report(t, true)
}

func TestDemoPort(t *testing.T) {
	withoutSSH(t)
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()

	d := newTestDemo(t)
	d.Port = busy.Addr().(*net.TCPAddr).Port
	if _, err := d.run(t.Context()); err == nil || !strings.Contains(err.Error(), busy.Addr().String()) {
		t.Errorf("error %v, want one about the port %d", err, d.Port)
	}
	busy.Close()
	if r := d.report(t, true); r.Address != busy.Addr().String() {
		t.Errorf("address %s, want port %d, which is free again", r.Address, d.Port)
	}
}

func TestDemoRegisterError(t *testing.T) {
	d := newTestDemo(t)
	want := errors.New("fastmac: the table has another shape")
	d.register = func() error { return want }
	if r, err := d.run(t.Context()); err != want || r != nil || d.err.Len() > 0 {
		t.Errorf("%v, %v, %q", r, err, &d.err)
	}
}
