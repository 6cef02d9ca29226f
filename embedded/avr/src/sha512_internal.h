// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What the files of this library share. It is not for callers.

#ifndef FASTMAC_SHA512_INTERNAL_H
#define FASTMAC_SHA512_INTERNAL_H

#include "sha512.h"

// sha512_compress takes the block into the state. The block is overwritten.
void sha512_compress(sha512_ctx *ctx);

// sha512_finish pads the message and takes the last blocks, which leaves the hash in
// the state.
void sha512_finish(sha512_ctx *ctx);

// sha512_wipe sets the n bytes at p to zero.
void sha512_wipe(void *p, size_t n);

#endif
