// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import "unsafe"

// CompressPair compresses the blocks of p into state, and those of q into other: of each as many as
// the shorter one has. Bytes after these blocks are ignored. It must not be called unless [HasPairs]
// reports true.
//
//go:nosplit
func CompressPair[W Word](state, other *State[W], p, q []byte) {
	blocks := min(len(p), len(q)) / BlockSize[W]()
	for blocks > 0 {
		n := min(blocks, maxRun)
		compressPair(state, other, unsafe.SliceData(p), unsafe.SliceData(q), n, nil)
		p, q = p[n*BlockSize[W]():], q[n*BlockSize[W]():]
		blocks -= n
	}
}

// A Message is a message whose first N bytes, whole blocks, are in State, and whose rest is P. Outer
// is the chaining value of an outer hash, which is not nil. Out is for the result: see [Sum].
type Message[W Word] struct {
	Out          []byte
	State, Outer *State[W]
	N            uint64
	P            []byte
}

// SumPair is [Sum] of two messages, both with outer hashes and results of the same size. It must not
// be called unless [HasPairs] reports true.
func SumPair[W Word](m *[2]Message[W]) {
	s := *m[0].State // a tuple assignment would copy them twice
	t := *m[1].State
	p, q := m[0].P, m[1].P
	size := BlockSize[W]()
	if blocks := min(len(p), len(q)) / size; blocks > 0 {
		CompressPair(&s, &t, p, q)
		p, q = p[blocks*size:], q[blocks*size:]
	}
	if len(p) >= size {
		s.Compress(p)
		p = p[len(p)&^(size-1):]
	}
	if len(q) >= size {
		t.Compress(q)
		q = q[len(q)&^(size-1):]
	}
	var e [2]end[W]
	e[0].words, e[0].tail = len(p)/wordSize[W](), tail[W](p)
	e[1].words, e[1].tail = len(q)/wordSize[W](), tail[W](q)
	// Where there is no room for the length, as in Sum.
	longP, longQ := len(p)+1 > size-lengthSize[W](), len(q)+1 > size-lengthSize[W]()
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
	e[0].bits, e[1].bits = m[0].bits(), m[1].bits()
	whole := len(m[0].Out) == Size[W]()
	if whole {
		e[0].outer, e[1].outer = m[0].Outer, m[1].Outer
	}
	compressPair(&s, &t, unsafe.SliceData(p), unsafe.SliceData(q), 0, &e)
	e[0].tail, e[1].tail = 0, 0
	if whole {
		s.encode(m[0].Out)
		t.encode(m[1].Out)
		return
	}
	s.sumCut(m[0].Outer, m[0].Out)
	t.sumCut(m[1].Outer, m[1].Out)
	s.encodeCut(m[0].Out)
	t.encodeCut(m[1].Out)
	s, t = State[W]{}, State[W]{} // more than the tags
}

// bits is the length as a number of two words.
func (m *Message[W]) bits() [2]W { return bitLength[W](m.N + uint64(len(m.P))) }
