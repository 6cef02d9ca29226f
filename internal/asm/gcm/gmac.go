// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// hash generates GHASH of whole groups.
func hash(v isa, name string) {
	k := begin(v, name, false)
	sum := Load(Param("sum"), GP64())
	k.loadSum(sum)
	k.hashGroups(Load(Param("p"), GP64()), Load(Param("n"), GP64()))
	k.storeSum(sum)
	k.end()
}

// gmac generates GMAC, section 7 without text.
func gmac(v isa, name string) {
	k := begin(v, name, true)
	r := Dereference(Param("r"))
	tag := Load(r.Field("tag"), GP64())
	k.beginTag(r, tag)
	k.loadSum(Load(r.Field("sum"), GP64()))

	p, n := Load(r.Field("data").Base(), GP64()), Load(r.Field("data").Len(), GP64())
	k.hashGroups(p, n)
	rest, h := GP64(), k.powersFor(n)
	k.makeRoom(h)
	k.clear(k.sums)
	MOVQ(n, rest)
	k.hashRest(p, n, h)
	k.endTag(r, tag, rest)
	k.end()
}

// hashGroups absorbs whole groups at p, of n bytes. It leaves the rest in p and n.
func (k *kernel) hashGroups(p, n Register) {
	groups, end := label("hashGroups"), label("hashRest")
	Label(groups)
	CMPQ(n, U32(groupSize))
	JB(LabelRef(end))
	run(k.hashBlocks(Mem{Base: p}, powers, true, k.power))
	ADDQ(U32(groupSize), p)
	SUBQ(U32(groupSize), n)
	JMP(LabelRef(groups))
	Label(end)
}

// hashRest absorbs the n bytes at p, less than a group, with the powers from h on.
func (k *kernel) hashRest(p, n, h Register) {
	k.pieces(n, h, func(v isa, count int) (xs []VecVirtual) {
		for i := range count {
			x := v.vec()
			v.load(Mem{Base: p, Disp: v.size() * i}, x)
			xs = append(xs, x)
		}
		ADDQ(Imm(uint64(v.size()*count)), p)
		return xs
	}, func() VecVirtual {
		x := XMM()
		k.single().loadPartial(p, n, x)
		return x
	})
}
