// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"hash"
	"math/rand/v2"

	"example.com/fastmac"
	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// The nonce of all subjects: nonces are public, and equal in both classes.
var nonce = []byte("nonce: 8..........."[:8])

// tagRoom is where subjects append tags and ciphertexts.
var tagRoom [8192]byte

// pattern returns fixed bytes that look random.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// contents are the fixed inputs of the first class, all of them or one. Those of the second
// are random.
func contents(n int, all bool) []content {
	some := []content{{"fixed", fixed(pattern(n))}, {"zeros", repeated(0)}, {"ones", repeated(0xff)}}
	if !all {
		some = some[:1]
	}
	return some
}

type content struct {
	name string
	fill filler
}

// against returns a subject for each content of n bytes, beside random bytes.
func against(name string, n int, contents []content, run func(in []byte)) (subjects []subject) {
	for _, c := range contents {
		subjects = append(subjects, subject{
			name: fmt.Sprintf("%s, %s or random", name, c.name),
			size: n, classes: [2]filler{c.fill, random}, run: run,
		})
	}
	return subjects
}

// nullSubjects returns subjects whose classes are equal, except for how their inputs are made.
// If one of them does not pass, the measurement is at fault.
func nullSubjects() (subjects []subject) {
	k, err := fastmac.NewUMACKey(pattern(16), fastmac.UMAC128Size)
	if err != nil {
		panic(err)
	}
	h := fastmac.NewHMACSHA512Key(pattern(64))
	for _, f := range []struct {
		name string
		size int
		run  func(in []byte)
	}{
		{"UMAC-128 3000 bytes", 3000, func(in []byte) { k.Tag(tagRoom[:0], nonce, in) }},
		{"HMAC-SHA-512 16 bytes", 16, func(in []byte) { h.Tag(tagRoom[:0], in) }},
	} {
		content := pattern(f.size)
		again := func(in []byte, r *rand.ChaCha8) {
			r.Read(in)
			copy(in, content)
		}
		subjects = append(subjects,
			subject{name: f.name + ", no difference: random or random", size: f.size, classes: [2]filler{random, random}, run: f.run},
			subject{name: f.name + ", no difference: fixed or the same, made in another way", size: f.size, classes: [2]filler{fixed(content), again}, run: f.run})
	}
	return subjects
}

// tags returns subjects that get a tag: the right one or one that is wrong somewhere.
func tags(name string, tag []byte, verify func(tag []byte) bool) []subject {
	right, first, last := fixed(tag), wrong(tag, 0), wrong(tag, -1)
	if !verify(tag) {
		panic("fastmac: a right tag is refused")
	}
	pairs := []struct {
		name    string
		classes [2]filler
	}{
		{"right or wrong in the first byte", [2]filler{right, first}},
		{"wrong in the first byte or in the last", [2]filler{first, last}},
		{"right or random", [2]filler{right, random}},
	}
	var subjects []subject
	for _, p := range pairs {
		subjects = append(subjects, subject{
			name: name + " Verify, tag " + p.name,
			size: len(tag), classes: p.classes, run: func(in []byte) { verify(in) },
		})
	}
	return subjects
}

// umacSubjects returns the subjects of UMAC with tags of a size in bytes.
func umacSubjects(size int) []subject {
	k, err := fastmac.NewUMACKey(pattern(16), size)
	if err != nil {
		panic(err)
	}
	name := fmt.Sprintf("UMAC-%d", 8*size)
	message := pattern(64)
	tag := func(in []byte) { k.Tag(tagRoom[:0], nonce, in) }

	subjects := keySubjects(size)
	for _, n := range []int{16, 64, 1024, 1500, 4096} {
		subjects = append(subjects, against(fmt.Sprintf("%s %d bytes", name, n), n, contents(n, n == 64 || n == 1500), tag)...)
	}
	subjects = append(subjects, tags(name, k.Tag(nil, nonce, message), func(tag []byte) bool {
		return k.Verify(tag, nonce, message)
	})...)

	// In three parts, which are no whole blocks.
	u := k.New()
	subjects = append(subjects, against(name+" stream of 3000 bytes", 3000, contents(3000, false), func(in []byte) {
		u.Reset()
		u.Write(in[:700])
		u.Write(in[700:1900])
		u.Write(in[1900:])
		u.Tag(tagRoom[:0], nonce)
	})...)

	var batch [8]fastmac.Message
	return append(subjects, against(fmt.Sprintf("%s batch of %d, 64 bytes each", name, len(batch)), len(batch)*64, contents(len(batch)*64, false), func(in []byte) {
		for i := range batch {
			batch[i] = fastmac.Message{Nonce: nonce, Data: in[64*i:][:64], Tag: tagRoom[16*i:][:size]}
		}
		k.TagBatch(batch[:])
	})...)
}

// keySubjects sets up a key, and computes a tag under it. Where AES has tables, which make no
// claim, one such subject shows what the test finds.
func keySubjects(size int) (subjects []subject) {
	unclaimed := tableAES()
	var k fastmac.UMACKey
	message := pattern(64)
	for _, n := range []int{16, 32} {
		if unclaimed != "" && (n != 16 || size != fastmac.UMAC128Size) {
			continue
		}
		subjects = append(subjects, against(fmt.Sprintf("UMAC-%d key of %d bytes", 8*size, n), n, contents(n, n == 16 && unclaimed == ""), func(in []byte) {
			if err := k.Init(in, size); err != nil {
				panic(err)
			}
			k.Tag(tagRoom[:0], nonce, message)
		})...)
	}
	for i := range subjects {
		subjects[i].unclaimed = unclaimed
	}
	return subjects
}

// tableAES returns why keys may leak, or "" if AES runs on instructions.
func tableAES() string {
	if fastmac.RequireAES() != nil {
		return "AES by tables"
	}
	return ""
}

// sshSubjects returns the subjects of the MACs that package sshmac registers. x/crypto compares
// their tags.
func sshSubjects() (subjects []subject) {
	sequence := []byte{0, 0, 0, 1}
	hmac := sshmac.Mode{Name: ssh.HMACSHA512, KeySize: 64, New: func(key []byte) hash.Hash { return fastmac.NewHMACSHA512(key) }}
	for _, mode := range append(sshmac.Modes(), hmac) {
		if mode.ETM {
			continue // it is the same hash
		}
		var h hash.Hash = mode.New(pattern(mode.KeySize))
		subjects = append(subjects, against(mode.Name+" 96 bytes", 96, contents(96, true), func(in []byte) {
			h.Reset()
			h.Write(sequence)
			h.Write(in)
			h.Sum(tagRoom[:0])
		})...)
	}
	return subjects
}
