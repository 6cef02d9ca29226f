// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A plugin of qemu's user mode that writes what a program executes between two functions:
//
//	qemu-aarch64 -plugin ./plugin.so,start=HEX,stop=HEX,out=FILE PROGRAM
//
// start and stop are the addresses of the functions. From the first instruction of start to the
// first of stop, both included, FILE gets a record for each instruction, followed by those of its
// memory accesses, in the byte order of the host. They are of the thread that reached start, and of
// no other.

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is used of qemu-plugin.h, which Debian does not package. It is the same in version 1 of the
// API, that of qemu 7.2, and in version 2, which qemu wants from 9.0 on. A qemu refuses a version
// that it does not have.
struct tb;
struct insn;
enum { noRegisters = 0, readsAndWrites = 3 };
typedef void translated(uint64_t id, struct tb *tb);
typedef void executed(unsigned vcpu, void *data);
typedef void accessed(unsigned vcpu, uint32_t info, uint64_t address, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated *);
size_t qemu_plugin_tb_n_insns(const struct tb *);
struct insn *qemu_plugin_tb_get_insn(const struct tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *, executed *, int registers, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct insn *, accessed *, int registers, int which, void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

int qemu_plugin_version = API; // the test defines it

// A record is an address, and in the high bits what it is of.
#define ACCESS (UINT64_C(1) << 63)
#define STORE (UINT64_C(1) << 62)
#define SIZE 56 // the bit from which on an access has the logarithm of its size
#define ADDRESS ((UINT64_C(1) << SIZE) - 1)

static uint64_t start, stop;
static volatile int64_t traced = -1; // the thread
static FILE *out;

static void put(uint64_t record) {
	if (fwrite(&record, sizeof record, 1, out) != 1) {
		perror("fastmac: the trace");
		exit(1);
	}
}

static void execute(unsigned vcpu, void *data) {
	uint64_t address = (uintptr_t)data;
	if (address == start)
		traced = vcpu;
	if (traced != vcpu)
		return;
	put(address);
	if (address == stop) {
		traced = -1;
		fflush(out); // the process may exit without a call of exit
	}
}

static void access(unsigned vcpu, uint32_t info, uint64_t address, void *data) {
	(void)data;
	if (traced == vcpu)
		put(ACCESS | (qemu_plugin_mem_is_store(info) ? STORE : 0) |
		    (uint64_t)qemu_plugin_mem_size_shift(info) << SIZE | (address & ADDRESS));
}

static void translate(uint64_t id, struct tb *tb) {
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct insn *in = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_register_vcpu_insn_exec_cb(in, execute, noRegisters, (void *)(uintptr_t)qemu_plugin_insn_vaddr(in));
		qemu_plugin_register_vcpu_mem_cb(in, access, noRegisters, readsAndWrites, NULL);
	}
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "start=", 6) == 0)
			start = strtoull(argv[i] + 6, NULL, 16);
		if (strncmp(argv[i], "stop=", 5) == 0)
			stop = strtoull(argv[i] + 5, NULL, 16);
		if (strncmp(argv[i], "out=", 4) == 0)
			out = fopen(argv[i] + 4, "wb");
	}
	if (out == NULL || start == 0 || stop == 0) {
		fprintf(stderr, "fastmac: the plugin needs start, stop, and a file that it can write\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
