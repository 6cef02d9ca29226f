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
	size_t block_size, tag_size, msg_size;
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

// Makes the batch of messages of this size, before the run that is timed.
static void prepare(struct hmac *h, const uint8_t *msg, size_t size)
{
	free(h->msgs);
	h->msgs = new_message(BATCH * size);
	h->msg_size = size;
	for (int i = 0; i < BATCH; i++) {
		IMB_JOB *job = &h->jobs[i];

		memcpy(h->msgs + i * size, msg, size);
		memcpy(h->keys[i], key, sizeof key);
		h->keys[i][0] ^= BATCH - 1 - i;
		job->hash_alg = h->alg;
		job->src = h->msgs + i * size;
		job->msg_len_to_hash_in_bytes = size;
		job->auth_tag_output = h->tags[i];
		job->auth_tag_output_len_in_bytes = h->tag_size;
	}
	expand(h, BATCH - 1);
}

// Tags messages in batches, under one key or each under its own. If n is not a multiple
// of BATCH, the first batch is shorter. The library reads the states of each key where
// its job says, and does not check the jobs: that is its fastest way.
static size_t hmac(struct hmac *h, const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64], int one_key)
{
	if (h->msg_size != size)
		prepare(h, msg, size);
	for (int i = 0; i < BATCH; i++) {
		struct expanded *e = &h->expanded[one_key ? BATCH - 1 : i];

		h->jobs[i].u.HMAC._hashed_auth_key_xor_ipad = e->inner;
		h->jobs[i].u.HMAC._hashed_auth_key_xor_opad = e->outer;
	}
	for (int i = (BATCH - n % BATCH) % BATCH; n > 0; i = 0) {
		if (!one_key)
			for (int j = i; j < BATCH; j++)
				expand(h, j);
		if (IMB_SUBMIT_HASH_BURST_NOCHECK(mgr, h->jobs + i, BATCH - i, h->alg) != (uint32_t)(BATCH - i))
			return 0;
		n -= BATCH - i;
	}
	memcpy(tag, h->tags[BATCH - 1], h->tag_size);
	return h->tag_size;
}

#define HMAC(bits, block)                                                       \
	static struct hmac sha##bits = {                                        \
		.alg = IMB_AUTH_HMAC_SHA_##bits, .block_size = block, .tag_size = bits / 8, \
	};                                                                      \
                                                                                \
	static size_t hmac##bits##_batch(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		return hmac(&sha##bits, msg, size, n, tag, 1);                  \
	}                                                                       \
                                                                                \
	static size_t hmac##bits##_sumbatch(const uint8_t *msg, size_t size, uint64_t n, uint8_t tag[64]) \
	{                                                                       \
		return hmac(&sha##bits, msg, size, n, tag, 0);                  \
	}

HMAC(256, 64)
HMAC(512, 128)

static const struct op ops[] = {
	{"ipsec-mb:hmac-sha256:batch", hmac256_batch},
	{"ipsec-mb:hmac-sha256:sumbatch", hmac256_sumbatch},
	{"ipsec-mb:hmac-sha512:batch", hmac512_batch},
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
