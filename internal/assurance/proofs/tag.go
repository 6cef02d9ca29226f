// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"

	"example.com/fastmac/internal/assurance/formula"
)

// proveOnly proves tagOnly for a whole message of up to a block, and for a message in parts:
// any number of groups in the state, and the least rest or a group more.
func proveOnly(v *prover) (cases int, err error) {
	least := least[v.function.Name]
	for n := 1; n <= 4; n++ {
		for size := least; size <= 1024; size++ {
			if v.skips() {
				continue
			}
			if err := v.proveOnlyFor(n, 0, size); err != nil {
				return cases, err
			}
			cases++
		}
		for groups := 1; groups <= 32; groups++ {
			for size := least; size <= least+32 && size+32*groups <= 1024; size += 32 {
				if err := v.proveOnlyFor(n, groups, size); err != nil {
					return cases, err
				}
				cases++
			}
		}
	}
	return cases, nil
}

func (v *prover) proveOnlyFor(n, groups, size int) error {
	v.reset()
	k := v.key(n)
	bytes, rest := v.message(size)
	sums, length := v.variables(64, 4, 1<<64-1), v.variable(64, 1<<64-1)
	pad, x := v.pad()
	tag := k.placeTag()
	if v.isARM64() { // it is public, and decides on a jump
		length = v.Constant(64, uint64(32*groups+size))
	}
	state := v.place(64, true, append(slices.Clone(sums), v.Constant(64, uint64(32*groups)))...)
	if err := v.call(tag, k.at, state, rest, length, x); err != nil {
		return err
	}
	return k.checkTag(tag, k.lastWords(sums, groups, bytes, length), pad, "%d iterations, %d groups, %d bytes", n, groups, size)
}

// lastWords returns the L1 words of a block, section 5.2.1, of which some groups are in sums,
// and the rest is bytes.
func (k *symbolicKey) lastWords(sums []formula.Word, groups int, bytes []formula.Word, length formula.Word) (words []formula.Word) {
	for t := range k.n {
		w := sums[t]
		if len(bytes) > 0 || groups == 0 {
			w = k.Add(64, w, k.nh(t, groups, bytes))
		}
		words = append(words, k.Sum(64, 0, []formula.Atom{{Word: w, Coefficient: 1}, {Word: length, Coefficient: 8}}))
	}
	return words
}

// severalSizes are those of the messages of a batch.
var severalSizes = []int{0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 192, 193, 256, 300, 512, 1000, 1023, 1024}

// proveEach proves tagEach for one message of each size, and for up to nine of several sizes.
// Nothing else may change.
func proveEach(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for size := range 1025 {
			if v.skips() {
				continue
			}
			if err := v.proveEachFor(n, size); err != nil {
				return cases, err
			}
			cases++
		}
		for count := 2; count <= 9; count++ {
			var some []int
			for k := range count {
				some = append(some, severalSizes[(5*count+4*k)%len(severalSizes)])
			}
			if err := v.proveEachFor(n, some...); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}

// inBatch returns a Message of package fastmac with these slices. What else it has, no kernel may
// read.
func (v *prover) inBatch(nonce, data []formula.Word) []formula.Word {
	m := slices.Concat(nonce, data)
	if nonce == nil {
		m = slices.Concat(v.variables(64, 3, ^uint64(0)), data)
	}
	return slices.Concat(m, v.variables(64, 10-len(m), ^uint64(0)))
}

func (v *prover) proveEachFor(n int, sizes ...int) error {
	v.reset()
	k := v.key(n)
	var headers, want []formula.Word
	tags := v.variables(8, 16*(len(sizes)+3), 0xff)
	sums := v.numbers(0, 0, 0, 0)
	for i, size := range sizes {
		bytes, header := v.message(size)
		headers = append(headers, v.inBatch(nil, header)...)
		tag := slices.Clone(tags[16*i:][:16])
		for t, w := range k.lastWords(sums, 0, bytes, v.Constant(64, uint64(size))) {
			copy(tag[4*t:], k.l3(t, w, tag[4*t:]))
		}
		want = append(want, tag...)
	}
	at, count := v.place(8, false, tags...), len(sizes)
	if err := v.call(at, v.capacity(), v.capacity(), k.at, v.place(64, true, headers...), count, v.capacity()); err != nil {
		return err
	}
	want = append(want, tags[16*len(sizes):]...)
	// The words of a tag after the one of the last iteration have no meaning.
	got := v.result(at, 8, len(want))
	for i := range sizes {
		copy(got[16*i+4*k.n:16*i+16], want[16*i+4*k.n:])
	}
	return v.equalWords(got, want, "%d iterations, %d messages, the first of %d bytes", n, len(sizes), sizes[0])
}

// POLY-64, section 5.3.2, modulo p64 = 2^64-59. A step is a formula of the value y, below 2^64,
// and the word m. Its result r is below 2^64, and modulo p64 it is
//
//	k*y + m                             if m < 2^64-2^32
//	k*(k*y-1) + m-59 = k^2*y + m-59-k   otherwise
//
// This is why. Let f be k or k^2 and a be m or m-59-k, which does not wrap around because
// k < 2^57. Let
//
//	f*y  = 2^64*h + l          h <= 2^64-2
//	59*h = 2^64*g + e          g <= 58
//	l+e  = 2^64*c1 + s         each c is 0 or 1
//	s+a  = 2^64*c2 + t
//	t + 59*(g+c1+c2) = 2^64*c3 + u
//	r = u + 59*c3
//
// g+c1+c2 <= 60, so if c3 is 1, u < 59*60: the last sum does not wrap around. Since 2^64 is 59
// modulo p64,
//
//	r = t + 59*(g+c1+c2) - 59*c3 + 59*c3 = l+e+a - 59*(c1+c2) + 59*(g+c1+c2)
//	  = l + e + 59*g + a = l + 59*h + a = f*y + a.

// step is that formula.
func (k *symbolicKey) step(key, y, m formula.Word) formula.Word {
	marked := k.marked(m)
	addend := k.Sum(64, 1<<64-59, []formula.Atom{{Word: m, Coefficient: 1}, {Word: key, Coefficient: 1<<64 - 1}})
	f := k.Choose(64, marked, k.times(key, key), key)
	a := k.Choose(64, marked, addend, m)
	low, high := k.Wide(f, y)
	e, g := k.Wide(high, k.Constant(64, 59))
	zero := k.Constant(1, 0)
	s := k.Add(64, low, e)
	c1 := k.Carry(64, low, e, zero)
	t := k.Add(64, s, a)
	c2 := k.Carry(64, s, a, zero)
	folds := k.Add(64, k.Add(64, g, k.Extend(1, c1)), k.Extend(1, c2))
	fold := k.MulLow(64, k.Constant(64, 59), folds)
	if k.isARM64() { // at most 60 times 59
		fold = k.Extend(32, k.MulLow(32, k.Constant(32, 59), k.Extract(folds, 0, 32)))
	}
	u := k.Add(64, t, fold)
	c3 := k.Carry(64, t, fold, zero)
	if k.isARM64() {
		return k.Choose(64, c3, k.Add(64, u, k.Constant(64, 59)), u)
	}
	return k.Add(64, u, k.And(64, k.Sub(64, k.Constant(64, 0), k.Extend(1, c3)), k.Constant(64, 59)))
}

// marked reports whether m is 2^64-2^32 or more: its upper half is all ones, or m+2^32 has a carry.
func (k *symbolicKey) marked(m formula.Word) formula.Word {
	if k.isARM64() {
		return k.Carry(64, m, k.Constant(64, 1<<32), k.Constant(1, 0))
	}
	return k.Equal(32, k.Extract(m, 32, 32), k.Constant(32, 1<<32-1))
}

// times is the product of the key k, below 2^57, and y modulo p64, not reduced:
//
//	k*y = 2^64*h + l         h < 2^57, so 59*h < 2^63
//	l + 59*h = 2^64*c + r    if c is 1, r < 2^63
//
// and it is r + 59*c.
func (k *symbolicKey) times(key, y formula.Word) formula.Word {
	low, high := k.Wide(key, y)
	fold := k.MulLow(64, high, k.Constant(64, 59))
	r := k.Add(64, low, fold)
	return k.Choose(64, k.Carry(64, low, fold, k.Constant(1, 0)), k.Add(64, r, k.Constant(64, 59)), r)
}

// provePoly proves nhPoly, L1 and L2, for any number of blocks. The loop begins after the first block; from 33 blocks on
// there are prefetches. For arm64 it begins with the first block, whose round has no word before it.
func provePoly(v *prover) (cases int, err error) {
	const block, blocks = 1024, 3
	for n := 1; n <= 4; n++ {
		v.reset()
		k := v.key(n)
		bytes, slice := v.message(block * blocks)
		values := [][]formula.Word{v.variables(64, 8, 1<<64-1)} // after no blocks
		for b := range blocks {
			next := slices.Clone(values[b]) // those of other iterations do not change
			for t := range k.n {
				m := k.Add(64, k.nh(t, 0, bytes[block*b:][:block]), k.Constant(64, 8*block))
				next[2*t+1] = k.step(k.l2[t], next[2*t+1], m)
			}
			values = append(values, next)
		}
		y := v.place(64, false, values[0]...)
		x := induction{
			least: 2, most: mostBytes / block, splits: []uint64{33, 34},
			prepare: func(count formula.Word, blocks, done int) []any {
				v.put(slice[0], 8, bytes[:blocks*block]...)
				v.put(y, 64, values[done]...)
				text := v.Sum(64, 0, []formula.Atom{{Word: count, Coefficient: block}})
				return []any{y, k.at, v.plus(slice[0], done*block), text, slice[2]}
			},
			check: func(rounds int) error {
				return v.equalWords(v.result(y, 64, 8), values[rounds], "%d iterations, %d blocks", n, rounds)
			},
		}
		if v.isARM64() {
			x.skips, x.splits = 1, nil
		}
		if err := v.induct(x); err != nil {
			return cases, err
		}
		cases++
	}
	return cases, nil
}

// proveNext proves tagNext after any values of POLY-64, for whole rests of up to a block and in
// parts, as tagOnly.
func proveNext(v *prover) (cases int, err error) {
	least := least[v.function.Name]
	for n := 1; n <= 4; n++ {
		prove := func(groups, size int) {
			if err == nil && !v.skips() {
				err = v.proveNextFor(n, groups, size)
				cases++
			}
		}
		for size := max(least, 1); size <= 1024; size++ {
			prove(0, size)
		}
		for groups := 1; groups <= 32; groups++ {
			for size := least; size <= least+32 && size+32*groups <= 1024; size += 32 {
				prove(groups, size)
			}
		}
		if err != nil {
			return cases, err
		}
	}
	return cases, nil
}

func (v *prover) proveNextFor(n, groups, size int) error {
	v.reset()
	k := v.key(n)
	bytes, rest := v.message(size)
	values := v.variables(64, 8, 1<<64-1)
	sums, length := v.variables(64, 4, 1<<64-1), v.variable(64, 1<<64-1)
	pad, x := v.pad()
	tag := k.placeTag()
	if v.isARM64() {
		length = v.Constant(64, uint64(32*groups+size))
	}
	y, state := v.place(64, true, values...), v.place(64, true, append(slices.Clone(sums), v.Constant(64, uint64(32*groups)))...)
	if err := v.call(tag, k.at, y, state, rest, length, x); err != nil {
		return err
	}
	last := k.lastWords(sums, groups, bytes, length)
	for t, m := range last {
		last[t] = k.lastStep(t, values[2*t+1], m)
	}
	return k.checkTag(tag, last, pad, "%d iterations, %d groups, %d bytes", n, groups, size)
}

// proveNextBlock proves nhNext after any values of POLY-64: each number of groups for which the
// block has room, with rests of some sizes, and each rest after the last group of a block. The
// kernel hashes the rest with code of its own, which knows nothing of the room.
func proveNextBlock(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		prove := func(groups, rest int) {
			if size := 1024 - 32*groups + rest; err == nil && size >= 32 && !v.skips() {
				err = v.proveNextBlockFor(n, groups, size)
				cases++
			}
		}
		for rest := range 1024 {
			prove(31, rest)
		}
		for groups := range 33 {
			for _, rest := range []int{0, 20, 32, 300} {
				prove(groups, rest)
			}
		}
		if err != nil {
			return cases, err
		}
	}
	return cases, nil
}

func (v *prover) proveNextBlockFor(n, groups, size int) error {
	v.reset()
	k := v.key(n)
	bytes, p := v.message(size)
	values, sums := v.variables(64, 8, 1<<64-1), v.variables(64, 4, 1<<64-1)
	y, state := v.place(64, false, values...), v.place(64, false, append(slices.Clone(sums), v.Constant(64, uint64(32*groups)))...)
	group := v.place(8, false, v.variables(8, 32, 0xff)...)
	if err := v.call(y, state, group, k.at, p); err != nil {
		return err
	}
	room := 1024 - 32*groups
	whole := (size - room) / 32 * 32
	want, end := slices.Clone(values), slices.Clone(sums) // those of other iterations do not change
	for t, m := range k.lastWords(sums, groups, bytes[:room], k.Constant(64, 1024)) {
		ky := k.times(k.l2[t], values[2*t+1])
		want[2*t+1] = k.stepFrom(k.l2[t], ky, k.times(k.l2[t], ky), m)
		if end[t] = k.Constant(64, 0); whole > 0 {
			end[t] = k.nh(t, 0, bytes[room:][:whole])
		}
	}
	tail := slices.Clone(bytes[room+whole:])
	for len(tail) < 32 {
		tail = append(tail, v.Constant(8, 0))
	}
	if err := v.equalWords(v.result(y, 64, 8), want, "values, %d iterations, %d groups, %d bytes", n, groups, size); err != nil {
		return err
	}
	if err := v.equalWords(v.result(state, 64, 5), append(end, v.Constant(64, uint64(whole))), "%d iterations, %d groups, %d bytes", n, groups, size); err != nil {
		return err
	}
	return v.equalWords(v.result(group, 8, 32), tail, "group, %d iterations, %d groups, %d bytes", n, groups, size)
}

// proveTwo proves tagTwo for each size.
func proveTwo(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for size := 1025; size <= 2048; size++ {
			if v.skips() {
				continue
			}
			v.reset()
			k := v.key(n)
			bytes, msg := v.message(size)
			pad, x := v.pad()
			tag := k.placeTag()
			if err := v.call(tag, k.at, msg, x); err != nil {
				return cases, err
			}
			last := k.lastWords(v.numbers(0, 0, 0, 0), 0, bytes[1024:], v.Constant(64, uint64(size-1024)))
			for t, m := range last {
				first := k.Add(64, k.nh(t, 0, bytes[:1024]), k.Constant(64, 8*1024))
				value := k.stepFrom(k.l2[t], k.l2[t], k.times(k.l2[t], k.l2[t]), first) // from 1
				last[t] = k.lastStep(t, value, m)
			}
			if err := k.checkTag(tag, last, pad, "%d iterations, %d bytes", n, size); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}

// lastStep returns the hash of L2 in iteration t: the least residue of the step from a value
// with the last word.
func (k *symbolicKey) lastStep(t int, value, m formula.Word) formula.Word {
	if k.isARM64() {
		value = k.step(k.l2[t], value, m)
		less := k.Add(64, value, k.Constant(64, 59))
		return k.Choose(64, k.Carry(64, value, k.Constant(64, 59), k.Constant(1, 0)), less, value)
	}
	ky := k.times(k.l2[t], value)
	value = k.stepFrom(k.l2[t], ky, k.times(k.l2[t], ky), m)
	// 59 more, modulo 2^64, is p64 less.
	return k.Add(64, value, k.fold(k.Less(64, k.Constant(64, 1<<64-59-1), value)))
}

// fold is 59 if a bit is 1, else 0.
func (k *symbolicKey) fold(bit formula.Word) formula.Word {
	return k.And(64, k.Choose(64, bit, k.Constant(64, 1<<64-1), k.Constant(64, 0)), k.Constant(64, 59))
}

// stepFrom is another formula for a step of POLY-64, from the products ky and kky, modulo p64,
// of y with k and with its square. Let a be m or m-59-k, and b be ky or kky:
//
//	a + b = 2^64*c + r   c is 0 or 1
//
// a < 2^64-59, so if c is 1, r < 2^64-59. The result is r + 59*c, which does not wrap around.
// c is 1 if r is less than b.
func (k *symbolicKey) stepFrom(key, ky, kky, m formula.Word) formula.Word {
	marked := k.marked(m)
	addend := k.Sum(64, 1<<64-59, []formula.Atom{{Word: m, Coefficient: 1}, {Word: key, Coefficient: 1<<64 - 1}})
	a, b := k.Choose(64, marked, addend, m), k.Choose(64, marked, kky, ky)
	r := k.Add(64, a, b)
	return k.Add(64, r, k.fold(k.Less(64, r, b)))
}

// proveNonce proves tagNonce, for arm64: PDF and UHASH in one call, of any number of groups in the
// state and a rest in the block, and of up to two blocks. Each size of a message has one size of the
// key, of the nonce, and one part of the block; these go through all that there are.
func proveNonce(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		prove := func(groups, size int) {
			if err == nil && !v.skips() {
				err = v.proveNonceFor(n, groups, size, cases)
				cases++
			}
		}
		for size := 0; size <= 2048; size += sizeStep(n) {
			prove(0, size)
		}
		for groups := 1; groups <= 32; groups++ {
			prove(groups, 0)
			if groups < 32 {
				prove(groups, 32)
			}
		}
	}
	return cases, err
}

func (v *prover) proveNonceFor(n, groups, size, which int) error {
	v.reset()
	k, at, schedule, rounds := v.umacKey(n, which)
	bytes, rest := v.message(size)
	sums := v.variables(64, 4, 1<<64-1)
	if groups == 0 {
		sums = v.numbers(0, 0, 0, 0)
	}
	nonce, pad := v.nonceFor(n, schedule, rounds, which)
	tag := k.placeTag()
	state := v.place(64, true, append(slices.Clone(sums), v.Constant(64, uint64(32*groups)))...)
	v.placePartBytes()
	if err := v.call(tag, at, state, rest, 32*groups+size, nonce); err != nil {
		return err
	}
	return k.checkTag(tag, k.oneOrTwo(sums, groups, bytes), pad, "%d iterations, %d groups, %d bytes, nonce %d", n, groups, size, which)
}

// umacKey places a UMACKey for n iterations, and chooses the size of its AES key by which.
func (v *prover) umacKey(n, which int) (k *symbolicKey, at formula.Word, schedule []formula.Word, rounds int) {
	k, words := v.newKey(n)
	rounds = 10 + 2*(which%3)
	key, schedule := v.padKey(rounds, tagSize(n))
	key = append(key, v.variables(8, v.offsetOf("k", "uhash")-len(key), 0xff)...)
	for _, w := range words {
		for _, b := range v.Bytes(w, 32) {
			key = append(key, v.FromBytes([]formula.ByteOf{b}))
		}
	}
	return k, v.place(8, true, key...), schedule, rounds
}

// sizeStep returns the distance between the sizes that are proved. An odd number of iterations runs the
// code of the even one after it.
func sizeStep(n int) int { return 1 + n%2*12 }

// tagSize is the size of tags of n iterations; with three, the kernels compute four.
func tagSize(n int) int { return map[int]int{1: 4, 2: 8, 3: 16, 4: 16}[n] }

// nonceFor returns a nonce, whose size and part of the block are chosen by which, and its pad.
func (v *prover) nonceFor(n int, schedule []formula.Word, rounds, which int) (slice, pad []formula.Word) {
	size := tagSize(n)
	return v.nonceAndPad(schedule, rounds, size, which/16%(16/size), which%16+1)
}

// oneOrTwo returns the words of L3 of up to two blocks, of which some groups are in sums.
func (k *symbolicKey) oneOrTwo(sums []formula.Word, groups int, bytes []formula.Word) []formula.Word {
	if len(bytes) <= 1024 {
		return k.lastWords(sums, groups, bytes, k.Constant(64, uint64(32*groups+len(bytes))))
	}
	first := k.lastWords(sums, 0, bytes[:1024], k.Constant(64, 1024))
	last := k.lastWords(sums, 0, bytes[1024:], k.Constant(64, uint64(len(bytes)-1024)))
	for t := range last {
		last[t] = k.lastStep(t, k.step(k.l2[t], k.Constant(64, 1), first[t]), last[t])
	}
	return last
}

// proveNonces proves tagNonces, for arm64, for one message of each size and for up to nine.
func proveNonces(v *prover) (cases int, err error) {
	for n := 1; n <= 4; n++ {
		for size := 0; size <= 2048; size += sizeStep(n) {
			if v.skips() {
				continue
			}
			if err := v.proveNoncesFor(n, cases, size); err != nil {
				return cases, err
			}
			cases++
		}
		for count := 2; count <= 9; count++ {
			var some []int
			for k := range count {
				some = append(some, severalSizes[(5*count+4*k)%len(severalSizes)])
			}
			if err := v.proveNoncesFor(n, cases, some...); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}

func (v *prover) proveNoncesFor(n, which int, sizes ...int) error {
	v.reset()
	k, at, schedule, rounds := v.umacKey(n, which)
	tags := v.variables(8, 16*(len(sizes)+1), 0xff)
	var headers, want []formula.Word
	for i, size := range sizes {
		bytes, header := v.message(size)
		nonce, pad := v.nonceFor(n, schedule, rounds, which+i)
		headers = append(headers, v.inBatch(nonce, header)...)
		tag := slices.Clone(tags[16*i:][:16])
		for t, w := range k.oneOrTwo(v.numbers(0, 0, 0, 0), 0, bytes) {
			copy(tag[4*t:], k.l3(t, w, pad[4*t:]))
		}
		want = append(want, tag...)
	}
	into, count := v.place(8, false, tags...), len(sizes)
	v.placePartBytes()
	if err := v.call(into, v.capacity(), v.capacity(), at, v.place(64, true, headers...), count, v.capacity()); err != nil {
		return err
	}
	want = append(want, tags[16*len(sizes):]...)
	return v.equalWords(v.result(into, 8, len(want)), want, "%d iterations, %d messages, the first of %d bytes", n, len(sizes), sizes[0])
}
