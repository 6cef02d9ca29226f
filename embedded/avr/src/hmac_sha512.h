// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// HMAC-SHA-512, RFC 2104 and FIPS 198-1. Tags are those of fastmac.HMACKey with SHA-512
// and of crypto/hmac in Go. Time depends on lengths only.

#ifndef FASTMAC_HMAC_SHA512_H
#define FASTMAC_HMAC_SHA512_H

#include <stdbool.h>

#include "sha512.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HMAC_SHA512_SIZE 64      // bytes of a tag
#define HMAC_SHA512_CTX_SIZE 261 // sizeof(hmac_sha512_ctx)

// hmac_sha512_ctx is a tag of a message that arrives in parts. The fields are private.
// A copy of it, by assignment, is independent: a copy made before the first update
// is the expanded key, and saves two of the four compressions of a short message.
typedef struct {
	sha512_ctx hash; // of the inner pad and the message
	uint8_t outer[SHA512_SIZE]; // the state after the outer pad
} hmac_sha512_ctx;

// hmac_sha512_init starts a message under a key of any length. RFC 2104 section 3
// advises at least 64 bytes; a key longer than 128 bytes is hashed first. key is not
// retained.
void hmac_sha512_init(hmac_sha512_ctx *ctx, const void *key, size_t keylen);

// hmac_sha512_update appends len bytes to the message. msg may be NULL if len is 0.
void hmac_sha512_update(hmac_sha512_ctx *ctx, const void *msg, size_t len);

// hmac_sha512_final writes the tag, 64 bytes, and wipes ctx, with the key in it. After
// that ctx needs hmac_sha512_init.
void hmac_sha512_final(hmac_sha512_ctx *ctx, uint8_t *tag);

// hmac_sha512 writes the tag of msg, 64 bytes, to tag, which may overlap msg and key.
// It wipes what it used.
void hmac_sha512(uint8_t *tag, const void *key, size_t keylen, const void *msg, size_t len);

// hmac_sha512_verify reports whether the 64 bytes at tag are the tag of msg. Its time
// depends on lengths only, and does not tell where a wrong tag differs. It wipes what
// it used.
bool hmac_sha512_verify(const uint8_t *tag, const void *key, size_t keylen, const void *msg, size_t len);

#ifdef __cplusplus
}
#endif

#endif
