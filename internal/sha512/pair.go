// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import "unsafe"

// BlockPair compresses the blocks of p into state, and those of q into other: of each as many as
// the shorter one has. Bytes after these blocks are ignored. It must not be called unless [HasPairs]
// reports true.
//
//go:nosplit
func BlockPair(state, other *[8]uint64, p, q []byte) {
	blocks := min(len(p), len(q)) / BlockSize
	for blocks > 0 {
		n := min(blocks, maxRun)
		compressPair(state, other, unsafe.SliceData(p), unsafe.SliceData(q), n, nil)
		p, q = p[n*BlockSize:], q[n*BlockSize:]
		blocks -= n
	}
}

// A Message is a message whose first N bytes, whole blocks, are in State, and whose rest is P. Outer
// is the chaining value of an outer hash, which is not nil: see [Sum].
type Message struct {
	State, Outer *[8]uint64
	N            uint64
	P            []byte
}

// SumPair is [Sum] of two messages, both with outer hashes, whose hashes go to out. It must not be
// called unless [HasPairs] reports true.
func SumPair(out *[2][Size]byte, m *[2]Message) {
	s := *m[0].State // a tuple assignment would copy them twice
	t := *m[1].State
	p, q := m[0].P, m[1].P
	if blocks := min(len(p), len(q)) / BlockSize; blocks > 0 {
		BlockPair(&s, &t, p, q)
		p, q = p[blocks*BlockSize:], q[blocks*BlockSize:]
	}
	if len(p) >= BlockSize {
		Block(&s, p)
		p = p[len(p)&^(BlockSize-1):]
	}
	if len(q) >= BlockSize {
		Block(&t, q)
		q = q[len(q)&^(BlockSize-1):]
	}
	var e [2]end
	e[0].words, e[0].tail = len(p)/8, tail(p)
	e[1].words, e[1].tail = len(q)/8, tail(q)
	// Where there is no room for the length, as in Sum.
	longP, longQ := len(p)+1 > BlockSize-16, len(q)+1 > BlockSize-16
	switch {
	case longP && longQ:
		compressPair(&s, &t, unsafe.SliceData(p), unsafe.SliceData(q), 0, &e)
	case longP:
		compress(&s, unsafe.SliceData(p), 0, &e[0])
	case longQ:
		compress(&t, unsafe.SliceData(q), 0, &e[1])
	}
	if longP {
		e[0].words, e[0].tail = 0, 0
	}
	if longQ {
		e[1].words, e[1].tail = 0, 0
	}
	e[0].bits, e[0].outer = m[0].bits(), m[0].Outer
	e[1].bits, e[1].outer = m[1].bits(), m[1].Outer
	compressPair(&s, &t, unsafe.SliceData(p), unsafe.SliceData(q), 0, &e)
	Encode(&out[0], &s)
	Encode(&out[1], &t)
	e[0].tail, e[1].tail = 0, 0
}

// bits is the length as a number of two words.
func (m *Message) bits() [2]uint64 {
	n := m.N + uint64(len(m.P))
	return [2]uint64{n >> 61, n << 3}
}
