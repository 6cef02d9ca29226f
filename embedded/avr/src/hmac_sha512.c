// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "hmac_sha512.h"
#include "sha512_internal.h"

_Static_assert(sizeof(hmac_sha512_ctx) == HMAC_SHA512_CTX_SIZE, "HMAC_SHA512_CTX_SIZE");

// pad sets the block to the key, of at most 128 bytes, zero-padded, xor mask in each byte.
static void pad(hmac_sha512_ctx *ctx, const uint8_t *key, uint8_t keylen, uint8_t mask)
{
	uint8_t *p = ctx->hash.block;

	sha512_fill(p + keylen, mask, SHA512_BLOCK_SIZE - keylen);
	if (keylen)
		do
			*p++ = *key++ ^ mask;
		while (--keylen);
}

__attribute__((noinline)) static void copy_state(hmac_sha512_ctx *ctx)
{
	sha512_copy(ctx->outer, ctx->hash.state, SHA512_SIZE);
}

// The pads cannot be turned into each other, because a compression overwrites its block.
// So the key is read twice. A hashed key waits in outer, which is written after that.
void hmac_sha512_init(hmac_sha512_ctx *ctx, const void *key, size_t keylen)
{
	sha512_init(&ctx->hash);
	if (keylen > SHA512_BLOCK_SIZE) {
		sha512_update(&ctx->hash, key, keylen);
		sha512_finish(&ctx->hash);
		copy_state(ctx);
		key = ctx->outer;
		keylen = SHA512_SIZE;
		sha512_init(&ctx->hash);
	}
	pad(ctx, key, keylen, 0x5c);
	sha512_compress(&ctx->hash);
	pad(ctx, key, keylen, 0x36);
	copy_state(ctx);
	sha512_init(&ctx->hash);
	sha512_compress(&ctx->hash);
	ctx->hash.blocks = 1;
}

void hmac_sha512_update(hmac_sha512_ctx *ctx, const void *msg, size_t len)
{
	sha512_update(&ctx->hash, msg, len);
}

// begin_outer makes the inner hash the message of the outer one.
__attribute__((noinline)) static void begin_outer(hmac_sha512_ctx *ctx)
{
	sha512_copy(ctx->hash.block, ctx->hash.state, SHA512_SIZE);
	sha512_copy(ctx->hash.state, ctx->outer, SHA512_SIZE);
	ctx->hash.blocks = 1;
	ctx->hash.used = SHA512_SIZE;
}

// finish leaves the tag in the state of the hash. It is inline to save stack.
__attribute__((always_inline)) static inline void finish(hmac_sha512_ctx *ctx)
{
	sha512_finish(&ctx->hash);
	begin_outer(ctx);
	sha512_finish(&ctx->hash);
}

void hmac_sha512_final(hmac_sha512_ctx *ctx, uint8_t *tag)
{
	finish(ctx);
	sha512_copy(tag, ctx->hash.state, HMAC_SHA512_SIZE);
	sha512_fill(ctx, 0, sizeof *ctx);
}

void hmac_sha512(uint8_t *tag, const void *key, size_t keylen, const void *msg, size_t len)
{
	hmac_sha512_ctx ctx;
	hmac_sha512_init(&ctx, key, keylen);
	hmac_sha512_update(&ctx, msg, len);
	hmac_sha512_final(&ctx, tag);
}

bool hmac_sha512_verify(const uint8_t *tag, const void *key, size_t keylen, const void *msg, size_t len)
{
	hmac_sha512_ctx ctx;
	uint8_t diff = 0;
	hmac_sha512_init(&ctx, key, keylen);
	hmac_sha512_update(&ctx, msg, len);
	finish(&ctx);
	for (uint8_t i = 0; i < HMAC_SHA512_SIZE; i++)
		diff |= tag[i] ^ ctx.hash.state[i];
	sha512_fill(&ctx, 0, sizeof ctx);
	return (uint16_t)(diff - 1) >> 15; // no branch, not even on the answer
}
