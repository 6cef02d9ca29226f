// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import "strings"

// arithmetic executes an instruction that computes with the lanes of vectors. It reports
// whether i is one.
func (m *machine[W, V]) arithmetic(i *instruction) bool {
	name := strings.TrimPrefix(i.mnemonic, "v")
	binary := func(n int, f func(a, b W) W) bool {
		a, b := m.sources(i)
		m.lanes(i, n, func(k int) W { return f(m.lane(&a, n, k), m.lane(&b, n, k)) })
		return true
	}
	shift := func(n int, f func(n int, a W, by uint) W) bool {
		by := &i.operands[len(i.operands)-1]
		a := m.source(&i.operands[len(i.operands)-2], i.operands[0].size)
		if by.kind != immediate {
			return false
		}
		m.lanes(i, n, func(k int) W { return f(n, m.lane(&a, n, k), uint(by.number)) })
		return true
	}
	ones := func(n int, condition W) W {
		return m.choose(n, condition, m.constant(n, 1<<64-1), m.constant(n, 0))
	}

	switch name {
	case "paddd":
		return binary(32, func(a, b W) W { return m.add(32, a, b) })
	case "paddq":
		return binary(64, func(a, b W) W { return m.add(64, a, b) })
	case "psubq":
		return binary(64, func(a, b W) W { return m.sub(64, a, b) })
	case "pmuludq":
		return binary(64, func(a, b W) W { return m.product(m.extract(a, 0, 32), m.extract(b, 0, 32)) })
	case "pmullq":
		return binary(64, func(a, b W) W { return m.mulLow(64, a, b) })
	case "pminuq":
		return binary(64, func(a, b W) W { return m.choose(64, m.less(64, a, b), a, b) })
	case "pand", "pandq":
		return binary(64, func(a, b W) W { return m.and(64, a, b) })
	case "por":
		return binary(64, func(a, b W) W { return m.or(64, a, b) })
	case "pxor", "pxorq", "pxord":
		n := 64
		if name == "pxord" {
			n = 32 // of the elements that a mask selects
		}
		if last := len(i.operands) - 1; i.operands[last] == i.operands[last-1] {
			m.lanes(i, n, func(int) W { return m.constant(n, 0) }) // whatever is in the register
			return true
		}
		return binary(n, func(a, b W) W { return m.xor(n, a, b) })
	case "pternlogq":
		a := m.source(&i.operands[0], 0)
		b, c := m.sources(i)
		m.lanes(i, 64, func(k int) W {
			return m.ternary(64, i.operands[3].number, m.lane(&a, 64, k), m.lane(&b, 64, k), m.lane(&c, 64, k))
		})
	case "pcmpeqd", "pcmpeqq":
		n := map[string]int{"pcmpeqd": 32, "pcmpeqq": 64}[name]
		if i.operands[1] == i.operands[2] {
			m.lanes(i, n, func(int) W { return m.constant(n, 1<<64-1) })
			return true
		}
		return binary(n, func(a, b W) W { return ones(n, m.equal(n, a, b)) })
	case "pcmpgtq":
		return binary(64, func(a, b W) W { return ones(64, m.lessSigned(64, b, a)) })
	case "blendvpd":
		a, b := m.sources(i)
		mask := m.source(&i.operands[3], 0)
		m.lanes(i, 64, func(k int) W {
			return m.choose(64, m.extract(m.lane(&mask, 64, k), 63, 1), m.lane(&b, 64, k), m.lane(&a, 64, k))
		})
	case "pslld":
		return shift(32, m.left)
	case "psllq":
		return shift(64, m.left)
	case "psrlq":
		return shift(64, m.right)
	case "psrad":
		return shift(32, m.rightSigned)
	case "prorq":
		return shift(64, m.rotate)
	case "pclmulqdq":
		a, b := m.sources(i)
		halves := int(i.operands[len(i.operands)-1].number)
		var high W
		m.lanes(i, 64, func(k int) (low W) {
			if k%2 == 1 {
				return high
			}
			low, high = m.carryless(m.lane(&a, 64, k+halves&1), m.lane(&b, 64, k+halves>>4))
			return low
		})
	case "aesenc", "aesenclast":
		a, key := m.sources(i)
		var high W
		m.lanes(i, 64, func(k int) (low W) {
			if k%2 == 1 {
				return high
			}
			low, high = m.aes(m.lane(&a, 64, k), m.lane(&a, 64, k+1), m.lane(&key, 64, k), m.lane(&key, 64, k+1), name == "aesenclast")
			return low
		})
	case "zeroupper":
		for r := range 16 {
			for k := 2; k < 8; k++ {
				m.setLane(&m.vectors[r], 64, k, m.constant(64, 0))
			}
		}
	default:
		return false
	}
	return true
}

// shuffle executes an instruction that only moves lanes of vectors. It reports whether i is
// one.
func (m *machine[W, V]) shuffle(i *instruction) bool {
	if len(i.operands) < 2 {
		return false
	}
	name := strings.TrimPrefix(i.mnemonic, "v")
	o, last := &i.operands[0], &i.operands[len(i.operands)-1]
	number := int(last.number) // if it is an immediate
	// move sets the lanes of n bits to those of the vector a with the indices from.
	move := func(n int, a *V, from func(k int) int) bool {
		m.lanes(i, n, func(k int) W { return m.lane(a, n, from(k)) })
		return true
	}
	sameLane := func(k int) int { return k }

	switch name {
	case "movups", "movaps", "movdqu", "movdqa", "movdqu64", "movdqa64":
		a := m.source(&i.operands[1], o.size)
		return move(64, &a, sameLane)
	case "movdqu8":
		a := m.loadMasked(m.where(&i.operands[1]), o.size/8, 1, m.masks[i.mask])
		return i.mask != 0 && i.zeroing && move(8, &a, sameLane)
	case "pmaskmovq":
		mask := m.source(&i.operands[1], 0)
		bits := m.constant(64, 0)
		for k := range o.size / 64 {
			bit := m.extend(1, m.extract(m.lane(&mask, 64, k), 63, 1))
			bits = m.or(64, bits, m.left(64, bit, uint(k)))
		}
		a := m.loadMasked(m.where(&i.operands[2]), o.size/8, 8, bits)
		return o.kind == vector && move(64, &a, sameLane)
	case "movq", "movd", "movsd":
		return m.moveScalar(i, map[string]int{"movq": 64, "movd": 32, "movsd": 64}[name])
	case "pinsrq":
		a := m.source(&i.operands[len(i.operands)-3], 128)
		w := m.get(&i.operands[len(i.operands)-2], 64)
		m.lanes(i, 64, func(k int) W {
			if k == number&1 {
				return w
			}
			return m.lane(&a, 64, k)
		})
	case "pextrq":
		m.set(o, m.lane(&m.vectors[i.operands[1].number], 64, number&1))
	case "pbroadcastq", "pbroadcastd":
		n := map[string]int{"pbroadcastq": 64, "pbroadcastd": 32}[name]
		w := m.get(&i.operands[1], n)
		m.lanes(i, n, func(int) W { return w })
	case "broadcasti128", "broadcasti32x4":
		a := m.source(&i.operands[1], 128)
		return move(64, &a, func(k int) int { return k % 2 })
	case "movshdup":
		a := m.source(&i.operands[1], o.size)
		return move(32, &a, func(k int) int { return k | 1 })
	case "pshufd":
		a := m.source(&i.operands[1], o.size)
		return move(32, &a, func(k int) int { return k&^3 + number>>(2*(k&3))&3 })
	case "permq", "permd":
		n := map[string]int{"permq": 64, "permd": 32}[name]
		if last.kind == immediate {
			a := m.source(&i.operands[1], o.size)
			return n == 64 && move(64, &a, func(k int) int { return k&^3 + number>>(2*(k&3))&3 })
		}
		index, a := m.sources(i)
		m.lanes(i, n, func(k int) W { return m.pick(&a, n, 0, o.size/n, m.lane(&index, n, k)) })
	case "pshufb":
		a, index := m.sources(i)
		m.lanes(i, 8, func(k int) W {
			at := m.lane(&index, 8, k)
			return m.choose(8, m.extract(at, 7, 1), m.constant(8, 0), m.pick(&a, 8, k&^15, 16, at))
		})
	case "pslldq":
		a := m.source(&i.operands[len(i.operands)-2], o.size)
		m.lanes(i, 8, func(k int) W {
			if k&15 < number {
				return m.constant(8, 0)
			}
			return m.lane(&a, 8, k-number)
		})
	case "extracti128", "extracti32x4", "extracti64x2", "extracti64x4":
		a, n := m.source(&i.operands[1], 0), o.size/64
		parts := i.operands[1].size / o.size
		return move(64, &a, func(k int) int { return n*(number%parts) + k })
	default:
		return m.shuffleTwo(i, name, number)
	}
	return true
}

// moveScalar moves n bits between a vector and something else. The rest of a vector becomes
// zero.
func (m *machine[W, V]) moveScalar(i *instruction, n int) bool {
	if len(i.operands) != 2 {
		return false
	}
	o, w := &i.operands[0], m.get(&i.operands[1], n)
	if o.kind != vector {
		m.set(o, w)
		return true
	}
	m.lanes(i, n, func(k int) W {
		if k == 0 {
			return w
		}
		return m.constant(n, 0)
	})
	return i.mnemonic != "movsd" || i.operands[1].kind == memory
}

// shuffleTwo executes an instruction that moves lanes of two vectors.
func (m *machine[W, V]) shuffleTwo(i *instruction, name string, number int) bool {
	if len(i.operands) < 3 {
		return false
	}
	o := &i.operands[0]
	n := 64
	var from func(k int) (second bool, lane int)
	switch name {
	case "punpcklqdq":
		from = func(k int) (bool, int) { return k%2 == 1, k &^ 1 }
	case "punpckhqdq":
		from = func(k int) (bool, int) { return k%2 == 1, k | 1 }
	case "punpckldq":
		n = 32
		from = func(k int) (bool, int) { return k%2 == 1, k&^3 + k&3/2 }
	case "pblendd":
		n = 32
		from = func(k int) (bool, int) { return number>>k&1 == 1, k }
	case "alignq":
		// The second source is the lower half of what is shifted.
		count := o.size / 64
		from = func(k int) (bool, int) { return k+number < count, (k + number) % count }
	case "perm2i128":
		if number&0x88 != 0 {
			return false
		}
		from = func(k int) (bool, int) {
			part := number >> (4 * (k / 2))
			return part&2 != 0, 2*(part&1) + k%2
		}
	case "shufi64x2":
		if o.size != 512 {
			return false
		}
		from = func(k int) (bool, int) { return k >= 4, 2*(number>>(2*(k/2))&3) + k%2 }
	case "inserti128", "inserti32x4", "inserti64x4":
		part := i.operands[2].size / 64
		first := part * (number % (o.size / 64 / part))
		from = func(k int) (bool, int) { return first <= k && k < first+part, (k - first) & (part - 1) }
		a, b := m.source(&i.operands[1], o.size), m.source(&i.operands[2], 0)
		return m.blend(i, n, &a, &b, func(k int) (bool, int) {
			if second, lane := from(k); second {
				return true, lane
			}
			return false, k
		})
	default:
		return false
	}
	a, b := m.sources(i)
	return m.blend(i, n, &a, &b, from)
}

// blend sets the lanes of n bits to those of a, or the second vector b, that from returns.
func (m *machine[W, V]) blend(i *instruction, n int, a, b *V, from func(k int) (second bool, lane int)) bool {
	m.lanes(i, n, func(k int) W {
		second, lane := from(k)
		if second {
			return m.lane(b, n, lane)
		}
		return m.lane(a, n, lane)
	})
	return true
}
