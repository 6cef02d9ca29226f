// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"strings"

	"example.com/fastmac"
)

// Sign and VerifySigned need no bookkeeping of nonces.
func ExampleUMACKey_Sign() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)
	if err != nil {
		log.Fatal(err)
	}
	record := []byte("a record in a file")
	sig := k.Sign(nil, record)
	fmt.Println(len(sig), k.VerifySigned(sig, record), k.VerifySigned(sig, record[1:]))
	// Output: 32 true false
}

// A program signs a file, and later verifies it before use, without reading all of it into
// memory.
func ExampleUMACKey_SignReader() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)
	if err != nil {
		log.Fatal(err)
	}
	file := strings.NewReader("the content of a large file") // or an *os.File
	sig, err := k.SignReader(nil, file)
	if err != nil {
		log.Fatal(err)
	}

	file.Seek(0, io.SeekStart)
	ok, err := k.VerifySignedReader(sig, file)
	fmt.Println(len(sig), ok, err)
	// Output: 32 true <nil>
}

// The goroutines of a server share a key and its Nonces. After a restart the server makes
// a new Nonces, and needs nothing from before.
func ExampleNonces() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	nonces, err := fastmac.NewNonces(16)
	if err != nil {
		log.Fatal(err)
	}
	msg := []byte("a message")
	packet := nonces.Next(nil)
	packet = k.Tag(packet, packet, msg)
	packet = append(packet, msg...)

	nonce, tag, msg := packet[:16], packet[16:24], packet[24:]
	fmt.Println(len(packet), k.Verify(tag, nonce, msg))
	// Output: 33 true
}

// A program receives numbered packets, which the network may delay, repeat or reorder. The
// number is the nonce, so the tag authenticates it.
func ExampleReplayWindow() {
	k, err := fastmac.NewUMACKey([]byte("0123456789abcdef"), 8)
	if err != nil {
		log.Fatal(err)
	}
	window, err := fastmac.NewReplayWindow(1024)
	if err != nil {
		log.Fatal(err)
	}
	receive := func(nonce, tag, msg []byte) {
		switch {
		case len(nonce) != 8 || !k.Verify(tag, nonce, msg):
			fmt.Printf("%q is forged\n", msg)
		case !window.Accept(binary.BigEndian.Uint64(nonce)): // only after Verify
			fmt.Printf("%q is a repetition or too late\n", msg)
		default:
			fmt.Printf("%q\n", msg)
		}
	}

	first, second := []byte("\x00\x00\x00\x00\x00\x00\x00\x01"), []byte("\x00\x00\x00\x00\x00\x00\x00\x02")
	pay, thanks := []byte("pay 5"), []byte("thanks")
	receive(second, k.Tag(nil, second, thanks), thanks)
	receive(first, k.Tag(nil, first, pay), pay)
	receive(first, k.Tag(nil, first, pay), pay) // an attacker sends it again
	receive(first, k.Tag(nil, second, thanks), thanks)
	// Output:
	// "thanks"
	// "pay 5"
	// "pay 5" is a repetition or too late
	// "thanks" is forged
}
