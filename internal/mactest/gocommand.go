// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
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

// HostEnv is the environment for the go command to build for this machine, even if
// the test was built for another one.
func HostEnv() []string { return append(os.Environ(), "GOOS=", "GOARCH=", "GOWORK=off") }
