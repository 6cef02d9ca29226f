// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The speed of reading alone: the exclusive or of the message's 64-bit words, with
// the widest loads of the CPU.

#include "peer.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Eight registers, so that no operation waits for the previous one. size is a
// multiple of 512.
__attribute__((target("avx512f"))) static uint64_t read_avx512(const uint8_t *p, size_t size)
{
	__m512i x[8] = {0};

	for (const uint8_t *end = p + size; p < end; p += 512) {
#pragma GCC unroll 8
		for (int i = 0; i < 8; i++)
			x[i] = _mm512_xor_si512(x[i], _mm512_load_si512(p + 64 * i));
	}
	for (int i = 1; i < 8; i++)
		x[0] = _mm512_xor_si512(x[0], x[i]);
	uint64_t w[8], r = 0;
	_mm512_storeu_si512(w, x[0]);
	for (int i = 0; i < 8; i++)
		r ^= w[i];
	return r;
}

__attribute__((target("avx2"))) static uint64_t read_avx2(const uint8_t *p, size_t size)
{
	__m256i x[8] = {0};

	for (const uint8_t *end = p + size; p < end; p += 256) {
#pragma GCC unroll 8
		for (int i = 0; i < 8; i++)
			x[i] = _mm256_xor_si256(x[i], _mm256_load_si256((const __m256i *)(p + 32 * i)));
	}
	for (int i = 1; i < 8; i++)
		x[0] = _mm256_xor_si256(x[0], x[i]);
	uint64_t w[4];
	_mm256_storeu_si256((__m256i *)w, x[0]);
	return w[0] ^ w[1] ^ w[2] ^ w[3];
}
#endif

static uint64_t read_generic(const uint8_t *p, size_t size)
{
	uint64_t x[8] = {0};

	for (const uint8_t *end = p + size; p < end; p += 64) {
		for (int i = 0; i < 8; i++) {
			uint64_t w;
			memcpy(&w, p + 8 * i, 8);
			x[i] ^= w;
		}
	}
	return x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

static uint64_t (*read_all)(const uint8_t *p, size_t size) = read_generic;

static size_t run(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	uint64_t x = 0;

	while (n-- > 0) {
		x = read_all(msg, size);
		// Keeps the compiler from merging the passes.
		__asm__ volatile("" : : "r"(x) : "memory");
	}
	memcpy(tag, &x, 8);
	return 8;
}

static const struct op ops[] = {{"reading:memory:loop", run}};

int main(void)
{
	const char *with = "64-bit words";

#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		read_all = read_avx512;
		with = "AVX-512";
	} else if (__builtin_cpu_supports("avx2")) {
		read_all = read_avx2;
		with = "AVX2";
	}
#endif
	printf("version reading with %s\n", with);
	return serve(ops, sizeof ops / sizeof ops[0]);
}
