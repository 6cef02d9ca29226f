// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Replaces OpenSSH's header of this name: what its configure script finds.

#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// AES of OpenSSL by its old functions, as in OpenSSH's own build.
#define WITH_OPENSSL 1
#define OPENSSL_SUPPRESS_DEPRECATED 1

static inline void freezero(void *p, size_t n)
{
	if (p != NULL) {
		explicit_bzero(p, n);
		free(p);
	}
}
