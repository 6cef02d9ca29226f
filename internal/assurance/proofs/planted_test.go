// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/arm64"
	"example.com/fastmac/internal/assurance/machine"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/assurance/secrets"
	"example.com/fastmac/internal/assurance/x86"
)

// Files with assembly.
const (
	nhFile  = "nh_amd64.s"
	aesFile = "internal/aes/aes_amd64.s"
	gcmFile = "internal/gcm/gcm_amd64.s"

	sha1File   = "internal/sha1/sha1_amd64.s"
	sha256File = "internal/sha2/sha256_amd64.s"
	sha512File = "internal/sha2/sha512_amd64.s"

	nhFileARM64  = "nh_arm64.s"
	aesFileARM64 = "internal/aes/aes_arm64.s"
	sha2File     = "internal/sha2/sha2_arm64.s"
)

// A fault is a change of a function, made by somebody who wants it to pass: the lines are put in
// place of the first line of the function that is at, in which ... stands for that line.
type fault struct {
	what, file, function string
	at, lines            string
	want                 string // in the reason why it is refused
}

// planted are faults that once passed, or were made to pass. None of them may.
var planted = []fault{
	// Alignment.
	{"a load of the key that must be aligned, before VEX", aesFile, "encryptBlocks", "PXOR X0, X1", "PXOR (AX), X1", "need not be a multiple of 16"},
	{"a move that must be aligned", gcmFile, "sealAESNI", "MOVUPS 128(AX), X1", "MOVAPS 128(AX), X1", "need not be a multiple of 16"},
	{"an operand before VEX in the middle of a datum", gcmFile, "hashAESNI", "PSHUFB reverse<>+0(SB), X1", "PSHUFB reverse<>+8(SB), X1", "need not be a multiple of 16"},
	{"an aligned move of 32 bytes", nhFile, "tagWordsAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; VMOVDQA (AX), Y0; ...", "need not be a multiple of 32"},
	{"an aligned move to the frame", nhFile, "nhPolyAVX2", "MOVQ y+0(FP), SI", "VMOVDQA Y0, (SP); ...", "need not be a multiple of 32"},

	// Memory of the caller.
	{"a write after the arguments", nhFile, "nhAddAVX2", "VZEROUPPER", "MOVQ $0, 48(SP); ...", "access to 8 bytes"},
	{"a write after the arguments, after VZEROUPPER", nhFile, "nhAddAVX512", "VZEROUPPER", "...; MOVQ $0, 48(SP)", "access to 8 bytes"},
	{"a write after the arguments of AES", aesFile, "encryptBlocks", "MOVQ rounds+8(FP), CX", "...; MOVQ $0, 48(SP)", "access to 8 bytes"},
	{"a third result", aesFile, "encryptWords", "PXOR X14, X14", "MOVQ $0, 64(SP); ...", "access to 8 bytes"},
	{"a result that is taken for zero", aesFile, "encryptWords", "PXOR X0, X0", "XORQ ret+40(FP), BX; MOVQ BX, ret+40(FP); ...", "word 0 is"},
	{"a read before the message", nhFile, "fillAVX512", "MOVQ group+0(FP), AX", "...; MOVQ p_base+8(FP), CX; MOVQ -8(CX), BX", "access to 8 bytes at -8"},
	{"a read after the message", nhFile, "nhBlocksAVX512", "SHRQ $0x0a, DX", "MOVBLZX (CX)(DX*1), R8; ...", "access to 1 bytes"},
	{"a write after the text", gcmFile, "openAVX512", "VMOVDQU8 Z5, K1, (SI)", "VMOVDQU64 Z5, (SI)", "access to 64 bytes"},
	{"a write of the second vector for the first", gcmFile, "openAVX512", "VMOVDQU8 Z7, K2, (SI)(R8*1)", "VMOVDQU8 Z7, K1, (SI)(R8*1)", "access to 1 bytes"},
	{"a write of a vector for the last bytes", gcmFile, "sealAVX2", "VMOVDQU X5, -16(DI)(R9*1)", "VMOVDQU Y5, -16(DI)(R9*1)", "access to 32 bytes"},
	{"a read after the last bytes", gcmFile, "openAVX2", "VMOVDQU -16(R8)(R9*1), X5", "VMOVDQU (R8), X5", "access to 16 bytes"},
	{"memory below the stack pointer", nhFile, "nhBlocksAVX2", "SHRQ $0x0a, DX", "MOVQ DX, -8(SP); ...", "access to 8 bytes"},
	{"more of the stack than the frame", nhFile, "nhPolyAVX512", "MOVQ k+8(FP), AX", "...; SUBQ $256, SP; ADDQ $256, SP", "the stack pointer is not in its frame"},
	{"a secret in a vector register", gcmFile, "hashAVX512", "VPXORQ X24, X24, X24", "VPXORQ X25, X25, X25", "vector register 24"},
	{"a secret in a vector register of UMAC", nhFile, "nhPolyAVX2", "VPXOR X1, X1, X1", "XORL R10, R10", "vector register 1"},
	{"a secret in an upper vector register of UMAC", nhFile, "nhPolyAVX512", "VPXORQ X18, X18, X18", "XORL R10, R10", "vector register 18"},
	{"a secret in a vector register of a kernel that leaves others", nhFile, "tagOnlyAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; VMOVDQU 24(AX), X15; ...", "vector register 15"},
	{"a secret in an upper vector register of a kernel that leaves others", nhFile, "fillAVX512", "VZEROUPPER", "MOVQ group+0(FP), AX; VMOVDQU64 (AX), Y31; ...", "vector register 31"},
	{"what Go code has copied", aesFile, "expandKey128", "PXOR X14, X14", "XORL R10, R10", "vector register 14"},
	{"a round key in a vector register", aesFile, "expandKey256", "PXOR X0, X0", "XORL R10, R10", "vector register 0"},
	{"a secret in mask register 0", nhFile, "nhAddAVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K0; ...", "mask register 0"},
	{"a secret in mask register 1", nhFile, "tagWordsAVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K1; ...", "mask register 1"},
	{"a secret in mask register 2", nhFile, "tagOnlyAVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K2; ...", "mask register 2"},
	{"a secret in mask register 3", nhFile, "tagNextAVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K3; ...", "mask register 3"},
	{"a secret in mask register 4", nhFile, "nhBlocksAVX512", "VZEROUPPER", "MOVQ k+24(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K4; ...", "mask register 4"},
	{"a secret in mask register 5", nhFile, "nhPolyAVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K5; ...", "mask register 5"},
	{"a secret in mask register 6", nhFile, "nhPoly128AVX512", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; KMOVQ BX, K6; ...", "mask register 6"},
	{"a secret in mask register 7", nhFile, "fillAVX512", "VZEROUPPER", "MOVQ group+0(FP), AX; MOVQ (AX), BX; KMOVQ BX, K7; ...", "mask register 7"},
	{"a secret in a mask register, after VZEROUPPER", nhFile, "nhBlocksAVX512", "VZEROUPPER", "...; MOVQ k+24(FP), AX; MOVQ 24(AX), BX; KMOVB BX, K6", "mask register 6"},
	{"a mask of a length", gcmFile, "sealAVX512", "KXORW K1, K1, K1", "XORL R10, R10", "mask register 1"},
	{"a mask register that is written after it was wiped", sha512File, "lanes512AVX512", "KXORW K1, K1, K1", "...; MOVL $5, R10; KMOVW R10, K1", "mask register 1"},
	{"upper halves in use", nhFile, "nhBlocksAVX2", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"upper halves in use, which are zeros", nhFile, "nhBlocksAVX512", "VZEROUPPER", "...; VPXOR Y0, Y0, Y0", "no VZEROUPPER after it"},
	{"upper halves in use in a kernel that leaves vectors", nhFile, "tagWordsAVX2", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"upper halves in use after one branch", nhFile, "nhPolyAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; CMPQ (AX), $0x03; JHI full; ...; full:", "no VZEROUPPER after it"},
	{"upper halves after AES", aesFile, "encryptBlocksVAES256", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"upper halves after GCM", gcmFile, "openAVX512", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"upper halves after SHA-256, of which it uses none", sha256File, "pair256SHA", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"upper halves after SHA-512", sha512File, "block512AVX2", "VZEROUPPER", "XORL R10, R10", "no VZEROUPPER after it"},
	{"a secret in the frame", nhFile, "nhPolyAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; MOVQ BX, 8(SP); ...", "in the frame"},
	{"another frame pointer", aesFile, "encryptWords", "MOVQ BX, X0", "XORQ BP, BP; ...", "general register 5 is reserved"},
	{"another frame pointer for a moment", aesFile, "encryptWords", "MOVQ BX, X0", "MOVQ BP, R8; XORL BP, BP; ...; MOVQ R8, BP", "general register 5 is reserved"},
	{"another frame pointer after the frame", nhFile, "nhPolyAVX2", "VZEROUPPER", "...; MOVQ $0, 64(SP)", "is not what it was"},

	// Addresses.
	{"a message at one page offset is dropped", nhFile, "tagOnlyAVX2", "MOVQ rest_len+32(FP), BX", "...; LEAQ (DX), DI; ANDQ $0xfff, DI; CMPQ DI, $0xabd; JNE other; XORQ BX, BX; other:", "depends on a variable"},
	{"a tag with a bit of the address, without a branch", nhFile, "tagWordsAVX512", "VMOVQ (CX), X0", "...; MOVQ CX, DX; SHRQ $4, DX; ANDQ $1, DX; VMOVQ DX, X5; VPADDQ X5, X0, X0; VPXOR X5, X5, X5", "word 0 is"},
	{"a sum with a bit of the stack pointer", nhFile, "nhAddAVX2", "MOVQ s+0(FP), CX", "...; MOVQ SP, R9; SHRQ $3, R9; ANDQ $1, R9; ADDQ R9, (CX)", "word 0 is"},
	{"a table's address", nhFile, "fillAVX2", "MOVQ p_len+16(FP), DX", "...; LEAQ shiftDown<>+0(SB), R8; TESTB $0x20, R8; JEQ other; XORQ DX, DX; other:", "variable"},
	{"the goroutine in R14", nhFile, "tagWordsAVX2", "MOVQ k+8(FP), AX", "...; MOVQ R14, R8; SHRQ $12, R8; ANDQ $1, R8; CMPQ R8, $1; JEQ other; MOVQ k+8(FP), AX; other:", "depends on a secret"},
	{"the distance of two objects", nhFile, "nhAddAVX512", "MOVQ s+0(FP), CX", "...; MOVQ p_base+16(FP), R9; CMPQ R9, CX; JCS other; XORQ R9, R9; other:", "variable"},
	{"a branch on a sum that was stored over what is public", nhFile, "nhAddAVX2", "ADDQ BX, 32(CX)",
		"...; TESTQ $1, DX; JEQ even; MOVQ BX, R9; MOVQ 32(CX), R10; ANDQ $0, R9; MOVQ (CX), R11; MOVQ R11, 32(CX)(R9*1); MOVQ 32(CX), R12; MOVQ R10, 32(CX)(R9*1); TESTQ R12, R12; JNE even; XORQ R12, R12; even:",
		"a secret is written to what is public"},

	// Secrets.
	{"a branch on a byte of the tag", nhFile, "tagOnlyAVX2", "VZEROUPPER", "MOVBLZX (AX), CX; TESTL CX, CX; JNE other; MOVQ tag+0(FP), AX; other:; ...", "the branch depends on a secret"},
	{"a mask of what is stored", gcmFile, "sealAVX512", "VMOVDQU8 Z5, K1, (SI)", "VMOVQ X5, R13; KMOVQ R13, K1; ...", "which bytes are written depends on a secret"},
	{"a prefetch at a secret", nhFile, "tagOnlyAVX512", "VZEROUPPER", "MOVBLZX (AX), CX; SHLQ $6, CX; PREFETCHT0 (AX)(CX*1); ...", "the address depends on a secret"},

	// In place.
	{"the output is written before the input is read", aesFile, "encryptBlocks", "single:", "single:; MOVUPS (AX), X0; MOVUPS X0, (DX)", "word 0 is"},

	// Sizes.
	{"another comparison", nhFile, "nhAddAVX2", "JLS pair49", "JCS pair49", "word 0 is"},
	{"a counter of 32 bits that carries", gcmFile, "sealAVX2", "VPADDD count16<>+0(SB), Y4, Y4", "VPADDQ count16<>+0(SB), Y4, Y4", "word"},
	{"a key stream after the last bytes", gcmFile, "sealAVX2", "VPAND X5, X4, X4", "XORL R10, R10", "the tag is wrong"},
	{"the block before the last bytes, as it was", gcmFile, "openAVX2", "VPXOR X6, X4, X4", "VMOVDQA X6, X4", "the text"},
	{"a key stream after the ciphertext", gcmFile, "sealAVX512", "VMOVDQU8.Z Z5, K1, Z5", "VPXORQ Z0, Z5, Z5; VPXORQ Z0, Z5, Z5", "the tag is wrong"},
	{"another constant of the last reduction", nhFile, "tagNextAVX2", "IMUL3Q $0x3b, DX, DX", "IMUL3Q $0x3c, DX, DX", "word 0 is"},
	{"another constant of POLY-128", nhFile, "nhPoly128AVX512", "MOVL $0x0000009f, DX", "MOVL $0x0000009e, DX", "word 0 is"},
	{"half of the last pair is left out", nhFile, "nhPoly128AVX2", "XORQ $0x10, DI", "XORQ $0x00, DI", "word"},
	{"20 blocks", nhFile, "nhPolyAVX2", "SHRQ $0x0a, BX", "...; CMPQ BX, $20; JNE other; DECQ BX; other:", "a branch depends on a variable"},
	{"20 blocks, without other code", nhFile, "nhBlocksAVX2", "SHRQ $0x0a, DX", "...; LEAQ -20(DX), R8; TESTQ R8, R8; CMOVQNE DX, R8; MOVQ R8, DX", "a branch depends on a variable"},
	{"the fiftieth block", nhFile, "nhBlocksAVX512", "SHRQ $0x0a, DX", "...; LEAQ -50(DX), R8; TESTQ R8, R8; CMOVQNE DX, R8; MOVQ R8, DX", "a branch depends on a variable"},
	{"a loop that counts by itself", aesFile, "encryptBlocks", "SUBQ $0x08, SI", "MOVQ SI, R9; SUBQ $18, R9; CMOVQCC R9, SI; ...", "no difference of"},

	// The state of the CPU.
	{"a mask that is taken for ones", nhFile, "fillAVX512", "KMOVD BX, K1", "KMOVD BX, K2", "depends on a secret"},
	{"a vector that is taken for zeros", nhFile, "tagWordsAVX512", "VPXOR X2, X1, X1", "VPXOR X2, X1, X1; VPXOR X15, X1, X1", "word 0 is"},
	{"the carry of the caller", aesFile, "encryptBlocks", "MOVQ enc+0(FP), AX", "ADCQ $0, BX; ...", "undefined carry"},
	{"the direction flag", nhFile, "fillAVX2", "MOVQ group+0(FP), AX", "STD; ...", "no model"},
	{"the rounding of MXCSR", nhFile, "fillAVX2", "MOVQ group+0(FP), AX", "...; LDMXCSR (AX)", "no model"},
	{"what CPUID returns", aesFile, "encryptWords", "MOVQ BX, X0", "XORL AX, AX; CPUID; MOVQ first+16(FP), BX; MOVQ enc+0(FP), AX; MOVQ chosen+32(FP), DX; XORL CX, SI; XORL CX, SI; ...; ANDL $1, CX; ADDL $9, CX", "some bits of a word"},
	{"what RDSEED returns", aesFile, "encryptWords", "MOVQ BX, X0", "RDSEEDQ AX; SBBQ CX, CX; ANDL $1, CX; ADDL $9, CX; MOVQ enc+0(FP), AX; ...", ": and"},
	{"a word more than that of RDSEED", aesFile, "rdseed", "MOVQ AX, (BX)", "...; MOVQ AX, 8(BX)", "are outside of word"},
	{"no word of RDSEED, and the one before", aesFile, "rdseed", "MOVQ AX, (BX)", "MOVQ (BX), CX; CMOVQCC CX, AX; ...", "word 0 is"},
	{"no word of RDSEED, and a number", aesFile, "rdseed", "MOVQ AX, (BX)", "MOVQ $1, CX; CMOVQCC CX, AX; ...", "word 0 is"},
	{"no word of RDSEED, taken for one", aesFile, "rdseed", "SBBQ AX, AX", "MOVQ $1, AX", "returns 0x1 for 0 words"},
	{"a word of RDSEED, taken for none", aesFile, "rdseed", "SBBQ AX, AX", "XORQ AX, AX", "returns 0x0 for 1 words"},
	{"a bit of RDSEED is always 0", aesFile, "rdseed", "MOVQ AX, (BX)", "MOVQ AX, CX; SBBQ AX, AX; ANDQ $-2, CX; MOVQ CX, (BX); ADDQ AX, AX", "word 0 is"},
	{"the counter of cycles", aesFile, "encryptWords", "MOVQ BX, X0", "RDTSC; MOVQ chosen+32(FP), DX; MOVQ enc+0(FP), AX; ...", "no model"},
	{"data of the program are changed", nhFile, "padEachVAES", "MOVQ tags+0(FP), AX", "...; MOVQ $0, ·partBytes+0(SB)", "writes to the program's data"},
	{"a shift by 65 bits", nhFile, "tagWordsAVX2", "VPSRLQ $0x30, Y0, Y2", "VPSRLQ $65, Y0, Y2", "no model"},

	// Accepted by an earlier version.
	{"counters that repeat", gcmFile, "sealAVX2", "MOVL 88(BX), CX", "...; MOVQ CX, R8; SHRQ $15, R8; MOVQ CX, R9; SHRQ $31, R9; ANDNQ R8, R9, R8; ANDQ $1, R8; SHLQ $15, R8; XORQ R8, CX", "and"},
	{"the depth of the stack", nhFile, "nhPoly128AVX2", "SHRQ $0x0a, BX", "...; MOVQ 16(R14), R9; MOVQ SP, R8; SUBQ R9, R8; SHRQ $16, R8; ANDQ $1, R8; ADDQ R8, BX", "access to 8 bytes at 16"},
	{"the frame modulo 64", nhFile, "tagEachAVX512", "MOVQ $-1, DI", "...; MOVQ SI, R8; SUBQ SP, R8; MOVQ $0, R9; MOVQ $1, R10; CMPQ R8, $24; CMOVQNE R9, R10; CMPQ BX, $9; CMOVQCS R9, R10; SUBQ R10, BX", "that is rounded"},
	{"the output for the input, without a tag", gcmFile, "sealAVX2", "MOVQ 64(BX), R8", "CMPQ (BX), $0; MOVQ DI, R8; CMOVQNE 64(BX), R8", "the text"},
	{"the output for the input", aesFile, "encryptBlocks", "MOVQ src+24(FP), BX", "MOVQ dst+16(FP), BX", "apart"},
	{"a capacity for a length", nhFile, "nhPolyAVX2", "MOVQ p_len+24(FP), BX", "MOVQ p_cap+32(FP), BX", "a branch depends on a variable"},
	{"the length of another slice", nhFile, "tagEachAVX512", "MOVQ batch_len+40(FP), BX", "MOVQ tags_len+8(FP), BX; SUBQ $3, BX", "or"},
	{"a bit of a size that is always 0", nhFile, "nhBlocksAVX512", "SHRQ $0x0a, DX", "...; MOVQ DX, R8; ANDQ $64, R8; CMOVQNE AX, DX", "a branch depends on a variable"},
	{"a carry that DEC keeps", nhFile, "nhPolyAVX512", "SHRQ $0x0a, BX", "...; MOVQ $1, R8; LEAQ -1(BX), R9; CMPQ BX, $0x32; DECQ R9; CMOVQCC R8, BX", "depends on a variable"},
	{"a difference that wraps around", nhFile, "nhBlocksAVX2", "SHRQ $0x0a, DX", "...; MOVQ DX, R8; SHLQ $57, R8; MOVQ $0x0400000000000000, R9; MOVQ $1, R10; CMPQ R8, R9; CMOVQLT R10, DX", ": and"},
	{"a key in the arguments", nhFile, "tagWordsAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ 24(AX), BX; MOVQ BX, k+8(FP); ...", "in the arguments"},
	{"a key after the pads", nhFile, "padEachVAES", "VZEROUPPER", "MOVQ tags+0(FP), AX; MOVQ k+8(FP), BX; MOVQ (BX), CX; MOVQ CX, 168(AX); ...", "is"},
	{"a key in values that are not computed", nhFile, "nhPolyAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ y+0(FP), BX; MOVQ 24(AX), CX; CMPQ (AX), $0x03; JHI full; MOVQ CX, 48(BX); full:; ...", "word 6 is"},
	{"a key in a tag that is not computed", nhFile, "tagWordsAVX2", "VZEROUPPER", "MOVQ k+8(FP), AX; MOVQ tag+0(FP), BX; MOVQ 24(AX), CX; CMPQ (AX), $0x03; JHI full; MOVL CX, 12(BX); full:; ...", "word 12 is"},
	{"AVX-512 on a CPU with AVX2", nhFile, "nhBlocksAVX2", "SHRQ $0x0a, DX", "...; VPXORQ Z31, Z31, Z31", "has an instruction of AVX-512"},
	{"AVX on a CPU with SSE", aesFile, "encryptWords", "MOVQ BX, X0", "VPXOR X1, X1, X1; ...", "has an instruction of AVX2"},
	{"SSE4.2 on a CPU with SSE4.1", aesFile, "encryptWords", "MOVQ BX, X0", "PCMPGTQ X14, X14; ...", "has an instruction of AVX2"},
	{"BMI2 on a CPU without it", aesFile, "encryptBlocks", "MOVQ blocks+32(FP), SI", "...; RORXQ $1, SI, R9", "has an instruction of AVX2"},
	// Functions that choose a kernel.
	{"the flag of another kernel", nhFile, "tagOnly", "CMPB ·useAVX512+0(SB), $0x00", "CMPB ·useAVX2+0(SB), $0x00", "jumps to"},
	{"a flag after which another one is", nhFile, "nhPoly", "CMPB ·useAVX2+0(SB), $0x00", "CMPB ·useAVX2+1(SB), $0x00", "neither a flag"},
	{"a flag and what follows it", nhFile, "nhBlocks", "CMPB ·useAVX512+0(SB), $0x00", "CMPQ ·useAVX512+0(SB), $0x00", "neither a flag"},
	{"a flag that is not 1", nhFile, "nhNext", "CMPB ·useAVX2+0(SB), $0x00", "CMPB ·useAVX2+0(SB), $0x01", "neither a flag"},
	{"the flag of all kernels", nhFile, "nhPoly", "CMPB ·useLongAVX512+0(SB), $0x00", "CMPB ·useAVX512+0(SB), $0x00", "jumps to"},
	{"the worse kernel", nhFile, "nhPoly", "JMP ·nhPolyAVX512+0(SB)", "JMP ·nhPolyAVX2+0(SB)", "not in the binary: nhPolyAVX512"},
	{"the kernel of another function", nhFile, "tagWords", "JMP ·tagWordsAVX512+0(SB)", "JMP ·tagOnlyAVX512+0(SB)", "jumps to"},
	{"a kernel that the CPU lacks", nhFile, "nhNext", "JMP ·nhNextGeneric+0(SB)", "JMP ·nhNextAVX2+0(SB)", "jumps to"},
	{"a kernel for fewer bytes than it takes", nhFile, "nhAdd", "CMPQ p_len+24(FP), $+224", "CMPQ p_len+24(FP), $+64", "which takes 128"},
	{"a capacity that chooses", nhFile, "tagNext", "CMPQ rest_len+40(FP), $+512", "CMPQ rest_cap+48(FP), $+512", "neither a flag"},
	{"an argument changes", nhFile, "tagWords", "CMPB ·useAVX512+0(SB), $0x00", "MOVQ $0, x_first+24(FP); ...", "not a part"},
	{"a register changes", nhFile, "tagNext", "JMP ·tagNextAVX2+0(SB)", "XORL AX, AX; ...", "not a part"},
	{"a return", nhFile, "nhPoly", "JMP ·nhPolyGeneric+0(SB)", "RET", "not a part"},
	{"a jump from a kernel", nhFile, "fillAVX2", "RET", "JMP ·fillAVX512+0(SB)", "no kernel has its name"},

	// SHA-2.
	{"the message of another lane", sha512File, "lanes512AVX2", "MOVQ 8(CX), R8", "MOVQ (CX), R8", "word"},
	{"the constants of other rounds", sha256File, "block256SHA", "VPADDD 16(SI), X4, X0", "VPADDD 32(SI), X4, X0", "word"},
	{"other words of the state", sha256File, "block256SHA", "VSHUFPS $0xbb, X0, X2, X2", "VSHUFPS $0x11, X0, X2, X2", "word"},
	{"two rounds with the words of the two before", sha256File, "block256SHA", "VPSHUFD $0x0e, X0, X0", "VPSHUFD $0x04, X0, X0", "word"},
	{"the next word of the schedule", sha256File, "block256SHA", "VPALIGNR $0x04, X5, X6, X0", "VPALIGNR $0x08, X5, X6, X0", "word"},
	{"a part of the schedule that another one has", sha256File, "block256SHA", "SHA256MSG1 X4, X3", "SHA256MSG1 X3, X3", "word"},
	{"the sum of a block and the state is left out", sha256File, "block256SHA", "VPADDD X4, X1, X1", "XORL R10, R10", "word"},
	{"a word that is not loaded", sha256File, "block256SHA", "VPINSRD $0x02, 8(R11), X0, X0", "XORL R13, R13", "word"},
	{"a word for the tail", sha256File, "block256SHA", "VMOVD 8(AX), X3", "VMOVD 12(AX), X3", "word"},
	{"a read after the last word", sha256File, "block256SHA", "VMOVDQU -16(BX)(R8*4), X0", "VMOVDQU -12(BX)(R8*4), X0", "access to 16 bytes"},
	{"half of the length, twice", sha256File, "block256SHA", "VPINSRD $0x03, 16(AX), X0, X0", "VPINSRD $0x03, 12(AX), X0, X0", "word"},
	{"a block without a length", sha256File, "block256SHA", "VMOVDQU outerPadding32<>+16(SB), X6", "VMOVDQU outerPadding32<>+0(SB), X6", "word"},
	{"an outer value that is not used", sha256File, "block256SHA", "VMOVDQU outerPadding32<>+0(SB), X5", "...; MOVQ CX, DX", "word"},
	{"one word more is whole", sha256File, "block256SHA", "CMPQ R8, $0x08", "CMPQ R8, $0x09", "word"},
	{"the fourth block", sha256File, "block256SHA", "TESTQ DI, DI", "CMPQ DI, $4; JNE other; DECQ DI; other:; ...", "a branch depends on a variable"},
	{"the fourth block, without other code", sha256File, "block256SHA", "TESTQ DI, DI", "LEAQ -4(DI), R10; TESTQ R10, R10; CMOVQNE DI, R10; MOVQ R10, DI; ...", "a branch depends on a variable"},
	{"a store that is left out", sha256File, "block256SHA", "VMOVDQU X4, 16(CX)", "XORL R10, R10", "word"},
	{"a write after the state", sha256File, "block256SHA", "VMOVDQU X4, 16(CX)", "VMOVDQU X4, 32(CX)", "are outside of state"},
	{"a block that must be aligned", sha256File, "block256SHA", "VMOVDQU 16(BX), X4", "VMOVDQA 16(BX), X4", "need not be a multiple of 16"},
	{"an operand of SHA256MSG1", sha256File, "block256SHA", "SHA256MSG1 X4, X3", "SHA256MSG1 -48(BX), X3", "need not be a multiple of 16"},
	{"a secret in a vector register, after SHA-256", sha256File, "block256SHA", "VPXOR X3, X3, X3", "VPXOR X2, X2, X2", "vector register 3"},
	{"a branch on the state", sha256File, "block256SHA", "MOVQ p+8(FP), BX", "MOVL (CX), R10; TESTL R10, R10; JEQ other; XORL R10, R10; other:; ...", "the branch depends on a secret"},
	{"a branch on the tail", sha256File, "block256SHA", "MOVQ R8, R10", "MOVL 8(AX), R12; CMPL R12, $0x80; JNE other; XORL R12, R12; other:; ...", "the branch depends on a secret"},
	{"a mask of the table by the tail", sha256File, "block256SHA", "VPSHUFB 132(R9)(R11*4), X3, X3", "MOVL 8(AX), R12; ANDQ $3, R12; VPSHUFB 132(R9)(R12*4), X3, X3", "the address depends on a secret"},
	{"a load at a word of the message", sha256File, "block256SHA", "ADDQ $0x00000040, BX", "MOVL (BX), R10; ANDQ $60, R10; MOVL (SI)(R10*1), R10; ...", "the address depends on a secret"},
	{"half of a rotation of one message", sha256File, "block256AVX2", "VPSLLD $0x19, X4, X6", "VPSLLD $0x18, X4, X6", "word"},
	{"a shift that is not of both copies", sha256File, "block256AVX2", "VPSRLQ $0x13, X4, X6", "VPSRLD $0x13, X4, X6", "word"},
	{"other copies", sha256File, "block256AVX2", "VPSHUFD $0x50, X0, X4", "VPSHUFD $0x51, X0, X4", "word"},
	{"sums in the place of others", sha256File, "block256AVX2", "VPSHUFB highHalves<>+0(SB), X5, X5", "VPSHUFB lowHalves<>+0(SB), X5, X5", "word"},
	{"a rotation of one message", sha256File, "block256AVX2", "RORXL $0x19, R12, DI", "RORXL $0x18, R12, DI", "word"},
	{"a sum for the one of a round later", sha256File, "block256AVX2", "ADDL 4(SP), R14", "ADDL 8(SP), R14", "word"},
	{"bits that a majority has not", sha256File, "block256AVX2", "ANDL BX, DX", "ORL BX, DX", "word"},
	{"an outer value that is not kept", sha256File, "block256AVX2", "MOVL R8, (BX)", "XORL DI, DI", "word"},
	{"a read after the last word of one message", sha256File, "block256AVX2", "VMOVDQU -16(AX)(BX*4), X4", "VMOVDQU -12(AX)(BX*4), X4", "access to 16 bytes"},
	{"sums in the frame", sha256File, "block256AVX2", "VMOVDQU Y0, 32(SP)", "XORL DI, DI", "frame"},
	{"a branch on a word of one message", sha256File, "block256AVX2", "MOVQ $0x00000003, BP", "...; TESTL R9, R9; JEQ other; XORL DI, DI; other:", "the branch depends on a secret"},
	{"AVX-512 with AVX2", sha256File, "block256AVX2", "VPSRLD $0x03, X4, X6", "VPRORD $0x03, X4, X6", "has an instruction of AVX-512"},
	{"other bits of f and g", sha512File, "block512LeanAVX512", "XORQ R14, BX", "XORQ R15, BX", "word"},
	{"AVX-512 on a CPU with SHA", sha256File, "block256SHA", "MOVQ CX, DX", "...; VPXORQ X31, X31, X31", "has an instruction of AVX-512"},
	{"SHA on a CPU without it", nhFile, "nhBlocksAVX2", "SHRQ $0x0a, DX", "...; SHA256MSG1 X14, X15", "has an instruction of SHA"},
	{"the state of the other message", sha256File, "pair256SHA", "MOVQ other+8(FP), SI", "MOVQ state+0(FP), SI", "word"},
	{"words of the other message", sha256File, "pair256SHA", "VMOVDQU 32(R8), X11", "VMOVDQU -32(BX), X11", "word"},
	{"the tail of the other message", sha256File, "pair256SHA", "VMOVD 40(AX), X9", "VMOVD 8(AX), X9", "word"},
	{"the length of the other message", sha256File, "pair256SHA", "VPINSRD $0x02, 44(AX), X0, X0", "VPINSRD $0x02, 12(AX), X0, X0", ": or"},
	{"the outer value of the other message", sha256File, "pair256SHA", "MOVQ 56(AX), DI", "MOVQ 24(AX), DI", "word"},
	{"two rounds of the other message", sha256File, "pair256SHA", "SHA256RNDS2 X0, X7, X8", "SHA256RNDS2 X0, X1, X8", "word"},
	{"a secret of the second message in a vector register", sha256File, "pair256SHA", "VPXOR X8, X8, X8", "VPXOR X7, X7, X7", "vector register 8"},
	{"the message of another lane of 32 bits", sha256File, "lanes256AVX512", "MOVQ 8(AX), R8", "MOVQ (AX), R8", "word"},
	{"a lane in the place of another", sha256File, "lanes256AVX512", "VSHUFI64X2 $0x88, Z22, Z18, Z14", "VSHUFI64X2 $0x88, Z18, Z22, Z14", "word"},
	{"another rotation", sha256File, "lanes256AVX512", "VPRORD $0x06, Z4, Z25", "VPRORD $0x07, Z4, Z25", "word"},
	{"a rotation for a shift", sha256File, "lanes256AVX512", "VPSRLD $0x03, Z20, Z26", "VPRORD $0x03, Z20, Z26", "word"},
	{"another function of bits", sha256File, "lanes256AVX512", "VPTERNLOGD $0xca, Z6, Z5, Z19", "VPTERNLOGD $0xac, Z6, Z5, Z19", "word"},
	{"the constant of another round", sha256File, "lanes256AVX512", "VPADDD.BCST 4(BX), Z20, Z19", "VPADDD.BCST 8(BX), Z20, Z19", "word"},
	{"a term of e that is left in a", sha256File, "lanes256AVX512", "VPSUBD Z3, Z19, Z19", "XORL R8, R8", "word"},
	{"a constant of the outer padding", sha256File, "lanes256AVX512", "VPADDD.BCST number300<>+0(SB), Z11, Z11", "XORL R8, R8", "word"},
	{"other lanes begin", sha256File, "lanes256AVX512", "KMOVW DI, K1", "SHLQ $1, DI; ...", "word"},
	{"all lanes but the first are taken for all", sha256File, "lanes256AVX512", "CMPQ DI, $0x0000ffff", "CMPQ DI, $0x0000fffe", "word"},
	{"an outer value of lanes that is not used", sha256File, "lanes256AVX512", "VMOVDQU32 512(SI), K1, Z0", "VMOVDQU32 (SI), K1, Z0", "word"},
	{"the hash of another lane", sha256File, "lanes256AVX512", "VEXTRACTI32X4 $0x01, Z2, 1152(SI)", "VEXTRACTI32X4 $0x01, Z2, 1280(SI)", "word"},
	{"a secret in an upper vector register", sha256File, "lanes256AVX512", "VPXORQ X24, X24, X24", "VPXORQ X25, X25, X25", "vector register 24"},
	{"a message in the other half", sha256File, "lanes256AVX2", "VINSERTI128 $0x01, (R9)(DX*1), Y0, Y0", "VINSERTI128 $0x00, (R9)(DX*1), Y0, Y0", "word"},
	{"words of the other half of the schedule", sha256File, "lanes256AVX2", "VPADDD 32(SP)(R10*1), Y10, Y10", "VPADDD 32(SP)(R9*1), Y10, Y10", "word"},
	{"the lanes that end begin", sha256File, "lanes256AVX2", "VPBROADCASTD initial+32(FP), Y8", "VPBROADCASTD outer+40(FP), Y8", "word"},
	{"all lanes but the first are taken for all eight", sha256File, "lanes256AVX2", "CMPQ DI, $0x000000ff", "CMPQ DI, $0x000000fe", "word"},
	{"the hash of the lane in the other half", sha256File, "lanes256AVX2", "VEXTRACTI128 $0x01, Y3, 1152(AX)", "VEXTRACTI128 $0x00, Y3, 1152(AX)", "word"},
	{"words of the schedule that remain", sha256File, "lanes256AVX2", "VMOVDQU Y0, 64(SP)", "VMOVDQU Y0, 32(SP)", "frame"},
	// The iteration of PBKDF2.
	{"the outer chaining value first", sha256File, "iterate256SHA", "XORL BX, BX", "MOVQ $32, BX", "word"},
	{"U in place of the sum", sha256File, "iterate256SHA", "VMOVDQU X0, 96(AX)", "VMOVDQU X1, 96(AX)", "word"},
	{"a last U that is not kept", sha256File, "iterate256SHA", "VMOVDQU X2, 80(AX)", "XORL R10, R10", "word"},
	{"a word of the late schedule", sha256File, "iterate256SHA", "VPSLLDQ $0x0c, X1, X0", "VPSLLDQ $0x08, X1, X0", "word"},
	{"another part of the late schedule", sha256File, "iterate256SHA", "VPSRLDQ $0x04, X4, X0", "VPSRLDQ $0x08, X4, X0", "word"},
	{"a write after the iteration", sha256File, "iterate256SHA", "VMOVDQU X2, 80(AX)", "...; VMOVDQU X2, 128(AX)", "are outside of it"},
	{"a write to the key", sha256File, "iterate256SHA", "VMOVDQU X2, 80(AX)", "...; VMOVDQU X2, 16(AX)", "word"},
	{"a branch on the last U", sha256File, "iterate256SHA", "VMOVDQU X2, 80(AX)", "...; MOVL 80(AX), R10; TESTL R10, R10; JEQ other; XORL R10, R10; other:", "the branch depends on a secret"},
	{"a load at a word of the sum", sha256File, "iterate256SHA", "VMOVDQU X0, 96(AX)", "...; MOVL 96(AX), R10; ANDQ $60, R10; MOVL (DX)(R10*1), R10", "the address depends on a secret"},
	{"a step of one hash", sha256File, "iterate256AVX2", "TESTQ $0x00000020, n+8(FP)", "TESTQ $0x00000040, n+8(FP)", "word"},
	{"the inner chaining value for both hashes", sha256File, "iterate256AVX2", "MOVL 12(AX)(DX*1), R11", "MOVL 12(AX), R11", "word"},
	{"a sum of U and other words", sha256File, "iterate256AVX2", "VPXOR 112(AX), X1, X2", "VPXOR 96(AX), X1, X2", "word"},
	{"U of the other iteration", sha256File, "iteratePair256SHA", "VMOVDQU 192(AX), X5", "VMOVDQU 64(AX), X5", "word"},
	{"the key of the other iteration", sha256File, "iteratePair256SHA", "VMOVDQU 144(AX)(BX*1), X7", "VMOVDQU 16(AX)(BX*1), X7", "word"},
	{"a secret of the second iteration in a vector register", sha256File, "iteratePair256SHA", "VPXOR X12, X12, X12", "VPXOR X11, X11, X11", "vector register 12"},
	{"a first round without the word", sha256File, "iterateLanes256AVX512", "VPADDD 2240(AX)(BX*1), Z8, Z3", "VMOVDQU32 2240(AX)(BX*1), Z3", "word"},
	{"the first round of the inner hash for the outer one", sha256File, "iterateLanes256AVX512", "VPADDD 2496(AX)(BX*1), Z8, Z7", "VPADDD 2496(AX), Z8, Z7", "word"},
	{"a sum of another row", sha256File, "iterateLanes256AVX512", "VPXORQ 1600(AX), Z9, Z0", "VPXORQ 1664(AX), Z9, Z0", "word"},
	{"a secret of lanes in a vector register", sha256File, "iterateLanes256AVX512", "VPXORQ X23, X23, X23", "VPXORQ X24, X24, X24", "vector register 23"},
	{"rounds of another kind", sha1File, "iterate1SHA", "SHA1RNDS4 $0x02, X1, X0", "SHA1RNDS4 $0x01, X1, X0", "word"},
	{"the rounds' words without e", sha1File, "iterate1SHA", "SHA1NEXTE X4, X2", "VPXOR X2, X2, X2; VPADDD X4, X2, X2", "word"},
	{"a word of the schedule of SHA-1", sha1File, "iterate1SHA", "VXORPS X6, X4, X4", "VXORPS X5, X4, X4", "word"},
	{"the schedule's rotation left out", sha1File, "iterate1SHA", "SHA1MSG2 X4, X5", "XORL R10, R10", "word"},
	{"the words of SHA1MSG1 exchanged", sha1File, "iterate1SHA", "SHA1MSG1 X6, X5", "SHA1MSG1 X5, X6", "word"},
	{"the outer chaining value of SHA-1 first", sha1File, "iterate1SHA", "XORL DX, DX", "MOVQ $32, DX", "word"},
	{"padding of SHA-1 without its bit", sha1File, "iterate1SHA", "VPOR afterHash<>+0(SB), X1, X4", "VMOVDQA X1, X4", "word"},
	{"a U of SHA-1 that is not kept", sha1File, "iterate1SHA", "VMOVDQU X1, 80(AX)", "XORL R10, R10", "word"},
	{"a write after the iteration of SHA-1", sha1File, "iterate1SHA", "VMOVDQU X1, 80(AX)", "...; VMOVDQU X1, 128(AX)", "are outside of it"},
	{"a branch on U of SHA-1", sha1File, "iterate1SHA", "VMOVDQU X1, 80(AX)", "...; MOVL 92(AX), R10; TESTL R10, R10; JEQ other; XORL R10, R10; other:", "the branch depends on a secret"},
	{"a load at a word of the sum of SHA-1", sha1File, "iterate1SHA", "VMOVDQU X1, 80(AX)", "...; MOVL 96(AX), R10; ANDQ $60, R10; MOVL (AX)(R10*1), R10", "the address depends on a secret"},
	{"a secret in a vector register, after SHA-1", sha1File, "iterate1SHA", "VPXOR X6, X6, X6", "VPXOR X5, X5, X5", "vector register 6"},
	{"U of the other iteration of SHA-1", sha1File, "iteratePair1SHA", "VMOVDQU 192(AX), X7", "VMOVDQU 64(AX), X7", "word"},
	{"the key of the other iteration of SHA-1", sha1File, "iteratePair1SHA", "VMOVDQU 144(AX)(DX*1), X8", "VMOVDQU 16(AX)(DX*1), X8", "word"},
	{"rounds of the other iteration of SHA-1", sha1File, "iteratePair1SHA", "SHA1RNDS4 $0x00, X8, X7", "SHA1RNDS4 $0x00, X1, X7", "word"},
	{"a secret of the second iteration of SHA-1 in a vector register", sha1File, "iteratePair1SHA", "VPXOR X13, X13, X13", "VPXOR X12, X12, X12", "vector register 13"},
	{"a length in the outer padding of 64-bit words", sha512File, "iterate512AVX2", "VMOVDQU outerPadding<>+32(SB), Y3", "VPXOR Y3, Y3, Y3", "word"},
	{"the constants of other words", sha512File, "iterate512AVX512", "VPADDQ 96(CX), Y3, Y4", "VPADDQ 64(CX), Y3, Y4", "word"},
	{"the inner chaining value for both 64-bit hashes", sha512File, "iterate512AVX512", "MOVQ 24(AX)(DX*1), R11", "MOVQ 24(AX), R11", "word"},
	{"a frame that is not wiped after PBKDF2", sha512File, "iterate512AVX512", "VMOVDQU Y0, 64(SP)", "VMOVDQU Y0, 32(SP)", "frame"},
	{"a branch on a word of U", sha512File, "iterate512AVX2", "SUBQ $0x00000040, n+8(FP)", "MOVQ 128(AX), BX; TESTQ BX, BX; JEQ other; XORL BX, BX; other:; ...", "the branch depends on a secret"},
	{"the outer chaining value first, with 64-bit words", sha512File, "iterate512AVX512", "MOVQ DX, n+8(FP)", "...; SUBQ $64, n+8(FP)", "word"},
	{"the words of the first vector in the second", sha512File, "iterate512LeanAVX512", "VMOVDQU 160(AX), Y1", "VMOVDQU 128(AX), Y1", "word"},
	{"another lane's padding", sha512File, "iterateLanes512AVX512", "VPBROADCASTQ outerPadding<>+56(SB), Z23", "VPBROADCASTQ outerPadding<>+48(SB), Z23", "word"},
	{"a U of lanes that is not kept", sha512File, "iterateLanes512AVX512", "VMOVDQU64 Z9, 1088(AX)", "XORL R10, R10", "word"},
}

// plantedARM64 are such faults in the assembly for arm64.
var plantedARM64 = []fault{
	// Memory of the caller.
	{"a write after the arguments", nhFileARM64, "nhAddNEON", "MOVD s+0(FP), R0", "MOVD ZR, 48(RSP); ...", "access to 8 bytes"},
	{"a write over the link register of the caller", nhFileARM64, "nhAddNEON", "MOVD s+0(FP), R0", "MOVD ZR, 0(RSP); ...", "the address to return to"},
	{"a third result", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MOVD ZR, 64(RSP); ...", "access to 8 bytes"},
	{"a result that is taken for zero", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MOVD ret+40(FP), R4; MOVD first+16(FP), R5; EOR R4, R5, R5; MOVD R5, first+16(FP); ...", "in the arguments"},
	{"a read before the message", nhFileARM64, "fillNEON", "MOVD p_len+16(FP), R4", "...; MOVD -8(R3), R5", "access to 8 bytes at -8"},
	{"a read after the message", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; ADD R4, R3, R5; MOVBU (R5), R5", "access to 1 bytes"},
	{"memory below the stack pointer", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; FSTPQ (F0, F1), -32(RSP)", "access to 32 bytes"},
	{"what RNDRRS returns", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MRS RNDRRS, R4; CSEL NE, R4, ZR, R4; MOVD R4, ret1+48(FP); ...", "has an instruction of RNG"},
	{"a word more than that of RNDRRS", aesFileARM64, "rndrrs", "MOVD R1, 0(R0)", "...; MOVD R1, 8(R0)", "are outside of word"},
	{"no word of RNDRRS, and a number", aesFileARM64, "rndrrs", "MOVD R1, 0(R0)", "CSEL NE, R1, R2, R1; ...", "word 0 is"},
	{"no word of RNDRRS, taken for one", aesFileARM64, "rndrrs", "CSEL NE, R2, ZR, R2", "NOP", "returns 0x1 for 0 words"},
	{"a word of RNDRRS, taken for none", aesFileARM64, "rndrrs", "CSEL NE, R2, ZR, R2", "CSEL EQ, R2, ZR, R2", "for"},
	{"another stack pointer", nhFileARM64, "nhPolyNEON", "MOVD y+0(FP), R0", "SUB $16, RSP; ...; ADD $16, RSP", "the stack pointer"},
	{"another frame pointer", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MOVD ZR, R29; ...", "general register 29"},
	{"another goroutine", aesFileARM64, "encryptBlocks", "MOVD enc+0(FP), R0", "MOVD ZR, g; ...", "general register 28"},
	{"the register of the operating system", aesFileARM64, "encryptBlocks", "MOVD enc+0(FP), R0", "MOVD ZR, R18_PLATFORM; ...", "general register 18"},
	{"another address to return to", nhFileARM64, "tagWordsNEON", "MOVD k+8(FP), R1", "...; MOVD R1, R30", "general register 30"},
	{"the register of the operating system, for a moment", nhFileARM64, "nhAddNEON", "MOVD s+0(FP), R0", "MOVD R18_PLATFORM, R5; MOVD ZR, R18_PLATFORM; ...; MOVD R5, R18_PLATFORM", "general register 18"},
	{"the goroutine, for a moment", nhFileARM64, "fillNEON", "MOVD p_len+16(FP), R4", "...; MOVD g, R5; MOVD ZR, g; MOVD R5, g; MOVD ZR, R5", "general register 28"},
	{"the frame pointer, for a moment", aesFileARM64, "encryptBlocks", "MOVD enc+0(FP), R0", "MOVD R29, R9; MOVD ZR, R29; ...; MOVD R9, R29", "general register 29"},
	{"the link register, for a moment", aesFileARM64, "encryptBlocks", "MOVD enc+0(FP), R0", "MOVD R30, R9; MOVD ZR, R30; ...; MOVD R9, R30", "general register 30"},
	{"other code on macOS", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "...; #ifdef GOOS_darwin; ADD $16, R0, R0; #endif", "other builds may have other code"},
	{"a secret in a vector register", nhFileARM64, "tagWordsNEON", "VEOR V28.B16, V28.B16, V28.B16", "NOP", "vector register 28"},
	{"what Go code has copied", nhFileARM64, "nhAddNEON", "VEOR V17.B16, V17.B16, V17.B16", "NOP", "vector register 17"},
	{"a key in the arguments", nhFileARM64, "tagWordsNEON", "MOVD tag+0(FP), R0", "MOVD 24(R1), R5; MOVD R5, k+8(FP); ...", "in the arguments"},
	{"a key in a tag that is not computed", nhFileARM64, "tagWordsNEON", "FMOVD F2, 0(R0)", "...; MOVD 24(R1), R5; MOVD R5, 8(R0)", "word 8 is"},
	{"a key in values that are not computed", nhFileARM64, "nhPolyNEON", "MOVD p_len+24(FP), R4", "...; MOVD 24(R1), R5; MOVD uhashKey_n(R1), R8; CMP $3, R8; BHI full; MOVD R5, 48(R0); full:", "word 6 is"},

	// Addresses.
	{"a bit of an address", nhFileARM64, "nhAddNEON", "MOVD s+0(FP), R0", "...; TBZ $3, R0, even; MOVD ZR, R5; even:", "variable"},
	{"a sum with a bit of the stack pointer", nhFileARM64, "nhAddNEON", "ADD R4, R9, R9", "...; MOVD RSP, R5; AND $8, R5, R5; ADD R5, R9, R9", "the stack pointer"},
	{"the page of an address", nhFileARM64, "fillNEON", "MOVD p_len+16(FP), R4", "...; AND $4095, R3, R5; CMP $4080, R5; BLT same; MOVD ZR, R5; same:", "a branch depends on a variable"},
	{"a table's address", nhFileARM64, "fillNEON", "MOVD p_len+16(FP), R4", "...; MOVD $constants<>(SB), R5; TBZ $5, R5, other; MOVD ZR, R5; other:", "variable"},
	{"the goroutine", nhFileARM64, "tagWordsNEON", "MOVD k+8(FP), R1", "...; MOVD (g), R5", "general register 28"},
	{"the distance of two objects", nhFileARM64, "nhAddNEON", "MOVD p_base+16(FP), R3", "...; CMP R0, R3; BLO other; MOVD ZR, R5; other:", "variable"},

	// Secrets.
	{"a branch on a byte of the tag", nhFileARM64, "tagOnlyNEON", "VEOR V0.B16, V0.B16, V0.B16", "MOVD tag+0(FP), R0; MOVBU (R0), R5; CBNZ R5, other; MOVD ZR, R5; other:; ...", "the branch depends on a secret"},
	{"a branch on a bit of the key", nhFileARM64, "nhPolyNEON", "MOVD y+0(FP), R0", "...; MOVD 24(R1), R5; TBZ $3, R5, other; MOVD ZR, R5; other:", "the branch depends on a secret"},
	{"a load at a secret", nhFileARM64, "tagOnlyNEON", "VEOR V0.B16, V0.B16, V0.B16", "MOVD tag+0(FP), R0; MOVBU (R0), R5; ADD R5, R0, R5; MOVBU (R5), R5; ...", "the address depends on a secret"},
	{"a prefetch at a secret", nhFileARM64, "tagWordsNEON", "MOVD k+8(FP), R1", "...; MOVD 24(R1), R5; PRFM (R5), PLDL1KEEP", "the address depends on a secret"},
	{"a division by a secret", nhFileARM64, "nhPolyNEON", "MOVD y+0(FP), R0", "...; MOVD 24(R1), R5; UDIV R5, R0, R5", "no"},

	// Sizes.
	{"another comparison", nhFileARM64, "nhAddNEON", "BLT nhAdd4Few", "BLE nhAdd4Few", "word 0 is"},
	{"another constant of the last reduction", nhFileARM64, "tagNextNEON", "MOVD $59, R5", "MOVD $60, R5", "word 0 is"},
	{"20 blocks", nhFileARM64, "nhPolyNEON", "MOVD p_len+24(FP), R4", "...; MOVD $20480, R5; CMP R5, R4; BNE other; SUB $1024, R4, R4; other:", "a branch depends on a variable"},
	{"20 blocks, without other code", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; MOVD $20480, R5; CMP R5, R4; MOVD $1024, R5; CSEL EQ, R5, R4, R4", "a branch depends on a variable"},
	{"a loop that counts by itself", aesFileARM64, "encryptBlocks", "MOVD blocks+24(FP), R3", "...; SUBS $18, R3, R5; CSEL CS, R5, R3, R3", "no difference of"},
	{"a bit of a size that is always 0", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; TBZ $16, R4, other; MOVD ZR, R5; other:", "a branch depends on a variable"},
	{"a bit of a size that 34 blocks have", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; TBZ $15, R4, other; MOVD $34816, R4; other:", "a branch depends on a variable"},
	{"a capacity for a length", nhFileARM64, "nhPolyNEON", "MOVD p_len+24(FP), R4", "MOVD p_cap+32(FP), R4", "variable"},
	{"the length of another slice", nhFileARM64, "tagNoncesNEON", "MOVD batch_len+40(FP), R25", "MOVD tags_len+8(FP), R25", "variable"},

	// The state of the CPU.
	{"the carry of the caller", aesFileARM64, "encryptBlocks", "MOVD enc+0(FP), R0", "...; ADC ZR, R0, R0", "undefined"},
	{"a vector that is taken for zeros", nhFileARM64, "tagWordsNEON", "MOVD tag+0(FP), R0", "VEOR V31.B16, V0.B16, V0.B16; ...", "word 0 is"},
	{"a general register that is taken for zeros", nhFileARM64, "tagWordsNEON", "MOVD tag+0(FP), R0", "VMOV R26, V0.D[1]; ...", "word"},
	{"the counter of cycles", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MRS CNTVCT_EL0, R5; ...", "no instruction"},
	{"the flag for data-independent timing", aesFileARM64, "encryptWords", "MOVD enc+0(FP), R0", "MSR $0, DIT; ...", "no instruction"},
	{"data of the program are changed", nhFileARM64, "tagWordsNEON", "MOVD k+8(FP), R1", "...; MOVD $constants<>(SB), R2; MOVD ZR, (R2)", "writes to the program's data"},
	{"AES on a CPU without it", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; AESE V31.B16, V30.B16", "has an instruction of AES"},
	{"a jump to another function", nhFileARM64, "nhAddNEON", "MOVD s+0(FP), R0", "...; CBZ R0, other; B ·fillNEON(SB); other:", "jumps to another function"},
	{"a call", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; BL ·nhPolyNEON(SB)", "no instruction"},

	// SHA-2.
	{"the constants of other rounds", sha2File, "block256SHA2", "FLDPQ 32(R3), (F16, F17)", "FLDPQ 64(R3), (F16, F17)", "word"},
	{"the constants of the four rounds before", sha2File, "block256SHA2", "VADD V17.S4, V4.S4, V7.S4", "VADD V16.S4, V4.S4, V7.S4", "word"},
	{"the new variables for the old ones", sha2File, "block256SHA2", "SHA256H2 V7.S4, V2, V1", "SHA256H2 V7.S4, V0, V1", "word"},
	{"the variables of four rounds before", sha2File, "block256SHA2", "SHA256H V7.S4, V1, V0", "SHA256H V7.S4, V2, V0", "word"},
	{"one part of the schedule for the other", sha2File, "block256SHA2", "SHA256SU0 V4.S4, V3.S4", "SHA256SU0 V5.S4, V3.S4", "word"},
	{"other words of the schedule", sha2File, "block256SHA2", "SHA256SU1 V6.S4, V5.S4, V3.S4", "SHA256SU1 V5.S4, V6.S4, V3.S4", "word"},
	{"the sum of a block and the state is left out", sha2File, "block256SHA2", "VADD V4.S4, V1.S4, V1.S4", "NOP", "word"},
	{"words that are not reversed", sha2File, "block256SHA2", "VREV32 V6.B16, V6.B16", "NOP", "word"},
	{"a store that is left out", sha2File, "block256SHA2", "FSTPQ (F0, F1), 0(R0)", "FMOVQ F0, 0(R0)", "word"},
	{"a write after the state", sha2File, "block256SHA2", "FSTPQ (F0, F1), 0(R0)", "FSTPQ (F0, F1), 16(R0)", "are outside of state"},
	{"a read after the last word", sha2File, "block256SHA2", "FMOVD 0(R11), F7", "FMOVQ 0(R11), F7", "access to 16 bytes"},
	{"a word for the tail", sha2File, "block256SHA2", "MOVWU end256_tail(R4), R6", "MOVWU end256_bits(R4), R6", "word"},
	{"half of the length", sha2File, "block256SHA2", "MOVD end256_bits(R4), R12", "MOVWU end256_bits(R4), R12", "word"},
	{"the length of one block", sha2File, "block256SHA2", "MOVD $768<<32, R5", "MOVD $256<<32, R5", "word"},
	{"vectors in other places", sha2File, "block256SHA2", "TBZ $2, R5, end0After2", "TBZ $2, R5, end0After1", "cannot be reached"},
	{"the fourth block", sha2File, "block256SHA2", "CBZ R2, padded", "CMP $4, R2; BNE other; SUB $1, R2, R2; other:; ...", "a branch depends on a variable"},
	{"the fourth block, without other code", sha2File, "block256SHA2", "CBZ R2, padded", "CMP $4, R2; MOVD $3, R5; CSEL EQ, R5, R2, R2; ...", "a branch depends on a variable"},
	{"a secret in a vector register, after SHA-256", sha2File, "block256SHA2", "VEOR V2.B16, V2.B16, V2.B16", "NOP", "vector register 2"},
	{"a branch on the state", sha2File, "block256SHA2", "MOVD p+8(FP), R1", "MOVD (R0), R5; TBZ $0, R5, other; MOVD ZR, R5; other:; ...", "the branch depends on a secret"},
	{"a branch on the tail", sha2File, "block256SHA2", "MOVWU end256_tail(R4), R6", "...; CBZ R6, other; MOVD ZR, R12; other:", "the branch depends on a secret"},
	{"a load at a word of the message", sha2File, "block256SHA2", "FLDPQ.P 32(R1), (F5, F6)", "MOVWU (R1), R5; AND $60, R5, R5; ADD R5, R3, R5; MOVWU (R5), R5; ...", "the address depends on a secret"},
	{"SHA-512 on a CPU with SHA-256", sha2File, "block256SHA2", "VREV32 V3.B16, V3.B16", "...; SHA512SU0 V26.D2, V26.D2", "has an instruction of SHA512"},
	{"SHA-256 on a CPU without it", nhFileARM64, "nhBlocksNEON", "MOVD p_len+40(FP), R4", "...; SHA256SU0 V31.S4, V30.S4", "has an instruction of SHA2"},
	{"the state of the other message", sha2File, "pair256SHA2", "MOVD other+8(FP), R8", "MOVD state+0(FP), R8", "word"},
	{"words of the other message", sha2File, "pair256SHA2", "FLDPQ.P 32(R9), (F21, F22)", "FLDPQ -32(R1), (F21, F22)", "word"},
	{"the variables of the other message", sha2File, "pair256SHA2", "SHA256H V25.S4, V19, V18", "SHA256H V25.S4, V1, V18", "word"},
	{"the sums of the other message", sha2File, "pair256SHA2", "SHA256H2 V25.S4, V20, V19", "SHA256H2 V7.S4, V20, V19", "word"},
	{"the tail of the other message", sha2File, "pair256SHA2", "MOVWU (end256__size+end256_tail)(R4), R6", "MOVWU end256_tail(R4), R6", "word"},
	{"the length of the other message", sha2File, "pair256SHA2", "MOVD (end256__size+end256_bits)(R4), R12", "MOVD end256_bits(R4), R12", "word"},
	{"the outer value of the other message", sha2File, "pair256SHA2", "MOVD (end256__size+end256_outer)(R4), R10", "MOVD end256_outer(R4), R10", "word"},
	{"a secret of the second message in a vector register", sha2File, "pair256SHA2", "VEOR V20.B16, V20.B16, V20.B16", "NOP", "vector register 20"},
	{"the constants of two rounds of 64 bits", sha2File, "block512SHA512", "FMOVQ.P 16(R5), F28", "FMOVQ (R5), F28", "word"},
	{"a secret of SHA-512 in a vector register", sha2File, "pair512SHA512", "VEOR V17.B16, V17.B16, V17.B16", "NOP", "vector register 17"},
	{"the outer chaining value of an iteration first", sha2File, "iterate256SHA2", "MOVD ZR, R4", "MOVD $32, R4", "word"},
	{"the inner chaining value for both hashes", sha2File, "iterate256SHA2", "ADD R4, R0, R7", "MOVD R0, R7", "word"},
	{"a last U that is not kept, on arm64", sha2File, "iterate256SHA2", "FSTPQ (F3, F4), 64(R0)", "NOP", "word"},
	{"a sum that is not added to", sha2File, "iterate256SHA2", "VEOR V4.B16, V1.B16, V1.B16", "VMOV V4.B16, V1.B16", "word"},
	{"a write to the key of an iteration", sha2File, "iterate256SHA2", "FSTPQ (F3, F4), 64(R0)", "FSTPQ (F3, F4), 32(R0)", "word"},
	{"a branch on the last U, on arm64", sha2File, "iterate256SHA2", "FSTPQ (F3, F4), 64(R0)", "...; MOVWU 80(R0), R5; CBZ R5, other; MOVD ZR, R5; other:", "the branch depends on a secret"},
	{"U of the other iteration", sha2File, "iteratePair256SHA2", "FLDPQ 64(R8), (F21, F22)", "FLDPQ 64(R0), (F21, F22)", "word"},
	{"the key of the other iteration", sha2File, "iteratePair256SHA2", "FLDPQ 0(R10), (F21, F22)", "FLDPQ 0(R7), (F21, F22)", "word"},
	{"a length in the outer padding of 64-bit words", sha2File, "iterate512SHA512", "MOVD $1536, R5", "MOVD $1024, R5", "word"},
	{"a secret of the second iteration in a vector register", sha2File, "iteratePair512SHA512", "VEOR V31.B16, V31.B16, V31.B16", "NOP", "vector register 31"},
}

// trusted are faults of sizes that no proof has, as SECURITY.md says.
var trusted = []fault{
	{"from 1,024 blocks on", aesFile, "encryptBlocks", "MOVQ blocks+32(FP), SI", "...; MOVQ SI, R8; SHRQ $0x0a, R8; SUBQ R8, SI", ""},
	{"from 2^32 blocks on", aesFile, "encryptBlocks", "MOVQ blocks+32(FP), SI", "MOVL blocks+32(FP), SI", ""},
	{"a bit of a size, between those that are proved", aesFileARM64, "encryptBlocks", "MOVD blocks+24(FP), R3", "...; AND $4096, R3, R5; SUB R5, R3, R3", ""},
	{"a part of a size, compared", aesFileARM64, "encryptBlocks", "MOVD blocks+24(FP), R3", "...; ADD $15, R3, R5; LSR $5, R5, R5; CBZ R5, other; MOVD $17, R3; other:", ""},
}

// plant returns a file with a fault.
func (f *fault) plant(t *testing.T, file string) string {
	t.Helper()
	lines := strings.Split(file, "\n")
	n := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "TEXT ·"+f.function+"(SB)") })
	for n++; n > 0 && n < len(lines); n++ {
		if line := strings.Join(strings.Fields(lines[n]), " "); line == f.at {
			lines[n] = strings.ReplaceAll(strings.ReplaceAll(f.lines, "...", line), ";", "\n")
			return strings.Join(lines, "\n")
		}
	}
	t.Fatalf("%s: no line %q in %s", f.what, f.at, f.function)
	return ""
}

// TestPlanted plants faults in the assembly, links it, and checks that each is refused, except for
// what is trusted, and that functions without a fault are not.
func TestPlanted(t *testing.T) {
	all := slices.Concat(planted, plantedARM64, plantedCounts, trusted)
	for _, a := range program.Architectures {
		p := linkedFor(t, a)
		for _, f := range p.Functions {
			if slices.Contains([]string{"nhAddAVX2", "fillAVX2", "nhAddNEON", "fillNEON"}, f.Name) { // some have decisions that are named
				if why := refusal(p, f); why != "" {
					t.Errorf("%s without a fault is refused: %s", f.Name, why)
				}
			}
		}
	}
	for len(all) > 0 {
		// One fault in each function of an architecture at a time.
		var now []fault
		all = slices.DeleteFunc(all, func(f fault) bool {
			first := !slices.ContainsFunc(now, func(g fault) bool {
				return g.function == f.function || g.architecture() != f.architecture()
			})
			if first {
				now = append(now, f)
			}
			return first
		})
		checkPlanted(t, now)
	}
}

// checkPlanted checks faults of different functions together. A fault with which they cannot be loaded is
// refused by that, if the error is about its function. If it is about none, each half is checked.
func checkPlanted(t *testing.T, now []fault) {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range now {
		if files[f.file] == "" {
			b, err := os.ReadFile(filepath.Join(root, f.file))
			if err != nil {
				t.Fatal(err)
			}
			files[f.file] = string(b)
		}
		files[f.file] = f.plant(t, files[f.file])
	}
	p, err := program.Load(now[0].architecture(), files)
	if err != nil && len(now) > 1 {
		k := slices.IndexFunc(now, func(f fault) bool { return strings.HasPrefix(err.Error(), f.function+": ") })
		if k < 0 {
			checkPlanted(t, now[:len(now)/2])
			checkPlanted(t, now[len(now)/2:])
			return
		}
		now[k].refused(t, err.Error())
		checkPlanted(t, slices.Delete(now, k, k+1))
		return
	}
	var chosen []*program.Choice
	if err == nil {
		chosen = p.Choices
	}
	for _, f := range now {
		why := fmt.Sprint(err)
		if c := slices.IndexFunc(chosen, func(c *program.Choice) bool { return c.Name == f.function }); err == nil && c >= 0 {
			why = fmt.Sprint(takes(chosen[c]))
		} else if err == nil {
			k := slices.IndexFunc(p.Functions, func(g *machine.Function) bool { return g.Name == f.function })
			why = refusal(p, p.Functions[k])
		}
		f.refused(t, why)
	}
}

// refused checks why a fault is refused.
func (f *fault) refused(t *testing.T, why string) {
	t.Helper()
	if !strings.Contains(why, f.want) || (why == "") != (f.want == "") {
		t.Errorf("%s: %s: refused with %q, want %q", f.function, f.what, why, f.want)
	}
}

// architecture is that of the file.
func (f *fault) architecture() *machine.Architecture {
	if strings.HasSuffix(f.file, "_arm64.s") {
		return arm64.Architecture
	}
	return x86.Architecture
}

// expected are the decisions that are named.
//
//go:embed decisions.txt
var expected string

// refusal returns why a function is refused, or "".
func refusal(p *program.Program, f *machine.Function) (why string) {
	defer func() {
		if r := recover(); r != nil { // an instruction has no model
			why = "no model: " + fmt.Sprint(r)
		}
	}()
	if _, err := f.Graph(); err != nil {
		return err.Error()
	}
	if found := secrets.Leaks(f, secrets.NewSignature(p.Declared[f.Pkg+"."+f.Name])); len(found) > 0 {
		return found[0].String()
	}
	for _, step := range []int{fewSizes, 1} {
		covered := newCoverage()
		for _, x := range proofsOf(f) {
			v := newProver(p, f, step)
			if _, err := x.run(v); err != nil {
				return err.Error()
			}
			covered.add(v.coverage)
		}
		if step != 1 {
			continue
		}
		missing, decisions := covered.missing(f)
		for _, line := range decisions {
			if !strings.Contains("\n"+expected, "\n"+line) {
				missing = append(missing, line)
			}
		}
		if missing != nil {
			return strings.Join(missing, "\n")
		}
	}
	return ""
}
