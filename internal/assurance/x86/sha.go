// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import "example.com/fastmac/internal/assurance/machine"

// sha executes an instruction of SHA-1 or SHA-256, FIPS 180-4. It reports whether i is one.
func (m model[W, V]) sha(i *machine.Instruction) bool {
	if classes(i)[0] != SHA {
		return false
	}
	first, second := m.sources(i)
	var v, w [4]W
	for k := range v {
		v[k], w[k] = m.Lane(&first, 32, k), m.Lane(&second, 32, k)
	}
	switch i.Mnemonic {
	case "sha1rnds4": // four rounds, section 6.1.2: the second operand has the sums of W and, in its first, of e
		a, b, c, d, e := v[3], v[2], v[1], v[0], m.Constant(32, 0)
		kind := i.Operands[2].Number
		for k := range 4 {
			f := m.Ternary(32, []uint64{0xca, 0x96, 0xe8, 0x96}[kind], b, c, d)
			constant := m.Constant(32, []uint64{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6}[kind])
			a, b, c, d, e = m.sum(m.Rotate(32, a, 32-5), f, e, constant, w[3-k]), a, m.Rotate(32, b, 32-30), c, d
		}
		v = [4]W{d, c, b, a}
	case "sha1nexte": // e of four rounds later, which is a, added to the first word
		v = [4]W{w[0], w[1], w[2], m.sum(w[3], m.Rotate(32, v[3], 32-30))}
	case "sha1msg1": // W[t-16] and W[t-14] of the message schedule
		v = [4]W{m.Xor(32, v[0], w[2]), m.Xor(32, v[1], w[3]), m.Xor(32, v[2], v[0]), m.Xor(32, v[3], v[1])}
	case "sha1msg2": // what these and W[t-8] are, and W[t-3], rotated
		for k := 3; k >= 0; k-- {
			before := v[3]
			if k > 0 {
				before = w[k-1]
			}
			v[k] = m.Rotate(32, m.Xor(32, v[k], before), 32-1)
		}
	case "sha256rnds2": // two rounds, section 6.2.2, of which XMM0 has the sums of K and W
		a, b, e, f := w[3], w[2], w[1], w[0]
		c, d, g, h := v[3], v[2], v[1], v[0]
		for k := range 2 {
			ch, maj := m.Ternary(32, 0xca, e, f, g), m.Ternary(32, 0xe8, a, b, c)
			t1 := m.sum(h, m.turned(e, 6, 11, 25), ch, m.Lane(&m.Vectors[0], 32, k))
			a, b, c, d, e, f, g, h = m.sum(t1, m.turned(a, 2, 13, 22), maj), a, b, c, m.sum(d, t1), e, f, g
		}
		v = [4]W{f, e, b, a}
	case "sha256msg1": // W[t-16] + sigma0(W[t-15]) of the message schedule
		next := [4]W{v[1], v[2], v[3], w[0]}
		for k, x := range next {
			v[k] = m.sum(v[k], m.Xor(32, m.turned(x, 7, 18), m.Right(32, x, 3)))
		}
	case "sha256msg2": // what that and W[t-7] are, plus sigma1(W[t-2])
		before := []W{w[2], w[3]}
		for k := range v {
			x := before[k]
			v[k] = m.sum(v[k], m.Xor(32, m.turned(x, 17, 19), m.Right(32, x, 10)))
			before = append(before, v[k])
		}
	default:
		return false
	}
	m.lanes(i, 32, func(k int) W { return v[k] })
	return true
}

// sum is that of words of 32 bits.
func (m model[W, V]) sum(words ...W) W {
	s := words[0]
	for _, w := range words[1:] {
		s = m.Add(32, s, w)
	}
	return s
}

// turned returns the xor of rotations of a word of 32 bits.
func (m model[W, V]) turned(w W, by ...uint) W {
	x := m.Rotate(32, w, by[0])
	for _, n := range by[1:] {
		x = m.Xor(32, x, m.Rotate(32, w, n))
	}
	return x
}
