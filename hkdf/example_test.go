// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hkdf_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log"

	"example.com/fastmac/hkdf"
)

// The secret of a key exchange becomes a key for each direction.
func ExampleKey() {
	secret, salt := make([]byte, 32), make([]byte, 32)
	rand.Read(secret) // from the key exchange
	rand.Read(salt)   // both sides know it
	for _, info := range []string{"client to server", "server to client"} {
		key, err := hkdf.Key(sha256.New, secret, salt, info, 32)
		if err != nil {
			log.Fatal(err) // for example, the key is too long
		}
		fmt.Println(len(key))
	}
	// Output:
	// 32
	// 32
}

// With many keys from one secret, the first step is done once.
func ExampleExpand() {
	prk, err := hkdf.Extract(sha256.New, []byte("the secret of a key exchange"), nil)
	if err != nil {
		log.Fatal(err) // only with GODEBUG=fips140=only
	}
	for i := range 3 {
		key, err := hkdf.Expand(sha256.New, prk, fmt.Sprintf("session %d", i), 32)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(key))
	}
	// Output:
	// 32
	// 32
	// 32
}
