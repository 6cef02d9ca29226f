// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "sha512.h"
#include "sha512_internal.h"

_Static_assert(sizeof(sha512_ctx) == SHA512_CTX_SIZE, "SHA512_CTX_SIZE");

void sha512_update(sha512_ctx *ctx, const void *msg, size_t len)
{
	const uint8_t *p = msg;
	uint8_t used = ctx->used;

	while (len) {
		uint8_t n = SHA512_BLOCK_SIZE - used;
		if (len < n)
			n = len;
		sha512_copy(ctx->block + used, p, n);
		p += n;
		len -= n;
		used += n;
		if (used == SHA512_BLOCK_SIZE) {
			sha512_compress(ctx);
			ctx->blocks++;
			used = 0;
		}
	}
	ctx->used = used;
}

void sha512_finish(sha512_ctx *ctx)
{
	uint8_t n = ctx->used;
	uint32_t high = ctx->blocks << 2 | n >> 5; // of the number of bits
	uint8_t *end = ctx->block + SHA512_BLOCK_SIZE;

	ctx->block[n++] = 0x80;
	if (n > SHA512_BLOCK_SIZE - 16) {
		sha512_fill(ctx->block + n, 0, SHA512_BLOCK_SIZE - n);
		sha512_compress(ctx);
		n = 0;
	}
	sha512_fill(ctx->block + n, 0, SHA512_BLOCK_SIZE - n);
	*--end = ctx->used << 3;
	for (uint8_t i = 0; i < 4; i++, high >>= 8)
		*--end = high;
	sha512_compress(ctx);
}

void sha512_final(sha512_ctx *ctx, uint8_t *out)
{
	sha512_finish(ctx);
	sha512_copy(out, ctx->state, SHA512_SIZE);
	sha512_fill(ctx, 0, sizeof *ctx);
}

void sha512(uint8_t *out, const void *msg, size_t len)
{
	sha512_ctx ctx;

	sha512_init(&ctx);
	sha512_update(&ctx, msg, len);
	sha512_final(&ctx, out);
}
