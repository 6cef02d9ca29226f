// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes      = 8  // messages in a umacBatch
	sliceSize  = 24 // a []byte
	vectorSize = 64
)

// tagEach512 generates tagEachAVX512. It hashes the messages with NH one by one, and leaves
// one vector for each. Then it computes L3 for several messages side by side.
//
// The vector of a message has 4, 2 or 1 lanes of 128 bits for each iteration, for 1, 2 or
// more iterations. Their words are to be added.
func tagEach512() {
	kernel("tagEachAVX512", func(n int, k gotypes.Component) {
		b := Dereference(Param("b"))
		msgs, count := Load(Param("msgs").Base(), GP64()), Load(Param("msgs").Len(), GP64())
		sums := GP64()
		LEAQ(field(b.Field("sums").Index(0).Index(0)), sums)
		lengths, ones := K(), GP64()
		lengthWords := map[int]uint32{1: 0x01, 2: 0x11, 3: 0x55, 4: 0x55}[n] // one for each iteration
		MOVQ(I32(-1), ones)
		mask := GP32()
		MOVL(U32(lengthWords), mask)
		KMOVB(mask, lengths)

		message, next := label("message"), label("next")
		Label(message)
		p, length := GP64(), GP64()
		MOVQ(Mem{Base: msgs}, p)
		MOVQ(Mem{Base: msgs, Disp: 8}, length)
		CMPQ(length, I32(blockSize))
		JHI(LabelRef(next))
		sum, bits := ZMM(), GP64()
		MOVQ(length, bits)
		SHLQ(Imm(3), bits)
		VPBROADCASTQ_Z(bits, lengths, sum)
		sumMessage(n, k, sum, p, length, ones)
		VMOVDQU64(sum, Mem{Base: sums})
		Label(next)
		ADDQ(Imm(sliceSize), msgs)
		ADDQ(Imm(vectorSize), sums)
		DECQ(count)
		JNZ(LabelRef(message))

		tagSums(n, k, b)
		VZEROUPPER()
		RET()
	})
}

// sumMessage adds NH of the message to sum.
func sumMessage(n int, k gotypes.Component, sum VecVirtual, p, length, ones Register) {
	v := avx512{}
	l1 := k.Field("l1")
	lo, hi := GP64(), GP64()
	LEAQ(field(l1.Field("lo").Index(0)), lo)
	LEAQ(field(l1.Field("hi").Index(0)), hi)
	short, rest, done, loop, fold := label("short"), label("rest"), label("done"), label("whole"), label("fold")
	chunk := v.groups() * groupSize
	CMPQ(length, Imm(uint64(chunk/2)))
	JLS(LabelRef(short))

	Comment("More than two groups.")
	s := newSums(v, n)
	for t := range s {
		VPXORQ(s[t], s[t], s[t])
	}
	keys := make([]key, n)
	for t := range keys {
		keys[t] = keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0)
	}
	SUBQ(I32(int32(chunk)), length)
	JLT(LabelRef(rest))
	Label(loop)
	c, d := v.vec(), v.vec()
	v.load(Mem{Base: p}, c, d)
	addChunk(v, s, c, d, keys, nil, false)
	ADDQ(I32(int32(chunk)), p)
	ADDQ(I32(int32(v.groups()*halfSize)), lo)
	ADDQ(I32(int32(v.groups()*halfSize)), hi)
	SUBQ(I32(int32(chunk)), length)
	JGE(LabelRef(loop))
	CMPQ(length, I32(-int32(chunk)/2))
	JLE(LabelRef(fold))

	Label(rest)
	Comment("Three groups or four, the last of them zero-padded.")
	ADDQ(I32(int32(chunk/2)), length) // of the second half
	second, present := K(), K()
	bytes, words := GP64(), GP64()
	BZHIQ(length, ones, bytes)
	KMOVQ(bytes, second)
	CMPQ(length, Imm(groupSize))
	MOVL(U32(0x0fff), words.As32())
	all := GP32()
	MOVL(U32(0xffff), all)
	CMOVLHI(all, words.As32())
	KMOVW(words.As32(), present)
	e, f, high := v.vec(), v.vec(), v.vec()
	VMOVDQU64(Mem{Base: p}, e)
	VMOVDQU8_Z(Mem{Base: p, Disp: 64}, second, f)
	split512(f, e, e, high)
	addChunk(v, s, e, high, keys, present, false)
	pack(n, s, sum)
	JMP(LabelRef(done))

	Label(fold)
	ADDQ(I32(int32(chunk)), length)
	pack(n, s, sum)
	TESTQ(length, length)
	JEQ(LabelRef(done))

	Label(short)
	Comment("At most two groups: their halves are in the lower and the upper half of a vector, each for another iteration.")
	first, pair := K(), K()
	bits, lane, both := GP64(), GP32(), GP32()
	BZHIQ(length, ones, bits)
	KMOVQ(bits, first)
	CMPQ(length, Imm(groupSize))
	MOVL(U32(0x33), lane)
	MOVL(U32(0xff), both)
	CMOVLHI(both, lane)
	KMOVB(lane, pair)
	a, h := v.vec(), v.vec()
	VMOVDQU8_Z(Mem{Base: p}, first, a)
	VSHUFI64X2(U8(0xdd), a, a, h)
	VSHUFI64X2(U8(0x88), a, a, a)
	var parts []VecVirtual
	for t := 0; t < n; t += 2 {
		even, odd := keysAt(Mem{Base: lo}, Mem{Base: hi}, t, 0), keysAt(Mem{Base: lo}, Mem{Base: hi}, t+1, 0)
		x, y, product := ZMM(), ZMM(), ZMM()
		VMOVDQU64(even.lo, x.AsY())
		VMOVDQU64(even.hi, y.AsY())
		if n > 1 {
			VINSERTI64X4(U8(1), odd.lo, x, x)
			VINSERTI64X4(U8(1), odd.hi, y, y)
		}
		VPADDD(a, x, x)
		VPADDD(h, y, y)
		VPMULUDQ_Z(y, x, pair, product)
		VPSRLQ(U8(32), x, x)
		VPSRLQ(U8(32), y, y)
		VPMULUDQ_Z(y, x, pair, x)
		VPADDQ(x, product, product)
		parts = append(parts, product)
	}
	if n == 1 {
		// The upper half of the products is of no iteration.
		VMOVDQA64(parts[0].AsY(), parts[0].AsY())
	}
	if n > 2 {
		fold2(parts[0], parts[1])
	}
	VPADDQ(parts[0], sum, sum)
	Label(done)
}

// fold2 sets v to sums of its neighbouring lanes and then of those of w.
func fold2(v, w VecVirtual) {
	t := ZMM()
	VSHUFI64X2(U8(0xdd), w, v, t)
	VSHUFI64X2(U8(0x88), w, v, v)
	VPADDQ(t, v, v)
}

// pack adds the sums of n iterations to the vector of a message.
func pack(n int, s []VecVirtual, sum VecVirtual) {
	s = s[:n:n]
	if n == 3 {
		s = append(s, s[2])
	}
	var parts []VecVirtual
	for t := 0; t+1 < len(s); t += 2 {
		low, high := ZMM(), ZMM()
		VSHUFI64X2(U8(0x44), s[t+1], s[t], low)
		VSHUFI64X2(U8(0xee), s[t+1], s[t], high)
		VPADDQ(high, low, low)
		parts = append(parts, low)
	}
	switch n {
	case 1:
		parts = s
	case 3, 4:
		fold2(parts[0], parts[1])
	}
	VPADDQ(parts[0], sum, sum)
}

// tagSums computes the tags from the vectors of the messages, for as many messages at a time
// as fill a vector with one word for each iteration.
func tagSums(n int, k, b gotypes.Component) {
	width := map[int]int{1: 8, 2: 4, 3: 2, 4: 2}[n]
	order := eachOrder[n]
	l3 := k.Field("l3")
	keys := make([]VecVirtual, 4)
	if n > 1 {
		index := ZMM()
		VMOVDQU64(order.keys, index)
		for j := range keys {
			keys[j] = ZMM()
			VMOVDQU64(field(l3.Field("low").Index(j).Index(0)), keys[j].AsY())
			VPERMQ(keys[j], index, keys[j])
		}
	} else {
		for j := range keys {
			keys[j] = ZMM()
			VPBROADCASTQ(field(l3.Field("low").Index(j).Index(0)), keys[j])
		}
	}
	k2, swap, w16, m36, p36 := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	VBROADCASTI32X4(field(l3.Field("k2").Index(0)), k2)
	VBROADCASTI32X4(swap32, swap)
	VPBROADCASTQ(word16, w16)
	VPBROADCASTQ(mask36, m36)
	VPBROADCASTQ(prime36, p36)
	index := make([]VecVirtual, len(order.tags))
	for i := range index {
		index[i] = ZMM()
		VMOVDQU64(order.tags[i], index[i])
	}
	sums, pads, tags, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(field(b.Field("sums").Index(0).Index(0)), sums)
	LEAQ(field(b.Field("pads").Index(0).Field("first")), pads)
	LEAQ(field(b.Field("tags").Index(0).Index(0)), tags)
	Load(Param("msgs").Len(), left)
	loop := label("tags")
	Label(loop)
	var parts []VecVirtual
	for m := 0; m < width; m += 2 {
		x, y, t := ZMM(), ZMM(), ZMM()
		VMOVDQU64(Mem{Base: sums, Disp: vectorSize * m}, x)
		VMOVDQU64(Mem{Base: sums, Disp: vectorSize * (m + 1)}, y)
		VPUNPCKHQDQ(y, x, t)
		VPUNPCKLQDQ(y, x, x)
		VPADDQ(t, x, x)
		parts = append(parts, x)
	}
	for len(parts) > 1 {
		for i := 0; i < len(parts); i += 2 {
			fold2(parts[i], parts[i+1])
			parts[i/2] = parts[i]
		}
		parts = parts[:len(parts)/2]
	}
	w := parts[0]
	Comment("L3: the 16-bit words times k_5 to k_8.")
	y, x, t := ZMM(), ZMM(), ZMM()
	VPSRLQ(U8(48), w, y)
	VPMULLQ(keys[0], y, y)
	for j := 1; j < 4; j++ {
		x := ZMM()
		if j < 3 {
			VPSRLQ(U8(48-16*j), w, x)
			VPANDQ(w16, x, x)
		} else {
			VPANDQ(w16, w, x)
		}
		VPMULLQ(keys[j], x, x)
		VPADDQ(x, y, y)
	} // < 2^54
	Comment("Modulo p36 = 2^36-5.")
	VPSRLQ(U8(36), y, x)
	VPANDQ(m36, y, y)
	VPSLLQ(U8(2), x, t)
	VPADDQ(x, y, y)
	VPADDQ(t, y, y) // < 2*p36
	VPSUBQ(p36, y, x)
	VPMINUQ(x, y, y) // y-p36 wraps around if y < p36
	Comment("The tags, big-endian.")
	for i := range index {
		h := ZMM()
		at := 16 * width / len(index) * i
		VPERMD(y, index[i], h)
		VPXORD(k2, h, h)
		VPSHUFB(swap, h, h)
		if n > 2 {
			VPXORD(Mem{Base: pads, Disp: at}, h.AsY(), h.AsY())
			VMOVDQU64(h.AsY(), Mem{Base: tags, Disp: at})
		} else {
			VPXORD(Mem{Base: pads, Disp: at}, h, h)
			VMOVDQU64(h, Mem{Base: tags, Disp: at})
		}
	}
	if width == lanes {
		return
	}
	ADDQ(I32(int32(vectorSize*width)), sums)
	ADDQ(I32(int32(16*width)), pads)
	ADDQ(I32(int32(16*width)), tags)
	SUBQ(I32(int32(width)), left)
	JHI(LabelRef(loop))
}

// eachOrder says for each number of iterations which word of the L3 key belongs to which
// word in tagSums, and which of its words, in halves, make the tags.
var eachOrder [maxIterations + 1]struct {
	keys Mem
	tags []Mem
}

func batchConstants() {
	vector := func(name string, words ...int) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i, w := range words {
			if len(words) == 8 {
				DATA(8*i, U64(w))
			} else {
				DATA(4*i, U32(w))
			}
		}
		return m
	}
	eachOrder[1].tags = []Mem{
		vector("tagOrder1Low", 0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6),
		vector("tagOrder1High", 8, 8, 8, 8, 10, 10, 10, 10, 12, 12, 12, 12, 14, 14, 14, 14),
	}
	eachOrder[2].keys = vector("keyOrder2", 0, 0, 1, 1, 0, 0, 1, 1)
	eachOrder[2].tags = []Mem{vector("tagOrder2", 0, 4, 0, 4, 2, 6, 2, 6, 8, 12, 8, 12, 10, 14, 10, 14)}
	eachOrder[4].keys = vector("keyOrder4", 0, 0, 1, 1, 2, 2, 3, 3)
	eachOrder[4].tags = []Mem{vector("tagOrder4", 0, 4, 8, 12, 2, 6, 10, 14, 0, 4, 8, 12, 2, 6, 10, 14)}
	eachOrder[3] = eachOrder[4]
	nonceMasks = GLOBL("nonceMasks", attr.RODATA|attr.NOPTR)
	for size := range 17 {
		DATA(2*size, U16(1<<size-1))
	}
	lastBits = GLOBL("lastBits", attr.RODATA|attr.NOPTR)
	for partBits := range 3 {
		DATA(32*partBits, U64(1<<64-1))
		DATA(32*partBits+8, U64(uint64(1<<64-1)<<(56+partBits)|(1<<56-1)))
		DATA(32*partBits+16, U64(1<<64-1))
		DATA(32*partBits+24, U64(1<<64-1))
	}
}

// lastBits has 32 bytes for each padKey.partBits. All bits are ones, except the lowest
// partBits ones of the byte before the middle.
//
// nonceMasks has a mask for each size of a nonce.
var lastBits, nonceMasks Mem

// padEach generates padEachVAES: PDF, RFC 4418 section 3.3.1, for nonces side by side.
func padEach() {
	Implement("padEachVAES")
	Pragma("noescape")
	k := Dereference(Param("k"))
	nonces, count := Load(Param("nonces").Base(), GP64()), Load(Param("nonces").Len(), GP64())
	clear, parts, partBits, partMask, masks := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(k.Field("partBits"), partBits)
	Comment("0, 1 or 2 bits: a mask of 0, 1 or 3.")
	MOVQ(partBits, partMask)
	SHRQ(Imm(1), partMask)
	ADDQ(partBits, partMask)
	LEAQ(nonceMasks, masks)
	Comment("The rows of lastBits and partBytes.")
	SHLQ(Imm(5), partBits)
	LEAQ(lastBits.Offset(16), clear)
	ADDQ(partBits, clear)
	first := GP64()
	Load(k.Field("firstPart"), first)
	SHLQ(Imm(4), first)
	LEAQ(NewDataAddr(Symbol{Name: "·partBytes"}, 0), parts)
	ADDQ(first, parts)

	encrypt := label("encrypt")
	x, chosen := make([]VecVirtual, lanes), make([]VecVirtual, lanes)
	for i := range x {
		x[i], chosen[i] = XMM(), XMM()
		if i > 0 {
			VPXOR(x[i], x[i], x[i])
			VPXOR(chosen[i], chosen[i], chosen[i])
		}
	}
	for i := range x {
		p, length, part, present := GP64(), GP64(), GP64(), K()
		MOVQ(Mem{Base: nonces, Disp: sliceSize * i}, p)
		MOVQ(Mem{Base: nonces, Disp: sliceSize*i + 8}, length)
		KMOVW(Mem{Base: masks, Index: length, Scale: 2}, present)
		VMOVDQU8_Z(Mem{Base: p}, present, x[i])
		MOVBLZX(Mem{Base: p, Index: length, Scale: 1, Disp: -1}, part.As32())
		ANDL(partMask.As32(), part.As32())
		SHLL(Imm(4), part.As32())
		VMOVDQU(Mem{Base: parts, Index: part, Scale: 1}, chosen[i])
		NEGQ(length)
		VPAND(Mem{Base: clear, Index: length, Scale: 1}, x[i], x[i])
		if i+1 < len(x) {
			CMPQ(count, Imm(uint64(i+1)))
			JEQ(LabelRef(encrypt))
		}
	}
	Label(encrypt)
	join := func(x []VecVirtual) VecVirtual {
		VINSERTI32X4(U8(1), x[1], x[0].AsY(), x[0].AsY())
		VINSERTI32X4(U8(1), x[3], x[2].AsY(), x[2].AsY())
		VINSERTI64X4(U8(1), x[2].AsY(), x[0].AsZ(), x[0].AsZ())
		return x[0].AsZ().(VecVirtual)
	}
	blocks := []VecVirtual{join(x[:4]), join(x[4:])}
	bytes := []VecVirtual{join(chosen[:4]), join(chosen[4:])}
	enc, rounds, roundKey := GP64(), GP64(), ZMM()
	LEAQ(field(k.Field("aes").Field("schedule").Index(0)), enc)
	Load(k.Field("aes").Field("rounds"), rounds)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VPXORQ(roundKey, b, b)
	}
	DECQ(rounds)
	round := label("round")
	Label(round)
	ADDQ(Imm(16), enc)
	VBROADCASTI32X4(Mem{Base: enc}, roundKey)
	for _, b := range blocks {
		VAESENC(roundKey, b, b)
	}
	DECQ(rounds)
	JNZ(LabelRef(round))
	VBROADCASTI32X4(Mem{Base: enc, Disp: 16}, roundKey)
	pads := Load(Param("pads"), GP64())
	for i, b := range blocks {
		VAESENCLAST(roundKey, b, b)
		VPSHUFB(bytes[i], b, b)
		VMOVDQU64(b, Mem{Base: pads, Disp: vectorSize * i})
	}
	VZEROUPPER()
	RET()
}
