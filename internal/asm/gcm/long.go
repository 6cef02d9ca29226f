// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels for AVX-512 use vectors of four blocks for long messages only. Short ones are
// faster with two, because the lanes have to be added at the end.

// longSize is the size of what these functions absorb or encrypt at a time.
const longSize = 512

const vectorSize = maxLanes * blockSize

// A wide is a kernel with vectors of four blocks.
type wide struct{ *kernel }

func (k *kernel) wide() *wide {
	v := k.with(maxLanes)
	w := &wide{&kernel{isa: v, subkey: k.subkey, order: k.order, sums: v.newSums(), acc: v.as(k.acc)}}
	if k.aes != nil {
		w.aes = k.aes.in(v)
	}
	return w
}

// A factor is a vector to multiply with: four powers, or one in all lanes.
type factor struct {
	h    VecVirtual
	both VecVirtual // the sum of the halves of h, in the low half of each lane
}

func newFactor(h VecVirtual) factor {
	both := ZMM()
	VPSHUFD(U8(0x4e), h, both)
	VPXORQ(h, both, both)
	return factor{h, both}
}

// powersAt loads the powers at p.
func (w *wide) powersAt(p Mem) factor {
	h, both := ZMM(), ZMM()
	VMOVDQU64(p, h)
	VMOVDQU64(p.Offset(8), both)
	VPXORQ(h, both, both)
	return factor{h, both}
}

// add adds the products of one or two vectors of blocks, whose bytes are reversed, and
// their factors. It sets the sums if set is true.
func (w *wide) add(x []VecVirtual, f []factor, set bool) {
	s := w.sums
	var products [3][]VecVirtual
	for i, x := range x {
		sum := ZMM()
		VPSHUFD(U8(0x4e), x, sum)
		VPXORQ(x, sum, sum)
		for j, p := range []struct {
			halves uint8
			f, x   VecVirtual
		}{{0x00, f[i].h, x}, {0x11, f[i].h, x}, {0x00, f[i].both, sum}} {
			t := ZMM()
			VPCLMULQDQ(U8(p.halves), p.f, p.x, t)
			products[j] = append(products[j], t)
		}
	}
	for j, sum := range []VecVirtual{s.low, s.high, s.middle} {
		p := products[j]
		switch {
		case set && len(p) == 1:
			VMOVDQA64(p[0], sum)
		case set:
			VPXORQ(p[0], p[1], sum)
		case len(p) == 1:
			VPXORQ(p[0], sum, sum)
		default:
			VPTERNLOGQ(U8(0x96), p[0], p[1], sum)
		}
	}
}

// product returns x*f/x^128 modulo P in each lane.
func (w *wide) product(x VecVirtual, f factor) VecVirtual {
	v := &wide{&kernel{isa: w.isa, sums: w.newSums()}}
	v.add([]VecVirtual{x}, []factor{f}, true)
	v.reduce(v.sums, nil)
	return v.sums.high
}

// block loads vector i at p, and reverses the bytes of its blocks.
func (w *wide) block(p Mem, i int) VecVirtual {
	x := ZMM()
	VMOVDQU64(p.Offset(vectorSize*i), x)
	VPSHUFB(w.order, x, x)
	return x
}

// hashLong absorbs as many groups as there are in n bytes at p, at least longSize, and
// leaves the rest in p and n. Lane i of what it returns is GHASH of every fourth block from
// block i on, divided by H^(4-i): addLanes is the end. So nothing waits for the sum of the
// lanes, and in each round s becomes
//
//	s*H^32 + x[0]*H^28 + x[1]*H^24 + ... + x[6]*H^4 + x[7]
//
// for the next eight vectors x. Rounds of four and of two end it.
func (k *kernel) hashLong(p, n Register) (w *wide, s VecVirtual) {
	w = k.wide()
	h8, x, a := ZMM(), ZMM(), ZMM()
	VBROADCASTI32X4(power(w.subkey, 8), h8)
	VBROADCASTI32X4(power(w.subkey, 4), x)
	VSHUFI64X2(U8(0x00), x, h8, x) // H^8, H^8, H^4, H^4
	VMOVDQA64(x, a)
	a = w.product(a, newFactor(h8)) // H^16, H^16, H^12, H^12
	low := ZMM()
	VSHUFI64X2(U8(0x88), x, a, low) // H^16, H^12, H^8, H^4
	h16 := ZMM()
	VSHUFI64X2(U8(0x00), a, a, h16)
	VMOVDQA64(low, x)
	high := w.product(x, newFactor(h16)) // H^32, H^28, H^24, H^20
	var f []factor
	for _, four := range []VecVirtual{high, low} {
		all := newFactor(four)
		for lane := range 4 {
			h, both := ZMM(), ZMM()
			VSHUFI64X2(U8(uint8(0x55*lane)), all.h, all.h, h)
			VSHUFI64X2(U8(uint8(0x55*lane)), all.both, all.both, both)
			f = append(f, factor{h, both})
		}
	}

	s = ZMM()
	order := ZMM()
	w.zero(s)
	VMOVDQU64(reverse, order)
	w.order = order
	round := func(vectors int, first bool) {
		f := f[len(f)-vectors:]
		for i := vectors - 2; i > 0; i -= 2 { // the lower powers are there first
			w.add([]VecVirtual{w.block(Mem{Base: p}, i), w.block(Mem{Base: p}, i-1)}, []factor{f[i+1], f[i]}, i == vectors-2)
		}
		x := w.block(Mem{Base: p}, 0)
		if first {
			VPXORQ(w.acc, x, x)
		}
		w.add([]VecVirtual{x, s}, []factor{f[1], f[0]}, vectors == 2)
		w.reduce(w.sums, w.block(Mem{Base: p}, vectors-1))
		VMOVDQA64(w.sums.high, s)
		ADDQ(U32(uint32(vectorSize*vectors)), p)
		SUBQ(U32(uint32(vectorSize*vectors)), n)
	}
	next, last := label("hashLong"), label("hashLongLast")
	round(longSize/vectorSize, true)
	CMPQ(n, U32(longSize))
	JB(LabelRef(last))
	align()
	Label(next)
	round(longSize/vectorSize, false)
	CMPQ(n, U32(longSize))
	JAE(LabelRef(next))
	Label(last)
	for _, size := range []int{longSize / 2, groupSize} {
		skip := label("skip")
		CMPQ(n, U32(uint32(size)))
		JB(LabelRef(skip))
		round(size/vectorSize, false)
		Label(skip)
	}

	return w, s
}

// addLanes sets the sums to those of the lanes of s times the powers at p.
func (w *wide) addLanes(s VecVirtual, p Mem) {
	w.add([]VecVirtual{s}, []factor{w.powersAt(p)}, true)
}

// reduceLanes sets acc to GHASH of which the lanes are s.
func (w *wide) reduceLanes(s VecVirtual) {
	w.addLanes(s, power(w.subkey, maxLanes))
	w.reduceSums()
}

// foldSums sets the sums of k to s, with half as many lanes.
func (k *kernel) foldSums(s sums) {
	for _, x := range []struct{ from, to VecVirtual }{{s.low, k.sums.low}, {s.middle, k.sums.middle}, {s.high, k.sums.high}} {
		VEXTRACTI64X4(U8(1), x.from, x.to)
		VPXORQ(x.from.AsY(), x.to, x.to)
	}
}

// cryptLong encrypts or decrypts as much of n bytes at src as it can, and absorbs the
// ciphertext. It leaves the rest in n, and moves dst, src and the counters to it.
func (k *kernel) cryptLong(c *counters, dst, src, n Register, open bool) {
	w := k.wide()
	end := label("cryptLongEnd")
	CMPQ(n, U32(longSize))
	JB(LabelRef(end))

	h8 := ZMM()
	VBROADCASTI32X4(power(w.subkey, 8), h8)
	by8 := newFactor(h8)
	f := []factor{{}, {}, w.powersAt(power(w.subkey, 8)), w.powersAt(power(w.subkey, 4))}
	for i := range 2 {
		x := ZMM()
		VMOVDQA64(f[2+i].h, x)
		f[i] = newFactor(w.product(x, by8)) // H^16 to H^9
	}

	// hash returns the steps of GHASH for longSize bytes at p, two vectors each.
	hash := func(p Mem) (steps []func()) {
		for i := 0; i < longSize/vectorSize; i += 2 {
			at := i % len(f)
			steps = append(steps, func() {
				x := []VecVirtual{w.block(p, i), w.block(p, i+1)}
				if at == 0 {
					VPXORQ(w.acc, x[0], x[0])
				}
				w.add(x, f[at:], at == 0)
			})
			if at+2 == len(f) {
				steps = append(steps, w.reduceSums)
			}
		}
		return steps
	}
	cryptLoop("cryptLong", longSize, false, dst, src, n, open, hash, func(between []func()) {
		x := c.group(longSize / vectorSize)
		w.aes.encryptRounds(x, Mem{Base: src}, between...)
		for i, x := range x {
			VMOVDQU64(x, Mem{Base: dst, Disp: vectorSize * i})
		}
	})
	Label(end)
}
