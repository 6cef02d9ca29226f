// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package kernel

import (
	"os"
	"regexp"
	"testing"

	"golang.org/x/sys/cpu"
)

// TestCPUID compares with golang.org/x/sys/cpu, on CPUs with AVX-512, and with what Linux reports.
func TestCPUID(t *testing.T) {
	if !cpu.X86.HasAVX2 {
		t.Skip("needs AVX2")
	}
	ebx, ecx := cpuid(7)
	vaes, vpclmulqdq := ecx&(1<<9) != 0, ecx&(1<<10) != 0
	if cpu.X86.HasAVX512VAES && !vaes || cpu.X86.HasAVX512VPCLMULQDQ && !vpclmulqdq {
		t.Errorf("%08x: want VAES %v, VPCLMULQDQ %v", ecx, cpu.X86.HasAVX512VAES, cpu.X86.HasAVX512VPCLMULQDQ)
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !regexp.MustCompile(`(?m)^flags\s*:.* avx2 `).Match(info) {
		return // not Linux, or an emulator
	}
	if amd := regexp.MustCompile(`(?m)^vendor_id\s*: AuthenticAMD$`).Match(info); amd != IsAMD() {
		t.Errorf("IsAMD() = %v, and %v in /proc/cpuinfo", IsAMD(), amd)
	}
	for name, bit := range map[string]bool{"vaes": vaes, "sha_ni": ebx&(1<<29) != 0} {
		if has := regexp.MustCompile(`(?m)^flags\s*:.* ` + name + ` `).Match(info); has != bit {
			t.Errorf("%08x, %08x: %s %v, and %v in /proc/cpuinfo", ebx, ecx, name, bit, has)
		}
	}
}
