// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// groupOfKeys is how many keys prefetchKeys has.
const groupOfKeys = 4

// prefetchKeys generates prefetchKeys, for batches over many keys. It reads the pointers and the
// offsets, and nothing of the keys: a prefetch of an address that cannot be read does nothing.
func prefetchKeys(fn function) (c code) {
	const keys, place, left, offset, line, first x = 0, 1, 2, 3, 4, 5 // the keys are from first on
	c.load(keys, fn.arg("keys"))
	c.load(place, fn.arg("offsets_base"))
	c.load(left, fn.arg("offsets_len"))
	for i := range groupOfKeys {
		c.load(first+x(i), at(keys, 8*i))
	}
	c.label("nextLine")
	c.load(offset, at(place, 0))
	c.addx(place, place, 8)
	for i := range groupOfKeys {
		c.addx(line, first+x(i), offset)
		c.prefetch(line)
	}
	c.subs(left, left, 1)
	c.jumpIf("NE", "nextLine")
	c.ret()
	return c
}
