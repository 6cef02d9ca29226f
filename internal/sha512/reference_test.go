// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"encoding/binary"
	"math/bits"
)

// blockGeneric is Block in portable Go, FIPS 180-4 section 6.4.2.
func blockGeneric(state *[8]uint64, p []byte) {
	var w [80]uint64
	for len(p) >= BlockSize {
		for t := range 16 {
			w[t] = binary.BigEndian.Uint64(p[8*t:])
		}
		for t := 16; t < len(w); t++ {
			x, y := w[t-15], w[t-2]
			s0 := bits.RotateLeft64(x, -1) ^ bits.RotateLeft64(x, -8) ^ x>>7
			s1 := bits.RotateLeft64(y, -19) ^ bits.RotateLeft64(y, -61) ^ y>>6
			w[t] = s1 + w[t-7] + s0 + w[t-16]
		}
		a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
		for t := range w {
			s0 := bits.RotateLeft64(a, -28) ^ bits.RotateLeft64(a, -34) ^ bits.RotateLeft64(a, -39)
			s1 := bits.RotateLeft64(e, -14) ^ bits.RotateLeft64(e, -18) ^ bits.RotateLeft64(e, -41)
			t1 := h + s1 + (e&f ^ ^e&g) + k[t] + w[t]
			t2 := s0 + (a&b ^ a&c ^ b&c)
			a, b, c, d, e, f, g, h = t1+t2, a, b, c, d+t1, e, f, g
		}
		state[0] += a
		state[1] += b
		state[2] += c
		state[3] += d
		state[4] += e
		state[5] += f
		state[6] += g
		state[7] += h
		p = p[BlockSize:]
	}
}
