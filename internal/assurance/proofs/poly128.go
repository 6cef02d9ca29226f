// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"

	"example.com/fastmac/internal/assurance/formula"
)

// POLY-128, section 5.3.2, modulo p128 = 2^128-159. A step is a formula of the value y, below
// 2^128, and the pair of words m. Its result r is below 2^128, and modulo p128 it is
//
//	k*y + m                                if m < 2^128-2^96
//	k*(k*y-1) + m-159 = k^2*y + m-159-k    otherwise
//
// This is why. Let f be k or k^2 and a be m or m-159-k, which does not wrap around because
// k < 2^121. Let
//
//	f*y   = 2^128*h + l        h <= 2^128-2
//	159*h = 2^128*g + e        g <= 158
//	l+e   = 2^128*c1 + s       each c is 0 or 1
//	s+a   = 2^128*c2 + t
//	t + 159*(g+c1+c2) = 2^128*c3 + u
//	r = u + 159*c3
//
// g+c1+c2 <= 160, so if c3 is 1, u < 159*160: the last sum changes only the lower word. Since 2^128
// is 159 modulo p128, r is f*y + a for the reasons that POLY-64 has.

// wide is a word of 128 bits.
type wide struct{ hi, lo formula.Word }

// sum is x + y + carry, of 64 bits, and its carry.
func (v *prover) sum(x, y, carry formula.Word) (sum, carryOut formula.Word) {
	return v.Add(64, v.Add(64, x, y), v.Extend(1, carry)), v.Carry(64, x, y, carry)
}

// step128 is that formula. square is k^2.
func (k *symbolicKey) step128(key, square, y, m wide) wide {
	zero, zero64 := k.Constant(1, 0), k.Constant(64, 0)
	minus := func(a, b wide) wide {
		borrow := k.Extend(1, k.Borrow(64, a.lo, b.lo, zero))
		return wide{k.Sub(64, k.Sub(64, a.hi, b.hi), borrow), k.Sub(64, a.lo, b.lo)}
	}
	marked := k.marked(m.hi)
	addend := minus(minus(m, wide{zero64, k.Constant(64, 159)}), key)
	choose := func(a, b wide) wide {
		return wide{k.Choose(64, marked, a.hi, b.hi), k.Choose(64, marked, a.lo, b.lo)}
	}
	return k.times128(choose(square, key), y, choose(addend, m))
}

// times128 is f*y + a, see above. There may be no a.
func (k *symbolicKey) times128(f, y wide, a ...wide) wide {
	zero, zero64, offset := k.Constant(1, 0), k.Constant(64, 0), k.Constant(64, 159)

	// The product r3:r2:r1:r0. Of the sums for r3 no carry is left.
	r0, r1 := k.Wide(f.lo, y.lo)
	low, r2 := k.Wide(f.hi, y.lo)
	r1, c := k.sum(r1, low, zero)
	r2, _ = k.sum(r2, zero64, c)
	low, high := k.Wide(f.lo, y.hi)
	low3, r3 := k.Wide(f.hi, y.hi)
	r1, c = k.sum(r1, low, zero)
	r2, c = k.sum(r2, high, c)
	r3, _ = k.sum(r3, zero64, c)
	r2, c = k.sum(r2, low3, zero)
	r3, _ = k.sum(r3, zero64, c)

	// 159*h, and the sums. g+c1+c2 is folds.
	low, high = k.Wide(r2, offset)
	low3, folds := k.Wide(r3, offset)
	high, c = k.sum(high, low3, zero)
	folds, _ = k.sum(folds, zero64, c)
	for _, e := range append([]wide{{high, low}}, a...) {
		r0, c = k.sum(r0, e.lo, zero)
		r1, c = k.sum(r1, e.hi, c)
		folds, _ = k.sum(folds, zero64, c)
	}
	r0, c = k.sum(r0, k.MulLow(64, folds, offset), zero)
	r1, c = k.sum(r1, zero64, c)
	return wide{r1, k.Add(64, r0, k.And(64, k.Sub(64, zero64, k.Extend(1, c)), offset))}
}

// provePoly128 proves nhPoly128, L1 and L2, of which there are three iterations or four. From 35 blocks on
// there are prefetches.
func provePoly128(v *prover) (cases int, err error) {
	for n := 3; n <= 4; n++ {
		for _, blocks := range []int{2, 4, 6, 36} {
			if v.step > 1 && blocks > 6 {
				continue
			}
			v.reset()
			k := v.key(n)
			bytes, slice := v.message(1024 * blocks)
			values := v.variables(64, 8, 1<<64-1)
			y := v.place(64, false, values...)
			if err := v.call(y, k.at, slice); err != nil {
				return cases, err
			}
			want := slices.Clone(values) // those of other iterations do not change
			for t := range k.n {
				square := k.times128(k.k128[t], k.k128[t])
				value := wide{values[2*t], values[2*t+1]}
				word := func(b int) formula.Word {
					return k.Add(64, k.nh(t, 0, bytes[1024*b:][:1024]), k.Constant(64, 8*1024))
				}
				for b := 0; b < blocks; b += 2 {
					value = k.step128(k.k128[t], square, value, wide{word(b), word(b + 1)})
				}
				want[2*t], want[2*t+1] = value.hi, value.lo
			}
			if err := v.equalWords(v.result(y, 64, 8), want, "%d iterations, %d blocks", n, blocks); err != nil {
				return cases, err
			}
			cases++
		}
	}
	return cases, nil
}
