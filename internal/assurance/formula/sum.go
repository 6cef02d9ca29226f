// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"math/bits"
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
)

// A sum is its terms in the order of their words, each word once, without zeros.

func (d *Formulas) Add(n int, a, b Word) Word {
	if d.isZero(b) {
		return a
	}
	if d.isZero(a) {
		return b
	}
	return d.Sum(n, 0, []Atom{{Word: a, Coefficient: 1}, {Word: b, Coefficient: 1}})
}

func (d *Formulas) Sub(n int, a, b Word) Word {
	if d.isZero(b) {
		return a
	}
	return d.Sum(n, 0, []Atom{{Word: a, Coefficient: 1}, {Word: b, Coefficient: 1<<64 - 1}})
}

// Sum returns number plus the multiples of words, modulo 2^n.
func (d *Formulas) Sum(n int, number uint64, multiples []Atom) Word {
	all := d.spare[:0]
	d.spare = nil
	for _, m := range multiples {
		w, by := m.Word, m.Coefficient
		if o, _ := d.object(w); o != nil && o.Rounds && by != 1 {
			panic(algebra.Unprovable("the difference of an address that is rounded"))
		}
		if op := d.Nodes[w].Op; op != IsConstant && op != isSum {
			var shift uint
			w, shift = d.shifted(w)
			by <<= shift
		}
		switch x := &d.Nodes[w]; {
		case x.Op == IsConstant:
			number += by * x.Number
		case x.Op == isSum && x.N == n:
			number += by * x.Number
			all = merge(all, x.Terms, by)
		default:
			all = merge(all, []Atom{{Word: w, Coefficient: 1}}, by)
		}
	}
	all = collect(n, all)
	for i, j, both := d.disjoint(n, all); j > 0; i, j, both = d.disjoint(n, all) {
		t := Atom{Word: both, Coefficient: all[i].Coefficient}
		all = slices.Delete(all, j, j+1)
		all = merge(slices.Delete(all, i, i+1), []Atom{t}, 1)
		all = collect(n, all)
	}
	d.spare = all // make copies the terms
	number = algebra.Trim(n, number)
	switch {
	case len(all) == 0:
		return d.Constant(n, number)
	case len(all) == 1 && all[0].Coefficient == 1 && number == 0:
		return all[0].Word
	}
	return d.make(node{Op: isSum, N: n, Number: number, Terms: all, Max: d.bound(n, number, all)})
}

// merge puts multiples of terms among all. Both are in the order of their words.
func merge(all, terms []Atom, by uint64) []Atom {
	i, j := len(all)-1, len(terms)-1
	all = slices.Grow(all, len(terms))[:len(all)+len(terms)]
	for k := len(all) - 1; j >= 0; k-- {
		if t := terms[j]; i < 0 || all[i].Word <= t.Word {
			all[k] = Atom{Word: t.Word, Coefficient: by * t.Coefficient}
			j--
		} else {
			all[k] = all[i]
			i--
		}
	}
	return all
}

// collect adds the coefficients of equal words, which are side by side.
func collect(n int, all []Atom) []Atom {
	kept := all[:0]
	for _, t := range all {
		if k := len(kept); k > 0 && kept[k-1].Word == t.Word {
			t.Coefficient += kept[k-1].Coefficient
			kept = kept[:k-1]
		}
		if t.Coefficient = algebra.Trim(n, t.Coefficient); t.Coefficient != 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// bound returns what a sum is at most: 2^n-1 if it may wrap around.
func (d *Formulas) bound(n int, number uint64, all []Atom) uint64 {
	limit := algebra.Trim(n, 1<<64-1)
	total := number
	for _, t := range all {
		high, low := bits.Mul64(t.Coefficient, d.Nodes[t.Word].Max)
		sum, carry := bits.Add64(total, low, 0)
		if high != 0 || carry != 0 || sum > limit {
			return limit
		}
		total = sum
	}
	return total
}

// Least returns what a word is at least: the addend of a sum that does not wrap around.
func (d *Formulas) Least(w Word) uint64 {
	switch x := &d.Nodes[w]; {
	case x.Op == IsConstant, x.Op == isSum && x.Max < algebra.Trim(x.N, 1<<64-1):
		return x.Number
	}
	return 0
}

// divided returns w, shifted to the right, if it is a sum of multiples of 2^by that does not wrap around.
func (d *Formulas) divided(n int, w Word, by uint) (Word, bool) {
	x := &d.Nodes[w]
	isMultiple := func(y uint64) bool { return y%(1<<by) == 0 }
	if x.Op != isSum || x.Max == algebra.Trim(n, 1<<64-1) || !isMultiple(x.Number) {
		return 0, false
	}
	terms := slices.Clone(x.Terms)
	for k := range terms {
		if !isMultiple(terms[k].Coefficient) {
			return 0, false
		}
		terms[k].Coefficient >>= by
	}
	return d.Sum(n, x.Number>>by, terms), true
}

// zeros returns how many of the lowest bits of a word are those of the addend of a sum, or 0.
func (d *Formulas) zeros(w Word) int {
	x := &d.Nodes[w]
	if x.Op != isSum {
		return 0
	}
	all := uint64(0)
	for _, t := range x.Terms {
		all |= t.Coefficient
	}
	return bits.TrailingZeros64(all)
}

// shifted returns w as another word shifted to the left, where it is one.
func (d *Formulas) shifted(w Word) (Word, uint) {
	x := &d.Nodes[w]
	switch {
	case x.Op == IsXor && x.N == 64 && len(x.Terms) == 1 && x.Number == 0:
		t := x.Terms[0]
		by := uint(bits.TrailingZeros64(t.Coefficient))
		if t.Coefficient == ^uint64(0)<<by && int(t.At) == 64-int(by) {
			return t.Word, by // the bits that are not kept are shifted out
		}
		if by > 0 {
			return d.Turn(64, t.Word, int(t.At)+int(by), t.Coefficient>>by), by
		}
	case x.Op == IsBytes:
		zeros := 0
		for zeros < len(x.Terms) && d.isZero(x.Terms[zeros].Word) {
			zeros++
		}
		rest := x.Terms[zeros:]
		if zeros == 0 || d.Nodes[rest[0].Word].N != x.N {
			return w, 0
		}
		for k, t := range rest {
			if t.Word != rest[0].Word || int(t.At) != k {
				return w, 0
			}
		}
		return rest[0].Word, uint(8 * zeros)
	}
	return w, 0
}

// Product is that of words of 32 bits.
func (d *Formulas) Product(a, b Word) Word {
	x, aKnown := d.Value(a)
	y, bKnown := d.Value(b)
	switch {
	case aKnown && bKnown:
		return d.Constant(64, x*y)
	case aKnown:
		return d.Sum(64, 0, []Atom{{Word: d.Extend(32, b), Coefficient: x}})
	case bKnown:
		return d.Sum(64, 0, []Atom{{Word: d.Extend(32, a), Coefficient: y}})
	}
	return d.make(node{Op: isProduct, N: 64, Terms: []Atom{{Word: min(a, b)}, {Word: max(a, b)}}, Max: d.Nodes[a].Max * d.Nodes[b].Max})
}

// MulLow is a sum of products of halves.
func (d *Formulas) MulLow(n int, a, b Word) Word {
	x, aKnown := d.Value(a)
	y, bKnown := d.Value(b)
	switch {
	case aKnown && bKnown:
		return d.Constant(n, x*y)
	case aKnown:
		return d.Sum(n, 0, []Atom{{Word: b, Coefficient: x}})
	case bKnown:
		return d.Sum(n, 0, []Atom{{Word: a, Coefficient: y}})
	case n == 32:
		return d.Extract(d.Product(a, b), 0, 32)
	case n != 64:
		panic(algebra.Unprovable("a product of other words"))
	}
	low := func(w Word) Word { return d.Extract(w, 0, 32) }
	high := func(w Word) Word { return d.Extract(w, 32, 32) }
	return d.Sum(64, 0, []Atom{
		{Word: d.Product(low(a), low(b)), Coefficient: 1},
		{Word: d.Product(low(a), high(b)), Coefficient: 1 << 32},
		{Word: d.Product(high(a), low(b)), Coefficient: 1 << 32},
	})
}
