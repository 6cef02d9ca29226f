// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// groupOfKeys is how many keys prefetchKeys has.
const groupOfKeys = 4

// prefetchKeys generates prefetchKeys, for batches over many keys. It reads the pointers and the
// offsets, and nothing of the keys: a prefetch of an address that cannot be read does nothing.
func prefetchKeys() {
	Implement("prefetchKeys")
	Pragma("noescape")
	keys := Load(Param("keys"), GP64())
	at, left := Load(Param("offsets").Base(), GP64()), Load(Param("offsets").Len(), GP64())
	var key [groupOfKeys]Register
	for i := range key {
		key[i] = GP64()
		MOVQ(Mem{Base: keys, Disp: 8 * i}, key[i])
	}
	next, offset := label("line"), GP64()
	Label(next)
	MOVQ(Mem{Base: at}, offset)
	for _, k := range key {
		PREFETCHT0(Mem{Base: k, Index: offset, Scale: 1})
	}
	ADDQ(Imm(8), at)
	DECQ(left)
	JNZ(LabelRef(next))
	RET()
}
