// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The runner calls functions of a firmware in simavr, one instruction at a time.
//
//	run MCU FIRMWARE IDLE
//
// IDLE is the byte address of an endless loop that main enters. Then it reads commands
// from standard input, numbers in hexadecimal, and answers each with a line:
//
//	w ADDR BYTES            writes to the data space, which begins with the registers
//	r ADDR N                reads from it
//	s ADDR N                reads what it was when the last call returned
//	c PC R24 R22 R20 R18 R16 TRACK SCRIBBLE
//
// The last one calls the function at the byte address PC with up to five arguments of 16
// bits. Of the function TRACK it measures every call. If SCRIBBLE is 1, the 32 bytes
// below the stack pointer change before each instruction, as in an interrupt. It answers
//
//	R24 CYCLES STACK CALLS MIN MAX HASH ABI
//
// where STACK is the number of bytes of stack, with the return address; CALLS, MIN and MAX
// are the number of calls of TRACK and their cycles; HASH depends on the addresses of all
// instructions in their order; and ABI is 1 if the registers that a function must
// preserve are what they were, and r1 is 0.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

enum { SPL = 0x5d, SPH = 0x5e };

static FILE *answer; // simavr itself writes to standard output
static avr_t *avr;
static uint8_t *snapshot;

static void fail(const char *what)
{
	fprintf(stderr, "run: %s\n", what);
	exit(1);
}

static uint16_t sp(void) { return avr->data[SPL] | avr->data[SPH] << 8; }

static void step(void)
{
	int state = avr_run(avr);
	if (state == cpu_Done || state == cpu_Crashed)
		fail("the firmware crashed");
}

static void call(unsigned pc, unsigned args[5], unsigned idle, unsigned track, int scribble)
{
	static const uint8_t preserved[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29};
	const uint16_t top = sp();
	uint16_t low = top, track_sp = 0;
	uint8_t before[32], garbage[64];
	uint64_t hash = 14695981039346656037u, start = avr->cycle, track_start = 0;
	unsigned calls = 0, min = -1, max = 0;
	uint8_t *d = avr->data;
	int enabled = avr->sreg[S_I] = 1;

	for (size_t i = 0; i < sizeof preserved; i++)
		d[preserved[i]] = 0xa5 + i;
	for (size_t i = 0; i < sizeof garbage; i++)
		garbage[i] = 37 * i + 1;
	for (int i = 0; i < 5; i++) {
		d[24 - 2 * i] = args[i];
		d[25 - 2 * i] = args[i] >> 8;
	}
	memcpy(before, d, 32);
	unsigned s = top, to = idle / 2;
	for (int i = 0; i < avr->address_size; i++, to >>= 8)
		d[s--] = to;
	d[SPL] = s;
	d[SPH] = s >> 8;
	avr->pc = pc;
	for (;;) {
		// The stack pointer is whole when an interrupt could come: one instruction
		// still runs after interrupts have been enabled.
		int interruptible = enabled && avr->sreg[S_I];
		enabled = avr->sreg[S_I];
		if (interruptible) {
			if (sp() < low)
				low = sp();
			if (track_sp && sp() > track_sp) {
				unsigned n = avr->cycle - track_start;
				min = n < min ? n : min;
				max = n > max ? n : max;
				calls++;
				track_sp = 0;
			}
			if (scribble)
				memcpy(d + sp() - 31, garbage + avr->cycle % 32, 32);
		}
		if (avr->pc == idle && sp() == top)
			break;
		if (avr->pc == track && !track_sp) {
			track_sp = sp();
			track_start = avr->cycle;
		}
		hash = (hash ^ avr->pc) * 1099511628211u;
		step();
		if (avr->cycle - start > 1000000000)
			fail("the call does not return");
	}
	int abi = d[1] == 0;
	for (size_t i = 0; i < sizeof preserved; i++)
		abi &= d[preserved[i]] == before[preserved[i]];
	memcpy(snapshot, d, avr->ramend + 1);
	fprintf(answer, "%x %x %x %x %x %x %016llx %d\n", d[24], (unsigned)(avr->cycle - start), top - low,
		calls, calls ? min : 0, max, (unsigned long long)hash, abi);
}

int main(int argc, char **argv)
{
	static elf_firmware_t firmware;
	static char line[1 << 16];

	if (argc != 4)
		fail("usage: run MCU FIRMWARE IDLE");
	answer = fdopen(dup(1), "w");
	dup2(2, 1);
	unsigned idle = strtoul(argv[3], NULL, 16);
	if (elf_read_firmware(argv[2], &firmware))
		fail("no firmware");
	avr = avr_make_mcu_by_name(argv[1]);
	if (!avr)
		fail("no such MCU");
	avr_init(avr);
	avr_load_firmware(avr, &firmware);
	avr->run_cycle_limit = 1;
	snapshot = calloc(avr->ramend + 1, 1);
	while (avr->pc != idle)
		step();

	while (fgets(line, sizeof line, stdin)) {
		unsigned x[8], n;
		int at;
		if (sscanf(line, "w %x %n", &x[0], &at) == 1) {
			for (n = 0; sscanf(line + at + 2 * n, "%2x", &x[1]) == 1; n++)
				avr->data[x[0] + n] = x[1];
			fprintf(answer, "%x\n", n);
		} else if (sscanf(line, "r %x %x", &x[0], &x[1]) == 2 || sscanf(line, "s %x %x", &x[0], &x[1]) == 2) {
			if (x[0] + x[1] > avr->ramend + 1u)
				fail("no such address");
			for (n = 0; n < x[1]; n++)
				fprintf(answer, "%02x", (line[0] == 'r' ? avr->data : snapshot)[x[0] + n]);
			fprintf(answer, "\n");
		} else if (sscanf(line, "c %x %x %x %x %x %x %x %x", &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7]) == 8) {
			call(x[0], x + 1, idle, x[6], x[7]);
		} else {
			fail("no such command");
		}
		fflush(answer);
	}
	return 0;
}
