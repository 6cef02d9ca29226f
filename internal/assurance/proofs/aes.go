// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
)

// The proofs of AES, FIPS 197. All variables are bytes. The S-box is the CPU's, as all of a
// round of AES is: TestModels compares it with the model.

// expand returns the key schedule, section 5.2, as bytes.
func (v *prover) expand(key []formula.Word) []formula.Word {
	words := len(key) / 4
	schedule := slices.Clone(key)
	rcon := byte(1)
	for i := words; i < 4*(words+7); i++ {
		t := slices.Clone(schedule[4*(i-1) : 4*i])
		if i%words == 0 {
			t = append(t[1:], t[0]) // RotWord
		}
		if i%words == 0 || words > 6 && i%words == 4 {
			for k := range t {
				t[k] = v.SubByte(t[k])
			}
		}
		if i%words == 0 {
			t[0] = v.Xor(8, t[0], v.Constant(8, uint64(rcon)))
			rcon = algebra.Times2(rcon)
		}
		for k := range t {
			schedule = append(schedule, v.Xor(8, schedule[4*(i-words)+k], t[k]))
		}
	}
	return schedule
}

// encrypt returns an encrypted block, section 5.1.
func (v *prover) encrypt(schedule []formula.Word, rounds int, block []formula.Word) []formula.Word {
	pair := func(b []formula.Word) (low, high formula.Word) {
		var all []formula.ByteOf
		for _, w := range b {
			all = append(all, v.ByteAt(w, 0))
		}
		return v.FromBytes(all[:8]), v.FromBytes(all[8:])
	}
	low, high := pair(block)
	for round := range rounds + 1 {
		keyLow, keyHigh := pair(schedule[16*round:][:16])
		if round == 0 {
			low, high = v.Xor(64, low, keyLow), v.Xor(64, high, keyHigh)
			continue
		}
		low, high = v.AES(low, high, keyLow, keyHigh, round == rounds)
	}
	var out []formula.Word
	for _, b := range append(v.Bytes(low, 64), v.Bytes(high, 64)...) {
		out = append(out, v.FromBytes([]formula.ByteOf{b}))
	}
	return out
}

// proveExpand proves the key schedule.
func proveExpand(v *prover) (cases int, err error) {
	sizes := map[string][]int{"expandKey128": {16}, "expandKey192": {24}, "expandKey256": {32}, "expandKey": {16, 24, 32}}
	for _, size := range sizes[v.function.Name] {
		v.reset()
		key := v.variables(8, size, 0xff)
		want := v.expand(key)
		schedule := v.place(8, false, v.variables(8, len(want), 0xff)...)
		arguments := v.words(schedule, v.place(8, true, key...))
		if v.isARM64() {
			arguments = v.words(arguments, size/4)
		}
		if err := v.call(arguments); err != nil {
			return cases, err
		}
		if err := v.equalWords(v.result(schedule, 8, len(want)), want, "key of %d bytes", size); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveNoRounds proves of a kernel that it ends, and reads nothing outside the schedule, if the number of
// rounds is zero, which no key has: only memory that was taken away from one. call is given a schedule.
func (v *prover) proveNoRounds(call func(schedule []formula.Word) error) error {
	v.reset()
	return call(v.variables(8, 16*15, 0xff))
}

// proveEncrypt proves encryptBlocks for each key size and up to 17 blocks, in place, which is how
// it is called, and apart.
func proveEncrypt(v *prover) (cases int, err error) {
	for rounds := 10; rounds <= 14; rounds += 2 {
		for blocks := 1; blocks <= 17; blocks++ {
			for _, where := range []string{"in place", "apart"} {
				if where == "apart" && v.isARM64() {
					continue
				}
				v.reset()
				schedule, in := v.variables(8, 16*(rounds+1), 0xff), v.variables(8, 16*blocks, 0xff)
				out := v.place(8, false, in...)
				from := out
				if where == "apart" {
					from, out = v.place(8, true, in...), v.place(8, false, v.variables(8, 16*blocks, 0xff)...)
				}
				arguments := v.words(v.place(8, true, schedule...), rounds, out, from, blocks)
				if v.isARM64() { // in place only
					arguments = slices.Delete(arguments, 3, 4)
				}
				if err := v.call(arguments); err != nil {
					return cases, err
				}
				var want []formula.Word
				for b := range blocks {
					want = append(want, v.encrypt(schedule, rounds, in[16*b:][:16])...)
				}
				if err := v.equalWords(v.result(out, 8, len(want)), want, "%d rounds, %d blocks %s", rounds, blocks, where); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	for _, blocks := range []int{1, 9} {
		err := v.proveNoRounds(func(schedule []formula.Word) error {
			p := v.place(8, false, v.variables(8, 16*blocks, 0xff)...)
			arguments := v.words(v.place(8, true, schedule...), 0, p, p, blocks)
			if v.isARM64() {
				arguments = slices.Delete(arguments, 3, 4)
			}
			return v.call(arguments)
		})
		if err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveEncryptWords proves encryptWords for each key size, and for each part of a block that the
// pad of UMAC can be.
func proveEncryptWords(v *prover) (cases int, err error) {
	for rounds := 10; rounds <= 14; rounds += 2 {
		for _, part := range [][2]int{{0, 4}, {4, 4}, {8, 4}, {12, 4}, {0, 8}, {8, 8}, {0, 16}} {
			v.reset()
			schedule, in := v.variables(8, 16*(rounds+1), 0xff), v.variables(8, 16, 0xff)
			block := v.result(v.place(8, true, in...), 64, 2)
			out := v.encrypt(schedule, rounds, in)
			var chosen, want []formula.Word
			for k := range 16 {
				if k < part[1] {
					chosen, want = append(chosen, v.Constant(8, uint64(part[0]+k))), append(want, out[part[0]+k])
				} else {
					chosen, want = append(chosen, v.Constant(8, 0xff)), append(want, v.Constant(8, 0))
				}
			}
			if err := v.call(v.place(8, true, schedule...), rounds, block, v.place(8, true, chosen...)); err != nil {
				return cases, err
			}
			if err := v.equalWords(v.asBytes(v.results), want, "%d rounds, %d bytes from %d on", rounds, part[1], part[0]); err != nil {
				return cases, err
			}
			cases++
		}
	}
	err = v.proveNoRounds(func(schedule []formula.Word) error {
		var chosen []formula.Word
		for range 16 {
			chosen = append(chosen, v.Constant(8, 0))
		}
		return v.call(v.place(8, true, schedule...), 0, v.variables(64, 2, 1<<64-1), v.place(8, true, chosen...))
	})
	if err != nil {
		return cases, err
	}
	cases++
	return cases, nil
}

// proveDerive proves deriveL1 for each key size: KDF, RFC 4418 section 3.2.1, of 67 blocks, in
// turn for the two arrays, whose words are big-endian.
func proveDerive(v *prover) (cases int, err error) {
	const blocks = 67
	for rounds := 10; rounds <= 14; rounds += 2 {
		v.reset()
		schedule := v.variables(8, 16*(rounds+1), 0xff)
		key := v.place(8, false, v.variables(8, 16*blocks, 0xff)...)
		if err := v.call(key, v.place(8, true, schedule...), rounds); err != nil {
			return cases, err
		}
		var halves [2][]formula.Word
		for block := range blocks {
			in := make([]formula.Word, 16)
			for k := range in {
				in[k] = v.Constant(8, 0)
			}
			in[7], in[15] = v.Constant(8, 1), v.Constant(8, uint64(block+1))
			out := v.encrypt(schedule, rounds, in)
			for w := 0; w < 16; w += 4 {
				slices.Reverse(out[w : w+4])
			}
			halves[block%2] = append(halves[block%2], out...)
		}
		if err := v.equalWords(v.result(key, 8, 16*blocks), slices.Concat(halves[0], halves[1]), "%d rounds", rounds); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// provePads proves padEach: PDF, RFC 4418 section 3.3.1, of one nonce to eight. For each size of
// the key each of eight places has nonces of all sizes, with each index of a part of the block.
// All other bits of nonces are variables.
func provePads(v *prover) (cases int, err error) {
	v.WholeRounds = true
	for rounds := 10; rounds <= 14; rounds += 2 {
		for _, size := range []int{4, 8, 16} {
			for part := range 16 / size {
				for n := range 16 {
					for _, count := range []int{8, 1 + n%7} {
						if v.skips() {
							continue
						}
						if err := v.provePadsFor(rounds, size, part, n, count); err != nil {
							return cases, err
						}
						cases++
					}
				}
			}
		}
	}
	v.reset()
	key, _ := v.padKey(0, 8)
	nonce, _ := v.nonceAndPad(v.variables(8, 16*15, 0xff), 10, 8, 0, 8)
	v.placePartBytes()
	tags := v.place(8, false, v.variables(8, 16*11, 0xff)...)
	if err := v.call(tags, v.place(8, true, key...), v.place(64, true, v.inBatch(nonce, nil)...), 1, v.capacity()); err != nil {
		return cases, err // see proveNoRounds
	}
	cases++
	return cases, nil
}

// nonceAndPad returns the slice of a nonce of n bytes with the index of a part, and the pad that
// PDF makes of it for tags of a size, followed by zeros.
func (v *prover) nonceAndPad(schedule []formula.Word, rounds, size, part, n int) (slice, pad []formula.Word) {
	nonce := v.variables(8, n, 0xff)
	block := slices.Clone(nonce)
	block[n-1] = v.Masked(8, block[n-1], 0xff<<partBits[size]&0xff)
	nonce[n-1] = v.Xor(8, block[n-1], v.Constant(8, uint64(part)))
	for len(block) < 16 {
		block = append(block, v.Constant(8, 0))
	}
	pad = append(pad, v.encrypt(schedule, rounds, block)[size*part:][:size]...)
	for range 16 - size {
		pad = append(pad, v.Constant(8, 0))
	}
	return v.words(v.place(8, true, nonce...), n, v.capacity()), pad
}

// partBits are the low bits of a nonce that choose a part of the block, by the size of the tag, or of
// 16 bytes for 12.
var partBits = map[int]int{4: 2, 8: 1, 16: 0}

// padKey returns the bytes of an aesKey of PDF, and of its schedule.
func (v *prover) padKey(rounds, size int) (key, schedule []formula.Word) {
	schedule = v.variables(8, 16*15, 0xff)
	fields := []uint64{1, 0, 0, 0, uint64(rounds), uint64(size), uint64(partBits[size]), uint64(map[int]int{4: 0, 8: 4, 16: 6}[size])}
	for _, x := range fields {
		key = append(key, v.Constant(8, x))
	}
	key = append(key, schedule...)
	for range 8 { // the pointer, which is nil
		key = append(key, v.Constant(8, 0))
	}
	return key, schedule
}

func (v *prover) provePadsFor(rounds, size, part, n, count int) error {
	v.reset()
	key, schedule := v.padKey(rounds, size)
	var headers, want []formula.Word
	for i := range count {
		nonce, pad := v.nonceAndPad(schedule, rounds, size, (part+i)%(16/size), (n+i)%16+1)
		headers = append(headers, v.inBatch(nonce, nil)...)
		want = append(want, pad...)
	}
	old := v.variables(8, 16*11, 0xff)
	tags := v.place(8, false, old...)
	v.placePartBytes()
	if err := v.call(tags, v.place(8, true, key...), v.place(64, true, headers...), count, v.capacity()); err != nil {
		return err
	}
	var got []formula.Word
	for i := range count {
		got = append(got, v.result(v.plus(tags, 16*i), 8, 16)...)
	}
	got, want = append(got, v.result(v.plus(tags, 16*8), 8, 16*3)...), append(want, old[16*8:]...) // of no nonce
	return v.equalWords(got, want, "%d rounds, tags of %d bytes, %d nonces, the first of %d bytes", rounds, size, count, n+1)
}

// placePartBytes places the variable partBytes of package fastmac where the linker has it: the
// bytes of a block in the parts for tags of 4 bytes, of 8, and twice of 16.
func (v *prover) placePartBytes() {
	var rows []formula.Word
	for i := range 8 {
		size, part := 4, i
		if i >= 6 {
			size, part = 16, 0
		} else if i >= 4 {
			size, part = 8, i-4
		}
		for k := range 16 {
			x := uint64(0xff)
			if k < size {
				x = uint64(size*part + k)
			}
			rows = append(rows, v.Constant(8, x))
		}
	}
	v.set(".partBytes", 8, rows...)
}
