// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The tags and keys of libnettle for TestNettle. A request is the number of an algorithm, or 4, and
// three strings, each with its length before it (4 bytes, little-endian): key, nonce and message. The
// answer is the tag. With 4 they are secret, salt and info of HKDF-SHA-512, and the answer is 20 bytes.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <nettle/gcm.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/umac.h>

enum { UMAC64 = 1, UMAC128, GMAC, HKDF };

static struct string {
	uint32_t n;
	uint8_t b[1 << 16];
} key, nonce, msg;

static void get(struct string *s) {
	uint8_t n[4];
	if (fread(n, 1, 4, stdin) != 4) exit(1);
	s->n = n[0] | n[1] << 8 | n[2] << 16 | (uint32_t)n[3] << 24;
	if (s->n > sizeof s->b || fread(s->b, 1, s->n, stdin) != s->n) exit(1);
}

static void hkdf(uint8_t okm[20]) {
	struct hmac_sha512_ctx c;
	uint8_t prk[64];
	hmac_sha512_set_key(&c, nonce.n, nonce.b);
	hkdf_extract(&c, (nettle_hash_update_func *)hmac_sha512_update, (nettle_hash_digest_func *)hmac_sha512_digest, 64, key.n, key.b, prk);
	hmac_sha512_set_key(&c, 64, prk);
	hkdf_expand(&c, (nettle_hash_update_func *)hmac_sha512_update, (nettle_hash_digest_func *)hmac_sha512_digest, 64, msg.n, msg.b, 20, okm);
}

#define TAG(mac, bits, set_nonce, size)               \
	do {                                          \
		struct mac##bits##_ctx c;             \
		mac##bits##_set_key(&c, key.b);       \
		set_nonce;                            \
		mac##bits##_update(&c, msg.n, msg.b); \
		mac##bits##_digest(&c, size, answer); \
		n = size;                             \
	} while (0)

int main(void) {
	for (int alg; (alg = getchar()) != EOF;) {
		uint8_t answer[20];
		size_t n = 20;
		get(&key);
		get(&nonce);
		get(&msg);
		if (alg != HKDF && key.n != 16) return 2;
		switch (alg) {
		case UMAC64: TAG(umac, 64, umac64_set_nonce(&c, nonce.n, nonce.b), 8); break;
		case UMAC128: TAG(umac, 128, umac128_set_nonce(&c, nonce.n, nonce.b), 16); break;
		case GMAC: TAG(gcm_aes, 128, gcm_aes128_set_iv(&c, nonce.n, nonce.b), 16); break;
		case HKDF: hkdf(answer); break;
		default: return 2;
		}
		if (fwrite(answer, 1, n, stdout) != n) return 1;
		fflush(stdout);
	}
	return 0;
}
