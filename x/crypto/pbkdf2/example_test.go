// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pbkdf2_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"example.com/fastmac/x/crypto/pbkdf2"
)

func ExampleKey() {
	salt := make([]byte, 16)
	rand.Read(salt) // stored with the key
	key := pbkdf2.Key([]byte("correct horse battery staple"), salt, 600_000, 32, sha256.New)
	fmt.Println(len(key))
	// Output: 32
}
