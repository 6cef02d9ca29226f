// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math/bits"
)

// L2-HASH, RFC 4418 section 5.3: the L1 words of a message of more than one
// block are the coefficients of a polynomial that is evaluated at a secret
// point, modulo 2^64-59 for the first 2^14 words and modulo 2^128-159 after.
//
// A coefficient of 2^64-2^32 or more (2^128-2^96 in POLY-128) is replaced by two:
// the marker p-1, then the coefficient less the offset. Whether that happens depends
// on the key, so both outcomes are computed and one is selected without a branch.

const (
	offset64  = 59  // 2^64 - p64
	offset128 = 159 // 2^128 - p128

	poly64Words = 1 << 14 // L1 words under POLY-64: 2^17 bytes, 2^24 bytes of message
)

// uint128 is hi * 2^64 + lo.
type uint128 struct{ hi, lo uint64 }

// l2Key is the part of the L2 key that one iteration uses.
type l2Key struct {
	k64  uint64  // < 2^57
	k128 uint128 // < 2^121
}

// set reads the subkey, RFC 4418 section 5.3.1.
func (k *l2Key) set(b *[24]byte) {
	const mask = 0x01ffffff01ffffff
	k.k64 = binary.BigEndian.Uint64(b[:]) & mask
	k.k128.hi = binary.BigEndian.Uint64(b[8:]) & mask
	k.k128.lo = binary.BigEndian.Uint64(b[16:]) & mask
}

// l2State is L2-HASH over the L1 words of whole blocks. It is not used for a message
// of one block, whose word goes from L1 to L3.
type l2State struct {
	words uint64 // number of words written
	// The polynomial's value in each iteration, not reduced. In POLY-64 hi is 0.
	y [maxIterations]uint128

	// POLY-128 reads two L1 words at a time. This is the first of them.
	pending l1Words
}

// begin sets the polynomials to 1 before the first word.
func (s *l2State) begin() {
	if s.words == 0 {
		for i := range s.y {
			s.y[i] = uint128{lo: 1}
		}
	}
}

// write adds the L1 words of blocks, one for each iteration, whose keys are k.
func (s *l2State) write(k []l2Key, blocks []l1Words) {
	s.begin()
	for ; s.words < poly64Words && len(blocks) > 0; blocks = blocks[1:] {
		for i := range k {
			s.y[i].lo = poly64(s.y[i].lo, k[i].k64, blocks[0][i])
		}
		s.words++
	}
	if len(blocks) > 0 {
		s.write128(k, blocks)
	}
}

// write128 is write after the words of POLY-64.
func (s *l2State) write128(k []l2Key, blocks []l1Words) {
	s.begin128(k)
	if s.words%2 == 1 {
		pair := [2]l1Words{s.pending, blocks[0]}
		poly128Pairs(&s.y, k, pair[:])
		s.words++
		blocks = blocks[1:]
	}
	pairs := len(blocks) &^ 1
	poly128Pairs(&s.y, k, blocks[:pairs])
	if pairs < len(blocks) {
		s.pending = blocks[pairs]
	}
	s.words += uint64(len(blocks))
}

// begin128 begins POLY-128 before its first block. Its first coefficient is the result of POLY-64.
func (s *l2State) begin128(k []l2Key) {
	if s.words != poly64Words {
		return
	}
	for i := range k {
		first := uint128{lo: reduce64(s.y[i].lo)}
		s.y[i] = poly128(uint128{lo: 1}, k[i].k128, first)
	}
}

// poly128Pairs runs POLY-128 from the values y over an even number of L1 words.
func poly128Pairs(y *[maxIterations]uint128, k []l2Key, blocks []l1Words) {
	var marked [maxIterations]uint128
	for i := range k {
		marked[i] = markedBits(k[i].k128)
	}
	for ; len(blocks) > 1; blocks = blocks[2:] {
		for i := range k {
			factor, addend := step128(k[i].k128, marked[i], uint128{blocks[0][i], blocks[1][i]})
			y[i] = mulAdd128(factor, y[i], addend)
		}
	}
}

// sum64 sets words to the lower 8 bytes of the outputs of L2-HASH, if POLY-64 has all
// words. The higher bytes are zeros.
func (s *l2State) sum64(words []uint64) {
	for i := range words {
		words[i] = reduce64(s.y[i].lo)
	}
}

// sum128 returns the 16-byte output of L2-HASH in iteration i, if there are more
// words than POLY-64 has.
func (s *l2State) sum128(i int, k *l2Key) uint128 {
	// The words beyond the first 2^17 bytes end with a byte 0x80 and are
	// padded with zeros to 16 bytes.
	last := uint128{hi: 0x80 << 56}
	if s.words%2 == 1 {
		last = uint128{s.pending[i], 0x80 << 56}
	}
	return reduce128(poly128(s.y[i], k.k128, last))
}

// poly64 is one step of POLY with a word length of 64 bits, section 5.3.2, modulo
// p64 = 2^64-59. y and the result are not reduced. The marker path also has only one
// multiplication by y, so that the next step does not wait for two:
//
//	k*(k*y - 1) + m-59 = k^2*y + (m-59-k)
func poly64(y, k, m uint64) uint64 {
	isMarked := -((m>>32 + 1) >> 32) // all ones if m >= 2^64-2^32, else 0
	factor := k ^ (k^square64(k))&isMarked
	addend := m ^ (m^(m-offset64-k))&isMarked // k < 2^57: less than m, if m is marked

	return mulAdd64(factor, y, addend)
}

// mulAdd64 returns x*y + addend modulo p64, not reduced.
func mulAdd64(x, y, addend uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	hi, low := bits.Mul64(hi, offset64) // hi < 59
	lo, c := bits.Add64(lo, low, 0)
	hi += c
	lo, c = bits.Add64(lo, addend, 0)
	hi += c // <= 60
	lo, c = bits.Add64(lo, offset64*hi, 0)
	return lo + offset64*c // if c is 1, lo < 59*60
}

// square64 returns k^2 modulo p64, not reduced, for k < 2^57.
func square64(k uint64) uint64 {
	hi, lo := bits.Mul64(k, k) // hi < 2^50
	lo, c := bits.Add64(lo, offset64*hi, 0)
	return lo + offset64*c // if c is 1, lo < 2^56
}

// reduce64 returns the least residue of y modulo p64.
func reduce64(y uint64) uint64 {
	r, c := bits.Add64(y, offset64, 0) // c is 1 if y >= p64
	return y ^ (y^r)&-c
}

// poly128 is one step of POLY with a word length of 128 bits, section 5.3.2, modulo
// p128 = 2^128-159. y and the result are not reduced.
func poly128(y, k, m uint128) uint128 {
	factor, addend := step128(k, markedBits(k), m)
	return mulAdd128(factor, y, addend)
}

// step128 returns what such a step multiplies y by, and adds. The marker path also has only one
// multiplication by y, so that the next step does not wait for two:
//
//	k*(k*y - 1) + m-159 = k^2*y + (m-159-k)
//
// marked is k xor k^2: with that the compiler inlines it.
func step128(k, marked, m uint128) (factor, addend uint128) {
	isMarked := -((m.hi>>32 + 1) >> 32) // all ones if m >= 2^128-2^96, else 0
	lo, b := bits.Sub64(m.lo, offset128&isMarked, 0)
	lo, c := bits.Sub64(lo, k.lo&isMarked, 0)
	hi := m.hi - b - c - k.hi&isMarked // k < 2^121: less than m, if m is marked
	return uint128{k.hi ^ marked.hi&isMarked, k.lo ^ marked.lo&isMarked}, uint128{hi, lo}
}

// markedBits returns k xor k^2, for step128.
func markedBits(k uint128) uint128 {
	square := mul128(k, k)
	return uint128{k.hi ^ square.hi, k.lo ^ square.lo}
}

// mul128 returns x*y modulo p128, not reduced.
func mul128(x, y uint128) uint128 { return mulAdd128(x, y, uint128{}) }

// mulAdd128 returns x*y + addend modulo p128, not reduced.
func mulAdd128(x, y, addend uint128) uint128 {
	// The 256-bit product r3:r2:r1:r0.
	high0, r0 := bits.Mul64(x.lo, y.lo)
	high1, low1 := bits.Mul64(x.hi, y.lo)
	high2, low2 := bits.Mul64(x.lo, y.hi)
	high3, low3 := bits.Mul64(x.hi, y.hi)
	r1, c := bits.Add64(high0, low1, 0)
	r2, c := bits.Add64(high1, low3, c)
	r3 := high3 + c
	r1, c = bits.Add64(r1, low2, 0)
	r2, c = bits.Add64(r2, high2, c)
	r3 += c

	// 2^128 = 159, so 159 * r3:r2 = t2:t1:t0 is added to r1:r0.
	t1, t0 := bits.Mul64(r2, offset128)
	t2, l := bits.Mul64(r3, offset128) // t2 < 159
	t1, c = bits.Add64(t1, l, 0)
	t2 += c // < 159 still, because 159 * r3:r2 < 159 * 2^128
	r0, c = bits.Add64(r0, t0, 0)
	r1, c = bits.Add64(r1, t1, c)
	t2 += c // <= 159
	r0, c = bits.Add64(r0, addend.lo, 0)
	r1, c = bits.Add64(r1, addend.hi, c)
	t2 += c // <= 160

	r0, c = bits.Add64(r0, offset128*t2, 0)
	r1, c = bits.Add64(r1, 0, c)
	return uint128{r1, r0 + offset128*c} // if c is 1, r1 is 0 and r0 < 159*160
}

// reduce128 returns the least residue of y modulo p128.
func reduce128(y uint128) uint128 {
	lo, c := bits.Add64(y.lo, offset128, 0)
	hi, c := bits.Add64(y.hi, 0, c) // c is 1 if y >= p128
	return uint128{y.hi ^ (y.hi^hi)&-c, y.lo ^ (y.lo^lo)&-c}
}
