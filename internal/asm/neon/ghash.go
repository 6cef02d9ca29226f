// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// GHASH, NIST SP 800-38D section 6.4, is computed as POLYVAL, as in ../gcm/ghash.go: the bytes of
// each block are reversed, and the key is multiplied by x. Then the carry-less product of two
// blocks is
//
//	low + middle*x^64 + high*x^128
//
// and has to be divided by x^128 modulo
//
//	P = x^128 + x^127 + x^126 + x^121 + 1
//
// which is reduce. A sum of products is reduced once.
//
// The first two of eight blocks have products of four multiplications: GHASH so far is added to
// the first one, and these have fewer steps that wait for each other. The others are taken in
// pairs: the low halves of both blocks are in one register, and the high ones in another, so that
// Karatsuba's method takes three multiplications for each block, and one more addition for both.
//
// Vector registers: V8 and V9 are two blocks, V10 and V11 their halves, V14 to V17 the sums, V18
// is GHASH so far. V19 to V31 are the powers of the key, while there are whole groups.
const (
	groupBlocks = 8 // of a group, and powers of the key
	gcmGroup    = groupBlocks * aesBlock

	blockPair    v = 8
	pairHalves   v = 10
	ghashed      v = 18
	singlePowers v = 19 // H^8 and H^7, each with its halves exchanged after it
	pairPowers   v = 23 // of H^6 and H^5, H^4 and H^3, H^2 and H^1: low halves, high halves, their sums
)

// General registers of all functions of gcm_arm64.s.
const (
	gcmKey      x = 0
	gcmRun      x = 1
	gcmDst      x = 2
	gcmSrc      x = 3 // of text or of additional data
	gcmLeft     x = 4 // how many bytes are there
	gcmTable    x = 5 // the constants
	wholeEnd    x = 6 // where the whole blocks of the rest end
	wholeBlocks x = 7 // how many they are
	fewBytes    x = 8 // how many bytes are after them, 0 to 15
	nextPower   x = 9 // the address of the power for the next block
)

// Constants, by their offsets.
const (
	counterBits  = 0   // the states of a group, and that of the first counter block: see gcm.go
	reversed     = 128 // reverses a block
	polynomial   = 144 // P without its highest and lowest bits, divided by x^64
	onesAndZeros = 160
)

// gcmConstants writes the constants.
func (f *file) gcmConstants() {
	var words []uint64
	for _, n := range []uint64{2, 3, 4, 5, 6, 7, 0, 1} {
		words = append(words, 0, n<<56)
	}
	words = append(words,
		0x08090a0b0c0d0e0f, 0x0001020304050607,
		0xc200000000000000, 0,
		^uint64(0), ^uint64(0), 0, 0)
	f.data(words)
}

// powerAt is the place of H^n.
func powerAt(n int) mem { return at(gcmKey, fmt.Sprintf("Key_powers+%d", aesBlock*(groupBlocks-n))) }

// products are the registers of sums of products, as above, and one for the next product.
type products struct {
	low, middle, high, free v
}

var firstProducts = products{14, 15, 16, 17}

// add adds the product of the halves of n and m to a sum, or sets it. The sum moves to another
// register: some CPUs execute a multiplication and an addition to its result as one.
func (s *products) add(c *code, sum *v, set, upper bool, n, m v) {
	multiply := c.pmull
	if upper {
		multiply = c.pmull2
	}
	if set {
		multiply(*sum, n, m)
		return
	}
	multiply(s.free, n, m)
	c.veor(s.free, s.free, *sum)
	c.join(2)
	*sum, s.free = s.free, *sum
}

// block adds the product of a block and a power of the key. exchanged is the power with its halves
// exchanged.
func (s *products) block(c *code, block, power, exchanged v) {
	s.add(c, &s.low, false, false, block, power)
	s.add(c, &s.high, false, true, block, power)
	s.add(c, &s.middle, false, false, block, exchanged)
	s.add(c, &s.middle, false, true, block, exchanged)
}

// reduce sets ghashed to the sums, divided by x^128 modulo P. It overwrites V10 and V11.
func (s *products) reduce(c *code) {
	const p, t = pairHalves, pairHalves + 1
	c.ldrq(p, at(gcmTable, polynomial))
	// Adding P times the low half clears it. The rest is divided by x^64.
	c.ext(t, s.low, s.low)
	s.add(c, &s.middle, false, false, s.low, p)
	c.veor(s.middle, s.middle, t)
	c.ext(t, s.middle, s.middle)
	s.add(c, &s.high, false, false, s.middle, p)
	c.veor(ghashed, s.high, t)
}

// loadPowers loads V19 to V31.
func loadPowers(c *code) {
	for i := range v(2) {
		h := singlePowers + 2*i
		c.ldrq(h, powerAt(groupBlocks-int(i)))
		c.ext(h+1, h, h)
	}
	for i := range v(3) {
		h := pairPowers + 3*i
		c.ldp(blockPair, blockPair+1, powerAt(6-2*int(i)))
		c.uzp1(h, blockPair, blockPair+1, d2)
		c.uzp2(h+1, blockPair, blockPair+1, d2)
		c.veor(h+2, h, h+1)
	}
}

// hashGroup adds the group at p to ghashed.
func hashGroup(p x, offset int) (c code) {
	s := firstProducts
	for i := range v(3) {
		low, high, h := pairHalves, pairHalves+1, pairPowers+3*i
		c.ldp(blockPair, blockPair+1, at(p, offset+2*aesBlock*int(1+i)))
		c.uzp1(high, blockPair, blockPair+1, d2)
		c.uzp2(low, blockPair, blockPair+1, d2)
		c.rev64(high, high)
		c.rev64(low, low)
		c.veor(blockPair, low, high)
		for upper := range 2 {
			set := i == 0 && upper == 0
			s.add(&c, &s.low, set, upper == 1, low, h)
			s.add(&c, &s.high, set, upper == 1, high, h+1)
			s.add(&c, &s.middle, set, upper == 1, blockPair, h+2)
		}
	}
	// Karatsuba's middle is the sum of all.
	c.veor(s.middle, s.middle, s.low)
	c.veor(s.middle, s.middle, s.high)
	c.ldp(blockPair, blockPair+1, at(p, offset))
	c.ldrq(pairHalves, at(gcmTable, reversed))
	c.tbl(blockPair+1, blockPair+1, pairHalves)
	c.tbl(blockPair, blockPair, pairHalves)
	s.block(&c, blockPair+1, singlePowers+2, singlePowers+3)
	c.veor(blockPair, blockPair, ghashed)
	s.block(&c, blockPair, singlePowers, singlePowers+1)
	s.reduce(&c)
	return c
}

// hashGroups adds whole groups at src to ghashed, and leaves the rest in src and left.
func hashGroups(c *code, prefix string) {
	c.cmp(gcmLeft, gcmGroup)
	c.jumpIf("LT", prefix+"Rest")
	loadPowers(c)
	c.label(prefix + "Group")
	c.add(hashGroup(gcmSrc, 0))
	c.addx(gcmSrc, gcmSrc, gcmGroup)
	c.sub(gcmLeft, gcmLeft, gcmGroup)
	c.cmp(gcmLeft, gcmGroup)
	c.jumpIf("GE", prefix+"Group")
	c.label(prefix + "Rest")
}

// The end of a message, less than a group, is taken from its last block to its first: the powers
// begin with H then, and GHASH so far is added last. Vector registers: V8 is the next block, V9 and
// V10 are its power, V11 is the order of bytes, and V19 the bytes after the whole blocks, with zeros
// behind.
const (
	byteOrder v = 11
	lastBytes v = 19
)

// multiplyNext adds the product of V8 and the next power to the sums.
func multiplyNext(c *code) {
	const h, exchanged = blockPair + 1, pairHalves
	s := firstProducts
	t := s.free
	c.ldrq(h, next(nextPower, -aesBlock))
	c.ext(exchanged, h, h)
	c.pmull(t, blockPair, h)
	c.veor(s.low, s.low, t)
	c.pmull2(t, blockPair, h)
	c.veor(s.high, s.high, t)
	c.pmull(t, blockPair, exchanged)
	c.veor(s.middle, s.middle, t)
	c.pmull2(t, blockPair, exchanged)
	c.veor(s.middle, s.middle, t)
}

// beginProducts sets the sums to zero, and begins with H.
func beginProducts(c *code) {
	c.addx(nextPower, gcmKey, fmt.Sprintf("$(Key_powers+%d)", aesBlock*(groupBlocks-1)))
	c.zero(firstProducts.low)
	c.zero(firstProducts.middle)
	c.zero(firstProducts.high)
	c.ldrq(byteOrder, at(gcmTable, reversed))
}

// splitRest sets what hashRest and hashLengths need for the bytes left at p: where the whole blocks
// end, how many they are, and the bytes after them.
func splitRest(c *code, prefix string, p x) {
	countRest(c)
	c.addx(wholeEnd, p, shifted(wholeBlocks, 4))
	c.jumpZero(fewBytes, prefix+"Whole")
	loadFew(c, prefix, lastBytes, wholeEnd, fewBytes, 11, 12, 13, 14, 24)
	c.label(prefix + "Whole")
}

// countRest is splitRest without addresses and bytes.
func countRest(c *code) {
	c.and(fewBytes, gcmLeft, aesBlock-1)
	c.lsr(wholeBlocks, gcmLeft, 4)
}

// hashRest adds 1 to 127 bytes to ghashed, with zeros up to the end of a block.
func hashRest(c *code, prefix string) {
	beginProducts(c)
	c.jumpZero(fewBytes, prefix+"Blocks")
	c.tbl(blockPair, lastBytes, byteOrder)
	hashBlocks(c, prefix)
	c.add(hashFirst())
}

// hashLengths is hashRest of 0 to 127 bytes and the lengths. It spreads other code between the
// last steps.
func hashLengths(c *code, prefix string, other code) {
	const t x = 11
	beginProducts(c)
	c.cmp(wholeBlocks, groupBlocks-1)
	c.jumpIf("LT", prefix+"Lengths")
	c.jumpZero(fewBytes, prefix+"Lengths")
	c.comment("There is no power for a ninth block: the first one has a reduction of its own.")
	c.ldrq(blockPair, at(wholeEnd, -aesBlock*(groupBlocks-1)))
	c.tbl(blockPair, blockPair, byteOrder)
	c.add(hashFirst())
	c.sub(wholeBlocks, wholeBlocks, 1)
	beginProducts(c)
	c.label(prefix + "Lengths")
	c.ldrd(blockPair, at(gcmRun, "run_textBits"))
	c.load(t, at(gcmRun, "run_dataBits"))
	c.toVector(blockPair, 1, t)
	c.jumpZero(fewBytes, prefix+"NoBytes")
	multiplyNext(c)
	c.tbl(blockPair, lastBytes, byteOrder)
	c.label(prefix + "NoBytes")
	hashBlocks(c, prefix)
	c.add(interleave(hashFirst(), other))
}

// hashBlocks adds the products of V8 and of the whole blocks, except for the first one, which it
// leaves in V8. A jump to the label Blocks leaves out V8.
func hashBlocks(c *code, prefix string) {
	c.jumpZero(wholeBlocks, prefix+"First")
	c.label(prefix + "Next")
	multiplyNext(c)
	c.label(prefix + "Blocks")
	c.sub(wholeEnd, wholeEnd, aesBlock)
	c.ldrq(blockPair, at(wholeEnd, 0))
	c.tbl(blockPair, blockPair, byteOrder)
	c.subs(wholeBlocks, wholeBlocks, 1)
	c.jumpIf("NE", prefix+"Next")
	c.label(prefix + "First")
}

// hashFirst returns the end: V8 is the first block, to which GHASH so far is added.
func hashFirst() (c code) {
	s := firstProducts
	c.veor(blockPair, blockPair, ghashed)
	multiplyNext(&c)
	s.reduce(&c)
	return c
}

// gcmInitKey generates initKey: H^8 to H^1, for H = x*reversed(AES(0)).
func gcmInitKey(fn function) (c code) {
	const low, high, carry, upper x = 6, 7, 8, 9
	const h v = 19 // H^n is in V18+n
	c.load(gcmKey, fn.arg("key"))
	c.address(gcmTable, "constants<>")
	c.zero(aesStates)
	beginAES(&c, "initKey")
	c.add(lastTen())
	c.toGeneral(high, aesStates, 0)
	c.toGeneral(low, aesStates, 1)
	c.rev(high, high)
	c.rev(low, low)
	c.comment("H*x: shift by one bit, and add P if x^127 is shifted out.")
	c.lsr(carry, high, 63)
	c.lsr(upper, low, 63)
	c.lsl(low, low, 1)
	c.eor(high, upper, shifted(high, 1))
	c.eor(low, low, carry)
	for _, by := range []int{63, 62, 57} {
		c.eor(high, high, shifted(carry, by))
	}
	c.dup(h, low, d2)
	c.toVector(h, 1, high)
	c.forget(low, high)
	c.strq(h, powerAt(1))
	for n := 2; n <= groupBlocks; n++ {
		// Few steps follow each other: H^5 to H^8 are all H^4 times another.
		m := 1
		for 2*m < n {
			m *= 2
		}
		c.comment(fmt.Sprintf("H^%d = H^%d * H^%d", n, m, n-m))
		a, b, s := h+v(m-1), h+v(n-m-1), firstProducts
		c.ext(blockPair, b, b)
		s.add(&c, &s.low, true, false, a, b)
		s.add(&c, &s.high, true, true, a, b)
		s.add(&c, &s.middle, true, false, a, blockPair)
		s.add(&c, &s.middle, false, true, a, blockPair)
		s.reduce(&c)
		c.vmov(h+v(n-1), ghashed)
		c.strq(ghashed, powerAt(n))
	}
	c.ret()
	return c
}

// gcmHash generates hashARMv8.
func gcmHash(fn function) (c code) {
	const sum x = 10
	c.load(gcmKey, fn.arg("key"))
	c.load(sum, fn.arg("sum"))
	c.load(gcmSrc, fn.arg("p"))
	c.load(gcmLeft, fn.arg("n"))
	c.address(gcmTable, "constants<>")
	c.ldrq(ghashed, at(sum, 0))
	hashGroups(&c, "hash")
	c.strq(ghashed, at(sum, 0))
	c.ret()
	return c
}
