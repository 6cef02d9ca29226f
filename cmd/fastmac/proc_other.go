// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// endingSignals returns the signals that end a run in good order.
func endingSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM}
}

// killTree leaves cmd as it is: exec.CommandContext kills the process itself.
func killTree(*exec.Cmd) {}
