// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import "math/rand/v2"

// Encodings is the number of encodings in the table.
var Encodings = len(encodings)

// EncodingOf returns the index of the encoding of an instruction, or -1.
func EncodingOf(code uint32) int {
	for k, e := range encodings {
		if (word{code: code, bits: e.bits}).matches() {
			return k
		}
	}
	return -1
}

// RandomInstruction returns an instruction of an encoding, with random operands.
func RandomInstruction(k int, r *rand.Rand) uint32 {
	code := r.Uint32()
	for n, b := range encodings[k].bits {
		switch bit := uint32(1) << (31 - n); b {
		case '0':
			code &^= bit
		case '1':
			code |= bit
		}
	}
	return code
}

// Bits returns an encoding, for messages.
func Bits(k int) string { return encodings[k].bits + " " + encodings[k].mnemonic }
