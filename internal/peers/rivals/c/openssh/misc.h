// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Replaces OpenSSH's header of this name. There these are functions in
// another file, which are called for each word; inline they are faster.

static inline uint32_t swap32(uint32_t v)
{
	return __builtin_bswap32(v);
}

static inline uint32_t get_u32_le(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = swap32(v);
#endif
	return v;
}

static inline void put_u32_le(void *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = swap32(v);
#endif
	memcpy(p, &v, 4);
}

static inline uint32_t get_u32(const void *p)
{
	return swap32(get_u32_le(p));
}

static inline void put_u32(void *p, uint32_t v)
{
	put_u32_le(p, swap32(v));
}
