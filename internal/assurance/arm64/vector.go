// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package arm64

import (
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// lanes sets the lanes of n bits of a vector register. The upper half of what is written with 64 bits
// becomes zero.
func (m model[W, V]) lanes(o *machine.Operand, n int, f func(k int) W) {
	v := m.Vectors[o.Number] // with what the register of this architecture does not have
	for k := range o.Size / n {
		m.SetLane(&v, n, k, f(k))
	}
	if o.Size == 64 {
		m.SetLane(&v, 64, 1, m.Constant(64, 0))
	}
	m.Vectors[o.Number] = v
}

// vector returns a vector operand.
func (m model[W, V]) vector(o *machine.Operand) *V { return &m.Vectors[o.Number] }

// sources returns the operands that follow the first one. Where the last is no vector both are the same.
func (m model[W, V]) sources(i *machine.Instruction) (a, b *V) {
	a = m.vector(&i.Operands[1])
	if len(i.Operands) > 2 && i.Operands[2].Kind == machine.Vector {
		return a, m.vector(&i.Operands[2])
	}
	return a, a
}

// move executes an instruction that only moves lanes of vectors, or words between these and
// general registers. It reports whether i is one.
func (m model[W, V]) move(i *machine.Instruction) bool {
	o, n := &i.Operands[0], i.Operands[0].Element
	switch {
	case i.Mnemonic == "mov" && o.Kind == machine.General:
		m.set(o, o.Size, m.get(&i.Operands[1], o.Size))
		return true
	case i.Mnemonic == "mov" && o.Lane != machine.None:
		m.SetLane(m.vector(o), n, o.Lane, m.get(&i.Operands[1], n))
		return true
	case i.Mnemonic == "dup":
		w := m.get(&i.Operands[1], n)
		m.lanes(o, n, func(int) W { return w })
		return true
	}
	a, b := m.sources(i)
	// pick sets the lanes of n bits to those of a, and behind them of b, with the indices from.
	pick := func(n int, from func(k int) int) bool {
		count := 128 / n
		m.lanes(o, n, func(k int) W {
			at := from(k)
			if at >= count {
				return m.Lane(b, n, at-count)
			}
			return m.Lane(a, n, at)
		})
		return true
	}

	switch i.Mnemonic {
	case "mov":
		return pick(64, func(k int) int { return k })
	case "rev32":
		return pick(8, func(k int) int { return k ^ 3 })
	case "rev64":
		return pick(8, func(k int) int { return k ^ 7 })
	case "ext":
		return pick(8, func(k int) int { return k + int(i.Operands[3].Number) })
	case "uzp1":
		return pick(n, func(k int) int { return 2 * k })
	case "uzp2":
		return pick(n, func(k int) int { return 2*k + 1 })
	case "tbl":
		m.lookUp(i)
	default:
		return false
	}
	return true
}

// lookUp executes TBL: the table is all operands but the first and the last. An index behind it gives
// zero.
func (m model[W, V]) lookUp(i *machine.Instruction) {
	last := len(i.Operands) - 1
	var table V
	for k := range i.Operands[1:last] {
		for h := range 2 {
			m.SetLane(&table, 64, 2*k+h, m.Lane(m.vector(&i.Operands[1+k]), 64, h))
		}
	}
	size, index := 16*(last-1), m.vector(&i.Operands[last])
	m.lanes(&i.Operands[0], 8, func(k int) W {
		at := m.Lane(index, 8, k)
		return m.Choose(8, m.Less(8, at, m.Constant(8, uint64(size))), m.Pick(&table, 8, 0, size, at), m.Constant(8, 0))
	})
}

// arithmetic executes an instruction that computes with the lanes of vectors. It reports
// whether i is one.
func (m model[W, V]) arithmetic(i *machine.Instruction) bool {
	o, n := &i.Operands[0], i.Operands[0].Element
	last := &i.Operands[len(i.Operands)-1]
	a, b := m.sources(i)
	binary := func(n int, f func(a, b W) W) bool {
		m.lanes(o, n, func(k int) W { return f(m.Lane(a, n, k), m.Lane(b, n, k)) })
		return true
	}
	// The name of what takes the upper halves of its sources ends with 2.
	name, upper := strings.CutSuffix(i.Mnemonic, "2")
	first := 0
	if upper {
		first = 2
	}
	product := func(k int) W { return m.Product(m.Lane(a, 32, first+k), m.Lane(b, 32, first+k)) }

	switch name {
	case "add":
		return binary(n, func(a, b W) W { return m.Add(n, a, b) })
	case "addp":
		m.lanes(o, n, func(k int) W {
			from := []*V{a, b}[k]
			return m.Add(n, m.Lane(from, n, 0), m.Lane(from, n, 1))
		})
	case "mul":
		return binary(n, func(a, b W) W { return m.MulLow(n, a, b) })
	case "mla":
		m.lanes(o, n, func(k int) W {
			return m.Add(n, m.Lane(m.vector(o), n, k), m.MulLow(n, m.Lane(a, n, k), m.Lane(b, n, k)))
		})
	case "umull":
		m.lanes(o, 64, product)
	case "umlal":
		m.lanes(o, 64, func(k int) W { return m.Add(64, m.Lane(m.vector(o), 64, k), product(k)) })
	case "and":
		return binary(64, func(a, b W) W { return m.And(64, a, b) })
	case "eor":
		if a == b {
			m.lanes(o, 64, func(int) W { return m.Constant(64, 0) }) // whatever is in the register
			return true
		}
		return binary(64, func(a, b W) W { return m.Xor(64, a, b) })
	case "shl":
		m.lanes(o, n, func(k int) W { return m.Left(n, m.Lane(a, n, k), uint(last.Number)) })
	case "ushr":
		m.lanes(o, n, func(k int) W {
			if last.Number == uint64(n) {
				return m.Constant(n, 0)
			}
			return m.Right(n, m.Lane(a, n, k), uint(last.Number))
		})
	case "shll":
		m.lanes(o, 64, func(k int) W { return m.Left(64, m.Extend(32, m.Lane(a, 32, first+k)), 32) })
	default:
		return false
	}
	return true
}

// cryptography executes an instruction of AES, GHASH or SHA-2. It reports whether i is one.
func (m model[W, V]) cryptography(i *machine.Instruction) bool {
	o := &i.Operands[0]
	a, b := m.sources(i)
	d := *m.vector(o)
	// both sets the register to two words.
	both := func(low, high W) { m.lanes(o, 64, func(k int) W { return []W{low, high}[k] }) }
	zero := m.Constant(64, 0)
	low := func(v *V) W { return m.Lane(v, 64, 0) }
	high := func(v *V) W { return m.Lane(v, 64, 1) }
	sum := func(w ...W) (s W) {
		s = w[0]
		for _, x := range w[1:] {
			s = m.Add(64, s, x)
		}
		return s
	}

	switch i.Mnemonic {
	case "aese": // the key comes first
		both(m.AES(m.Xor(64, low(&d), low(a)), m.Xor(64, high(&d), high(a)), zero, zero, true))
	case "aesmc":
		both(m.MixColumns(low(a), high(a)))
	case "pmull":
		both(m.Carryless(low(a), low(b)))
	case "pmull2":
		both(m.Carryless(high(a), high(b)))
	case "sha256h": // the first four variables after four rounds, FIPS 180-4 section 6.2.2
		first, _ := m.fourRounds(&d, a, b)
		m.lanes(o, 32, func(k int) W { return first[k] })
	case "sha256h2": // the last four
		_, last := m.fourRounds(a, &d, b)
		m.lanes(o, 32, func(k int) W { return last[k] })
	case "sha256su0": // of the message schedule: W[t-16] + sigma0(W[t-15])
		m.lanes(o, 32, func(k int) W {
			w := m.Lane(a, 32, 0)
			if k < 3 {
				w = m.Lane(&d, 32, k+1)
			}
			return m.Add(32, m.Lane(&d, 32, k), m.Xor(32, m.turned(32, w, 7, 18), m.Right(32, w, 3)))
		})
	case "sha256su1": // that, W[t-7] and sigma1(W[t-2])
		before := []W{m.Lane(b, 32, 2), m.Lane(b, 32, 3)}
		seventh := []W{m.Lane(a, 32, 1), m.Lane(a, 32, 2), m.Lane(a, 32, 3), m.Lane(b, 32, 0)}
		m.lanes(o, 32, func(k int) W {
			w := before[k]
			w = m.Add(32, m.Add(32, m.Lane(&d, 32, k), seventh[k]), m.Xor(32, m.turned(32, w, 17, 19), m.Right(32, w, 10)))
			before = append(before, w)
			return w
		})
	case "sha512h": // T1 of two rounds, FIPS 180-4 section 6.4.2, less what is added later
		first := sum(m.ch(high(b), low(a), high(a)), m.turned(64, high(b), 14, 18, 41), high(&d))
		e := sum(first, low(b))
		both(sum(m.ch(e, high(b), low(a)), m.turned(64, e, 14, 18, 41), low(&d)), first)
	case "sha512h2": // T2 of two rounds, plus T1
		first := sum(m.maj(low(a), high(b), low(b)), m.turned(64, low(b), 28, 34, 39), high(&d))
		both(sum(m.maj(first, low(b), high(b)), m.turned(64, first, 28, 34, 39), low(&d)), first)
	case "sha512su0": // of the message schedule
		small := func(w W) W { return m.Xor(64, m.turned(64, w, 1, 8), m.Right(64, w, 7)) }
		both(sum(low(&d), small(high(&d))), sum(high(&d), small(low(a))))
	case "sha512su1":
		small := func(w W) W { return m.Xor(64, m.turned(64, w, 19, 61), m.Right(64, w, 6)) }
		both(sum(low(&d), small(low(a)), low(b)), sum(high(&d), small(high(a)), high(b)))
	default:
		return false
	}
	return true
}

// fourRounds returns the variables a to d and e to h after four rounds of SHA-256. w has the sums of K
// and W.
func (m model[W, V]) fourRounds(abcd, efgh, w *V) (first, last [4]W) {
	for k := range 4 {
		first[k], last[k] = m.Lane(abcd, 32, k), m.Lane(efgh, 32, k)
	}
	for k := range 4 {
		a, b, c, d := first[0], first[1], first[2], first[3]
		e, f, g, h := last[0], last[1], last[2], last[3]
		t1 := m.Add(32, h, m.turned(32, e, 6, 11, 25))
		t1 = m.Add(32, m.Add(32, t1, m.Ternary(32, 0xca, e, f, g)), m.Lane(w, 32, k))
		t2 := m.Add(32, m.turned(32, a, 2, 13, 22), m.Ternary(32, 0xe8, a, b, c))
		first, last = [4]W{m.Add(32, t1, t2), a, b, c}, [4]W{m.Add(32, d, t1), e, f, g}
	}
	return first, last
}

// ch and maj are the functions of FIPS 180-4, section 4.1.3.
func (m model[W, V]) ch(x, y, z W) W  { return m.Ternary(64, 0xca, x, y, z) }
func (m model[W, V]) maj(x, y, z W) W { return m.Ternary(64, 0xe8, x, y, z) }

// turned returns the xor of rotations of a word of n bits.
func (m model[W, V]) turned(n int, w W, by ...uint) (x W) {
	x = m.Rotate(n, w, by[0])
	for _, k := range by[1:] {
		x = m.Xor(n, x, m.Rotate(n, w, k))
	}
	return x
}
