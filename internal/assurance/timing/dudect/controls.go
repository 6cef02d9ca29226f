// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"math/big"
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
	k64, rare := poly64Key(marker.key), l1Words(marker.key, marker.rest)
	for i := range table {
		table[i][0] = byte(i) // or else all its pages are one page of zeros in memory, in the nearest cache
	}
	subjects := []subject{
		newSubject("tags compared up to the first difference, wrong in the first byte or in the last", len(tag), wrong(tag, 0), wrong(tag, -1),
			func(in []byte) { sink += varTimeEqual(k.Tag(tagRoom[:0], nonce, message), in) }),
		newSubject("a branch on one bit of a key, key zeros or random", 16, repeated(0), random,
			func(in []byte) { sink += varTimeBranch(in) }),
		newSubject("a table of 1 MiB indexed by 2 bytes of a key, key fixed or random", 16, fixed(pattern(16)), random,
			func(in []byte) { sink += varTimeLookup(in) }),
		newSubject("POLY-64 with a branch, UMAC "+marker.name()+", rare or random", len(rare), fixed(rare), random,
			func(in []byte) { sink += varTimePoly(k64, in) }),
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

const block = 1024 // of L1

// markers is the lower bound of the words that POLY-64 hashes in two steps, the first a marker.
var markers = new(big.Int).SetUint64(1<<64 - 1<<32)

// l1Words returns the L1 words of the first iteration, RFC 4418 section 5.2.1.
func l1Words(key, msg []byte) []byte { return umacref.L1Hash(umacref.KDF(key, 1, block), msg) }

// varTimePoly returns POLY-64 of the first iteration, RFC 4418 section 5.3.2, with a branch for
// each word that is too large.
func varTimePoly(k *big.Int, words []byte) uint64 {
	return umacref.POLY(64, markers, k, words).Uint64()
}

// poly64Key returns the key of POLY-64 of the first iteration, section 5.3.1.
func poly64Key(key []byte) *big.Int {
	return new(big.Int).SetUint64(binary.BigEndian.Uint64(umacref.KDF(key, 2, 8)) & 0x01ffffff01ffffff)
}
