// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command prefetch generates internal/prefetch/prefetch_amd64.s.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
)

// group is the number of objects.
const group = 4

// main generates lines. It reads the pointers and the offsets, and nothing of the objects: a prefetch
// of an address that cannot be read does nothing.
func main() {
	Package("example.com/fastmac/internal/prefetch")
	ConstraintExpr("!purego")
	Implement("lines")
	Pragma("noescape")
	objects := Load(Param("objects"), GP64())
	at, left := Load(Param("offsets").Base(), GP64()), Load(Param("offsets").Len(), GP64())
	var object [group]Register
	for i := range object {
		object[i] = GP64()
		MOVQ(Mem{Base: objects, Disp: 8 * i}, object[i])
	}
	offset := GP64()
	Label("line")
	MOVQ(Mem{Base: at}, offset)
	for _, o := range object {
		PREFETCHT0(Mem{Base: o, Index: offset, Scale: 1})
	}
	ADDQ(Imm(8), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	RET()
	output.Generate()
}
