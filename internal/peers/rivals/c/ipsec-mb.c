// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include <intel-ipsec-mb.h>

#include "peer.h"

// The number of messages in a batch, each with a key of its own. The last one has the key
// of all peers.
#define BATCH 64

// The states of a hash after the two pads of a key.
struct expanded {
	uint8_t inner[64], outer[64];
};

struct hmac {
	IMB_HASH_ALG alg;
	size_t block_size, tag_size, msg_size, gap;
	hash_one_block_t *one_block; // a member of mgr
	uint8_t *msgs, keys[BATCH][64], tags[BATCH][64];
	struct expanded expanded[BATCH];
	IMB_JOB jobs[BATCH];
};

static IMB_MGR *mgr;

static void expand(struct hmac *h, int i)
{
	uint8_t pad[128];

	memset(pad, 0x36, sizeof pad);
	for (size_t j = 0; j < sizeof h->keys[i]; j++)
		pad[j] ^= h->keys[i][j];
	(*h->one_block)(pad, h->expanded[i].inner);
	for (size_t j = 0; j < h->block_size; j++)
		pad[j] ^= 0x36 ^ 0x5c;
	(*h->one_block)(pad, h->expanded[i].outer);
}

// Makes the batch of messages of this size, with a gap after each, before the run that is timed.
static void prepare(struct hmac *h, const uint8_t *msg, size_t size, size_t gap)
{
	free(h->msgs);
	h->msgs = new_message(BATCH * (size + gap));
	h->msg_size = size;
	h->gap = gap;
	for (int i = 0; i < BATCH; i++) {
		IMB_JOB *job = &h->jobs[i];

		memcpy(h->msgs + i * (size + gap), msg, size);
		memcpy(h->keys[i], key, sizeof key);
		h->keys[i][0] ^= BATCH - 1 - i;
		job->hash_alg = h->alg;
		job->src = h->msgs + i * (size + gap);
		job->msg_len_to_hash_in_bytes = size;
		job->auth_tag_output = h->tags[i];
		job->auth_tag_output_len_in_bytes = h->tag_size;
	}
	expand(h, BATCH - 1);
}

// How messages are tagged: in batches, with a gap between them or without, under one key, or each under its own.
// One message after the other would wait for lanes that stay empty.
enum way { BATCHES, APART, SUMS };

// Tags messages. If n is not a multiple of BATCH, the first batch is shorter. The library reads the states of
// each key where its job says, and does not check the jobs: that is its fastest way.
static size_t hmac(struct hmac *h, const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64], enum way way)
{
	size_t gap = way == APART ? 64 : 0;
	int first = (BATCH - n % BATCH) % BATCH;

	if (h->msg_size != size || h->gap != gap)
		prepare(h, msg, size, gap);
	for (int i = 0; i < BATCH; i++) {
		struct expanded *e = &h->expanded[way == SUMS ? i : BATCH - 1];

		h->jobs[i].u.HMAC._hashed_auth_key_xor_ipad = e->inner;
		h->jobs[i].u.HMAC._hashed_auth_key_xor_opad = e->outer;
	}
	for (int i = first; n > 0; i = 0) {
		if (way == SUMS)
			for (int j = i; j < BATCH; j++)
				expand(h, j);
		if (IMB_SUBMIT_HASH_BURST_NOCHECK(mgr, h->jobs + i, BATCH - i, h->alg) != (uint32_t)(BATCH - i))
			return 0;
		n -= BATCH - i;
	}
	memcpy(tag, h->tags[BATCH - 1], h->tag_size);
	return h->tag_size;
}

#define HMAC_WAY(bits, name, way)                                               \
	static size_t hmac##bits##_##name(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		return hmac(&sha##bits, msg, size, n, tag, way);                \
	}

#define HMAC(bits, block)                                                       \
	static struct hmac sha##bits = {                                        \
		.alg = IMB_AUTH_HMAC_SHA_##bits, .block_size = block, .tag_size = bits / 8, \
	};                                                                      \
                                                                                \
	HMAC_WAY(bits, batch, BATCHES)                                          \
	HMAC_WAY(bits, apart, APART)                                            \
	HMAC_WAY(bits, sumbatch, SUMS)

HMAC(256, 64)
HMAC(512, 128)

static struct gcm_key_data key128, key256; // of AES-GCM
static struct gcm_context_data ctx;
static uint8_t iv[12]; // the last 8 bytes are a counter

// GMAC is GCM with nothing to encrypt: the library's functions for GMAC alone take longer.
static size_t gmac(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	IMB_AES128_GCM_PRE(mgr, key, &key128);
	for (uint64_t nonce = FIRST_NONCE(n); nonce <= LAST_NONCE; nonce++) {
		put_nonce(iv + 4, nonce);
		IMB_AES128_GCM_ENC(mgr, &key128, &ctx, NULL, NULL, 0, iv, msg, size, tag, 16);
	}
	return 16;
}

// What is authenticated with each message, but not encrypted: as many bytes as in TLS.
static const uint8_t data[13] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void seal(const uint8_t *in, uint8_t *out, size_t size, uint8_t tag[16])
{
	IMB_AES256_GCM_ENC(mgr, &key256, &ctx, out, in, size, iv, data, sizeof data, tag, 16);
}

// Decrypts size bytes to out and returns whether the tag is right: the library leaves that to its caller.
static int open_sealed(const uint8_t *in, uint8_t *out, size_t size, const uint8_t tag[16])
{
	uint64_t a[2], b[2];

	IMB_AES256_GCM_DEC(mgr, &key256, &ctx, out, in, size, iv, data, sizeof data, (uint8_t *)a, 16);
	memcpy(b, tag, 16);
	return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

// Encrypts a buffer in place again and again. The last time it has the message.
static size_t gcm_seal(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	uint8_t *buffer = new_message(size);

	IMB_AES256_GCM_PRE(mgr, key, &key256);
	for (uint64_t nonce = FIRST_NONCE(n); nonce <= LAST_NONCE; nonce++) {
		if (nonce == LAST_NONCE)
			memcpy(buffer, msg, size);
		put_nonce(iv + 4, nonce);
		seal(buffer, buffer, size, tag);
	}
	free(buffer);
	return 16;
}

// Decrypts a message again and again. The tag at the end is of the plaintext.
static size_t gcm_open(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64])
{
	uint8_t *sealed = new_message(size), *plaintext = new_message(size);
	uint8_t sealed_tag[16];
	int ok = 1;

	memset(plaintext, 0, size);
	IMB_AES256_GCM_PRE(mgr, key, &key256);
	put_nonce(iv + 4, LAST_NONCE);
	seal(msg, sealed, size, sealed_tag);
	while (ok && n-- > 0)
		ok = open_sealed(sealed, plaintext, size, sealed_tag);
	seal(plaintext, plaintext, size, tag);
	sealed_tag[0] ^= 1;
	if (ok && open_sealed(sealed, plaintext, size, sealed_tag))
		ok = 0; // a wrong tag was accepted
	free(sealed);
	free(plaintext);
	return ok ? 16 : 0;
}

static const struct op ops[] = {
	{"ipsec-mb:gmac:stream", gmac},
	{"ipsec-mb:aes256-gcm:seal", gcm_seal},
	{"ipsec-mb:aes256-gcm:open", gcm_open},
	{"ipsec-mb:hmac-sha256:batch", hmac256_batch},
	{"ipsec-mb:hmac-sha256:apart", hmac256_apart},
	{"ipsec-mb:hmac-sha256:sumbatch", hmac256_sumbatch},
	{"ipsec-mb:hmac-sha512:batch", hmac512_batch},
	{"ipsec-mb:hmac-sha512:apart", hmac512_apart},
	{"ipsec-mb:hmac-sha512:sumbatch", hmac512_sumbatch},
};

int main(void)
{
	mgr = alloc_mb_mgr(0);
	if (mgr == NULL) {
		fprintf(stderr, "fastmac: ipsec-mb: no manager\n");
		return 1;
	}
	init_mb_mgr_auto(mgr, NULL);
	sha256.one_block = &mgr->sha256_one_block;
	sha512.one_block = &mgr->sha512_one_block;
	printf("version ipsec-mb %s\n", imb_get_version_str());
	return serve(ops, sizeof ops / sizeof ops[0]);
}
