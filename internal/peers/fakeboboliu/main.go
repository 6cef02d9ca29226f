// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build ignore

// This file and a copy of serve.go become a module of their own beside a copy of
// fakeboboliu/umac from outside.
package main

import (
	"encoding/binary"
	"fmt"
	"hash"
	"os"

	"github.com/fakeboboliu/umac"
)

func main() {
	err := serve(os.Stdin, os.Stdout, nil, map[string]op{
		"fakeboboliu:umac64:stream":  stream(umac.New8(key[:16])),
		"fakeboboliu:umac64:new":     set(umac.New8),
		"fakeboboliu:umac128:stream": stream(umac.New16(key[:16])),
		"fakeboboliu:umac128:new":    set(umac.New16),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Its Sum takes the nonce and returns the tag in its place.
func stream(u hash.Hash) op {
	return func(msg []byte, n int) []byte {
		nonce := make([]byte, 16)
		var tag []byte
		for c := firstNonce(n); c <= lastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			u.Reset()
			u.Write(msg)
			tag = u.Sum(nonce[:8])
		}
		return tag
	}
}

func set(keyed func(key []byte) hash.Hash) op {
	return func(msg []byte, n int) []byte {
		var u hash.Hash
		for range n {
			u = keyed(key[:16])
		}
		u.Write(msg)
		return u.Sum(binary.BigEndian.AppendUint64(nil, lastNonce))
	}
}
