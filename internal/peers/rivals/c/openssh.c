// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// OpenSSH's umac.c and umac128.c are compiled beside this file, with the
// headers in openssh/ in place of OpenSSH's own.

#include <sys/types.h>

#include "peer.h"
#include "umac.h"

#define UMAC(bits, prefix)                                                      \
	static size_t umac##bits(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		static struct umac_ctx *ctx;                                    \
		_Alignas(8) uint8_t nonce[8];                                   \
                                                                                \
		if (ctx == NULL)                                                \
			ctx = prefix##_new(key);                                \
		for (uint64_t c = FIRST_NONCE(n); c <= LAST_NONCE; c++) {       \
			put_nonce(nonce, c);                                    \
			prefix##_update(ctx, msg, size);                        \
			prefix##_final(ctx, tag, nonce);                        \
		}                                                               \
		return bits / 8;                                                \
	}                                                                       \
                                                                                \
	static size_t umac##bits##_set(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		struct umac_ctx *ctx = NULL;                                    \
		_Alignas(8) uint8_t nonce[8];                                   \
                                                                                \
		while (n-- > 0) {                                               \
			prefix##_delete(ctx);                                   \
			ctx = prefix##_new(key);                                \
		}                                                               \
		put_nonce(nonce, LAST_NONCE);                                   \
		prefix##_update(ctx, msg, size);                                \
		prefix##_final(ctx, tag, nonce);                                \
		prefix##_delete(ctx);                                           \
		return bits / 8;                                                \
	}

UMAC(64, umac)
UMAC(128, umac128)

static const struct op ops[] = {
	{"OpenSSH:umac64:stream", umac64},
	{"OpenSSH:umac64:new", umac64_set},
	{"OpenSSH:umac128:stream", umac128},
	{"OpenSSH:umac128:new", umac128_set},
};

int main(void)
{
	return serve(ops, sizeof ops / sizeof ops[0]);
}
