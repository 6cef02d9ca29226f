// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/formula"
)

// The proofs of UHASH, RFC 4418 section 5. Messages are bytes, keys are words.

// A symbolicKey is a uhashKey, all of whose words are variables.
type symbolicKey struct {
	*prover
	n  int            // iterations
	at formula.Word   // of the key
	l1 []formula.Word // in the order of RFC 4418
	k2 []formula.Word
	k1 [4][]formula.Word // k_5 to k_8, by iteration; the lower and the upper half side by side
	l2 []formula.Word    // k64, by iteration
	// k128, by iteration
	k128 []wide

	old []formula.Word // bytes of the tag before the call
}

// computed is for how many iterations kernels compute: two or four.
func computed(n int) int { return (n + 1) / 2 * 2 }

// key places a new key for n iterations.
func (v *prover) key(n int) *symbolicKey {
	k, words := v.newKey(n)
	k.at = v.place(32, true, words...)
	return k
}

// newKey returns a key for n iterations that is in no memory yet, and its words of 32 bits.
func (v *prover) newKey(n int) (k *symbolicKey, words []formula.Word) {
	const max32 = 1<<32 - 1
	k = &symbolicKey{prover: v, n: computed(n), l1: v.variables(32, 8*32+3*4, max32), k2: v.variables(32, 4, max32)}
	words = slices.Concat([]formula.Word{v.Constant(32, uint64(n)), v.Constant(32, 0)}, k.k2)
	for j := range k.k1 {
		for range 4 {
			// A residue modulo p36 < 2^36.
			low, high := v.variable(32, max32), v.variable(32, 1<<4-1)
			words = append(words, low, high)
			k.k1[j] = append(k.k1[j], v.FromBytes(slices.Concat(v.Bytes(low, 32), v.Bytes(high, 32))))
		}
	}
	for half := range 2 {
		for i := 4 * half; i < len(k.l1); i += 8 {
			words = append(words, k.l1[i:i+4]...)
		}
	}
	for range 4 {
		k64 := v.variables(32, 2, 1<<25-1) // masked, section 5.3.1
		k128 := v.variables(32, 4, 1<<25-1)
		words = append(append(words, k64...), k128...)
		k.l2 = append(k.l2, v.word64(k64))
		k.k128 = append(k.k128, wide{v.word64(k128), v.word64(k128[2:])})
	}
	return k, append(words, v.variables(32, 4*8, max32)...)
}

// word64 is the first two of some words of 32 bits, side by side.
func (v *prover) word64(w []formula.Word) formula.Word {
	return v.FromBytes(slices.Concat(v.Bytes(w[0], 32), v.Bytes(w[1], 32)))
}

// nh is NH, section 5.2.2, of bytes that are zero-padded to whole groups, at least one, of
// which the first is group g of a block, in iteration t.
func (k *symbolicKey) nh(t, g int, message []formula.Word) formula.Word {
	message = slices.Clone(message)
	for len(message) == 0 || len(message)%32 != 0 {
		message = append(message, k.Constant(8, 0))
	}
	var m []formula.Word
	for i := 0; i < len(message); i += 4 {
		var b []formula.ByteOf
		for _, w := range message[i : i+4] {
			b = append(b, k.ByteAt(w, 0))
		}
		m = append(m, k.FromBytes(b))
	}
	key := k.l1[4*t+8*g:]
	var products []formula.Atom
	for i := 0; i < len(m); i += 8 {
		for j := i; j < i+4; j++ {
			products = append(products, formula.Atom{Word: k.Product(k.Add(32, m[j], key[j]), k.Add(32, m[j+4], key[j+4])), Coefficient: 1})
		}
	}
	return k.Sum(64, 0, products)
}

// capacity is a number of which a kernel must know nothing.
func (v *prover) capacity() formula.Word { return v.variable(64, 1<<64-1) }

// message places a message of n bytes.
func (v *prover) message(n int) (bytes []formula.Word, slice []formula.Word) {
	bytes = v.variables(8, n, 0xff)
	return bytes, v.words(v.place(8, true, bytes...), n, v.capacity())
}

// proveAdd proves nhAdd: for each number of iterations, each group of a block at which the
// bytes can begin and each number of groups that fit, from the least on.
func proveAdd(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for first := range 32 {
			for groups := max(least[v.function.Name]/32, 1); first+groups <= 32; groups++ {
				if v.skips() {
					continue
				}
				v.reset()
				k := v.key(n)
				bytes, slice := v.message(32 * groups)
				sums := v.variables(64, 4, 1<<64-1)
				state := v.place(64, false, append(slices.Clone(sums), v.Constant(64, uint64(32*first)))...)
				if err := v.call(state, k.at, slice); err != nil {
					return cases, err
				}
				var want []formula.Word
				for t := range k.n {
					want = append(want, v.Add(64, sums[t], k.nh(t, first, bytes)))
				}
				got := v.result(state, 64, 5)
				if err := v.equalWords(got, append(append(want, sums[k.n:]...), v.Constant(64, uint64(32*(first+groups)))),
					"%d iterations, %d groups from %d on", n, groups, first); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	return cases, nil
}

// proveBlocks proves nhBlocks for any number of blocks.
func proveBlocks(v *prover) (cases int, err error) {
	const block, words = 1024, 4 * 8
	for n := 1; n <= 4; n++ {
		v.reset()
		k := v.key(n)
		bytes, slice := v.message(2 * block)
		before := v.variables(64, 2*4, 1<<64-1)
		at := v.place(64, false, before...)
		var want []formula.Word
		for t := range k.n {
			want = append(want, v.Add(64, k.nh(t, 0, bytes[:block]), v.Constant(64, 8*block)))
		}
		check := func(int) error {
			return v.equalWords(v.result(at, 64, k.n), want, "%d iterations, the last block", n)
		}
		length, capacity := v.capacity(), v.capacity()
		if err := v.induct(induction{
			least: 1, most: mostBytes / block, written: v.object(at), part: words, meanings: 8 * k.n, check: check,
			prepare: func(count formula.Word, blocks, done int) []any {
				v.put(slice[0], 8, bytes[:blocks*block]...)
				v.put(at, 64, slices.Concat(want[:done*k.n], before[done*k.n:4*blocks])...)
				text := v.Sum(64, 0, []formula.Atom{{Word: count, Coefficient: block}})
				return []any{v.plus(at, done*words), length, capacity, k.at, v.plus(slice[0], done*block), text, slice[2]}
			},
		}); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// l3 is L3-HASH, section 5.4.1, of a word, of which the first 8 bytes are zeros, in iteration
// t, xor the pad: the four bytes of a tag.
//
// The inner product y is below 2^64, so it is not reduced modulo 2^64, and
//
//	S = y mod 2^36 + 5*(y div 2^36)
//
// is y modulo p36 = 2^36-5. It is below 2*p36: the residue is S or S-p36. Both bounds are
// checked here.
//
// Kernels for arm64 multiply the halves of the keys: of k = low + 2^32*high, high < 2^4, they add
// m*low, and 2^32 times the sum of all m*high, which is below 2^22, or for two iterations the sums of
// two each. They use only the lower 32 bits of the residue, which are those of S + 5*c if c is the
// bit of 2^36 in S+5.
func (k *symbolicKey) l3(t int, w formula.Word, pad []formula.Word) (tag []formula.Word) {
	const p36 = 1<<36 - 5
	var products []formula.Atom
	var upper [2][]formula.Atom
	for j := range 4 {
		m := k.Extend(16, k.Extract(w, 48-16*j, 16))
		if k.isARM64() {
			low, high := k.Extract(k.k1[j][t], 0, 32), k.Extract(k.k1[j][t], 32, 32)
			products = append(products, formula.Atom{Word: k.Product(k.Extract(m, 0, 32), low), Coefficient: 1})
			sum := &upper[j%2*(2-k.n/2)] // the first one if there are four iterations
			*sum = append(*sum, formula.Atom{Word: k.MulLow(32, k.Extract(m, 0, 32), high), Coefficient: 1})
			continue
		}
		products = append(products, formula.Atom{Word: k.MulLow(64, m, k.k1[j][t]), Coefficient: 1})
	}
	for _, sum := range upper {
		products = append(products, formula.Atom{Word: k.Left(64, k.Extend(32, k.Sum(32, 0, sum)), 32), Coefficient: 1})
	}
	y := k.Sum(64, 0, products)
	if k.Nodes[y].Max == 1<<64-1 {
		panic(algebra.Unprovable("the inner product may wrap around"))
	}
	s := k.Sum(64, 0, []formula.Atom{{Word: k.Masked(64, y, 1<<36-1), Coefficient: 1}, {Word: k.Right(64, y, 36), Coefficient: 5}})
	if k.Nodes[s].Max >= 2*p36 {
		panic(algebra.Unprovable("the residue may be larger"))
	}
	var residue formula.Word
	if k.isARM64() {
		c := k.Right(64, k.Add(64, s, k.Constant(64, 5)), 36)
		residue = k.Add(32, k.Extract(s, 0, 32), k.MulLow(32, k.Extract(c, 0, 32), k.Constant(32, 5)))
	} else {
		residue = k.Choose(64, k.Less(64, s, k.Constant(64, p36)), s, k.Sub(64, s, k.Constant(64, p36)))
	}
	for r := range 4 {
		byteOf := func(w formula.Word) formula.Word { return k.FromBytes([]formula.ByteOf{k.ByteAt(w, 3-r)}) }
		tag = append(tag, k.Xor(8, k.Xor(8, byteOf(residue), byteOf(k.k2[t])), pad[r]))
	}
	return tag
}

// pad returns the bytes of a pad, and its words.
func (v *prover) pad() (bytes, words []formula.Word) {
	bytes = v.variables(8, 16, 0xff)
	var b []formula.ByteOf
	for _, w := range bytes {
		b = append(b, v.ByteAt(w, 0))
	}
	return bytes, []formula.Word{v.FromBytes(b[:8]), v.FromBytes(b[8:])}
}

// placeTag places 16 bytes for a tag.
func (k *symbolicKey) placeTag() formula.Word {
	k.old = k.variables(8, 16, 0xff)
	return k.place(8, false, k.old...)
}

// checkTag compares a tag with L3 of words. On arm64 the bytes behind it must be what they were;
// elsewhere they may be anything.
func (k *symbolicKey) checkTag(tag formula.Word, words, pad []formula.Word, format string, a ...any) error {
	var want []formula.Word
	for t, w := range words {
		want = append(want, k.l3(t, w, pad[4*t:])...)
	}
	if k.isARM64() {
		want = append(want, k.old[len(want):]...)
	}
	return k.equalWords(k.result(tag, 8, len(want)), want, format, a...)
}

// proveWords proves tagWords: L3.
func proveWords(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		v.reset()
		k := v.key(n)
		words := v.variables(64, 4, 1<<64-1)
		pad, x := v.pad()
		tag := k.placeTag()
		if err := v.call(tag, k.at, v.place(64, true, words...), x); err != nil {
			return cases, err
		}
		if err := k.checkTag(tag, words[:k.n], pad, "%d iterations", n); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveFill proves fill.
func proveFill(v *prover) (cases int, err error) {
	for size := range 32 {
		v.reset()
		bytes, slice := v.message(size)
		group := v.place(8, false, v.variables(8, 32, 0xff)...)
		if err := v.call(group, slice); err != nil {
			return cases, err
		}
		for len(bytes) < 32 {
			bytes = append(bytes, v.Constant(8, 0))
		}
		if err := v.equalWords(v.result(group, 8, 32), bytes, "%d bytes", size); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}
