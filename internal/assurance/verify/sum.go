// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"math/bits"
	"slices"
)

// A sum is its terms in the order of their words, each word once, without zeros.

func (d *formulas) add(n int, a, b word) word {
	if d.isZero(b) {
		return a
	}
	if d.isZero(a) {
		return b
	}
	return d.sum(n, 0, []atom{{word: a, coefficient: 1}, {word: b, coefficient: 1}})
}

func (d *formulas) sub(n int, a, b word) word {
	if d.isZero(b) {
		return a
	}
	return d.sum(n, 0, []atom{{word: a, coefficient: 1}, {word: b, coefficient: 1<<64 - 1}})
}

// sum returns number plus the multiples of words, modulo 2^n.
func (d *formulas) sum(n int, number uint64, multiples []atom) word {
	var all []atom
	for _, m := range multiples {
		switch x := &d.nodes[m.word]; {
		case x.op == isConstant:
			number += m.coefficient * x.number
		case x.op == isSum && x.n == n:
			number += m.coefficient * x.number
			for _, t := range x.terms {
				all = append(all, atom{word: t.word, coefficient: m.coefficient * t.coefficient})
			}
		default:
			w, shift := d.shifted(m.word)
			if y := &d.nodes[w]; shift > 0 && y.op == isSum && y.n == n {
				number += m.coefficient * y.number << shift
				for _, t := range y.terms {
					all = append(all, atom{word: t.word, coefficient: m.coefficient * t.coefficient << shift})
				}
				continue
			}
			all = append(all, atom{word: w, coefficient: m.coefficient << shift})
		}
	}
	all = d.disjoint(n, collect(n, all))
	number = trim(n, number)
	switch {
	case len(all) == 0:
		return d.constant(n, number)
	case len(all) == 1 && all[0].coefficient == 1 && number == 0:
		return all[0].word
	}
	return d.make(node{op: isSum, n: n, number: number, terms: all, max: d.bound(n, number, all)})
}

// collect adds the coefficients of equal words.
func collect(n int, all []atom) []atom {
	slices.SortFunc(all, func(a, b atom) int { return cmp.Compare(a.word, b.word) })
	kept := all[:0]
	for _, t := range all {
		if k := len(kept); k > 0 && kept[k-1].word == t.word {
			kept[k-1].coefficient += t.coefficient
		} else {
			kept = append(kept, t)
		}
	}
	kept = slices.DeleteFunc(kept, func(t atom) bool { return trim(n, t.coefficient) == 0 })
	for k := range kept {
		kept[k].coefficient = trim(n, kept[k].coefficient)
	}
	return kept
}

// bound returns what a sum is at most: 2^n-1 if it may wrap around.
func (d *formulas) bound(n int, number uint64, all []atom) uint64 {
	limit := trim(n, 1<<64-1)
	total := number
	for _, t := range all {
		high, low := bits.Mul64(t.coefficient, d.nodes[t.word].max)
		sum, carry := bits.Add64(total, low, 0)
		if high != 0 || carry != 0 || sum > limit {
			return limit
		}
		total = sum
	}
	return total
}

// shifted returns w as another word shifted to the left, where it is one.
func (d *formulas) shifted(w word) (word, uint) {
	x := &d.nodes[w]
	switch {
	case x.op == isXor && x.n == 64 && len(x.terms) == 1 && x.number == 0:
		t := x.terms[0]
		by := uint(bits.TrailingZeros64(t.coefficient))
		if t.coefficient == ^uint64(0)<<by && t.at == 64-int(by) {
			return t.word, by // the bits that are not kept are shifted out
		}
		if by > 0 {
			return d.turn(t.word, t.at+int(by), t.coefficient>>by), by
		}
	case x.op == isBytes:
		zeros := 0
		for zeros < len(x.terms) && d.isZero(x.terms[zeros].word) {
			zeros++
		}
		rest := x.terms[zeros:]
		if zeros == 0 || d.nodes[rest[0].word].n != x.n {
			return w, 0
		}
		for k, t := range rest {
			if t.word != rest[0].word || t.at != k {
				return w, 0
			}
		}
		return rest[0].word, uint(8 * zeros)
	}
	return w, 0
}

// product is that of words of 32 bits.
func (d *formulas) product(a, b word) word {
	x, aKnown := d.value(a)
	y, bKnown := d.value(b)
	switch {
	case aKnown && bKnown:
		return d.constant(64, x*y)
	case aKnown:
		return d.sum(64, 0, []atom{{word: d.extend(32, b), coefficient: x}})
	case bKnown:
		return d.sum(64, 0, []atom{{word: d.extend(32, a), coefficient: y}})
	}
	return d.make(node{op: isProduct, n: 64, terms: []atom{{word: min(a, b)}, {word: max(a, b)}}, max: d.nodes[a].max * d.nodes[b].max})
}

// mulLow is a sum of products of halves.
func (d *formulas) mulLow(n int, a, b word) word {
	x, aKnown := d.value(a)
	y, bKnown := d.value(b)
	switch {
	case aKnown && bKnown:
		return d.constant(n, x*y)
	case aKnown:
		return d.sum(n, 0, []atom{{word: b, coefficient: x}})
	case bKnown:
		return d.sum(n, 0, []atom{{word: a, coefficient: y}})
	case n != 64:
		panic(unprovable("a product of other words"))
	}
	low := func(w word) word { return d.extract(w, 0, 32) }
	high := func(w word) word { return d.extract(w, 32, 32) }
	return d.sum(64, 0, []atom{
		{word: d.product(low(a), low(b)), coefficient: 1},
		{word: d.product(low(a), high(b)), coefficient: 1 << 32},
		{word: d.product(high(a), low(b)), coefficient: 1 << 32},
	})
}
