// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// tagNonce generates tagNonceNEON: AES of the nonce, RFC 4418 section 3.3, beside the end of a
// message. The last ten rounds are spread between the instructions of L3, which wait for each
// other as the rounds do.
//
// General registers, besides those of rest.go: R10 is the nonce and then the AES key, R11 its
// size, R12 the number of rounds, R13 the part of the block, R21 to R24 are overwritten.
func (f *file) tagNonce() {
	const umac, nonce, size, rounds, part x = 22, 10, 11, 12, 13
	const chosenHeld v = 31
	fn := f.begin("tagNonceNEON")
	var c code
	c.load(umac, fn.arg("k"))
	c.addx(key, umac, "$UMACKey_uhash")
	f.write(c, wipeAES)
	f.iterations("tagNonce", wipeAES, func(n int, prefix string) (c code) {
		const first, second, last, t x = 14, 15, 16, 17
		var cold code
		c.load(nonce, fn.arg("nonce_base"))
		c.load(size, fn.arg("nonce_len"))
		c.addx(last, nonce, size)
		if n == 2 {
			c.load8(part, at(last, -1))
			c.load8(t, at(umac, "UMACKey_pad+padKey_partBits"))
			c.constant(second, "-1")
			c.lsl(second, second, t)
			c.bic(part, part, second)
		}
		c.subs(size, size, 8)
		c.jumpIf("LT", prefix+"Small")
		c.load(first, at(nonce, 0))
		c.jumpIf("EQ", prefix+"Eight")
		c.load(second, at(last, -8))
		if n == 2 {
			c.eor(second, second, shifted(part, 56))
		}
		c.lsl(t, size, 3)
		c.sub(t, zr, t) // 64 - 8*(size-8), modulo 64
		c.lsr(second, second, t)
		c.label(prefix + "Nonce")
		c.fmov(aesState, first)
		c.toVector(aesState, 1, second)
		c.addx(nonce, umac, "$(UMACKey_pad+padKey_aes+aesKey_schedule)")
		c.load(rounds, at(umac, "UMACKey_pad+padKey_aes+aesKey_rounds"))
		firstRounds(&c, nonce, rounds, prefix)
		loadRest(&c, fn)
		cold.add(lastWords(&c, n, prefix))
		var tail code
		tail.load(0, fn.arg("tag"))
		l3(&tail, n, 0, padHeld)
		end := len(tail.lines) - 2 // the xor with the pad, and the store
		aes := lastRounds(nonce)
		if n == 2 {
			aes.load8(t, at(umac, "UMACKey_pad+padKey_firstPart"))
			aes.addx(part, part, t)
			aes.address(t, "·partBytes")
			aes.addx(t, t, shifted(part, 4))
			aes.ldrq(chosenHeld, at(t, 0))
			aes.tbl(aesState, aesState, chosenHeld)
		}
		c.add(interleave(code{tail.lines[:end], tail.written}, aes))
		c.add(code{lines: tail.lines[end:]})
		c.ret()

		c.add(cold)
		c.label(prefix + "Eight")
		if n == 2 {
			c.eor(first, first, shifted(part, 56))
		}
		c.mov(second, zr)
		c.jump(prefix + "Nonce")
		c.comment("1 to 7 bytes, from the last one to the first.")
		c.label(prefix + "Small")
		c.mov(first, zr)
		c.label(prefix + "Byte")
		c.op("MOVBU.W", "-1("+last.String()+")", t)
		c.lsl(first, first, 8)
		c.orr(first, first, t)
		c.cmp(last, nonce)
		c.jumpIf("NE", prefix+"Byte")
		if n == 2 {
			c.lsl(t, size, 3)
			c.sub(t, t, 8) // 8*(size-8-1), of which 8*(size-1) remain modulo 64
			c.lsl(part, part, t)
			c.eor(first, first, part)
			c.lsr(part, part, t)
		}
		c.mov(second, zr)
		c.jump(prefix + "Nonce")
		return c
	})
}
