// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build darwin || linux || windows

package main

import (
	"golang.org/x/sys/cpu"

	"example.com/fastmac/internal/assurance/native"
)

// reader returns what reads the bit, or why there is none.
func reader() (isSet func() bool, missing string, err error) {
	if !cpu.ARM64.HasDIT {
		return nil, "no DIT on this CPU, or Go does not look for it, as on Windows", nil
	}
	memory, err := native.Executable([]uint32{
		0xd53b42a0, // MRS X0, DIT
		0xd3586000, // UBFX X0, X0, #24, #1
		0xd65f03c0, // RET
	})
	if err != nil {
		return nil, "", err
	}
	read := native.Func[func() uint64](memory)
	return func() bool { return read() != 0 }, "", nil
}
