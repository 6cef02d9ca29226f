// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"example.com/fastmac/internal/assurance/algebra"
)

// Formulas is the algebra of formulas in normal form. Two words that have the same formula are
// equal for all values of the variables; two with different formulas may be equal too.
//
// The normal forms are
//
//   - sums modulo 2^n of multiples of formulas, whose order does not matter (sum.go)
//   - xors of rotated formulas, of which some bits are kept (bitwise.go)
//   - functions of the bits of up to three formulas, as truth tables (bitwise.go)
//   - bytes of formulas, side by side
//   - products of words of 32 bits, whose order does not matter
//
// All else is a function of which only the arguments are known.
type Formulas struct {
	Memory
	Nodes  []node
	known  map[string]Word // what make has made
	key    []byte          // room for a key in known
	byteOf [256]Word       // constants of 8 bits

	WholeRounds bool // of a round of AES only the arguments are known
}

// A Word is the index of a node. Equal words have equal indices.
type Word int32

// A node is a formula of n bits.
type node struct {
	Op
	N      int
	Number uint64 // of constants and variables; the addend of a sum; a truth table
	Terms  []Atom
	Max    uint64 // the value is not greater
}

// An Atom is a part of a formula.
type Atom struct {
	Word
	Coefficient uint64 // in a sum; the bits that are kept, in a xor
	At          int    // in a row of bytes: which byte; in a xor: the rotation to the right
}

type Op byte

const (
	IsConstant Op = iota
	IsVariable
	IsBytes    // of other nodes, which are not constants of more than a byte
	isSum      // number + coefficient*word + ...
	IsXor      // of words, rotated and then masked, and number
	isTable    // a truth table of up to three words
	isProduct  // of two words of 32 bits
	IsChoice   // the second word if the first is 1, else the third
	isLess     // unsigned
	IsFunction // number is which
)

// Numbers of functions.
const (
	ofBits = iota << 8 // plus the first bit
	OfEqual
	ofCarry
	ofWideLow
	ofWideHigh
	ofSBox
	ofTimesX
	ofRound     // of AES; ofRound+1 is the upper half, and the next two are the last round
	ofCarryless // ofCarryless+1 is the upper half
)

// A ByteOf is a byte of a vector or of memory.
type ByteOf struct {
	Word
	At int8
}

type Symbols [64]ByteOf

// NewFormulas returns formulas without memory, except for the data of a program.
func NewFormulas(data algebra.Data) *Formulas {
	d := &Formulas{Memory: Memory{data: data}, known: make(map[string]Word)}
	d.Forget()
	for x := range d.byteOf {
		d.byteOf[x] = d.make(node{Op: IsConstant, N: 8, Number: uint64(x), Max: uint64(x)})
	}
	return d
}

// make returns the word of a node.
func (d *Formulas) make(x node) Word {
	key := append(d.key[:0], byte(x.Op), byte(x.N))
	key = binary.LittleEndian.AppendUint64(key, x.Number)
	for _, t := range x.Terms {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.Word))
		key = binary.LittleEndian.AppendUint64(key, t.Coefficient)
		key = append(key, byte(t.At))
	}
	if x.Op == IsVariable { // of another run it can have another bound
		key = binary.LittleEndian.AppendUint64(key, x.Max)
	}
	d.key = key
	if w, ok := d.known[string(key)]; ok {
		return w
	}
	if x.Max == 0 && x.Op != IsConstant {
		x.Max = algebra.Trim(x.N, math.MaxUint64)
	}
	w := Word(len(d.Nodes))
	d.Nodes = append(d.Nodes, x)
	d.known[string(key)] = w
	return w
}

// Variable returns variable number k of n bits, which is at most max.
func (d *Formulas) Variable(n, k int, max uint64) Word {
	return d.make(node{Op: IsVariable, N: n, Number: uint64(k), Max: max})
}

func (d *Formulas) Constant(n int, x uint64) Word {
	if n == 8 {
		return d.byteOf[byte(x)]
	}
	return d.make(node{Op: IsConstant, N: n, Number: algebra.Trim(n, x), Max: algebra.Trim(n, x)})
}

// Value returns the number that a word is, and whether it is one.
func (d *Formulas) Value(w Word) (uint64, bool) {
	x := &d.Nodes[w]
	return x.Number, x.Op == IsConstant
}

// MustValue returns the number that a word is.
func (d *Formulas) MustValue(w Word, what string) uint64 {
	x, ok := d.Value(w)
	if !ok {
		panic(algebra.Unprovable(what + " depends on a variable"))
	}
	return x
}

func (d *Formulas) isZero(w Word) bool {
	x, ok := d.Value(w)
	return ok && x == 0
}

// function returns a function of words, or the number that fold returns if all are numbers.
func (d *Formulas) function(n int, which uint64, fold func(x []uint64) uint64, arguments ...Word) Word {
	var x []uint64
	var terms []Atom
	for _, a := range arguments {
		if v, ok := d.Value(a); ok {
			x = append(x, v)
		}
		terms = append(terms, Atom{Word: a})
	}
	if len(x) == len(arguments) {
		return d.Constant(n, fold(x))
	}
	return d.make(node{Op: IsFunction, N: n, Number: which, Terms: terms})
}

// ByteAt returns a byte of a word.
func (d *Formulas) ByteAt(w Word, k int) ByteOf {
	switch x := &d.Nodes[w]; x.Op {
	case IsConstant:
		return ByteOf{d.Constant(8, x.Number>>(8*k)), 0}
	case IsBytes:
		return ByteOf{x.Terms[k].Word, int8(x.Terms[k].At)}
	}
	return ByteOf{w, int8(k)}
}

// FromBytes returns the word of these bytes.
func (d *Formulas) FromBytes(b []ByteOf) Word {
	n := 8 * len(b)
	whole, number, constant := true, uint64(0), true
	for k, p := range b {
		whole = whole && p.Word == b[0].Word && int(p.At) == k
		x, ok := d.Value(p.Word)
		constant = constant && ok
		if constant {
			number |= x << (8 * k)
		}
	}
	switch {
	case constant:
		return d.Constant(n, number)
	case whole && d.Nodes[b[0].Word].N == n:
		return b[0].Word
	case n == 64 && d.Nodes[b[0].Word].N == 64 && d.rotates(b):
		return d.Rotate(64, b[0].Word, uint(8*b[0].At))
	}
	terms, max := make([]Atom, len(b)), uint64(0)
	for k, p := range b {
		terms[k] = Atom{Word: p.Word, At: int(p.At)}
		max += min(d.Nodes[p.Word].Max>>(8*p.At), 0xff) << (8 * k)
	}
	return d.make(node{Op: IsBytes, N: n, Terms: terms, Max: max})
}

// rotates reports whether eight bytes are those of one word, in a circle.
func (d *Formulas) rotates(b []ByteOf) bool {
	for k, p := range b {
		if p.Word != b[0].Word || int(p.At) != (int(b[0].At)+k)%8 {
			return false
		}
	}
	return true
}

// Bytes returns the bytes of a word.
func (d *Formulas) Bytes(w Word, n int) []ByteOf {
	b := make([]ByteOf, n/8)
	for k := range b {
		b[k] = d.ByteAt(w, k)
	}
	return b
}

func (d *Formulas) Lane(v *Symbols, n, i int) Word { return d.FromBytes(v[i*n/8:][:n/8]) }

func (d *Formulas) SetLane(v *Symbols, n, i int, w Word) {
	for k := range n / 8 {
		v[i*n/8+k] = d.ByteAt(w, k)
	}
}

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
	case n == 1 && x.Op == IsBytes:
		t := x.Terms[from/8]
		return d.Extract(t.Word, 8*t.At+from%8, 1)
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
	if aKnown && bKnown {
		return d.Constant(1, algebra.Truth(x < y))
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
// by x nothing is known except that they are functions of a byte.
func (d *Formulas) AES(low, high, keyLow, keyHigh Word, last bool) (l, h Word) {
	if d.WholeRounds {
		which := ofRound + 2*algebra.Truth(last)
		round := func(x []uint64) (l, h uint64) { return (*algebra.Numbers)(nil).AES(x[0], x[1], x[2], x[3], last) }
		l = d.function(64, which, func(x []uint64) uint64 { l, _ := round(x); return l }, low, high, keyLow, keyHigh)
		h = d.function(64, which+1, func(x []uint64) uint64 { _, h := round(x); return h }, low, high, keyLow, keyHigh)
		return l, h
	}
	in := append(d.Bytes(low, 64), d.Bytes(high, 64)...)
	key := append(d.Bytes(keyLow, 64), d.Bytes(keyHigh, 64)...)
	out := make([]ByteOf, 16)
	xor := func(a, b Word) Word { return d.Xor(8, a, b) }
	for c := range 4 {
		var s [4]Word
		for r := range s {
			s[r] = d.SubByte(d.FromBytes(in[4*((c+r)%4)+r:][:1]))
		}
		for r := range s {
			w := s[r]
			if !last {
				next := s[(r+1)%4]
				w = xor(xor(xor(d.timesX(s[r]), xor(d.timesX(next), next)), s[(r+2)%4]), s[(r+3)%4])
			}
			out[4*c+r] = d.ByteAt(xor(w, d.FromBytes(key[4*c+r:][:1])), 0)
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

// String returns a formula, for messages about differences.
func (d *Formulas) String(w Word, depth int) string {
	x := d.Nodes[w]
	switch {
	case x.Op == IsConstant:
		return fmt.Sprintf("%#x", x.Number)
	case x.Op == IsVariable:
		return fmt.Sprintf("v%d", x.Number)
	case depth == 0:
		return "..."
	}
	s := fmt.Sprintf("%s%d %#x(", []string{"", "", "bytes", "sum", "xor", "table", "product", "choice", "less", "function"}[x.Op], x.N, x.Number)
	for k, t := range x.Terms {
		if k == 6 {
			s += ", ..."
			break
		}
		s += fmt.Sprintf(" %s*%#x@%d", d.String(t.Word, depth-1), t.Coefficient, t.At)
	}
	return s + ")"
}

// Evaluate returns the value of a formula for values of the variables.
func (d *Formulas) Evaluate(w Word, variables map[Word]uint64) uint64 {
	x := d.Nodes[w]
	of := func(k int) uint64 { return d.Evaluate(x.Terms[k].Word, variables) }
	result := x.Number
	switch x.Op {
	case IsVariable:
		return variables[w]
	case IsBytes:
		for k, t := range x.Terms {
			result |= of(k) >> (8 * t.At) & 0xff << (8 * k)
		}
	case isSum:
		for k, t := range x.Terms {
			result += t.Coefficient * of(k)
		}
	case IsXor:
		for k, t := range x.Terms {
			result ^= bits.RotateLeft64(of(k), -t.At) & t.Coefficient
		}
	case isTable:
		arguments := [3]uint64{}
		for k := range x.Terms {
			arguments[k] = of(k)
		}
		result = (*algebra.Numbers)(nil).Ternary(64, x.Number, arguments[0], arguments[1], arguments[2])
	case isProduct:
		result = of(0) * of(1)
	case IsChoice:
		result = (*algebra.Numbers)(nil).Choose(64, of(0), of(1), of(2))
	case isLess:
		result = algebra.Truth(of(0) < of(1))
	case IsFunction:
		n := d.Nodes[x.Terms[0].Word].N
		switch x.Number {
		case OfEqual:
			result = algebra.Truth(of(0) == of(1))
		case ofCarry:
			result = (*algebra.Numbers)(nil).Carry(n, of(0), of(1), of(2))
		case ofCarry + 1:
			result = (*algebra.Numbers)(nil).Borrow(n, of(0), of(1), of(2))
		case ofWideHigh:
			result, _ = bits.Mul64(of(0), of(1))
		case ofSBox:
			result = uint64(algebra.SBox[of(0)])
		case ofTimesX:
			result = uint64(algebra.Times2(byte(of(0))))
		case ofRound, ofRound + 2:
			result, _ = (*algebra.Numbers)(nil).AES(of(0), of(1), of(2), of(3), x.Number > ofRound)
		case ofRound + 1, ofRound + 3:
			_, result = (*algebra.Numbers)(nil).AES(of(0), of(1), of(2), of(3), x.Number > ofRound+1)
		case ofCarryless:
			result, _ = (*algebra.Numbers)(nil).Carryless(of(0), of(1))
		case ofCarryless + 1:
			_, result = (*algebra.Numbers)(nil).Carryless(of(0), of(1))
		default: // ofBits
			result = of(0) >> x.Number
		}
	}
	return algebra.Trim(x.N, result)
}
