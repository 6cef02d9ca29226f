// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
)

// fromBlock returns a block as an element: its first bit is the highest one of the first byte.
func fromBlock(b []byte) Element {
	return Element{bits.Reverse64(binary.BigEndian.Uint64(b)), bits.Reverse64(binary.BigEndian.Uint64(b[8:]))}
}

// TestField computes GMAC in the field, and compares it with crypto/cipher.
func TestField(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for range 200 {
		block, _ := aes.NewCipher(random(16))
		aead, _ := cipher.NewGCM(block)
		nonce, data := random(12), random(48)
		h, pad := make([]byte, 16), append(bytes.Clone(nonce), 0, 0, 0, 1)
		block.Encrypt(h, h)
		block.Encrypt(pad, pad)
		lengths := binary.BigEndian.AppendUint64(nil, 8*uint64(len(data)))
		data = append(append(data, lengths...), make([]byte, 8)...)
		var y Element
		for i := 0; i < len(data); i += 16 {
			y = y.plus(fromBlock(data[i:])).Times(fromBlock(h))
		}
		if want := fromBlock(aead.Seal(nil, nonce, nil, data[:48])); y.plus(fromBlock(pad)) != want {
			t.Fatalf("GMAC is %x, want %x", y.plus(fromBlock(pad)), want)
		}
		if e := fromBlock(h); e.Times(e.inverse()) != One || U(1).Times(InverseU) != One || e.timesU() != e.Times(U(1)) {
			t.Fatalf("wrong inverse of %x", e)
		}
	}
}

// Value returns the value of a polynomial.
func (g *Algebraist) value(p Polynomial, h Element, variables map[Word]uint64) (sum Element) {
	words := make(map[int]Element)
	for x, n := range g.unknowns {
		w := g.Evaluate(x.Word, variables)
		switch {
		case x.part == backwards:
			w = bits.ReverseBytes64(w)
		case x.part < 8:
			w = w >> (8 * x.part) & 0xff << 56 // a byte, as the highest one of a word
		}
		words[n] = Element{Low: bits.Reverse64(w)}
	}
	for m, c := range p {
		for range m.H {
			c = c.Times(h)
		}
		for _, x := range []int{m.a, m.b} {
			if x != 0 {
				c = c.Times(words[x])
			}
		}
		sum = sum.plus(c)
	}
	return sum
}

// TestPolynomials makes random formulas of words. The value of each polynomial must be that of
// the word, as it is, as a factor, and with the definitions of names.
func TestPolynomials(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	factors, names := 0, 0
	for round := range 300 {
		d := NewFormulas(nil)
		g := NewAlgebraist(d)
		h := Element{r.Uint64(), r.Uint64()}
		variables := make(map[Word]uint64)
		var words []Word
		variable := func(n int, x uint64) Word {
			w := d.Variable(n, len(variables), 1<<64-1)
			variables[w] = algebra.Trim(n, x)
			return w
		}
		power := h.Times(InverseU)
		for n := 1; n <= 2; n++ {
			low, high := variable(64, bits.Reverse64(power.High)), variable(64, bits.Reverse64(power.Low))
			g.IsPower(n, low, high)
			words = append(words, low, high)
			power = power.Times(h)
		}
		for range 2 {
			words = append(words, variable(64, r.Uint64()), d.Constant(64, r.Uint64()))
			var b []ByteOf
			for range 8 {
				b = append(b, d.ByteAt(variable(8, r.Uint64()), 0))
			}
			words = append(words, d.FromBytes(b))
		}
		for range 30 {
			a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
			switch r.IntN(4) {
			case 0:
				low, high := d.Carryless(a, b)
				words = append(words, low, high)
			case 1, 2:
				words = append(words, d.Xor(64, a, b))
			default:
				x, y := make([]ByteOf, 8), d.Bytes(b, 64)
				order := r.IntN(8)
				for k := range x {
					x[k] = y[k^order]
				}
				if r.IntN(2) == 0 {
					x[r.IntN(8)] = d.ByteAt(a, r.IntN(8))
				}
				if r.IntN(2) == 0 {
					x = append(x[1:], x[0])
				}
				words = append(words, d.FromBytes(x))
			}
		}
		for _, w := range words {
			p := g.polynomial(w)
			want := Element{Low: bits.Reverse64(d.Evaluate(w, variables))}
			f := g.factor(w)
			factors++
			for what, q := range map[string]Polynomial{"polynomial": p, "factor": f, "expanded": g.Expanded(p), "expanded factor": g.Expanded(f)} {
				if got := g.value(q, h, variables); got != want {
					t.Fatalf("round %d: the %s of %s is %x, want %x", round, what, d.String(w, 4), got, want)
				}
			}
		}
		names += len(g.definitions)
	}
	t.Logf("%d words, %d names", factors, names)
}
