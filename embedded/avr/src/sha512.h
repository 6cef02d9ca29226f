// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// SHA-512, FIPS 180-4, for 8-bit AVR with a hardware multiplier. Time depends on
// lengths only. Nothing here is safe to call from an interrupt that can interrupt a
// call with the same context. No function allocates.

#ifndef FASTMAC_SHA512_H
#define FASTMAC_SHA512_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHA512_SIZE 64        // bytes of a hash
#define SHA512_BLOCK_SIZE 128 // bytes that one compression takes
#define SHA512_CTX_SIZE 197   // sizeof(sha512_ctx)

// sha512_ctx is a hash of a message that arrives in parts. The fields are private.
// A copy of it, by assignment, is independent.
typedef struct {
	uint32_t blocks; // compressed so far
	uint8_t used; // bytes of the block that are message, < 128
	uint8_t state[SHA512_SIZE]; // H0 to H7, as bytes of a hash
	uint8_t block[SHA512_BLOCK_SIZE];
} sha512_ctx;

// sha512_init starts a message.
void sha512_init(sha512_ctx *ctx);

// sha512_update appends len bytes to the message. msg may be NULL if len is 0. A
// message is shorter than 2^37 bytes.
void sha512_update(sha512_ctx *ctx, const void *msg, size_t len);

// sha512_final writes the hash, 64 bytes, and wipes ctx. After that ctx needs sha512_init.
void sha512_final(sha512_ctx *ctx, uint8_t *out);

// sha512 writes the hash of msg, 64 bytes, to out, which may overlap msg. It wipes
// what it used.
void sha512(uint8_t *out, const void *msg, size_t len);

#ifdef __cplusplus
}
#endif

#endif
