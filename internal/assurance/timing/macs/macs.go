// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package macs gives all MACs of the module the same methods, for programs that call each of
// them in the same way.
package macs

import (
	"crypto"
	"fmt"
	"hash"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/sshmac"
	"golang.org/x/crypto/ssh"
)

// A MAC is an algorithm with tags of one size. Sizes are in bytes.
type MAC struct {
	Name       string
	TagSize    int
	KeySizes   []int // typical ones, and for HMAC those next to the size of a block
	NonceSizes []int // the usual one first; 0 if there is no nonce

	// Empty returns a key to initialize.
	Empty     func() Key
	NewStream func(key []byte) Stream
}

// A Key is a key of the module. HMAC ignores nonces.
type Key interface {
	InitKey(key []byte)
	Tag(dst, nonce, msg []byte) []byte
	Verify(tag, nonce, msg []byte) bool
	TagBatch(batch []fastmac.Message)
	VerifyBatch(batch []fastmac.Message) bool
	Stream() Stream // from method New
	Destroy()
}

// A Stream is a stream of the module. HMAC ignores nonces, except that the argument of
// Sum must be nil, and its Bind returns the stream itself. The others overwrite the nonce of Sum.
type Stream interface {
	hash.Cloner
	Tag(dst, nonce []byte) []byte
	Verify(tag, nonce []byte) bool
	Bind(nonce []byte) hash.Cloner
	Destroy()
}

// NewKey returns a key of the MAC.
func (m MAC) NewKey(key []byte) Key {
	k := m.Empty()
	k.InitKey(key)
	return k
}

// HMACHashes are the hashes of the HMACs: both sizes of words, and one that is cut.
var HMACHashes = []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512}

// HMAC returns HMAC with a hash.
func HMAC(h crypto.Hash) MAC {
	block := h.New().BlockSize()
	return MAC{
		Name: "HMAC-" + h.String(), TagSize: h.Size(),
		KeySizes: []int{64, 200, 14, block - 1, block, block + 1, 300}, NonceSizes: []int{0},
		Empty:     func() Key { return &hmacKey{hash: h} },
		NewStream: func(key []byte) Stream { return hmacStream{mactest.Must(fastmac.NewHMAC(h, key))} },
	}
}

// Available returns all MACs that run on this CPU.
func Available() (available []MAC) {
	for _, size := range mactest.UMACTagSizes {
		available = append(available, MAC{
			Name: fmt.Sprintf("UMAC-%d", 8*size), TagSize: size,
			KeySizes: []int{16, 32, 24}, NonceSizes: []int{8, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16},
			Empty:     func() Key { return &umacKey{tagSize: size} },
			NewStream: func(key []byte) Stream { return mactest.Must(fastmac.NewUMAC(key, size)) },
		})
	}
	for _, h := range HMACHashes {
		available = append(available, HMAC(h))
	}
	if fastmac.RequireGCM() == nil {
		available = append(available, MAC{
			Name: "GMAC", TagSize: fastmac.GMACSize,
			KeySizes: []int{16, 32, 24}, NonceSizes: []int{fastmac.GMACNonceSize},
			Empty:     func() Key { return new(gmacKey) },
			NewStream: func(key []byte) Stream { return mactest.Must(fastmac.NewGMAC(key)) },
		})
	}
	return available
}

type umacKey struct {
	fastmac.UMACKey
	tagSize int
}

func (k *umacKey) InitKey(key []byte) { must(k.Init(key, k.tagSize)) }
func (k *umacKey) Stream() Stream     { return k.New() }

type gmacKey struct{ fastmac.GMACKey }

func (k *gmacKey) InitKey(key []byte) { must(k.Init(key)) }
func (k *gmacKey) Stream() Stream     { return k.New() }

type hmacKey struct {
	fastmac.HMACKey
	hash crypto.Hash
}

func (k *hmacKey) InitKey(key []byte)             { must(k.Init(k.hash, key)) }
func (k *hmacKey) Stream() Stream                 { return hmacStream{k.New()} }
func (k *hmacKey) Tag(dst, _, msg []byte) []byte  { return k.HMACKey.Tag(dst, msg) }
func (k *hmacKey) Verify(tag, _, msg []byte) bool { return k.HMACKey.Verify(tag, msg) }

type hmacStream struct{ *fastmac.HMAC }

func (s hmacStream) Tag(dst, _ []byte) []byte  { return s.Sum(dst) }
func (s hmacStream) Verify(tag, _ []byte) bool { return s.HMAC.Verify(tag) }
func (s hmacStream) Bind([]byte) hash.Cloner   { return s.HMAC }

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// SSHModes returns the modes of package sshmac, and HMAC, which sshmac registers too.
func SSHModes() []sshmac.Mode {
	mode := func(name string, h crypto.Hash) sshmac.Mode {
		return sshmac.Mode{Name: name, KeySize: h.Size(), New: func(key []byte) hash.Hash { return mactest.Must(fastmac.NewHMAC(h, key)) }}
	}
	return append(sshmac.Modes(), mode(ssh.HMACSHA256, crypto.SHA256), mode(ssh.HMACSHA512, crypto.SHA512))
}
