// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The tags of libnettle for TestNettle, and with OPENSSL those of HMAC by libcrypto for TestOpenSSL. They make
// the same messages: see check in nettle_test.go. A request is the seed of a batch (8 bytes, little-endian), the number of
// its messages (4 bytes) and an algorithm (1 byte). The answer is the tags.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPENSSL
#include <openssl/core_names.h>
#include <openssl/evp.h>
#else
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/umac.h>
#endif

enum { UMAC32, UMAC64, UMAC96, UMAC128, HMAC_SHA224, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512, GMAC, LONG_UMAC64, LONG_UMAC128 };
enum { POOL = (1 << 24) + (1 << 15) };

static uint8_t pool[POOL];
static uint64_t state;

// next is SplitMix64.
static uint64_t next(void) {
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void put64(uint8_t *p, uint64_t v) {
	for (int i = 0; i < 8; i++) p[i] = v >> 8 * i;
}

static size_t length(int alg) {
	uint64_t r = next();
	if (alg >= LONG_UMAC64) return (1 << 24) - 3000 + r % 8000;
	switch (r >> 60) {
	case 0: return (r & 0xf00) ? r % 5000 : r % 70000;
	case 1: case 2: case 3: return r % 1100;
	}
	return r % 130;
}

// batch computes n tags.
#define BATCH(type, set_key, set_nonce, update, digest, size)                     \
	do {                                                                      \
		static type c;                                                    \
		set_key;                                                          \
		for (uint32_t i = 0; i < n; i++) {                                \
			size_t len = length(alg), at = next() % (POOL - len);     \
			uint8_t nonce[16], tag[64];                               \
			put64(nonce, next());                                     \
			put64(nonce + 8, next());                                 \
			size_t nonce_len = 1 + next() % 16;                       \
			(void)nonce_len;                                          \
			set_nonce;                                                \
			update(&c, len, pool + at);                               \
			digest(&c, size, tag);                                    \
			if (fwrite(tag, 1, size, stdout) != size) exit(1);        \
		}                                                                 \
	} while (0)

#define UMAC(bits, size) \
	BATCH(struct umac##bits##_ctx, umac##bits##_set_key(&c, key), umac##bits##_set_nonce(&c, nonce_len, nonce), umac##bits##_update, umac##bits##_digest, size)

#ifdef OPENSSL
static EVP_MAC_CTX *hmac_new(char *digest, const uint8_t *key, size_t len) {
	OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
	EVP_MAC_CTX *c = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
	if (c == NULL || !EVP_MAC_init(c, key, len, params)) exit(3);
	return c;
}

static void hmac_begin(EVP_MAC_CTX **c) {
	if (!EVP_MAC_init(*c, NULL, 0, NULL)) exit(3);
}

static void hmac_update(EVP_MAC_CTX **c, size_t len, const uint8_t *msg) {
	if (!EVP_MAC_update(*c, msg, len)) exit(3);
}

static void hmac_digest(EVP_MAC_CTX **c, size_t size, uint8_t tag[64]) {
	size_t n;
	if (!EVP_MAC_final(*c, tag, &n, 64) || n != size) exit(3);
}

#define HMAC(bits, size)                                                                                                            \
	do {                                                                                                                        \
		EVP_MAC_CTX *h = hmac_new("SHA" #bits, pool + (1 << 17) + at, key_len);                                             \
		BATCH(EVP_MAC_CTX *, c = h, hmac_begin(&c), hmac_update, hmac_digest, size);                                        \
		EVP_MAC_CTX_free(h);                                                                                                \
	} while (0)
#else
#define HMAC(bits, size) \
	BATCH(struct hmac_sha##bits##_ctx, hmac_sha##bits##_set_key(&c, key_len, pool + (1 << 17) + at), (void)0, hmac_sha##bits##_update, hmac_sha##bits##_digest, size)
#endif

int main(void) {
	// The first parts are zeros and ones.
	memset(pool + (1 << 16), 0xff, 1 << 16);
	for (size_t i = 1 << 17; i < POOL; i += 8) put64(pool + i, next());
	uint8_t request[13];
	while (fread(request, 1, sizeof request, stdin) == sizeof request) {
		state = 0;
		for (int i = 7; i >= 0; i--) state = state << 8 | request[i];
		uint32_t n = request[8] | request[9] << 8 | request[10] << 16 | (uint32_t)request[11] << 24;
		int alg = request[12];
		uint8_t key[16];
		put64(key, next());
		put64(key + 8, next());
		size_t at = next() % (1 << 20), key_len = next() % 200; // of HMAC, in the pool
		switch (alg) {
#ifndef OPENSSL
		case UMAC32: UMAC(32, 4); break;
		case UMAC64: case LONG_UMAC64: UMAC(64, 8); break;
		case UMAC96: UMAC(96, 12); break;
		case UMAC128: case LONG_UMAC128: UMAC(128, 16); break;
		case GMAC:
			BATCH(struct gcm_aes128_ctx, gcm_aes128_set_key(&c, key), gcm_aes128_set_iv(&c, 12, nonce), gcm_aes128_update, gcm_aes128_digest, 16);
			break;
#endif
		case HMAC_SHA224: HMAC(224, 28); break;
		case HMAC_SHA256: HMAC(256, 32); break;
		case HMAC_SHA384: HMAC(384, 48); break;
		case HMAC_SHA512: HMAC(512, 64); break;
		default: return 2;
		}
		fflush(stdout);
	}
	return 0;
}
