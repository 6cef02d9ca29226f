// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"crypto/hmac"
	"crypto/sha512"
	"fmt"
	"math/rand/v2"
	"runtime"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	compress "example.com/fastmac/internal/sha512"
)

// hmacSubjects returns the subjects of HMAC-SHA-512.
func hmacSubjects() (subjects []subject) {
	const name = "HMAC-SHA-512"
	message := pattern(64)
	var fresh fastmac.HMACSHA512Key
	for _, n := range []int{64, 200} { // a longer key than a block is hashed
		subjects = append(subjects, against(fmt.Sprintf("%s key of %d bytes", name, n), n, contents(n, n == 64), func(in []byte) {
			fresh.Init(in)
			fresh.Tag(tagRoom[:0], message)
		})...)
	}
	k := fastmac.NewHMACSHA512Key(pattern(64))
	for _, n := range []int{16, 64, 1024, 1500} {
		subjects = append(subjects, against(fmt.Sprintf("%s %d bytes", name, n), n, contents(n, n == 64), func(in []byte) {
			k.Tag(tagRoom[:0], in)
		})...)
	}
	subjects = append(subjects, tags(name, k.Tag(nil, message), func(tag []byte) bool { return k.Verify(tag, message) })...)

	const size = fastmac.HMACSHA512Size
	var batch [4]fastmac.Message
	want := make([]byte, len(batch)*size) // the tags one after the other
	for i := range batch {
		batch[i] = fastmac.Message{Data: message, Tag: want[size*i:][:size]}
	}
	k.TagBatch(batch[:])
	return append(subjects, tags(fmt.Sprintf("%s batch of %d", name, len(batch)), want, func(in []byte) bool {
		for i := range batch {
			batch[i].Tag = in[size*i:][:size]
		}
		return k.VerifyBatch(batch[:])
	})...)
}

// referenceSubjects returns subjects to compare those of HMAC-SHA-512 with: the standard library,
// the compression alone, and one call at four places of the stack. See the documentation of the
// command.
func referenceSubjects() (subjects []subject) {
	std := hmac.New(sha512.New, pattern(64))
	for _, n := range []int{16, 1024} {
		s := against(fmt.Sprintf("crypto/hmac %d bytes", n), n, contents(n, false), func(in []byte) {
			std.Reset()
			std.Write(in)
			std.Sum(tagRoom[:0])
		})
		s[0].unclaimed = "a function of the standard library"
		subjects = append(subjects, s...)
	}
	var state [8]uint64
	subjects = append(subjects, against("SHA-512 compression", compress.BlockSize, contents(compress.BlockSize, false), func(in []byte) {
		state = compress.Initial()
		compress.Block(&state, in)
	})...)
	k := fastmac.NewHMACSHA512Key(pattern(64))
	message := []byte{ // one of those that had a difference
		0xe6, 0x40, 0xa1, 0xbe, 0x46, 0x58, 0xfc, 0x73, 0xce, 0x7d, 0x28, 0xa6, 0xc6, 0xfb, 0x35, 0xca,
	}
	for n, call := range []func(k *fastmac.HMACSHA512Key, in []byte){tagBelow[[0]byte], tagBelow[[16]byte], tagBelow[[32]byte], tagBelow[[48]byte]} {
		name := fmt.Sprintf("HMAC-SHA-512 16 bytes, place %d on the stack", n)
		s := against(name, len(message), []content{{"another fixed", fixed(message)}}, func(in []byte) { call(k, in) })
		s[0].unclaimed = "as HMAC-SHA-512 16 bytes: see Differences of less than a cycle in the documentation"
		subjects = append(subjects, s...)
	}
	return subjects
}

// tagBelow makes a tag with T on the stack above the frame of Tag.
//
//go:noinline
func tagBelow[T any](k *fastmac.HMACSHA512Key, in []byte) {
	var room T
	k.Tag(tagRoom[:0], in)
	runtime.KeepAlive(&room)
}

// gcmNonce is the nonce of GMAC and AES-GCM.
var gcmNonce = make([]byte, fastmac.GMACNonceSize)

// gmacSubjects returns the subjects of GMAC.
func gmacSubjects() (subjects []subject) {
	const name = "GMAC"
	message := pattern(64)
	var fresh fastmac.GMACKey
	for _, n := range []int{16, 32} {
		subjects = append(subjects, against(fmt.Sprintf("%s key of %d bytes", name, n), n, contents(n, n == 16), func(in []byte) {
			if err := fresh.Init(in); err != nil {
				panic(err)
			}
			fresh.Tag(tagRoom[:0], gcmNonce, message)
		})...)
	}
	k, err := fastmac.NewGMACKey(pattern(16))
	if err != nil {
		panic(err)
	}
	for _, n := range []int{16, 64, 1024, 1500} {
		subjects = append(subjects, against(fmt.Sprintf("%s %d bytes", name, n), n, contents(n, n == 64), func(in []byte) {
			k.Tag(tagRoom[:0], gcmNonce, in)
		})...)
	}
	return append(subjects, tags(name, k.Tag(nil, gcmNonce, message), func(tag []byte) bool {
		return k.Verify(tag, gcmNonce, message)
	})...)
}

// sealSubjects returns the subjects of AES-GCM.
func sealSubjects() (subjects []subject) {
	const name = "AES-GCM"
	var fresh aesgcm.Key
	message := pattern(64)
	for _, n := range []int{16, 32} {
		subjects = append(subjects, against(fmt.Sprintf("%s key of %d bytes", name, n), n, contents(n, n == 32), func(in []byte) {
			if err := fresh.Init(in); err != nil {
				panic(err)
			}
			fresh.Seal(tagRoom[:0], gcmNonce, message, nil)
		})...)
	}
	k, err := aesgcm.NewKey(pattern(32))
	if err != nil {
		panic(err)
	}
	for _, n := range []int{16, 64, 1024, 1500} {
		subjects = append(subjects, against(fmt.Sprintf("%s Seal %d bytes", name, n), n, contents(n, n == 64), func(in []byte) {
			k.Seal(tagRoom[:0], gcmNonce, in, nil)
		})...)
	}
	open := func(in []byte) { k.Open(tagRoom[:0], gcmNonce, in, nil) }
	for _, n := range []int{64, 1500} {
		sealed := k.Seal(nil, gcmNonce, pattern(n), nil)
		// Both fail: that a tag is right or wrong is public, and has an effect on the time.
		subjects = append(subjects, subject{
			name: fmt.Sprintf("%s Open %d bytes, tag wrong in the first byte or in the last", name, n),
			size: len(sealed), classes: [2]filler{wrong(sealed, -aesgcm.Overhead), wrong(sealed, -1)}, run: open,
		}, subject{
			name: fmt.Sprintf("%s Open %d bytes, tag wrong in a byte or random", name, n),
			size: len(sealed), run: open,
			classes: [2]filler{wrong(sealed, -1), func(in []byte, r *rand.ChaCha8) {
				copy(in, sealed)
				r.Read(in[n:])
			}},
		}, subject{
			name: fmt.Sprintf("%s Open %d bytes, plaintext fixed or random", name, n),
			size: len(sealed), run: open,
			classes: [2]filler{fixed(sealed), func(in []byte, r *rand.ChaCha8) {
				r.Read(in[:n])
				k.Seal(in[:0], gcmNonce, in[:n], nil)
			}},
		})
	}
	return subjects
}
