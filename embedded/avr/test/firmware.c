// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The firmware has the library, and memory for arguments. The runner calls the functions.
// It is also C++.

#include <avr/pgmspace.h>

#include "hmac_sha512.h"

#define USED __attribute__((used))

USED sha512_ctx sha;
USED hmac_sha512_ctx mac;
#ifndef ARENA
#define ARENA 2600
#endif
USED uint8_t arena[ARENA];

void *functions[] = {
	(void *)sha512_init, (void *)sha512_update, (void *)sha512_final, (void *)sha512,
	(void *)hmac_sha512_init, (void *)hmac_sha512_update, (void *)hmac_sha512_final,
	(void *)hmac_sha512, (void *)hmac_sha512_verify,
};

#ifdef FAR
// Tables of 150 KB, so that other code is beyond 128 KiB.
USED const uint8_t far0[30000] PROGMEM = {1}, far1[30000] PROGMEM = {1}, far2[30000] PROGMEM = {1},
	far3[30000] PROGMEM = {1}, far4[30000] PROGMEM = {1};
#define TABLES , "r"(far0), "r"(far1), "r"(far2), "r"(far3), "r"(far4)
#else
#define TABLES
#endif

#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline, noreturn, used)) void idle(void)
{
	for (;;)
		__asm__ volatile ("" ::"r"(functions), "r"(sha.state), "r"(mac.outer), "r"(arena) TABLES);
}

int main(void) { idle(); }
