// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// The field of GHASH, NIST SP 800-38D section 6.3, and polynomials over it.

// An element of the field is a polynomial in u modulo u^128+u^7+u^2+u+1. Bit i of the lower
// word is the coefficient of u^i, which is bit i of a block as the standard counts them, and
// bit i of the upper word is that of u^(64+i).
type element struct{ low, high uint64 }

var one = element{low: 1}

// inverseU is u^-1: u times it is 1.
var inverseU = element{1<<6 | 1<<1 | 1, 1 << 63}

// u returns u^k, for k from 0 to 127.
func u(k int) element { return element{1 << k, 1 << uint(k-64)} }

func (e element) timesU() element {
	return element{e.low<<1 ^ e.high>>63*0x87, e.high<<1 | e.low>>63}
}

func (e element) plus(f element) element { return element{e.low ^ f.low, e.high ^ f.high} }

// times is algorithm 1 of section 6.3.
func (e element) times(f element) (z element) {
	if e.high > f.high || e.high == f.high && e.low > f.low {
		e, f = f, e // fewer steps
	}
	for ; e != (element{}); e = (element{e.low>>1 | e.high<<63, e.high >> 1}) {
		if e.low&1 == 1 {
			z = z.plus(f)
		}
		f = f.timesU()
	}
	return z
}

// inverse is e^(2^128-2).
func (e element) inverse() element {
	result := one
	for range 127 {
		e = e.times(e)
		result = result.times(e)
	}
	return result
}

// A polynomial is a sum of monomials with coefficients that are not zero.
type polynomial map[monomial]element

// A monomial is a power of H, the hash subkey, times up to two unknowns, of which b is the
// smaller one, or 0 if there is one at most.
type monomial struct{ h, a, b int }

// add adds c*m.
func (p polynomial) add(m monomial, c element) {
	if c = c.plus(p[m]); c == (element{}) {
		delete(p, m)
	} else {
		p[m] = c
	}
}

// addTimes adds c*q.
func (p polynomial) addTimes(q polynomial, c element) {
	for m, x := range q {
		p.add(m, c.times(x))
	}
}

// An algebraist finds the polynomial of a word w, whose bits are w_0 to w_63: it is
//
//	[w] = w_0*u^63 + w_1*u^62 + ... + w_63
//
// in the field. A block of GHASH whose bytes are reversed is two words, low and high, and it
// is u^64*[low] + [high]. This defines [w], so an equation of polynomials is one of words, and
// two words with the same polynomial are equal.
//
//	[v xor w] = [v] + [w]
//	[v]*[w] = u^63*[low] + u^-1*[high]    low and high are the carry-less product of v and w
//
// because bit k of that product is the coefficient of u^(126-k) in [v]*[w]. So [high] is
// u*[v]*[w] + u^64*[low]. Of [low] nothing is known: it is an unknown. In the end it cancels out.
type algebraist struct {
	*formulas
	unknowns map[unknown]int
	lows     map[int]bool        // unknowns that are the lower halves of products
	powers   map[int][2]word     // what isPower has been called for
	known    map[word]polynomial // what polynomial has returned, or relations between variables
	factors  map[word]polynomial // what factor has returned

	// Names are unknowns for polynomials: definitions, by unknown. The pivot of a name is a
	// monomial of its definition, and replaced is what that is, with the name. Pivots in
	// replacedInLong are in short factors too.
	definitions map[int]polynomial
	replaced    map[monomial]polynomial
	inverses    map[element]element

	replacedInLong map[monomial]polynomial
}

// An unknown is a word, a byte of it, all its bytes in the reverse order, or a name for it.
type unknown struct {
	word
	part int
}

const (
	whole = 8 + iota
	backwards
	named
)

func newAlgebraist(d *formulas) *algebraist {
	return &algebraist{
		formulas: d, unknowns: make(map[unknown]int), lows: make(map[int]bool), powers: make(map[int][2]word), known: make(map[word]polynomial),
		factors: make(map[word]polynomial), definitions: make(map[int]polynomial), replaced: make(map[monomial]polynomial),
		replacedInLong: make(map[monomial]polynomial), inverses: make(map[element]element),
	}
}

func (g *algebraist) unknown(w word, part int) monomial {
	key := unknown{w, part}
	if _, ok := g.unknowns[key]; !ok {
		g.unknowns[key] = len(g.unknowns) + 1
	}
	return monomial{a: g.unknowns[key]}
}

// polynomial returns [w].
func (g *algebraist) polynomial(w word) polynomial {
	if p, ok := g.known[w]; ok {
		return p
	}
	p, x := make(polynomial), g.nodes[w]
	switch {
	case x.op == isConstant:
		p.add(monomial{}, element{low: bits.Reverse64(x.number)})
	case x.op == isXor && wholeWords(x.terms, 1<<64-1):
		p.add(monomial{}, element{low: bits.Reverse64(x.number)})
		for _, t := range x.terms {
			p.addTimes(g.polynomial(t.word), one)
		}
	case x.op == isBytes:
		g.addBytes(p, x.terms)
	case x.op == isFunction && x.number == ofCarryless+1:
		low, _ := g.carryless(x.terms[0].word, x.terms[1].word)
		m := g.unknown(low, whole)
		g.lows[m.a] = true
		p.add(m, u(64))
		g.addProduct(p, g.factor(x.terms[0].word), g.factor(x.terms[1].word))
	default:
		m := g.unknown(w, whole)
		if x.op == isFunction && x.number == ofCarryless {
			g.lows[m.a] = true
		}
		p.add(m, one)
	}
	g.known[w] = p
	return p
}

// wholeWords reports whether a xor is of words with all their bits.
func wholeWords(terms []atom, all uint64) bool {
	return !slices.ContainsFunc(terms, func(t atom) bool { return t.at != 0 || t.coefficient != all })
}

// addProduct adds u*a*b.
func (g *algebraist) addProduct(p, a, b polynomial) {
	for m, x := range a {
		x = x.timesU()
		for n, y := range b {
			p.add(monomial{m.h + n.h, max(m.a, n.a), min(m.a, n.a)}, y.times(x))
		}
	}
}

// addBytes adds the polynomial of bytes side by side. Those of one word are taken together, if
// they are all there, in order or reversed.
func (g *algebraist) addBytes(p polynomial, terms []atom) {
	type place struct {
		byteOf
		k int
	}
	var all []place
	for k, t := range terms {
		switch x := &g.nodes[t.word]; {
		case x.op == isConstant:
			p.add(monomial{}, u(56-8*k).times(element{low: uint64(bits.Reverse8(byte(x.number)))}))
		case x.op == isXor && x.n == 8 && wholeWords(x.terms, 0xff):
			p.add(monomial{}, u(56-8*k).times(element{low: uint64(bits.Reverse8(byte(x.number)))}))
			for _, t := range x.terms {
				all = append(all, place{g.byteAt(t.word, 0), k})
			}
		default:
			all = append(all, place{byteOf{t.word, int8(t.at)}, k})
		}
	}
	// remove removes all bytes of a word, if they are in an order.
	remove := func(w word, order func(at int) int) bool {
		var found []place
		for at := range 8 {
			found = append(found, place{byteOf{w, int8(at)}, order(at)})
			if !slices.Contains(all, found[at]) {
				return false
			}
		}
		all = slices.DeleteFunc(all, func(b place) bool { return slices.Contains(found, b) })
		return true
	}
	for len(all) > 0 {
		switch b := all[0]; {
		case g.nodes[b.word].n == 64 && remove(b.word, func(at int) int { return at }):
			p.addTimes(g.polynomial(b.word), one)
		case g.nodes[b.word].n == 64 && remove(b.word, func(at int) int { return 7 - at }):
			p.add(g.unknown(b.word, backwards), one)
		default:
			p.add(g.unknown(b.word, int(b.at)), u(56-8*b.k))
			all = all[1:]
		}
	}
}

// maxFactor is the number of monomials of a polynomial from which on it gets a name.
const maxFactor = 40

// factor returns [w] for a product. If that has products or lower halves of products, or is
// long, its value is given a name, which is a new unknown. It can be the higher word of a block
// of which the lower one has a name. Its polynomial is short if it is written with that name,
// since the unknowns in both words cancel out. So the pivots of names are eliminated, as in a
// system of linear equations.
func (g *algebraist) factor(w word) polynomial {
	if p, ok := g.factors[w]; ok {
		return p
	}
	p, replaced := reduced(g.polynomial(w), g.replaced), g.replaced
	if len(p) > maxFactor {
		p, replaced = reduced(p, g.replacedInLong), g.replacedInLong
	}
	isLong := len(p) > maxFactor
	var pivot monomial
	for m := range p {
		if m.b != 0 || g.lows[m.a] {
			isLong, replaced = true, g.replaced
		}
		if cmp.Or(cmp.Compare(m.b, pivot.b), cmp.Compare(truth(g.lows[m.a]), truth(g.lows[pivot.a])), cmp.Compare(m.h, pivot.h), cmp.Compare(m.a, pivot.a)) > 0 {
			pivot = m
		}
	}
	if isLong {
		name := g.unknown(w, named)
		g.definitions[name.a] = p
		rest := maps.Clone(p)
		delete(rest, pivot)
		rest.add(name, one)
		replaced[pivot] = make(polynomial)
		replaced[pivot].addTimes(rest, g.inverse(p[pivot]))
		p = polynomial{name: one}
	}
	g.factors[w] = p
	return p
}

func (g *algebraist) inverse(e element) element {
	if _, ok := g.inverses[e]; !ok {
		g.inverses[e] = e.inverse()
	}
	return g.inverses[e]
}

// reduced returns p without pivots. What replaces one has no pivots of older names, so this ends.
func reduced(p polynomial, replaced map[monomial]polynomial) polynomial {
	p = maps.Clone(p)
	for found := true; found; {
		found = false
		for m, c := range p {
			if q := replaced[m]; q != nil {
				delete(p, m)
				p.addTimes(q, c)
				found = true
			}
		}
	}
	return p
}

// expanded returns p with the definitions of all names, the latest first: a definition has no
// later names. In a product of unknowns only the definitions without products are used.
func (g *algebraist) expanded(p polynomial) polynomial {
	p = reduced(p, g.replaced)
	plain := make(polynomial)
	for len(p) > 0 {
		latest := 0
		for m, c := range p {
			name, _ := g.name(m)
			if name == 0 {
				plain.add(m, c)
				delete(p, m)
			}
			latest = max(latest, name)
		}
		for m, c := range p {
			name, other := g.name(m)
			if name != latest {
				continue
			}
			delete(p, m)
			for n, x := range g.definitions[name] {
				n.h += m.h
				if other != 0 {
					n.a, n.b = max(n.a, other), min(n.a, other)
				}
				p.add(n, x.times(c))
			}
		}
	}
	return plain
}

// name returns the latest name in a monomial that expanded replaces, or 0, and what else it has.
func (g *algebraist) name(m monomial) (name, other int) {
	for _, n := range [][2]int{{m.a, m.b}, {m.b, m.a}} {
		p := g.definitions[n[0]]
		if p != nil && (n[1] == 0 || p.isLinear()) {
			return n[0], n[1]
		}
	}
	return 0, 0
}

func (p polynomial) isLinear() bool {
	for m := range p {
		if m.b != 0 {
			return false
		}
	}
	return true
}

// block returns the polynomial of a block: its words, when its bytes are reversed.
func (g *algebraist) block(low, high word) polynomial {
	p := make(polynomial)
	p.addTimes(g.polynomial(low), u(64))
	p.addTimes(g.polynomial(high), one)
	return p
}

// reverse returns the words of a block of 16 bytes, whose bytes are reversed.
func (g *algebraist) reverse(block []word) (low, high word) {
	var b []byteOf
	for _, w := range block {
		b = append(b, g.byteAt(w, 0))
	}
	slices.Reverse(b)
	return g.fromBytes(b[:8]), g.fromBytes(b[8:])
}
