// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/formula"
)

// The proofs of GCM, NIST SP 800-38D. A round of AES is a function of which nothing is known:
// TestModels compares it with the model. Products are those of the field of GHASH (field.go).
//
// Power n of a key, T_n, is H^n*u^-1, with its bytes reversed. So the product of a block X with
// H^n is u*X*T_n.

const (
	gcmPowers = 8
	maxText   = 1 << 16
)

// A gcmKey is a gcm.Key.
type gcmKey struct {
	*prover
	at       formula.Word
	rounds   int
	schedule []formula.Word // bytes
}

// gcmKey places a key with any powers, of which T_n is H^n*u^-1.
func (v *prover) gcmKey(rounds int) *gcmKey {
	if v.g == nil || v.g.Formulas != v.Formulas {
		v.g = formula.NewAlgebraist(v.Formulas)
	}
	k := &gcmKey{prover: v, rounds: rounds, schedule: v.variables(8, 240, 0xff)}
	var bytes []formula.Word
	for n := gcmPowers; n > 0; n-- {
		low, high := v.variable(64, 1<<64-1), v.variable(64, 1<<64-1)
		k.g.IsPower(n, low, high)
		for _, b := range append(v.Bytes(low, 64), v.Bytes(high, 64)...) {
			bytes = append(bytes, v.FromBytes([]formula.ByteOf{b}))
		}
	}
	bytes = append(append(bytes, k.schedule...), v.Constant(8, uint64(rounds)), v.Constant(8, 0), v.Constant(8, 0), v.Constant(8, 0))
	k.at = v.place(8, true, bytes...)
	return k
}

// proveInitKey proves initKey for each key size: T_1 to T_8, where H is the encrypted zero
// block, section 7.1. That T_1 is H*u^-1 is shown bit by bit.
func proveInitKey(v *prover) (cases int, err error) {
	v.WholeRounds = true
	for rounds := 10; rounds <= 14; rounds += 2 {
		v.reset()
		schedule := v.variables(8, 240, 0xff)
		zero := make([]formula.Word, 16)
		for k := range zero {
			zero[k] = v.Constant(8, 0)
		}
		rest := append(slices.Clone(schedule), v.Constant(8, uint64(rounds)), zero[0], zero[0], zero[0])
		at := v.place(8, false, append(v.variables(8, 16*gcmPowers, 0xff), rest...)...)
		if err := v.call(at); err != nil {
			return cases, err
		}
		if err := v.equalWords(v.result(v.plus(at, 16*gcmPowers), 8, len(rest)), rest, "%d rounds: the schedule", rounds); err != nil {
			return cases, err
		}
		powers := v.result(at, 64, 2*gcmPowers)
		low, high := powers[2*gcmPowers-2], powers[2*gcmPowers-1]
		h := v.encrypt(schedule, rounds, zero)
		for i := range 128 {
			// Bit i of H*u^-1 is bit i+1 of H, and if i is 127, 6, 1 or 0 also bit 0.
			want := make(map[formula.Bit]bool)
			if i < 127 {
				v.AddBit(want, h[(i+1)/8], 7-(i+1)%8)
			}
			if i == 127 || i == 6 || i == 1 || i == 0 {
				v.AddBit(want, h[0], 7)
			}
			got := make(map[formula.Bit]bool)
			if i < 64 {
				v.AddBit(got, high, 63-i)
			} else {
				v.AddBit(got, low, 127-i)
			}
			if !maps.Equal(got, want) {
				return cases, fmt.Errorf("%s, %d rounds: bit %d of the first power is wrong", v.function.Name, rounds, i)
			}
		}
		g := formula.NewAlgebraist(v.Formulas)
		g.IsPower(1, low, high)
		for n := 2; n <= gcmPowers; n++ {
			got := g.Block(powers[2*gcmPowers-2*n], powers[2*gcmPowers-2*n+1])
			if want := (formula.Polynomial{{H: n}: formula.InverseU}); !maps.Equal(g.Expanded(got), want) {
				return cases, fmt.Errorf("%s, %d rounds: power %d is wrong", v.function.Name, rounds, n)
			}
		}
		cases++
	}
	return cases, nil
}

// ghash returns GHASH, section 6.4, of whole blocks of bytes, after a state y:
//
//	y*H^n + X_1*H^n + X_2*H^(n-1) + ... + X_n*H
//
// which is Y_n, because Y_i = (Y_(i-1) + X_i)*H.
func (k *gcmKey) ghash(y formula.Polynomial, blocks []formula.Word, more ...formula.Polynomial) formula.Polynomial {
	for i := 0; i < len(blocks); i += 16 {
		more = slices.Insert(more, i/16, k.g.Block(k.g.Reverse(blocks[i:i+16])))
	}
	sum := make(formula.Polynomial)
	add := func(p formula.Polynomial, power int) {
		for m, c := range p {
			m.H += power
			sum.Add(m, c)
		}
	}
	add(y, len(more))
	for i, x := range more {
		add(x, len(more)-i)
	}
	return sum
}

// padded returns bytes with zeros up to the end of a block.
func (v *prover) padded(bytes []formula.Word) []formula.Word {
	bytes = slices.Clone(bytes)
	for len(bytes)%16 != 0 {
		bytes = append(bytes, v.Constant(8, 0))
	}
	return bytes
}

// proveHash proves hash for whole groups: the most that it needs is four rounds of 512 bytes, and
// one each of 256 and of 128.
func proveHash(v *prover) (cases int, err error) {
	v.WholeRounds = true
	for groups := range 20 {
		if v.step > 1 && !slices.Contains([]int{0, 1, 3, 4, 7, 11}, groups) {
			continue
		}
		v.reset()
		k := v.gcmKey(10)
		bytes, slice := v.message(128 * groups)
		sum := v.variables(64, 2, 1<<64-1)
		at := v.place(64, false, sum...)
		if err := v.call(k.at, at, slice[:2]); err != nil {
			return cases, err
		}
		got := v.result(at, 64, 2)
		if !maps.Equal(k.g.Expanded(k.g.Block(got[0], got[1])), k.ghash(k.g.Block(sum[0], sum[1]), bytes)) {
			return cases, fmt.Errorf("%s, %d bytes: not GHASH", v.function.Name, 128*groups)
		}
		cases++
	}
	return cases, nil
}

// A gcmRun is a call of gmac, seal or open.
type gcmRun struct {
	data, text int // sizes in bytes
	blocks     int // of the text in the runs before
	noTag      bool
	apart      bool // not in place
}

// gcmRuns returns all sizes up to 400 bytes, and longer ones that need each number of rounds of
// 512, 256 and 128 bytes, from none to two or more as far as there can be, before each kind of
// rest: of data without text, or of text, and of data with text, less than a group. With a tag or
// not, runs with text begin after no text, after much, and where the counter ends.
func gcmRuns(withText bool) (runs []gcmRun) {
	var sizes []int
	for n := range 401 {
		sizes = append(sizes, n)
	}
	for _, long := range []int{448, 512, 640, 768, 896, 960, 1024, 1280, 1536, 1920, 2048, 2176, 2304} {
		for _, rest := range []int{-1, 0, 1, 16, 47, 48, 49, 127} {
			sizes = append(sizes, long+rest)
		}
	}
	for _, n := range sizes {
		if !withText {
			runs = append(runs, gcmRun{data: n})
			continue
		}
		if n < 128 {
			runs = append(runs, gcmRun{data: n, text: 1 + 5*n%49})
		}
		runs = append(runs, gcmRun{text: max(n, 1), data: 7 * n % 31})
	}
	if !withText {
		return runs
	}
	const many = 1 << 18 / 16
	for _, blocks := range []int{0, many, 1<<32 - many} {
		for _, n := range []int{512, 1024, 1536, 2048} {
			for _, apart := range []bool{false, true} {
				runs = append(runs, gcmRun{text: n, blocks: blocks, noTag: true, apart: apart}, gcmRun{text: n, data: n / 17, blocks: blocks, noTag: true, apart: apart})
			}
		}
		for _, n := range []int{1, 100, 127, 130, 300, 511, 1000} {
			runs = append(runs, gcmRun{text: n, blocks: blocks})
		}
	}
	const last = 64 // blocks
	return append(runs, gcmRun{text: (last - 2) * 16, blocks: 1<<32 - last}, gcmRun{text: (last-2)*16 - 1, data: 100, blocks: 1<<32 - last})
}

// proveCrypt proves gmac, seal and open, by the name: section 7.1, or 7.2 without the comparison
// of the tag, of which the state of GHASH and the lengths are variables.
func proveCrypt(v *prover) (cases int, err error) {
	v.WholeRounds = true
	for _, r := range gcmRuns(!strings.HasPrefix(v.function.Name, "gmac")) {
		// These sizes have counters that few others have: those of the last two blocks of a rest, after 512 bytes.
		if v.skips() && r.text != 512+127 && r.text != 512+255 {
			continue
		}
		if err := v.proveRun(r, 10+(r.data+r.text)%3*2, (r.text+r.text/16)%2 == 0 && !r.apart); err != nil {
			return cases, fmt.Errorf("%w (%+v)", err, r)
		}
		cases++
	}
	return cases, nil
}

// proveRun proves a run with that number of rounds of AES. The output replaces the input, or not.
func (v *prover) proveRun(r gcmRun, rounds int, inPlace bool) error {
	v.reset()
	k := v.gcmKey(rounds)
	nonce, sum, bits := v.variables(8, 12, 0xff), v.variables(64, 2, 1<<64-1), v.variables(64, 2, 1<<64-1)
	text := v.variables(8, r.text, 0xff)
	v.count = maxText // the text, and what is computed of it, has the same names in all runs
	data := v.variables(8, r.data, 0xff)
	dst := v.place(8, false, text...)
	src := dst
	if !inPlace {
		src, dst = v.place(8, true, text...), v.place(8, false, v.variables(8, r.text, 0xff)...)
	}
	sumAt, tag := v.place(64, !r.noTag, sum...), v.Constant(64, 0)
	if !r.noTag {
		tag = v.place(8, false, v.variables(8, 16, 0xff)...)
	}
	m, n := r.data, r.text
	// Runs begin at multiples of 256 KiB: 2^14 blocks.
	number := v.Sum(32, uint64(r.blocks), []formula.Atom{{Word: v.variable(32, 1<<18-1), Coefficient: 1 << 14}})
	fields := v.words(tag, sumAt, v.place(8, true, data...), m, v.capacity(), dst, v.capacity(), v.capacity(), src, n, v.capacity(), v.Extend(32, number), bits)
	if err := v.call(k.at, v.place(64, true, fields...), v.place(8, true, nonce...)); err != nil {
		return err
	}
	counter := func(x int) []formula.Word {
		block := slices.Clone(nonce)
		w := v.Constant(32, uint64(x))
		if x != 1 {
			w = v.Add(32, number, v.Constant(32, uint64(x)))
		}
		for k := 3; k >= 0; k-- {
			block = append(block, v.FromBytes([]formula.ByteOf{v.ByteAt(w, k)}))
		}
		return v.encrypt(k.schedule, rounds, block)
	}
	var want []formula.Word
	for i, w := range text {
		if i%16 == 0 {
			want = append(want, counter(2+i/16)...)
		}
		want[i] = v.Xor(8, want[i], w)
	}
	want = want[:len(text)]
	if err := v.equalWords(v.result(dst, 8, len(text)), want, "the text"); err != nil {
		return err
	}
	ciphertext := want
	if strings.HasPrefix(v.function.Name, "open") {
		ciphertext = text
	}
	blocks, y := slices.Concat(v.padded(data), v.padded(ciphertext)), k.g.Block(sum[0], sum[1])
	if r.noTag {
		got := v.result(sumAt, 64, 2)
		if !maps.Equal(k.g.Expanded(k.g.Block(got[0], got[1])), k.ghash(y, blocks)) {
			return fmt.Errorf("%s: the state is not GHASH", v.function.Name)
		}
		return nil
	}
	got := v.result(tag, 8, 16)
	for i, pad := range counter(1) {
		got[i] = v.Xor(8, got[i], pad)
	}
	if !maps.Equal(k.g.Expanded(k.g.Block(k.g.Reverse(got))), k.ghash(y, blocks, k.g.Block(bits[1], bits[0]))) {
		return fmt.Errorf("%s: the tag is wrong", v.function.Name)
	}
	return nil
}
