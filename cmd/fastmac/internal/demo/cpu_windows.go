// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package demo

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime returns the CPU time that this process has used, on all cores. Windows counts it in
// steps of about 16 ms.
func cpuTime() time.Duration {
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &began, &ended, &kernel, &user) != nil {
		return 0
	}
	return duration(kernel) + duration(user)
}

// duration returns a time that is no date, in units of 100 ns.
func duration(t windows.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}
