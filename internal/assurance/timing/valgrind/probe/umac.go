// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash"

	"example.com/fastmac"
)

// lengths of messages: around what the code treats as a unit, which is 8, 16, 32, 64, 128 and
// 1024 bytes, and more than that.
var lengths = []int{0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 111, 112, 127, 128, 129, 240, 255, 256, 257, 1023, 1024, 1025, 1055, 1056, 2047, 2048, 2049, 3072, 5000, 20_000}

// parts of messages that arrive in parts.
var parts = [][]int{
	{}, {0}, {1}, {31, 1}, {32}, {1, 31, 1}, {15, 16, 17}, {127, 1, 1}, {128, 128}, {111, 0, 145},
	{1023, 1, 1, 1024}, {1024}, {1024, 1}, {1024, 32}, {1024, 1024}, {1025, 1023, 5000}, {512, 600, 3000, 1, 2},
	{2047, 2, 20_000}, {3072, 0, 7, 32}, {70_000, 1},
}

// veryLong are more bytes than POLY-64 hashes, which is 2^24.
var veryLong = []int{1<<24 + 1, 1<<24 + 1024, 1<<24 + 3*1024 + 5}

var umacOperations = []operation{
	{"UMAC: Tag", umacTag},
	{"UMAC: Verify", umacVerify},
	{"UMAC: streams", umacStream},
	{"UMAC: Bind, Clone", umacBind},
	{"UMAC: TagBatch, VerifyBatch", umacBatch},
	{"UMAC: Sign, VerifySigned, of streams too", umacSign},
	{"UMAC: WriteParallel", umacParallel},
	{"UMAC: more than 2^24 bytes", umacLong},
	{"UMAC: printing, Destroy", umacDestroy},
}

// nonces counts. They are public.
var nonces uint64

// nonce returns the next nonce of n bytes.
func nonce(n int) []byte {
	nonces++
	p := binary.BigEndian.AppendUint64(make([]byte, 8, 16), nonces)
	return p[16-n:]
}

var tagSizes = []int{4, 8, 12, 16}

// eachUMACKey calls f with keys of all sizes, for tags of all sizes.
func eachUMACKey(f func(k *fastmac.UMACKey)) {
	for _, tagSize := range tagSizes {
		for _, keySize := range []int{16, 24, 32} {
			f(must(fastmac.NewUMACKey(secret(keySize), tagSize)))
		}
	}
}

func umacTag() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		for i, n := range lengths {
			result(k.Tag(nil, nonce(1+i%16), secret(n)))
		}
	})
}

func umacVerify() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		for i, n := range lengths {
			msg, nonce := secret(n), nonce(1+i%16)
			tag := k.Tag(nil, nonce, msg)
			ok := k.Verify(tag, nonce, msg)
			decision(&ok, true)
			ok = k.Verify(wrong(tag), nonce, msg)
			decision(&ok, false)
		}
	})
}

// wrong returns another tag.
func wrong(tag []byte) []byte {
	tag = bytes.Clone(tag)
	tag[len(tag)-1] ^= 0x40
	return tag
}

func umacStream() {
	for _, size := range tagSizes {
		u := must(fastmac.NewUMAC(secret(16), size))
		for _, sizes := range parts {
			for _, p := range secrets(sizes...) {
				u.Write(p)
				result(u.Tag(nil, nonce(8)))
			}
			n := nonce(16)
			tag := u.Tag(nil, n)
			ok := u.Verify(tag, n)
			decision(&ok, true)
			ok = u.Verify(wrong(tag), n)
			decision(&ok, false)
			result(u.Sum(nonce(5)))
			u.Reset()
		}
		// Nonces in order, and others: with pads that are computed ahead, and without.
		for i := range 40 {
			u.Reset()
			u.Write(secret(100))
			if i%15 == 0 {
				nonces += 5
			}
			result(u.Sum(nonce(8)))
		}
		u.Destroy()
	}
}

func umacBind() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		u := k.New()
		u.Write(secret(1500))
		hashParts(u.Bind(nonce(12)))
		c := must(u.Clone())
		c.Write(secret(100))
		result(c.Sum(nonce(8)))
	})
}

// hashParts uses a conventional hash, and a clone of it, and destroys both.
func hashParts(h hash.Cloner) {
	for _, sizes := range parts {
		for _, p := range secrets(sizes...) {
			h.Write(p)
		}
		result(h.Sum(nil))
		c := must(h.Clone())
		c.Write(secret(33))
		result(c.Sum(nil))
		c.(interface{ Destroy() }).Destroy()
		h.Reset()
	}
	h.(interface{ Destroy() }).Destroy()
}

func umacBatch() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		for _, n := range []int{1, 3, 8, 19} {
			for from := 0; from+n <= len(lengths); from += n {
				batch := make([]fastmac.Message, n)
				for i, msg := range secrets(lengths[from : from+n]...) {
					batch[i] = fastmac.Message{Nonce: nonce(1 + (from+i)%16), Data: msg, Tag: make([]byte, k.Size())}
				}
				k.TagBatch(batch)
				verifyBatch(batch, k.VerifyBatch)
			}
		}
	})
}

// verifyBatch calls verify with right tags, and with one that is wrong. The tags are results.
func verifyBatch(batch []fastmac.Message, verify func([]fastmac.Message) bool) {
	for _, bad := range []int{-1, 0, len(batch) - 1} {
		if bad >= 0 {
			batch[bad].Tag[1] ^= 0x10
		}
		all := verify(batch)
		decision(&all, bad < 0)
		for i := range batch {
			decision(&batch[i].OK, i != bad)
		}
		if bad >= 0 {
			batch[bad].Tag[1] ^= 0x10
		}
	}
	for _, m := range batch {
		result(m.Tag)
	}
}

func umacSign() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		for _, n := range lengths {
			msg := secret(n)
			sig := k.Sign(nil, msg)
			ok := k.VerifySigned(sig, msg)
			decision(&ok, true)
			ok = k.VerifySigned(wrong(sig), msg)
			decision(&ok, false)
			result(sig[16:])

			u := k.New()
			u.Write(msg[:n/3])
			u.Write(msg[n/3:])
			sig = u.Sign(nil)
			ok = u.VerifySigned(sig)
			decision(&ok, true)
			ok = u.VerifySigned(wrong(sig))
			decision(&ok, false)
			result(sig[16:])
			u.Destroy()
		}
	})
}

func umacParallel() {
	for _, size := range tagSizes {
		u := must(fastmac.NewUMAC(secret(32), size))
		msg := secret(3 << 19)
		u.Write(msg[:1100])
		u.WriteParallel(msg, 2)
		result(u.Tag(nil, nonce(8)))
		u.WriteParallel(msg[5:], 3)
		result(u.Tag(nil, nonce(8)))
		u.Destroy()
	}
}

// umacLong is for POLY-128.
func umacLong() {
	msg := secret(veryLong[len(veryLong)-1])
	for _, size := range tagSizes {
		if *short && size > tagSizes[0] {
			break
		}
		key := secret(16)
		k, u := must(fastmac.NewUMACKey(key, size)), must(fastmac.NewUMAC(key, size))
		u.Write(msg[:1<<24])
		result(u.Tag(nil, nonce(8)))
		for _, n := range veryLong {
			result(k.Tag(nil, nonce(8), msg[:n]))
			c := must(u.Clone())
			c.Write(msg[1<<24 : n])
			result(c.Sum(nonce(8)))
			for _, p := range secrets(1, 1023, 512, 512, 31) {
				c.Write(p)
			}
			result(c.Sum(nonce(8)))
		}
		u.WriteParallel(msg[:1<<20], 2)
		result(u.Tag(nil, nonce(8)))
		u.Destroy()
	}
}

func umacDestroy() {
	eachUMACKey(func(k *fastmac.UMACKey) {
		u := k.New()
		u.Write(secret(1055))
		result(u.Tag(nil, nonce(8)))
		public(fmt.Appendf(nil, "%v %+v %x %v %#v", k, k, k, u, u))
		u.Destroy()
		public(storage(u))
		k.Destroy()
		public(storage(k))
	})
}
