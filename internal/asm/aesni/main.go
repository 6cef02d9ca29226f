// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command aesni generates internal/aesni/aesni_amd64.s: the AES key schedule and
// the encryption of blocks, FIPS 197, with AES instructions.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const blockSize = 16

func main() {
	Package("example.com/fastmac/internal/aesni")
	ConstraintExpr("!purego")
	for _, words := range []int{4, 6, 8} {
		expandKey(words)
	}
	encrypt()
	encryptWords()
	Generate()
}

// expandKey generates the key schedule for a key of nk words, FIPS 197 section
// 5.2. The last nk words of it stay in registers.
func expandKey(nk int) {
	Implement(fmt.Sprintf("expandKey%d", 32*nk))
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	key := Load(Param("key"), GP64())
	w := make([]GPVirtual, nk)
	for i := range w {
		w[i] = GP32()
		MOVL(Mem{Base: key, Disp: 4 * i}, w[i])
		MOVL(w[i], Mem{Base: enc, Disp: 4 * i})
	}
	rcon := uint8(1)
	rounds := nk + 6
	for i := nk; i < 4*(rounds+1); i++ {
		before := w[(i-1)%nk]
		switch {
		case i%nk == 0:
			Comment(fmt.Sprintf("w[%d]: RotWord, SubWord, Rcon %#02x", i, rcon))
			before = substitute(before, rcon, 1)
			rcon = rcon<<1 ^ rcon>>7*0x1b
		case nk > 6 && i%nk == 4:
			Comment(fmt.Sprintf("w[%d]: SubWord", i))
			before = substitute(before, 0, 0)
		}
		XORL(before, w[i%nk])
		MOVL(w[i%nk], Mem{Base: enc, Disp: 4 * i})
	}
	Comment("The registers that hold the last words.")
	for i := range w {
		XORL(w[i], w[i])
	}
	RET()
}

// substitute returns word n of what AESKEYGENASSIST makes of x: SubWord(x) for 0,
// RotWord(SubWord(x)) xor rcon for 1.
func substitute(x GPVirtual, rcon uint8, n uint8) GPVirtual {
	v, t := XMM(), GP32()
	MOVD(x, v)
	PSHUFD(U8(0), v, v)
	AESKEYGENASSIST(U8(rcon), v, v)
	PEXTRD(U8(n), v, t)
	return t
}

// encrypt generates the encryption of independent blocks, eight at a time, which
// hides the latency of AESENC, and the rest one by one.
func encrypt() {
	const wide = 8
	Implement("encryptBlocks")
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	run := func(name string, n int) {
		x := make([]VecVirtual, n)
		key, k, left := GP64(), XMM(), GP64()
		MOVUPS(Mem{Base: enc}, k)
		for i := range x {
			x[i] = XMM()
			MOVUPS(Mem{Base: src, Disp: blockSize * i}, x[i])
			PXOR(k, x[i])
		}
		LEAQ(Mem{Base: enc, Disp: blockSize}, key)
		MOVQ(rounds, left)
		DECQ(left)
		Label(name + "Round")
		MOVUPS(Mem{Base: key}, k)
		for i := range x {
			AESENC(k, x[i])
		}
		ADDQ(Imm(blockSize), key)
		DECQ(left)
		JNZ(LabelRef(name + "Round"))
		MOVUPS(Mem{Base: key}, k)
		for i := range x {
			AESENCLAST(k, x[i])
			MOVUPS(x[i], Mem{Base: dst, Disp: blockSize * i})
		}
		ADDQ(Imm(uint64(blockSize*n)), src)
		ADDQ(Imm(uint64(blockSize*n)), dst)
	}
	SUBQ(Imm(wide), blocks)
	JLT(LabelRef("rest"))
	Label("wide")
	run("wide", wide)
	SUBQ(Imm(wide), blocks)
	JGE(LabelRef("wide"))
	Label("rest")
	ADDQ(Imm(wide), blocks)
	JZ(LabelRef("done"))
	Label("single")
	run("single", 1)
	DECQ(blocks)
	JNZ(LabelRef("single"))
	Label("done")
	RET()
}

// encryptWords generates the encryption of a block that is handed over and
// returned in two words, so that it never is in memory.
func encryptWords() {
	Implement("encryptWords")
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	left := Load(Param("rounds"), GP64())
	first, second := Load(Param("first"), GP64()), Load(Param("second"), GP64())
	x, k := XMM(), XMM()
	MOVQ(first, x)
	PINSRQ(U8(1), second, x)
	MOVUPS(Mem{Base: enc}, k)
	PXOR(k, x)
	DECQ(left)
	Label("wordsRound")
	ADDQ(Imm(blockSize), enc)
	MOVUPS(Mem{Base: enc}, k)
	AESENC(k, x)
	DECQ(left)
	JNZ(LabelRef("wordsRound"))
	MOVUPS(Mem{Base: enc, Disp: blockSize}, k)
	AESENCLAST(k, x)
	MOVQ(x, first)
	PEXTRQ(U8(1), x, second)
	Store(first, ReturnIndex(0))
	Store(second, ReturnIndex(1))
	RET()
}
