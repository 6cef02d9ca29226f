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

#include "sha512_functions.inc"

// stack_pointer sets the stack pointer to Y. An interrupt never sees half of it.
.macro stack_pointer
	in	r0, SREG
	cli
	out	SPH, r29
	out	SREG, r0
	out	SPL, r28
.endm

	// The linker places this before all other code, except for the vectors.
	.section .progmem.gcc_sha512, "ax", @progbits
	.p2align 1

#include "sha512_constants.inc"

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

#include "sha512_message.inc"
