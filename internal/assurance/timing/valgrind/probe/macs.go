// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"example.com/fastmac"
	"example.com/fastmac/hmac"
	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/mactest"
	sha1hmac "example.com/fastmac/internal/sha1"
	"example.com/fastmac/sshmac"
)

// lengths are those of messages: around the units of the code, which are 8, 16, 32, 64, 128 and
// 1024 bytes, and longer.
var lengths = []int{0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 111, 112, 127, 128, 129, 240, 255, 256, 257, 1023, 1024, 1025, 1055, 1056, 2047, 2048, 2049, 3072, 5000, 20_000}

// parts are the sizes of the parts in which messages arrive.
var parts = [][]int{
	{}, {0}, {1}, {31, 1}, {32}, {1, 31, 1}, {15, 16, 17}, {127, 1, 1}, {128, 128}, {111, 0, 145},
	{1023, 1, 1, 1024}, {1024}, {1024, 1}, {1024, 32}, {1024, 1024}, {1025, 1023, 5000}, {512, 600, 3000, 1, 2},
	{2047, 2, 20_000}, {3072, 0, 7, 32}, {70_000, 1},
}

// macOperations returns the operations that all MACs have.
func macOperations() (operations []operation) {
	for _, m := range macs.Available() {
		for _, o := range []struct {
			name string
			keys int // how many sizes of them: those of HMAC differ in the set-up only
			run  func(m macs.MAC, key []byte)
		}{
			{"Tag, Verify", len(m.KeySizes), tagAndVerify},
			{"streams", 3, stream},
			{"Bind, Clone", len(m.KeySizes), bind},
			{"TagBatch, VerifyBatch", 3, batches},
			{"printing, Destroy", len(m.KeySizes), destroy},
		} {
			operations = append(operations, operation{m.Name + ": " + o.name, func() {
				for _, size := range m.KeySizes[:o.keys] {
					o.run(m, secret(size))
				}
			}})
		}
	}
	return operations
}

// nonces is the last nonce. Nonces are public.
var nonces uint64

// nonce returns the next nonce of n bytes, or nil if there is none.
func nonce(n int) []byte {
	if n == 0 {
		return nil
	}
	nonces++
	p := binary.BigEndian.AppendUint64(make([]byte, 8, 16), nonces)
	return p[16-n:]
}

// nonceOf returns the next nonce of m. Its sizes take turns, by i.
func nonceOf(m macs.MAC, i int) []byte { return nonce(m.NonceSizes[i%len(m.NonceSizes)]) }

func tagAndVerify(m macs.MAC, key []byte) {
	k := m.NewKey(key)
	for i, n := range lengths {
		msg, nonce := secret(n), nonceOf(m, i)
		tag := k.Tag(nil, nonce, msg)
		verify(tag, func(tag []byte) bool { return k.Verify(tag, nonce, msg) })
		result(tag)
	}
}

// verify calls f with the right tag and with a wrong one.
func verify(tag []byte, f func(tag []byte) bool) {
	decision(f(tag), true)
	decision(f(wrong(tag)), false)
}

// wrong returns another tag.
func wrong(tag []byte) []byte {
	tag = bytes.Clone(tag)
	tag[len(tag)-1] ^= 0x40
	return tag
}

func stream(m macs.MAC, key []byte) {
	s := m.NewStream(key)
	for i, sizes := range parts {
		for _, p := range secrets(sizes...) {
			s.Write(p)
			result(s.Tag(nil, nonceOf(m, i)))
		}
		n := nonceOf(m, i)
		verify(s.Tag(nil, n), func(tag []byte) bool { return s.Verify(tag, n) })
		result(s.Sum(nonceOf(m, i)))
		s.Reset()
	}
	// Nonces in order, and others: with pads that are computed ahead, and without.
	for i := range 40 {
		s.Reset()
		s.Write(secret(100))
		if i%15 == 0 {
			nonces += 5
		}
		result(s.Sum(nonceOf(m, 0)))
	}
	s.Write(secret(600_000)) // more than one call of GMAC's assembly
	result(s.Sum(nonceOf(m, 0)))
	s.Destroy()
}

func bind(m macs.MAC, key []byte) {
	s := m.NewKey(key).Stream()
	s.Write(secret(1500))
	c := mactest.Must(s.Clone())
	c.Write(secret(100))
	result(c.Sum(nonceOf(m, 0)))
	hashParts(s.Bind(nonceOf(m, 1)))
}

// hashParts uses a conventional hash, and a clone of it, and destroys both.
func hashParts(h hash.Cloner) {
	asString(h)
	for _, sizes := range parts {
		for _, p := range secrets(sizes...) {
			h.Write(p)
		}
		result(h.Sum(nil))
		c := mactest.Must(h.Clone())
		c.Write(secret(200))
		result(c.Sum(nil))
		destroyHash(c)
		h.Reset()
	}
	destroyHash(h)
}

// asString writes a string, in which secrets are too, and asks for sizes, and for the name.
func asString(h hash.Hash) {
	if s, ok := h.(fmt.Stringer); ok {
		public([]byte(s.String()))
	}
	text := string(secret(h.Size() + h.BlockSize()))
	io.WriteString(h, text)
	h.Reset()
}

func destroyHash(h hash.Hash) { h.(interface{ Destroy() }).Destroy() }

// eachBatch calls f with batches of several sizes, of messages of different lengths.
func eachBatch(m macs.MAC, f func(batch []fastmac.Message)) {
	for _, n := range []int{1, 3, 4, 5, 8, 19, len(lengths)} {
		for from := 0; from+n <= len(lengths); from += n {
			batch := make([]fastmac.Message, n)
			for i, msg := range secrets(lengths[from : from+n]...) {
				batch[i] = fastmac.Message{Nonce: nonceOf(m, from+i), Data: msg, Tag: make([]byte, m.TagSize)}
			}
			f(batch)
		}
	}
	batch := make([]fastmac.Message, 16) // of one length, in all lanes
	for i := range batch {
		batch[i] = fastmac.Message{Nonce: nonceOf(m, i), Data: secret(100), Tag: make([]byte, m.TagSize)}
	}
	f(batch)
}

// batches verifies right tags, and then with a wrong one at either end.
func batches(m macs.MAC, key []byte) {
	k := m.NewKey(key)
	eachBatch(m, func(batch []fastmac.Message) {
		k.TagBatch(batch)
		for _, bad := range []int{-1, 0, len(batch) - 1} {
			if bad >= 0 {
				batch[bad].Tag[1] ^= 0x10
			}
			decision(k.VerifyBatch(batch), bad < 0)
			for i := range batch {
				decision(batch[i].OK, i != bad)
			}
			if bad >= 0 {
				batch[bad].Tag[1] ^= 0x10
			}
		}
		results(batch)
	})
}

func results(batch []fastmac.Message) {
	for _, m := range batch {
		result(m.Tag)
	}
}

func destroy(m macs.MAC, key []byte) {
	k := m.NewKey(key)
	s := k.Stream()
	s.Write(secret(1055))
	result(s.Tag(nil, nonceOf(m, 0)))
	if k, ok := k.(interface{ Size() int }); ok {
		public([]byte{byte(k.Size())})
	}
	b := s.Bind(nonceOf(m, 0))
	asString(s)
	asString(b)
	public(fmt.Appendf(nil, "%v %+v %x %v %#v %v", k, k, k, s, s, b))
	s.Destroy()
	public(storage(s))
	k.Destroy()
	public(storage(k))
}

func hmacOperations() (operations []operation) {
	for _, h := range macs.HMACHashes {
		operations = append(operations,
			operation{"HMAC-" + h.String() + ": SumHMAC", func() { hmacSum(h) }},
			operation{"HMAC-" + h.String() + ": SumHMACBatch", func() { hmacSumBatch(h) }})
	}
	return append(operations, operation{"sshmac: packets", sshPackets}, operation{"keys that are destroyed in use", destroyedInUse}, operation{"HMAC-SHA-1: package hmac", sha1Streams})
}

// sha1Streams uses streams of package hmac, and verifies with them.
func sha1Streams() {
	h := sha1hmac.New(secret(20))
	asString(h)
	for i := range macs.HMAC(crypto.SHA1).KeySizes {
		m, ok := hmac.New(sha1.New, hmacKey(crypto.SHA1, i)).(*fastmac.HMAC)
		if !ok {
			return // FIPS 140 mode
		}
		m.Write(secret(100))
		verify(m.Sum(nil), m.Verify)
		verify(m.Sum(nil), func(tag []byte) bool { return hmac.Equal(tag, m.Sum(nil)) })
		m.Reset()
		hashParts(m)
	}
}

// hmacKey returns a key of HMAC. The sizes take turns, by i.
func hmacKey(h crypto.Hash, i int) []byte {
	sizes := macs.HMAC(h).KeySizes
	return secret(sizes[i%len(sizes)])
}

func hmacSum(h crypto.Hash) {
	for i, n := range lengths {
		result(fastmac.SumHMAC(h, nil, hmacKey(h, i), secret(n)))
	}
}

func hmacSumBatch(h crypto.Hash) {
	eachBatch(macs.HMAC(h), func(batch []fastmac.Message) {
		keys := make([][]byte, len(batch))
		for i := range keys {
			keys[i] = hmacKey(h, i)
		}
		fastmac.SumHMACBatch(h, keys, batch)
		results(batch)
	})
}

// sshPackets does what an SSH transport does. The sequence numbers of packets are public.
func sshPackets() {
	own := sshmac.Mode{KeySize: 32, New: newHMAC(crypto.SHA256)} // as Register puts it into x/crypto's table
	for _, mode := range append(macs.SSHModes(), own) {
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
			c := mactest.Must(h.(hash.Cloner).Clone())
			c.Write(secret(1000))
			result(c.Sum(nil))
		}
		asString(h)
		public(fmt.Appendf(nil, "%v %#v", h, h))
		destroyHash(h)
	}
}
