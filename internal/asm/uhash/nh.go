// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// NH of a group of 32 bytes, RFC 4418 section 5.2.2, is the sum for i = 0..3 of
//
//	(m_i + k_i) * (m_i+4 + k_i+4)
//
// with 32-bit sums and 64-bit products. Message and key are handled as their low
// halves (words 0..3 of each group) and high halves (words 4..7). For iteration t
// the Toeplitz shift of 16*t bytes makes these halves of the key, in groups:
//
//	t   low    high
//	0   lo[g]    hi[g]
//	1   hi[g]    lo[g+1]
//	2   lo[g+1]  hi[g+1]
//	3   hi[g+1]  lo[g+2]
//
// With all low halves in one array and all high halves in another, each is a plain
// load. VPMULUDQ multiplies the even words of its operands; the odd ones
// are shifted down for a second product.

// A key is the pair of key halves that an iteration adds to a run of groups.
type key struct{ lo, hi Op }

// keysAt returns the halves for iteration t at group g of the halves at lo and hi.
func keysAt(lo, hi Mem, t, g int) key {
	low := lo.Offset(halfSize * (g + (t+1)/2))
	high := hi.Offset(halfSize * (g + t/2))
	if t%2 == 0 {
		return key{low, high}
	}
	// t 1: hi[g], lo[g+1]; t 3: hi[g+1], lo[g+2]
	return key{high, low}
}

// halves returns the first low and the first high half of the L1 key.
func halves(k gotypes.Component) (lo, hi Mem) {
	l1 := k.Field("l1")
	return field(l1.Field("lo").Index(0)), field(l1.Field("hi").Index(0))
}

// newSums returns an accumulator for each of n iterations.
func newSums(v isa, n int) []VecVirtual {
	s := make([]VecVirtual, n)
	for t := range s {
		s[t] = v.vec()
	}
	return s
}

// addChunk adds to s, or sets it to, the terms of NH for the message halves a and b.
// If mask is not nil, groups outside it add nothing.
func addChunk(v isa, s []VecVirtual, a, b VecVirtual, keys []key, mask Register, set bool) {
	emit(chunk(v, s, a, b, keys, mask, set))
}

// chunk returns the instructions of addChunk. Iterations are computed in pairs, step by
// step, which is never slower than one after the other, and faster on some CPUs.
func chunk(v isa, s []VecVirtual, a, b VecVirtual, keys []key, mask Register, set bool) (code []func()) {
	add := func(instruction func()) { code = append(code, instruction) }
	for t := 0; t < len(s); t += 2 {
		pair := s[t : t+2]
		x, y, even := newSums(v, len(pair)), newSums(v, len(pair)), newSums(v, len(pair))
		for i := range pair {
			k := keys[t+i]
			if mask == nil {
				add(func() { VPADDD(k.lo, a, x[i]) })
			} else {
				// Load whole vectors of the key: what follows it belongs to
				// the key too, and a masked load that misses the cache takes
				// far longer.
				add(func() { VMOVDQU64(k.lo, x[i]) })
				add(func() { VPADDD_Z(x[i], a, mask, x[i]) })
			}
			add(func() { VPADDD(k.hi, b, y[i]) })
		}
		for i := range pair {
			add(func() { VPMULUDQ(y[i], x[i], even[i]) })
		}
		for i := range pair {
			// Two ways to the same words, because Intel's CPUs have one port for
			// each with 512 bits.
			add(func() { VPSHUFD(U8(0xf5), x[i], x[i]) })
			add(func() { VPSRLQ(U8(32), y[i], y[i]) })
		}
		for i := range pair {
			add(func() { VPMULUDQ(y[i], x[i], x[i]) })
		}
		for i, sum := range pair {
			if set {
				add(func() { VPADDQ(x[i], even[i], sum) })
				continue
			}
			// Even and odd first, so that the chain from chunk to chunk has
			// one addition.
			add(func() { VPADDQ(x[i], even[i], even[i]) })
			add(func() { VPADDQ(even[i], sum, sum) })
		}
	}
	return code
}

// reduce returns vectors whose lowest 128 bits are the sums of two iterations each.
func reduce(v isa, s []VecVirtual) (low []VecVirtual) {
	for t := 0; t < len(s); t += 2 {
		a, b := v.vec(), v.vec()
		VPUNPCKLQDQ(s[t+1], s[t], a)
		VPUNPCKHQDQ(s[t+1], s[t], b)
		VPADDQ(b, a, a)
		low = append(low, a)
	}
	for _, x := range low {
		v.fold(x)
	}
	return low
}

// sumsToWords sets words to the sums of all iterations, side by side.
func sumsToWords(v isa, s []VecVirtual, words VecVirtual) {
	sums := reduce(v, s)
	if len(sums) > 1 {
		VINSERTI128(U8(1), sums[1].AsX(), sums[0].AsY(), words)
	} else {
		VMOVDQA(sums[0].AsX(), words)
	}
}
