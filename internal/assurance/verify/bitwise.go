// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"cmp"
	"math/bits"
	"slices"
)

// A xor is its terms in the order of their words and rotations. Each is a word, rotated to the
// right and then masked.

func (d *formulas) xor(n int, a, b word) word {
	if d.isZero(a) {
		return b
	}
	if d.isZero(b) {
		return a
	}
	if _, ok := d.value(a); ok {
		a, b = b, a
	}
	if x, ok := d.value(b); ok && n == 64 && x == 1<<63 {
		return d.add(n, a, b) // the carry is lost
	}
	if n > 8 && (d.nodes[a].op == isBytes || d.nodes[b].op == isBytes) {
		x, y := d.bytes(a, n), d.bytes(b, n)
		for k := range x {
			x[k] = d.byteAt(d.xor(8, d.fromBytes(x[k:][:1]), d.fromBytes(y[k:][:1])), 0)
		}
		return d.fromBytes(x)
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a ^ b }, a, b); ok {
		return t
	}
	return d.xorTerms(n, append(d.terms(a), d.terms(b)...), d.addend(a)^d.addend(b))
}

// terms returns a word as the terms of a xor.
func (d *formulas) terms(w word) []atom {
	switch x := &d.nodes[w]; x.op {
	case isConstant:
		return nil
	case isXor:
		return slices.Clone(x.terms)
	}
	return []atom{{word: w, coefficient: trim(d.nodes[w].n, 1<<64-1)}}
}

// addend returns the constant in a xor.
func (d *formulas) addend(w word) uint64 {
	if x := &d.nodes[w]; x.op == isConstant || x.op == isXor {
		return x.number
	}
	return 0
}

func (d *formulas) xorTerms(n int, all []atom, number uint64) word {
	slices.SortFunc(all, func(a, b atom) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.at, b.at)) })
	kept := all[:0]
	for _, t := range all {
		if k := len(kept); k > 0 && kept[k-1].word == t.word && kept[k-1].at == t.at {
			kept[k-1].coefficient ^= t.coefficient
		} else {
			kept = append(kept, t)
		}
	}
	kept = slices.DeleteFunc(kept, func(t atom) bool { return t.coefficient == 0 })
	if len(kept) == 1 && kept[0].at == 0 && number == 0 && kept[0].coefficient == trim(n, 1<<64-1) {
		return kept[0].word
	}
	if len(kept) == 0 {
		return d.constant(n, number)
	}
	return d.make(node{op: isXor, n: n, number: number, terms: kept, max: d.xorBound(number, kept)})
}

// xorBound returns what a xor is at most: all bits that can be ones.
func (d *formulas) xorBound(number uint64, terms []atom) uint64 {
	ones := number
	for _, t := range terms {
		possible := uint64(1)<<bits.Len64(d.nodes[t.word].max) - 1
		ones |= bits.RotateLeft64(possible, -t.at) & t.coefficient
	}
	return ones
}

// ones returns all bits of a word that can be ones.
func (d *formulas) ones(w word) uint64 {
	x := &d.nodes[w]
	if x.op == isXor {
		return d.xorBound(x.number, x.terms)
	}
	return uint64(1)<<bits.Len64(x.max) - 1
}

// turn returns w rotated to the right and then masked.
func (d *formulas) turn(w word, by int, mask uint64) word {
	if x, ok := d.value(w); ok {
		return d.constant(64, bits.RotateLeft64(x, -by)&mask)
	}
	terms := d.terms(w)
	for k, t := range terms {
		terms[k].at = (t.at + by) % 64
		terms[k].coefficient = bits.RotateLeft64(t.coefficient, -by) & mask
	}
	return d.xorTerms(64, terms, bits.RotateLeft64(d.addend(w), -by)&mask)
}

func (d *formulas) rotate(n int, a word, by uint) word {
	if n != 64 {
		panic(unprovable("a rotation of 32 bits"))
	}
	return d.turn(a, int(by%64), 1<<64-1)
}

func (d *formulas) left(n int, a word, by uint) word {
	if x, ok := d.value(a); ok {
		return d.constant(n, x<<by)
	}
	switch {
	case by == 0:
		return a
	case by%8 == 0 && d.nodes[a].op != isXor:
		b := d.bytes(a, n)
		for k := len(b) - 1; k >= 0; k-- {
			if k >= int(by/8) {
				b[k] = b[k-int(by/8)]
			} else {
				b[k] = byteOf{d.constant(8, 0), 0}
			}
		}
		return d.fromBytes(b)
	case n != 64:
		panic(unprovable("a shift of 32 bits"))
	}
	return d.turn(a, int(64-by), ^uint64(0)<<by)
}

func (d *formulas) right(n int, a word, by uint) word {
	if x, ok := d.value(a); ok {
		return d.constant(n, x>>by)
	}
	switch {
	case by == 0:
		return a
	case by%8 == 0 && d.nodes[a].op != isXor:
		b := d.bytes(a, n)
		for k := range b {
			if k+int(by/8) < len(b) {
				b[k] = b[k+int(by/8)]
			} else {
				b[k] = byteOf{d.constant(8, 0), 0}
			}
		}
		return d.fromBytes(b)
	case n != 64:
		panic(unprovable("a shift of 32 bits"))
	}
	return d.turn(a, int(by), 1<<(64-by)-1)
}

func (d *formulas) rightSigned(n int, a word, by uint) word {
	if int(by) == n-1 {
		return d.choose(n, d.extract(a, n-1, 1), d.constant(n, 1<<64-1), d.constant(n, 0))
	}
	return d.constant(n, (*numbers)(nil).rightSigned(n, d.mustValue(a, "a signed shift"), by))
}

func (d *formulas) leftBy(n int, a, by word) word {
	return d.left(n, a, uint(d.mustValue(by, "a count")))
}

func (d *formulas) rightBy(n int, a, by word) word {
	return d.right(n, a, uint(d.mustValue(by, "a count")))
}

func (d *formulas) lowBits(n int, a, count word) word {
	return d.and(n, a, d.constant(n, 1<<d.mustValue(count, "a count")-1))
}

func (d *formulas) and(n int, a, b word) word {
	if _, ok := d.value(a); ok {
		a, b = b, a
	}
	if mask, ok := d.value(b); ok {
		if x, ok := d.value(a); ok {
			return d.constant(n, x&mask)
		}
		return d.masked(n, a, mask)
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a & b }, a, b); ok {
		return t
	}
	panic(unprovable("and"))
}

// masked is the bits of a that mask has.
func (d *formulas) masked(n int, a word, mask uint64) word {
	whole := true // bytes
	for k := 0; k < n; k += 8 {
		part := byte(mask >> k)
		whole = whole && (part == 0 || part == 0xff)
	}
	switch {
	case mask == trim(n, 1<<64-1):
		return a
	case mask == 0:
		return d.constant(n, 0)
	case whole && n >= 8 && d.nodes[a].op != isXor:
		b := d.bytes(a, n)
		for k := range b {
			if byte(mask>>(8*k)) == 0 {
				b[k] = byteOf{d.constant(8, 0), 0}
			}
		}
		return d.fromBytes(b)
	case n > 8 && d.nodes[a].op == isBytes:
		b := d.bytes(a, n)
		for k := range b {
			b[k] = d.byteAt(d.masked(8, d.fromBytes(b[k:][:1]), mask>>(8*k)&0xff), 0)
		}
		return d.fromBytes(b)
	case n != 64 && n != 8:
		panic(unprovable("some bits of a word"))
	}
	if x, ok := d.value(a); ok {
		return d.constant(n, x&mask)
	}
	terms := d.terms(a)
	for k := range terms {
		terms[k].coefficient &= mask
	}
	return d.xorTerms(n, terms, d.addend(a)&mask)
}

func (d *formulas) or(n int, a, b word) word {
	if d.isZero(a) {
		return b
	}
	if d.isZero(b) {
		return a
	}
	x, aKnown := d.value(a)
	y, bKnown := d.value(b)
	if aKnown && bKnown {
		return d.constant(n, x|y)
	}
	if n > 8 {
		// Bytes of which one is zero, or both are equal.
		p, q := d.bytes(a, n), d.bytes(b, n)
		simple := true
		for k := range p {
			if d.isZero(p[k].word) {
				p[k] = q[k]
			} else {
				simple = simple && (p[k] == q[k] || d.isZero(q[k].word))
			}
		}
		if simple {
			return d.fromBytes(p)
		}
	}
	if t, ok := d.table(n, func(a, b, _ uint64) uint64 { return a | b }, a, b); ok {
		return t
	}
	if d.ones(a)&d.ones(b) == 0 {
		return d.xor(n, a, b)
	}
	panic(unprovable("or"))
}

func (d *formulas) ternary(n int, table uint64, a, b, c word) word {
	if t, ok := d.table(n, func(a, b, c uint64) uint64 { return (*numbers)(nil).ternary(8, table, a, b, c) }, a, b, c); ok {
		return t
	}
	if table == 0x96 {
		return d.xor(n, d.xor(n, a, b), c)
	}
	panic(unprovable("a function of bits"))
}

// rows are the columns of a truth table with three arguments.
var rows = [3]uint64{0xf0, 0xcc, 0xaa}

// table returns a function of the bits of words, if it is one of the bits of three words at
// most. Xors, as far as they are of whole words, and tables are taken apart.
func (d *formulas) table(n int, f func(a, b, c uint64) uint64, words ...word) (word, bool) {
	if n != 64 {
		return 0, false
	}
	var atoms []word
	for _, w := range words {
		x := &d.nodes[w]
		switch {
		case x.op == isBytes:
			return 0, false
		case x.op == isTable:
			for _, t := range x.terms {
				atoms = append(atoms, t.word)
			}
		case x.op == isXor:
			for _, t := range x.terms {
				if t.at != 0 || t.coefficient != 1<<64-1 {
					return 0, false
				}
				atoms = append(atoms, t.word)
			}
			if x.number != 0 && x.number != 1<<64-1 {
				return 0, false
			}
		case x.op == isConstant:
			if x.number != 0 && x.number != 1<<64-1 {
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
	return d.fromTable(f(arguments[0], arguments[1], arguments[2])&0xff, atoms), true
}

// column returns the truth table of a word, as a function of atoms.
func (d *formulas) column(w word, atoms []word) (table uint64) {
	if k := slices.Index(atoms, w); k >= 0 {
		return rows[k]
	}
	x := &d.nodes[w]
	switch x.op {
	case isXor:
		table = x.number & 0xff
		for _, t := range x.terms {
			table ^= rows[slices.Index(atoms, t.word)]
		}
	case isConstant:
		table = x.number & 0xff
	case isTable:
		var own [3]uint64
		for k, t := range x.terms {
			own[k] = rows[slices.Index(atoms, t.word)]
		}
		table = (*numbers)(nil).ternary(8, x.number, own[0], own[1], own[2])
	}
	return table
}

// fromTable returns a function of the bits of atoms. It is a xor if it can be one.
func (d *formulas) fromTable(table uint64, atoms []word) word {
	for number := range uint64(2) {
		for set := range 8 {
			linear, terms := -number&0xff, []atom(nil)
			for k := range 3 {
				if set>>k&1 == 1 {
					linear ^= rows[k]
					if k < len(atoms) {
						terms = append(terms, atom{word: atoms[k], coefficient: 1<<64 - 1})
					}
				}
			}
			if linear == table && bits.Len(uint(set)) <= len(atoms) {
				return d.xorTerms(64, terms, -number)
			}
		}
	}
	var terms []atom
	for _, a := range atoms {
		terms = append(terms, atom{word: a})
	}
	return d.make(node{op: isTable, n: 64, number: table, terms: terms})
}

// disjoint replaces functions of bits in a sum that never have a bit in common by their xor.
func (d *formulas) disjoint(n int, all []atom) []atom {
	for i, a := range all {
		if d.nodes[a.word].op != isTable {
			continue
		}
		for j := i + 1; j < len(all); j++ {
			b := all[j]
			if a.coefficient != b.coefficient || d.nodes[b.word].op != isTable {
				continue
			}
			common, ok := d.table(n, func(a, b, _ uint64) uint64 { return a & b }, a.word, b.word)
			if !ok || !d.isZero(common) {
				continue
			}
			both := d.xor(n, a.word, b.word)
			rest := slices.Delete(slices.Clone(all), j, j+1)
			rest[i].word = both
			return d.disjoint(n, collect(n, rest))
		}
	}
	return all
}
