// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// prefetch writes prefetch_arm64.s: lines reads the pointers and the offsets, and nothing of the
// objects: a prefetch of an address that cannot be read does nothing.
func (f *file) prefetch() {
	const group = 4
	const objects, place, left, offset, line, first x = 0, 1, 2, 3, 4, 5 // the objects are from first on
	fn := f.begin("lines")
	var c code
	c.load(objects, fn.arg("objects"))
	c.load(place, fn.arg("offsets_base"))
	c.load(left, fn.arg("offsets_len"))
	for i := range group {
		c.load(first+x(i), at(objects, 8*i))
	}
	c.label("nextLine")
	c.load(offset, at(place, 0))
	c.addx(place, place, 8)
	for i := range group {
		c.addx(line, first+x(i), offset)
		c.prefetch(line)
	}
	c.subs(left, left, 1)
	c.jumpIf("NE", "nextLine")
	c.ret()
	f.write(c)
}
