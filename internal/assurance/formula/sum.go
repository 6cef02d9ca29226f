// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"cmp"
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
	all := make([]Atom, 0, 16)
	for _, m := range multiples {
		if o, _ := d.object(m.Word); o != nil && o.Rounds && m.Coefficient != 1 {
			panic(algebra.Unprovable("the difference of an address that is rounded"))
		}
		switch x := &d.Nodes[m.Word]; {
		case x.Op == IsConstant:
			number += m.Coefficient * x.Number
		case x.Op == isSum && x.N == n:
			number += m.Coefficient * x.Number
			for _, t := range x.Terms {
				all = append(all, Atom{Word: t.Word, Coefficient: m.Coefficient * t.Coefficient})
			}
		default:
			w, shift := d.shifted(m.Word)
			if y := &d.Nodes[w]; shift > 0 && y.Op == isSum && y.N == n {
				number += m.Coefficient * y.Number << shift
				for _, t := range y.Terms {
					all = append(all, Atom{Word: t.Word, Coefficient: m.Coefficient * t.Coefficient << shift})
				}
				continue
			}
			all = append(all, Atom{Word: w, Coefficient: m.Coefficient << shift})
		}
	}
	all = collect(n, all)
	for i, j, both := d.disjoint(n, all); j > 0; i, j, both = d.disjoint(n, all) {
		all = slices.Delete(all, j, j+1)
		all[i].Word = both
		all = collect(n, all)
	}
	number = algebra.Trim(n, number)
	switch {
	case len(all) == 0:
		return d.Constant(n, number)
	case len(all) == 1 && all[0].Coefficient == 1 && number == 0:
		return all[0].Word
	}
	return d.make(node{Op: isSum, N: n, Number: number, Terms: all, Max: d.bound(n, number, all)})
}

// collect adds the coefficients of equal words.
func collect(n int, all []Atom) []Atom {
	slices.SortFunc(all, func(a, b Atom) int { return cmp.Compare(a.Word, b.Word) })
	kept := all[:0]
	for _, t := range all {
		if k := len(kept); k > 0 && kept[k-1].Word == t.Word {
			kept[k-1].Coefficient += t.Coefficient
		} else {
			kept = append(kept, t)
		}
	}
	kept = slices.DeleteFunc(kept, func(t Atom) bool { return algebra.Trim(n, t.Coefficient) == 0 })
	for k := range kept {
		kept[k].Coefficient = algebra.Trim(n, kept[k].Coefficient)
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

// shifted returns w as another word shifted to the left, where it is one.
func (d *Formulas) shifted(w Word) (Word, uint) {
	x := &d.Nodes[w]
	switch {
	case x.Op == IsXor && x.N == 64 && len(x.Terms) == 1 && x.Number == 0:
		t := x.Terms[0]
		by := uint(bits.TrailingZeros64(t.Coefficient))
		if t.Coefficient == ^uint64(0)<<by && t.At == 64-int(by) {
			return t.Word, by // the bits that are not kept are shifted out
		}
		if by > 0 {
			return d.Turn(64, t.Word, t.At+int(by), t.Coefficient>>by), by
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
			if t.Word != rest[0].Word || t.At != k {
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
