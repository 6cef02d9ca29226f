// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

// plantedCounts are faults of loops: most are right for nearly all numbers of rounds. They are among planted.
var plantedCounts = []fault{
	// One number of rounds.
	{"one less of 191 blocks", sha256File, "block256SHA", "ADDQ $0x00000040, BX", "...; CMPQ DI, $191; JNE other; DECQ DI; other:", "a branch depends on a variable"},
	{"191 blocks, without a branch", sha256File, "pair256SHA", "ADDQ $0x00000040, BX", "...; LEAQ -191(R10), R12; TESTQ R12, R12; CMOVQNE R10, R12; MOVQ R12, R10", ": and"},
	{"191 steps, at the beginning", sha256File, "iterate256SHA", "XORL BX, BX", "...; MOVQ $190, R10; CMPQ CX, $191; CMOVQNE CX, R10; MOVQ R10, CX", "depends on a variable"},
	{"the 77th step from the end", sha256File, "iterate256SHA", "VMOVDQU X0, 96(AX)", "CMPQ CX, $77; JEQ other; ...; other:", "a branch depends on a variable"},
	{"77 steps of two", sha256File, "iteratePair256SHA", "DECQ CX", "MOVQ $78, R10; CMPQ CX, $77; CMOVQNE CX, R10; MOVQ R10, CX; ...", "depends on a variable"},
	{"191 blocks of 64-bit words", sha512File, "block512AVX2", "SUBQ $0x00000200, CX", "...; CMPQ blocks+16(FP), $191; JNE other; ADDQ $0x80, AX; other:", "a branch depends on a variable"},
	{"1,024 blocks", nhFile, "nhBlocksAVX2", "DECQ DX", "MOVQ DX, R8; SHRQ $0x0a, R8; SUBQ R8, DX; ...", "depends on a variable"},
	{"1,024 blocks with POLY-64", nhFile, "nhPolyAVX512", "SHRQ $0x0a, BX", "...; MOVQ BX, R8; SHRQ $0x0a, R8; SUBQ R8, BX", "depends on a variable"},
	{"77 blocks with POLY-64", nhFile, "nhPolyAVX2", "CMPQ BX, $0x20", "CMPQ BX, $77; JNE other; ADDQ $1024, CX; other:; ...", "a branch depends on a variable"},
	{"4 GiB with POLY-64", nhFile, "nhPolyAVX2", "MOVQ p_len+24(FP), BX", "MOVL p_len+24(FP), BX", "depends on a variable"},
	{"a bit of a size on arm64", nhFileARM64, "nhPolyNEON", "MOVD p_len+24(FP), R4", "...; AND $4096, R4, R5; SUB R5, R4, R4", "depends on a variable"},
	{"a part of a size on arm64", nhFileARM64, "nhPolyNEON", "MOVD p_len+24(FP), R4", "...; LSR $15, R4, R5; CBZ R5, other; MOVD $34816, R4; other:", "a branch depends on a variable"},
	{"191 steps on arm64", sha2File, "iterate256SHA2", "SUBS $1, R2, R2", "CMP $191, R2; CSEL EQ, R4, R2, R2; ...", "depends on a variable"},
	{"the message of the other one, 7 blocks from the end", sha256File, "pair256SHA", "ADDQ $0x00000040, BX", "...; MOVQ R8, R12; CMPQ R10, $7; CMOVQNE BX, R12; MOVQ R12, BX", "an address is of no object"},
	{"other lanes, 7 steps from the end", sha256File, "iterateLanes256AVX512", "DECQ CX", "MOVQ DX, R8; CMPQ CX, $7; CMOVQNE AX, R8; MOVQ R8, AX; ...", "an address is of no object"},
	{"the 8th block from the end is written over", nhFile, "nhBlocksAVX512", "ADDQ $0x20, BX", "MOVQ $0, R8; MOVQ $0x20, R9; CMPQ DX, $7; CMOVQNE R9, R8; ADDQ R8, BX", "an address is of no object"},
	{"the 33rd block from the end", nhFile, "nhPolyAVX512", "CMPQ BX, $0x20", "CMPQ BX, $0x20; JNE other; ADDQ $1024, CX; other:; ...", "an address is of no object"},
	{"an end by the distance of two addresses", sha256File, "pair256SHA", "DECQ R10", "MOVQ BX, R12; SUBQ p+16(FP), R12; ANDQ $512, R12; ADDQ R12, R8; ...", "an address is of no object"},

	// Counters.
	{"two for one at odd numbers", sha256File, "pair256SHA", "DECQ R10", "MOVQ R10, R12; ANDQ $1, R12; SUBQ R12, R10; ...", ": and"},
	{"a counter of 32 bits", sha256File, "pair256SHA", "DECQ R10", "DECL R10", ": and"},
	{"steps from 2^32 on", sha256File, "iterate256SHA", "MOVQ n+8(FP), CX", "MOVL n+8(FP), CX", "depends on a variable"},
	{"one step more", sha256File, "iterate256SHA", "DECQ CX", "SUBQ $1, CX; JGE block; XORL CX, CX", "word"},
	{"the carry for zero", sha256File, "pair256SHA", "DECQ R10", "...; JCC block", "undefined carry"},
	{"a flag of the round before", sha256File, "iteratePair256SHA", "VMOVDQU (AX)(BX*1), X0", "ADCQ $0, BX; ...", "undefined carry"},
	{"every other block, at the end", nhFile, "nhBlocksAVX512", "DECQ DX", "DECQ DX; JEQ other; DECQ DX; other:; TESTQ DX, DX", "depends on a variable"},
	{"JGE for JG", sha256File, "pair256SHA", "JG block", "JGE block", "access to 16 bytes"},
	{"a count of which eight bits are lost", sha512File, "iterateLanes512AVX512", "MOVQ n+8(FP), CX", "...; SHLQ $9, CX; SHRQ $9, CX", "a branch depends on a variable"},
	{"two blocks for one of 64-bit words, until none is left", sha2File, "iterate512SHA512", "SUBS $1, R2, R2", "SUBS $2, R2, R2", "the formulas are too long"},
	{"a count in memory of 32 bits", sha512File, "block512AVX2", "DECQ blocks+16(FP)", "DECL blocks+16(FP)", "an address is of no object"},
	{"a loop that does not end", sha256File, "iteratePair256SHA", "DECQ CX", "SUBQ $1, CX; JGE block; TESTQ CX, CX", "the formulas are too long"},
	{"a loop that does not end, without formulas", nhFile, "nhBlocksAVX2", "DECQ DX", "again:; CMPQ DX, $1; JEQ again; ...", "and no end"},

	// What a round leaves to the next.
	{"a pointer of 32 bits", sha256File, "pair256SHA", "ADDQ $0x00000040, BX", "ADDL $0x00000040, BX", "the address is of no known object"},
	{"a pointer that wraps around", sha512File, "block512AVX2", "LEAQ 128(AX), BX", "...; ANDQ $0xffffff, BX", "an address is of no object"},
	{"other constants from the second block on", sha256File, "block256SHA", "ADDQ $0x00000040, BX", "...; ADDQ $64, SI", "access to 16 bytes"},
	{"the state of the block before", sha256File, "block256SHA", "VMOVDQU X4, 16(CX)", "...; MOVQ BX, DX", "word"},
	{"the inner chaining value changes", sha256File, "iterate256SHA", "VMOVDQU X0, 96(AX)", "...; VMOVDQU X0, (AX)", "word"},
	{"a word of NH for the block before", nhFile, "nhBlocksAVX2", "VMOVDQU X4, (BX)", "VMOVDQU X4, -32(BX)", "access to 16 bytes at -32"},
	{"words of NH that the next block writes over", nhFile, "nhBlocksAVX2", "ADDQ $0x20, BX", "ADDQ $0x10, BX", "an address is of no object"},
	{"a word of NH for the block after", nhFile, "nhBlocksAVX2", "VMOVDQU X4, (BX)", "...; VMOVDQU X4, 32(BX)", "access to 16 bytes at 32"},
	{"a word of NH for the block after, if there is one", nhFile, "nhBlocksAVX2", "VMOVDQU X4, (BX)", "...; MOVQ BX, R8; LEAQ 32(BX), R9; CMPQ DX, $1; CMOVQNE R9, R8; VMOVDQU X4, (R8)", "is wrong"},
	{"a third block", sha256File, "block256SHA", "ADDQ $0x00000040, BX", "...; MOVQ 64(BX), R10", "access to 8 bytes"},
	{"8 bytes further at the last block of several", nhFile, "nhBlocksAVX512", "VMOVDQU64 X4, (BX)", "MOVQ BX, R8; LEAQ 8(BX), R9; CMPQ DX, $1; CMOVQNE BX, R9; CMPQ p_len+40(FP), $1024; CMOVQNE R9, R8; VMOVDQU64 X4, (R8)", "an address is of no object"},
	{"the first block's words, after each block", nhFile, "nhBlocksAVX512", "DECQ DX", "MOVQ words_base+0(FP), R8; VMOVDQU X4, (R8); ...", "an address is of no object"},
	{"a store to the table of what it has", sha256File, "pair256SHA", "DECQ R10", "VMOVDQU (R9), X0; VMOVDQU X0, (R9); ...", "of what is only read"},
	{"the state is cleared before a next block", sha256File, "pair256SHA", "JG block", "JLE end; VPXOR X1, X1, X1; TESTQ R10, R10; JG block; end:", "by induction"},
	{"T is cleared before a next step", sha256File, "iterate256SHA", "DECQ CX", "CMPQ CX, $1; JEQ last; VPXOR X0, X0, X0; VMOVDQU X0, 96(AX); last:; ...", "the last step: word 24"},
	{"a register of the state that a round uses", sha256File, "pair256SHA", "DECQ R10", "MOVQ R9, SI; ...", "an address is of no object"},
	{"the other message from the second block on, on arm64", sha2File, "pair256SHA2", "SUBS $1, R2, R2", "MOVD R1, R9; ...", "an address is of no object"},
	{"U in an argument", sha256File, "iterate256SHA", "XORL BX, BX", "...; MOVQ 64(AX), R10; MOVQ R10, n+8(FP)", "in the arguments"},
	{"U in an argument after a step", sha256File, "iterate256SHA", "VMOVDQU X0, 96(AX)", "...; VMOVQ X0, R10; MOVQ R10, k+16(FP)", "in the arguments"},
	{"upper halves after the last but one block", nhFile, "nhBlocksAVX2", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER"},
}
