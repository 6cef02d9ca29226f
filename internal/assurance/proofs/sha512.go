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
	shr := func(w formula.Word, by uint) formula.Word { return v.Turn(w, int(by), 1<<(64-by)-1) }

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
	at = v.set("/internal/sha512.k", 64, v.numbers(constants...)...)
	o, _ := v.Datum(v.symbol("/internal/sha512.k"))
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

// proveLanes proves the compression of 1 to 3 blocks in each lane.
func proveLanes(v *prover) (cases int, err error) {
	lanes := map[string]int{"lanesAVX512": 8, "lanesAVX2": 4}[v.function.Name]
	for blocks := 1; blocks <= 3; blocks++ {
		v.reset()
		constants, k := v.roundConstants()
		rows := v.variables(64, 64, 1<<64-1)
		want := slices.Clone(rows)
		var slices []formula.Word
		for l := range 8 {
			words, slice := v.wordMessage(16 * blocks)
			slices = append(slices, slice...)
			if l >= lanes {
				continue
			}
			var state []formula.Word
			for i := range 8 {
				state = append(state, rows[8*i+l])
			}
			for b := range blocks {
				state = v.compress(state, words[16*b:][:16], constants)
			}
			for i := range 8 {
				want[8*i+l] = state[i]
			}
		}
		state := v.place(64, false, rows...)
		if err := v.call(state, v.place(64, true, slices...), blocks, k); err != nil {
			return cases, err
		}
		if err := v.equalWords(v.result(state, 64, 64), want, "%d blocks", blocks); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
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
			words, slice := v.wordMessage(count)
			last, outer := v.variable(64, 1<<64-1), v.variables(64, 8, 1<<64-1)
			tail := v.Bytes(last, 64) // little-endian
			slices.Reverse(tail)
			end := []formula.Word{v.Constant(64, uint64(count)), v.FromBytes(tail), v.Constant(64, 0), v.Constant(64, 0), v.Constant(64, 0)}
			if count <= 13 { // the length has room
				copy(end[2:], v.variables(64, 2, 1<<64-1))
			}
			if hasOuter {
				end[4] = v.place(64, true, outer...)
			}
			block := append(words, last)
			for len(block) < 16 {
				block = append(block, v.Constant(64, 0))
			}
			if count <= 13 {
				copy(block[14:], end[2:4])
			}
			initial := v.variables(64, 8, 1<<64-1)
			state := v.place(64, false, initial...)
			if err := v.call(state, slice[0], 0, k, v.place(64, true, end...)); err != nil {
				return cases, err
			}
			want := v.compress(initial, block, constants)
			if hasOuter {
				want = v.compress(outer, append(want, v.numbers(1<<63, 0, 0, 0, 0, 0, 0, 8*(128+64))...), constants)
			}
			if err := v.equalWords(v.result(state, 64, 8), want, "%d words, outer %t", count, hasOuter); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}
