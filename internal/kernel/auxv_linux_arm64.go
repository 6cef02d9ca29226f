// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"encoding/binary"
	"os"
)

// hasRNG reports whether Linux says that the CPU has FEAT_RNG. It reads a file, because for what
// golang.org/x/sys/unix has of the runtime, 7 MB of that package would be in folders of vendors.
func hasRNG() bool {
	const (
		atHWCAP2  = 26 // AT_HWCAP2
		hwcap2RNG = 1 << 16
	)
	auxv, _ := os.ReadFile("/proc/self/auxv") // without one there is none
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == atHWCAP2 {
			return binary.LittleEndian.Uint64(auxv[8:])&hwcap2RNG != 0
		}
	}
	return false
}
