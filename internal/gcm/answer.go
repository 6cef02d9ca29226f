// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (amd64 || arm64) && !purego

package gcm

import "example.com/fastmac/internal/kernel"

func right() bool { return answer() == wantAnswer }

// wantAnswer is what TestAnswer computes with crypto/cipher.
const wantAnswer = 0x2e0b65b8a0f8e194

// The sizes of texts and of additional data of the answer: for all kernels, with ends of several forms.
// Keys of all sizes take turns.
var answerSizes = [...]struct{ text, data int }{
	{0, 2}, {0, 7}, {0, 49}, {0, 100}, {0, 511}, {0, 600}, {0, 650}, {0, 770}, {0, 900}, {0, 1040},
	{1, 0}, {7, 33}, {15, 2}, {16, 50}, {64, 96}, {112, 80}, {129, 0}, {255, 14}, {370, 100}, {384, 17},
	{456, 3}, {530, 20}, {700, 9}, {1022, 50}, {2352, 1},
}

// answerBytes is a multiple of 8, and more than the longest text, its tag, and the nonce.
const answerBytes = 2400

// answering is what the answer is computed with. On the stack it would take longer: the stack would have
// to grow.
var answering struct {
	keys [3]Key
	text [answerBytes]byte
}

// answer returns a checksum of what the kernels in use make of keys of all sizes: 0 if they do not
// open what they have sealed. All is in place, so that a wrong bit changes what follows.
func answer() (a kernel.Answer) {
	p := answering.text[:]
	kernel.FillAnswer(p)
	for i := range answering.keys {
		answering.keys[i].init(p[:16+8*i])
	}
	nonce := (*[NonceSize]byte)(p[answerBytes-NonceSize:])
	for i, n := range answerSizes {
		k := &answering.keys[i%3]
		out, data := p[:n.text+TagSize], p[answerBytes-n.data:]
		k.Seal(out, nonce[:], out[:n.text], data)
		a.AddBytes(p[:(len(out)+7)&^7])
		if !k.Open(out[:n.text], nonce[:], out, data) {
			return 0
		}
	}

	// A stream whose parts begin with each even number of vectors (see hashLong), and a text in two runs.
	var tag, sum [BlockSize]byte
	k := &answering.keys[2]
	const length, rest = 25 * GroupSize, 77
	for _, groups := range [...]struct{ from, to, text int }{{0, 4, 0}, {4, 9, 0}, {9, 15, 0}, {15, 18, answerBytes}, {0, 7, 0}} {
		k.absorb(&sum, p[groups.from*GroupSize:groups.to*GroupSize], groups.text)
	}
	k.Finish(&tag, &sum, nonce[:], p[7*GroupSize:][:rest], length+rest)
	a.AddBytes(tag[:])
	for _, open := range [...]bool{false, true} {
		const first, second, data = 512, 100, 20
		sum = [BlockSize]byte{}
		var r run
		r.sum, r.data, r.dst, r.src = &sum, p[answerBytes-data:], p, p[:first]
		k.crypt(&r, nonce, open)
		r.tag, r.data, r.dst, r.src = &tag, nil, p[first:], p[first:][:second]
		r.blocks, r.dataBits, r.textBits = first/BlockSize, 8*data, 8*(first+second)
		k.crypt(&r, nonce, open)
		a.AddBytes(tag[:])
	}
	a.AddBytes(p)
	return a
}
