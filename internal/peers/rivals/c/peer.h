// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The C side of the protocol of package serve: keys, message, nonces, requests.

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The nonce of the last message of every run.
#define LAST_NONCE (UINT64_C(1) << 40)
#define FIRST_NONCE(n) (LAST_NONCE - (n) + 1)

static uint8_t key[64];

#define PBKDF2_ITERATIONS 1000

// How many bytes of the key are the salt of HKDF. The others are the secret.
#define HKDF_SALT_SIZE 32

// Computes the tag of msg n times, the last time under LAST_NONCE if there is a
// nonce. Returns the size of the last tag, or 0 if something failed.
typedef size_t run_fn(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]);

struct op {
	const char *name;
	run_fn *run;
};

static inline void put_nonce(uint8_t b[8], uint64_t v)
{
	for (int i = 0; i < 8; i++)
		b[i] = v >> (56 - 8 * i);
}

static uint8_t *new_message(size_t size)
{
	// Starts on a page, like buffers of this size in Go.
	uint8_t *m = aligned_alloc(8192, (size + 8191) & ~(size_t)8191);

	if (m == NULL) {
		fprintf(stderr, "fastmac: no memory for a message of %zu bytes\n", size);
		exit(1);
	}
	for (size_t i = 0; i < size; i++)
		m[i] = i % 251;
	return m;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Answers requests until there are no more. The caller has printed the versions.
static int serve(const struct op *ops, size_t count)
{
	size_t capacity = 1 << 20;
	uint8_t *msg = new_message(capacity);
	char name[64];
	size_t size;
	uint64_t n;

	for (int i = 0; i < 64; i++)
		key[i] = i;
	printf("ready\n");
	fflush(stdout);
	while (scanf("%63s %zu %" SCNu64, name, &size, &n) == 3) {
		const struct op *op = ops;
		uint8_t tag[64];

		while (op < ops + count && strcmp(op->name, name) != 0)
			op++;
		if (op == ops + count) {
			fprintf(stderr, "fastmac: no op %s\n", name);
			return 1;
		}
		if (size > capacity) {
			free(msg);
			msg = new_message(capacity = size);
		}
		int64_t start = now();
		size_t tag_size = op->run(msg, size, n, tag);
		printf("%" PRId64 " ", now() - start);
		for (size_t i = 0; i < tag_size; i++)
			printf("%02x", tag[i]);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
