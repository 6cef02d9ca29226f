// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pbkdf2_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log"
	"time"

	"example.com/fastmac/pbkdf2"
)

func ExampleKey() {
	salt := make([]byte, 16)
	rand.Read(salt) // stored with the key
	key, err := pbkdf2.Key(sha256.New, "correct horse battery staple", salt, 600_000, 32)
	if err != nil {
		log.Fatal(err) // for example, GODEBUG=fips140=only does not allow it
	}
	fmt.Println(len(key))
	// Output: 32
}

// A server verifies the logins that have arrived, all with one call.
func ExampleKeyBatch() {
	type login struct {
		password     string
		salt, stored []byte
	}
	stored, err := pbkdf2.Key(sha256.New, "correct horse", []byte("the salt of a user"), 4096, 32)
	if err != nil {
		log.Fatal(err)
	}
	logins := []login{
		{"correct horse", []byte("the salt of a user"), stored},
		{"battery staple", []byte("the salt of a user"), stored},
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	batch := make([]pbkdf2.Derivation, len(logins))
	for i, l := range logins {
		batch[i] = pbkdf2.Derivation{Password: l.password, Salt: l.salt, Iter: 4096, Key: make([]byte, 32)}
	}
	if err := pbkdf2.KeyBatch(ctx, sha256.New, batch); err != nil {
		log.Fatal(err)
	}
	for i, l := range logins {
		fmt.Println(subtle.ConstantTimeCompare(batch[i].Key, l.stored) == 1)
	}
	// Output:
	// true
	// false
}
