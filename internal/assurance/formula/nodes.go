// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package formula computes with formulas in normal form, and has memory whose addresses are unknown.
package formula

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

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
	known  []slot    // a hash table of Nodes
	atoms  []Atom    // where the terms of the next nodes are
	byteOf [256]Word // constants of 8 bits
	spare  []Atom    // memory for the terms of the next sum
	later  []int32   // memory of disjoint
	Length int       // terms of all nodes

	WholeRounds bool // of a round of AES only the arguments are known
	Pairs       bool // words of 64 bits may be two of 32, as in SHA-256, and not eight bytes
}

// LimitLength is of all formulas together. In a loop that does not end they become longer and longer.
const LimitLength = 1 << 24

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
	At          int32  // in a row of bytes: which byte; in a xor: the rotation to the right
	Coefficient uint64 // in a sum; the bits that are kept, in a xor
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
	ofRound     // of AES without a key; ofRound+1 is the upper half, and the next two are the last round
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
	d := &Formulas{Memory: Memory{data: data}}
	d.Forget()
	for x := range d.byteOf {
		d.byteOf[x] = d.make(node{Op: IsConstant, N: 8, Number: uint64(x), Max: uint64(x)})
	}
	return d
}

// make returns the word of a node. It keeps no terms but its own: most nodes are known, so that those of x
// need no memory of the heap.
func (d *Formulas) make(x node) Word {
	if x.Max == 0 && x.Op != IsConstant {
		x.Max = algebra.Trim(x.N, math.MaxUint64)
	}
	if 4*len(d.Nodes) >= 3*len(d.known) {
		d.grow()
	}
	h := x.hash()
	for i := int(h); ; i++ {
		s := &d.known[i&(len(d.known)-1)]
		if s.next == 0 {
			if d.Length += len(x.Terms); d.Length > LimitLength {
				panic(algebra.Unprovable("the formulas are too long"))
			}
			if len(d.atoms)+len(x.Terms) > cap(d.atoms) {
				d.atoms = make([]Atom, 0, max(1<<10, len(x.Terms)))
			}
			from := len(d.atoms)
			d.atoms = append(d.atoms, x.Terms...)
			d.Nodes = append(d.Nodes, node{Op: x.Op, N: x.N, Number: x.Number, Terms: d.atoms[from:len(d.atoms):len(d.atoms)], Max: x.Max})
			*s = slot{h, int32(len(d.Nodes))}
		} else if s.hash != h || !d.Nodes[s.next-1].same(&x) {
			continue
		}
		return Word(s.next - 1)
	}
}

// A slot of a hash table has the hash of a node, and the index after that of the node, or zeros.
type slot struct {
	hash uint32
	next int32
}

// grow makes the hash table twice as long.
func (d *Formulas) grow() {
	before := d.known
	d.known = make([]slot, max(1<<12, 2*len(before)))
	for _, s := range before {
		i := int(s.hash)
		for s.next != 0 && d.known[i&(len(d.known)-1)].next != 0 {
			i++
		}
		if s.next != 0 {
			d.known[i&(len(d.known)-1)] = s
		}
	}
}

func (x *node) hash() uint32 {
	h := uint64(x.Op)<<8 + uint64(x.N)
	mix := func(y uint64) {
		hi, lo := bits.Mul64(h^y, 0x9e3779b97f4a7c15)
		h = hi ^ lo
	}
	mix(x.Number)
	for i := range x.Terms {
		t := &x.Terms[i]
		mix(uint64(t.Word)<<8 ^ uint64(t.At))
		mix(t.Coefficient + 1)
	}
	return uint32(h ^ h>>32)
}

// same reports whether the nodes are one formula. Of a variable of another run the bound can be another.
func (x *node) same(y *node) bool {
	return x.Op == y.Op && x.N == y.N && x.Number == y.Number && slices.Equal(x.Terms, y.Terms) && (x.Op != IsVariable || x.Max == y.Max)
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
	terms := make([]Atom, 0, 4)
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
	case isSum:
		// The lowest byte of a sum of multiples of 256 and a number is that of the number.
		if x.N == 32 && !slices.ContainsFunc(x.Terms, func(t Atom) bool { return t.Coefficient%256 != 0 }) {
			if low := x.Number & 0xff; k == 0 {
				return ByteOf{d.Constant(8, low), 0}
			} else if low != 0 {
				return ByteOf{d.Sum(32, x.Number-low, slices.Clone(x.Terms)), int8(k)}
			}
		}
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
	case n == 32 && d.isMultiple(b):
		return d.Sum(32, d.Nodes[b[0].Word].Number, []Atom{{Word: b[1].Word, Coefficient: 1}})
	case n == 64 && d.Nodes[b[0].Word].N == 64 && d.rotates(b):
		return d.Rotate(64, b[0].Word, uint(8*b[0].At))
	}
	terms, max := make([]Atom, 8)[:len(b)], uint64(0)
	for k, p := range b {
		terms[k] = Atom{Word: p.Word, At: int32(p.At)}
		max += min(d.Nodes[p.Word].Max>>(8*p.At), 0xff) << (8 * k)
	}
	return d.make(node{Op: IsBytes, N: n, Terms: terms, Max: max})
}

// isMultiple reports whether the upper three of four bytes are those of a sum of multiples of 256, and
// the lowest is a number.
func (d *Formulas) isMultiple(b []ByteOf) bool {
	x := &d.Nodes[b[1].Word]
	_, ok := d.Value(b[0].Word)
	return ok && x.Op == isSum && x.N == 32 && x.Number&0xff == 0 && d.byteIsSame(b) &&
		!slices.ContainsFunc(x.Terms, func(t Atom) bool { return t.Coefficient%256 != 0 })
}

func (d *Formulas) byteIsSame(b []ByteOf) bool {
	for k := 1; k < 4; k++ {
		if b[k] != (ByteOf{b[1].Word, int8(k)}) {
			return false
		}
	}
	return true
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
			result ^= rotated(x.N, of(k), int(t.At)) & t.Coefficient
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
			result, _ = (*algebra.Numbers)(nil).AES(of(0), of(1), 0, 0, x.Number > ofRound)
		case ofRound + 1, ofRound + 3:
			_, result = (*algebra.Numbers)(nil).AES(of(0), of(1), 0, 0, x.Number > ofRound+1)
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
