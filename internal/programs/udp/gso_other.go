// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package main

import (
	"errors"
	"runtime"
)

// gsoError is why -gso cannot be used.
func gsoError() error {
	return errors.New("udp: -gso: UDP_SEGMENT and UDP_GRO are of Linux, and this is " + runtime.GOOS)
}

func segmentSize([]byte, int) []byte  { panic(gsoError()) }
func enableGRO(int) error             { return gsoError() }
func groSize(_ []byte, whole int) int { return whole }
