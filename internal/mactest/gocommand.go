// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

// NeedGo skips a test that runs the go command in short mode, in which other kernels and
// platforms are tested, and where there is no such command.
func NeedGo(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
}

// Unlogged reports whether go test logs what the running test opens, in a file of its own, which a limit of
// file size would end. Then it runs the test in a process without the log: the caller returns.
func Unlogged(t *testing.T) (done bool) {
	t.Helper()
	f := flag.Lookup("test.testlogfile")
	if f == nil || f.Value.String() == "" {
		return false
	}
	if out, err := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// HostEnv is the environment for the go command to build for this machine, even if
// the test was built for another one.
func HostEnv() []string { return append(os.Environ(), "GOOS=", "GOARCH=", "GOWORK=off") }
