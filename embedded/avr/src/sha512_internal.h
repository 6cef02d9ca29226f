// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What the files of this library share. It is not for callers.

#ifndef FASTMAC_SHA512_INTERNAL_H
#define FASTMAC_SHA512_INTERNAL_H

#include "sha512.h"

// sha512_compress takes the block into the state, and returns ctx. The block is
// overwritten.
sha512_ctx *sha512_compress(sha512_ctx *ctx);

// sha512_finish pads the message and takes the last blocks, which leaves the hash in
// the state.
void sha512_finish(sha512_ctx *ctx);

// sha512_copy copies n < 256 bytes.
void sha512_copy(void *to, const void *from, uint8_t n);

// sha512_fill sets n < 2048 bytes at p to value. A compiler cannot leave it out, as it can
// with memset, so it also wipes.
void sha512_fill(void *p, uint8_t value, uint16_t n);

#endif
