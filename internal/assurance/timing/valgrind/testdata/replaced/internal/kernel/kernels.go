// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"os"
	"strings"

	"golang.org/x/sys/cpu"
)

// askCPU says that the CPU has what the replaced kernels need, unless GODEBUG takes it away, and AES for crypto/aes.
func askCPU() {
	has := func(name string) bool { return !strings.Contains(os.Getenv("GODEBUG")+",", "cpu."+name+"=off,") }
	detected.sha = has("sha")
	detected.vaes, detected.vpclmulqdq = has("vaes"), has("vaes")
	cpu.X86.HasRDSEED = true
	for _, flag := range []*bool{&cpu.X86.HasAVX512F, &cpu.X86.HasAVX512BW, &cpu.X86.HasAVX512DQ, &cpu.X86.HasAVX512VL} {
		*flag = has("avx512f")
	}
	cpu.X86.HasAVXVNNI = has("avxvnni")
	detected.never = true // what crypto/aes lacks elsewhere than on amd64, arm64 and s390x
}
