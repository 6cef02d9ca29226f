// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// formulas is the algebra of formulas in normal form. Two words that have the same formula are
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
type formulas struct {
	program *program
	memory  []symbolicRegion
	nodes   []node
	known   map[string]word // what make has made
	key     []byte          // room for a key in known
	byteOf  [256]word       // constants of 8 bits

	wholeRounds bool // of a round of AES only the arguments are known
}

// A word is the index of a node. Equal words have equal indices.
type word int32

// A node is a formula of n bits.
type node struct {
	op
	n      int
	number uint64 // of constants and variables; the addend of a sum; a truth table
	terms  []atom
	max    uint64 // the value is not greater
}

// An atom is a part of a formula.
type atom struct {
	word
	coefficient uint64 // in a sum; the bits that are kept, in a xor
	at          int    // in a row of bytes: which byte; in a xor: the rotation to the right
}

type op byte

const (
	isConstant op = iota
	isVariable
	isBytes    // of other nodes, which are not constants of more than a byte
	isSum      // number + coefficient*word + ...
	isXor      // of words, rotated and then masked, and number
	isTable    // a truth table of up to three words
	isProduct  // of two words of 32 bits
	isChoice   // the second word if the first is 1, else the third
	isLess     // unsigned
	isFunction // number is which
)

// Numbers of functions.
const (
	ofBits = iota << 8 // plus the first bit
	ofEqual
	ofCarry
	ofWideLow
	ofWideHigh
	ofSBox
	ofTimesX
	ofRound     // of AES; ofRound+1 is the upper half, and the next two are the last round
	ofCarryless // ofCarryless+1 is the upper half
)

// A byteOf is a byte of a vector or of memory.
type byteOf struct {
	word
	at int8
}

type symbols [64]byteOf

type symbolicRegion struct {
	base     uint64
	bytes    []byteOf
	readOnly bool
}

// unprovable is the panic when control flow or an address depends on a variable.
type unprovable string

func newFormulas(p *program) *formulas {
	d := &formulas{program: p, known: make(map[string]word)}
	for x := range d.byteOf {
		d.byteOf[x] = d.make(node{op: isConstant, n: 8, number: uint64(x), max: uint64(x)})
	}
	return d
}

// make returns the word of a node.
func (d *formulas) make(x node) word {
	key := append(d.key[:0], byte(x.op), byte(x.n))
	key = binary.LittleEndian.AppendUint64(key, x.number)
	for _, t := range x.terms {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.word))
		key = binary.LittleEndian.AppendUint64(key, t.coefficient)
		key = append(key, byte(t.at))
	}
	if x.op == isVariable { // of another run it can have another bound
		key = binary.LittleEndian.AppendUint64(key, x.max)
	}
	d.key = key
	if w, ok := d.known[string(key)]; ok {
		return w
	}
	if x.max == 0 && x.op != isConstant {
		x.max = trim(x.n, math.MaxUint64)
	}
	w := word(len(d.nodes))
	d.nodes = append(d.nodes, x)
	d.known[string(key)] = w
	return w
}

// variable returns variable number k of n bits, which is at most max.
func (d *formulas) variable(n, k int, max uint64) word {
	return d.make(node{op: isVariable, n: n, number: uint64(k), max: max})
}

func (d *formulas) constant(n int, x uint64) word {
	if n == 8 {
		return d.byteOf[byte(x)]
	}
	return d.make(node{op: isConstant, n: n, number: trim(n, x), max: trim(n, x)})
}

// value returns the number that a word is, and whether it is one.
func (d *formulas) value(w word) (uint64, bool) {
	x := &d.nodes[w]
	return x.number, x.op == isConstant
}

// mustValue returns the number that a word is.
func (d *formulas) mustValue(w word, what string) uint64 {
	x, ok := d.value(w)
	if !ok {
		panic(unprovable(what + " depends on a variable"))
	}
	return x
}

func (d *formulas) isZero(w word) bool {
	x, ok := d.value(w)
	return ok && x == 0
}

// function returns a function of words, or the number that fold returns if all are numbers.
func (d *formulas) function(n int, which uint64, fold func(x []uint64) uint64, arguments ...word) word {
	var x []uint64
	var terms []atom
	for _, a := range arguments {
		if v, ok := d.value(a); ok {
			x = append(x, v)
		}
		terms = append(terms, atom{word: a})
	}
	if len(x) == len(arguments) {
		return d.constant(n, fold(x))
	}
	return d.make(node{op: isFunction, n: n, number: which, terms: terms})
}

func (d *formulas) global(address uint64) word { return d.constant(64, address) }

// byteAt returns a byte of a word.
func (d *formulas) byteAt(w word, k int) byteOf {
	switch x := &d.nodes[w]; x.op {
	case isConstant:
		return byteOf{d.constant(8, x.number>>(8*k)), 0}
	case isBytes:
		return byteOf{x.terms[k].word, int8(x.terms[k].at)}
	}
	return byteOf{w, int8(k)}
}

// fromBytes returns the word of these bytes.
func (d *formulas) fromBytes(b []byteOf) word {
	n := 8 * len(b)
	whole, number, constant := true, uint64(0), true
	for k, p := range b {
		whole = whole && p.word == b[0].word && int(p.at) == k
		x, ok := d.value(p.word)
		constant = constant && ok
		if constant {
			number |= x << (8 * k)
		}
	}
	switch {
	case constant:
		return d.constant(n, number)
	case whole && d.nodes[b[0].word].n == n:
		return b[0].word
	case n == 64 && d.nodes[b[0].word].n == 64 && d.rotates(b):
		return d.rotate(64, b[0].word, uint(8*b[0].at))
	}
	terms, max := make([]atom, len(b)), uint64(0)
	for k, p := range b {
		terms[k] = atom{word: p.word, at: int(p.at)}
		max += min(d.nodes[p.word].max>>(8*p.at), 0xff) << (8 * k)
	}
	return d.make(node{op: isBytes, n: n, terms: terms, max: max})
}

// rotates reports whether eight bytes are those of one word, in a circle.
func (d *formulas) rotates(b []byteOf) bool {
	for k, p := range b {
		if p.word != b[0].word || int(p.at) != (int(b[0].at)+k)%8 {
			return false
		}
	}
	return true
}

// bytes returns the bytes of a word.
func (d *formulas) bytes(w word, n int) []byteOf {
	b := make([]byteOf, n/8)
	for k := range b {
		b[k] = d.byteAt(w, k)
	}
	return b
}

func (d *formulas) lane(v *symbols, n, i int) word { return d.fromBytes(v[i*n/8:][:n/8]) }

func (d *formulas) setLane(v *symbols, n, i int, w word) {
	for k := range n / 8 {
		v[i*n/8+k] = d.byteAt(w, k)
	}
}

func (d *formulas) pick(v *symbols, n, first, count int, index word) word {
	return d.lane(v, n, first+int(d.mustValue(index, "a lane"))&(count-1))
}

func (d *formulas) extract(a word, from, n int) word {
	x := d.nodes[a]
	switch {
	case x.op == isConstant:
		return d.constant(n, x.number>>from)
	case from == 0 && n == x.n:
		return a
	case n == 1 && x.op == isBytes:
		t := x.terms[from/8]
		return d.extract(t.word, 8*t.at+from%8, 1)
	case n == 1 && x.op == isChoice:
		return d.choose(1, x.terms[0].word, d.extract(x.terms[1].word, from, 1), d.extract(x.terms[2].word, from, 1))
	case from%8 == 0 && n%8 == 0:
		return d.fromBytes(d.bytes(a, x.n)[from/8:][:n/8])
	case n == 1 && from == 63 && x.op == isSum:
		// The sign of S-c is whether S is less, if both are below 2^63.
		s, c := d.add(64, a, d.constant(64, -x.number)), -x.number
		if d.nodes[s].max < 1<<63 && c < 1<<63 {
			return d.less(64, s, d.constant(64, c))
		}
	}
	return d.make(node{op: isFunction, n: n, number: uint64(ofBits + from), terms: []atom{{word: a}}})
}

func (d *formulas) extend(n int, a word) word {
	if x, ok := d.value(a); ok {
		return d.constant(64, x)
	}
	if n == 64 {
		return a
	}
	if n < 8 {
		return d.make(node{op: isFunction, n: 64, number: ofBits, terms: []atom{{word: a}}, max: trim(n, math.MaxUint64)})
	}
	b := d.bytes(a, n)
	for len(b) < 8 {
		b = append(b, byteOf{d.constant(8, 0), 0})
	}
	return d.fromBytes(b)
}

func (d *formulas) choose(n int, condition, a, b word) word {
	if x, ok := d.value(condition); ok {
		if x == 1 {
			return a
		}
		return b
	}
	if a == b {
		return a
	}
	if n == 1 && d.isZero(b) && !d.isZero(a) && d.nodes[a].op == isConstant {
		return condition
	}
	if x, y := &d.nodes[a], &d.nodes[b]; x.op == isSum && y.op == isSum && x.number == y.number && x.number != 0 {
		c := d.constant(n, x.number)
		return d.add(n, d.choose(n, condition, d.sub(n, a, c), d.sub(n, b, c)), c)
	}
	if x := &d.nodes[condition]; x.op == isXor && x.number == 1 && len(x.terms) == 1 { // not
		condition, a, b = x.terms[0].word, b, a
	}
	return d.make(node{op: isChoice, n: n, terms: []atom{{word: condition}, {word: a}, {word: b}}, max: max(d.nodes[a].max, d.nodes[b].max)})
}

func (d *formulas) less(n int, a, b word) word {
	x, aKnown := d.value(a)
	y, bKnown := d.value(b)
	if aKnown && bKnown {
		return d.constant(1, truth(x < y))
	}
	if bKnown && n == 64 && y == 1<<64-1<<32 { // as where the upper half is compared
		return d.xor(1, d.equal(32, d.extract(a, 32, 32), d.constant(32, 1<<32-1)), d.constant(1, 1))
	}
	// S-c wraps around, and is not less than S, if S is less than c > 0.
	if s := &d.nodes[a]; s.op == isSum && s.number != 0 && d.add(n, a, d.constant(n, -s.number)) == b {
		return d.xor(1, d.less(n, b, d.constant(n, -s.number)), d.constant(1, 1))
	}
	if s := &d.nodes[b]; s.op == isSum && s.number != 0 && d.add(n, b, d.constant(n, -s.number)) == a {
		return d.less(n, a, d.constant(n, -s.number))
	}
	return d.make(node{op: isLess, n: 1, terms: []atom{{word: a}, {word: b}}, max: 1})
}

func (d *formulas) equal(n int, a, b word) word {
	if a == b {
		return d.constant(1, 1)
	}
	return d.function(1, ofEqual, func(x []uint64) uint64 { return truth(x[0] == x[1]) }, min(a, b), max(a, b))
}

func (d *formulas) lessSigned(n int, a, b word) word {
	sign := d.constant(n, 1<<(n-1))
	return d.less(n, d.add(n, a, sign), d.add(n, b, sign))
}

func (d *formulas) carry(n int, a, b, c word) word {
	a, b = min(a, b), max(a, b)
	return d.function(1, ofCarry, func(x []uint64) uint64 { return (*numbers)(nil).carry(n, x[0], x[1], x[2]) }, a, b, c)
}

func (d *formulas) borrow(n int, a, b, c word) word {
	if d.isZero(c) {
		return d.less(n, a, b)
	}
	return d.function(1, ofCarry+1, func(x []uint64) uint64 { return (*numbers)(nil).borrow(n, x[0], x[1], x[2]) }, a, b, c)
}

func (d *formulas) wide(a, b word) (low, high word) {
	a, b = min(a, b), max(a, b)
	return d.mulLow(64, a, b), d.function(64, ofWideHigh, func(x []uint64) uint64 { h, _ := bits.Mul64(x[0], x[1]); return h }, a, b)
}

func (d *formulas) carryless(a, b word) (low, high word) {
	if d.isZero(a) || d.isZero(b) {
		return d.constant(64, 0), d.constant(64, 0)
	}
	a, b = min(a, b), max(a, b)
	low = d.function(64, ofCarryless, func(x []uint64) uint64 { l, _ := (*numbers)(nil).carryless(x[0], x[1]); return l }, a, b)
	high = d.function(64, ofCarryless+1, func(x []uint64) uint64 { _, h := (*numbers)(nil).carryless(x[0], x[1]); return h }, a, b)
	return low, high
}

// aes is a round of AES by bytes, FIPS 197 section 5.1. Of the S-box and of the multiplication
// by x nothing is known except that they are functions of a byte.
func (d *formulas) aes(low, high, keyLow, keyHigh word, last bool) (l, h word) {
	if d.wholeRounds {
		which := ofRound + 2*truth(last)
		round := func(x []uint64) (l, h uint64) { return (*numbers)(nil).aes(x[0], x[1], x[2], x[3], last) }
		l = d.function(64, which, func(x []uint64) uint64 { l, _ := round(x); return l }, low, high, keyLow, keyHigh)
		h = d.function(64, which+1, func(x []uint64) uint64 { _, h := round(x); return h }, low, high, keyLow, keyHigh)
		return l, h
	}
	in := append(d.bytes(low, 64), d.bytes(high, 64)...)
	key := append(d.bytes(keyLow, 64), d.bytes(keyHigh, 64)...)
	out := make([]byteOf, 16)
	xor := func(a, b word) word { return d.xor(8, a, b) }
	for c := range 4 {
		var s [4]word
		for r := range s {
			s[r] = d.subByte(d.fromBytes(in[4*((c+r)%4)+r:][:1]))
		}
		for r := range s {
			w := s[r]
			if !last {
				next := s[(r+1)%4]
				w = xor(xor(xor(d.timesX(s[r]), xor(d.timesX(next), next)), s[(r+2)%4]), s[(r+3)%4])
			}
			out[4*c+r] = d.byteAt(xor(w, d.fromBytes(key[4*c+r:][:1])), 0)
		}
	}
	return d.fromBytes(out[:8]), d.fromBytes(out[8:])
}

func (d *formulas) subByte(a word) word {
	return d.function(8, ofSBox, func(x []uint64) uint64 { return uint64(sBox[x[0]]) }, a)
}

func (d *formulas) timesX(a word) word {
	return d.function(8, ofTimesX, func(x []uint64) uint64 { return uint64(times2(byte(x[0]))) }, a)
}

// find returns the memory of n bytes at an address.
func (d *formulas) find(address word, n int, write bool) []byteOf {
	at := d.mustValue(address, "an address")
	for _, r := range d.memory {
		if r.base <= at && at+uint64(n) <= r.base+uint64(len(r.bytes)) && !(write && r.readOnly) {
			return r.bytes[at-r.base:][:n]
		}
	}
	if b := d.program.at(at); !write && len(b) >= n {
		constants := make([]byteOf, n)
		for k := range constants {
			constants[k] = byteOf{d.constant(8, uint64(b[k])), 0}
		}
		return constants
	}
	panic(fault{at, n})
}

func (d *formulas) load(address word, n int) (v symbols) {
	copy(v[:], d.find(address, n, false))
	return v
}

func (d *formulas) loadMasked(address word, n, element int, mask word) (v symbols) {
	bits, at := d.mustValue(mask, "a mask"), d.mustValue(address, "an address")
	for k := range n / element {
		for b := range element {
			v[element*k+b] = byteOf{d.constant(8, 0), 0}
		}
		if bits>>k&1 == 1 {
			copy(v[element*k:], d.find(d.constant(64, at+uint64(element*k)), element, false))
		}
	}
	return v
}

func (d *formulas) store(address word, v *symbols, n int) { copy(d.find(address, n, true), v[:n]) }

// String returns a formula, for messages about differences.
func (d *formulas) String(w word, depth int) string {
	x := d.nodes[w]
	switch {
	case x.op == isConstant:
		return fmt.Sprintf("%#x", x.number)
	case x.op == isVariable:
		return fmt.Sprintf("v%d", x.number)
	case depth == 0:
		return "..."
	}
	s := fmt.Sprintf("%s%d %#x(", []string{"", "", "bytes", "sum", "xor", "table", "product", "choice", "less", "function"}[x.op], x.n, x.number)
	for k, t := range x.terms {
		if k == 6 {
			s += ", ..."
			break
		}
		s += fmt.Sprintf(" %s*%#x@%d", d.String(t.word, depth-1), t.coefficient, t.at)
	}
	return s + ")"
}
