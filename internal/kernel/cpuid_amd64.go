// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !purego

package kernel

//go:generate go run -C ../asm ./cpuid -out ../../internal/kernel/cpuid_amd64.s

// cpuid7 returns ECX of leaf 7 of CPUID.
func cpuid7() (ecx uint32)
