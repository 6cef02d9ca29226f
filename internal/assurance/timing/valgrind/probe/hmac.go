// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"hash"

	"example.com/fastmac"
	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

var hmacOperations = []operation{
	{"HMAC-SHA-512: Tag, Verify", hmacTag},
	{"HMAC-SHA-512: SumHMACSHA512", hmacSum},
	{"HMAC-SHA-512: streams, Clone", hmacStream},
	{"HMAC-SHA-512: TagBatch, VerifyBatch", hmacBatch},
	{"HMAC-SHA-512: SumHMACSHA512Batch", hmacSumBatch},
	{"HMAC-SHA-512: printing, Destroy", hmacDestroy},
}

var sshOperations = []operation{{"sshmac: packets", sshPackets}}

// keySizes are those of keys of HMAC-SHA-512: up to a block, and more.
var keySizes = []int{14, 64, 127, 128, 129, 300}

func hmacTag() {
	for _, size := range keySizes {
		k := fastmac.NewHMACSHA512Key(secret(size))
		for _, n := range lengths {
			msg := secret(n)
			tag := k.Tag(nil, msg)
			ok := k.Verify(tag, msg)
			decision(&ok, true)
			ok = k.Verify(wrong(tag), msg)
			decision(&ok, false)
			result(tag)
		}
	}
}

func hmacSum() {
	for i, n := range lengths {
		tag := fastmac.SumHMACSHA512(secret(keySizes[i%len(keySizes)]), secret(n))
		result(tag[:])
	}
}

func hmacStream() {
	for _, size := range keySizes {
		m := fastmac.NewHMACSHA512(secret(size))
		for _, sizes := range parts {
			for _, p := range secrets(sizes...) {
				m.Write(p)
			}
			tag := m.Sum(nil)
			ok := m.Verify(tag)
			decision(&ok, true)
			ok = m.Verify(wrong(tag))
			decision(&ok, false)
			result(tag)
			m.Reset()
		}
		hashParts(m)
	}
}

// hmacBatches calls f with batches of messages of different lengths.
func hmacBatches(f func(batch []fastmac.Message)) {
	for _, n := range []int{1, 3, 4, 5, 8, 19} {
		for from := 0; from+n <= len(lengths); from += n {
			batch := make([]fastmac.Message, n)
			for i, msg := range secrets(lengths[from : from+n]...) {
				batch[i] = fastmac.Message{Data: msg, Tag: make([]byte, fastmac.HMACSHA512Size)}
			}
			f(batch)
		}
	}
}

func hmacBatch() {
	k := fastmac.NewHMACSHA512Key(secret(64))
	hmacBatches(func(batch []fastmac.Message) {
		k.TagBatch(batch)
		verifyBatch(batch, k.VerifyBatch)
	})
}

func hmacSumBatch() {
	hmacBatches(func(batch []fastmac.Message) {
		keys := make([][]byte, len(batch))
		for i := range keys {
			keys[i] = secret(keySizes[i%len(keySizes)])
		}
		fastmac.SumHMACSHA512Batch(keys, batch)
		for _, m := range batch {
			result(m.Tag)
		}
	})
}

func hmacDestroy() {
	k := fastmac.NewHMACSHA512Key(secret(64))
	m := k.New()
	m.Write(secret(300))
	public(fmt.Appendf(nil, "%v %+v %x %v %#v", k, k, k, m, m))
	m.Destroy()
	public(storage(m))
	k.Destroy()
	public(storage(k))
}

// sshPackets does what an SSH transport does. The packets' sequence numbers are public.
func sshPackets() {
	hmac := sshmac.Mode{Name: ssh.HMACSHA512, KeySize: 64, New: func(key []byte) hash.Hash { return fastmac.NewHMACSHA512(key) }}
	for _, mode := range append(sshmac.Modes(), hmac) {
		h := mode.New(secret(mode.KeySize))
		for i, sizes := range parts {
			h.Reset()
			number := []byte{0, 0, 1, byte(i)}
			h.Write(number[:2+2*(i%2)])
			h.Write(number[2+2*(i%2):])
			for _, p := range secrets(sizes...) {
				h.Write(p)
			}
			result(h.Sum(nil))
			c := must(h.(hash.Cloner).Clone())
			c.Write(secret(1000))
			result(c.Sum(nil))
		}
		public(fmt.Appendf(nil, "%v %#v", h, h))
		h.(interface{ Destroy() }).Destroy()
	}
}
