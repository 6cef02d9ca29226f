// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"log"
	"slices"
	"strings"

	"example.com/fastmac"
)

func ExampleNewHMACSHA512() {
	h := fastmac.NewHMACSHA512([]byte("Jefe")) // RFC 4231, test case 2
	defer h.Destroy()
	io.WriteString(h, "what do ya want ")
	io.WriteString(h, "for nothing?")
	fmt.Printf("%x\n", h.Sum(nil)[:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

// A stream is reset for each message, and keeps its key.
func ExampleHMACSHA512() {
	h := fastmac.NewHMACSHA512([]byte("Jefe"))
	defer h.Destroy()
	var tags [][]byte
	for _, msg := range []string{"what do ya want for nothing?", "another message"} {
		h.Reset()
		h.Write([]byte(msg))
		tags = append(tags, h.Sum(nil))
	}
	fmt.Println(h.Verify(tags[1]), h.Verify(tags[0]), h.Size(), h.BlockSize())
	// Output: true false 64 128
}

// A common beginning is hashed once.
func ExampleHMACSHA512_Clone() {
	h := fastmac.NewHMACSHA512([]byte("Jefe"))
	io.WriteString(h, "what do ya want ")
	c, err := h.Clone()
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(c, "for nothing?")
	fmt.Printf("%x\n", c.Sum(nil)[:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

// Goroutines share a key. Each has its own stream.
func ExampleHMACSHA512Key_New() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	defer k.Destroy()
	tags := make(chan []byte)
	for range 2 {
		go func() {
			h := k.New()
			io.Copy(h, strings.NewReader("what do ya want for nothing?"))
			tags <- h.Sum(make([]byte, 0, k.Size()))
		}()
	}
	fmt.Println(bytes.Equal(<-tags, <-tags))
	// Output: true
}

func ExampleNewHMACSHA512Key() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	defer k.Destroy()
	msg := []byte("what do ya want for nothing?")
	tag := k.Tag(nil, msg)
	fmt.Printf("%x %v\n", tag[:16], k.Verify(tag, msg))
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3 true
}

func ExampleHMACSHA512Key_TagBatch() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	msgs := [][]byte{[]byte("first"), []byte("what do ya want for nothing?")}
	tags := make([][64]byte, len(msgs))
	k.TagBatch(tags, msgs)
	fmt.Printf("%x\n", tags[1][:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

func ExampleHMACSHA512Key_VerifyBatch() {
	k := fastmac.NewHMACSHA512Key([]byte("Jefe"))
	msgs := [][]byte{[]byte("first"), []byte("second"), []byte("third")}
	tags := make([][64]byte, len(msgs))
	k.TagBatch(tags, msgs)
	tags[1][0] ^= 1
	ok := make([]bool, len(msgs))
	fmt.Println(k.VerifyBatch(ok, tags, msgs), ok)
	// Output: false [true false true]
}

func ExampleSumHMACSHA512() {
	tag := fastmac.SumHMACSHA512([]byte("Jefe"), []byte("what do ya want for nothing?"))
	fmt.Printf("%x\n", tag[:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

func ExampleSumHMACSHA512Batch() {
	keys := [][]byte{[]byte("another key"), []byte("Jefe")}
	msgs := [][]byte{[]byte("first"), []byte("what do ya want for nothing?")}
	tags := make([][64]byte, len(msgs))
	fastmac.SumHMACSHA512Batch(tags, keys, msgs)
	fmt.Printf("%x\n", tags[1][:16])
	// Output: 164b7a7bfcf819e2e395fbe73b56e0a3
}

// A token service verifies a thousand tokens signed with HS512 (RFC 7518 section
// 3.2) in one call.
func Example_tokens() {
	k := fastmac.NewHMACSHA512Key([]byte("the key of the token service, 64 bytes of it as the RFC advises!"))
	defer k.Destroy()

	// What arrives: header, claims and signature, of which number 500 is forged.
	var tokens [][]byte
	encoding := base64.RawURLEncoding.Strict()
	header := encoding.EncodeToString([]byte(`{"alg":"HS512"}`))
	for i := range 1000 {
		token := []byte(header + "." + encoding.EncodeToString(fmt.Appendf(nil, `{"sub":"user %d"}`, i)))
		tag := k.Tag(nil, token)
		if i == 500 {
			tag[0] ^= 1
		}
		tokens = append(tokens, encoding.AppendEncode(append(token, '.'), tag))
	}

	var signed [][]byte
	var tags [][fastmac.HMACSHA512Size]byte
	for _, token := range tokens {
		dot := bytes.LastIndexByte(token, '.')
		tag, err := encoding.AppendDecode(nil, token[dot+1:])
		if dot < 0 || err != nil || len(tag) != fastmac.HMACSHA512Size {
			continue // not a token
		}
		signed, tags = append(signed, token[:dot]), append(tags, [fastmac.HMACSHA512Size]byte(tag))
	}
	ok := make([]bool, len(signed))
	if !k.VerifyBatch(ok, tags, signed) {
		fmt.Println("forged:", slices.Index(ok, false))
	}
	// Output: forged: 500
}

// Before: crypto/hmac.
//
//	h := hmac.New(sha512.New, key)
//	h.Write(msg)
//	ok := hmac.Equal(tag, h.Sum(nil))
//
// Code that takes a hash.Hash needs no other change. For many messages under one key, a
// key is faster than a stream that is reset.
func Example_fromCryptoHMAC() {
	key, msg := []byte("Jefe"), []byte("what do ya want for nothing?")
	var h hash.Hash = fastmac.NewHMACSHA512(key)
	h.Write(msg)
	tag := h.Sum(nil)

	k := fastmac.NewHMACSHA512Key(key)
	fmt.Println(k.Verify(tag, msg))
	// Output: true
}
