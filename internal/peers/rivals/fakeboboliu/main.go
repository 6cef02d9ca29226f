// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build ignore

// This program is built by build.go, beside a copy of fakeboboliu/umac from outside
// the tree.
package main

import (
	"encoding/binary"
	"fmt"
	"hash"
	"os"

	"github.com/fakeboboliu/umac"

	"example.com/fastmac/internal/peers/serve"
)

func main() {
	serve.RegisterSSHMAC("umac-64-etm@openssh.com", 16, newPacketMAC(umac.New8))
	serve.RegisterSSHMAC("umac-128-etm@openssh.com", 16, newPacketMAC(umac.New16))
	err := serve.Serve(os.Stdin, os.Stdout, nil, map[string]serve.Op{
		"fakeboboliu:umac64:stream":  stream(umac.New8(serve.Key[:16])),
		"fakeboboliu:umac64:new":     keySetup(umac.New8),
		"fakeboboliu:umac128:stream": stream(umac.New16(serve.Key[:16])),
		"fakeboboliu:umac128:new":    keySetup(umac.New16),

		"fakeboboliu:umac-64-etm:ssh":  serve.SSHMAC("umac-64-etm@openssh.com"),
		"fakeboboliu:umac-128-etm:ssh": serve.SSHMAC("umac-128-etm@openssh.com"),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Its Sum reads the nonce from the slice and returns the tag in its place.
func stream(u hash.Hash) serve.Op {
	return func(msg []byte, n int) []byte {
		nonce := make([]byte, 16)
		var tag []byte
		for c := serve.FirstNonce(n); c <= serve.LastNonce; c++ {
			binary.BigEndian.PutUint64(nonce, c)
			u.Reset()
			u.Write(msg)
			tag = u.Sum(nonce[:8])
		}
		return tag
	}
}

func keySetup(newMAC func(key []byte) hash.Hash) serve.Op {
	return func(msg []byte, n int) []byte {
		var u hash.Hash
		for range n {
			u = newMAC(serve.Key[:16])
		}
		u.Write(msg)
		return u.Sum(binary.BigEndian.AppendUint64(nil, serve.LastNonce))
	}
}

// packetMAC is called as SSH calls a MAC: the first Write is the sequence number,
// which becomes the nonce.
type packetMAC struct {
	hash.Hash
	nonce [16]byte // 8 bytes, and room for the tag in their place
	begun bool
}

func newPacketMAC(newMAC func(key []byte) hash.Hash) func(key []byte) hash.Hash {
	return func(key []byte) hash.Hash { return &packetMAC{Hash: newMAC(key)} }
}

func (p *packetMAC) Reset() {
	p.Hash.Reset()
	p.nonce, p.begun = [16]byte{}, false
}

func (p *packetMAC) Write(b []byte) (int, error) {
	if !p.begun {
		p.begun = true
		return copy(p.nonce[4:8], b), nil
	}
	return p.Hash.Write(b)
}

func (p *packetMAC) Sum(b []byte) []byte { return append(b, p.Hash.Sum(p.nonce[:8])...) }
