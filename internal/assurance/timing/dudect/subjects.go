// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha512"
	"fmt"
	"hash"
	"math/rand/v2"
	"runtime"
	"strings"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/assurance/timing/macs"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha1"
	"example.com/fastmac/internal/sha2"
	"example.com/fastmac/packet"
)

// nonceRoom has the nonces of all subjects, of any size. Nonces are public, and equal in both
// classes.
var nonceRoom = []byte("nonce: 8........")

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

// newSubject returns a subject with inputs of n bytes.
func newSubject(name string, n int, class0, class1 filler, run func(in []byte)) subject {
	return subject{name: name, size: n, classes: [2]filler{class0, class1}, run: run}
}

// fixedOrRandom returns a subject with a fixed input of n bytes and random ones. If each is true,
// zeros and ones are further fixed inputs.
func fixedOrRandom(name string, n int, each bool, run func(in []byte)) []subject {
	subjects := []subject{newSubject(name+", fixed or random", n, fixed(pattern(n)), random, run)}
	if each {
		subjects = append(subjects,
			newSubject(name+", zeros or random", n, repeated(0), random, run),
			newSubject(name+", ones or random", n, repeated(0xff), random, run))
	}
	return subjects
}

// nullSubjects returns subjects whose classes are equal, except for how their inputs are made.
// If one of them does not pass, the measurement is at fault.
func nullSubjects() (subjects []subject) {
	k := mactest.Must(fastmac.NewUMACKey(pattern(16), fastmac.UMAC128Size))
	h := mactest.Must(fastmac.NewHMACKey(crypto.SHA512, pattern(64)))
	for _, f := range []struct {
		name string
		size int
		run  func(in []byte)
	}{
		{"UMAC-128 3000 bytes", 3000, func(in []byte) { k.Tag(tagRoom[:0], nonceRoom[:8], in) }},
		{"HMAC-SHA-512 16 bytes", 16, func(in []byte) { h.Tag(tagRoom[:0], in) }},
	} {
		content := pattern(f.size)
		overwritten := func(in []byte, r *rand.ChaCha8) {
			r.Read(in)
			copy(in, content)
		}
		subjects = append(subjects,
			newSubject(f.name+", no difference: random or random", f.size, random, random, f.run),
			newSubject(f.name+", no difference: fixed or the same, made in another way", f.size, fixed(content), overwritten, f.run))
	}
	return subjects
}

// tagSubjects returns subjects whose input is a tag, right or wrong somewhere.
func tagSubjects(name string, tag []byte, verify func(tag []byte) bool) []subject {
	if !verify(tag) {
		panic("fastmac: a right tag is refused")
	}
	run := func(in []byte) { verify(in) }
	name += " Verify, tag "
	return []subject{
		newSubject(name+"right or wrong in the first byte", len(tag), fixed(tag), wrong(tag, 0), run),
		newSubject(name+"wrong in the first byte or in the last", len(tag), wrong(tag, 0), wrong(tag, -1), run),
		newSubject(name+"right or random", len(tag), fixed(tag), random, run),
	}
}

// macSubjects returns the subjects of a MAC.
func macSubjects(m macs.MAC) (subjects []subject) {
	key := pattern(m.KeySizes[0])
	k := m.NewKey(key)
	nonce := nonceRoom[:m.NonceSizes[0]]
	message := pattern(64)

	subjects = keySubjects(m)
	for _, n := range []int{16, 64, 1024, 1500, 4096} {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s %d bytes", m.Name, n), n, n == 64 || n == 1500, func(in []byte) {
			k.Tag(tagRoom[:0], nonce, in)
		})...)
	}
	subjects = append(subjects, tagSubjects(m.Name, k.Tag(nil, nonce, message), func(tag []byte) bool {
		return k.Verify(tag, nonce, message)
	})...)

	// In three parts, none of them whole blocks.
	s := m.NewStream(key)
	subjects = append(subjects, fixedOrRandom(m.Name+" stream of 3000 bytes", 3000, false, func(in []byte) {
		s.Reset()
		s.Write(in[:700])
		s.Write(in[700:1900])
		s.Write(in[1900:])
		s.Tag(tagRoom[:0], nonce)
	})...)

	var batch [8]fastmac.Message
	subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s batch of %d, 64 bytes each", m.Name, len(batch)), len(batch)*64, false, func(in []byte) {
		for i := range batch {
			batch[i] = fastmac.Message{Nonce: nonce, Data: in[64*i:][:64], Tag: tagRoom[m.TagSize*i:][:m.TagSize]}
		}
		k.TagBatch(batch[:])
	})...)

	var verified [4]fastmac.Message
	want := make([]byte, len(verified)*m.TagSize) // the tags one after the other
	for i := range verified {
		verified[i] = fastmac.Message{Nonce: nonce, Data: message, Tag: want[m.TagSize*i:][:m.TagSize]}
	}
	k.TagBatch(verified[:])
	return append(subjects, tagSubjects(fmt.Sprintf("%s batch of %d", m.Name, len(verified)), want, func(in []byte) bool {
		for i := range verified {
			verified[i].Tag = in[m.TagSize*i:][:m.TagSize]
		}
		return k.VerifyBatch(verified[:])
	})...)
}

// manySubjects returns subjects of batches over many keys.
func manySubjects[K *fastmac.UMACKey | *fastmac.GMACKey | *fastmac.HMACKey](name string, newKey func(key []byte) K, tagSize, nonceSize int) []subject {
	keys, nonce := make([]K, 8), nonceRoom[:nonceSize]
	for i := range keys {
		keys[i] = newKey(pattern(32 + i)[i:])
	}
	batch := make([]fastmac.Message, len(keys))
	tag := func(in []byte) {
		for i := range batch {
			batch[i] = fastmac.Message{Nonce: nonce, Data: in[64*i:][:64], Tag: tagRoom[tagSize*i:][:tagSize]}
		}
		fastmac.TagBatch(keys, batch)
	}
	tag(pattern(64 * len(keys)))
	want := bytes.Clone(tagRoom[:tagSize*len(keys)]) // the tags one after the other
	messages := pattern(64 * len(keys))
	return append(fixedOrRandom(name+" batch over 8 keys, 64 bytes each", 64*len(keys), false, tag),
		tagSubjects(name+" batch over 8 keys", want, func(in []byte) bool {
			for i := range batch {
				batch[i] = fastmac.Message{Nonce: nonce, Data: messages[64*i:][:64], Tag: in[tagSize*i:][:tagSize]}
			}
			return fastmac.VerifyBatch(keys, batch)
		})...)
}

// packetSubjects returns subjects of senders and receivers. Numbers are equal in both classes: they are
// public.
func packetSubjects[S interface {
	Init(packet.Config, packet.Counters) error
	Seal(packet, data []byte) ([]byte, error)
}, R interface {
	Init(packet.Config, packet.Counters) error
	Open(packet, data []byte) ([]byte, uint64, error)
}](name string, tagSize int, s S, r R) (subjects []subject) {
	c := packet.Config{Secret: pattern(32), Sender: "sender", TagSize: tagSize}
	name = "packet " + name
	subjects = fixedOrRandom(name+" Secret of 32 bytes", len(c.Secret), true, func(in []byte) {
		c := c
		c.Secret = in
		in[0], in[1] = 1, 2 // a Secret of equal bytes is refused
		must(s.Init(c, packet.SecretIsNew()))
		s.Seal(tagRoom[:64], nil)
	})
	seal := func(in []byte) { s.Seal(append(tagRoom[:0], in...), nil) }
	for _, n := range []int{64, 1200} {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s Seal %d bytes", name, n), n, n == 64, seal)...)
	}
	must(s.Init(c, packet.SecretIsNew()))
	must(r.Init(c, packet.SecretIsNew()))
	sealed := mactest.Must(s.Seal(pattern(64), nil))
	randomTag := func(in []byte, r *rand.ChaCha8) {
		copy(in, sealed)
		r.Read(in[len(in)-tagSize:])
	}
	// Of wrong tags both classes fail: whether a tag is right is public, and affects the time.
	open := func(in []byte) { r.Open(in, nil) }
	return append(subjects,
		newSubject(name+" Open, tag wrong in the first byte or in the last", len(sealed), wrong(sealed, -tagSize), wrong(sealed, -1), open),
		newSubject(name+" Open, tag wrong in a byte or random", len(sealed), wrong(sealed, -1), randomTag, open))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// keySubjects returns subjects that set up a key, and compute a tag under it. Where AES has
// tables, for which no claim is made, one subject of UMAC shows what the test finds.
func keySubjects(m macs.MAC) (subjects []subject) {
	k := m.Empty()
	nonce := nonceRoom[:m.NonceSizes[0]]
	message := pattern(64)
	for i, n := range m.KeySizes[:2] {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s key of %d bytes", m.Name, n), n, i == 0, func(in []byte) {
			k.InitKey(in)
			k.Tag(tagRoom[:0], nonce, message)
		})...)
	}
	if strings.HasPrefix(m.Name, "UMAC") && fastmac.RequireAES() != nil {
		if m.TagSize != fastmac.UMAC128Size {
			return nil
		}
		subjects = subjects[:1]
		subjects[0].unclaimed = "AES by tables"
	}
	return subjects
}

// sshSubjects returns the subjects of the MACs that package sshmac registers. x/crypto compares
// their tags.
func sshSubjects() (subjects []subject) {
	sequence := []byte{0, 0, 0, 1}
	for _, mode := range macs.SSHModes() {
		if mode.ETM {
			continue // it has the same hash
		}
		var h hash.Hash = mode.New(pattern(mode.KeySize))
		subjects = append(subjects, fixedOrRandom(mode.Name+" 96 bytes", 96, true, func(in []byte) {
			h.Reset()
			h.Write(sequence)
			h.Write(in)
			h.Sum(tagRoom[:0])
		})...)
	}
	return subjects
}

// pbkdf2Subjects returns the subjects of steps of PBKDF2, side by side as several kernels make them. The
// input is the iterations: keys, HMACs and sums.
func pbkdf2Subjects[W sha2.Word](name string) (subjects []subject) {
	for _, count := range []int{1, 2, sha2.MaxLanes} {
		its := make([]sha2.Iteration[W], count)
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&its[0])), count*int(unsafe.Sizeof(its[0])))
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s, 3 steps of %d", name, count), len(bytes), count == 1, func(in []byte) {
			copy(bytes, in)
			sha2.Iterate(its, sha2.Size[W](), 3)
		})...)
	}
	return subjects
}

// pbkdf2SHA1Subjects is pbkdf2Subjects for SHA-1. The input is the salt, on which all that the steps add depends.
func pbkdf2SHA1Subjects() (subjects []subject) {
	b := sha1.NewBlocks(pattern(16))
	for count := 1; count <= sha1.MaxBlocks; count++ {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("PBKDF2-SHA-1, 30 steps of %d", count), 16, count == 1, func(in []byte) {
			for i := range count {
				b.Start(i, in, 1)
			}
			b.Iterate(count, 30)
		})...)
	}
	return subjects
}

// referenceSubjects returns subjects to compare those of HMAC-SHA-512 with: the standard library,
// the compression alone, and one call at four places on the stack. See the documentation of the
// command.
func referenceSubjects() (subjects []subject) {
	std := hmac.New(sha512.New, pattern(64))
	for _, n := range []int{16, 1024, 1500} {
		of := fixedOrRandom(fmt.Sprintf("crypto/hmac %d bytes", n), n, n == 1500, func(in []byte) {
			std.Reset()
			std.Write(in)
			std.Sum(tagRoom[:0])
		})
		for i := range of {
			of[i].unclaimed = "a function of the standard library"
		}
		subjects = append(subjects, of...)
	}
	subjects = append(subjects, fixedOrRandom("SHA-512 compression", sha2.BlockSize512, false, func(in []byte) {
		state := sha2.Initial512
		state.Compress(in)
	})...)
	k := mactest.Must(fastmac.NewHMACKey(crypto.SHA512, pattern(64)))
	message := []byte{ // one of those that had a difference
		0xe6, 0x40, 0xa1, 0xbe, 0x46, 0x58, 0xfc, 0x73, 0xce, 0x7d, 0x28, 0xa6, 0xc6, 0xfb, 0x35, 0xca,
	}
	for n, call := range []func(k *fastmac.HMACKey, in []byte){tagBelow[[0]byte], tagBelow[[16]byte], tagBelow[[32]byte], tagBelow[[48]byte]} {
		name := fmt.Sprintf("HMAC-SHA-512 16 bytes, place %d on the stack, another fixed or random", n)
		s := newSubject(name, len(message), fixed(message), random, func(in []byte) { call(k, in) })
		s.unclaimed = "as HMAC-SHA-512 16 bytes: see Differences of less than a cycle in the documentation"
		subjects = append(subjects, s)
	}
	return subjects
}

// tagBelow computes a tag with a T on the stack above the frame of Tag.
//
//go:noinline
func tagBelow[T any](k *fastmac.HMACKey, in []byte) {
	var room T
	k.Tag(tagRoom[:0], in)
	runtime.KeepAlive(&room)
}

// sealSubjects returns the subjects of AES-GCM.
func sealSubjects() (subjects []subject) {
	const name = "AES-GCM"
	var fresh aesgcm.Key
	nonce := nonceRoom[:aesgcm.NonceSize]
	message := pattern(64)
	for _, n := range []int{16, 32} {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s key of %d bytes", name, n), n, n == 32, func(in []byte) {
			if err := fresh.Init(in); err != nil {
				panic(err)
			}
			fresh.Seal(tagRoom[:0], nonce, message, nil)
		})...)
	}
	k := mactest.Must(aesgcm.NewKey(pattern(32)))
	for _, n := range []int{16, 64, 1024, 1500} {
		subjects = append(subjects, fixedOrRandom(fmt.Sprintf("%s Seal %d bytes", name, n), n, n == 64, func(in []byte) {
			k.Seal(tagRoom[:0], nonce, in, nil)
		})...)
	}
	open := func(in []byte) { k.Open(tagRoom[:0], nonce, in, nil) }
	for _, n := range []int{64, 1500} {
		sealed := k.Seal(nil, nonce, pattern(n), nil)
		randomTag := func(in []byte, r *rand.ChaCha8) {
			copy(in, sealed)
			r.Read(in[n:])
		}
		randomText := func(in []byte, r *rand.ChaCha8) {
			r.Read(in[:n])
			k.Seal(in[:0], nonce, in[:n], nil)
		}
		// Of wrong tags both classes fail: whether a tag is right is public, and affects the time.
		name := fmt.Sprintf("%s Open %d bytes, ", name, n)
		subjects = append(subjects,
			newSubject(name+"tag wrong in the first byte or in the last", len(sealed), wrong(sealed, -aesgcm.Overhead), wrong(sealed, -1), open),
			newSubject(name+"tag wrong in a byte or random", len(sealed), wrong(sealed, -1), randomTag, open),
			newSubject(name+"plaintext fixed or random", len(sealed), fixed(sealed), randomText, open))
	}
	return subjects
}
