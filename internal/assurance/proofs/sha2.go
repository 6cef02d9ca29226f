// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"cmp"
	"fmt"
	"go/types"
	"math/big"
	"slices"
	"strings"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
	"example.com/fastmac/internal/assurance/program"
)

// The proofs of SHA-256 and SHA-512, FIPS 180-4. The variables are the words of chaining values and of
// messages.

// A sha2 is what the two differ in.
type sha2 struct {
	bits   int    // of a word
	rounds int    // in a block
	k      string // the variable that has the constants of the rounds

	// The functions of sections 4.1.2 and 4.1.3: rotations to the right, the last of the lower two a shift.
	upper0, upper1, lower0, lower1 [3]uint
}

// hashes are SHA-256 and SHA-512, by the bytes of a word.
var hashes = map[int64]sha2{
	4: {32, 64, "/internal/sha2.k256", [3]uint{2, 13, 22}, [3]uint{6, 11, 25}, [3]uint{7, 18, 3}, [3]uint{17, 19, 10}},
	8: {64, 80, "/internal/sha2.k512", [3]uint{28, 34, 39}, [3]uint{14, 18, 41}, [3]uint{1, 8, 7}, [3]uint{19, 61, 6}},
}

// A hasher proves a function of one of them.
type hasher struct {
	*prover
	sha2
	constants []uint64     // of the rounds
	at        formula.Word // the address of the variable that has them
}

// newHasher removes the memory of v. The words of the function's parameter k say which hash it is of.
func (v *prover) newHasher() *hasher {
	v.reset()
	word := v.parameter("k").(*types.Pointer).Elem().(*types.Array).Elem()
	h := &hasher{prover: v, sha2: hashes[program.Layout.Sizeof(word)]}
	h.Pairs = h.bits == 32
	h.setConstants()
	return h
}

// setConstants sets the constants of the rounds, sections 4.2.2 and 4.2.3: the first bits of the
// fractions of the cube roots of the first primes. They are the lowest bits of the cube root of
// p*2^(3*bits).
func (v *hasher) setConstants() {
	for p := int64(2); len(v.constants) < v.rounds; p++ {
		if !big.NewInt(p).ProbablyPrime(0) {
			continue
		}
		cube := new(big.Int).Lsh(big.NewInt(p), uint(3*v.bits))
		root := new(big.Int)
		for bit := v.bits + 2; bit >= 0; bit-- {
			next := new(big.Int).SetBit(root, bit, 1)
			if new(big.Int).Exp(next, big.NewInt(3), nil).Cmp(cube) <= 0 {
				root = next
			}
		}
		fraction := new(big.Int).And(root, new(big.Int).SetUint64(algebra.Trim(v.bits, 1<<64-1)))
		v.constants = append(v.constants, fraction.Uint64())
	}
	v.at = v.set(v.k, v.bits, v.wordsOf(v.constants...)...)
	o, _ := v.Datum(v.symbol(v.k))
	for t, b := range slices.Collect(slices.Chunk(v.program.At(o.Linked).Bytes, v.bits/8)) {
		padded := algebra.Bytes64{}
		copy(padded[:], b)
		if (*algebra.Numbers)(nil).Lane(&padded, v.bits, 0) != v.constants[t] {
			panic(algebra.Unprovable(fmt.Sprintf("constant %d of %d-bit words is not that of the standard", t, v.bits)))
		}
	}
}

// wordsOf returns constants as words of the hash.
func (v *hasher) wordsOf(x ...uint64) (words []formula.Word) {
	for _, x := range x {
		words = append(words, v.Constant(v.bits, x))
	}
	return words
}

// unknown returns variables that are words of the hash.
func (v *hasher) unknown(count int) []formula.Word {
	return v.variables(v.bits, count, algebra.Trim(v.bits, 1<<64-1))
}

// padding returns what follows a hash of 8 words in the block after one block, section 5.1.
func (v *hasher) padding() []formula.Word {
	return v.wordsOf(1<<(v.bits-1), 0, 0, 0, 0, 0, 0, uint64((16+8)*v.bits))
}

// swapped returns a word with its bytes in the other order.
func (v *hasher) swapped(w formula.Word) formula.Word {
	bytes := v.Bytes(w, v.bits)
	slices.Reverse(bytes)
	return v.FromBytes(bytes)
}

// compress is the compression function, sections 6.2.2 and 6.4.2.
func (v *hasher) compress(state, block []formula.Word) []formula.Word {
	n := v.bits
	lower := func(w formula.Word, by [3]uint) formula.Word {
		return v.xor(v.Rotate(n, w, by[0]), v.Rotate(n, w, by[1]), v.Turn(n, w, int(by[2]), algebra.Trim(n-int(by[2]), 1<<64-1)))
	}
	w, s := slices.Clone(block), slices.Clone(state)
	for t := 16; t < v.rounds; t++ {
		w = append(w, v.sum(lower(w[t-2], v.lower1), w[t-7], lower(w[t-15], v.lower0), w[t-16]))
	}
	for t := range w {
		s = v.round(s, t, w[t])
	}
	for i := range s {
		s[i] = v.sum(s[i], state[i])
	}
	return s
}

// round is round t of the compression function.
func (v *hasher) round(s []formula.Word, t int, w formula.Word) []formula.Word {
	n := v.bits
	upper := func(w formula.Word, by [3]uint) formula.Word {
		return v.xor(v.Rotate(n, w, by[0]), v.Rotate(n, w, by[1]), v.Rotate(n, w, by[2]))
	}
	a, b, c, e, f, g := s[0], s[1], s[2], s[4], s[5], s[6]
	ch := v.Ternary(n, 0xca, e, f, g)
	maj := v.Ternary(n, 0xe8, a, b, c)
	t1 := v.sum(s[7], upper(e, v.upper1), ch, v.Constant(n, v.constants[t]), w)
	return []formula.Word{v.sum(t1, upper(a, v.upper0), maj), a, b, c, v.sum(s[3], t1), e, f, g}
}

// sum is the sum of words of the hash.
func (v *hasher) sum(words ...formula.Word) formula.Word {
	var terms []formula.Atom
	for _, w := range words {
		terms = append(terms, formula.Atom{Word: w, Coefficient: 1})
	}
	return v.Sum(v.bits, 0, terms)
}

// xor is the sum of the bits of words of the hash.
func (v *hasher) xor(a, b, c formula.Word) formula.Word {
	return v.Xor(v.bits, v.Xor(v.bits, a, b), c)
}

// compressAll compresses blocks of words.
func (v *hasher) compressAll(state, words []formula.Word) []formula.Word {
	for block := range slices.Chunk(words, 16) {
		state = v.compress(state, block)
	}
	return state
}

// message places a message of words, which are big-endian in memory, and returns its address.
func (v *hasher) message(n int) (words []formula.Word, at formula.Word) {
	words = v.unknown(n)
	var bytes []formula.Word
	for _, w := range words {
		for k := v.bits/8 - 1; k >= 0; k-- {
			bytes = append(bytes, v.FromBytes([]formula.ByteOf{v.ByteAt(w, k)}))
		}
	}
	return words, v.place(8, true, bytes...)
}

// proveBlock proves the compression of any number of blocks.
func proveBlock(p *prover) (cases int, err error) { return p.compressions(1) }

// provePair proves the compression of any number of blocks of two messages.
func provePair(p *prover) (cases int, err error) { return p.compressions(2) }

func (p *prover) compressions(count int) (cases int, err error) {
	v := p.newHasher()
	var states, texts []formula.Word
	var before, after, bytes [][]formula.Word
	for i := range count {
		words, text := v.message(2 * 16)
		from := v.unknown(8)
		states, texts = append(states, v.place(v.bits, false, from...)), append(texts, text)
		before, after = append(before, from), append(after, v.compress(from, words[:16]))
		bytes = append(bytes, v.result(texts[i], 8, len(v.object(text).Bytes)))
	}
	block := 16 * v.bits / 8
	return 2, v.induct(induction{
		least: 1, most: mostBytes / uint64(block),
		prepare: func(n formula.Word, blocks, done int) []any {
			var at []formula.Word
			for i := range count {
				v.put(states[i], v.bits, [][][]formula.Word{before, after}[done][i]...)
				v.put(texts[i], 8, bytes[i][:blocks*block]...)
				at = append(at, v.plus(texts[i], done*block))
			}
			return []any{states, at, n, v.at, 0}
		},
		check: func(int) error {
			for i := range count {
				if err := v.equalWords(v.result(states[i], v.bits, 8), after[i], "the last block, message %d", i); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// allHashes is AllHashes of package sha2: the hashes of all lanes are written.
const allHashes = 1 << 16

// proveLanes proves the compression of 1 to 3 blocks in each lane, with none, some and all of the
// lanes beginning, also where hashes are asked for, and of one block where some or all lanes have
// outer hashes.
func proveLanes(p *prover) (cases int, err error) {
	for blocks := 1; blocks <= 3; blocks++ {
		for _, sets := range [][2]uint64{{0, 0}, {1, 0}, {0xc35a, 0}, {1<<64 - 1, 0}, {0, allHashes}, {0xc35a, allHashes},
			{0, 1}, {1, 0x9636}, {0, 1<<16 - 2}, {0, 1<<16 - 1}, {4, 0x8a0 | allHashes}} {
			if sets[1]&^allHashes == 0 || blocks == 1 {
				if err := p.newHasher().lanes(blocks, sets[0], sets[1]); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	return cases, nil
}

// lanes proves the compression of blocks in all lanes of the function's vectors, of which some begin
// and some have outer hashes. outer may have allHashes.
func (v *hasher) lanes(blocks int, initial, outer uint64) error {
	most := 512 / v.bits // in a row
	n := most
	if strings.HasSuffix(v.function.Name, "AVX2") {
		n /= 2
	}
	initial, outer = algebra.Trim(n, initial), algebra.Trim(n, outer)|outer&allHashes
	rows, outerRows := v.unknown(8*most), v.unknown(8*most)
	first, hashes := v.unknown(8), v.unknown(8*most)
	column := func(rows []formula.Word, l int) (words []formula.Word) {
		for i := range 8 {
			words = append(words, rows[most*i+l])
		}
		return words
	}
	want, wantHashes := slices.Clone(rows), slices.Clone(hashes)
	var texts []formula.Word
	for l := range n {
		words, text := v.message(16 * blocks)
		texts = append(texts, text)
		state := column(rows, l)
		switch {
		case outer>>l&1 != 0:
			words = append(state, v.padding()...)
			state = column(outerRows, l)
		case initial>>l&1 != 0:
			state = first
		}
		for i, w := range v.compressAll(state, words) {
			want[most*i+l] = w
			if outer != 0 {
				wantHashes[8*l+i] = v.swapped(w)
			}
		}
	}
	before, after := v.fields("state", field{"state", rows, want}, field{"outer", outerRows, outerRows}, field{"initial", first, first}, field{"hashes", hashes, wantHashes})
	state := v.place(v.bits, false, before...)
	if err := v.call(state, v.place(64, true, texts...), blocks, v.at, int(initial), int(outer)); err != nil {
		return err
	}
	return v.equalWords(v.result(state, v.bits, len(after)), after, "%d blocks, lanes %b begin, %b have outer hashes", blocks, initial, outer)
}

// A field is one of the struct to which a parameter points, before and after a call.
type field struct {
	name         string
	before, want []formula.Word
}

// fields returns the words of all fields of a struct, in order.
func (v *hasher) fields(parameter string, fields ...field) (before, want []formula.Word) {
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Compare(v.offsetOf(parameter, a.name), v.offsetOf(parameter, b.name))
	})
	for _, f := range fields {
		before, want = append(before, f.before...), append(want, f.want...)
	}
	return before, want
}

// An ending is the end of a hash: a last block of some words, the word after them, and a length if
// there is room.
type ending struct {
	end                []formula.Word // the words of an end of package sha2
	state, text        formula.Word   // addresses
	block, from, outer []formula.Word
}

// newEnding places a state and the words of a last block.
func (v *hasher) newEnding(count int, hasOuter bool) (x ending) {
	x.block, x.text = v.message(count)
	last := v.unknown(1)[0]
	length, outer := v.wordsOf(0, 0), v.Constant(64, 0)
	if count <= 13 { // the length has room
		length = v.unknown(2)
	}
	if hasOuter {
		x.outer = v.unknown(8)
		outer = v.place(v.bits, true, x.outer...)
	}
	fields := v.Bytes(v.swapped(last), v.bits)
	for _, w := range length {
		fields = append(fields, v.Bytes(w, v.bits)...)
	}
	if v.bits == 32 { // what aligns the address that follows
		fields = append(fields, v.Bytes(v.unknown(1)[0], v.bits)...)
	}
	x.end = []formula.Word{v.Constant(64, uint64(count))}
	for word := range slices.Chunk(fields, 8) {
		x.end = append(x.end, v.FromBytes(word))
	}
	x.end = append(x.end, outer)
	x.block = append(x.block, last)
	for len(x.block) < 16 {
		x.block = append(x.block, v.Constant(v.bits, 0))
	}
	if count <= 13 {
		copy(x.block[14:], length)
	}
	x.from = v.unknown(8)
	x.state = v.place(v.bits, false, x.from...)
	return x
}

// hash returns the chaining value after the end.
func (v *hasher) hash(x ending) []formula.Word {
	hash := v.compress(x.from, x.block)
	if x.outer != nil {
		hash = v.compress(x.outer, append(hash, v.padding()...))
	}
	return hash
}

// proveEnd proves the end of a hash: a last block of any number of words, a tail and a length,
// or without a length, and the outer hash after it.
func proveEnd(p *prover) (cases int, err error) {
	for count := range 16 {
		for _, hasOuter := range []bool{false, true} {
			if count > 13 && hasOuter || p.step > 1 && count%6 != 1 {
				continue
			}
			v := p.newHasher()
			x := v.newEnding(count, hasOuter)
			if err := v.call(x.state, x.text, 0, v.at, v.place(64, true, x.end...)); err != nil {
				return cases, err
			}
			if err := v.equalWords(v.result(x.state, v.bits, 8), v.hash(x), "%d words, outer %t", count, hasOuter); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}

// provePairEnd proves the ends of two hashes, each of any number of words.
func provePairEnd(p *prover) (cases int, err error) {
	for first := range 16 {
		for second := range 16 {
			for _, hasOuter := range []bool{false, true} {
				if max(first, second) > 13 && hasOuter || p.skips() {
					continue
				}
				v := p.newHasher()
				x, y := v.newEnding(first, hasOuter), v.newEnding(second, hasOuter)
				if err := v.call(x.state, y.state, x.text, y.text, 0, v.at, v.place(64, true, append(x.end, y.end...)...)); err != nil {
					return cases, err
				}
				for _, end := range []ending{x, y} {
					if err := v.equalWords(v.result(end.state, v.bits, 8), v.hash(end), "%d and %d words, outer %t", first, second, hasOuter); err != nil {
						return cases, err
					}
				}
				cases++
			}
		}
	}
	return cases, nil
}

// step is a step of PBKDF2, RFC 8018 section 5.2: u becomes its HMAC, and is added to t.
func (v *hasher) step(inner, outer, u, t []formula.Word) (nextU, nextT []formula.Word) {
	for _, state := range [][]formula.Word{inner, outer} {
		u = v.compress(state, append(slices.Clone(u), v.padding()...))
	}
	for i := range u {
		nextT = append(nextT, v.Xor(v.bits, t[i], u[i]))
	}
	return u, nextT
}

// proveIterate proves any number of steps of one iteration, which is in memory as its fields are.
func proveIterate(p *prover) (cases int, err error) { return p.newHasher().iterate(1) }

// proveIteratePair is proveIterate for two.
func proveIteratePair(p *prover) (cases int, err error) { return p.newHasher().iterate(2) }

func (v *hasher) iterate(count int) (cases int, err error) {
	var before, after []formula.Word
	for range count {
		inner, outer, u, t := v.unknown(8), v.unknown(8), v.unknown(8), v.unknown(8)
		before = slices.Concat(before, inner, outer, u, t)
		u, t = v.step(inner, outer, u, t)
		after = slices.Concat(after, inner, outer, u, t)
	}
	return v.steps(before, after, v.at)
}

// steps proves any number of steps of which one makes of the words before those after.
func (v *hasher) steps(before, after []formula.Word, arguments ...any) (cases int, err error) {
	its := v.place(v.bits, false, before...)
	return 2, v.induct(induction{
		least: 1, most: 1 << 56, // some kernels count in 64ths
		prepare: func(n formula.Word, _, done int) []any {
			v.put(its, v.bits, [][]formula.Word{before, after}[done]...)
			return append([]any{its, n}, arguments...)
		},
		check: func(int) error {
			return v.equalWords(v.result(its, v.bits, len(after)), after, "the last step")
		},
	})
}

// proveIterateLanes proves any number of steps of an iteration in each lane. What is left in the assembly's own
// rows, with words of 32 bits, is the variables b to h and a after a first round whose word is 0.
func proveIterateLanes(p *prover) (cases int, err error) {
	v := p.newHasher()
	lanes := 512 / v.bits
	rows := func() []formula.Word { return v.unknown(8 * lanes) }
	fields := []field{{"inner", rows(), nil}, {"outer", rows(), nil}, {"u", rows(), nil}, {"t", rows(), nil}, {"innerFirst", rows(), nil}, {"outerFirst", rows(), nil}}
	for i := range fields {
		fields[i].want = slices.Clone(fields[i].before)
	}
	for l := range lanes {
		column := func(field int) (words []formula.Word) {
			for i := range 8 {
				words = append(words, fields[field].before[lanes*i+l])
			}
			return words
		}
		inner, outer := column(0), column(1)
		u, t := v.step(inner, outer, column(2), column(3))
		after := [][]formula.Word{inner, outer, u, t}
		if v.bits == 32 {
			for _, state := range [][]formula.Word{inner, outer} {
				s := v.round(state, 0, v.Constant(v.bits, 0))
				after = append(after, append(s[1:], s[0]))
			}
		}
		for i, words := range after {
			for k, w := range words {
				fields[i].want[lanes*k+l] = w
			}
		}
	}
	before, after := v.fields("its", fields...)
	return v.steps(before, after, v.at)
}
