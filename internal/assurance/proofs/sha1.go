// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"slices"

	"example.com/fastmac/internal/assurance/formula"
)

// The proofs of PBKDF2 with SHA-1, FIPS 180-4. The variables are the words of chaining values.

// proveIterate1 proves any number of steps of one iteration, which is in memory as its fields are.
func proveIterate1(p *prover) (cases int, err error) { return p.iterateSHA1(1) }

// proveIteratePair1 is proveIterate1 for two.
func proveIteratePair1(p *prover) (cases int, err error) { return p.iterateSHA1(2) }

func (p *prover) iterateSHA1(count int) (cases int, err error) {
	p.reset()
	v := &hasher{prover: p, sha2: sha2{bits: 32}}
	var before, after []formula.Word
	for range count {
		inner, outer, u, t := v.unknown(5), v.unknown(5), v.unknown(5), v.unknown(5)
		before = slices.Concat(before, v.inMemory(inner), v.inMemory(outer), v.inMemory(u), v.inMemory(t))
		u, t = v.stepSHA1(inner, outer, u, t)
		after = slices.Concat(after, v.inMemory(inner), v.inMemory(outer), v.inMemory(u), v.inMemory(t))
	}
	return v.steps(before, after)
}

// inMemory returns the words of a hash, a to e, in the order of the assembly.
func (v *hasher) inMemory(s []formula.Word) []formula.Word {
	zero := v.Constant(32, 0)
	return []formula.Word{s[3], s[2], s[1], s[0], zero, zero, zero, s[4]}
}

// stepSHA1 is step with SHA-1.
func (v *hasher) stepSHA1(inner, outer, u, t []formula.Word) (nextU, nextT []formula.Word) {
	for _, state := range [][]formula.Word{inner, outer} {
		block := append(slices.Clone(u), v.wordsOf(1<<31, 0, 0, 0, 0, 0, 0, 0, 0, 0, (16+5)*32)...)
		u = v.compressSHA1(state, block)
	}
	for i := range u {
		nextT = append(nextT, v.added(t[i], u[i]))
	}
	return u, nextT
}

// compressSHA1 is the compression function, section 6.1.2.
func (v *hasher) compressSHA1(state, block []formula.Word) []formula.Word {
	left := func(w formula.Word, by uint) formula.Word { return v.Rotate(32, w, 32-by) }
	w, s := slices.Clone(block), slices.Clone(state)
	for t := 16; t < 80; t++ {
		w = append(w, left(v.Xor(32, v.xor(w[t-3], w[t-8], w[t-14]), w[t-16]), 1))
	}
	for t := range w {
		a, b, c, d, e := s[0], s[1], s[2], s[3], s[4]
		f := v.Ternary(32, []uint64{0xca, 0x96, 0xe8, 0x96}[t/20], b, c, d) // Ch, Parity, Maj, Parity
		k := v.Constant(32, []uint64{0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6}[t/20])
		s = []formula.Word{v.sum(left(a, 5), f, e, k, w[t]), a, left(b, 30), c, d}
	}
	for i := range s {
		s[i] = v.sum(s[i], state[i])
	}
	return s
}

// added is the xor of words in vectors, by bytes: the normal form of what VXORPS and VPXOR make of them.
func (v *hasher) added(t, u formula.Word) formula.Word {
	x, y := v.Bytes(t, v.bits), v.Bytes(u, v.bits)
	for k := range x {
		x[k] = v.ByteAt(v.Xor(8, v.FromBytes(x[k:][:1]), v.FromBytes(y[k:][:1])), 0)
	}
	return v.FromBytes(x)
}
