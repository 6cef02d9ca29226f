// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hkdf_test

import (
	"bytes"
	standard "crypto/hkdf"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/x/crypto/hkdf"
)

// TestReaders reads keys to their end in parts of many sizes, and compares them with crypto/hkdf's.
func TestReaders(t *testing.T) {
	if kernel.FIPSEnforced() {
		t.Skip("GODEBUG=fips140=only refuses SHA-1")
	}
	random := rand.New(rand.NewPCG(5, 869))
	for _, h := range []func() hash.Hash{sha1.New, sha256.New, sha512.New384, func() hash.Hash { return sha256.New() }} {
		secret, salt, info := make([]byte, 40), []byte("salt"), bytes.Repeat([]byte("info"), random.IntN(50))
		prk, err := standard.Extract(h, secret, salt)
		if err != nil {
			t.Fatal(err)
		}
		if got := hkdf.Extract(h, secret, salt); !bytes.Equal(got, prk) {
			t.Errorf("Extract %x, want %x", got, prk)
		}
		size := h().Size()
		want, err := standard.Key(h, secret, salt, string(info), 255*size)
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1, size, 3 * size, 255 * size} {
			for name, r := range map[string]io.Reader{"New": hkdf.New(h, secret, salt, info), "Expand": hkdf.Expand(h, prk, info)} {
				var key []byte
				for len(key) < len(want) {
					part := make([]byte, min(random.IntN(most+1), len(want)-len(key)))
					if n, err := r.Read(part); n != len(part) || err != nil {
						t.Fatalf("%s: %d of %d bytes, %v", name, n, len(part), err)
					}
					key = append(key, part...)
					// Too much is refused, and changes nothing.
					if n, err := r.Read(make([]byte, len(want)-len(key)+1)); n != 0 || fmt.Sprint(err) != "hkdf: entropy limit reached" {
						t.Fatalf("%s: %d bytes too many: %v", name, n, err)
					}
				}
				if !bytes.Equal(key, want) {
					t.Errorf("%s: another key in parts of up to %d bytes", name, most)
				}
			}
		}
	}
}

// TestExtractPanic checks that what crypto/hkdf refuses is a panic: a short secret with GODEBUG=fips140=only.
func TestExtractPanic(t *testing.T) {
	defer func() {
		if panicked := recover() != nil; panicked != kernel.FIPSEnforced() {
			t.Errorf("panic: %v", panicked)
		}
	}()
	hkdf.Extract(sha256.New, make([]byte, 13), nil)
}
