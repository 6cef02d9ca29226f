// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The firmware has the library and memory for its arguments. The runner calls the
// functions.

#include "hmac_sha512.h"

sha512_ctx sha;
hmac_sha512_ctx mac;
uint8_t arena[2600];

void *const functions[] = {
	sha512_init, sha512_update, sha512_final, sha512,
	hmac_sha512_init, hmac_sha512_update, hmac_sha512_final, hmac_sha512, hmac_sha512_verify,
};

__attribute__((noinline, noreturn)) void idle(void)
{
	for (;;)
		__asm__ volatile ("" ::"r"(functions), "r"(&sha), "r"(&mac), "r"(arena));
}

int main(void) { idle(); }
