// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// hasRNG reports whether Linux says that an arm64 CPU has FEAT_RNG.
func hasRNG() bool {
	const (
		atHWCAP2  = 26 // AT_HWCAP2
		hwcap2RNG = 1 << 16
	)
	if runtime.GOARCH != "arm64" {
		return false
	}
	auxv, _ := unix.Auxv() // without one there is none
	for _, entry := range auxv {
		if entry[0] == atHWCAP2 {
			return entry[1]&hwcap2RNG != 0
		}
	}
	return false
}
