// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

const aesBlock = 16

// aes writes aes_arm64.s.
func (f *file) aes() {
	f.write(expandKey(f.begin("expandKey")))
	f.write(encryptWords(f.begin("encryptWords")))
	f.write(encryptBlocks(f.begin("encryptBlocks")))
	f.write(rndrrs(f.begin("rndrrs")))
}

// rndrrs generates one attempt of RNDRRS, of FEAT_RNG: the flag Z is set if there is no word.
func rndrrs(fn function) (c code) {
	const to, word, ok x = 0, 1, 2
	c.load(to, fn.arg("word"))
	c.constant(ok, "1")
	c.op("MRS", "RNDRRS", word)
	c.store(word, at(to, 0))
	c.csel("NE", ok, ok, zr)
	c.store(ok, fn.arg("ret"))
	c.ret()
	return c
}

// expandKey generates the key schedule of FIPS 197, section 5.2. AESE with a key of zeros is
// SubBytes and then ShiftRows, which changes nothing if all columns are equal.
func expandKey(fn function) (c code) {
	const enc, k, nk, word, rcon, index, before, todo, t x = 0, 1, 2, 3, 4, 5, 6, 7, 8
	const zero, w v = 0, 1
	subWord := func() {
		c.dup(w, word, s4)
		c.aese(w, zero)
		c.op("VMOV", w.in("S")+"[0]", word)
	}
	c.load(enc, fn.arg("enc"))
	c.load(k, fn.arg("key"))
	c.load(nk, fn.arg("nk"))
	c.zero(zero)
	c.mov(before, enc)
	c.mov(index, nk)
	c.label("copy")
	c.load32(word, next(k, 4))
	c.store32(word, next(enc, 4))
	c.subs(index, index, 1) // 0 at the end
	c.jumpIf("NE", "copy")
	c.addx(todo, nk, shifted(nk, 1))
	c.addx(todo, todo, 28) // 4*(nk+7) words in all
	c.constant(rcon, "1")
	c.label("next")
	c.jumpNotZero(index, "other")
	c.comment("A word whose number is a multiple of nk.")
	c.rorw(word, word, 8)
	subWord()
	c.eorw(word, word, rcon)
	c.lslw(rcon, rcon, 1)
	c.jumpBitClear(rcon, 8, "add")
	c.constant(rcon, "0x1b")
	c.jump("add")
	c.label("other")
	c.cmp(index, 4)
	c.jumpIf("NE", "add")
	c.cmp(nk, 8)
	c.jumpIf("NE", "add")
	subWord()
	c.label("add")
	c.load32(t, next(before, 4))
	c.eorw(word, word, t)
	c.store32(word, next(enc, 4))
	c.addx(index, index, 1)
	c.cmp(index, nk)
	c.csel("EQ", index, zr, index)
	c.subs(todo, todo, 1)
	c.jumpIf("NE", "next")
	c.ret()
	return c
}

// Registers of one block in a kernel of UHASH: the state, and round keys.
const aesState, roundKeys v = padHeld, padHeld + 1

// firstRounds executes the rounds of a state that AES-192 and AES-256 have more than AES-128, with
// jumps. The schedule is at enc, which is moved on, and its number of rounds in rounds. Two round keys
// are in keys.
func firstRounds(c *code, state, keys v, enc, rounds x, prefix string) {
	twice := func() {
		c.ldp(keys, keys+1, next(enc, 2*aesBlock))
		for i := range v(2) {
			c.round(state, keys+i)
		}
	}
	c.cmp(rounds, 12)
	c.jumpIf("LT", prefix+"Ten")
	c.jumpIf("EQ", prefix+"Twelve")
	twice()
	c.label(prefix + "Twelve")
	twice()
	c.label(prefix + "Ten")
}

// lastRounds returns the last ten rounds, without jumps. The schedule is at enc.
func lastRounds(enc x) (c code) {
	for i := range 5 {
		c.ldp(roundKeys, roundKeys+1, at(enc, 2*aesBlock*i))
		c.aese(aesState, roundKeys)
		c.aesmc(aesState)
		c.aese(aesState, roundKeys+1)
		if i < 4 {
			c.aesmc(aesState)
		}
	}
	c.ldrq(roundKeys, at(enc, 2*aesBlock*5))
	c.veor(aesState, aesState, roundKeys)
	return c
}

// encryptWords generates the encryption of a block of two words, and the choice of its bytes.
func encryptWords(fn function) (c code) {
	const enc, rounds, chosen, second x = 0, 1, 2, 3
	const chosenHeld v = 31
	c.load(enc, fn.arg("enc"))
	c.load(rounds, fn.arg("rounds"))
	c.load(chosen, fn.arg("chosen"))
	c.ldrd(aesState, fn.arg("first"))
	c.load(second, fn.arg("second"))
	c.toVector(aesState, 1, second)
	c.ldrq(chosenHeld, at(chosen, 0))
	firstRounds(&c, aesState, roundKeys, enc, rounds, "words")
	c.add(lastRounds(enc))
	c.tbl(aesState, aesState, chosenHeld)
	c.strd(aesState, fn.arg("ret"))
	c.toGeneral(second, aesState, 1)
	c.store(second, fn.arg("ret1"))
	c.ret()
	return c
}

// encryptBlocks generates the encryption of independent blocks in place, eight at a time, which
// hides the latency of the instructions.
func encryptBlocks(fn function) (c code) {
	const enc, rounds, p, blocks, key, round x = 0, 1, 2, 3, 4, 5
	const wide = 8
	const roundKey, lastKey v = 16, 17
	c.load(enc, fn.arg("enc"))
	c.load(rounds, fn.arg("rounds"))
	c.load(p, fn.arg("p"))
	c.load(blocks, fn.arg("blocks"))
	run := func(name string, n v) {
		c.label(name)
		c.mov(key, enc)
		c.sub(round, rounds, 1)
		if n == 1 {
			c.ldrq(0, at(p, 0))
		}
		for i := v(0); i+1 < n; i += 2 {
			c.ldp(i, i+1, at(p, aesBlock*int(i)))
		}
		c.ldrq(roundKey, next(key, aesBlock))
		c.label(name + "Round")
		for i := range n {
			c.aese(i, roundKey)
			c.aesmc(i)
		}
		c.ldrq(roundKey, next(key, aesBlock))
		c.subs(round, round, 1)
		c.jumpIf("GT", name+"Round")
		c.ldrq(lastKey, at(key, 0))
		for i := range n {
			c.aese(i, roundKey)
			c.veor(i, i, lastKey)
		}
		if n == 1 {
			c.strq(0, at(p, 0))
		}
		for i := v(0); i+1 < n; i += 2 {
			c.stp(i, i+1, at(p, aesBlock*int(i)))
		}
		c.addx(p, p, aesBlock*int(n))
		c.subs(blocks, blocks, int(n))
	}
	c.subs(blocks, blocks, wide)
	c.jumpIf("LT", "rest")
	run("wide", wide)
	c.jumpIf("GE", "wide")
	c.label("rest")
	c.adds(blocks, blocks, wide)
	c.jumpIf("EQ", "done")
	run("one", 1)
	c.jumpIf("NE", "one")
	c.label("done")
	c.ret()
	return c
}
