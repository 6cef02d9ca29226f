// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package hardware

import "golang.org/x/sys/unix"

// cpuName returns the name that the system has for the CPU: macOS under the first name, the BSDs
// under the second.
func cpuName() string {
	for _, key := range []string{"machdep.cpu.brand_string", "hw.model"} {
		if name, err := unix.Sysctl(key); err == nil {
			return tidy(name)
		}
	}
	return "unknown CPU"
}
