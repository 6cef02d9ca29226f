// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// endingSignals returns the signals that end a run in good order.
func endingSignals() []os.Signal {
	// A write to a closed pipe (demo 2>&1 | head) shall return an error. By
	// default it ends the process on the spot, and the temporary folder stays.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // it is under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// killTree makes the cancellation of cmd's context kill what cmd started, too:
// an ssh in PATH may be a script around the real one.
func killTree(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
