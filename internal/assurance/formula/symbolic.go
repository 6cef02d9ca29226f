// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"math"
	"math/bits"
	"slices"

	"example.com/fastmac/internal/assurance/algebra"
)

func (d *Formulas) Pick(v *Symbols, n, first, count int, index Word) Word {
	return d.Lane(v, n, first+int(d.MustValue(index, "a lane"))&(count-1))
}

func (d *Formulas) Extract(a Word, from, n int) Word {
	x := d.Nodes[a]
	switch {
	case x.Op == IsConstant:
		return d.Constant(n, x.Number>>from)
	case from == 0 && n == x.N:
		return a
	case n == 1 && x.Max>>from == 0:
		return d.Constant(1, 0)
	case n == 1 && x.Op == IsBytes:
		t := x.Terms[from/8]
		return d.Extract(t.Word, 8*int(t.At)+from%8, 1)
	case n == 1 && x.Op == IsChoice:
		return d.Choose(1, x.Terms[0].Word, d.Extract(x.Terms[1].Word, from, 1), d.Extract(x.Terms[2].Word, from, 1))
	case from%8 == 0 && n%8 == 0:
		return d.FromBytes(d.Bytes(a, x.N)[from/8:][:n/8])
	case n == 1 && from == 63 && x.Op == isSum:
		// The sign of S-c is whether S is less, if both are below 2^63.
		s, c := d.Add(64, a, d.Constant(64, -x.Number)), -x.Number
		if d.Nodes[s].Max < 1<<63 && c < 1<<63 {
			return d.Less(64, s, d.Constant(64, c))
		}
	}
	return d.make(node{Op: IsFunction, N: n, Number: uint64(ofBits + from), Terms: []Atom{{Word: a}}})
}

func (d *Formulas) Extend(n int, a Word) Word {
	if x, ok := d.Value(a); ok {
		return d.Constant(64, x)
	}
	if n == 64 {
		return a
	}
	if n < 8 {
		return d.make(node{Op: IsFunction, N: 64, Number: ofBits, Terms: []Atom{{Word: a}}, Max: algebra.Trim(n, math.MaxUint64)})
	}
	b := d.Bytes(a, n)
	for len(b) < 8 {
		b = append(b, ByteOf{d.Constant(8, 0), 0})
	}
	return d.FromBytes(b)
}

func (d *Formulas) Choose(n int, condition, a, b Word) Word {
	if x, ok := d.Value(condition); ok {
		if x == 1 {
			return a
		}
		return b
	}
	if a == b {
		return a
	}
	if n == 1 && d.isZero(b) && !d.isZero(a) && d.Nodes[a].Op == IsConstant {
		return condition
	}
	if x, y := &d.Nodes[a], &d.Nodes[b]; x.Op == isSum && y.Op == isSum && x.Number == y.Number && x.Number != 0 {
		c := d.Constant(n, x.Number)
		return d.Add(n, d.Choose(n, condition, d.Sub(n, a, c), d.Sub(n, b, c)), c)
	}
	if x := &d.Nodes[condition]; x.Op == IsXor && x.Number == 1 && len(x.Terms) == 1 { // not
		condition, a, b = x.Terms[0].Word, b, a
	}
	return d.make(node{Op: IsChoice, N: n, Terms: []Atom{{Word: condition}, {Word: a}, {Word: b}}, Max: max(d.Nodes[a].Max, d.Nodes[b].Max)})
}

func (d *Formulas) Less(n int, a, b Word) Word {
	if r, x, y := d.same(a, b); r != nil && n == 64 {
		return d.Constant(1, algebra.Truth(x < y))
	}
	x, aKnown := d.Value(a)
	y, bKnown := d.Value(b)
	switch {
	case aKnown && bKnown:
		return d.Constant(1, algebra.Truth(x < y))
	case d.Nodes[a].Max < d.Least(b):
		return d.Constant(1, 1)
	case d.Least(a) >= d.Nodes[b].Max:
		return d.Constant(1, 0)
	}
	if bKnown && n == 64 && y == 1<<64-1<<32 { // as where the upper half is compared
		return d.Xor(1, d.Equal(32, d.Extract(a, 32, 32), d.Constant(32, 1<<32-1)), d.Constant(1, 1))
	}
	// S-c wraps around, and is not less than S, if S is less than c > 0.
	if s := &d.Nodes[a]; s.Op == isSum && s.Number != 0 && d.Add(n, a, d.Constant(n, -s.Number)) == b {
		return d.Xor(1, d.Less(n, b, d.Constant(n, -s.Number)), d.Constant(1, 1))
	}
	if s := &d.Nodes[b]; s.Op == isSum && s.Number != 0 && d.Add(n, b, d.Constant(n, -s.Number)) == a {
		return d.Less(n, a, d.Constant(n, -s.Number))
	}
	return d.make(node{Op: isLess, N: 1, Terms: []Atom{{Word: a}, {Word: b}}, Max: 1})
}

func (d *Formulas) Equal(n int, a, b Word) Word {
	if a == b {
		return d.Constant(1, 1)
	}
	if o, _ := d.object(a); o != nil && n == 64 && d.isZero(b) {
		return d.Constant(1, 0)
	}
	// Two words that differ in a number are equal if they are without it.
	x, y := a, b
	if s := &d.Nodes[x]; s.Op == isSum && s.N == n {
		c := d.Constant(n, s.Number)
		x, y = d.Sub(n, a, c), d.Sub(n, b, c)
	}
	for _, p := range [][2]Word{{a, b}, {b, a}, {x, y}, {y, x}} {
		if d.Nodes[p[0]].Max < d.Least(p[1]) {
			return d.Constant(1, 0)
		}
	}
	return d.function(1, OfEqual, func(x []uint64) uint64 { return algebra.Truth(x[0] == x[1]) }, min(a, b), max(a, b))
}

func (d *Formulas) LessSigned(n int, a, b Word) Word {
	sign := d.Constant(n, 1<<(n-1))
	return d.Less(n, d.Add(n, a, sign), d.Add(n, b, sign))
}

func (d *Formulas) Carry(n int, a, b, c Word) Word {
	a, b = min(a, b), max(a, b)
	return d.function(1, ofCarry, func(x []uint64) uint64 { return (*algebra.Numbers)(nil).Carry(n, x[0], x[1], x[2]) }, a, b, c)
}

func (d *Formulas) Borrow(n int, a, b, c Word) Word {
	if d.isZero(c) {
		return d.Less(n, a, b)
	}
	return d.function(1, ofCarry+1, func(x []uint64) uint64 { return (*algebra.Numbers)(nil).Borrow(n, x[0], x[1], x[2]) }, a, b, c)
}

func (d *Formulas) Wide(a, b Word) (low, high Word) {
	a, b = min(a, b), max(a, b)
	return d.MulLow(64, a, b), d.function(64, ofWideHigh, func(x []uint64) uint64 { h, _ := bits.Mul64(x[0], x[1]); return h }, a, b)
}

func (d *Formulas) Carryless(a, b Word) (low, high Word) {
	if d.isZero(a) || d.isZero(b) {
		return d.Constant(64, 0), d.Constant(64, 0)
	}
	a, b = min(a, b), max(a, b)
	low = d.function(64, ofCarryless, func(x []uint64) uint64 { l, _ := (*algebra.Numbers)(nil).Carryless(x[0], x[1]); return l }, a, b)
	high = d.function(64, ofCarryless+1, func(x []uint64) uint64 { _, h := (*algebra.Numbers)(nil).Carryless(x[0], x[1]); return h }, a, b)
	return low, high
}

// AES is a round of AES by bytes, FIPS 197 section 5.1. Of the S-box and of the multiplication
// by x nothing is known except that they are functions of a byte. With WholeRounds the round without
// its key is a function of the block.
func (d *Formulas) AES(low, high, keyLow, keyHigh Word, last bool) (l, h Word) {
	if d.WholeRounds {
		l, h = d.round(ofRound+2*algebra.Truth(last), low, high)
	} else {
		in := append(d.Bytes(low, 64), d.Bytes(high, 64)...)
		out := make([]ByteOf, 16)
		for k := range out { // ShiftRows and SubBytes
			out[k] = d.ByteAt(d.SubByte(d.FromBytes(in[(k+4*(k%4))%16:][:1])), 0)
		}
		if l, h = d.FromBytes(out[:8]), d.FromBytes(out[8:]); !last {
			l, h = d.MixColumns(l, h)
		}
	}
	return d.Xor(64, l, keyLow), d.Xor(64, h, keyHigh)
}

// round returns the function of a round without a key: the last one or another.
func (d *Formulas) round(which uint64, low, high Word) (l, h Word) {
	round := func(x []uint64) (l, h uint64) { return (*algebra.Numbers)(nil).AES(x[0], x[1], 0, 0, which > ofRound) }
	l = d.function(64, which, func(x []uint64) uint64 { l, _ := round(x); return l }, low, high)
	h = d.function(64, which+1, func(x []uint64) uint64 { _, h := round(x); return h }, low, high)
	return l, h
}

// MixColumns is that of section 5.1.3. With WholeRounds it makes of the last round without a key one that
// is not the last.
func (d *Formulas) MixColumns(low, high Word) (l, h Word) {
	if x, y := d.Nodes[low], d.Nodes[high]; d.WholeRounds && x.Op != IsConstant {
		if x.Op != IsFunction || x.Number != ofRound+2 || y.Op != IsFunction || y.Number != ofRound+3 || !slices.Equal(x.Terms, y.Terms) {
			panic(algebra.Unprovable("MixColumns of what is no round"))
		}
		return d.round(ofRound, x.Terms[0].Word, x.Terms[1].Word)
	}
	in := append(d.Bytes(low, 64), d.Bytes(high, 64)...)
	out := make([]ByteOf, 16)
	xor := func(a, b Word) Word { return d.Xor(8, a, b) }
	for c := 0; c < 16; c += 4 {
		var s [4]Word
		for r := range s {
			s[r] = d.FromBytes(in[c+r:][:1])
		}
		for r := range s {
			next := s[(r+1)%4]
			w := xor(xor(xor(d.timesX(s[r]), xor(d.timesX(next), next)), s[(r+2)%4]), s[(r+3)%4])
			out[c+r] = d.ByteAt(w, 0)
		}
	}
	return d.FromBytes(out[:8]), d.FromBytes(out[8:])
}

func (d *Formulas) SubByte(a Word) Word {
	return d.function(8, ofSBox, func(x []uint64) uint64 { return uint64(algebra.SBox[x[0]]) }, a)
}

func (d *Formulas) timesX(a Word) Word {
	return d.function(8, ofTimesX, func(x []uint64) uint64 { return uint64(algebra.Times2(byte(x[0]))) }, a)
}
