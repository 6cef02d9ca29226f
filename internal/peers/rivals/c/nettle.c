// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include <nettle/hmac.h>
#include <nettle/pbkdf2.h>
#include <nettle/umac.h>
#include <nettle/version.h>

#include "peer.h"

// Nettle counts the nonces itself, which is its fastest way: setting each nonce would
// discard the half of the pad that UMAC-64 keeps for the next one.
#define UMAC(bits)                                                              \
	static size_t umac##bits(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		static struct umac##bits##_ctx ctx;                             \
		uint8_t nonce[8];                                               \
                                                                                \
		umac##bits##_set_key(&ctx, key);                                \
		put_nonce(nonce, FIRST_NONCE(n));                               \
		umac##bits##_set_nonce(&ctx, sizeof nonce, nonce);              \
		while (n-- > 0) {                                               \
			umac##bits##_update(&ctx, size, msg);                   \
			umac##bits##_digest(&ctx, bits / 8, tag);               \
		}                                                               \
		return bits / 8;                                                \
	}                                                                       \
                                                                                \
	static size_t umac##bits##_new(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		static struct umac##bits##_ctx ctx;                             \
		uint8_t nonce[8];                                               \
                                                                                \
		while (n-- > 0)                                                 \
			umac##bits##_set_key(&ctx, key);                        \
		put_nonce(nonce, LAST_NONCE);                                   \
		umac##bits##_set_nonce(&ctx, sizeof nonce, nonce);              \
		umac##bits##_update(&ctx, size, msg);                           \
		umac##bits##_digest(&ctx, bits / 8, tag);                       \
		return bits / 8;                                                \
	}

UMAC(64)
UMAC(128)

#define HMAC(bits)                                                              \
	static size_t hmac##bits(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		static struct hmac_sha##bits##_ctx ctx;                         \
                                                                                \
		hmac_sha##bits##_set_key(&ctx, sizeof key, key);                \
		while (n-- > 0) {                                               \
			hmac_sha##bits##_update(&ctx, size, msg);               \
			hmac_sha##bits##_digest(&ctx, bits / 8, tag);           \
		}                                                               \
		return bits / 8;                                                \
	}                                                                       \
                                                                                \
	static size_t hmac##bits##_sum(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		static struct hmac_sha##bits##_ctx ctx;                         \
                                                                                \
		while (n-- > 0) {                                               \
			hmac_sha##bits##_set_key(&ctx, sizeof key, key);        \
			hmac_sha##bits##_update(&ctx, size, msg);               \
			hmac_sha##bits##_digest(&ctx, bits / 8, tag);           \
		}                                                               \
		return bits / 8;                                                \
	}

HMAC(256)
HMAC(512)

// Derives a key from a password, with the message as salt.
#define PBKDF2(bits)                                                            \
	static size_t pbkdf2_##bits(const uint8_t *salt, size_t size, uint64_t n, uint8_t derived[64]) \
	{                                                                       \
		while (n-- > 0)                                                 \
			pbkdf2_hmac_sha##bits(sizeof key, key, PBKDF2_ITERATIONS, size, salt, bits / 8, derived); \
		return bits / 8;                                                \
	}

PBKDF2(256)
PBKDF2(512)

static const struct op ops[] = {
	{"nettle:umac64:stream", umac64},
	{"nettle:umac64:new", umac64_new},
	{"nettle:umac128:stream", umac128},
	{"nettle:umac128:new", umac128_new},
	{"nettle:hmac-sha256:stream", hmac256},
	{"nettle:hmac-sha256:sum", hmac256_sum},
	{"nettle:hmac-sha512:stream", hmac512},
	{"nettle:hmac-sha512:sum", hmac512_sum},
	{"nettle:pbkdf2-sha256:derive", pbkdf2_256},
	{"nettle:pbkdf2-sha512:derive", pbkdf2_512},
};

int main(void)
{
	printf("version nettle %d.%d\n", nettle_version_major(), nettle_version_minor());
	return serve(ops, sizeof ops / sizeof ops[0]);
}
