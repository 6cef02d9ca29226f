// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package x86

import (
	"strings"

	"example.com/fastmac/internal/assurance/machine"
)

// arithmetic executes an instruction that computes with the lanes of vectors. It reports
// whether i is one.
func (m model[W, V]) arithmetic(i *machine.Instruction) bool {
	name := strings.TrimPrefix(i.Mnemonic, "v")
	binary := func(n int, f func(a, b W) W) bool {
		a, b := m.sources(i)
		m.lanes(i, n, func(k int) W { return f(m.Lane(&a, n, k), m.Lane(&b, n, k)) })
		return true
	}
	shift := func(n int, f func(n int, a W, by uint) W) bool {
		by := &i.Operands[len(i.Operands)-1]
		a := m.source(&i.Operands[len(i.Operands)-2], i.Operands[0].Size)
		if by.Kind != machine.Immediate || by.Number >= uint64(n) {
			return false
		}
		m.lanes(i, n, func(k int) W { return f(n, m.Lane(&a, n, k), uint(by.Number)) })
		return true
	}
	ones := func(n int, condition W) W {
		return m.Choose(n, condition, m.Constant(n, 1<<64-1), m.Constant(n, 0))
	}

	switch name {
	case "paddd":
		return binary(32, func(a, b W) W { return m.Add(32, a, b) })
	case "paddq":
		return binary(64, func(a, b W) W { return m.Add(64, a, b) })
	case "psubd":
		return binary(32, func(a, b W) W { return m.Sub(32, a, b) })
	case "psubq":
		return binary(64, func(a, b W) W { return m.Sub(64, a, b) })
	case "pmuludq":
		return binary(64, func(a, b W) W { return m.Product(m.Extract(a, 0, 32), m.Extract(b, 0, 32)) })
	case "pmullq":
		return binary(64, func(a, b W) W { return m.MulLow(64, a, b) })
	case "pminuq":
		return binary(64, func(a, b W) W { return m.Choose(64, m.Less(64, a, b), a, b) })
	case "pand", "pandq":
		return binary(64, func(a, b W) W { return m.And(64, a, b) })
	case "por":
		return binary(64, func(a, b W) W { return m.Or(64, a, b) })
	case "pxor", "pxorq", "pxord", "xorps":
		n := 64
		if name == "pxord" || name == "xorps" {
			n = 32 // of the elements that a mask selects, or because they are words
		}
		if last := len(i.Operands) - 1; i.Operands[last] == i.Operands[last-1] {
			m.lanes(i, n, func(int) W { return m.Constant(n, 0) }) // whatever is in the register
			return true
		}
		return binary(n, func(a, b W) W { return m.Xor(n, a, b) })
	case "pternlogq", "pternlogd":
		n := map[string]int{"pternlogq": 64, "pternlogd": 32}[name]
		a := m.source(&i.Operands[0], 0)
		b, c := m.sources(i)
		m.lanes(i, n, func(k int) W {
			return m.Ternary(n, i.Operands[3].Number, m.Lane(&a, n, k), m.Lane(&b, n, k), m.Lane(&c, n, k))
		})
	case "pcmpeqd", "pcmpeqq":
		n := map[string]int{"pcmpeqd": 32, "pcmpeqq": 64}[name]
		if i.Operands[1] == i.Operands[2] {
			m.lanes(i, n, func(int) W { return m.Constant(n, 1<<64-1) })
			return true
		}
		return binary(n, func(a, b W) W { return ones(n, m.Equal(n, a, b)) })
	case "pcmpgtq":
		return binary(64, func(a, b W) W { return ones(64, m.LessSigned(64, b, a)) })
	case "blendvpd":
		a, b := m.sources(i)
		mask := m.source(&i.Operands[3], 0)
		m.lanes(i, 64, func(k int) W {
			return m.Choose(64, m.Extract(m.Lane(&mask, 64, k), 63, 1), m.Lane(&b, 64, k), m.Lane(&a, 64, k))
		})
	case "pslld":
		return shift(32, m.Left)
	case "psllq":
		return shift(64, m.Left)
	case "psrld":
		return shift(32, m.Right)
	case "psrlq":
		return shift(64, m.Right)
	case "psrad":
		return shift(32, m.RightSigned)
	case "prord":
		return shift(32, m.Rotate)
	case "prorq":
		return shift(64, m.Rotate)
	case "pclmulqdq":
		a, b := m.sources(i)
		halves := int(i.Operands[len(i.Operands)-1].Number)
		var high W
		m.lanes(i, 64, func(k int) (low W) {
			if k%2 == 1 {
				return high
			}
			low, high = m.Carryless(m.Lane(&a, 64, k+halves&1), m.Lane(&b, 64, k+halves>>4))
			return low
		})
	case "aesenc", "aesenclast":
		a, key := m.sources(i)
		var high W
		m.lanes(i, 64, func(k int) (low W) {
			if k%2 == 1 {
				return high
			}
			low, high = m.AES(m.Lane(&a, 64, k), m.Lane(&a, 64, k+1), m.Lane(&key, 64, k), m.Lane(&key, 64, k+1), name == "aesenclast")
			return low
		})
	case "zeroupper":
		for r := range 16 {
			for k := 2; k < 8; k++ {
				m.SetLane(&m.Vectors[r], 64, k, m.Constant(64, 0))
			}
		}
	default:
		return false
	}
	return true
}

// shuffle executes an instruction that only moves lanes of vectors. It reports whether i is
// one.
func (m model[W, V]) shuffle(i *machine.Instruction) bool {
	if len(i.Operands) < 2 {
		return false
	}
	name := strings.TrimPrefix(i.Mnemonic, "v")
	o, last := &i.Operands[0], &i.Operands[len(i.Operands)-1]
	number := int(last.Number) // if it is an immediate
	// move sets the lanes of n bits to those of the vector a with the indices from.
	move := func(n int, a *V, from func(k int) int) bool {
		m.lanes(i, n, func(k int) W { return m.Lane(a, n, from(k)) })
		return true
	}
	sameLane := func(k int) int { return k }

	switch name {
	case "movdqu32", "movdqa32":
		from := &i.Operands[1]
		if i.Mask == 0 || from.Kind == machine.Vector {
			a := m.source(from, o.Size)
			return move(32, &a, sameLane)
		}
		a := m.LoadMasked(m.where(from), o.Size/8, 4, m.Masks[i.Mask])
		return move(32, &a, sameLane)
	case "movups", "movaps", "movdqu", "movdqa", "movdqu64", "movdqa64":
		a := m.source(&i.Operands[1], o.Size)
		return move(64, &a, sameLane)
	case "movdqu8":
		switch from := &i.Operands[1]; {
		case i.Mask == 0:
			return false
		case o.Kind == machine.Memory:
			m.StoreMasked(m.where(o), &m.Vectors[from.Number], o.Size/8, m.Masks[i.Mask])
			return true
		case from.Kind == machine.Memory:
			a := m.LoadMasked(m.where(from), o.Size/8, 1, m.Masks[i.Mask])
			return i.Zeroing && move(8, &a, sameLane)
		default:
			return i.Zeroing && move(8, &m.Vectors[from.Number], sameLane)
		}
	case "movq", "movd", "movsd":
		return m.moveScalar(i, map[string]int{"movq": 64, "movd": 32, "movsd": 64}[name])
	case "pinsrd", "pinsrq":
		n := map[string]int{"pinsrd": 32, "pinsrq": 64}[name]
		a := m.source(&i.Operands[len(i.Operands)-3], 128)
		w := m.get(&i.Operands[len(i.Operands)-2], n)
		m.lanes(i, n, func(k int) W {
			if k == number%(128/n) {
				return w
			}
			return m.Lane(&a, n, k)
		})
	case "pextrq":
		m.set(o, m.Lane(&m.Vectors[i.Operands[1].Number], 64, number&1))
	case "pbroadcastq", "pbroadcastd":
		n := map[string]int{"pbroadcastq": 64, "pbroadcastd": 32}[name]
		w := m.get(&i.Operands[1], n)
		m.lanes(i, n, func(int) W { return w })
	case "broadcasti128", "broadcasti32x4":
		a := m.source(&i.Operands[1], 128)
		return move(64, &a, func(k int) int { return k % 2 })
	case "movshdup":
		a := m.source(&i.Operands[1], o.Size)
		return move(32, &a, func(k int) int { return k | 1 })
	case "pshufd":
		a := m.source(&i.Operands[1], o.Size)
		return move(32, &a, func(k int) int { return k&^3 + number>>(2*(k&3))&3 })
	case "permq", "permd":
		n := map[string]int{"permq": 64, "permd": 32}[name]
		if last.Kind == machine.Immediate {
			a := m.source(&i.Operands[1], o.Size)
			return n == 64 && move(64, &a, func(k int) int { return k&^3 + number>>(2*(k&3))&3 })
		}
		index, a := m.sources(i)
		m.lanes(i, n, func(k int) W { return m.Pick(&a, n, 0, o.Size/n, m.Lane(&index, n, k)) })
	case "pshufb":
		a, index := m.sources(i)
		m.lanes(i, 8, func(k int) W {
			at := m.Lane(&index, 8, k)
			return m.Choose(8, m.Extract(at, 7, 1), m.Constant(8, 0), m.Pick(&a, 8, k&^15, 16, at))
		})
	case "pslldq", "psrldq":
		if name == "pslldq" {
			number = -number
		}
		a := m.source(&i.Operands[len(i.Operands)-2], o.Size)
		m.lanes(i, 8, func(k int) W {
			if from := k&15 + number; from < 0 || from > 15 {
				return m.Constant(8, 0)
			}
			return m.Lane(&a, 8, k+number)
		})
	case "extracti128", "extracti32x4", "extracti64x2", "extracti64x4":
		a, n := m.source(&i.Operands[1], 0), o.Size/64
		parts := i.Operands[1].Size / o.Size
		return move(64, &a, func(k int) int { return n*(number%parts) + k })
	default:
		return m.shuffleTwo(i, name, number)
	}
	return true
}

// moveScalar moves n bits between a vector and something else. The rest of a vector becomes
// zero.
func (m model[W, V]) moveScalar(i *machine.Instruction, n int) bool {
	if len(i.Operands) != 2 {
		return false
	}
	o, w := &i.Operands[0], m.get(&i.Operands[1], n)
	if o.Kind != machine.Vector {
		m.set(o, w)
		return true
	}
	m.lanes(i, n, func(k int) W {
		if k == 0 {
			return w
		}
		return m.Constant(n, 0)
	})
	return i.Mnemonic != "movsd" || i.Operands[1].Kind == machine.Memory
}

// shuffleTwo executes an instruction that moves lanes of two vectors.
func (m model[W, V]) shuffleTwo(i *machine.Instruction, name string, number int) bool {
	if len(i.Operands) < 2 || vex(i) && len(i.Operands) < 3 {
		return false
	}
	o := &i.Operands[0]
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
	case "punpckhdq":
		n = 32
		from = func(k int) (bool, int) { return k%2 == 1, k&^3 + k&3/2 + 2 }
	case "palignr":
		// The second source is the lower half of what is shifted.
		n = 8
		if number > 16 {
			return false
		}
		from = func(k int) (bool, int) { return k&15+number < 16, k&^15 + (k+number)&15 }
	case "shufps":
		n = 32
		from = func(k int) (bool, int) { return k&2 != 0, k&^3 + number>>(2*(k&3))&3 }
	case "pblendd":
		n = 32
		from = func(k int) (bool, int) { return number>>k&1 == 1, k }
	case "alignq":
		// The second source is the lower half of what is shifted.
		count := o.Size / 64
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
		if o.Size != 512 {
			return false
		}
		from = func(k int) (bool, int) { return k >= 4, 2*(number>>(2*(k/2))&3) + k%2 }
	case "inserti128", "inserti32x4", "inserti64x4":
		part := i.Operands[2].Size / 64
		first := part * (number % (o.Size / 64 / part))
		from = func(k int) (bool, int) { return first <= k && k < first+part, (k - first) & (part - 1) }
		a, b := m.source(&i.Operands[1], o.Size), m.source(&i.Operands[2], 0)
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
func (m model[W, V]) blend(i *machine.Instruction, n int, a, b *V, from func(k int) (second bool, lane int)) bool {
	m.lanes(i, n, func(k int) W {
		second, lane := from(k)
		if second {
			return m.Lane(b, n, lane)
		}
		return m.Lane(a, n, lane)
	})
	return true
}
