// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hkdf

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"
	"math"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha2"
)

func init() { sha2.ChooseAll() } // for package mactest

// TestVectors derives the keys of testdata.
func TestVectors(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testVectors) }

func testVectors(t *testing.T) {
	if kernel.FIPSEnforced() {
		t.Skip("GODEBUG=fips140=only refuses SHA-1, and short secrets")
	}
	vectors := mactest.HKDFVectors(t)
	for _, v := range vectors {
		if v.Pseudorandom != nil {
			prk, err := Extract(v.Hash.New, v.Secret, v.Salt)
			if !bytes.Equal(prk, v.Pseudorandom) || err != nil {
				t.Errorf("%s: Extract %x (%v), want %x", v.Name, prk, err, v.Pseudorandom)
			}
			key, err := Expand(v.Hash.New, v.Pseudorandom, string(v.Info), v.Size)
			if !bytes.Equal(key, v.Key) || err != nil {
				t.Errorf("%s: Expand %x (%v), want %x", v.Name, key, err, v.Key)
			}
		}
		key, err := Key(v.Hash.New, v.Secret, v.Salt, string(v.Info), v.Size)
		if !bytes.Equal(key, v.Key) || (err != nil) != (v.Key == nil) {
			t.Errorf("%s: Key %.40x (%v), want %.40x", v.Name, key, err, v.Key)
		}
	}
	t.Logf("%d keys", len(vectors))
}

// TestStd compares with crypto/hkdf: results, errors and panics.
func TestStd(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testStd) }

func testStd(t *testing.T) {
	functions := []func() hash.Hash{sha1.New, func() hash.Hash { return sha3.New256() }, func() hash.Hash { return sha256.New() }}
	for _, h := range mactest.SHA2 {
		functions = append(functions, h.New)
	}
	for i, h := range functions {
		name, size := fmt.Sprintf("hash %d", i), h().Size()
		for _, n := range []int{0, 1, 13, 14, 32, 64, 65, 128, 129, 300} {
			secret, salt := bytes.Repeat([]byte{1}, n), bytes.Repeat([]byte{2}, n*5/7)
			compare(t, name, h, secret, salt, strings.Repeat("i", n), size)
			compare(t, name, h, secret, salt[:len(salt)/2], "info", 3*size+1)
		}
		for _, n := range []int{math.MinInt, -1, 0, 1, size - 1, size + 1, 2 * size, 2*size + 1, 254*size + 1, 255 * size, 255*size + 1, math.MaxInt} {
			compare(t, name, h, make([]byte, 32), nil, "", n)
			compare(t, name, h, nil, []byte{}, "info", n)
		}
		// Messages that end everywhere in a block, of up to three blocks.
		for n := range 260 {
			compare(t, name, h, make([]byte, 32), nil, strings.Repeat("i", n), 2*size)
		}
	}
	compare(t, "another type of function", sha3.New256, make([]byte, 32), nil, "info", 70)
}

func compare[H hash.Hash](t *testing.T, name string, h func() H, secret, salt []byte, info string, n int) {
	t.Helper()
	for _, f := range []struct {
		name      string
		got, want func() ([]byte, error)
	}{
		{"Extract", func() ([]byte, error) { return Extract(h, secret, salt) }, func() ([]byte, error) { return hkdf.Extract(h, secret, salt) }},
		{"Expand", func() ([]byte, error) { return Expand(h, secret, info, n) }, func() ([]byte, error) { return hkdf.Expand(h, secret, info, n) }},
		{"Key", func() ([]byte, error) { return Key(h, secret, salt, info, n) }, func() ([]byte, error) { return hkdf.Key(h, secret, salt, info, n) }},
	} {
		if got, want := outcome(f.got), outcome(f.want); got != want {
			t.Errorf("%s, %s, secret of %d bytes, salt of %d, info of %d, key of %d: %s, want %s", name, f.name, len(secret), len(salt), len(info), n, got, want)
		}
	}
}

// outcome returns what f returns, or its panic.
func outcome(f func() ([]byte, error)) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprintf("panic: %v", r)
		}
	}()
	key, err := f()
	return fmt.Sprintf("%x, nil: %v, error %v", key, key == nil, err)
}

// TestAllocations checks that only the key is allocated.
func TestAllocations(t *testing.T) {
	if hashOf(sha256.New) == nil {
		t.Skip("crypto/hkdf allocates")
	}
	secret, salt := make([]byte, 32), make([]byte, 32)
	for name, f := range map[string]func(){
		"Extract": func() { Extract(sha256.New, secret, salt) },
		"Expand":  func() { Expand(sha256.New, secret, "info", 100) },
		"Key":     func() { Key(sha256.New, secret, salt, "info", 100) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 1 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for _, c := range []struct {
		name string
		h    func() hash.Hash
		n    int
	}{{"SHA-256", sha256.New, 32}, {"SHA-256", sha256.New, 128}, {"SHA-384", sha512.New384, 48}, {"SHA-512", sha512.New, 64}} {
		secret, salt := make([]byte, 32), make([]byte, 32)
		for _, impl := range []struct {
			name string
			key  func(func() hash.Hash, []byte, []byte, string, int) ([]byte, error)
		}{{"fastmac", Key[hash.Hash]}, {"crypto", hkdf.Key[hash.Hash]}} {
			b.Run(fmt.Sprintf("%s/%d/%s", c.name, c.n, impl.name), func(b *testing.B) {
				for b.Loop() {
					impl.key(c.h, secret, salt, "info of this key", c.n)
				}
			})
		}
	}
}

func BenchmarkExpand(b *testing.B) {
	for _, n := range []int{16, 32, 42} {
		secret := make([]byte, 32)
		for _, impl := range []struct {
			name   string
			expand func(func() hash.Hash, []byte, string, int) ([]byte, error)
		}{{"fastmac", Expand[hash.Hash]}, {"crypto", hkdf.Expand[hash.Hash]}} {
			b.Run(fmt.Sprintf("SHA-256/%d/%s", n, impl.name), func(b *testing.B) {
				for b.Loop() {
					impl.expand(sha256.New, secret, "info of this key", n)
				}
			})
		}
	}
}

// FuzzKey compares with crypto/hkdf.
func FuzzKey(f *testing.F) {
	f.Add([]byte("secret"), []byte("salt"), "info", 42)
	f.Add(make([]byte, 65), make([]byte, 129), strings.Repeat("i", 95), 255*32+1)
	f.Fuzz(func(t *testing.T, secret, salt []byte, info string, n int) {
		if n %= 255*sha512.Size + 2; n < 0 {
			n = -n
		}
		for _, h := range mactest.SHA2 {
			compare(t, h.String(), h.New, secret, salt, info, n)
		}
	})
}
