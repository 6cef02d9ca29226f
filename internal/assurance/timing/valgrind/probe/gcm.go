// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto/cipher"
	"fmt"
	"slices"
	"time"

	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/mactest"
)

var gcmOperations = []operation{
	{"aesgcm: Seal, Open", gcmSeal},
	{"aesgcm: in place", gcmInPlace},
	{"aesgcm: Sealer", gcmSealer},
	{"aesgcm: printing, Destroy", gcmDestroy},
}

var randomOperations = []operation{{"hwrand: Read, Destroy", randomRead}}

// eachGCM calls f with keys of all sizes, plaintexts of many lengths and additional data.
func eachGCM(f func(k *aesgcm.Key, plaintext, data []byte)) {
	for _, size := range []int{16, 24, 32} {
		k := mactest.Must(aesgcm.NewKey(secret(size)))
		for i, n := range lengths {
			f(k, secret(n), secret([]int{0, 1, 13, 16, 200}[i%5]))
		}
		if size == 16 {
			f(k, secret(600_000), secret(300_001)) // more than one call of the assembly
		}
	}
}

func gcmSeal() {
	eachGCM(func(k *aesgcm.Key, plaintext, data []byte) {
		n := nonce(12)
		sealed := k.Seal(nil, n, plaintext, data)
		result(mactest.Must(k.Open(nil, n, sealed, data)))
		refused(k.Open(nil, n, wrong(sealed), data))
		result(sealed)
	})
}

// refused takes the results of an Open that must fail.
func refused(p []byte, err error) {
	if p != nil || err == nil {
		fail("%s: returned %d bytes, error %v", current, len(p), err)
	}
	counts.Decisions++
}

func gcmInPlace() {
	eachGCM(func(k *aesgcm.Key, plaintext, data []byte) {
		n := nonce(12)
		sealed := k.Seal(slices.Grow(plaintext, aesgcm.Overhead)[:0], n, plaintext, data)
		bad := wrong(sealed)
		refused(k.Open(bad[:0], n, bad, data))
		public(bad[:len(plaintext)])
		result(mactest.Must(k.Open(sealed[:0], n, sealed, data)))
	})
}

func gcmSealer() {
	eachGCM(func(k *aesgcm.Key, plaintext, data []byte) {
		sealed := k.NewSealer().Seal(nil, nil, plaintext, data)
		refused(k.NewSealer().Open(nil, nil, wrong(sealed), data))
		result(mactest.Must(k.NewSealer().Open(nil, nil, sealed, data)))
		result(bytes.Clone(sealed[aesgcm.NonceSize:]))
		result(mactest.Must(k.NewSealer().Open(sealed[:0], nil, sealed, data)))

		// In place: at the nonce, and after it.
		for _, at := range []int{0, aesgcm.NonceSize} {
			p := secret(aesgcm.NonceSize + len(plaintext) + aesgcm.Overhead)
			sealed := k.NewSealer().Seal(p[:0], nil, p[at:][:len(plaintext)], data)
			result(mactest.Must(k.NewSealer().Open(sealed[at:at], nil, sealed, data)))
		}
	})
}

func gcmDestroy() {
	k := mactest.Must(aesgcm.NewKey(secret(32)))
	public(fmt.Appendf(nil, "%v %+v %x %#v", k, k, k, k.NewSealer()))
	for _, aead := range []cipher.AEAD{k, k.NewSealer()} {
		public([]byte{byte(aead.NonceSize()), byte(aead.Overhead())})
	}
	k.Destroy()
	public(storage(k))
}

func randomRead() {
	r := mactest.Must(hwrand.New())
	state := mactest.Field(r, "state")
	hide(state)
	for _, n := range []int{1, 16, 32, 100, 511, 512, 513, 1000, 70_000, 1<<20 + 1} {
		p := make([]byte, n)
		r.Read(p)
		result(p)
	}
	public(fmt.Appendf(nil, "%v %#v", r, r))
	r.Destroy()
	public(state)

	draw := func(p []byte) { copy(p, secret(len(p))) }
	r = newReader(func() time.Duration { return 0 }, draw, draw)
	p := make([]byte, 100)
	r.Read(p)
	result(p)
}
