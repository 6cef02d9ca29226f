// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hmac

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha1"
	"fmt"
	"hash"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

func TestSHA1Contract(t *testing.T) {
	skipEnforced(t)
	if standard {
		t.Skip("it is crypto/hmac's")
	}
	mactest.TestHash(t, mactest.Subject{
		New:     func() hash.Hash { return New(sha1.New, []byte("key")) },
		Methods: []string{"Destroy", "Verify"},
	})
	m := New(sha1.New, []byte("key"))
	if s := fmt.Sprintf("%v %#v", m, m); s != "fastmac.HMAC(SHA-1) fastmac.HMAC(SHA-1)" {
		t.Errorf("it prints as %s", s)
	}
}

// TestSHA1Vectors compares with the tags of testdata. Verify refuses those that are truncated.
func TestSHA1Vectors(t *testing.T) {
	skipEnforced(t)
	vectors := mactest.HMACVectors(t, crypto.SHA1)
	for _, v := range vectors {
		m := New(sha1.New, v.Key)
		m.Write(v.Msg)
		got := m.Sum(nil)
		if equal := bytes.Equal(got[:min(len(v.Tag), len(got))], v.Tag); equal != v.Valid {
			t.Errorf("%s: tag %x, %x is valid: %v", v.Name, got, v.Tag, v.Valid)
		}
		if m, ok := m.(*fastmac.HMAC); ok && m.Verify(v.Tag) != (v.Valid && len(v.Tag) == m.Size()) {
			t.Errorf("%s: Verify %v", v.Name, m.Verify(v.Tag))
		}
	}
	t.Logf("%d tags", len(vectors))
}

// TestSHA1Std compares with crypto/hmac: messages in two parts, with tags in between, and clones, around the
// places where blocks begin and where the length fits into the last one.
func TestSHA1Std(t *testing.T) {
	skipEnforced(t)
	if standard {
		t.Skip("it is crypto/hmac's")
	}
	msg := make([]byte, 400)
	for i := range msg {
		msg[i] = byte(i * i)
	}
	for _, keySize := range []int{0, 20, 63, 64, 65, 300} {
		m, std := New(sha1.New, msg[:keySize]), hmac.New(sha1.New, msg[:keySize])
		for n := range 260 {
			for _, first := range []int{0, n / 3, n} {
				m.Reset()
				std.Reset()
				m.Write(msg[:first])
				std.Write(msg[:first])
				if first == n/3 {
					same(t, "the first part", m, std)
				}
				c := mactest.Must(m.(hash.Cloner).Clone())
				m.Write(msg[first:n])
				std.Write(msg[first:n])
				same(t, "both parts", m, std)
				same(t, "both parts again", m, std)
				c.Write(msg[first:n])
				same(t, "a clone", c, std)
				c.Write(msg[:65])
				std.Write(msg[:65])
				same(t, "a clone, after a tag", c, std)
			}
		}
	}
}

func same(t *testing.T, what string, m, std hash.Hash) {
	t.Helper()
	if got, want := m.Sum([]byte{1}), std.Sum([]byte{1}); !bytes.Equal(got, want) {
		t.Fatalf("%s: %x, want %x", what, got, want)
	}
}
