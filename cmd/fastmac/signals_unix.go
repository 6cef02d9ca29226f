// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endingSignals returns the signals that interrupt a command.
func endingSignals() []os.Signal {
	// By default a write to a closed pipe (fastmac demo 2>&1 | head) ends the
	// process at once, and its temporary folder stays. With this it returns an error.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
