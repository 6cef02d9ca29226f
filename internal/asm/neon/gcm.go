// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math/bits"
)

// AES-GCM, NIST SP 800-38D section 7, and GMAC.
//
// The counter block of a block of text is the nonce and a counter, which begins with 2. AESE adds
// the first round key to it, and does not care what is in the key and what in the state. All groups
// of text have eight blocks: the counters of the first six differ in the lowest three bits only, and
// so do those of the other two, which are the next multiple of eight and one more. So the states of
// all groups are the same constants, and two keys with the other bits are made for each group.
//
// Vector registers, besides those of ghash.go: V0 to V7 are the states, V12 and V13 round keys,
// and at the end of a message V0 is the encrypted first counter block, which is not for the text,
// and V1 to V8 are those of the text.
const (
	aesStates v = 0
	gcmRound  v = 12 // two round keys
	textHeld  v = 9  // four blocks of text
)

// General registers, besides those of ghash.go.
const (
	gcmRounds   x = 15
	gcmSchedule x = 16
	lastKeys    x = 17 // the address of the last two round keys
	nonceLow    x = 19 // the nonce and zeros for the counter; with text, the first key is added
	nonceHigh   x = 20
	gcmCounter  x = 21 // of the next group, less 2
	gcmTag      x = 22
	keyWord     x = 23 // is overwritten
)

// gcm writes gcm_arm64.s.
func (f *file) gcm() {
	f.gcmConstants()
	f.write(gcmInitKey(f.begin("initKey")))
	f.write(gcmHash(f.begin("hashARMv8")))
	f.write(gmac(f.begin("gmacARMv8")))
	f.write(crypt(f.begin("sealARMv8"), "seal", false))
	f.write(crypt(f.begin("openARMv8"), "open", true))
}

// beginAES executes the rounds of V0 that AES-192 and AES-256 have more than AES-128.
func beginAES(c *code, prefix string) {
	c.addx(gcmSchedule, gcmKey, "$Key_schedule")
	c.load32(gcmRounds, at(gcmKey, "Key_rounds"))
	firstRounds(c, aesStates, gcmRound, gcmSchedule, gcmRounds, prefix)
}

// lastTen returns the other rounds of V0, without jumps.
func lastTen() (c code) {
	for i := range 5 {
		c.ldp(gcmRound, gcmRound+1, at(gcmSchedule, 2*aesBlock*i))
		c.round(aesStates, gcmRound)
		if i < 4 {
			c.round(aesStates, gcmRound+1)
		}
	}
	c.aese(aesStates, gcmRound+1)
	c.ldrq(gcmRound, at(gcmSchedule, 2*aesBlock*5))
	c.veor(aesStates, aesStates, gcmRound)
	return c
}

// loadGCMNonce loads the nonce. Its last 8 or 4 bytes are often a number that has just been stored: a
// load that has other bytes too may wait for the store. keyWord is overwritten.
func loadGCMNonce(fn function, c *code) {
	c.load(nonceHigh, fn.arg("nonce"))
	c.load32(nonceLow, at(nonceHigh, 0))
	c.load32(keyWord, at(nonceHigh, 4))
	c.load32(nonceHigh, at(nonceHigh, 8))
	c.orr(nonceLow, nonceLow, shifted(keyWord, 32))
}

// loadGCMSum loads GHASH so far, and the constants.
func loadGCMSum(c *code) {
	const sum x = 23
	c.load(sum, at(gcmRun, "run_sum"))
	c.address(gcmTable, "constants<>")
	c.ldrq(ghashed, at(sum, 0))
}

// storeGCMTag stores the tag: GHASH, of which the bytes are reversed, and V0.
func storeGCMTag(c *code) {
	c.ldrq(byteOrder, at(gcmTable, reversed))
	c.tbl(ghashed, ghashed, byteOrder)
	c.veor(ghashed, ghashed, aesStates)
	c.strq(ghashed, at(gcmTag, 0))
}

// gmac generates gmacARMv8. The first counter block is encrypted beside the beginning and the end
// of GHASH.
func gmac(fn function) (c code) {
	c.load(gcmKey, fn.arg("key"))
	c.load(gcmRun, fn.arg("r"))
	loadGCMNonce(fn, &c)
	c.orr(nonceHigh, nonceHigh, 1<<56)
	c.dup(aesStates, nonceLow, d2)
	c.toVector(aesStates, 1, nonceHigh)
	beginAES(&c, "gmac")
	first, last := lastTen().split(3 * 3)
	var load code
	loadGCMSum(&load)
	load.load(gcmTag, at(gcmRun, "run_tag"))
	load.load(gcmSrc, at(gcmRun, "run_data"))
	load.load(gcmLeft, at(gcmRun, "run_data+8"))
	c.add(interleave(first, load))
	hashGroups(&c, "gmac")
	splitRest(&c, "gmacLoad", gcmSrc)
	hashLengths(&c, "gmacEnd", last)
	storeGCMTag(&c)
	c.ret()
	return c
}

// crypt generates sealARMv8 or openARMv8.
func crypt(fn function, prefix string, open bool) (c code) {
	c.load(gcmKey, fn.arg("key"))
	c.load(gcmRun, fn.arg("r"))
	loadGCMSum(&c)
	c.load(gcmLeft, at(gcmRun, "run_data+8"))
	c.jumpZero(gcmLeft, prefix+"Text")
	c.comment("Additional data, less than a group.")
	c.load(gcmSrc, at(gcmRun, "run_data"))
	splitRest(&c, prefix+"DataLoad", gcmSrc)
	hashRest(&c, prefix+"DataEnd")
	c.label(prefix + "Text")
	beginText(fn, &c)
	cryptGroups(&c, prefix, open)
	c.load(gcmTag, at(gcmRun, "run_tag"))
	c.jumpNotZero(gcmTag, prefix+"End")
	c.comment("Other runs follow.")
	c.load(gcmTag, at(gcmRun, "run_sum"))
	c.strq(ghashed, at(gcmTag, 0))
	c.forget(nonceLow, nonceHigh, keyWord)
	c.ret()

	c.label(prefix + "End")
	if open {
		splitRest(&c, prefix+"Load", gcmSrc)
		hashLengths(&c, prefix+"Hash", code{})
	} else {
		countRest(&c)
	}
	lastStates(&c, prefix)
	cryptRest(&c, prefix, open)
	if !open {
		hashLengths(&c, prefix+"Hash", code{})
	}
	storeGCMTag(&c)
	c.forget(nonceLow, nonceHigh, keyWord)
	c.ret()
	return c
}

// forget sets general registers to zero that have held words of the key.
func (c *code) forget(all ...x) {
	for _, r := range all {
		c.mov(r, zr)
	}
}

// beginText loads what is needed for text.
func beginText(fn function, c *code) {
	loadGCMNonce(fn, c)
	c.addx(gcmSchedule, gcmKey, "$Key_schedule")
	c.load(keyWord, at(gcmSchedule, 0))
	c.eor(nonceLow, nonceLow, keyWord)
	c.load(keyWord, at(gcmSchedule, 8))
	c.eor(nonceHigh, nonceHigh, keyWord)
	c.load32(gcmRounds, at(gcmKey, "Key_rounds"))
	c.addx(lastKeys, gcmSchedule, shifted(gcmRounds, 4))
	c.sub(lastKeys, lastKeys, aesBlock)
	c.load32(gcmCounter, at(gcmRun, "run_blocks"))
	c.load(gcmDst, at(gcmRun, "run_dst"))
	c.load(gcmSrc, at(gcmRun, "run_src"))
	c.load(gcmLeft, at(gcmRun, "run_src+8"))
}

// counterKey sets d to the first key and the counter block of R21, and moves the counter on. What
// it adds to the counter is not carried into the nonce.
func counterKey(c *code, d v) {
	c.revw(keyWord, gcmCounter)
	c.eor(keyWord, nonceHigh, shifted(keyWord, 32))
	c.dup(d, nonceLow, d2)
	c.toVector(d, 1, keyWord)
	c.addw(gcmCounter, gcmCounter, groupBlocks)
}

// encryptStates encrypts the states, except that the last key is not added: it is in V13. first has
// the key of the first round for each. Other code is spread between the first nine rounds.
func encryptStates(c *code, prefix string, first, states []v, other code) {
	twice := func(c *code, n int) {
		c.ldp(gcmRound, gcmRound+1, at(gcmSchedule, aesBlock*n))
		for key := range v(2) {
			for _, s := range states {
				c.round(s, gcmRound+key)
			}
		}
	}
	var nine code
	for i, s := range states {
		nine.round(s, first[i])
	}
	for n := 1; n < 9; n += 2 {
		twice(&nine, n)
	}
	c.add(interleave(nine, other))
	c.cmp(gcmRounds, 12)
	c.jumpIf("LT", prefix+"Last")
	twice(c, 9)
	c.jumpIf("EQ", prefix+"Last")
	twice(c, 11)
	c.label(prefix + "Last")
	c.ldp(gcmRound, gcmRound+1, at(lastKeys, 0))
	for _, s := range states {
		c.aese(s, gcmRound)
	}
}

// cryptGroup encrypts or decrypts a group, and spreads other code between the rounds.
func cryptGroup(c *code, prefix string, other code) {
	const same, follow = gcmRound, gcmRound + 1
	counterKey(c, same)
	counterKey(c, follow)
	c.subw(gcmCounter, gcmCounter, groupBlocks)
	var first, states []v
	for i := range v(groupBlocks) {
		states, first = append(states, aesStates+i), append(first, same)
		if i%2 == 0 {
			c.ldp(aesStates+i, aesStates+i+1, at(gcmTable, counterBits+aesBlock*int(i)))
		}
	}
	first[6], first[7] = follow, follow
	encryptStates(c, prefix, first, states, other)
	cryptBlocks(c, aesStates, groupBlocks)
	c.sub(gcmLeft, gcmLeft, gcmGroup)
}

// cryptBlocks adds n blocks of text, and the last key, to the states from first on, and stores them.
func cryptBlocks(c *code, first, n v) {
	for i := range n {
		state, t, offset := first+i, textHeld+i%4, aesBlock*int(i)
		switch {
		case n == 1:
			c.ldrq(t, at(gcmSrc, 0))
		case i%2 == 0:
			c.ldp(t, t+1, at(gcmSrc, offset))
		}
		c.veor(state, state, gcmRound+1)
		c.veor(state, state, t)
		switch {
		case n == 1:
			c.strq(state, at(gcmDst, 0))
		case i%2 == 1:
			c.stp(state-1, state, at(gcmDst, offset-aesBlock))
		}
	}
	c.addx(gcmSrc, gcmSrc, aesBlock*int(n))
	c.addx(gcmDst, gcmDst, aesBlock*int(n))
}

// cryptGroups encrypts or decrypts whole groups, and adds the ciphertext to ghashed: that of a group
// between the rounds of the same one to decrypt it, and of the next one to encrypt it.
func cryptGroups(c *code, prefix string, open bool) {
	c.cmp(gcmLeft, gcmGroup)
	c.jumpIf("LT", prefix+"GroupsEnd")
	loadPowers(c)
	if open {
		c.label(prefix + "Group")
		cryptGroup(c, prefix+"Group", hashGroup(gcmSrc, 0))
		c.cmp(gcmLeft, gcmGroup)
		c.jumpIf("GE", prefix+"Group")
	} else {
		cryptGroup(c, prefix+"First", code{})
		c.cmp(gcmLeft, gcmGroup)
		c.jumpIf("LT", prefix+"Before")
		c.label(prefix + "Group")
		cryptGroup(c, prefix+"Group", hashGroup(gcmDst, -gcmGroup))
		c.cmp(gcmLeft, gcmGroup)
		c.jumpIf("GE", prefix+"Group")
		c.label(prefix + "Before")
		c.add(hashGroup(gcmDst, -gcmGroup))
	}
	c.label(prefix + "GroupsEnd")
}

// lastStates sets V0 to the encrypted first counter block, and V1 to V8 to those of the rest of the
// text, of which the last key is not added. Up to three blocks of text are done with fewer.
func lastStates(c *code, prefix string) {
	const zero, same, follow v = 10, 11, 9
	c.dup(zero, nonceLow, d2)
	c.toVector(zero, 1, nonceHigh)
	counterKey(c, same)
	c.ldrq(0, at(gcmTable, counterBits+aesBlock*7))
	c.ldp(1, 2, at(gcmTable, counterBits))
	c.cmp(gcmLeft, 3*aesBlock)
	c.jumpIf("GT", prefix+"Many")
	c.ldrq(3, at(gcmTable, counterBits+aesBlock*2))
	first, states := []v{zero, same, same, same, same, same, same, follow, follow}, []v{0, 1, 2, 3, 4, 5, 6, 7, 8}
	encryptStates(c, prefix+"Few", first[:4], states[:4], code{})
	c.veor(0, 0, gcmRound+1)
	c.jump(prefix + "Three")
	c.label(prefix + "Many")
	counterKey(c, follow)
	c.ldp(3, 4, at(gcmTable, counterBits+aesBlock*2))
	c.ldp(5, 6, at(gcmTable, counterBits+aesBlock*4))
	c.ldp(7, 8, at(gcmTable, counterBits+aesBlock*6))
	encryptStates(c, prefix+"Many", first, states, code{})
	c.veor(0, 0, gcmRound+1)
}

// cryptRest encrypts or decrypts the rest of the text, with V1 to V8. For encryption it also does
// what splitRest does, after countRest.
func cryptRest(c *code, prefix string, open bool) {
	const mask v = 10
	const t x = 11
	state := v(1)
	for n := v(4); n > 0; n /= 2 {
		if n == 2 {
			c.label(prefix + "Three")
		}
		skip := fmt.Sprint(prefix, "Less", aesBlock*int(n))
		c.jumpBitClear(gcmLeft, bits.TrailingZeros(aesBlock*uint(n)), skip)
		cryptBlocks(c, state, n)
		for i := range n {
			c.vmov(state+i, state+i+n)
		}
		c.label(skip)
	}
	if !open {
		c.mov(wholeEnd, gcmDst)
	}
	c.jumpZero(fewBytes, prefix+"Crypted")
	c.veor(state, state, gcmRound+1)
	if open {
		c.veor(state, state, lastBytes)
	} else {
		loadFew(c, prefix+"Load", lastBytes, gcmSrc, fewBytes, 11, 12, 13, 14, 24)
		c.veor(lastBytes, lastBytes, state)
		c.sub(t, gcmTable, fewBytes)
		c.ldrq(mask, at(t, onesAndZeros+aesBlock))
		c.vand(lastBytes, lastBytes, mask)
		state = lastBytes
	}
	storeFew(c, prefix+"Store", state, gcmDst, fewBytes, 11, 12)
	c.label(prefix + "Crypted")
}

// storeFew stores the first n bytes of from at p, 1 to 15. It overwrites low, high and p.
func storeFew(c *code, name string, from v, p, n, low, high x) {
	c.toGeneral(low, from, 0)
	c.toGeneral(high, from, 1)
	for size := 8; size > 0; size /= 2 {
		skip := fmt.Sprint(name, size)
		c.jumpBitClear(n, bits.TrailingZeros(uint(size)), skip)
		switch size {
		case 8:
			c.store(low, next(p, size))
			c.mov(low, high)
		case 4:
			c.store32(low, next(p, size))
			c.lsr(low, low, 32)
		case 2:
			c.store16(low, next(p, size))
			c.lsr(low, low, 16)
		case 1:
			c.store8(low, at(p, 0))
		}
		c.label(skip)
	}
}
