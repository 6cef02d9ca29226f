// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const xcrypto = "golang.org/x/crypto"

// TestVersions runs the tests of sshmac, with the race detector, on releases of
// x/crypto from the oldest in common use to the newest there is, as a program that
// replaces the release in go.mod would have them.
func TestVersions(t *testing.T) {
	newest := needVersions(t)
	find(t, "gcc", "gcc") // for the race detector
	versions := []string{"v0.17.0", "v0.31.0", "v0.38.0", "v0.43.0", "v0.45.0", "v0.55.0", "v0.58.0"}
	if newest != versions[len(versions)-1] {
		versions = append(versions, newest)
	}
	var table bytes.Buffer
	for _, version := range versions {
		ok := t.Run(version, func(t *testing.T) {
			out, err := testWith(t, version, "../..", "-race", "-short", "./sshmac")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range []string{
				"--- PASS: TestRegister ",
				"--- PASS: TestDamage ",
				"--- PASS: TestTableShape ",
				filepath.FromSlash(xcrypto+"@"+version+"/ssh") + "\n", // what TestTableShape has read
			} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in the output:\n%s", want, out)
				}
			}
		})
		result := "ok"
		if !ok {
			result = "FAILED"
		}
		fmt.Fprintf(&table, "%-9s %s\n", version, result)
	}
	t.Logf("sshmac with x/crypto:\n%s", &table)
}

// TestCBCWithETM has x/crypto v0.57.0 fail where the documentation of sshmac says
// so. It encrypts the length of the packet, which its peer reads as it is.
func TestCBCWithETM(t *testing.T) {
	needVersions(t)
	needSSH(t)
	needSSHD(t)
	out, err := testWith(t, "v0.57.0", ".", "-short", "-run=TestMatrix/^sshd?$/^300000$/-etm@/^aes128-cbc$", ".")
	if err == nil {
		t.Errorf("no test failed:\n%s", out)
	}
	for want, times := range map[string]int{
		"--- FAIL: TestMatrix/ssh/300000/":  3,
		"--- FAIL: TestMatrix/sshd/300000/": 3,
		"/aes128-cbc (":                     6, // so none passed
		// Not counted: one length in 2^14 looks like one.
		"server: ssh: packet too large":                        0,
		"client: ssh: handshake failed: ssh: packet too large": 0,
		"Bad packet length":                                    0,
	} {
		if n := strings.Count(out, want); n == 0 || times > 0 && n != times {
			t.Errorf("%q is %d times in the output, want %d:\n%s", want, n, times, out)
		}
	}
}

// needVersions skips the test if other releases of x/crypto cannot be had, and
// returns the newest.
func needVersions(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds everything anew for each release")
	}
	newest, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", xcrypto+"@latest").Output()
	if err != nil {
		t.Skipf("needs a Go module proxy: go list -m %s@latest: %v", xcrypto, err)
	}
	return strings.TrimSpace(string(newest))
}

// testWith runs go test in the module in dir, with another release of x/crypto
// than its go.mod has, and returns the output.
func testWith(t *testing.T, version, dir string, args ...string) (string, error) {
	t.Helper()
	temp := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mod := filepath.Join(temp, "go.mod")
	if out, err := exec.Command("go", "mod", "edit", "-replace", xcrypto+"="+xcrypto+"@"+version, mod).CombinedOutput(); err != nil {
		t.Fatalf("go mod edit: %v\n%s", err, out)
	}
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-v", "-mod=mod", "-modfile=" + mod}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
