// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aes

import (
	"encoding/binary"
	"sync"

	"example.com/fastmac/internal/kernel"
)

// Choose puts the best implementation into use, unless that has been done: see [kernel.Choose].
func Choose() { kernel.Choose(kernel.AES, register) }

func right() bool { return !InUse() || answer() == wantAnswer }

var stretchAdded sync.Once

// UsesStretch adds the known answer of Stretch to those of AES. Package hwrand calls it before it uses AES.
func UsesStretch() {
	stretchAdded.Do(func() {
		kernel.AddAnswer(kernel.AES, func() bool { return !InUse() || stretchAnswer() == wantStretch })
	})
}

// What TestAnswer computes with crypto/aes.
const (
	wantAnswer  = 0xcc847af0d5f6365a
	wantStretch = 0x2be8e701a655b72
)

// answering is what answers are computed with. On the stack it would take longer: the stack would have to
// grow. All is in place, so that a wrong bit changes what follows.
var answering [3 * StretchStep]byte

// answerChosen is for EncryptWords.
var answerChosen = [BlockSize]byte{15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 0xff, 7}

// answer returns a checksum of what the kernels in use make of keys of all sizes.
func answer() (a kernel.Answer) {
	p := answering[:32*BlockSize]
	kernel.FillAnswer(p)
	var s Schedule
	for size := 16; size <= 32; size += 8 {
		rounds := s.Expand(p[len(p)-size:])
		for _, blocks := range [...]int{1, 7, 31} { // one by one, and eight at a time
			s.Encrypt(rounds, p[:blocks*BlockSize])
		}
		first, second := s.EncryptWords(rounds, binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), &answerChosen)
		a.Add(first)
		a.Add(second)
	}
	a.AddBytes(p)
	return a
}

func stretchAnswer() (a kernel.Answer) {
	p := answering[:]
	kernel.FillAnswer(p)
	stretch(p)
	a.AddBytes(p)
	return a
}
