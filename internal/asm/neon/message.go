// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "fmt"

// A message and its nonce, to the tag: AES of the nonce, RFC 4418 section 3.3, beside the hash.
//
// General registers, besides those of rest.go: R10 is the nonce and then the AES key, R11 the
// size of the nonce, R12 the number of rounds, R13 the part of the block, R14 and R15 the nonce
// in two words, R22 the UMACKey, R23 the tags of a batch, R24 its messages and R25 how many are
// left. R26 is how many bytes more than 1025 the message has, less than zero if it is one block, and
// during the second of two blocks 2^32 more. Of two blocks, R9, R11, R12 and R14 are the values of
// POLY-64.
const (
	nonce, size  x = 10, 11
	rounds, part x = 12, 13
	umac         x = 22
	excess       x = 26
)

// loadUMACKey loads the addresses of the UMACKey and of its uhashKey.
func loadUMACKey(fn function) (c code) {
	c.load(umac, fn.arg("k"))
	c.addx(key, umac, "$UMACKey_uhash")
	return c
}

// tagNonce generates tagNonceNEON. A pad and then tagOnlyNEON take more instructions: 330 in place of 265 for
// UMAC-64 of 16 bytes, 375 in place of 294 for UMAC-128.
func tagNonce(fn function) func(n int, prefix string) code {
	return func(n int, prefix string) (c code) {
		c.load(nonce, fn.arg("nonce_base"))
		c.load(size, fn.arg("nonce_len"))
		cold := nonceBlock(&c, n, prefix)
		loadRest(&c, fn, n)
		cold.add(oneOrTwo(&c, n, prefix))
		c.load(0, fn.arg("tag"))
		l3AES(&c, n, 0)
		c.ret()
		c.add(cold)
		return c
	}
}

// tagNonces generates tagNoncesNEON.
func tagNonces(fn function) func(n int, prefix string) code {
	const tags, batch, count x = 23, 24, 25
	return func(n int, prefix string) (c code) {
		c.load(tags, fn.arg("tags_base"))
		c.load(batch, fn.arg("batch_base"))
		c.load(count, fn.arg("batch_len"))
		c.label(prefix + "Message")
		c.load(nonce, at(batch, "Message_Nonce"))
		c.load(size, at(batch, "Message_Nonce+8"))
		cold := nonceBlock(&c, n, prefix)
		c.load(msg, at(batch, "Message_Data"))
		c.load(left, at(batch, "Message_Data+8"))
		c.mov(length, left)
		firstGroup(&c, n)
		cold.add(oneOrTwo(&c, n, prefix))
		l3AES(&c, n, tags)
		c.addx(tags, tags, 4*maxIterations)
		c.addx(batch, batch, "$Message__size")
		c.subs(count, count, 1)
		c.jumpIf("NE", prefix+"Message")
		c.ret()
		c.add(cold)
		return c
	}
}

// firstGroup begins a block without any groups so far.
func firstGroup(c *code, n int) {
	c.addx(lo, key, "$(uhashKey_l1+l1Key_lo)")
	c.addx(hi, key, "$(uhashKey_l1+l1Key_hi)")
	for t := range n {
		c.zero(newSums(n).at(0, t, 0))
		c.zero(newSums(n).at(0, t, 1))
	}
}

// oneOrTwo sets V0 and V1 to the words for L3: of one block as lastWords does, or of two, which go
// through POLY-64; then there are no groups before the R4 bytes at R3. cold is code that must come
// after a return.
func oneOrTwo(c *code, n int, prefix string) (cold code) {
	const second = 32 // the bit of R26
	values := []x{9, 11, 12, 14}
	c.subs(excess, left, blockSize+1)
	c.jumpIf("GE", prefix+"Two")
	c.label(prefix + "Hash")
	cold.add(lastWords(c, n, prefix, true))
	c.jumpBitClear(excess, 63, prefix+"Poly")
	c.label(prefix + "Words")

	cold.comment("More than a block: first the block.")
	cold.label(prefix + "Two")
	cold.constant(left, "1024")
	cold.mov(length, left)
	for t := range n {
		cold.constant(values[t], "1")
	}
	cold.jump(prefix + "Hash")
	cold.label(prefix + "Poly")
	polyConstants(&cold)
	for t := range n {
		const m, k, square, a, b, e x = 15, 16, 17, 19, 20, 6
		cold.toGeneral(m, v(t/2), t%2)
		cold.load(k, at(key, l2Key64(t)))
		square64(&cold, square, k, a)
		poly64(&cold, values[t], values[t], k, square, m, a, b, e)
	}
	cold.jumpBitClear(excess, second, prefix+"Next")
	for t := range n {
		reduce64(&cold, values[t], 15)
		cold.toVector(v(t/2), t%2, values[t])
	}
	cold.jump(prefix + "Words")
	cold.label(prefix + "Next")
	cold.addx(left, excess, 1)
	cold.mov(length, left)
	cold.orr(excess, excess, 1<<second)
	firstGroup(&cold, n)
	cold.jump(prefix + "Hash")
	return cold
}

// nonceBlock sets V28 to the nonce at R10, without the bits that choose a part of the encrypted block,
// and executes the first rounds of AES-192 and AES-256. It sets R13 to the part, and R10 to the
// key of the next round. R14 to R17 are overwritten. cold is code that must come after a return.
//
// The loads are of 8 bytes. Of these, 4 or 8 have often just been stored, in one or two stores that have the first or
// the second half, or both. By Arm's guide Neoverse V2 forwards that, and Cortex-A78 does not. Loads of 4 bytes would
// be two instructions more for each, before AES.
func nonceBlock(c *code, n int, prefix string) (cold code) {
	const first, second, last, t x = 14, 15, 16, 17
	c.addx(last, nonce, size)
	if n == 2 {
		c.load8(part, at(last, -1))
		c.load8(t, at(umac, "UMACKey_pad+aesKey_padParts+padParts_partBits"))
		c.constant(second, "-1")
		c.lsl(second, second, t)
		c.bic(part, part, second)
	}
	c.subs(size, size, 8)
	c.jumpIf("LE", prefix+"Short")
	c.load(first, at(nonce, 0))
	c.load(second, at(last, -8))
	if n == 2 {
		c.eor(second, second, shifted(part, 56))
	}
	c.lsl(t, size, 3)
	c.sub(t, zr, t) // 64 - 8*(size-8), modulo 64
	c.lsr(second, second, t)
	c.label(prefix + "Block")
	c.dup(aesState, first, d2)
	c.toVector(aesState, 1, second)
	c.addx(nonce, umac, "$(UMACKey_pad+aesKey_schedule)")
	c.load8(rounds, at(umac, "UMACKey_pad+aesKey_rounds"))
	firstRounds(c, aesState, roundKeys, nonce, rounds, prefix)

	cold.label(prefix + "Short")
	cold.mov(second, zr)
	cold.jumpIf("LT", prefix+"Bytes")
	cold.load(first, at(nonce, 0))
	if n == 2 {
		cold.eor(first, first, shifted(part, 56))
	}
	cold.jump(prefix + "Block")
	cold.comment("1 to 7 bytes, from the last one to the first.")
	cold.label(prefix + "Bytes")
	cold.mov(first, zr)
	cold.label(prefix + "Byte")
	cold.op("MOVBU.W", fmt.Sprintf("-1(%s)", last), t)
	cold.orr(first, t, shifted(first, 8))
	cold.cmp(last, nonce)
	cold.jumpIf("NE", prefix+"Byte")
	if n == 2 {
		cold.lsl(t, size, 3)
		cold.sub(t, t, 8) // 8*(size-8) - 8, modulo 64: the last byte
		cold.lsl(t, part, t)
		cold.eor(first, first, t)
	}
	cold.jump(prefix + "Block")
	return cold
}

// l3AES is l3 with the last ten rounds of AES spread between its instructions, which wait for
// each other as the rounds do. Then the pad is a part of the block.
func l3AES(c *code, n int, tag x) {
	const t x = 17
	const chosen v = 31
	aes := lastRounds(nonce)
	if n == 2 {
		aes.load8(t, at(umac, "UMACKey_pad+aesKey_padParts+padParts_firstPart"))
		aes.addx(part, part, t)
		aes.address(t, "·partBytes")
		aes.addx(t, t, shifted(part, 4))
		aes.ldrq(chosen, at(t, 0))
		aes.tbl(aesState, aesState, chosen)
	}
	var hash code
	l3(&hash, n)
	c.add(interleave(hash, aes))
	xor(c, n, tag, aesState)
}
