// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"sync"
	"unsafe"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/lifetime"
)

var answerAdded sync.Once

// choose chooses the kernels of UMAC.
func choose() {
	answerAdded.Do(addAnswerAES)
	aes.Choose()
	kernel.Choose(kernel.NH, registerNH)
}

// addAnswerAES adds the known answer of the kernels of AES in this package.
func addAnswerAES() { kernel.AddAnswer(kernel.AES, func() bool { return answerAES() == wantAES }) }

func rightNH() bool {
	aes.Choose() // some kernels use both
	return answerNH() == wantNH
}

// What the portable kernels and crypto/aes compute: see TestAnswers of package kernel.
const (
	wantAES = 0x86b3f6a38a71054c
	wantNH  = 0xd4f534029030c85
)

// answering is what answers are computed with, those of NH after those of AES. On the stack it would take
// longer: the stack would have to grow.
var answering struct {
	key  UMACKey
	data [3*l1Block + 2*l1Group]byte
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
		n := len(batch) - size/8%3*3 // 8, 5 and 2, with each size of a key
		var tags umacTags
		k.pad.setTagSize(tagSize(4 * (1 + (n+size/8)%4)))
		padEach(&tags, &k.pad, batch[:n])
		for i := range n {
			a.AddBytes(tags[i][:int(k.pad.tagSize)])
		}
	}
	return a
}

// answerSizes are sizes of messages in one piece, for all kernels and ends of several forms. answerWrites
// are those of the parts of a message, and answerBatch those of a batch.
var (
	answerSizes  = [...]int{3, 11, 45, 74, 128, 203, 290, l1Block, l1Block + 32, l1Block + 100, l1Block + 476, 2*l1Block + 70, 2*l1Block + 586, 3 * l1Block}
	answerWrites = [...]int{l1Block, 40, 24, 288, 3, 29, 352, 300, 900}
	answerBatch  = [...]int{0, 3, 40, 99, 128, 260, 1000, l1Block}
)

// answerNH returns a checksum of tags of 8 and of 16 bytes: of messages in one piece, in parts, in batches, and
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
	for n := 2; n <= maxIterations; n += 2 { // with one less the code is the same, except in POLY-128
		k.uhash.n = n
		k.pad.setTagSize(tagSize(4 * n))
		k.answer64(&a, data)
		k.answer128(&a, data)
	}
	return a
}

// answer64 adds tags of messages that are too short for POLY-128.
func (k *UMACKey) answer64(a *kernel.Answer, data []byte) {
	var tags umacTags
	nonce := data[:8]
	add := func(tag []byte) { a.AddBytes(tag[:k.pad.tagSize]) }
	k.pad.life.Begin()
	for _, size := range answerSizes {
		add(k.Tag(tags[0][:0], nonce, data[:size]))
	}

	u := UMAC{key: k, life: lifetime.OfStream(k.pad.life.ID())}
	for _, size := range answerWrites {
		u.Write(data[:size])
	}
	add(u.Tag(tags[0][:0], nonce))

	var batch [umacLanes]Message
	for i, size := range answerBatch {
		batch[i] = Message{Nonce: nonce[i:], Data: data[i:][:size]}
	}
	tagEach(&tags, k, batch[:])
	for i := range batch {
		add(tags[i][:])
	}
}

// answer128 adds the tag of a message that is long enough for POLY-128.
func (k *UMACKey) answer128(a *kernel.Answer, data []byte) {
	var tag [maxUMACTagSize]byte
	var l2 l2State
	k.uhash.writeBlocks(&l2, data[:l1Block])
	l2.words = poly64Words
	k.uhash.writeBlocks128OnStack(&l2, data[:2*l1Block])
	k.uhash.writeBlocks128OnStack(&l2, data[:l1Block])
	k.uhash.tagLast128OnStack(&tag, &l2, &noGroups, data[:77], 77, pad{})
	a.AddBytes(tag[:k.pad.tagSize])
}
