// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
)

// The field of GHASH, NIST SP 800-38D section 6.3, and polynomials over it.

// An Element of the field is a polynomial in u modulo u^128+u^7+u^2+u+1. Bit i of the lower
// word is the coefficient of u^i, which is bit i of a block as the standard counts them, and
// bit i of the upper word is that of u^(64+i).
type Element struct{ Low, High uint64 }

var One = Element{Low: 1}

// InverseU is u^-1: u times it is 1.
var InverseU = Element{1<<6 | 1<<1 | 1, 1 << 63}

// U returns u^k, for k from 0 to 127.
func U(k int) Element { return Element{1 << k, 1 << uint(k-64)} }

func (e Element) timesU() Element {
	return Element{e.Low<<1 ^ e.High>>63*0x87, e.High<<1 | e.Low>>63}
}

func (e Element) plus(f Element) Element { return Element{e.Low ^ f.Low, e.High ^ f.High} }

// Times is algorithm 1 of section 6.3.
func (e Element) Times(f Element) (z Element) {
	if e.High > f.High || e.High == f.High && e.Low > f.Low {
		e, f = f, e // fewer steps
	}
	for ; e != (Element{}); e = (Element{e.Low>>1 | e.High<<63, e.High >> 1}) {
		if e.Low&1 == 1 {
			z = z.plus(f)
		}
		f = f.timesU()
	}
	return z
}

// inverse is e^(2^128-2).
func (e Element) inverse() Element {
	result := One
	for range 127 {
		e = e.Times(e)
		result = result.Times(e)
	}
	return result
}

// A Polynomial is a sum of monomials with coefficients that are not zero.
type Polynomial map[monomial]Element

// A monomial is a power of H, the hash subkey, times up to two unknowns, of which b is the
// smaller one, or 0 if there is one at most.
type monomial struct{ H, a, b int }

// Add adds c*m.
func (p Polynomial) Add(m monomial, c Element) {
	if c = c.plus(p[m]); c == (Element{}) {
		delete(p, m)
	} else {
		p[m] = c
	}
}

// addTimes adds c*q.
func (p Polynomial) addTimes(q Polynomial, c Element) {
	for m, x := range q {
		p.Add(m, c.Times(x))
	}
}

// An Algebraist finds the polynomial of a word w, whose bits are w_0 to w_63: it is
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
type Algebraist struct {
	*Formulas
	unknowns map[unknown]int
	lows     map[int]bool        // unknowns that are the lower halves of products
	Powers   map[int][2]Word     // what isPower has been called for
	Known    map[Word]Polynomial // what polynomial has returned, or relations between variables
	factors  map[Word]Polynomial // what factor has returned

	// Names are unknowns for polynomials: definitions, by unknown. The pivot of a name is a
	// monomial of its definition, and replaced is what that is, with the name. Pivots in
	// replacedInLong are in short factors too.
	definitions map[int]Polynomial
	replaced    map[monomial]Polynomial
	inverses    map[Element]Element

	replacedInLong map[monomial]Polynomial
}

// An unknown is a word, a byte of it, all its bytes in the reverse order, or a name for it.
type unknown struct {
	Word
	part int
}

const (
	Whole = 8 + iota
	backwards
	named
)

func NewAlgebraist(d *Formulas) *Algebraist {
	return &Algebraist{
		Formulas: d, unknowns: make(map[unknown]int), lows: make(map[int]bool), Powers: make(map[int][2]Word), Known: make(map[Word]Polynomial),
		factors: make(map[Word]Polynomial), definitions: make(map[int]Polynomial), replaced: make(map[monomial]Polynomial),
		replacedInLong: make(map[monomial]Polynomial), inverses: make(map[Element]Element),
	}
}

func (g *Algebraist) Unknown(w Word, part int) monomial {
	key := unknown{w, part}
	if _, ok := g.unknowns[key]; !ok {
		g.unknowns[key] = len(g.unknowns) + 1
	}
	return monomial{a: g.unknowns[key]}
}

// polynomial returns [w].
func (g *Algebraist) polynomial(w Word) Polynomial {
	if p, ok := g.Known[w]; ok {
		return p
	}
	p, x := make(Polynomial), g.Nodes[w]
	switch {
	case x.Op == IsConstant:
		p.Add(monomial{}, Element{Low: bits.Reverse64(x.Number)})
	case x.Op == IsXor && wholeWords(x.Terms, 1<<64-1):
		p.Add(monomial{}, Element{Low: bits.Reverse64(x.Number)})
		for _, t := range x.Terms {
			p.addTimes(g.polynomial(t.Word), One)
		}
	case x.Op == IsBytes:
		g.addBytes(p, x.Terms)
	case x.Op == IsFunction && x.Number == ofCarryless+1:
		low, _ := g.Carryless(x.Terms[0].Word, x.Terms[1].Word)
		m := g.Unknown(low, Whole)
		g.lows[m.a] = true
		p.Add(m, U(64))
		g.addProduct(p, g.factor(x.Terms[0].Word), g.factor(x.Terms[1].Word))
	default:
		m := g.Unknown(w, Whole)
		if x.Op == IsFunction && x.Number == ofCarryless {
			g.lows[m.a] = true
		}
		p.Add(m, One)
	}
	g.Known[w] = p
	return p
}

// wholeWords reports whether a xor is of words with all their bits.
func wholeWords(terms []Atom, all uint64) bool {
	return !slices.ContainsFunc(terms, func(t Atom) bool { return t.At != 0 || t.Coefficient != all })
}

// addProduct adds u*a*b.
func (g *Algebraist) addProduct(p, a, b Polynomial) {
	for m, x := range a {
		x = x.timesU()
		for n, y := range b {
			p.Add(monomial{m.H + n.H, max(m.a, n.a), min(m.a, n.a)}, y.Times(x))
		}
	}
}

// addBytes adds the polynomial of bytes side by side. Those of one word are taken together, if
// they are all there, in order or reversed.
func (g *Algebraist) addBytes(p Polynomial, terms []Atom) {
	type place struct {
		ByteOf
		k int
	}
	var all []place
	for k, t := range terms {
		switch x := &g.Nodes[t.Word]; {
		case x.Op == IsConstant:
			p.Add(monomial{}, U(56-8*k).Times(Element{Low: uint64(bits.Reverse8(byte(x.Number)))}))
		case x.Op == IsXor && x.N == 8 && wholeWords(x.Terms, 0xff):
			p.Add(monomial{}, U(56-8*k).Times(Element{Low: uint64(bits.Reverse8(byte(x.Number)))}))
			for _, t := range x.Terms {
				all = append(all, place{g.ByteAt(t.Word, 0), k})
			}
		default:
			all = append(all, place{ByteOf{t.Word, int8(t.At)}, k})
		}
	}
	// remove removes all bytes of a word, if they are in an order.
	remove := func(w Word, order func(at int) int) bool {
		var found []place
		for at := range 8 {
			found = append(found, place{ByteOf{w, int8(at)}, order(at)})
			if !slices.Contains(all, found[at]) {
				return false
			}
		}
		all = slices.DeleteFunc(all, func(b place) bool { return slices.Contains(found, b) })
		return true
	}
	for len(all) > 0 {
		switch b := all[0]; {
		case g.Nodes[b.Word].N == 64 && remove(b.Word, func(at int) int { return at }):
			p.addTimes(g.polynomial(b.Word), One)
		case g.Nodes[b.Word].N == 64 && remove(b.Word, func(at int) int { return 7 - at }):
			p.Add(g.Unknown(b.Word, backwards), One)
		default:
			p.Add(g.Unknown(b.Word, int(b.At)), U(56-8*b.k))
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
func (g *Algebraist) factor(w Word) Polynomial {
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
		if cmp.Or(cmp.Compare(m.b, pivot.b), cmp.Compare(algebra.Truth(g.lows[m.a]), algebra.Truth(g.lows[pivot.a])), cmp.Compare(m.H, pivot.H), cmp.Compare(m.a, pivot.a)) > 0 {
			pivot = m
		}
	}
	if isLong {
		name := g.Unknown(w, named)
		g.definitions[name.a] = p
		rest := maps.Clone(p)
		delete(rest, pivot)
		rest.Add(name, One)
		replaced[pivot] = make(Polynomial)
		replaced[pivot].addTimes(rest, g.inverse(p[pivot]))
		p = Polynomial{name: One}
	}
	g.factors[w] = p
	return p
}

func (g *Algebraist) inverse(e Element) Element {
	if _, ok := g.inverses[e]; !ok {
		g.inverses[e] = e.inverse()
	}
	return g.inverses[e]
}

// reduced returns p without pivots. What replaces one has no pivots of older names, so this ends.
func reduced(p Polynomial, replaced map[monomial]Polynomial) Polynomial {
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

// Expanded returns p with the definitions of all names, the latest first: a definition has no
// later names. In a product of unknowns only the definitions without products are used.
func (g *Algebraist) Expanded(p Polynomial) Polynomial {
	p = reduced(p, g.replaced)
	plain := make(Polynomial)
	for len(p) > 0 {
		latest := 0
		for m, c := range p {
			name, _ := g.name(m)
			if name == 0 {
				plain.Add(m, c)
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
				n.H += m.H
				if other != 0 {
					n.a, n.b = max(n.a, other), min(n.a, other)
				}
				p.Add(n, x.Times(c))
			}
		}
	}
	return plain
}

// name returns the latest name in a monomial that expanded replaces, or 0, and what else it has.
func (g *Algebraist) name(m monomial) (name, other int) {
	for _, n := range [][2]int{{m.a, m.b}, {m.b, m.a}} {
		p := g.definitions[n[0]]
		if p != nil && (n[1] == 0 || p.isLinear()) {
			return n[0], n[1]
		}
	}
	return 0, 0
}

func (p Polynomial) isLinear() bool {
	for m := range p {
		if m.b != 0 {
			return false
		}
	}
	return true
}

// Block returns the polynomial of a block: its words, when its bytes are reversed.
func (g *Algebraist) Block(low, high Word) Polynomial {
	p := make(Polynomial)
	p.addTimes(g.polynomial(low), U(64))
	p.addTimes(g.polynomial(high), One)
	return p
}

// Reverse returns the words of a block of 16 bytes, whose bytes are reversed.
func (g *Algebraist) Reverse(block []Word) (low, high Word) {
	var b []ByteOf
	for _, w := range block {
		b = append(b, g.ByteAt(w, 0))
	}
	slices.Reverse(b)
	return g.FromBytes(b[:8]), g.FromBytes(b[8:])
}

// IsPower says that the words are T_n.
func (g *Algebraist) IsPower(n int, low, high Word) {
	m := g.Unknown(low, Whole)
	g.Powers[n] = [2]Word{low, high}
	g.Known[low] = Polynomial{m: One}
	g.Known[high] = Polynomial{m: U(64), {H: n}: InverseU}
}

// A Bit of a word, or, as Bit{}, the number 1.
type Bit struct {
	Word
	at int
}

// AddBit adds bit i of a word to a sum modulo 2, which is a set.
func (d *Formulas) AddBit(sum map[Bit]bool, w Word, i int) {
	add := func(b Bit) {
		if sum[b] {
			delete(sum, b)
		} else {
			sum[b] = true
		}
	}
	x := &d.Nodes[w]
	if x.Op == IsConstant || x.Op == IsXor {
		if x.Number>>i&1 == 1 {
			add(Bit{})
		}
	}
	switch {
	case x.Op == IsConstant:
	case x.Op == IsXor:
		for _, t := range x.Terms {
			if t.Coefficient>>i&1 == 1 {
				d.AddBit(sum, t.Word, (i+int(t.At))%64)
			}
		}
	case x.Op == IsBytes:
		t := x.Terms[i/8]
		d.AddBit(sum, t.Word, 8*int(t.At)+i%8)
	case x.Op == IsChoice && d.Nodes[x.Terms[1].Word].Op == IsConstant && d.Nodes[x.Terms[2].Word].Op == IsConstant:
		a, b := d.Nodes[x.Terms[1].Word].Number>>i&1, d.Nodes[x.Terms[2].Word].Number>>i&1
		if a != b {
			d.AddBit(sum, x.Terms[0].Word, 0)
		}
		if b == 1 {
			add(Bit{})
		}
	case x.Op == IsFunction && x.N == 1 && x.Number < OfEqual:
		d.AddBit(sum, x.Terms[0].Word, int(x.Number))
	default:
		add(Bit{w, i})
	}
}
