// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hkdf_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log"

	"example.com/fastmac/x/crypto/hkdf"
)

func ExampleNew() {
	secret := make([]byte, 32)
	rand.Read(secret) // from a key exchange
	r := hkdf.New(sha256.New, secret, nil, []byte("client to server"))
	key := make([]byte, 32)
	if _, err := io.ReadFull(r, key); err != nil {
		log.Fatal(err) // more than 255 * 32 bytes
	}
	fmt.Println(len(key))
	// Output: 32
}

func ExampleExtract() {
	prk := hkdf.Extract(sha256.New, []byte("the secret of a key exchange"), nil)
	fmt.Println(len(prk))
	// Output: 32
}

// With many keys from one secret, the first step is done once.
func ExampleExpand() {
	prk := hkdf.Extract(sha256.New, []byte("the secret of a key exchange"), nil)
	for i := range 2 {
		key := make([]byte, 32)
		if _, err := io.ReadFull(hkdf.Expand(sha256.New, prk, fmt.Appendf(nil, "session %d", i)), key); err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(key))
	}
	// Output:
	// 32
	// 32
}
