// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
)

var gcmOperations = []operation{
	{"GMAC: Tag, Verify", gmacTag},
	{"GMAC: streams, Bind, Clone", gmacStream},
	{"GMAC: TagBatch, VerifyBatch", gmacBatch},
	{"GMAC: printing, Destroy", gmacDestroy},
	{"aesgcm: Seal, Open", gcmSeal},
	{"aesgcm: in place", gcmInPlace},
	{"aesgcm: Sealer", gcmSealer},
	{"aesgcm: printing, Destroy", gcmDestroy},
}

var randomOperations = []operation{{"hwrand: Read, Destroy", randomRead}}

func eachGMACKey(f func(k *fastmac.GMACKey)) {
	for _, size := range []int{16, 24, 32} {
		f(must(fastmac.NewGMACKey(secret(size))))
	}
}

func gmacTag() {
	eachGMACKey(func(k *fastmac.GMACKey) {
		for _, n := range lengths {
			msg, nonce := secret(n), nonce(12)
			tag := k.Tag(nil, nonce, msg)
			ok := k.Verify(tag, nonce, msg)
			decision(&ok, true)
			ok = k.Verify(wrong(tag), nonce, msg)
			decision(&ok, false)
			result(tag)
		}
	})
}

func gmacBatch() {
	eachGMACKey(func(k *fastmac.GMACKey) {
		batch := make([]fastmac.Message, len(lengths))
		for i, msg := range secrets(lengths...) {
			batch[i] = fastmac.Message{Nonce: nonce(12), Data: msg, Tag: make([]byte, fastmac.GMACSize)}
		}
		k.TagBatch(batch)
		verifyBatch(batch, k.VerifyBatch)
	})
}

func gmacStream() {
	eachGMACKey(func(k *fastmac.GMACKey) {
		m := k.New()
		for _, sizes := range parts {
			for _, p := range secrets(sizes...) {
				m.Write(p)
			}
			n := nonce(12)
			tag := m.Tag(nil, n)
			ok := m.Verify(tag, n)
			decision(&ok, true)
			ok = m.Verify(wrong(tag), n)
			decision(&ok, false)
			c := must(m.Clone())
			c.Write(secret(200))
			result(c.Sum(nonce(12)))
			m.Reset()
		}
		hashParts(m.Bind(nonce(12)))
	})
	m := must(fastmac.NewGMAC(secret(16)))
	m.Write(secret(5000))
	m.Write(secret(600_000))
	result(m.Sum(nonce(12)))
	m.Destroy()
}

func gmacDestroy() {
	eachGMACKey(func(k *fastmac.GMACKey) {
		m := k.New()
		m.Write(secret(333))
		public(fmt.Appendf(nil, "%v %+v %x %v %#v", k, k, k, m, m))
		m.Destroy()
		public(storage(m))
		k.Destroy()
		public(storage(k))
	})
}

// eachGCM calls f with keys of both sizes, plaintexts of many lengths and additional data.
func eachGCM(f func(k *aesgcm.Key, plaintext, data []byte)) {
	for _, size := range []int{16, 24, 32} {
		k := must(aesgcm.NewKey(secret(size)))
		for i, n := range lengths {
			f(k, secret(n), secret([]int{0, 1, 13, 16, 200}[i%5]))
		}
		f(k, secret(600_000), secret(300_001)) // more than one call of the assembly
	}
}

func gcmSeal() {
	eachGCM(func(k *aesgcm.Key, plaintext, data []byte) {
		n := nonce(12)
		sealed := k.Seal(nil, n, plaintext, data)
		result(must(k.Open(nil, n, sealed, data)))
		refused(k.Open(nil, n, wrong(sealed), data))
		result(sealed)
	})
}

// refused takes what an Open has returned that must fail.
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
		result(must(k.Open(sealed[:0], n, sealed, data)))
	})
}

func gcmSealer() {
	eachGCM(func(k *aesgcm.Key, plaintext, data []byte) {
		sealed := k.NewSealer().Seal(nil, nil, plaintext, data)
		refused(k.NewSealer().Open(nil, nil, wrong(sealed), data))
		result(must(k.NewSealer().Open(nil, nil, sealed, data)))
		result(bytes.Clone(sealed[aesgcm.NonceSize:]))
		result(must(k.NewSealer().Open(sealed[:0], nil, sealed, data)))

		// In place: at the nonce, and after it.
		for _, at := range []int{0, aesgcm.NonceSize} {
			p := secret(aesgcm.NonceSize + len(plaintext) + aesgcm.Overhead)
			sealed := k.NewSealer().Seal(p[:0], nil, p[at:][:len(plaintext)], data)
			result(must(k.NewSealer().Open(sealed[at:at], nil, sealed, data)))
		}
	})
}

func gcmDestroy() {
	k := must(aesgcm.NewKey(secret(32)))
	public(fmt.Appendf(nil, "%v %+v %x %#v", k, k, k, k.NewSealer()))
	k.Destroy()
	public(storage(k))
}

func randomRead() {
	r := must(hwrand.New())
	field, _ := reflect.TypeFor[hwrand.Reader]().FieldByName("state")
	state := storage(r)[field.Offset:][:field.Type.Size()]
	hide(state)
	for _, n := range []int{1, 16, 32, 100, 511, 512, 513, 1000, 70_000, 1<<20 + 1} {
		p := make([]byte, n)
		r.Read(p)
		result(p)
	}
	public(fmt.Appendf(nil, "%v %#v", r, r))
	r.Destroy()
	public(state)
}
