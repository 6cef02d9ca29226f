// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// cryptWide generates Seal or Open of a run, as crypt does.
func cryptWide(name string, open bool) {
	w := beginWide(name, true)
	cryptRun(w.kernel, func(r gotypes.Component) (*kernel, Register) {
		w.hashData(r)
		rest := w.cryptText(r, open)
		return w.narrow(), rest
	})
}

// hashData absorbs the additional data, less than a group.
func (w *wide) hashData(r gotypes.Component) {
	Comment("Additional data.")
	p, n, end := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64()), label("text")
	TESTQ(n, n)
	JZ(LabelRef(end))
	w.clear(w.sums)
	w.hashRest(p, n, w.powersFor(n))
	w.reduceSums()
	Label(end)
}

// cryptText encrypts or decrypts the text, and absorbs the ciphertext: as many groups of longSize as there
// are, and then the rest in one step, in as few pairs of vectors as have room for it. So a rest takes no
// more time than a whole group. It leaves the ciphertext of the rest in the lowest lanes of the sums, and
// returns the size of what endTag takes as the last group.
func (w *wide) cryptText(r gotypes.Component, open bool) (rest Register) {
	c, dst, src, n := w.text(r)
	p := ZMM()
	VMOVDQU64(polynomial, p) // as order in beginWide
	w.polynomial = p
	rest = GP64()
	end := label("textEnd")
	const most = longSize / groupSize
	var fits [most + 1]string // labels of rests that fit in this number of groups; the first is of any
	var x [most + 1][]VecVirtual
	for i := range fits {
		fits[i], x[i] = label("rest"), w.vecs(2*i)
	}
	atMost := func(groups int) {
		CMPQ(n, U32(uint32(groupSize*groups)))
		JBE(LabelRef(fits[groups]))
	}
	atMost(1)
	f := []factor{{}, {}, w.powersAt(power(w.subkey, 8)), w.powersAt(power(w.subkey, 4))}
	atMost(2)
	copy(f, w.times(f[2:], power(w.subkey, 8))) // H^16 to H^9
	CMPQ(n, U32(longSize))
	JB(LabelRef(fits[0]))

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
	before := cryptLoop("cryptLong", longSize, oneOrMore, dst, src, n, open, hash, func(between []func()) {
		x := w.vecs(longSize / vectorSize)
		c.group(x)
		w.aes.encryptRounds(x, Mem{Base: src}, between...)
		for i, x := range x {
			VMOVDQU64(x, Mem{Base: dst, Disp: vectorSize * i})
		}
	})
	encrypt := func(groups int, between ...func()) {
		c.group(x[groups])
		w.aes.encryptRounds(x[groups], nil, between...)
	}
	var encrypted [most + 1]string
	if !open {
		Comment("Between the rounds for the rest, GHASH of the group before takes no time of its own.")
		var after [most]string
		for groups := range most {
			after[groups] = label("after")
			CMPQ(n, U32(uint32(groupSize*groups)))
			JBE(LabelRef(after[groups]))
		}
		for groups := most; groups > 0; groups-- {
			if groups < most {
				Label(after[groups])
			}
			encrypt(groups, before...)
			encrypted[groups] = label("encrypted")
			JMP(LabelRef(encrypted[groups]))
		}
		Label(after[0])
	}
	run(before)
	w.clear(w.sums)
	MOVQ(n, rest)
	if open {
		TESTQ(n, n)
		JZ(LabelRef(end))
		atMost(1)
		atMost(2)
	} else {
		JMP(LabelRef(end))
	}
	Label(fits[0])
	atMost(3)
	for groups := most; groups > 0; groups-- {
		Label(fits[groups])
		if !open {
			encrypt(groups)
			Label(encrypted[groups])
		}
		w.cryptRest(x[groups], f, c, dst, src, n, rest, open)
		if groups > 1 {
			JMP(LabelRef(end))
		}
	}
	Label(end)
	return rest
}

// times returns the factors of the products of those of f and the power at p.
func (w *wide) times(f []factor, p Mem) (products []factor) {
	h := ZMM()
	VBROADCASTI32X4(p, h)
	by := newFactor(h)
	for _, f := range f {
		products = append(products, newFactor(w.product(f.h, by)))
	}
	return products
}

// window returns the factors of H^(8+i) to H^(1+i), where h is the address of H^i, from those of H^16 to
// H^1. Products, as in times, take longer, and what has been stored cannot be loaded from another offset soon.
func (w *wide) window(f []factor, h Register) []factor {
	skip := GP64() // how many powers, in bytes
	LEAQ(power(w.subkey, powers), skip)
	NEGQ(skip)
	ADDQ(h, skip)
	x := []VecVirtual{ZMM(), ZMM(), ZMM(), f[3].h}
	for i := range 3 {
		VMOVDQA64(f[i].h, x[i])
	}
	for bit := 2; bit >= 0; bit-- {
		all, present := GP64(), K()
		MOVQ(skip, all)
		SHRQ(U8(uint8(4+bit)), all)
		ANDQ(Imm(1), all)
		NEGQ(all)
		KMOVQ(all, present)
		for i := range min(3, 2+bit) {
			if bit == 2 {
				VMOVDQA64(x[i+1], present, x[i])
			} else {
				VALIGNQ(U8(uint8(2<<bit)), x[i], x[min(i+1, 2)], present, x[i])
			}
		}
	}
	return []factor{newFactor(x[0]), newFactor(x[1])}
}

// cryptRest is cryptText for the last n bytes, which need these vectors: an even number, of which the last
// may be empty. For Seal they are the encrypted counter blocks, and Open encrypts them. If there is more than
// one group, f are the factors of H^8 to H^1, and if more than two, those of H^16 to H^9 come before. The
// blocks, from the fifth vector on if there are more than four, and the lengths are multiplied by the powers
// down to H^1. It sets rest to the size of the last group; if it is a whole one, there is no power for the
// lengths.
//
// The vectors begin where the text does, so that at most one reaches beyond its end: a masked access to a
// page that is not there takes some 300 ns (AMD EPYC, Zen 5).
func (w *wide) cryptRest(x []VecVirtual, f []factor, c *counters, dst, src, n, rest Register, open bool) {
	vectors := len(x)
	Commentf("At most %d bytes.", vectorSize*vectors)
	whole := vectors - 2
	MOVQ(n, rest)
	if whole > 0 {
		SUBQ(U32(uint32(vectorSize*whole)), rest)
	}
	h := w.powersFor(rest)
	w.makeRoom(h)
	ends := []factor{w.powersAt(Mem{Base: h}), w.powersAt(Mem{Base: h, Disp: vectorSize})}
	switch vectors {
	case 4:
		ends = append(w.times(f[2:], Mem{Base: h}), ends...)
	case 8:
		ends = append(w.window(f, h), ends...)
	}
	Comment("Without a last vector, its mask is empty and its address that of the one before.")
	last, more, none := GP64(), GP64(), GP64()
	XORL(none.As32(), none.As32())
	MOVL(U32(vectorSize), last.As32())
	MOVQ(rest, more)
	SUBQ(Imm(vectorSize), more)
	CMOVQLS(none, more)
	CMOVQLS(none, last)
	present := [2]Register{mask(rest), mask(more)}
	// at returns the address of vector i, and its mask, or nil if it is whole.
	at := func(base Register, i int) (p Mem, k Register) {
		p = Mem{Base: base, Disp: vectorSize * i}
		if i < whole {
			return p, nil
		}
		if i == vectors-1 {
			p.Disp, p.Index, p.Scale = p.Disp-vectorSize, last, 1
		}
		return p, present[i-whole]
	}
	load := func(i int) VecVirtual {
		t := ZMM()
		if p, k := at(src, i); k == nil {
			VMOVDQU64(p, t)
		} else {
			VMOVDQU8_Z(p, k, t)
		}
		return t
	}
	// hash returns the steps of GHASH, for two vectors of ciphertext each.
	hash := func(ciphertext func(i int) VecVirtual) (steps []func()) {
		for _, part := range [][2]int{{0, vectors - len(ends)}, {vectors - len(ends), vectors}} {
			f := f
			if part[1] == vectors {
				f = ends
			}
			for i := part[1] - 2; i >= part[0]; i -= 2 {
				steps = append(steps, func() {
					x := []VecVirtual{ciphertext(i), ciphertext(i + 1)}
					for _, x := range x {
						VPSHUFB(w.order, x, x)
					}
					if i == part[0] {
						VPXORQ(w.acc, x[0], x[0])
					}
					w.add(x, f[i-part[0]:], i == part[1]-2)
				})
			}
			if part[0] < part[1] && part[1] < vectors {
				steps = append(steps, w.reduceSums)
			}
		}
		return steps
	}
	if open {
		c.group(x)
		w.aes.encryptRounds(x, nil, hash(load)...)
	}
	for i, x := range x {
		VPXORQ(load(i), x, x)
		if p, k := at(dst, i); k == nil {
			VMOVDQU64(x, p)
		} else {
			VMOVDQU8(x, k, p)
			if !open {
				VMOVDQU8_Z(x, k, x)
			}
		}
	}
	if !open {
		run(hash(func(i int) VecVirtual { return x[i] }))
	}
	w.zero(w.acc)
	w.foldSums()
}
