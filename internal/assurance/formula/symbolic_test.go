// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
)

// TestFormulas applies random operations to formulas and to numbers. The value of the formula
// must be the number, which must be within the bound.
func TestFormulas(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	c := new(algebra.Numbers)
	for round := range 20_000 {
		d := NewFormulas(nil)
		d.WholeRounds = round%2 == 0
		variables := make(map[Word]uint64)
		var words []Word
		var values []uint64
		for k := range 6 {
			x, limit := algebra.RandomWord(r), uint64(1)<<[]int{63, 63, 17, 36, 57, 32}[k]*2-1
			w := d.Variable(64, k, limit)
			variables[w] = x & limit
			words, values = append(words, w), append(values, x&limit)
		}
		for range 3 {
			x := algebra.RandomWord(r)
			words, values = append(words, d.Constant(64, x)), append(values, x)
		}
		for range 25 {
			w, x, name := randomOperation(r, d, c, words, values)
			if w < 0 {
				continue
			}
			if got := d.Evaluate(w, variables); got != x || x > d.Nodes[w].Max {
				t.Fatalf("round %d: %s is %#x, want %#x, at most %#x: %s", round, name, got, x, d.Nodes[w].Max, d.String(w, 5))
			}
			words, values = append(words, w), append(values, x)
		}
	}
}

// TestWordsOf32 is TestFormulas for the operations of SHA-256.
func TestWordsOf32(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	c := new(algebra.Numbers)
	for round := range 20_000 {
		d := NewFormulas(nil)
		variables := make(map[Word]uint64)
		var words []Word
		var values []uint64
		for k := range 6 {
			x := algebra.RandomWord(r) & (1<<32 - 1)
			w := d.Constant(32, x)
			if k > 1 {
				w = d.Variable(32, k, 1<<32-1)
				variables[w] = x
			}
			words, values = append(words, w), append(values, x)
		}
		for range 25 {
			i, j, k := r.IntN(len(words)), len(words)-1, r.IntN(len(words))
			a, p := words[i], values[i]
			by, table := uint(1+r.IntN(31)), r.Uint64()&0xff
			var w Word
			var x uint64
			switch r.IntN(8) {
			case 0:
				w, x = d.Add(32, a, words[j]), c.Add(32, p, values[j])
			case 1:
				w, x = d.Xor(32, a, words[j]), p^values[j]
			case 2:
				w, x = d.Rotate(32, a, by), c.Rotate(32, p, by)
			case 3:
				w, x = d.Right(32, a, by), p>>by
			case 4:
				w, x = d.Left(32, a, by), c.Left(32, p, by)
			case 5:
				if w = ternary(d, table, a, words[j], words[k]); w < 0 {
					continue
				}
				x = c.Ternary(32, table, p, values[j], values[k])
			default: // a half of two words, of which some are shifted together
				two, both := d.join(a, words[k]), values[k]<<32|p
				if by%8 != 0 {
					two, both = d.Right(64, two, by), both>>by
				}
				two, both = d.Xor(64, two, d.join(words[j], a)), both^(p<<32|values[j])
				half := r.IntN(2)
				w, x = d.Extract(two, 32*half, 32), both>>(32*half)&(1<<32-1)
			}
			if got := d.Evaluate(w, variables); got != x || x > d.Nodes[w].Max {
				t.Fatalf("round %d: a word is %#x, want %#x, at most %#x: %s", round, got, x, d.Nodes[w].Max, d.String(w, 5))
			}
			words, values = append(words, w), append(values, x)
		}
	}
}

// ternary returns a function of the bits of words of 32 bits, or -1 if it has no normal form.
func ternary(d *Formulas, table uint64, a, b, c Word) (w Word) {
	defer func() {
		if _, ok := recover().(algebra.Unprovable); ok {
			w = -1
		}
	}()
	return d.Ternary(32, table, a, b, c)
}

// randomOperation returns the result of an operation on some words and values, or -1 if it has
// no normal form.
func randomOperation(r *rand.Rand, d *Formulas, c *algebra.Numbers, words []Word, values []uint64) (w Word, x uint64, name string) {
	defer func() {
		if _, ok := recover().(algebra.Unprovable); ok {
			w = -1
		}
	}()
	i, j, k := r.IntN(len(words)), r.IntN(len(words)), r.IntN(len(words))
	if r.IntN(3) == 0 { // what has just been made
		i = len(words) - 1
	}
	a, b, p, q := words[i], words[j], values[i], values[j]
	by := []uint{1, 3, 7, 8, 14, 16, 32, 36, 41, 48, 61, 63}[r.IntN(12)]
	zero, bit := d.Constant(1, 0), d.Less(64, words[k], b)
	bitValue := algebra.Truth(values[k] < q)
	switch r.IntN(28) {
	case 0:
		return d.Add(64, a, b), c.Add(64, p, q), "add"
	case 1:
		return d.Sub(64, a, b), c.Sub(64, p, q), "sub"
	case 2:
		return d.And(64, a, b), p & q, "and"
	case 3:
		return d.Or(64, a, b), p | q, "or"
	case 4:
		return d.Xor(64, a, b), p ^ q, "xor"
	case 5:
		return d.Left(64, a, by), c.Left(64, p, by), "left"
	case 6:
		return d.Right(64, a, by), c.Right(64, p, by), "right"
	case 7:
		return d.Rotate(64, a, by), c.Rotate(64, p, by), "rotate"
	case 8:
		return d.MulLow(64, a, b), p * q, "mulLow"
	case 9:
		return d.Product(d.Extract(a, 0, 32), d.Extract(b, 32, 32)), (p & (1<<32 - 1)) * (q >> 32), "product"
	case 10:
		n, from := 8<<r.IntN(3), 8*r.IntN(4)
		return d.Extend(n, d.Extract(a, from, n)), c.Extract(p, from, n), "extract"
	case 11:
		return d.Choose(64, bit, a, b), c.Choose(64, bitValue, p, q), "choose"
	case 12:
		return d.Extend(1, d.Less(64, a, b)), algebra.Truth(p < q), "less"
	case 13:
		return d.Extend(1, d.LessSigned(64, a, b)), c.LessSigned(64, p, q), "lessSigned"
	case 14:
		return d.Extend(1, d.Carry(64, a, b, zero)), c.Carry(64, p, q, 0), "carry"
	case 15:
		return d.Extend(1, d.Borrow(64, a, b, bit)), c.Borrow(64, p, q, bitValue), "borrow"
	case 16:
		table := r.Uint64() & 0xff
		return d.Ternary(64, table, a, b, words[k]), c.Ternary(64, table, p, q, values[k]), "ternary"
	case 17:
		_, high := d.Wide(a, b)
		_, want := c.Wide(p, q)
		return high, want, "wide"
	case 18:
		return d.Extend(1, d.Equal(64, a, b)), algebra.Truth(p == q), "equal"
	case 19:
		from := r.IntN(64)
		return d.Extend(1, d.Extract(a, from, 1)), p >> from & 1, "a bit"
	case 20:
		// S-c is less than S, for the residues of L3.
		return d.Choose(64, d.Less(64, d.Sub(64, a, b), a), d.Sub(64, a, b), a), min(p-q, p), "least"
	case 21:
		_, high := d.Carryless(a, b)
		_, want := c.Carryless(p, q)
		return high, want, "carryless"
	case 22:
		low, _ := d.Carryless(a, b)
		want, _ := c.Carryless(p, q)
		return low, want, "carryless"
	case 23:
		_, high := d.AES(a, b, words[k], b, i%2 == 0)
		_, want := c.AES(p, q, values[k], q, i%2 == 0)
		return high, want, "aes"
	case 24:
		return d.RightSigned(64, a, 63), c.RightSigned(64, p, 63), "the sign"
	case 25:
		return d.And(64, a, d.Constant(64, 1<<by|0xff8000ff)), p & (1<<by | 0xff8000ff), "some bits"
	case 26:
		// Those that were shifted out.
		return d.Or(64, d.Left(64, a, by), d.Right(64, b, 64-by)), p<<by | q>>(64-by), "a long shift"
	}
	var v, shuffled Symbols
	var from, to algebra.Bytes64
	d.SetLane(&v, 64, 0, a)
	d.SetLane(&v, 64, 1, b)
	c.SetLane(&from, 64, 0, p)
	c.SetLane(&from, 64, 1, q)
	turn := r.IntN(16)
	for k := range 8 {
		shuffled[k], to[k] = v[(k+turn)%16], from[(k+turn)%16]
	}
	return d.Lane(&shuffled, 64, 0), c.Lane(&to, 64, 0), "bytes"
}

// TestMultiples takes the bytes of sums of 32 bits whose terms are multiples of 256, as counters of
// blocks are, and puts them together again.
func TestMultiples(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 5_000 {
		d := NewFormulas(nil)
		v, x := d.Variable(32, 1, 1<<18-1), uint64(r.Uint32()>>14)
		shift, number := 8+r.IntN(8), uint64(r.Uint32())
		w := d.Sum(32, number, []Atom{{Word: v, Coefficient: 1 << shift}})
		want := algebra.Trim(32, number+x<<shift)
		for range 3 {
			k := uint64(r.IntN(600))
			w, want = d.Add(32, w, d.Constant(32, k)), algebra.Trim(32, want+k)
			b := d.Bytes(w, 32)
			for k := range b {
				if got := d.Evaluate(d.FromBytes(b[k:k+1]), map[Word]uint64{v: x}); got != want>>(8*k)&0xff {
					t.Fatalf("byte %d of %s is %#x, want that of %#x", k, d.String(w, 3), got, want)
				}
			}
			if again := d.FromBytes(b); again != w || d.Evaluate(again, map[Word]uint64{v: x}) != want {
				t.Fatalf("the bytes of %s are %s", d.String(w, 3), d.String(again, 3))
			}
			b[0], b[3] = b[3], b[0]
			if got := d.Evaluate(d.FromBytes(b), map[Word]uint64{v: x}); got != want&0xffff00|want>>24|want<<24&0xff000000 {
				t.Fatalf("exchanged bytes of %s are %#x, not those of %#x", d.String(w, 3), got, want)
			}
			if d.Nodes[w].Max < want {
				t.Fatalf("%s is at most %#x, not %#x", d.String(w, 3), d.Nodes[w].Max, want)
			}
		}
	}
}

// TestCounts takes what kernels do with counts and lengths: sums that do not wrap around, of multiples, and some that do.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	c := new(algebra.Numbers)
	known := make(map[string]int)
	for range 20_000 {
		d := NewFormulas(nil)
		limit := uint64(1)<<(1+r.IntN(60)) - 1
		v, x := d.Variable(64, 1, limit), r.Uint64()&limit
		if r.IntN(4) == 0 {
			x = []uint64{0, limit}[r.IntN(2)]
		}
		shift := r.IntN(12)
		number := uint64(r.IntN(4)) << shift
		if r.IntN(4) == 0 {
			number = -number
		}
		w, want := d.Sum(64, number, []Atom{{Word: v, Coefficient: 1 << shift}}), number+x<<shift
		other, y := d.Constant(64, uint64(r.IntN(6))<<shift), uint64(0)
		y, _ = d.Value(other)
		if r.IntN(4) == 0 {
			other, y = d.Add(64, w, other), want+y
		}
		by := uint(1 + r.IntN(12))
		mask := uint64(1)<<r.IntN(13) - 1
		for _, test := range []struct {
			name string
			w    Word
			want uint64
		}{
			{"right", d.Right(64, w, by), want >> by},
			{"low bits", d.And(64, w, d.Constant(64, mask)), want & mask},
			{"less", d.Less(64, w, other), algebra.Truth(want < y)},
			{"greater", d.Less(64, other, w), algebra.Truth(y < want)},
			{"less, signed", d.LessSigned(64, w, other), c.LessSigned(64, want, y)},
			{"equal", d.Equal(64, w, other), algebra.Truth(want == y)},
			{"sign", d.Extract(w, 63, 1), want >> 63},
			{"least", d.Constant(1, algebra.Truth(d.Least(w) <= want)), 1},
		} {
			if got := d.Evaluate(test.w, map[Word]uint64{v: x}); got != test.want {
				t.Fatalf("%s is %#x, want %#x: of %s", test.name, got, test.want, d.String(w, 3))
			}
			if _, ok := d.Value(test.w); ok || test.name == "right" && d.Nodes[test.w].Op == isSum {
				known[test.name]++
			}
		}
	}
	for _, name := range []string{"right", "low bits", "less", "greater", "less, signed", "equal", "sign"} {
		if known[name] < 100 {
			t.Errorf("%s: %d results are known", name, known[name])
		}
	}
}

// TestPairs takes ands and xors of words of 64 bits that are two of 32 bits, as lanes of SHA-256 are: the upper one
// may be a number, and its sign another word.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for range 5_000 {
		d := NewFormulas(nil)
		d.Pairs = true
		variables := make(map[Word]uint64)
		pair := func(number bool) (Word, uint64) {
			low, high := d.Variable(32, len(variables), 1<<32-1), d.Constant(32, 0)
			variables[low] = algebra.RandomWord(r) & (1<<32 - 1)
			x := variables[low]
			if !number {
				high = d.Variable(32, len(variables), 1<<32-1)
				variables[high] = algebra.RandomWord(r) & (1<<32 - 1)
				x |= variables[high] << 32
			}
			return d.join(low, high), x
		}
		number := r.IntN(2) == 0
		a, p := pair(number)
		b, q := pair(r.IntN(2) == 0)
		sign := d.Constant(64, 1<<63)
		for _, test := range []struct {
			name string
			w    Word
			want uint64
		}{
			{"and", d.And(64, a, b), p & q},
			{"xor", d.Xor(64, a, b), p ^ q},
			{"and of a xor", d.And(64, d.Xor(64, a, b), b), (p ^ q) & q},
			{"xor with a sign", d.Xor(64, a, sign), p ^ 1<<63},
		} {
			if got := d.Evaluate(test.w, variables); got != test.want {
				t.Fatalf("%s is %#x, want %#x: %s", test.name, got, test.want, d.String(test.w, 5))
			}
			if low := d.Extract(test.w, 0, 32); number && d.Nodes[low].Op == IsBytes {
				t.Fatalf("half of %s is not a word: %s", test.name, d.String(low, 5))
			}
		}
	}
}
