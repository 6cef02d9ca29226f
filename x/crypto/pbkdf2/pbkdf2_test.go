// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pbkdf2_test

import (
	"bytes"
	standard "crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"testing"

	"example.com/fastmac/x/crypto/pbkdf2"
)

// TestKey compares with crypto/pbkdf2, which golang.org/x/crypto/pbkdf2 calls, in errors too.
func TestKey(t *testing.T) {
	password, salt := []byte("a password"), []byte("a salt of at least 16 bytes")
	for i, h := range []func() hash.Hash{sha1.New, sha256.New} {
		for _, n := range []int{-1, 0, 1, 20, 32, 33, 100} {
			want, err := standard.Key(h, string(password), salt, 1000, n)
			func() {
				defer func() {
					if got := recover(); fmt.Sprint(got) != fmt.Sprint(err) {
						t.Errorf("hash %d, key of %d bytes: panic %v, want %v", i, n, got, err)
					}
				}()
				if got := pbkdf2.Key(password, salt, 1000, n, h); !bytes.Equal(got, want) {
					t.Errorf("hash %d, key of %d bytes: %x, want %x", i, n, got, want)
				}
			}()
		}
	}
}
