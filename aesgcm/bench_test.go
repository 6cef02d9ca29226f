// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// BenchmarkSeal and BenchmarkOpen have a key of 32 bytes, and 13 bytes of additional data,
// as TLS 1.2 has. The names are for benchstat, see BenchmarkMAC of package fastmac.
func BenchmarkSeal(b *testing.B) {
	bench(b, func(aead cipher.AEAD, nonce, plaintext, data, dst []byte) func() {
		return func() {
			binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(nonce[4:])+1)
			aead.Seal(dst, nonce, plaintext, data)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	bench(b, func(aead cipher.AEAD, nonce, plaintext, data, dst []byte) func() {
		sealed := aead.Seal(nil, nonce, plaintext, data)
		return func() {
			if _, err := aead.Open(dst, nonce, sealed, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func bench(b *testing.B, call func(aead cipher.AEAD, nonce, plaintext, data, dst []byte) func()) {
	key := make([]byte, 32)
	type impl struct {
		name string
		aead cipher.AEAD
	}
	impls := []impl{{"crypto.cipher", newCipher(b, key)}}
	if fastmac.RequireGCM() == nil {
		impls = append(impls, impl{"fastmac." + kernel.Active(kernel.GCM), mactest.Must(aesgcm.NewKey(key))})
	}
	for _, impl := range impls {
		for _, size := range []int{16, 64, 256, 1024, 1500, 4096, 16384} {
			b.Run(fmt.Sprintf("impl=%s/size=%d", impl.name, size), func(b *testing.B) {
				f := call(impl.aead, make([]byte, 12), make([]byte, size), make([]byte, 13), make([]byte, 0, size+aesgcm.Overhead))
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
	}
}

// BenchmarkSealer seals with a nonce that the Sealer chooses.
func BenchmarkSealer(b *testing.B) {
	if err := fastmac.RequireGCM(); err != nil {
		b.Skip(err)
	}
	s := mactest.Must(aesgcm.NewKey(make([]byte, 32))).NewSealer()
	for _, size := range []int{16, 1024, 16384} {
		plaintext, dst := make([]byte, size), make([]byte, 0, size+28)
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.Seal(dst, nil, plaintext, nil)
			}
		})
	}
}

// BenchmarkKey sets up a key: in new storage, and in place.
func BenchmarkKey(b *testing.B) {
	if err := fastmac.RequireGCM(); err != nil {
		b.Skip(err)
	}
	key := make([]byte, 32)
	b.Run("call=New", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mactest.Must(aesgcm.NewKey(key))
		}
	})
	b.Run("call=Init", func(b *testing.B) {
		b.ReportAllocs()
		var k aesgcm.Key
		for b.Loop() {
			k.Init(key)
		}
	})
	b.Run("call=crypto.cipher", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newCipher(b, key)
		}
	})
}
