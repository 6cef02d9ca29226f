// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"example.com/fastmac/aesgcm"
)

// A Sealer chooses the nonces.
func Example() {
	key := make([]byte, 32)
	rand.Read(key) // shared with the receiver

	k, err := aesgcm.NewKey(key)
	if err != nil {
		log.Fatal(err) // for example, the CPU lacks the instructions
	}
	defer k.Destroy()
	s := k.NewSealer()
	sealed := s.Seal(nil, nil, []byte("attack at dawn"), []byte("message 1"))

	plaintext, err := s.Open(nil, nil, sealed, []byte("message 1"))
	fmt.Printf("%s %v\n", plaintext, err)
	_, err = s.Open(nil, nil, sealed, []byte("message 2"))
	fmt.Println(err)
	// Output:
	// attack at dawn <nil>
	// aesgcm: message authentication failed
}

func ExampleNewKey() {
	_, err := aesgcm.NewKey([]byte("too short"))
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("use crypto/cipher:", err)
	} else {
		fmt.Println(err)
	}
	// Output: fastmac: key of 9 bytes: want 16, 24 or 32
}

func ExampleKey_Init() {
	// A connection holds its keys by value.
	var conn struct{ in, out aesgcm.Key }
	for _, k := range []*aesgcm.Key{&conn.in, &conn.out} {
		key := make([]byte, 16)
		rand.Read(key)
		if err := k.Init(key); err != nil {
			log.Fatal(err)
		}
		defer k.Destroy()
	}
	fmt.Println(&conn.in, conn.out.NonceSize(), conn.out.Overhead())
	// Output: aesgcm.Key 12 16
}

// A record protocol numbers its messages, and makes the nonce from the number.
func ExampleKey_Seal() {
	k, err := aesgcm.NewKey(make([]byte, 32)) // use a random key
	if err != nil {
		log.Fatal(err)
	}
	record := make([]byte, 0, 64) // has room for the tag, so nothing is allocated
	nonce := make([]byte, aesgcm.NonceSize)
	for number, msg := range []string{"attack at dawn", "bring coffee"} {
		binary.BigEndian.PutUint64(nonce[4:], uint64(number))
		record = append(record[:0], msg...)
		record = k.Seal(record[:0], nonce, record, nil)

		plaintext, err := k.Open(record[:0], nonce, record, nil)
		fmt.Printf("%s %v\n", plaintext, err)
	}
	// Output:
	// attack at dawn <nil>
	// bring coffee <nil>
}

// A receiver refuses a record that was changed on the way.
func ExampleKey_Open() {
	k, err := aesgcm.NewKey(make([]byte, 32)) // use a random key
	if err != nil {
		log.Fatal(err)
	}
	nonce := make([]byte, aesgcm.NonceSize) // never use it for another plaintext under this key
	buf := make([]byte, 0, len("attack at dawn")+aesgcm.Overhead)
	sealed := k.Seal(buf, nonce, []byte("attack at dawn"), nil)
	sealed[0] ^= 1
	_, err = k.Open(nil, nonce, sealed, nil)
	fmt.Println(err)
	// Output: aesgcm: message authentication failed
}

// A Sealer encrypts in place.
func ExampleSealer_Seal() {
	k, err := aesgcm.NewKey(make([]byte, 32)) // use a random key
	if err != nil {
		log.Fatal(err)
	}
	s := k.NewSealer()
	buf := make([]byte, 0, 100)
	buf = append(buf, "attack at dawn"...)
	buf = s.Seal(buf[:0], nil, buf, nil)
	fmt.Println(len(buf))
	buf, err = s.Open(buf[:0], nil, buf, nil)
	fmt.Printf("%s %v\n", buf, err)
	// Output:
	// 42
	// attack at dawn <nil>
}

// A Sealer is a cipher.AEAD whose NonceSize is 0, so code that asks for the size passes no nonce.
func ExampleKey_NewSealer() {
	k, err := aesgcm.NewKey(make([]byte, 32)) // use a random key
	if err != nil {
		log.Fatal(err)
	}
	var aead cipher.AEAD = k.NewSealer()
	nonce := make([]byte, aead.NonceSize())
	sealed := aead.Seal(nil, nonce, []byte("attack at dawn"), nil)
	fmt.Println(len(nonce), len(sealed)-aead.Overhead())
	// Output: 0 14
}

func ExampleSealer_Overhead() {
	k, err := aesgcm.NewKey(make([]byte, 32)) // use a random key
	if err != nil {
		log.Fatal(err)
	}
	s := k.NewSealer()
	fmt.Println(s.NonceSize(), s.Overhead())
	// Output: 0 28
}
