// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "slices"

// The proofs of UHASH, RFC 4418 section 5. Messages are bytes, keys are words.

// A symbolicKey is a uhashKey, all of whose words are variables.
type symbolicKey struct {
	*prover
	n  int    // iterations
	at uint64 // of the key
	l1 []word // in the order of RFC 4418
	k2 []word
	k1 [4][]word // k_5 to k_8, by iteration; the lower and the upper half side by side
	l2 []word    // k64, by iteration
}

func (v *prover) key(n int) *symbolicKey {
	const max32 = 1<<32 - 1
	k := &symbolicKey{prover: v, n: n, l1: v.variables(32, 8*32+3*4, max32), k2: v.variables(32, 4, max32)}
	words := slices.Concat([]word{v.constant(32, uint64(n)), v.constant(32, 0)}, k.k2)
	for j := range k.k1 {
		for range 4 {
			// A residue modulo p36 < 2^36.
			low, high := v.variable(32, max32), v.variable(32, 1<<4-1)
			words = append(words, low, high)
			k.k1[j] = append(k.k1[j], v.fromBytes(slices.Concat(v.bytes(low, 32), v.bytes(high, 32))))
		}
	}
	for half := range 2 {
		for i := 4 * half; i < len(k.l1); i += 8 {
			words = append(words, k.l1[i:i+4]...)
		}
	}
	for range 4 {
		k64 := v.variables(32, 2, 1<<25-1) // masked, section 5.3.1
		words = append(append(words, k64...), v.variables(32, 4, max32)...)
		k.l2 = append(k.l2, v.fromBytes(slices.Concat(v.bytes(k64[0], 32), v.bytes(k64[1], 32))))
	}
	k.at = v.place(32, true, append(words, v.variables(32, 4*8, max32)...)...)
	return k
}

// nh is NH, section 5.2.2, of bytes that are zero-padded to whole groups, at least one, of
// which the first is group g of a block, in iteration t.
func (k *symbolicKey) nh(t, g int, message []word) word {
	message = slices.Clone(message)
	for len(message) == 0 || len(message)%32 != 0 {
		message = append(message, k.constant(8, 0))
	}
	var m []word
	for i := 0; i < len(message); i += 4 {
		var b []byteOf
		for _, w := range message[i : i+4] {
			b = append(b, k.byteAt(w, 0))
		}
		m = append(m, k.fromBytes(b))
	}
	key := k.l1[4*t+8*g:]
	var products []atom
	for i := 0; i < len(m); i += 8 {
		for j := i; j < i+4; j++ {
			products = append(products, atom{word: k.product(k.add(32, m[j], key[j]), k.add(32, m[j+4], key[j+4])), coefficient: 1})
		}
	}
	return k.sum(64, 0, products)
}

// message places a message of n bytes.
func (v *prover) message(n int) (bytes []word, slice []word) {
	bytes = v.variables(8, n, 0xff)
	return bytes, v.numbers(v.place(8, true, bytes...), uint64(n), uint64(n))
}

// proveAdd proves nhAdd: for each number of iterations, each group of a block at which the
// bytes can begin and each number of groups that fit.
func proveAdd(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for first := range 32 {
			for groups := 1; first+groups <= 32; groups++ {
				if v.skips() {
					continue
				}
				v.reset()
				k := v.key(n)
				bytes, slice := v.message(32 * groups)
				sums := v.variables(64, 4, 1<<64-1)
				state := v.place(64, false, append(slices.Clone(sums), v.constant(64, uint64(32*first)))...)
				if err := v.call(append(v.numbers(state, k.at), slice...)...); err != nil {
					return cases, err
				}
				var want []word
				for t := range n {
					want = append(want, v.add(64, sums[t], k.nh(t, first, bytes)))
				}
				got := v.result(state, 64, 5)
				if err := v.equalWords(append(got[:n:n], got[4]), append(want, v.constant(64, uint64(32*(first+groups)))),
					"%d iterations, %d groups from %d on", n, groups, first); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	return cases, nil
}

// proveBlocks proves nhBlocks. From 33 blocks on there are prefetches.
func proveBlocks(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for _, blocks := range []int{1, 2, 3, 34} {
			if v.step > 1 && blocks > 3 {
				continue
			}
			v.reset()
			k := v.key(n)
			bytes, slice := v.message(1024 * blocks)
			words := v.place(64, false, v.variables(64, 4*blocks, 1<<64-1)...)
			if err := v.call(append(v.numbers(words, uint64(blocks), uint64(blocks), k.at), slice...)...); err != nil {
				return cases, err
			}
			for b := range blocks {
				var want []word
				for t := range n {
					want = append(want, v.add(64, k.nh(t, 0, bytes[1024*b:][:1024]), v.constant(64, 8*1024)))
				}
				if err := v.equalWords(v.result(words+uint64(32*b), 64, n), want, "%d iterations, block %d of %d", n, b, blocks); err != nil {
					return cases, err
				}
			}
			cases++
		}
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
func (k *symbolicKey) l3(t int, w word, pad []word) (tag []word) {
	const p36 = 1<<36 - 5
	var products []atom
	for j := range 4 {
		m := k.extend(16, k.extract(w, 48-16*j, 16))
		products = append(products, atom{word: k.mulLow(64, m, k.k1[j][t]), coefficient: 1})
	}
	y := k.sum(64, 0, products)
	if k.nodes[y].max == 1<<64-1 {
		panic(unprovable("the inner product may wrap around"))
	}
	s := k.sum(64, 0, []atom{{word: k.masked(64, y, 1<<36-1), coefficient: 1}, {word: k.right(64, y, 36), coefficient: 5}})
	if k.nodes[s].max >= 2*p36 {
		panic(unprovable("the residue may be larger"))
	}
	residue := k.choose(64, k.less(64, s, k.constant(64, p36)), s, k.sub(64, s, k.constant(64, p36)))
	for r := range 4 {
		byteOf := func(w word) word { return k.fromBytes([]byteOf{k.byteAt(w, 3-r)}) }
		tag = append(tag, k.xor(8, k.xor(8, byteOf(residue), byteOf(k.k2[t])), pad[r]))
	}
	return tag
}

// pad returns the bytes of a pad, and its words.
func (v *prover) pad() (bytes, words []word) {
	bytes = v.variables(8, 16, 0xff)
	var b []byteOf
	for _, w := range bytes {
		b = append(b, v.byteAt(w, 0))
	}
	return bytes, []word{v.fromBytes(b[:8]), v.fromBytes(b[8:])}
}

// checkTag compares a tag with L3 of words.
func (k *symbolicKey) checkTag(tag uint64, words, pad []word, format string, a ...any) error {
	var want []word
	for t, w := range words {
		want = append(want, k.l3(t, w, pad[4*t:])...)
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
		tag := v.place(8, false, v.variables(8, 16, 0xff)...)
		if err := v.call(slices.Concat(v.numbers(tag, k.at, v.place(64, true, words...)), x)...); err != nil {
			return cases, err
		}
		if err := k.checkTag(tag, words[:n], pad, "%d iterations", n); err != nil {
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
		if err := v.call(append(v.numbers(group), slice...)...); err != nil {
			return cases, err
		}
		for len(bytes) < 32 {
			bytes = append(bytes, v.constant(8, 0))
		}
		if err := v.equalWords(v.result(group, 8, 32), bytes, "%d bytes", size); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}
