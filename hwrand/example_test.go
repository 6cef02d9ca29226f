// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hwrand_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"log"

	"example.com/fastmac/hwrand"
)

// A server makes a key for each session. Without AES instructions it uses crypto/rand.
func ExampleReader() {
	var random io.Reader
	if r, err := hwrand.New(); err == nil {
		defer r.Destroy()
		random = r
	} else {
		random = rand.Reader
	}

	var sessions [1000]struct{ key [32]byte }
	for i := range sessions {
		if _, err := io.ReadFull(random, sessions[i].key[:]); err != nil {
			panic(err)
		}
	}
	fmt.Println(sessions[0].key != sessions[999].key)
	// Output: true
}

// Destroy overwrites a Reader. After that, Read panics.
func ExampleReader_Destroy() {
	r, err := hwrand.New()
	if err != nil {
		log.Fatal(err) // for example, the CPU lacks AES instructions
	}
	defer r.Destroy()
	key := make([]byte, 32)
	n, err := r.Read(key)
	fmt.Println(n, err)
	// Output: 32 <nil>
}
