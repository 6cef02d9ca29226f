// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
)

// The proofs of SHA-512, FIPS 180-4. The variables are the words of chaining values and of
// messages.

// compress is the compression function, section 6.4.2.
func (v *prover) compress(state []formula.Word, block []formula.Word, constants []uint64) []formula.Word {
	x := func(a, b formula.Word) formula.Word { return v.Xor(64, a, b) }
	sum := func(words ...formula.Word) formula.Word {
		var terms []formula.Atom
		for _, w := range words {
			terms = append(terms, formula.Atom{Word: w, Coefficient: 1})
		}
		return v.Sum(64, 0, terms)
	}
	rotr := func(w formula.Word, by uint) formula.Word { return v.Rotate(64, w, by) }
	shr := func(w formula.Word, by uint) formula.Word { return v.Turn(64, w, int(by), 1<<(64-by)-1) }

	w := slices.Clone(block)
	for t := 16; t < 80; t++ {
		a, b := w[t-2], w[t-15]
		sigma1 := x(x(rotr(a, 19), rotr(a, 61)), shr(a, 6))
		sigma0 := x(x(rotr(b, 1), rotr(b, 8)), shr(b, 7))
		w = append(w, sum(sigma1, w[t-7], sigma0, w[t-16]))
	}
	s := slices.Clone(state)
	for t := range 80 {
		a, b, c, e, f, g := s[0], s[1], s[2], s[4], s[5], s[6]
		sum1 := x(x(rotr(e, 14), rotr(e, 18)), rotr(e, 41))
		sum0 := x(x(rotr(a, 28), rotr(a, 34)), rotr(a, 39))
		ch := v.Ternary(64, 0xca, e, f, g)
		maj := v.Ternary(64, 0xe8, a, b, c)
		t1 := sum(s[7], sum1, ch, v.Constant(64, constants[t]), w[t])
		s = []formula.Word{sum(t1, sum0, maj), a, b, c, sum(s[3], t1), e, f, g}
	}
	for i := range s {
		s[i] = sum(s[i], state[i])
	}
	return s
}

// roundConstants returns the constants of the rounds, section 4.2.3, and the address of the
// variable that has them. They are the first 64 bits of the fractions of the cube roots of the
// first 80 primes: the lowest bits of the cube root of p*2^192.
func (v *prover) roundConstants() (constants []uint64, at formula.Word) {
	for p := int64(2); len(constants) < 80; p++ {
		if !big.NewInt(p).ProbablyPrime(0) {
			continue
		}
		cube := new(big.Int).Lsh(big.NewInt(p), 192)
		root := new(big.Int)
		for bit := 66; bit >= 0; bit-- {
			next := new(big.Int).SetBit(root, bit, 1)
			if new(big.Int).Exp(next, big.NewInt(3), nil).Cmp(cube) <= 0 {
				root = next
			}
		}
		constants = append(constants, new(big.Int).And(root, new(big.Int).SetUint64(1<<64-1)).Uint64())
	}
	at = v.set("/internal/sha2.k512", 64, v.numbers(constants...)...)
	o, _ := v.Datum(v.symbol("/internal/sha2.k512"))
	for t, b := range slices.Collect(slices.Chunk(v.program.At(o.Linked).Bytes, 8)) {
		if binary.LittleEndian.Uint64(b) != constants[t] {
			panic(algebra.Unprovable(fmt.Sprintf("constant %d of SHA-512 is not that of the standard", t)))
		}
	}
	return constants, at
}

// wordMessage places a message of words, which are big-endian in memory, and returns its slice.
func (v *prover) wordMessage(n int) (words, slice []formula.Word) {
	words = v.variables(64, n, 1<<64-1)
	var bytes []formula.Word
	for _, w := range words {
		for k := 7; k >= 0; k-- {
			bytes = append(bytes, v.FromBytes([]formula.ByteOf{v.ByteAt(w, k)}))
		}
	}
	return words, v.words(v.place(8, true, bytes...), 8*n, v.capacity())
}

// proveBlock proves the compression of 1 to 3 blocks.
func proveBlock(v *prover) (cases int, err error) {
	for blocks := 1; blocks <= 3; blocks++ {
		v.reset()
		constants, k := v.roundConstants()
		words, slice := v.wordMessage(16 * blocks)
		want := v.variables(64, 8, 1<<64-1)
		state := v.place(64, false, want...)
		if err := v.call(state, slice[0], blocks, k, 0); err != nil {
			return cases, err
		}
		for b := range blocks {
			want = v.compress(want, words[16*b:][:16], constants)
		}
		if err := v.equalWords(v.result(state, 64, 8), want, "%d blocks", blocks); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveLanes proves the compression of 1 to 3 blocks in each lane, with none, some and all of the
// lanes beginning, and of one block where some or all lanes have outer hashes.
func proveLanes(v *prover) (cases int, err error) {
	n := map[string]int{"lanes512AVX512": 8, "lanes512AVX2": 4}[v.function.Name]
	all := uint64(1)<<n - 1
	for blocks := 1; blocks <= 3; blocks++ {
		for _, sets := range [][2]uint64{{0, 0}, {1, 0}, {0x5a & all, 0}, {all, 0}, {0, 1}, {1, 0x36 & all}, {0, all - 1}, {0, all}} {
			if sets[1] == 0 || blocks == 1 {
				if err := v.lanes(n, blocks, sets[0], sets[1]); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	return cases, nil
}

// lanes proves the compression of blocks in n lanes, of which some begin and some have outer hashes.
func (v *prover) lanes(n, blocks int, initial, outer uint64) error {
	v.reset()
	constants, k := v.roundConstants()
	rows, outerRows := v.variables(64, 64, 1<<64-1), v.variables(64, 64, 1<<64-1)
	first, hashes := v.variables(64, 8, 1<<64-1), v.variables(64, 64, 1<<64-1)
	column := func(rows []formula.Word, l int) (words []formula.Word) {
		for i := range 8 {
			words = append(words, rows[8*i+l])
		}
		return words
	}
	want, wantHashes := slices.Clone(rows), slices.Clone(hashes)
	var texts []formula.Word
	for l := range 8 {
		words, slice := v.wordMessage(16 * blocks)
		texts = append(texts, slice[0])
		if l >= n {
			continue
		}
		state := column(rows, l)
		switch {
		case outer>>l&1 != 0:
			words = append(state, v.numbers(1<<63, 0, 0, 0, 0, 0, 0, 8*(128+64))...)
			state = column(outerRows, l)
		case initial>>l&1 != 0:
			state = first
		}
		for b := range blocks {
			state = v.compress(state, words[16*b:][:16], constants)
		}
		for i, w := range state {
			want[8*i+l] = w
			if outer != 0 {
				bytes := v.Bytes(w, 64)
				slices.Reverse(bytes)
				wantHashes[8*l+i] = v.FromBytes(bytes)
			}
		}
	}
	state := v.place(64, false, slices.Concat(rows, outerRows, first, hashes)...)
	if err := v.call(state, v.place(64, true, texts...), blocks, k, int(initial), int(outer)); err != nil {
		return err
	}
	return v.equalWords(v.result(state, 64, 64+64+8+64), slices.Concat(want, outerRows, first, wantHashes), "%d blocks, lanes %b begin, %b have outer hashes", blocks, initial, outer)
}

// provePair proves the compression of 1 to 3 blocks of two messages.
func provePair(v *prover) (cases int, err error) {
	for blocks := 1; blocks <= 3; blocks++ {
		v.reset()
		constants, k := v.roundConstants()
		var states, texts [2]formula.Word
		var want [2][]formula.Word
		for i := range want {
			words, slice := v.wordMessage(16 * blocks)
			want[i] = v.variables(64, 8, 1<<64-1)
			states[i], texts[i] = v.place(64, false, want[i]...), slice[0]
			for b := range blocks {
				want[i] = v.compress(want[i], words[16*b:][:16], constants)
			}
		}
		if err := v.call(states[0], states[1], texts[0], texts[1], blocks, k, 0); err != nil {
			return cases, err
		}
		for i := range want {
			if err := v.equalWords(v.result(states[i], 64, 8), want[i], "%d blocks, message %d", blocks, i); err != nil {
				return cases, err
			}
		}
		cases++
	}
	return cases, nil
}

// An ending is the end of a hash: a last block of some words, the word after them, and a length if
// there is room.
type ending struct {
	end                []formula.Word // the fields of an end of package sha512
	state, text        formula.Word   // addresses
	block, from, outer []formula.Word
}

// newEnding places a state and the words of a last block.
func (v *prover) newEnding(count int, hasOuter bool) (x ending) {
	var slice []formula.Word
	x.block, slice = v.wordMessage(count)
	x.text = slice[0]
	last := v.variable(64, 1<<64-1)
	tail := v.Bytes(last, 64) // little-endian
	slices.Reverse(tail)
	x.end = []formula.Word{v.Constant(64, uint64(count)), v.FromBytes(tail), v.Constant(64, 0), v.Constant(64, 0), v.Constant(64, 0)}
	if count <= 13 { // the length has room
		copy(x.end[2:], v.variables(64, 2, 1<<64-1))
	}
	if hasOuter {
		x.outer = v.variables(64, 8, 1<<64-1)
		x.end[4] = v.place(64, true, x.outer...)
	}
	x.block = append(x.block, last)
	for len(x.block) < 16 {
		x.block = append(x.block, v.Constant(64, 0))
	}
	if count <= 13 {
		copy(x.block[14:], x.end[2:4])
	}
	x.from = v.variables(64, 8, 1<<64-1)
	x.state = v.place(64, false, x.from...)
	return x
}

// hash returns the chaining value after the end.
func (v *prover) hash(x ending, constants []uint64) []formula.Word {
	hash := v.compress(x.from, x.block, constants)
	if x.outer != nil {
		hash = v.compress(x.outer, append(hash, v.numbers(1<<63, 0, 0, 0, 0, 0, 0, 8*(128+64))...), constants)
	}
	return hash
}

// proveEnd proves the end of a hash: a last block of any number of words, a tail and a length,
// or without a length, and the outer hash after it.
func proveEnd(v *prover) (cases int, err error) {
	for count := range 16 {
		for _, hasOuter := range []bool{false, true} {
			if count > 13 && hasOuter || v.step > 1 && count%6 != 1 {
				continue
			}
			v.reset()
			constants, k := v.roundConstants()
			x := v.newEnding(count, hasOuter)
			if err := v.call(x.state, x.text, 0, k, v.place(64, true, x.end...)); err != nil {
				return cases, err
			}
			if err := v.equalWords(v.result(x.state, 64, 8), v.hash(x, constants), "%d words, outer %t", count, hasOuter); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}

// provePairEnd proves the ends of two hashes, each of any number of words.
func provePairEnd(v *prover) (cases int, err error) {
	for first := range 16 {
		for second := range 16 {
			for _, hasOuter := range []bool{false, true} {
				if max(first, second) > 13 && hasOuter || v.skips() {
					continue
				}
				v.reset()
				constants, k := v.roundConstants()
				x, y := v.newEnding(first, hasOuter), v.newEnding(second, hasOuter)
				if err := v.call(x.state, y.state, x.text, y.text, 0, k, v.place(64, true, append(x.end, y.end...)...)); err != nil {
					return cases, err
				}
				for _, end := range []ending{x, y} {
					if err := v.equalWords(v.result(end.state, 64, 8), v.hash(end, constants), "%d and %d words, outer %t", first, second, hasOuter); err != nil {
						return cases, err
					}
				}
				cases++
			}
		}
	}
	return cases, nil
}
