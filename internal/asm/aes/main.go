// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Command aes generates internal/aes/aes_amd64.s: the AES key schedule and
// the encryption of blocks, FIPS 197, with AES instructions, and counter mode in which the
// output replaces the key; and RDSEED.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"example.com/fastmac/internal/asm/output"
)

const (
	blockSize = 16
	rounds    = 14 // of AES-256
)

func main() {
	Package("example.com/fastmac/internal/aes")
	ConstraintExpr("!purego")
	for _, words := range []int{4, 6, 8} {
		expandKey(words)
	}
	encrypt()
	encryptVAES256()
	encryptWords()
	rdseed()
	output.Generate()
}

// rdseed generates one attempt of RDSEED. Its register is overwritten with what the carry says.
func rdseed() {
	Implement("rdseed")
	Pragma("noescape")
	word := Load(Param("word"), RBX)
	// avo writes RDSEEDL for all sizes.
	Instruction(&ir.Instruction{Opcode: "RDSEEDQ", Operands: []Op{RAX}, Outputs: []Op{RAX}, ISA: []string{"RDSEED"}})
	MOVQ(RAX, Mem{Base: word})
	SBBQ(RAX, RAX)
	Store(RAX, ReturnIndex(0))
	RET()
}

// expandKey generates the key schedule for a key of nk words, FIPS 197 section 5.2.
// It makes nk words at a time: the first four, and none, two or four more. A word that needs SubWord
// comes from AESENCLAST of four copies of it, on which ShiftRows has no effect; the round key is Rcon.
// On Intel's CPUs this takes half the time of AESKEYGENASSIST.
func expandKey(nk int) {
	rotate := GLOBL(fmt.Sprintf("rotate%d", nk), attr.RODATA|attr.NOPTR)
	for i := range 16 {
		DATA(i, U8((nk-1)%4*4+(i+1)%4))
	}
	Implement(fmt.Sprintf("expandKey%d", 32*nk))
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	key := Load(Param("key"), GP64())
	first, second := XMM(), XMM()
	words := 4 * (nk + 7)
	store := func(at int) {
		MOVUPS(first, Mem{Base: enc, Disp: 4 * at})
		switch {
		case nk == 4 || at+4 == words: // the schedule ends with the first four
		case nk == 6:
			MOVSD(second, Mem{Base: enc, Disp: 4 * (at + 4)})
		case nk == 8:
			MOVUPS(second, Mem{Base: enc, Disp: 4 * (at + 4)})
		}
	}
	MOVUPS(Mem{Base: key}, first)
	switch nk {
	case 6:
		MOVSD(Mem{Base: key, Disp: 16}, second)
	case 8:
		MOVUPS(Mem{Base: key, Disp: 16}, second)
	}
	store(0)
	word, constant, mask := XMM(), XMM(), XMM()
	one := GP32()
	MOVL(U32(1), one)
	MOVD(one, constant)
	PSHUFD(U8(0), constant, constant)
	MOVUPS(rotate, mask)
	last := first
	if nk > 4 {
		last = second
	}
	for at := nk; at < words; at += nk {
		if nk == 8 {
			Comment(fmt.Sprintf("w[%d]", at))
			nextKey(at/4, first, second, mask, constant)
			if at+4 < words {
				nextKey(at/4+1, second, first, mask, constant)
			}
			store(at)
			continue
		}
		Comment(fmt.Sprintf("w[%d]: RotWord, SubWord, Rcon", at))
		MOVAPS(last, word)
		PSHUFB(mask, word)
		AESENCLAST(constant, word)
		addBefore(first, 4)
		PXOR(word, first)
		if nk == 6 && at+4 < words {
			PSHUFD(U8(0xff), first, word)
			addBefore(second, 2)
			PXOR(word, second)
		}
		store(at)
		if at+nk >= words {
			break
		}
		if nk == 4 && at == 32 {
			Comment("Rcon 0x80 is followed by 0x1b.")
			MOVL(U32(0x1b), one)
			MOVD(one, constant)
			PSHUFD(U8(0), constant, constant)
		} else {
			PSLLL(Imm(1), constant)
		}
	}
	RET()
}

// nextKey replaces round key i-2 of AES-256, in key, by round key i. other is round key i-1. After an
// even i rcon is that of the next. What SubWord is added to comes first, so that AESENCLAST adds it:
// the time of a key is that of a shuffle and of AESENCLAST.
func nextKey(i int, key, other, mask, rcon VecVirtual) {
	word := XMM()
	addBefore(key, 4)
	if i%2 == 0 {
		PXOR(rcon, key)
		if i < rounds {
			PSLLL(Imm(1), rcon)
		}
		MOVAPS(other, word)
		PSHUFB(mask, word)
	} else {
		PSHUFD(U8(0xff), other, word)
	}
	AESENCLAST(key, word)
	MOVAPS(word, key)
}

// addBefore adds to each of the first words of x, two or four, all words before it.
func addBefore(x VecVirtual, words int) {
	t := XMM()
	for n := 1; n < words; n *= 2 {
		MOVAPS(x, t)
		PSLLDQ(Imm(uint64(4*n)), t)
		PXOR(t, x)
	}
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
		JG(LabelRef(name + "Round"))
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

// encryptVAES256 generates encryptBlocksVAES256: eight blocks at a time, two to a vector. Several
// such runs overlap.
func encryptVAES256() {
	const wide = 8
	Implement("encryptBlocksVAES256")
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	rounds := Load(Param("rounds"), GP64())
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	DECQ(rounds)
	// run is for n vectors of size bytes.
	run := func(name string, n, size int, vector func() VecVirtual, broadcast func(m, x Op)) {
		x := make([]VecVirtual, n)
		key, k, left := GP64(), vector(), GP64()
		broadcast(Mem{Base: enc}, k)
		for i := range x {
			x[i] = vector()
			block := Mem{Base: src, Disp: size * i}
			VMOVDQU(block, x[i].AsX())
			if size == 2*blockSize {
				VINSERTI128(U8(1), block.Offset(blockSize), x[i], x[i])
			}
			VPXOR(k, x[i], x[i])
		}
		MOVQ(enc, key)
		MOVQ(rounds, left)
		Label(name + "Round256")
		ADDQ(Imm(blockSize), key)
		broadcast(Mem{Base: key}, k)
		for i := range x {
			VAESENC(k, x[i], x[i])
		}
		DECQ(left)
		JG(LabelRef(name + "Round256"))
		broadcast(Mem{Base: key, Disp: blockSize}, k)
		for i := range x {
			VAESENCLAST(k, x[i], x[i])
			VMOVDQU(x[i], Mem{Base: dst, Disp: size * i})
		}
		ADDQ(U32(uint64(size*n)), src)
		ADDQ(U32(uint64(size*n)), dst)
	}
	SUBQ(Imm(wide), blocks)
	JLT(LabelRef("rest256"))
	Label("wide256")
	run("wide", wide/2, 2*blockSize, YMM, VBROADCASTI128)
	SUBQ(Imm(wide), blocks)
	JGE(LabelRef("wide256"))
	Label("rest256")
	ADDQ(Imm(wide), blocks)
	JZ(LabelRef("done256"))
	Label("single256")
	run("single", 1, blockSize, XMM, VMOVDQU)
	DECQ(blocks)
	JNZ(LabelRef("single256"))
	Label("done256")
	VZEROUPPER()
	RET()
}

// encryptWords generates the encryption of a block, and the selection of bytes of the
// result. The block is passed in two words, so that it is not loaded as 16 bytes.
func encryptWords() {
	Implement("encryptWords")
	Pragma("noescape")
	enc := Load(Param("enc"), GP64())
	left := Load(Param("rounds"), GP64())
	chosen := Load(Param("chosen"), GP64())
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
	JG(LabelRef("wordsRound"))
	MOVUPS(Mem{Base: enc, Disp: blockSize}, k)
	AESENCLAST(k, x)
	MOVUPS(Mem{Base: chosen}, k)
	PSHUFB(k, x)
	MOVQ(x, first)
	PEXTRQ(U8(1), x, second)
	Store(first, ReturnIndex(0))
	Store(second, ReturnIndex(1))
	RET()
}
