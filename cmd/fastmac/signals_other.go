// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endingSignals returns the signals that interrupt a command.
func endingSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM}
}
