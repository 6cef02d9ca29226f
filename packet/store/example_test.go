// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package store_test

import (
	"fmt"
	"os"
	"path/filepath"

	"example.com/fastmac/packet"
	"example.com/fastmac/packet/store"
)

var _ packet.Store = (*store.File)(nil)

// A sender that goes on after a restart.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "send")
	if err := store.Create(path); err != nil { // once, where the secret is made
		panic(err)
	}
	c := packet.Config{Secret: []byte("32 random bytes, not these here."), Sender: "device 17", Receiver: "collector", TagSize: 16}
	for range 2 { // the program starts twice
		f, err := store.Open(path)
		if err != nil {
			panic(err)
		}
		s, err := packet.NewUMACSender(c, packet.Stored(f, nil))
		if err != nil {
			panic(err)
		}
		p, err := s.Seal([]byte("21.5 degrees"), nil)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%x\n", p[len("21.5 degrees"):][:8]) // epoch and counter
		if err := s.Stop(); err != nil {
			panic(err)
		}
		if err := f.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// 0000000000000000
	// 0000000000000001
}

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
		if err := f.Release(id, first+1000, next); err != nil {
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

// A server that has a store for each of its peers, in one file.
func ExampleSet() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "peers")
	if err := store.CreateSet(path, "meter 1", "meter 2"); err != nil { // once, where the secrets are made
		panic(err)
	}
	set, err := store.OpenSet(path) // at each start
	if err != nil {
		panic(err)
	}
	if err := set.Create("meter 3"); err != nil { // where the secret of another peer is made
		panic(err)
	}
	for _, name := range []string{"meter 1", "meter 2", "meter 3"} {
		f, err := set.Open(name)
		if err != nil {
			panic(err)
		}
		c := packet.Config{Secret: []byte("32 random bytes for " + name + " not these"), Sender: name, Receiver: "collector", TagSize: 16}
		r, err := packet.NewUMACReceiver(c, packet.Stored(nil, f))
		if err != nil {
			panic(err)
		}
		defer r.Stop()
	}
	_, err = set.Open("meter 4")
	fmt.Println(err != nil)
	// Output: true
}
