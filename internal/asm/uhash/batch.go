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
	quad        = 4  // messages whose vectors are in the frame at a time
	messageSize = 80 // of a Message, whose Nonce is first; TestMessage checks these
	messageData = 24 // where its Data is
	vectorSize  = 64
	tagStride   = 16
)

// tagEach512 generates tagEachAVX512. It hashes four messages with NH, one by one, and
// leaves a vector for each in its frame. Then it computes their L3 side by side.
//
// The vector of a message has two lanes of 128 bits for each of two iterations, or one for
// each of four. Their words are to be added.
func tagEach512() {
	done := label("done")
	const frameSize = quad*vectorSize + vectorSize // and room to align it
	var frame Mem
	kernel("tagEachAVX512", func(n int, k gotypes.Component) {
		if n == maxIterations {
			frame = AllocLocal(frameSize)
		}
		tags := Load(Param("tags").Base(), GP64())
		msgs, left := Load(Param("batch").Base(), GP64()), Load(Param("batch").Len(), GP64())
		Comment("Vectors that do not cross cache lines.")
		slots := GP64()
		LEAQ(frame.Offset(vectorSize-1), slots)
		ANDQ(I32(-vectorSize), slots)
		ones, mask, lengths := GP64(), GP32(), K()
		MOVQ(I32(-1), ones)
		MOVL(U32(map[int]uint32{2: 0x11, 4: 0x55}[n]), mask) // a word of each iteration
		KMOVB(mask, lengths)
		l3 := newL3(n, k)
		lo, hi := halves(k)
		first := shortKeys(n, lo, hi)

		next, message := label("quad"), label("message")
		Label(next)
		slot, count, four := GP64(), GP64(), GP64()
		MOVQ(slots, slot)
		MOVQ(left, count)
		MOVQ(I32(quad), four)
		CMPQ(left, four)
		CMOVQHI(four, count)
		Comment("Two words of each tag.")
		words, present := GP64(), K()
		LEAQ(Mem{Base: count, Index: count, Scale: 1}, words)
		BZHIQ(words, ones, words)
		KMOVB(words.As32(), present)
		Label(message)
		p, length := GP64(), GP64()
		MOVQ(Mem{Base: msgs, Disp: messageData}, p)
		MOVQ(Mem{Base: msgs, Disp: messageData + 8}, length)
		sum := ZMM()
		VPBROADCASTQ_Z(Mem{Base: msgs, Disp: messageData + 8}, lengths, sum)
		VPSLLQ(U8(3), sum, sum) // bits
		sumMessage(n, k, sum, first, p, length, ones)
		VMOVDQU64(sum, Mem{Base: slot})
		ADDQ(Imm(messageSize), msgs)
		ADDQ(Imm(vectorSize), slot)
		DECQ(count)
		JNZ(LabelRef(message))

		for m := 0; m < quad; m += l3.width {
			if m > 0 {
				KSHIFTRB(Imm(uint64(2*l3.width)), present, present)
			}
			l3.tags(Mem{Base: slots, Disp: vectorSize * m}, Mem{Base: tags, Disp: tagStride * m}, present)
		}
		ADDQ(Imm(tagStride*quad), tags)
		SUBQ(Imm(quad), left)
		JHI(LabelRef(next))
		JMP(LabelRef(done))
	})
	Label(done)
	Comment("The frame held secrets.")
	zero := YMM()
	VPXOR(zero, zero, zero)
	for i := 0; i < frameSize; i += 32 {
		VMOVDQU(zero, frame.Offset(i))
	}
	VZEROUPPER()
	RET()
}

// sumMessage adds NH of the message to sum.
func sumMessage(n int, k gotypes.Component, sum VecVirtual, first []key, p, length, ones Register) {
	v := avx512{}
	loHalves, hiHalves := halves(k)
	lo, hi := GP64(), GP64()
	only, short, rest, done, loop, fold := label("only"), label("short"), label("rest"), label("done"), label("whole"), label("fold")
	chunk := v.groups() * groupSize
	CMPQ(length, Imm(uint64(chunk/2)))
	JLS(LabelRef(only))

	Comment("More than two groups.")
	LEAQ(loHalves, lo)
	LEAQ(hiHalves, hi)
	s := newSums(v, n)
	for t := range s {
		v.zero(s[t])
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
	addShort(n, sum, shortKeys(n, Mem{Base: lo}, Mem{Base: hi}), p, length, ones)
	JMP(LabelRef(done))

	Label(only)
	Comment("The whole message.")
	addShort(n, sum, first, p, length, ones)
	Label(done)
}

// shortKeys returns the halves of the key for addShort, for the group at lo and hi.
func shortKeys(n int, lo, hi Mem) (keys []key) {
	for t := 0; t < n; t += 2 {
		even, odd := keysAt(lo, hi, t, 0), keysAt(lo, hi, t+1, 0)
		x, y := ZMM(), ZMM()
		VMOVDQU64(even.lo, x.AsY())
		VMOVDQU64(even.hi, y.AsY())
		VINSERTI64X4(U8(1), odd.lo, x, x)
		VINSERTI64X4(U8(1), odd.hi, y, y)
		keys = append(keys, key{x, y})
	}
	return keys
}

// addShort adds to sum NH of at most two groups, the last of them zero-padded. The lower and
// the upper half of a vector have their halves, each for another iteration.
func addShort(n int, sum VecVirtual, keys []key, p, length, ones Register) {
	first, pair := K(), K()
	bits, lane, both := GP64(), GP32(), GP32()
	BZHIQ(length, ones, bits)
	KMOVQ(bits, first)
	CMPQ(length, Imm(groupSize))
	MOVL(U32(0x33), lane)
	MOVL(U32(0xff), both)
	CMOVLHI(both, lane)
	KMOVB(lane, pair)
	a, h := ZMM(), ZMM()
	VMOVDQU8_Z(Mem{Base: p}, first, a)
	VSHUFI64X2(U8(0xdd), a, a, h)
	VSHUFI64X2(U8(0x88), a, a, a)
	var parts []VecVirtual
	for _, k := range keys {
		x, y, product := ZMM(), ZMM(), ZMM()
		VPADDD(a, k.lo, x)
		VPADDD(h, k.hi, y)
		VPMULUDQ_Z(y, x, pair, product)
		VPSRLQ(U8(32), x, x)
		VPSRLQ(U8(32), y, y)
		VPMULUDQ_Z(y, x, pair, x)
		VPADDQ(x, product, product)
		parts = append(parts, product)
	}
	if n == 4 {
		fold2(parts[0], parts[1])
	}
	VPADDQ(parts[0], sum, sum)
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
	var parts []VecVirtual
	for t := 0; t < n; t += 2 {
		low, high := ZMM(), ZMM()
		VSHUFI64X2(U8(0x44), s[t+1], s[t], low)
		VSHUFI64X2(U8(0xee), s[t+1], s[t], high)
		VPADDQ(high, low, low)
		parts = append(parts, low)
	}
	if n == 4 {
		fold2(parts[0], parts[1])
	}
	VPADDQ(parts[0], sum, sum)
}

// An l3Each is L3-HASH, RFC 4418 section 5.4, of several messages side by side.
type l3Each struct {
	n, width                       int
	k1                             []VecVirtual
	k2, order, swap, w16, m36, p36 VecVirtual
}

func newL3(n int, k gotypes.Component) l3Each {
	l := l3Each{n: n, width: 4, k2: ZMM(), order: ZMM(), swap: ZMM(), w16: ZMM(), m36: ZMM(), p36: ZMM()}
	if n == 4 {
		l.width = 2
	}
	l3, index := k.Field("l3"), ZMM()
	VMOVDQU64(keyOrder[n], index)
	for j := range 4 {
		k1 := ZMM()
		VMOVDQU64(field(l3.Field("low").Index(j).Index(0)), k1.AsY())
		VPERMQ(k1, index, k1)
		l.k1 = append(l.k1, k1)
	}
	VBROADCASTI32X4(field(l3.Field("k2").Index(0)), l.k2)
	VMOVDQU64(tagOrder[n], l.order)
	VBROADCASTI32X4(swap32, l.swap)
	VPBROADCASTQ(word16, l.w16)
	VPBROADCASTQ(mask36, l.m36)
	VPBROADCASTQ(prime36, l.p36)
	return l
}

// tags replaces the pads at tags, whose words are in present, by tags from the vectors of
// the messages.
func (l l3Each) tags(vectors, tags Mem, present Register) {
	var parts []VecVirtual
	for m := 0; m < l.width; m += 2 {
		x, y, t := ZMM(), ZMM(), ZMM()
		VMOVDQU64(vectors.Offset(vectorSize*m), x)
		VMOVDQU64(vectors.Offset(vectorSize*(m+1)), y)
		VPUNPCKHQDQ(y, x, t)
		VPUNPCKLQDQ(y, x, x)
		VPADDQ(t, x, x)
		parts = append(parts, x)
	}
	w := parts[0]
	if l.width == 4 {
		fold2(w, parts[1])
	}
	Comment("L3: the 16-bit words times k_5 to k_8.")
	y, x, t := ZMM(), ZMM(), ZMM()
	VPSRLQ(U8(48), w, y)
	VPMULLQ(l.k1[0], y, y)
	for j := 1; j < 4; j++ {
		x := ZMM()
		if j < 3 {
			VPSRLQ(U8(48-16*j), w, x)
			VPANDQ(l.w16, x, x)
		} else {
			VPANDQ(l.w16, w, x)
		}
		VPMULLQ(l.k1[j], x, x)
		VPADDQ(x, y, y)
	} // < 2^54
	Comment("Modulo p36 = 2^36-5.")
	VPSRLQ(U8(36), y, x)
	VPANDQ(l.m36, y, y)
	VPSLLQ(U8(2), x, t)
	VPADDQ(x, y, y)
	VPADDQ(t, y, y) // < 2*p36
	VPSUBQ(l.p36, y, x)
	VPMINUQ(x, y, y) // y-p36 wraps around if y < p36
	Comment("The tags, big-endian.")
	VPERMD(y, l.order, y)
	VPXORD(l.k2, y, y)
	VPSHUFB(l.swap, y, y)
	out, in := Register(y), Register(x)
	if l.width == 2 {
		out, in = y.AsY(), x.AsY()
	}
	Comment("Not a masked store: a load of a tag would have to wait for it.")
	VMOVDQU64(tags, in)
	VPXORQ(in, out, present, in)
	VMOVDQU64(in, tags)
}

// In l3Each, for each number of iterations: the iterations to which the words of a vector
// belong, and the halves of words that make the tags.
var keyOrder, tagOrder [maxIterations + 1]Mem

func batchConstants() {
	vector := func(name string, numbers ...int) Mem {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i, x := range numbers {
			if len(numbers) == 8 {
				DATA(8*i, U64(x))
			} else {
				DATA(4*i, U32(x))
			}
		}
		return m
	}
	keyOrder[2] = vector("keyOrder2", 0, 0, 1, 1, 0, 0, 1, 1)
	tagOrder[2] = vector("tagOrder2", 0, 4, 0, 4, 2, 6, 2, 6, 8, 12, 8, 12, 10, 14, 10, 14)
	keyOrder[4] = vector("keyOrder4", 0, 0, 1, 1, 2, 2, 3, 3)
	tagOrder[4] = vector("tagOrder4", 0, 4, 8, 12, 2, 6, 10, 14, 0, 4, 8, 12, 2, 6, 10, 14)
}
