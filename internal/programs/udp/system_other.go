// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !unix

package main

import (
	"errors"
	"runtime"
	"time"
)

// systemError is why the program cannot run here.
func systemError() error {
	return errors.New("udp: ReadBatch and WriteBatch of golang.org/x/net/ipv4 are not implemented on " + runtime.GOOS)
}

func cpuTime() (time.Duration, error) { return 0, systemError() }
func receiveBuffer(int) (int, error)  { return 0, systemError() }
