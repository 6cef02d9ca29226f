// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The compression function of SHA-512, FIPS 180-4 section 6.4.2.
//
// A word of the state or of the block is big-endian, as in the standard: its bytes are
// addressed by displacement, so nothing is ever swapped. Here byte 0 of a word is the
// least significant one.
//
// The working variables are a window of 64 bytes at Y, a to h. A round writes the new e
// over d and the new a below the old one, and moves Y down by 8, so that each variable
// becomes the next one. After 16 rounds Y goes up again, to a window that the last four of
// them have written too: it has the a and the e of each. The new a and e also stay in
// registers. The other six are read from the window where they are used.
//
// Registers, of byte i modulo 8, so that a rotation by whole bytes is a sum of indices:
#define T(i) (16 + ((i) & 7)) // T1 of the standard; a new word of the schedule
#define E(i) (2 + ((i) & 7)) // the variable e
#define A(i) (10 + ((i) & 7) + 8 * (((i) & 7) / 6)) // the variable a: r10-r15, r24, r25
// X is the next word of the schedule, Y the window, Z the code of the next constant. The
// T flag is set in the last four of 16 rounds. r0 and r1 are temporary.
//
// No branch and no address depends on data. Nothing is kept below the stack pointer.

#ifndef __AVR_HAVE_MUL__
#error fastmac: SHA-512 needs an AVR with a hardware multiplier, such as an ATmega
#endif

#define SREG 0x3f
#define SPH 0x3e
#define SPL 0x3d

// Offsets in the context. The number of blocks is at 0.
#define USED 4
#define STATE 5
#define BLOCK (STATE + STATE_SIZE)
#define STATE_SIZE 64
#define BLOCK_SIZE 128
#define FRAME (64 + 16 * 8) // the window, and 16 rounds of it
#define K_WORDS 9 // of code for one constant

// Displacements of byte i of a variable in the window. A round reads f, g and h, moves Y
// down by 8, and then reads b, c and d: these three count from the new Y.
#define WORD(n, i) (8 * (n) + 7 - (i))
#define f(i) WORD(5, i)
#define g(i) WORD(6, i)
#define h(i) WORD(7, i)
#define new_a(i) WORD(0, i)
#define b(i) WORD(2, i)
#define c(i) WORD(3, i)
#define d(i) WORD(4, i)
#define new_e(i) d(i)

// The bytes of a word from the least significant one, and from the most significant one,
// which is their order in memory.
#define UP 0, 1, 2, 3, 4, 5, 6, 7
#define DOWN 7, 6, 5, 4, 3, 2, 1, 0

// addc adds byte i of two words, and rolc shifts it to the left.
.macro addc i, rd, rr
	.if	\i == 0
	add	\rd, \rr
	.else
	adc	\rd, \rr
	.endif
.endm
.macro rolc i, rd
	.if	\i == 0
	lsl	\rd
	.else
	rol	\rd
	.endif
.endm

// Sum1 sets T to Sigma1(E) = ROTR 14 ^ ROTR 18 ^ ROTR 41, as
// ROTR1(x40 ^ ROTR1(x16 ^ ROTR4(x8))), where x40 is E rotated by 40 bits, which only
// renames bytes. ROTR4(x8) = ROTL4(x16) is a multiplication by 16. E stays as it is. The
// factor is in A(6), which is then read again.
.macro Sum1
	ldi	A(6), 16
	.irp	i, 0, 2, 4, 6
	mul	E(\i), A(6)
	movw	T(\i - 2), r0
	.endr
	.irp	i, 1, 3, 5, 7
	mul	E(\i), A(6)
	eor	T(\i - 2), r0
	eor	T(\i - 1), r1
	.endr
	ldd	A(6), Y + new_a(6)
	.irp	i, UP
	eor	T(\i), E(\i + 2)
	.endr
	rotr1_T
	.irp	i, UP
	eor	T(\i), E(\i + 5)
	.endr
	rotr1_T
.endm
.macro rotr1_T
	mov	r0, T(0)
	lsr	r0
	.irp	i, DOWN
	ror	T(\i)
	.endr
.endm

// Ch_add adds Ch(e, f, g) = g ^ (e & (f ^ g)) to T.
.macro Ch_add
	.irp	i, UP
	ldd	r0, Y + f(\i)
	ldd	r1, Y + g(\i)
	eor	r0, r1
	and	r0, E(\i)
	eor	r0, r1
	addc	\i, T(\i), r0
	.endr
.endm

// Sum0 sets E to Sigma0(A) = ROTR 28 ^ ROTR 34 ^ ROTR 39, as
// ROTL1(x40 ^ ROTL3(x32 ^ ROTL2(x40))), but leaves the bit that the last ROTL1 brings
// down in the carry, for the addition that comes next. Byte i is in E(i + 1), so that the
// copy is one of pairs. A stays as it is.
.macro Sum0
	movw	E(0), A(4)
	movw	E(2), A(6)
	movw	E(4), A(0)
	movw	E(6), A(2)
	clr	r1
	rotl1_E
	rotl1_E
	.irp	i, UP
	eor	E(\i + 1), A(\i + 4)
	.endr
	rotl1_E
	rotl1_E
	rotl1_E
	.irp	i, UP
	eor	E(\i + 1), A(\i + 5)
	.endr
	.irp	i, UP
	rolc	\i, E(\i + 1)
	.endr
.endm
.macro rotl1_E
	.irp	i, UP
	rolc	\i, E(\i + 1)
	.endr
	adc	E(1), r1
.endm

// Maj_add sets A to Maj(a, b, c) = b ^ ((a ^ b) & (b ^ c)), plus the word that Sum0 left,
// with its carry. None of the other instructions touches the carry.
.macro Maj_add
	.irp	i, UP
	ldd	r0, Y + b(\i)
	ldd	r1, Y + c(\i)
	eor	r1, r0
	eor	A(\i), r0
	and	A(\i), r1
	eor	A(\i), r0
	adc	A(\i), E(\i + 1)
	.endr
.endm

// sigma0_A sets A to sigma0(E) = ROTR 1 ^ ROTR 8 ^ SHR 7. SHR 7 is SHL 1, of nine bytes,
// without the lowest. E is lost.
.macro sigma0_A
	copy_A
	mov	r0, A(0)
	lsr	r0
	.irp	i, DOWN
	ror	A(\i)
	.endr
	.irp	i, UP
	eor	A(\i), E(\i + 1)
	.endr
	.irp	i, UP
	rolc	\i, E(\i)
	.endr
	clr	E(0)
	rol	E(0) // the ninth byte
	.irp	i, UP
	eor	A(\i), E(\i + 1)
	.endr
.endm
.macro copy_A
	movw	A(0), E(0)
	movw	A(2), E(2)
	movw	A(4), E(4)
	movw	A(6), E(6)
.endm

// sigma1_A sets A to sigma1(E) = ROTR 19 ^ ROTR 61 ^ SHR 6, as
// SHL2(x8 ^ ROTL1(x64 ^ ROTL2(x24))). Byte i is in A(i + 3). SHR 6 is SHL 2, of nine bytes,
// without the lowest: what comes in from below is that byte of x8, and the top byte of
// the two rotations.
.macro sigma1_A
	copy_A
	mov	r0, A(7 + 3)
	rotl1_A
	rotl1_A
	.irp	i, UP
	eor	A(\i + 3), E(\i)
	.endr
	mov	r0, A(7 + 3)
	rotl1_A
	.irp	i, 0, 1, 2, 3, 4, 5, 6
	eor	A(\i + 3), E(\i + 1)
	.endr
	mov	r0, A(7 + 3)
	eor	r0, E(0)
	rotl1_A
	rotl1_A
.endm
.macro rotl1_A // what comes in is the top bit of r0
	lsl	r0
	.irp	i, UP
	rol	A(\i + 3)
	.endr
.endm

// stack_pointer sets the stack pointer to Y. An interrupt never sees half of it.
.macro stack_pointer
	in	r0, SREG
	cli
	out	SPH, r29
	out	SREG, r0
	out	SPL, r28
.endm

// K adds a constant to T, by subtracting its negative: a byte costs one cycle, and with
// lpm from a table four. The code of the constants is a table for ijmp, which reaches
// the first 128 KiB of flash. \then is where it goes on.
.macro K hi, lo, then=constant_added
	subi	T(0), (-(\lo)) & 0xff
	sbci	T(1), (-(\lo) >> 8) & 0xff
	sbci	T(2), (-(\lo) >> 16) & 0xff
	sbci	T(3), (-(\lo) >> 24) & 0xff
	sbci	T(4), ~(\hi) & 0xff // no \lo is 0, so nothing is carried
	sbci	T(5), (~(\hi) >> 8) & 0xff
	sbci	T(6), (~(\hi) >> 16) & 0xff
	sbci	T(7), (~(\hi) >> 24) & 0xff
	rjmp	\then
.endm

	// The linker places this before all other code, except for the vectors.
	.section .progmem.gcc_sha512, "ax", @progbits
	.p2align 1

constants:
	K	0x428a2f98, 0xd728ae22
	K	0x71374491, 0x23ef65cd
	K	0xb5c0fbcf, 0xec4d3b2f
	K	0xe9b5dba5, 0x8189dbbc
	K	0x3956c25b, 0xf348b538
	K	0x59f111f1, 0xb605d019
	K	0x923f82a4, 0xaf194f9b
	K	0xab1c5ed5, 0xda6d8118
	K	0xd807aa98, 0xa3030242
	K	0x12835b01, 0x45706fbe
	K	0x243185be, 0x4ee4b28c
	K	0x550c7dc3, 0xd5ffb4e2
	K	0x72be5d74, 0xf27b896f, late_constant_added
	K	0x80deb1fe, 0x3b1696b1
	K	0x9bdc06a7, 0x25c71235
	K	0xc19bf174, 0xcf692694
	K	0xe49b69c1, 0x9ef14ad2
	K	0xefbe4786, 0x384f25e3
	K	0x0fc19dc6, 0x8b8cd5b5
	K	0x240ca1cc, 0x77ac9c65
	K	0x2de92c6f, 0x592b0275
	K	0x4a7484aa, 0x6ea6e483
	K	0x5cb0a9dc, 0xbd41fbd4
	K	0x76f988da, 0x831153b5
	K	0x983e5152, 0xee66dfab
	K	0xa831c66d, 0x2db43210
	K	0xb00327c8, 0x98fb213f
	K	0xbf597fc7, 0xbeef0ee4
	K	0xc6e00bf3, 0x3da88fc2, late_constant_added
	K	0xd5a79147, 0x930aa725
	K	0x06ca6351, 0xe003826f
	K	0x14292967, 0x0a0e6e70
	K	0x27b70a85, 0x46d22ffc
	K	0x2e1b2138, 0x5c26c926
	K	0x4d2c6dfc, 0x5ac42aed
	K	0x53380d13, 0x9d95b3df
	K	0x650a7354, 0x8baf63de
	K	0x766a0abb, 0x3c77b2a8
	K	0x81c2c92e, 0x47edaee6
	K	0x92722c85, 0x1482353b
	K	0xa2bfe8a1, 0x4cf10364
	K	0xa81a664b, 0xbc423001
	K	0xc24b8b70, 0xd0f89791
	K	0xc76c51a3, 0x0654be30
	K	0xd192e819, 0xd6ef5218, late_constant_added
	K	0xd6990624, 0x5565a910
	K	0xf40e3585, 0x5771202a
	K	0x106aa070, 0x32bbd1b8
	K	0x19a4c116, 0xb8d2d0c8
	K	0x1e376c08, 0x5141ab53
	K	0x2748774c, 0xdf8eeb99
	K	0x34b0bcb5, 0xe19b48a8
	K	0x391c0cb3, 0xc5c95a63
	K	0x4ed8aa4a, 0xe3418acb
	K	0x5b9cca4f, 0x7763e373
	K	0x682e6ff3, 0xd6b2b8a3
	K	0x748f82ee, 0x5defb2fc
	K	0x78a5636f, 0x43172f60
	K	0x84c87814, 0xa1f0ab72
	K	0x8cc70208, 0x1a6439ec
	K	0x90befffa, 0x23631e28, late_constant_added
	K	0xa4506ceb, 0xde82bde9
	K	0xbef9a3f7, 0xb2c67915
	K	0xc67178f2, 0xe372532b
	K	0xca273ece, 0xea26619c
	K	0xd186b8c7, 0x21c0c207
	K	0xeada7dd6, 0xcde0eb1e
	K	0xf57d4f7f, 0xee6ed178
	K	0x06f067aa, 0x72176fba
	K	0x0a637dc5, 0xa2c898a6
	K	0x113f9804, 0xbef90dae
	K	0x1b710b35, 0x131c471b
	K	0x28db77f5, 0x23047d84
	K	0x32caab7b, 0x40c72493
	K	0x3c9ebe0a, 0x15c9bebc
	K	0x431d67c4, 0x9c100d4c
	K	0x4cc5d4be, 0xcb3e42b6, late_constant_added
	K	0x597f299c, 0xfc657e2a
	K	0x5fcb6fab, 0x3ad6faec
	K	0x6c44198c, 0x4a475817
constants_end:

// sha512_ctx *sha512_compress(sha512_ctx *ctx) returns ctx.
	.global	sha512_compress
	.type	sha512_compress, @function
sha512_compress:
	.irp	r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
	push	\r
	.endr
	in	r28, SPL
	in	r29, SPH
	subi	r28, lo8(FRAME)
	sbci	r29, hi8(FRAME)
	stack_pointer

	// The state is the first window, at the upper end of the frame.
	subi	r28, lo8(-(FRAME - 64 + 1))
	sbci	r29, hi8(-(FRAME - 64 + 1))
	movw	r22, r24
	subi	r22, lo8(-STATE)
	sbci	r23, hi8(-STATE)
	movw	r24, r28
	ldi	r20, 64
	rcall	sha512_copy // leaves X at the block
	clt
	ldi	r30, lo8(pm(constants))
	ldi	r31, hi8(pm(constants))

sixteen_rounds:
	.irp	i, UP
	ldd	A(\i), Y + new_a(\i)
	.endr
	.irp	i, UP
	ldd	E(\i), Y + new_e(\i)
	.endr
round:
	Sum1
	ijmp
late_constant_added:
	set
constant_added:
	adiw	r30, K_WORDS
	Ch_add
	.irp	i, DOWN
	ld	E(\i), X+
	.endr
	.irp	i, UP
	addc	\i, T(\i), E(\i)
	.endr
	.irp	i, UP
	ldd	r0, Y + h(\i)
	addc	\i, T(\i), r0
	.endr
	sbiw	r28, 8
	Sum0
	Maj_add
	.irp	i, UP
	addc	\i, A(\i), T(\i)
	std	Y + new_a(\i), A(\i)
	.endr
	.irp	i, UP
	ldd	E(\i), Y + d(\i)
	addc	\i, E(\i), T(\i)
	std	Y + new_e(\i), E(\i)
	.endr
	brts	1f
	rjmp	round

	// The last four rounds also write to the window with which the next 16 begin.
1:	subi	r28, lo8(-(FRAME - 64))
	sbci	r29, hi8(-(FRAME - 64))
	.irp	i, UP
	std	Y + new_a(\i), A(\i)
	std	Y + new_e(\i), E(\i)
	.endr
	subi	r28, lo8(FRAME - 64)
	sbci	r29, hi8(FRAME - 64)
	in	r16, SPL
	inc	r16
	cp	r16, r28
	breq	1f // Y is at the lower end of the frame
	rjmp	round

	// X is at the end of the block.
1:	clt
	cpi	r30, lo8(pm(constants_end)) // its low byte differs from those after 16, 32, 48 and 64
	brne	1f
	rjmp	add_state
1:	std	Y + 0, r30 // the old window is not needed
	std	Y + 1, r31

	// The next 16 words of the schedule, in place. Y is word t - 16, Z is t - 7, and X
	// is t - 2.
	movw	r28, r26
	subi	r28, lo8(BLOCK_SIZE)
	sbci	r29, hi8(BLOCK_SIZE)
	movw	r30, r26
	sbiw	r30, 7 * 8
	sbiw	r26, 2 * 8
	ldi	r24, 2
	rcall	schedule
	subi	r26, lo8(BLOCK_SIZE)
	sbci	r27, hi8(BLOCK_SIZE)
	ldi	r24, 5
	rcall	schedule
	subi	r30, lo8(BLOCK_SIZE)
	sbci	r31, hi8(BLOCK_SIZE)
	ldi	r24, 8
	rcall	schedule
	// Word t - 15 of the last step is the first word of the block.
	.irp	i, UP
	ldd	T(\i), Y + WORD(0, \i)
	.endr
	subi	r28, lo8(15 * 8)
	sbci	r29, hi8(15 * 8)
	.irp	i, UP
	ldd	E(\i), Y + WORD(0, \i)
	.endr
	subi	r28, lo8(-15 * 8)
	sbci	r29, hi8(-15 * 8)
	inc	r1 // from 0
	rcall	schedule_loaded

	movw	r26, r28
	subi	r26, lo8(BLOCK_SIZE)
	sbci	r27, hi8(BLOCK_SIZE)
	in	r28, SPL
	in	r29, SPH
	adiw	r28, 1
	ldd	r30, Y + 0
	ldd	r31, Y + 1
	subi	r28, lo8(-(FRAME - 64))
	sbci	r29, hi8(-(FRAME - 64))
	rjmp	sixteen_rounds

add_state:
	subi	r26, lo8(STATE_SIZE + BLOCK_SIZE)
	sbci	r27, hi8(STATE_SIZE + BLOCK_SIZE)
	movw	r30, r26
	ldi	r24, 8
1:	.irp	i, UP
	ldd	T(\i), Z + WORD(0, \i)
	ldd	r0, Y + WORD(0, \i)
	addc	\i, T(\i), r0
	.endr
	.irp	i, DOWN
	st	Z+, T(\i)
	.endr
	adiw	r28, 8
	dec	r24
	brne	1b

	// Wipe the frame, at whose lower end the window was, and the registers that are not
	// restored.
	subi	r28, 64
	sbci	r29, 0
	clr	r1
	movw	r30, r28
	ldi	r20, FRAME
	rcall	zeros
	movw	r24, r26
	sbiw	r24, STATE
	.irp	r, 18, 19
	mov	\r, r1
	.endr
	subi	r28, lo8(-(FRAME - 1))
	sbci	r29, hi8(-(FRAME - 1))
	stack_pointer
	.irp	r, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
	pop	\r
	.endr
	ret
	.size	sha512_compress, . - sha512_compress

// schedule computes r24 words of the schedule in place:
// W(t) = W(t - 16) + sigma0(W(t - 15)) + W(t - 7) + sigma1(W(t - 2)).
schedule:
	mov	r1, r24
1:	.irp	i, UP
	ldd	T(\i), Y + WORD(0, \i)
	.endr
	.irp	i, UP
	ldd	E(\i), Y + WORD(1, \i)
	.endr
schedule_loaded:
	sigma0_A
	.irp	i, UP
	addc	\i, T(\i), A(\i)
	.endr
	.irp	i, DOWN
	ld	E(\i), Z+
	.endr
	.irp	i, UP
	addc	\i, T(\i), E(\i)
	.endr
	.irp	i, DOWN
	ld	E(\i), X+
	.endr
	sigma1_A
	.irp	i, UP
	addc	\i, T(\i), A(\i + 3)
	.endr
	.irp	i, DOWN
	st	Y+, T(\i)
	.endr
	dec	r1
	breq	2f
	rjmp	1b
2:	ret

// void sha512_init(sha512_ctx *ctx)
	.global	sha512_init
	.type	sha512_init, @function
sha512_init:
	movw	r26, r24
	ldi	r30, lo8(initial)
	ldi	r31, hi8(initial)
	.rept	STATE // blocks and used
	st	X+, r1
	.endr
	ldi	r24, 8
1:	.rept	8
	lpm	r0, Z+
	st	X+, r0
	.endr
	dec	r24
	brne	1b
	ret
	.size	sha512_init, . - sha512_init

// The initial hash value, section 5.3.5.
initial:
	.byte	0x6a, 0x09, 0xe6, 0x67, 0xf3, 0xbc, 0xc9, 0x08
	.byte	0xbb, 0x67, 0xae, 0x85, 0x84, 0xca, 0xa7, 0x3b
	.byte	0x3c, 0x6e, 0xf3, 0x72, 0xfe, 0x94, 0xf8, 0x2b
	.byte	0xa5, 0x4f, 0xf5, 0x3a, 0x5f, 0x1d, 0x36, 0xf1
	.byte	0x51, 0x0e, 0x52, 0x7f, 0xad, 0xe6, 0x82, 0xd1
	.byte	0x9b, 0x05, 0x68, 0x8c, 0x2b, 0x3e, 0x6c, 0x1f
	.byte	0x1f, 0x83, 0xd9, 0xab, 0xfb, 0x41, 0xbd, 0x6b
	.byte	0x5b, 0xe0, 0xcd, 0x19, 0x13, 0x7e, 0x21, 0x79

// void sha512_update(sha512_ctx *ctx, const void *msg, size_t len)
	.global	sha512_update
	.type	sha512_update, @function
sha512_update:
	.irp	r, 14, 15, 16, 17
	push	\r
	.endr
	movw	r18, r24 // the context
	movw	r14, r22 // the message
	movw	r16, r20 // its bytes
1:	mov	r0, r16
	or	r0, r17
	breq	3f
	movw	r30, r18
	ldd	r21, Z + USED
	ldi	r20, BLOCK_SIZE
	sub	r20, r21 // up to the end of the block
	cp	r16, r20
	cpc	r17, r1
	brsh	2f
	mov	r20, r16
2:	sub	r16, r20
	sbc	r17, r1
	movw	r24, r18
	subi	r24, lo8(-BLOCK)
	sbci	r25, hi8(-BLOCK)
	add	r24, r21
	adc	r25, r1
	add	r21, r20
	std	Z + USED, r21
	movw	r22, r14
	add	r14, r20
	adc	r15, r1
	rcall	sha512_copy
	movw	r30, r18
	ldd	r21, Z + USED
	sbrs	r21, 7
	rjmp	1b
	std	Z + USED, r1 // it was 128
	.irp	i, 0, 1, 2, 3
	ldd	20 + \i, Z + \i
	.endr
	subi	r20, 0xff
	sbci	r21, 0xff
	sbci	r22, 0xff
	sbci	r23, 0xff
	.irp	i, 0, 1, 2, 3
	std	Z + \i, 20 + \i
	.endr
	movw	r24, r18
	rcall	sha512_compress
	movw	r18, r24
	rjmp	1b
3:	.irp	r, 17, 16, 15, 14
	pop	\r
	.endr
	ret
	.size	sha512_update, . - sha512_update

// void sha512_finish(sha512_ctx *ctx)
	.global	sha512_finish
	.type	sha512_finish, @function
sha512_finish:
	movw	r18, r24
	movw	r30, r24
	ldd	r21, Z + USED
	subi	r30, lo8(-BLOCK)
	sbci	r31, hi8(-BLOCK)
	add	r30, r21
	adc	r31, r1
	ldi	r20, 0x80
	st	Z+, r20
	ldi	r20, BLOCK_SIZE - 1
	sub	r20, r21 // after the 0x80
	cpi	r21, BLOCK_SIZE - 16
	brlo	1f
	rcall	zeros
	movw	r24, r18
	rcall	sha512_compress
	movw	r18, r24
	movw	r30, r24
	subi	r30, lo8(-BLOCK)
	sbci	r31, hi8(-BLOCK)
	ldi	r20, BLOCK_SIZE
1:	rcall	zeros // leaves Z at the end of the block
	movw	r26, r18
	.irp	r, 20, 21, 22, 23, 25
	ld	\r, X+
	.endr
	// The number of bits is blocks * 1024 + used * 8.
	lsl	r25
	.rept	2
	lsl	r25
	rol	r20
	rol	r21
	rol	r22
	rol	r23
	.endr
	.irp	r, 25, 20, 21, 22, 23
	st	-Z, \r
	.endr
	movw	r24, r18
	rjmp	sha512_compress
	.size	sha512_finish, . - sha512_finish

// void sha512_copy(void *to, const void *from, uint8_t n)
	.global	sha512_copy
	.type	sha512_copy, @function
sha512_copy:
	movw	r30, r24
	movw	r26, r22
	mov	r21, r20
	andi	r21, 7
	breq	2f
1:	ld	r0, X+
	st	Z+, r0
	dec	r21
	brne	1b
2:	lsr	r20
	lsr	r20
	lsr	r20
	breq	4f
3:	.rept	8
	ld	r0, X+
	st	Z+, r0
	.endr
	dec	r20
	brne	3b
4:
	ret
	.size	sha512_copy, . - sha512_copy

// void sha512_fill(void *p, uint8_t value, uint16_t n), n < 2048
	.global	sha512_fill
	.type	sha512_fill, @function
sha512_fill:
	movw	r30, r24
	rjmp	1f
zeros: // sets r20 bytes at Z to zero
	ldi	r21, 0
	ldi	r22, 0
1:	mov	r23, r20
	andi	r23, 7
	breq	3f
2:	st	Z+, r22
	dec	r23
	brne	2b
3:	.rept	3
	lsr	r21
	ror	r20
	.endr
	breq	5f
4:	.rept	8
	st	Z+, r22
	.endr
	dec	r20
	brne	4b
5:	mov	r0, r1
	ret
	.size	sha512_fill, . - sha512_fill
