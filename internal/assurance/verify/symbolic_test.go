// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// evaluate returns the value of a formula for values of the variables.
func (d *formulas) evaluate(w word, variables map[word]uint64) uint64 {
	x := d.nodes[w]
	of := func(k int) uint64 { return d.evaluate(x.terms[k].word, variables) }
	result := x.number
	switch x.op {
	case isVariable:
		return variables[w]
	case isBytes:
		for k, t := range x.terms {
			result |= of(k) >> (8 * t.at) & 0xff << (8 * k)
		}
	case isSum:
		for k, t := range x.terms {
			result += t.coefficient * of(k)
		}
	case isXor:
		for k, t := range x.terms {
			result ^= bits.RotateLeft64(of(k), -t.at) & t.coefficient
		}
	case isTable:
		arguments := [3]uint64{}
		for k := range x.terms {
			arguments[k] = of(k)
		}
		result = (*numbers)(nil).ternary(64, x.number, arguments[0], arguments[1], arguments[2])
	case isProduct:
		result = of(0) * of(1)
	case isChoice:
		result = (*numbers)(nil).choose(64, of(0), of(1), of(2))
	case isLess:
		result = truth(of(0) < of(1))
	case isFunction:
		n := d.nodes[x.terms[0].word].n
		switch x.number {
		case ofEqual:
			result = truth(of(0) == of(1))
		case ofCarry:
			result = (*numbers)(nil).carry(n, of(0), of(1), of(2))
		case ofCarry + 1:
			result = (*numbers)(nil).borrow(n, of(0), of(1), of(2))
		case ofWideHigh:
			result, _ = bits.Mul64(of(0), of(1))
		case ofSBox:
			result = uint64(sBox[of(0)])
		case ofTimesX:
			result = uint64(times2(byte(of(0))))
		case ofRound, ofRound + 2:
			result, _ = (*numbers)(nil).aes(of(0), of(1), of(2), of(3), x.number > ofRound)
		case ofRound + 1, ofRound + 3:
			_, result = (*numbers)(nil).aes(of(0), of(1), of(2), of(3), x.number > ofRound+1)
		case ofCarryless:
			result, _ = (*numbers)(nil).carryless(of(0), of(1))
		case ofCarryless + 1:
			_, result = (*numbers)(nil).carryless(of(0), of(1))
		default: // ofBits
			result = of(0) >> x.number
		}
	}
	return trim(x.n, result)
}

// TestVariableBounds checks that a variable has the bound of its run, not that of the run before.
func TestVariableBounds(t *testing.T) {
	v := newProver(nil, nil, 1)
	for _, limit := range []uint64{1<<36 - 1, 1<<64 - 1, 1<<36 - 1} {
		v.reset()
		if got := v.nodes[v.variable(64, limit)].max; got != limit {
			t.Errorf("bound %#x, want %#x", got, limit)
		}
	}
}

// TestFormulas applies random operations to formulas and to numbers. The value of the formula
// must be the number, which must be within the bound.
func TestFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := new(numbers)
	for round := range 20_000 {
		d := newFormulas(nil)
		d.wholeRounds = round%2 == 0
		variables := make(map[word]uint64)
		var words []word
		var values []uint64
		for k := range 6 {
			x, limit := randomWord(r), uint64(1)<<[]int{63, 63, 17, 36, 57, 32}[k]*2-1
			w := d.variable(64, k, limit)
			variables[w] = x & limit
			words, values = append(words, w), append(values, x&limit)
		}
		for range 3 {
			x := randomWord(r)
			words, values = append(words, d.constant(64, x)), append(values, x)
		}
		for range 25 {
			w, x, name := randomOperation(r, d, c, words, values)
			if w < 0 {
				continue
			}
			if got := d.evaluate(w, variables); got != x || x > d.nodes[w].max {
				t.Fatalf("round %d: %s is %#x, want %#x, at most %#x: %s", round, name, got, x, d.nodes[w].max, d.String(w, 5))
			}
			words, values = append(words, w), append(values, x)
		}
	}
}

// randomOperation returns the result of an operation on some words and values, or -1 if it has
// no normal form.
func randomOperation(r *rand.Rand, d *formulas, c *numbers, words []word, values []uint64) (w word, x uint64, name string) {
	defer func() {
		if _, ok := recover().(unprovable); ok {
			w = -1
		}
	}()
	i, j, k := r.IntN(len(words)), r.IntN(len(words)), r.IntN(len(words))
	if r.IntN(3) == 0 { // what has just been made
		i = len(words) - 1
	}
	a, b, p, q := words[i], words[j], values[i], values[j]
	by := []uint{1, 3, 7, 8, 14, 16, 32, 36, 41, 48, 61, 63}[r.IntN(12)]
	zero, bit := d.constant(1, 0), d.less(64, words[k], b)
	bitValue := truth(values[k] < q)
	switch r.IntN(28) {
	case 0:
		return d.add(64, a, b), c.add(64, p, q), "add"
	case 1:
		return d.sub(64, a, b), c.sub(64, p, q), "sub"
	case 2:
		return d.and(64, a, b), p & q, "and"
	case 3:
		return d.or(64, a, b), p | q, "or"
	case 4:
		return d.xor(64, a, b), p ^ q, "xor"
	case 5:
		return d.left(64, a, by), c.left(64, p, by), "left"
	case 6:
		return d.right(64, a, by), c.right(64, p, by), "right"
	case 7:
		return d.rotate(64, a, by), c.rotate(64, p, by), "rotate"
	case 8:
		return d.mulLow(64, a, b), p * q, "mulLow"
	case 9:
		return d.product(d.extract(a, 0, 32), d.extract(b, 32, 32)), (p & (1<<32 - 1)) * (q >> 32), "product"
	case 10:
		n, from := 8<<r.IntN(3), 8*r.IntN(4)
		return d.extend(n, d.extract(a, from, n)), c.extract(p, from, n), "extract"
	case 11:
		return d.choose(64, bit, a, b), c.choose(64, bitValue, p, q), "choose"
	case 12:
		return d.extend(1, d.less(64, a, b)), truth(p < q), "less"
	case 13:
		return d.extend(1, d.lessSigned(64, a, b)), c.lessSigned(64, p, q), "lessSigned"
	case 14:
		return d.extend(1, d.carry(64, a, b, zero)), c.carry(64, p, q, 0), "carry"
	case 15:
		return d.extend(1, d.borrow(64, a, b, bit)), c.borrow(64, p, q, bitValue), "borrow"
	case 16:
		table := r.Uint64() & 0xff
		return d.ternary(64, table, a, b, words[k]), c.ternary(64, table, p, q, values[k]), "ternary"
	case 17:
		_, high := d.wide(a, b)
		_, want := c.wide(p, q)
		return high, want, "wide"
	case 18:
		return d.extend(1, d.equal(64, a, b)), truth(p == q), "equal"
	case 19:
		from := r.IntN(64)
		return d.extend(1, d.extract(a, from, 1)), p >> from & 1, "a bit"
	case 20:
		// S-c is less than S, for the residues of L3.
		return d.choose(64, d.less(64, d.sub(64, a, b), a), d.sub(64, a, b), a), min(p-q, p), "least"
	case 21:
		_, high := d.carryless(a, b)
		_, want := c.carryless(p, q)
		return high, want, "carryless"
	case 22:
		low, _ := d.carryless(a, b)
		want, _ := c.carryless(p, q)
		return low, want, "carryless"
	case 23:
		_, high := d.aes(a, b, words[k], b, i%2 == 0)
		_, want := c.aes(p, q, values[k], q, i%2 == 0)
		return high, want, "aes"
	case 24:
		return d.rightSigned(64, a, 63), c.rightSigned(64, p, 63), "the sign"
	case 25:
		return d.and(64, a, d.constant(64, 1<<by|0xff8000ff)), p & (1<<by | 0xff8000ff), "some bits"
	case 26:
		// Those that were shifted out.
		return d.or(64, d.left(64, a, by), d.right(64, b, 64-by)), p<<by | q>>(64-by), "a long shift"
	}
	var v, shuffled symbols
	var from, to bytes64
	d.setLane(&v, 64, 0, a)
	d.setLane(&v, 64, 1, b)
	c.setLane(&from, 64, 0, p)
	c.setLane(&from, 64, 1, q)
	turn := r.IntN(16)
	for k := range 8 {
		shuffled[k], to[k] = v[(k+turn)%16], from[(k+turn)%16]
	}
	return d.lane(&shuffled, 64, 0), c.lane(&to, 64, 0), "bytes"
}
