// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build ignore

// This file and copies of serve.go and ssh.go become a module of their own beside a
// copy of fakeboboliu/umac from outside.
package main

import (
	"encoding/binary"
	"fmt"
	"hash"
	"os"

	"github.com/fakeboboliu/umac"
)

func main() {
	macModes["umac-64-etm@openssh.com"] = &macMode{16, true, packets(umac.New8)}
	macModes["umac-128-etm@openssh.com"] = &macMode{16, true, packets(umac.New16)}
	err := serve(os.Stdin, os.Stdout, nil, map[string]op{
		"fakeboboliu:umac64:stream":  stream(umac.New8(key[:16])),
		"fakeboboliu:umac64:new":     set(umac.New8),
		"fakeboboliu:umac128:stream": stream(umac.New16(key[:16])),
		"fakeboboliu:umac128:new":    set(umac.New16),

		"fakeboboliu:umac-64-etm:ssh":  sshMAC("umac-64-etm@openssh.com"),
		"fakeboboliu:umac-128-etm:ssh": sshMAC("umac-128-etm@openssh.com"),
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

// packet is called as SSH calls a MAC: what is written first is the sequence number,
// which becomes the nonce.
type packet struct {
	hash.Hash
	nonce [16]byte // 8 of them, and room for the tag in their place
	begun bool
}

func packets(keyed func(key []byte) hash.Hash) func(key []byte) hash.Hash {
	return func(key []byte) hash.Hash { return &packet{Hash: keyed(key)} }
}

func (p *packet) Reset() {
	p.Hash.Reset()
	p.nonce, p.begun = [16]byte{}, false
}

func (p *packet) Write(b []byte) (int, error) {
	if !p.begun {
		p.begun = true
		return copy(p.nonce[4:8], b), nil
	}
	return p.Hash.Write(b)
}

func (p *packet) Sum(b []byte) []byte { return append(b, p.Hash.Sum(p.nonce[:8])...) }
