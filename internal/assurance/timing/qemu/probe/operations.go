// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"time"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/hwrand"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/pbkdf2"
)

// operations are functions that set up an operation and return what is traced. They call the
// module directly, not as package macs does, because the instructions of a call are counted.
// tagSize, keySize and size are in bytes.
var operations = map[string]func(tagSize, size int) func(){
	"tag":         tag,
	"verify":      func(tagSize, size int) func() { return verify(tagSize, size, false) },
	"wrong":       func(tagSize, size int) func() { return verify(tagSize, size, true) },
	"stream":      stream,
	"parts":       parts,
	"batch":       batch,
	"init":        initKey,
	"init.gmac":   initGMAC,
	"gmac":        gmac,
	"gmacstream":  gmacStream,
	"hmac":        hmacTag,
	"hmacnew":     hmacNew,
	"hmacbatch":   hmacBatch,
	"hmacverify":  hmacVerify,
	"pbkdf2":      deriveKey,
	"hwrand":      random,
	"seal":        seal,
	"open":        open,
	"crypto.gmac": cryptoGMAC,
	"crypto.seal": cryptoSeal,
	"crypto.open": cryptoOpen,
	"crypto.hmac": cryptoHMAC,
	"crypto.new":  cryptoNewHMAC,
	"branch":      branch,
	"index":       index,
}

// Where tags go, and random bytes.
var (
	out    [64]byte
	buffer [maxMessage]byte
)

func newKey(tagSize int) *fastmac.UMACKey { return mactest.Must(fastmac.NewUMACKey(key[:16], tagSize)) }

func tag(tagSize, size int) func() {
	k := newKey(tagSize)
	return func() { k.Tag(out[:0], nonce[:], message[:size]) }
}

// verify computes its tags in advance, right ones or bad ones, so that only the verification is
// traced.
func verify(tagSize, size int, bad bool) func() {
	k := newKey(tagSize)
	tags := make([]byte, 64*tagSize)
	for i := range 64 {
		setNonces(uint64(i))
		t := k.Tag(tags[:i*tagSize], nonce[:], message[:size])[i*tagSize:]
		if bad {
			t[wrong%tagSize] ^= 1
		}
	}
	return func() {
		t := tags[int(nonce[11])*tagSize:][:tagSize]
		if k.Verify(t, nonce[:], message[:size]) == bad {
			fail("verification returns %v", !bad)
		}
	}
}

func stream(tagSize, size int) func() {
	u := newKey(tagSize).New()
	return func() {
		u.Reset()
		u.Write(message[:size])
		u.Tag(out[:0], nonce[:])
	}
}

// parts is stream with a message in three parts.
func parts(tagSize, size int) func() {
	u := newKey(tagSize).New()
	return func() {
		u.Reset()
		u.Write(message[:size/3])
		u.Write(message[size/3:][:size/2])
		u.Write(message[size/3+size/2 : size])
		u.Tag(out[:0], nonce[:])
	}
}

func batch(tagSize, size int) func() {
	k := newKey(tagSize)
	messages := make([]fastmac.Message, batchSize)
	for i := range messages {
		messages[i] = fastmac.Message{Nonce: batchNonces[i][:], Data: message[32*i:][:size], Tag: make([]byte, tagSize)}
	}
	return func() { k.TagBatch(messages) }
}

var placed fastmac.UMACKey

// initKey takes the size of the key instead of that of a message.
func initKey(tagSize, keySize int) func() {
	return func() {
		if err := placed.Init(key[:keySize], tagSize); err != nil {
			fail("%v", err)
		}
	}
}

var placedGMAC fastmac.GMACKey

func initGMAC(keySize, _ int) func() {
	return func() { check(placedGMAC.Init(key[:keySize])) }
}

func gmac(keySize, size int) func() {
	k := mactest.Must(fastmac.NewGMACKey(key[:keySize]))
	return func() { k.Tag(out[:0], nonce[:], message[:size]) }
}

// gmacStream has a message in two parts.
func gmacStream(keySize, size int) func() {
	s := mactest.Must(fastmac.NewGMAC(key[:keySize]))
	return func() {
		s.Reset()
		s.Write(message[:size/3])
		s.Write(message[size/3 : size])
		s.Tag(out[:0], nonce[:])
	}
}

// hmacKey returns a key of HMAC with SHA-256, SHA-384 or SHA-512, and its hash.
func hmacKey(tagSize int) (*fastmac.HMACKey, crypto.Hash) {
	h := map[int]crypto.Hash{32: crypto.SHA256, 48: crypto.SHA384, 64: crypto.SHA512}[tagSize]
	return mactest.Must(fastmac.NewHMACKey(h, key[:])), h
}

func hmacTag(tagSize, size int) func() {
	k, _ := hmacKey(tagSize)
	return func() { k.Tag(out[:0], message[:size]) }
}

// hmacNew has a new key of 32 bytes for each message.
func hmacNew(tagSize, size int) func() {
	_, h := hmacKey(tagSize)
	return func() { fastmac.SumHMAC(h, out[:0], key[:32], message[:size]) }
}

func hmacMessages(h crypto.Hash, size int) []fastmac.Message {
	messages := make([]fastmac.Message, batchSize)
	for i := range messages {
		messages[i] = fastmac.Message{Data: message[32*i:][:size], Tag: make([]byte, h.Size())}
	}
	return messages
}

func hmacBatch(tagSize, size int) func() {
	k, h := hmacKey(tagSize)
	messages := hmacMessages(h, size)
	return func() { k.TagBatch(messages) }
}

// hmacVerify verifies a batch in which one tag is wrong.
func hmacVerify(tagSize, size int) func() {
	k, h := hmacKey(tagSize)
	messages := hmacMessages(h, size)
	k.TagBatch(messages)
	messages[1].Tag[wrong%h.Size()] ^= 1
	return func() {
		if k.VerifyBatch(messages) {
			fail("verification returns true")
		}
	}
}

// deriveKey derives a key of two blocks from a password and a salt of size bytes, both secret.
func deriveKey(tagSize, size int) func() {
	_, h := hmacKey(tagSize)
	return func() {
		copy(buffer[:], mactest.Must(pbkdf2.Key(h.New, string(key[:]), message[:size], 3, 2*tagSize)))
	}
}

// random reads from a Reader whose state is secret, and whose clock stands still. It does nothing
// where hwrand is not available.
func random(_, size int) func() {
	r, err := hwrand.New()
	if err != nil {
		return func() {}
	}
	copy(mactest.Field(r, "state"), message[:])
	now := mactest.Field(r, "now")
	*(*func() time.Duration)(unsafe.Pointer(&now[0])) = func() time.Duration { return 0 }
	return func() { r.Read(buffer[:size]) }
}

func seal(keySize, size int) func() {
	k := mactest.Must(aesgcm.NewKey(key[:keySize]))
	return func() { k.Seal(buffer[:0], nonce[:], message[:size], message[size:size+dataSize]) }
}

func open(keySize, size int) func() {
	k := mactest.Must(aesgcm.NewKey(key[:keySize]))
	sealed := sealAll(k, size)
	return func() {
		_, err := k.Open(buffer[:0], nonce[:], sealed[nonce[11]], message[size:size+dataSize])
		check(err)
	}
}

// dataSize is the size of additional data, as in TLS 1.2.
const dataSize = 13

// sealAll seals a message with each nonce in advance, so that only Open is traced.
func sealAll(aead cipher.AEAD, size int) [][]byte {
	sealed := make([][]byte, 64)
	for i := range sealed {
		setNonces(uint64(i))
		sealed[i] = aead.Seal(nil, nonce[:], message[:size], message[size:size+dataSize])
	}
	return sealed
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func newGCM(keySize int) cipher.AEAD {
	return mactest.Must(cipher.NewGCM(mactest.Must(aes.NewCipher(key[:keySize]))))
}

func cryptoGMAC(keySize, size int) func() {
	aead := newGCM(keySize)
	return func() { aead.Seal(out[:0], nonce[:], nil, message[:size]) }
}

func cryptoSeal(keySize, size int) func() {
	aead := newGCM(keySize)
	return func() { aead.Seal(buffer[:0], nonce[:], message[:size], message[size:size+dataSize]) }
}

func cryptoOpen(keySize, size int) func() {
	aead := newGCM(keySize)
	sealed := sealAll(aead, size)
	return func() {
		_, err := aead.Open(buffer[:0], nonce[:], sealed[nonce[11]], message[size:size+dataSize])
		check(err)
	}
}

func cryptoHMAC(tagSize, size int) func() {
	_, h := hmacKey(tagSize)
	m := hmac.New(h.New, key[:])
	return warm(func() {
		m.Reset()
		m.Write(message[:size])
		m.Sum(out[:0])
	})
}

func cryptoNewHMAC(tagSize, size int) func() {
	_, h := hmacKey(tagSize)
	return warm(func() {
		m := hmac.New(h.New, key[:32])
		m.Write(message[:size])
		m.Sum(out[:0])
	})
}

// warm calls f many times: type assertions are cached at one of about 1,000 only.
func warm(f func()) func() {
	for range 1 << 14 {
		f()
	}
	return f
}

var table [256]byte

// branch leaks a secret through a branch, which must be noticed.
func branch(_, _ int) func() {
	return func() {
		if message[0]&1 != 0 {
			table[1]++
		}
	}
}

// index leaks a secret through an address, which must be noticed.
func index(_, _ int) func() {
	return func() { table[message[0]]++ }
}
