// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include <avr/pgmspace.h>
#include <string.h>

#include "sha512.h"

_Static_assert(sizeof(sha512_ctx) == SHA512_CTX_SIZE, "SHA512_CTX_SIZE");

#define W(x) x##ULL
static const uint64_t K[80] PROGMEM = {
W(0x428a2f98d728ae22),
W(0x7137449123ef65cd),
W(0xb5c0fbcfec4d3b2f),
W(0xe9b5dba58189dbbc),
W(0x3956c25bf348b538),
W(0x59f111f1b605d019),
W(0x923f82a4af194f9b),
W(0xab1c5ed5da6d8118),
W(0xd807aa98a3030242),
W(0x12835b0145706fbe),
W(0x243185be4ee4b28c),
W(0x550c7dc3d5ffb4e2),
W(0x72be5d74f27b896f),
W(0x80deb1fe3b1696b1),
W(0x9bdc06a725c71235),
W(0xc19bf174cf692694),
W(0xe49b69c19ef14ad2),
W(0xefbe4786384f25e3),
W(0x0fc19dc68b8cd5b5),
W(0x240ca1cc77ac9c65),
W(0x2de92c6f592b0275),
W(0x4a7484aa6ea6e483),
W(0x5cb0a9dcbd41fbd4),
W(0x76f988da831153b5),
W(0x983e5152ee66dfab),
W(0xa831c66d2db43210),
W(0xb00327c898fb213f),
W(0xbf597fc7beef0ee4),
W(0xc6e00bf33da88fc2),
W(0xd5a79147930aa725),
W(0x06ca6351e003826f),
W(0x142929670a0e6e70),
W(0x27b70a8546d22ffc),
W(0x2e1b21385c26c926),
W(0x4d2c6dfc5ac42aed),
W(0x53380d139d95b3df),
W(0x650a73548baf63de),
W(0x766a0abb3c77b2a8),
W(0x81c2c92e47edaee6),
W(0x92722c851482353b),
W(0xa2bfe8a14cf10364),
W(0xa81a664bbc423001),
W(0xc24b8b70d0f89791),
W(0xc76c51a30654be30),
W(0xd192e819d6ef5218),
W(0xd69906245565a910),
W(0xf40e35855771202a),
W(0x106aa07032bbd1b8),
W(0x19a4c116b8d2d0c8),
W(0x1e376c085141ab53),
W(0x2748774cdf8eeb99),
W(0x34b0bcb5e19b48a8),
W(0x391c0cb3c5c95a63),
W(0x4ed8aa4ae3418acb),
W(0x5b9cca4f7763e373),
W(0x682e6ff3d6b2b8a3),
W(0x748f82ee5defb2fc),
W(0x78a5636f43172f60),
W(0x84c87814a1f0ab72),
W(0x8cc702081a6439ec),
W(0x90befffa23631e28),
W(0xa4506cebde82bde9),
W(0xbef9a3f7b2c67915),
W(0xc67178f2e372532b),
W(0xca273eceea26619c),
W(0xd186b8c721c0c207),
W(0xeada7dd6cde0eb1e),
W(0xf57d4f7fee6ed178),
W(0x06f067aa72176fba),
W(0x0a637dc5a2c898a6),
W(0x113f9804bef90dae),
W(0x1b710b35131c471b),
W(0x28db77f523047d84),
W(0x32caab7b40c72493),
W(0x3c9ebe0a15c9bebc),
W(0x431d67c49c100d4c),
W(0x4cc5d4becb3e42b6),
W(0x597f299cfc657e2a),
W(0x5fcb6fab3ad6faec),
W(0x6c44198c4a475817),
};
static const uint64_t IV[8] PROGMEM = {
W(0x6a09e667f3bcc908), W(0xbb67ae8584caa73b), W(0x3c6ef372fe94f82b), W(0xa54ff53a5f1d36f1),
W(0x510e527fade682d1), W(0x9b05688c2b3e6c1f), W(0x1f83d9abfb41bd6b), W(0x5be0cd19137e2179),
};
static uint64_t rom(const uint64_t *p) { uint64_t v; memcpy_P(&v, p, 8); return v; }
static uint64_t get(const uint8_t *p) { uint64_t v = 0; for (uint8_t i = 0; i < 8; i++) v = v << 8 | p[i]; return v; }
static void put(uint8_t *p, uint64_t v) { for (uint8_t i = 8; i--; v >>= 8) p[i] = v; }
#define R(x, n) ((x) >> (n) | (x) << (64 - (n)))
void sha512_compress(sha512_ctx *ctx) {
	uint64_t w[16], v[8];
	for (uint8_t i = 0; i < 16; i++) w[i] = get(ctx->block + 8 * i);
	for (uint8_t i = 0; i < 8; i++) v[i] = get(ctx->state + 8 * i);
	for (uint8_t t = 0; t < 80; t++) {
		if (t >= 16) {
			uint64_t x = w[(t + 1) & 15], y = w[(t + 14) & 15];
			w[t & 15] += (R(x, 1) ^ R(x, 8) ^ x >> 7) + w[(t + 9) & 15] + (R(y, 19) ^ R(y, 61) ^ y >> 6);
		}
		uint64_t a = v[0], e = v[4];
		uint64_t t1 = v[7] + (R(e, 14) ^ R(e, 18) ^ R(e, 41)) + (v[6] ^ (e & (v[5] ^ v[6]))) + rom(K + t) + w[t & 15];
		uint64_t t2 = (R(a, 28) ^ R(a, 34) ^ R(a, 39)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
		for (uint8_t i = 7; i; i--) v[i] = v[i - 1];
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (uint8_t i = 0; i < 8; i++) put(ctx->state + 8 * i, get(ctx->state + 8 * i) + v[i]);
}
void sha512_init(sha512_ctx *ctx) {
	for (uint8_t i = 0; i < 8; i++) put(ctx->state + 8 * i, rom(IV + i));
	ctx->blocks = 0;
	ctx->used = 0;
}
void sha512_update(sha512_ctx *ctx, const void *msg, size_t len) {
	const uint8_t *p = msg;
	while (len--) {
		ctx->block[ctx->used++] = *p++;
		if (ctx->used == 128) { sha512_compress(ctx); ctx->used = 0; ctx->blocks++; }
	}
}
void sha512_finish(sha512_ctx *ctx) {
	uint32_t n = ctx->blocks;
	uint8_t u = ctx->used;
	ctx->block[u++] = 0x80;
	if (u > 112) {
		memset(ctx->block + u, 0, 128 - u);
		sha512_compress(ctx);
		u = 0;
	}
	memset(ctx->block + u, 0, 128 - u);
	u = ctx->used;
	ctx->block[127] = u << 3;
	ctx->block[126] = n << 2 | u >> 5;
	ctx->block[125] = n >> 6;
	ctx->block[124] = n >> 14;
	ctx->block[123] = n >> 22;
	ctx->block[122] = n >> 30;
	sha512_compress(ctx);
}
void sha512_wipe(void *p, size_t n) { volatile uint8_t *q = p; while (n--) *q++ = 0; }
void sha512_final(sha512_ctx *ctx, uint8_t *out) {
	sha512_finish(ctx);
	memcpy(out, ctx->state, 64);
	sha512_wipe(ctx, sizeof *ctx);
}
void sha512(uint8_t *out, const void *msg, size_t len) {
	sha512_ctx ctx;
	sha512_init(&ctx);
	sha512_update(&ctx, msg, len);
	sha512_final(&ctx, out);
}
