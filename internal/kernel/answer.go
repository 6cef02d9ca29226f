// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel

import (
	"encoding/binary"
	"math/bits"
)

// An Answer is a checksum of what kernels have computed. If one word that is added has another value,
// the sum is another one for certain; if several have, it is the same by chance once in 2^64.
type Answer uint64

// Add adds a word.
func (a *Answer) Add(word uint64) {
	*a = Answer(bits.RotateLeft64((uint64(*a)^word)*multiplier, 32))
}

// AddBytes adds p, of a multiple of 4 bytes.
func (a *Answer) AddBytes(p []byte) {
	for ; len(p) >= 8; p = p[8:] {
		a.Add(binary.LittleEndian.Uint64(p))
	}
	if len(p) > 0 {
		a.Add(uint64(binary.LittleEndian.Uint32(p)))
	}
}

// multiplier is an odd number without a pattern: 2^64 divided by the golden ratio.
const multiplier = 0x9e3779b97f4a7c15

// FillAnswer sets p, of a multiple of 8 bytes, to what kernels compute an answer from: bytes without a
// pattern, those of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
func FillAnswer(p []byte) {
	for state := uint64(0); len(p) >= 8; p = p[8:] {
		state += multiplier
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(p, z^z>>31)
	}
}
