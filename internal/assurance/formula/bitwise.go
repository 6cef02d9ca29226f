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

// A xor is its terms in the order of their words and rotations. Each is a word, rotated to the
// right and then masked.

func (d *Formulas) Xor(n int, a, b Word) Word {
	if d.isZero(a) {
		return b
	}
	if d.isZero(b) {
		return a
	}
	if _, ok := d.Value(a); ok {
		a, b = b, a
	}
	if x, ok := d.Value(b); ok && n == 64 && x == 1<<63 {
		if _, ok := d.Value(d.ByteAt(a, 7).Word); !ok {
			return d.Add(n, a, b) // the carry is lost
		}
	}
	if x, ok := d.halves(a); ok {
		if y, ok := d.halves(b); ok {
			return d.join(d.Xor(32, x[0], y[0]), d.Xor(32, x[1], y[1]))
		}
	}
	if x, ok := d.halves(a); ok {
		shifted := func(half Word) bool { return d.Nodes[half].Op == IsXor }
		if y, ok := d.halves(b); ok && slices.ContainsFunc(append(x[:], y[:]...), shifted) {
			return d.join(d.Xor(32, x[0], y[0]), d.Xor(32, x[1], y[1]))
		}
	}
	if n > 8 && (d.Nodes[a].Op == IsBytes || d.Nodes[b].Op == IsBytes) {
		x, y := d.Bytes(a, n), d.Bytes(b, n)
		for k := range x {
			x[k] = d.ByteAt(d.Xor(8, d.FromBytes(x[k:][:1]), d.FromBytes(y[k:][:1])), 0)
		}
		return d.FromBytes(x)
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a ^ b }, a, b); ok {
		return t
	}
	return d.xorTerms(n, d.terms(b, d.terms(a, make([]Atom, 0, 16))), d.addend(a)^d.addend(b))
}

// terms appends a word as the terms of a xor.
func (d *Formulas) terms(w Word, to []Atom) []Atom {
	switch x := &d.Nodes[w]; x.Op {
	case IsConstant:
		return to
	case IsXor:
		return append(to, x.Terms...)
	}
	return append(to, Atom{Word: w, Coefficient: algebra.Trim(d.Nodes[w].N, 1<<64-1)})
}

// addend returns the constant in a xor.
func (d *Formulas) addend(w Word) uint64 {
	if x := &d.Nodes[w]; x.Op == IsConstant || x.Op == IsXor {
		return x.Number
	}
	return 0
}

func (d *Formulas) xorTerms(n int, all []Atom, number uint64) Word {
	slices.SortFunc(all, func(a, b Atom) int { return cmp.Or(cmp.Compare(a.Word, b.Word), cmp.Compare(a.At, b.At)) })
	kept := all[:0]
	for _, t := range all {
		if k := len(kept); k > 0 && kept[k-1].Word == t.Word && kept[k-1].At == t.At {
			kept[k-1].Coefficient ^= t.Coefficient
		} else {
			kept = append(kept, t)
		}
	}
	kept = slices.DeleteFunc(kept, func(t Atom) bool { return t.Coefficient == 0 })
	if len(kept) == 1 && kept[0].At == 0 && number == 0 && kept[0].Coefficient == algebra.Trim(n, 1<<64-1) {
		return kept[0].Word
	}
	if len(kept) == 0 {
		return d.Constant(n, number)
	}
	return d.make(node{Op: IsXor, N: n, Number: number, Terms: kept, Max: d.xorBound(n, number, kept)})
}

// xorBound returns what a xor is at most: all bits that can be ones.
func (d *Formulas) xorBound(n int, number uint64, terms []Atom) uint64 {
	ones := number
	for _, t := range terms {
		possible := uint64(1)<<bits.Len64(d.Nodes[t.Word].Max) - 1
		ones |= rotated(n, possible, int(t.At)) & t.Coefficient
	}
	return ones
}

// ones returns all bits of a word that can be ones.
func (d *Formulas) ones(w Word) uint64 {
	x := &d.Nodes[w]
	if x.Op == IsXor {
		return d.xorBound(x.N, x.Number, x.Terms)
	}
	return uint64(1)<<bits.Len64(x.Max) - 1
}

// rotated returns the number x of n bits rotated to the right.
func rotated(n int, x uint64, by int) uint64 { return (*algebra.Numbers)(nil).Rotate(n, x, uint(by)) }

// Turn returns w, of n bits, rotated to the right and then masked.
func (d *Formulas) Turn(n int, w Word, by int, mask uint64) Word {
	if x, ok := d.Value(w); ok {
		return d.Constant(n, rotated(n, x, by)&mask)
	}
	terms := d.terms(w, make([]Atom, 0, 16))
	for k, t := range terms {
		terms[k].At = int32((int(t.At) + by) % n)
		terms[k].Coefficient = rotated(n, t.Coefficient, by) & mask
	}
	return d.xorTerms(n, terms, rotated(n, d.addend(w), by)&mask)
}

func (d *Formulas) Rotate(n int, a Word, by uint) Word {
	return d.Turn(n, a, int(by)%n, algebra.Trim(n, 1<<64-1))
}

func (d *Formulas) Left(n int, a Word, by uint) Word {
	if x, ok := d.Value(a); ok {
		return d.Constant(n, x<<by)
	}
	switch {
	case by == 0:
		return a
	case by%8 == 0 && d.Nodes[a].Op != IsXor:
		b := d.Bytes(a, n)
		for k := len(b) - 1; k >= 0; k-- {
			if k >= int(by/8) {
				b[k] = b[k-int(by/8)]
			} else {
				b[k] = ByteOf{d.Constant(8, 0), 0}
			}
		}
		return d.FromBytes(b)
	}
	return d.Turn(n, a, n-int(by), algebra.Trim(n, ^uint64(0)<<by))
}

func (d *Formulas) Right(n int, a Word, by uint) Word {
	if x, ok := d.Value(a); ok {
		return d.Constant(n, x>>by)
	}
	if w, ok := d.divided(n, a, by); ok {
		return w
	}
	switch {
	case by == 0:
		return a
	case by%8 == 0 && d.Nodes[a].Op != IsXor:
		b := d.Bytes(a, n)
		for k := range b {
			if k+int(by/8) < len(b) {
				b[k] = b[k+int(by/8)]
			} else {
				b[k] = ByteOf{d.Constant(8, 0), 0}
			}
		}
		return d.FromBytes(b)
	}
	if x, ok := d.halves(a); ok && by < 32 {
		return d.join(d.Xor(32, d.Right(32, x[0], by), d.Left(32, x[1], 32-by)), d.Right(32, x[1], by))
	}
	return d.Turn(n, a, int(by), algebra.Trim(n-int(by), 1<<64-1))
}

// halves returns the lower and the upper half of a word of 64 bits, if that is two words of 32 bits: see Pairs.
func (d *Formulas) halves(a Word) (halves [2]Word, ok bool) {
	if x := &d.Nodes[a]; !d.Pairs || x.Op != IsBytes || x.N != 64 {
		return halves, false
	}
	for k := range halves {
		halves[k] = d.FromBytes(d.Bytes(a, 64)[4*k:][:4])
		if d.Nodes[halves[k]].Op == IsBytes {
			return halves, false
		}
	}
	return halves, true
}

// join returns the word of 64 bits that has these halves.
func (d *Formulas) join(low, high Word) Word {
	return d.FromBytes(append(d.Bytes(low, 32), d.Bytes(high, 32)...))
}

func (d *Formulas) RightSigned(n int, a Word, by uint) Word {
	if int(by) == n-1 {
		return d.Choose(n, d.Extract(a, n-1, 1), d.Constant(n, 1<<64-1), d.Constant(n, 0))
	}
	return d.Constant(n, (*algebra.Numbers)(nil).RightSigned(n, d.MustValue(a, "a signed shift"), by))
}

func (d *Formulas) LeftBy(n int, a, by Word) Word {
	return d.Left(n, a, uint(d.MustValue(by, "a count")))
}

func (d *Formulas) RightBy(n int, a, by Word) Word {
	return d.Right(n, a, uint(d.MustValue(by, "a count")))
}

func (d *Formulas) LowBits(n int, a, count Word) Word {
	return d.And(n, a, d.Constant(n, 1<<d.MustValue(count, "a count")-1))
}

func (d *Formulas) And(n int, a, b Word) Word {
	if _, ok := d.Value(a); ok {
		a, b = b, a
	}
	if mask, ok := d.Value(b); ok {
		if x, ok := d.Value(a); ok {
			return d.Constant(n, x&mask)
		}
		if w, ok := d.rounded(a, mask); ok {
			return w
		}
		return d.Masked(n, a, mask)
	}
	if x, ok := d.halves(a); ok {
		if y, ok := d.halves(b); ok {
			return d.join(d.And(32, x[0], y[0]), d.And(32, x[1], y[1]))
		}
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a & b }, a, b); ok {
		return t
	}
	panic(algebra.Unprovable("and"))
}

// Masked is the bits of a that mask has.
func (d *Formulas) Masked(n int, a Word, mask uint64) Word {
	whole := true // bytes
	for k := 0; k < n; k += 8 {
		part := byte(mask >> k)
		whole = whole && (part == 0 || part == 0xff)
	}
	switch {
	case mask == algebra.Trim(n, 1<<64-1):
		return a
	case mask < 1<<d.zeros(a):
		return d.Constant(n, d.Nodes[a].Number&mask)
	case whole && n >= 8 && d.Nodes[a].Op != IsXor:
		b := d.Bytes(a, n)
		for k := range b {
			if byte(mask>>(8*k)) == 0 {
				b[k] = ByteOf{d.Constant(8, 0), 0}
			}
		}
		return d.FromBytes(b)
	case n > 8 && d.Nodes[a].Op == IsBytes:
		b := d.Bytes(a, n)
		for k := range b {
			b[k] = d.ByteAt(d.Masked(8, d.FromBytes(b[k:][:1]), mask>>(8*k)&0xff), 0)
		}
		return d.FromBytes(b)
	case n != 64 && n != 8:
		panic(algebra.Unprovable("some bits of a word"))
	}
	if x, ok := d.Value(a); ok {
		return d.Constant(n, x&mask)
	}
	terms := d.terms(a, make([]Atom, 0, 16))
	for k := range terms {
		terms[k].Coefficient &= mask
	}
	return d.xorTerms(n, terms, d.addend(a)&mask)
}

func (d *Formulas) Or(n int, a, b Word) Word {
	if d.isZero(a) {
		return b
	}
	if d.isZero(b) {
		return a
	}
	x, aKnown := d.Value(a)
	y, bKnown := d.Value(b)
	if aKnown && bKnown || n == 1 && (aKnown || bKnown) { // one that is known is 1
		return d.Constant(n, x|y|algebra.Truth(n == 1))
	}
	if n > 8 {
		// Bytes of which one is zero, or both are equal.
		p, q := d.Bytes(a, n), d.Bytes(b, n)
		simple := true
		for k := range p {
			if d.isZero(p[k].Word) {
				p[k] = q[k]
			} else {
				simple = simple && (p[k] == q[k] || d.isZero(q[k].Word))
			}
		}
		if simple {
			return d.FromBytes(p)
		}
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a | b }, a, b); ok {
		return t
	}
	if d.ones(a)&d.ones(b) == 0 {
		return d.Xor(n, a, b)
	}
	panic(algebra.Unprovable("or"))
}

func (d *Formulas) Ternary(n int, table uint64, a, b, c Word) Word {
	if t, ok := d.table(n, func(a, b, c uint64) uint64 { return (*algebra.Numbers)(nil).Ternary(8, table, a, b, c) }, a, b, c); ok {
		return t
	}
	if table == 0x96 {
		return d.Xor(n, d.Xor(n, a, b), c)
	}
	panic(algebra.Unprovable("a function of bits"))
}

// rows are the columns of a truth table with three arguments.
var rows = [3]uint64{0xf0, 0xcc, 0xaa}

// table returns a function of the bits of words, if it is one of the bits of three words at
// most. Xors, as far as they are of whole words, and tables are taken apart. A word that is rotated is a word.
func (d *Formulas) table(n int, f func(a, b, c uint64) uint64, words ...Word) (Word, bool) {
	if n != 64 && n != 32 {
		return 0, false
	}
	ones := algebra.Trim(n, 1<<64-1)
	atoms := make([]Word, 0, 16)
	for _, w := range words {
		x := &d.Nodes[w]
		switch {
		case x.Op == IsBytes:
			return 0, false
		case x.Op == isTable:
			for _, t := range x.Terms {
				atoms = append(atoms, t.Word)
			}
		case x.Op == IsXor && len(x.Terms) == 1 && x.Number == 0 && x.Terms[0].Coefficient == ones:
			atoms = append(atoms, w) // a word that is rotated
		case x.Op == IsXor:
			for _, t := range x.Terms {
				if t.At != 0 || t.Coefficient != ones {
					return 0, false
				}
				atoms = append(atoms, t.Word)
			}
			if x.Number != 0 && x.Number != ones {
				return 0, false
			}
		case x.Op == IsConstant:
			if x.Number != 0 && x.Number != ones {
				return 0, false
			}
		default:
			atoms = append(atoms, w)
		}
	}
	slices.Sort(atoms)
	atoms = slices.Compact(atoms)
	if len(atoms) > 3 {
		return 0, false
	}
	arguments := [3]uint64{}
	for k, w := range words {
		arguments[k] = d.column(w, atoms)
	}
	return d.fromTable(n, f(arguments[0], arguments[1], arguments[2])&0xff, atoms), true
}

// column returns the truth table of a word, as a function of atoms.
func (d *Formulas) column(w Word, atoms []Word) (table uint64) {
	if k := slices.Index(atoms, w); k >= 0 {
		return rows[k]
	}
	x := &d.Nodes[w]
	switch x.Op {
	case IsXor:
		table = x.Number & 0xff
		for _, t := range x.Terms {
			table ^= rows[slices.Index(atoms, t.Word)]
		}
	case IsConstant:
		table = x.Number & 0xff
	case isTable:
		var own [3]uint64
		for k, t := range x.Terms {
			own[k] = rows[slices.Index(atoms, t.Word)]
		}
		table = (*algebra.Numbers)(nil).Ternary(8, x.Number, own[0], own[1], own[2])
	}
	return table
}

// fromTable returns a function of the bits of atoms, of n bits each. It is a xor if it can be one.
func (d *Formulas) fromTable(n int, table uint64, atoms []Word) Word {
	ones := algebra.Trim(n, 1<<64-1)
	for number := range uint64(2) {
		for set := range 8 {
			linear, terms := -number&0xff, []Atom(nil)
			for k := range 3 {
				if set>>k&1 == 1 {
					linear ^= rows[k]
					if k < len(atoms) {
						terms = d.terms(atoms[k], terms)
					}
				}
			}
			if linear == table && bits.Len(uint(set)) <= len(atoms) {
				return d.xorTerms(n, terms, -number&ones)
			}
		}
	}
	terms := make([]Atom, 0, 4)
	for _, a := range atoms {
		terms = append(terms, Atom{Word: a})
	}
	return d.make(node{Op: isTable, N: n, Number: table, Terms: terms})
}

// disjoint finds functions of bits in a sum that never have a bit in common, and returns their xor, which
// replaces both: term i, and j, which is 0 if there are none.
func (d *Formulas) disjoint(n int, all []Atom) (i, j int, both Word) {
	// A sum can have hundreds of functions. Those with the same coefficient are in a list, among few others.
	var first [64]int32 // of the terms after k: the index after that of the first one in a list
	d.later = slices.Grow(d.later[:0], len(all))[:len(all)]
	for k := len(all) - 1; k >= 0; k-- {
		a := all[k]
		if d.Nodes[a.Word].Op != isTable {
			continue
		}
		list := &first[a.Coefficient*0x9e3779b97f4a7c15>>58]
		for next := *list; next > 0; next = d.later[next-1] {
			if b := all[next-1]; b.Coefficient == a.Coefficient && d.exclude(a.Word, b.Word) {
				i, j = k, int(next-1)
				break
			}
		}
		d.later[k], *list = *list, int32(k+1)
	}
	if j > 0 {
		both = d.Xor(n, all[i].Word, all[j].Word)
	}
	return i, j, both
}

// exclude reports whether two functions of the bits of three words at most never have a bit in common.
func (d *Formulas) exclude(a, b Word) bool {
	atoms := make([]Word, 0, 8)
	for _, t := range d.Nodes[a].Terms {
		atoms = append(atoms, t.Word)
	}
	for _, t := range d.Nodes[b].Terms {
		if !slices.Contains(atoms, t.Word) {
			atoms = append(atoms, t.Word)
		}
	}
	return len(atoms) <= len(rows) && d.column(a, atoms)&d.column(b, atoms) == 0
}
