// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "sha512.h"
#include "sha512_internal.h"

_Static_assert(sizeof(sha512_ctx) == SHA512_CTX_SIZE, "SHA512_CTX_SIZE");

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
