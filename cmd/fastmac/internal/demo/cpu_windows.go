// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has used, on all cores.
func cpuTime() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(process, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	sum := time.Duration(0)
	for _, t := range []syscall.Filetime{kernel, user} { // in units of 100 ns
		sum += time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
	}
	return sum
}
