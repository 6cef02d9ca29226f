// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command cpuid generates internal/kernel/cpuid_amd64.s, which asks the CPU for what
// golang.org/x/sys/cpu does not report.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
)

func main() {
	Package("example.com/fastmac/internal/kernel")
	ConstraintExpr("!purego")
	Implement("cpuid")
	Load(Param("leaf"), EAX)
	XORL(ECX, ECX)
	CPUID()
	Store(EBX, ReturnIndex(0))
	Store(ECX, ReturnIndex(1))
	RET()
	output.Generate("cpuid") // which has no secrets
}
