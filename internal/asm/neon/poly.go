// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

const offset64 = 59 // 2^64 - p64

// POLY-64, RFC 4418 section 5.3, in general registers: R2 is 2^32 and R5 is 59.
const marker, fiftyNine x = 2, 5

func polyConstants(c *code) {
	c.constant(marker, "1<<32")
	c.constant(fiftyNine, "59")
}

// square64 sets d to k^2 modulo p64, not reduced, for k < 2^57. a is overwritten.
func square64(c *code, d, k, a x) {
	c.mul(d, k, k)
	c.umulh(a, k, k) // < 2^50
	c.mul(a, a, fiftyNine)
	c.adds(d, d, a)
	c.addx(a, d, offset64) // if there was a carry, d < 2^56
	c.csel("CS", d, a, d)
}

// poly64 is a step of POLY, as poly64 in Go: d = y*k + m modulo p64, not reduced, or with a marker.
// It overwrites m, a, b and e.
func poly64(c *code, d, y, k, square, m, a, b, e x) {
	c.comment("m < 2^64-2^32 ? k*y + m : k^2*y + (m-59-k)")
	c.sub(a, m, offset64)
	c.sub(a, a, k)
	c.cmn(m, marker)
	c.csel("CS", b, square, k)
	c.csel("CS", m, a, m)
	c.mul(a, b, y)
	c.umulh(b, b, y)
	c.umulh(e, b, fiftyNine) // < 59
	c.mul(b, b, fiftyNine)
	c.adds(a, a, b)
	c.adc(e, e, zr)
	c.adds(a, a, m)
	c.adc(e, e, zr) // <= 60
	c.mulw(e, e, fiftyNine)
	c.adds(a, a, e)
	c.addx(b, a, offset64) // if there was a carry, a < 59*60
	c.csel("CS", d, b, a)
}

// reduce64 sets y to its least residue. a is overwritten.
func reduce64(c *code, y, a x) {
	c.adds(a, y, offset64)
	c.csel("CS", y, a, y)
}
