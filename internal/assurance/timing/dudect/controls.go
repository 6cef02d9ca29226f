// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// controlSubjects returns subjects that leak. Unless each is caught, the measurement is worth
// nothing.
func controlSubjects(edges []edge) []subject {
	k := mactest.Must(fastmac.NewUMACKey(pattern(16), fastmac.UMAC128Size))
	nonce, message := nonceRoom[:8], pattern(64)
	tag := k.Tag(nil, nonce, message)
	marker := edges[slices.IndexFunc(edges, func(e edge) bool { return e.group == "poly64-marker" })]
	var poly varTimePoly
	poly.init(marker.key)
	subjects := []subject{
		newSubject("tags compared up to the first difference, wrong in the first byte or in the last", len(tag), wrong(tag, 0), wrong(tag, -1),
			func(in []byte) { sink += varTimeEqual(k.Tag(tagRoom[:0], nonce, message), in) }),
		newSubject("a branch on one bit of a key, key zeros or random", 16, repeated(0), random,
			func(in []byte) { sink += varTimeBranch(in) }),
		newSubject("a table of 1 MiB indexed by 2 bytes of a key, key fixed or random", 16, fixed(pattern(16)), random,
			func(in []byte) { sink += varTimeLookup(in) }),
		newSubject("POLY-64 with a branch, UMAC "+marker.name()+", rare or random", len(marker.rest), fixed(marker.rest), random,
			func(in []byte) { sink += poly.varTimeHash(in) }),
	}
	for i := range subjects {
		subjects[i].control = true
	}
	return subjects
}

// sink keeps results, so that the compiler cannot leave out what computes them.
var sink uint64

func varTimeEqual(a, b []byte) uint64 {
	for i := range a {
		if a[i] != b[i] {
			return 0
		}
	}
	return 1
}

func varTimeBranch(key []byte) uint64 {
	if key[5]>>3&1 == 1 {
		return oneMultiplication(uint64(key[0]))
	}
	return 0
}

//go:noinline
func oneMultiplication(x uint64) uint64 { return x * sink }

var table [1 << 14][64]byte

func varTimeLookup(key []byte) uint64 {
	return uint64(table[binary.LittleEndian.Uint16(key)%uint16(len(table))][0])
}

// varTimePoly is NH and POLY-64 of the first iteration, RFC 4418 sections 5.2.2 and 5.3.2,
// for messages of whole blocks, with the branch that the RFC has.
type varTimePoly struct {
	nh [256]uint32
	k  uint64
}

const (
	block  = 1024
	prime  = 1<<64 - 59
	marker = prime - 1
)

func (p *varTimePoly) init(key []byte) {
	for i, l1 := 0, umacref.KDF(key, 1, block); i < len(p.nh); i++ {
		p.nh[i] = binary.BigEndian.Uint32(l1[4*i:])
	}
	p.k = binary.BigEndian.Uint64(umacref.KDF(key, 2, 24)) & 0x01ffffff01ffffff
}

// word returns the L1 word of a block.
func (p *varTimePoly) word(b []byte) uint64 {
	word := uint64(8 * block)
	for i := 0; i < len(p.nh); i += 8 {
		for j := i; j < i+4; j++ {
			x := binary.LittleEndian.Uint32(b[4*j:]) + p.nh[j]
			y := binary.LittleEndian.Uint32(b[4*j+16:]) + p.nh[j+4]
			word += uint64(x) * uint64(y)
		}
	}
	return word
}

func (p *varTimePoly) varTimeHash(msg []byte) uint64 {
	y := uint64(1)
	for ; len(msg) >= block; msg = msg[block:] {
		m := p.word(msg[:block])
		if m >= 1<<64-1<<32 {
			y = p.step(y, marker)
			y = p.step(y, m-59)
		} else {
			y = p.step(y, m)
		}
	}
	return y
}

// step returns k*y + m modulo the prime. A branch here would be one more leak.
func (p *varTimePoly) step(y, m uint64) uint64 {
	hi, lo := bits.Mul64(p.k, y)
	lo, c := bits.Add64(lo, m, 0)
	return bits.Rem64(hi+c, lo, prime)
}
