// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"unsafe"

	"example.com/fastmac/internal/kernel"
)

// The known answers of the kernels in this package: see [kernel.Choose].
func init() {
	kernel.AddAnswer(kernel.AES, func() bool { return answerAES() == wantAES })
	kernel.AddAnswer(kernel.NH, func() bool {
		kernel.Choose(kernel.AES) // some kernels use both
		return answerNH() == wantNH
	})
}

// What the portable kernels and crypto/aes compute: see TestAnswers of package kernel.
const (
	wantAES = 0xc895d0f8e3c2c7f9
	wantNH  = 0xe883836b4625cf3d
)

// answering is what answers are computed with, those of NH after those of AES. On the stack it would take
// longer: the stack would have to grow.
var answering struct {
	key  UMACKey
	data [4*l1Block + 2*l1Group]byte
}

// answerAES returns a checksum of L1 keys and of pads.
func answerAES() (a kernel.Answer) {
	k, data := &answering.key, answering.data[:64]
	kernel.FillAnswer(data)
	for size := 16; size <= 32; size += 8 {
		k.pad.init(data[:size])
		deriveL1(&k.uhash.l1, &k.pad)
		a.AddBytes(k.uhash.l1.bytes()[:])
		var batch [umacLanes]Message
		for i := range batch {
			sizes := [...]int{8 + i, 4 + i%4, 1 + i%3} // each kind is loaded in its own way
			batch[i].Nonce = data[size:][:sizes[(i+size/8)%3]]
		}
		for n := len(batch); n > 0; n -= 3 {
			var tags umacTags
			k.pad.setTagSize(tagSize(4 * (1 + (n+size/8)%4)))
			padEach(&tags, &k.pad, batch[:n])
			for i := range n {
				a.AddBytes(tags[i][:int(k.pad.tagSize)])
			}
		}
	}
	return a
}

// answerSizes are sizes of messages in one piece: more than each at which kernels take other code, and ends
// of all forms. answerWrites are those of the parts of a message. The first are for odd numbers of
// iterations, the second for even ones, those of answerMarkers for the largest words. answerBatches are those
// of batches.
const answerMarkers = 2

var (
	answerSizes = [...][]int{
		{1, 6, 23, 45, 74, 127, 145, 203, 257, 288, 413, l1Block, l1Block + 32, l1Block + 80, l1Block + 100, 2 * l1Block,
			2*l1Block + 7, 2*l1Block + 20, 2*l1Block + 200, 2*l1Block + 513, 2*l1Block + 544, 2*l1Block + 640},
		{0, 3, 11, 20, 32, 64, 96, 128, 160, 256, 288, 290, 350, 1000, l1Block + 1, l1Block + 33, l1Block + 96, l1Block + 288, l1Block + 476,
			2*l1Block + 1, 2*l1Block + 15, 2*l1Block + 70, 2*l1Block + 96, 2*l1Block + 544, 2*l1Block + 586, 3 * l1Block},
		{l1Block + 40, 2 * l1Block, 2*l1Block + 40, 2*l1Block + 600, 4 * l1Block},
	}
	answerWrites = [...][]int{
		{l1Block, 40, 24, 288, 3, 29, 320, 20, 12, 300, 2, 900, l1Block},
		{l1Block, 100, 28, 352, 15, 17, 384, 5, 27, 500, 1300}, {320, 1400, l1Block},
	}
	answerBatches = [...][umacLanes]int{{0, 3, 40, 70, 128, 200, 1000, l1Block}, {1, 17, 32, 64, 99, l1Block + 1, 16, 260}}
)

// answerNH returns a checksum of tags of all sizes: of messages in one piece, in parts, in batches, and
// so long that POLY-128 takes over.
func answerNH() (a kernel.Answer) {
	k, data := &answering.key, answering.data[:]
	kernel.FillAnswer(data)
	k.pad.init(data[:16])
	k.uhash.l1 = *(*l1Key)(unsafe.Pointer(&data[l1Block]))
	for i := range maxIterations {
		k.uhash.l2[i].set((*[24]byte)(data[24*i:]))
		k.uhash.setL3(i, (*[64]byte)(data[256+64*i:]), (*[4]byte)(data[128+4*i:]))
	}
	for n := 1; n <= maxIterations; n++ {
		k.answer(&a, n, data, (n+1)%2)
	}

	// Words of 2^64-2^32 and more, before which POLY has a marker. With an L1 key of zeros the first
	// group makes each block's word that, in all iterations.
	k.uhash.l1 = l1Key{}
	clear(data)
	for b := 0; b < len(data); b += l1Block {
		binary.LittleEndian.PutUint64(data[b:], 1<<48|1<<32-1)
		binary.LittleEndian.PutUint64(data[b+l1Group/2:], 1<<48|1<<32-1)
	}
	k.answer(&a, 2, data, answerMarkers)
	k.answer(&a, 4, data, answerMarkers)
	return a
}

// answer adds tags of n iterations, of the sizes with that index.
func (k *UMACKey) answer(a *kernel.Answer, n int, data []byte, sizes int) {
	k.uhash.n = n
	k.pad.setTagSize(tagSize(4 * n))
	var tags umacTags
	nonce := data[n:][:8]
	add := func(tag []byte) { a.AddBytes(tag[:4*n]) }
	for _, size := range answerSizes[sizes] {
		add(k.Tag(tags[0][:0], nonce, data[:size]))
	}

	var u UMAC
	u.key = k
	p := data
	for _, size := range answerWrites[sizes] {
		u.Write(p[:size])
		p = p[size:]
	}
	add(u.Tag(tags[0][:0], nonce))

	if sizes != answerMarkers {
		var batch [umacLanes]Message
		for i, size := range answerBatches[sizes] {
			batch[i] = Message{Nonce: nonce[i:], Data: data[i:][:size]}
		}
		tagEach(&tags, k, batch[:])
		for i := range batch {
			add(tags[i][:])
		}
	}
	if n%2 == 0 {
		var l2 l2State
		k.uhash.writeBlocks(&l2, data[:l1Block])
		l2.words = poly64Words
		k.uhash.writeBlocks128OnStack(&l2, data[:4*l1Block])
		k.uhash.writeBlocks128OnStack(&l2, data[:l1Block])
		k.uhash.tagLast128OnStack(&tags[0], &l2, &noGroups, data[:77], 77, pad{})
		add(tags[0][:])
	}
}
