// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store_test

import (
	"fmt"
	"os"
	"path/filepath"

	"example.com/fastmac/packet/store"
)

// A program that has its own packets reserves counters itself. It uses those of a range that it has
// reserved, and no others.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "send")
	if err := store.Create(path); err != nil { // once, where the secret is made
		panic(err)
	}
	id := [16]byte{0: 1} // which key, and which direction

	for range 2 { // the program starts twice
		f, err := store.Open(path)
		if err != nil {
			panic(err)
		}
		first, err := f.Reserve(id, 1000)
		if err != nil {
			panic(err)
		}
		fmt.Println("counters", first, "to", first+999)
		next := first + 3 // it uses three of them
		if err := f.Release(id, next); err != nil {
			panic(err)
		}
		if err := f.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// counters 0 to 999
	// counters 3 to 1002
}
