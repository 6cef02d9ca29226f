// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/cmd/fastmac/internal/terminal"
	"golang.org/x/crypto/ssh"
)

// rowNames are the rows for Go's client, without arguments. OpenSSH's has all but the
// first.
var rowNames = []string{
	"aes128-ctr no MAC",
	"aes128-ctr umac-64-etm",
	"aes128-ctr umac-128-etm",
	"aes128-ctr umac-64",
	"aes128-ctr umac-128",
	"aes128-ctr hmac-sha2-256-etm",
	"aes128-ctr hmac-sha2-256",
	"aes128-ctr hmac-sha2-512-etm",
	"aes128-ctr hmac-sha2-512",
	"aes128-gcm",
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
	d.demo = newDemo(Options{Size: testSize, Style: terminal.Plain}, &d.err)
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

// checkPassed checks rows that went well, one for each of names.
func checkPassed(t *testing.T, rows []*row, names []string, client, id string) {
	t.Helper()
	var got []string
	for _, r := range rows {
		got = append(got, r.suite.String())
		if !r.passed() || r.Error != "" {
			t.Errorf("%v, %s: %s %s", r.suite, r.Client, r.Result, r.Error)
			continue
		}
		want := negotiated{algorithms{r.cipher, r.mac}, algorithms{r.cipher, r.mac}}
		if *r.ClientReport.Negotiated != want || *r.ServerReport.Negotiated != want {
			t.Errorf("%v, %s: client %v, server %v", r.suite, r.Client, r.ClientReport.Negotiated, r.ServerReport.Negotiated)
		}
		if r.Bytes != 2*testSize || r.ClientReport.BytesUp != testSize || r.ServerReport.BytesUp != testSize ||
			r.ClientReport.BytesDown != testSize || r.ServerReport.BytesDown != testSize {
			t.Errorf("%v, %s: %+v, client %+v, server %+v", r.suite, r.Client, r, r.ClientReport, r.ServerReport)
		}
		// Elsewhere the clock of CPU time may be coarse.
		if runtime.GOOS == "linux" && (r.CPUSeconds <= 0 || r.CPUPerGiB != r.CPUSeconds/(2*testSize/float64(1<<30))) {
			t.Errorf("%v, %s: CPU time %v s, %v for a GiB", r.suite, r.Client, r.CPUSeconds, r.CPUPerGiB)
		}
		if !strings.HasPrefix(r.Client, client) || r.ClientVersion == "" || !strings.HasPrefix(r.ClientID, id) {
			t.Errorf("%v: client %q, version %q, identification %q", r.suite, r.Client, r.ClientVersion, r.ClientID)
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("rows %q, want %q", got, names)
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
	checkPassed(t, r.Rows, rowNames, "Go x/crypto ", "SSH-2.0-Go")
	if !strings.Contains(r.String(), "openssh-client") || !r.OpenSSH.Missing {
		t.Errorf("the package to install is not named: %v", r)
	}

	// What is about to end needs the processor, not time.
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 10_000_000 {
			stacks := make([]byte, 1<<20)
			t.Fatalf("goroutines left behind:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
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
			checkPassed(t, goRows, rowNames, "Go x/crypto ", "SSH-2.0-Go")
			configured := len(rowNames) - 1
			checkPassed(t, sshRows[:configured], rowNames[1:], "OpenSSH_", "SSH-2.0-OpenSSH_")
			// What is negotiated depends on the release of OpenSSH.
			before, after := sshRows[configured], sshRows[configured+1]
			checkPassed(t, sshRows[configured:], []string{before.suite.String(), after.suite.String()}, "OpenSSH_", "SSH-2.0-OpenSSH_")
			if before.Server != "x/crypto" || after.Server != "sshmac" || after.Cipher == ssh.CipherChaCha20Poly1305 && fastmac.RequireGCM() == nil {
				t.Errorf("nothing configured: %v and %v", before.suite, after.suite)
			}
			before.CPUSeconds, after.CPUSeconds = 1, 1 // as with more data
			before.CPUPerGiB, after.CPUPerGiB = 8, 4
			if lines := strings.Join(strings.Fields(r.String()), " "); !strings.Contains(lines, "A GiB then takes 4.00 CPU seconds instead of 8.00") && before.Cipher == ssh.CipherChaCha20Poly1305 && fastmac.RequireGCM() == nil {
				t.Errorf("the report does not say what ConfigureServer gains:\n%v", r)
			}
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
	if r, err := d.run(t.Context()); err != want || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// TestDemoWarmUp has one more transfer than rows, and it is the first.
func TestDemoWarmUp(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	d.Size, d.MACs = 2*warmUpSize, []string{"umac-64-etm"}
	var moved []int64
	var last *tamperer
	count := func() {
		if last != nil {
			moved = append(moved, last.read.seen)
		}
	}
	d.tamper = func(rw io.ReadWriter) io.ReadWriter { // one at a time
		count()
		last = &tamperer{ReadWriter: rw, read: &damage{at: -1}}
		return last
	}
	r := d.report(t, true)
	count()
	if want := []int64{warmUpSize, 2 * warmUpSize}; len(r.Rows) != 1 || !slices.Equal(moved, want) {
		t.Errorf("%d rows, %v bytes up, want %v", len(r.Rows), moved, want)
	}
}

// TestDemoDamage changes one byte of the content between the MAC and the hash.
func TestDemoDamage(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		damage     func() *tamperer
	}{
		{"up", "the server: received other content than was sent, first at byte 150000", func() *tamperer { return &tamperer{read: &damage{at: testSize / 2}} }},
		{"down", "the client: received other content than was sent, first at byte ", func() *tamperer { return &tamperer{write: &damage{at: testSize / 2}} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newTestDemo(t)
			d.tamper = func(rw io.ReadWriter) io.ReadWriter {
				damaging := tt.damage()
				damaging.ReadWriter = rw
				return damaging
			}
			for _, row := range d.report(t, false).Rows {
				if row.Result != resultFailed || !strings.Contains(row.Error, tt.want) {
					t.Errorf("%v, %s: %s %q", row.suite, row.Client, row.Result, row.Error)
				}
			}
		})
	}
}

// TestDemoOneFailure has one row fail and the others run.
func TestDemoOneFailure(t *testing.T) {
	d := newTestDemo(t)
	var channels atomic.Int32
	d.tamper = func(rw io.ReadWriter) io.ReadWriter {
		if channels.Add(1) != 2 { // the first is that of the warm-up
			return rw
		}
		return &tamperer{ReadWriter: rw, read: &damage{at: 7}}
	}
	r := d.report(t, false)
	for i, row := range r.Rows {
		if row.passed() != (i > 0) {
			t.Errorf("row %d: %s %q", i, row.Result, row.Error)
		}
	}

	table := strings.Join(strings.Fields(r.String()), " ") // it breaks lines
	for _, want := range []string{
		r.Rows[0].Error,
		fmt.Sprintf("%d of %d rows passed", len(r.Rows)-1, len(r.Rows)),
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in the table:\n%s", want, table)
		}
	}
}

// A wireTap changes a byte of what is sent on a network connection.
type wireTap struct {
	net.Conn
	damage damage
}

func (w *wireTap) Write(p []byte) (int, error) {
	q := append([]byte(nil), p...)
	w.damage.apply(q)
	return w.Conn.Write(q)
}

// TestDemoWireDamage changes a byte of the ciphertext, which the MAC has to
// find.
func TestDemoWireDamage(t *testing.T) {
	withoutSSH(t)
	d := newTestDemo(t)
	dial := d.dial
	d.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		// In the middle of a packet: 3 KB of handshake, then 32 KiB each.
		return &wireTap{conn, damage{at: 84_000}}, err
	}
	for _, row := range d.report(t, false).Rows {
		want := "MAC failure"
		switch {
		case row.mac == noMAC: // so the comparison finds it
			want = "received other content than was sent, first at byte "
		case row.mac == "":
			want = "message authentication failed"
		}
		if row.Result != resultFailed || !strings.Contains(row.Error, "server: upload: ") || !strings.Contains(row.Error, want) {
			t.Errorf("%v: %s %q, want %q", row.suite, row.Result, row.Error, want)
		}
	}
}
