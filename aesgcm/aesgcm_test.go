// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"bytes"
	"crypto/cipher"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// TestMain skips the examples on a machine without the instructions.
func TestMain(m *testing.M) {
	fastmac.Hardware() // chooses all kernels, for package mactest
	if fastmac.RequireGCM() != nil {
		mactest.SkipExamples("^Example")
	}
	m.Run()
}

var _, _ cipher.AEAD = (*aesgcm.Key)(nil), (*aesgcm.Sealer)(nil)

// TestUnsupported checks that on a machine without the instructions there are no keys, and
// that the error does not depend on the key.
func TestUnsupported(t *testing.T) {
	want := fastmac.RequireGCM()
	if want == nil {
		t.Skip("the CPU has the instructions")
	}
	for _, size := range []int{0, 16, 32, 33} {
		k, err := aesgcm.NewKey(make([]byte, size))
		if k != nil || err == nil || err.Error() != want.Error() {
			t.Errorf("NewKey with %d bytes: %v, %v; want %v", size, k, err, want)
		}
	}
}

func TestKeySizes(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		for _, n := range []int{0, 1, 15, 17, 23, 25, 31, 33, 64} {
			k, err := aesgcm.NewKey(make([]byte, n))
			var e fastmac.KeySizeError
			if k != nil || !errors.As(err, &e) || int(e) != n {
				t.Fatalf("key of %d bytes: %v, %v", n, k, err)
			}
			if want := fmt.Sprintf("fastmac: key of %d bytes: want 16, 24 or 32", n); err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
		}
		k := mactest.Must(aesgcm.NewKey(make([]byte, 16)))
		if k.NonceSize() != 12 || k.Overhead() != 16 {
			t.Errorf("NonceSize %d, Overhead %d; want 12, 16", k.NonceSize(), k.Overhead())
		}
		for _, n := range []int{0, 1, 11, 13, 16, 100} {
			want := fmt.Sprintf("nonce of %d bytes: want 12", n)
			mactest.MustPanic(t, "Seal", want, func() { k.Seal(nil, make([]byte, n), nil, nil) })
			mactest.MustPanic(t, "Open", want, func() { k.Open(nil, make([]byte, n), make([]byte, 16), nil) })
		}
	})
}

// TestInit checks that Init replaces the whole key, and does not change it if it fails.
func TestInit(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testInit) }

func testInit(t *testing.T) {
	nonce, plaintext := make([]byte, 12), bytes.Repeat([]byte("plaintext"), 100)
	var k aesgcm.Key
	for i, size := range []int{16, 32, 24, 16, 32, 24, 24, 16} {
		key := bytes.Repeat([]byte{byte(i)}, size)
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		fresh := mactest.Must(aesgcm.NewKey(key))
		if kernel.Active(kernel.GCM) != "stdlib" && !bytes.Equal(mactest.Contents(&k), mactest.Contents(fresh)) {
			t.Errorf("%d bytes: something is left of the former key", size)
		}
		clear(key) // is not retained
		want := fresh.Seal(nil, nonce, plaintext, nil)
		for _, bad := range []int{23, 0, 31} {
			if got := k.Seal(nil, nonce, plaintext, nil); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %x, want %x", size, got, want)
			}
			if err := k.Init(make([]byte, bad)); err != fastmac.KeySizeError(bad) {
				t.Errorf("Init with %d bytes: %v", bad, err)
			}
		}
	}
}

func TestDestroy(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testDestroy) }

func testDestroy(t *testing.T) {
	k := mactest.Must(aesgcm.NewKey(make([]byte, 32)))
	nonce, s := make([]byte, 12), k.NewSealer()
	k.Destroy()
	k.Destroy()
	if b := mactest.Contents(k); !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("Key is not all zeros after Destroy: %x", b)
	}
	new(aesgcm.Key).Destroy()
	for name, k := range map[string]*aesgcm.Key{"destroyed": k, "never set up": new(aesgcm.Key)} {
		for method, call := range map[string]func(){
			"Seal":       func() { k.Seal(nil, nonce, nil, nil) },
			"Open":       func() { k.Open(nil, nonce, make([]byte, 16), nil) },
			"Open short": func() { k.Open(nil, nonce, nil, nil) },
			"NewSealer":  func() { k.NewSealer() },
		} {
			mactest.MustPanic(t, name+" key: "+method, "destroyed or never set up", call)
		}
		if k.NonceSize() != 12 || k.Overhead() != 16 {
			t.Errorf("%s key: NonceSize %d, Overhead %d", name, k.NonceSize(), k.Overhead())
		}
	}
	mactest.MustPanic(t, "Seal of a Sealer", "destroyed or never set up", func() { s.Seal(nil, nil, nil, nil) })
	for n := 1; n < 20; n++ {
		want := fmt.Sprintf("aesgcm: Sealer chooses the nonce: pass nil, not %d bytes", n)
		live := mactest.Must(aesgcm.NewKey(make([]byte, 16))).NewSealer()
		mactest.MustPanic(t, "Seal with a nonce", want, func() { live.Seal(nil, make([]byte, n), nil, nil) })
		mactest.MustPanic(t, "Open with a nonce", want, func() { live.Open(nil, make([]byte, n), nil, nil) })
	}
	mactest.MustPanic(t, "Open of no Sealer", "NewSealer did not make", func() { new(aesgcm.Sealer).Open(nil, nil, nil, nil) })
	mactest.MustPanic(t, "Open of a Sealer, key destroyed", "aesgcm: use of a Key that was destroyed", func() { s.Open(nil, nil, nil, nil) })
	mactest.MustPanic(t, "Seal of no Sealer", "NewSealer did not make", func() { new(aesgcm.Sealer).Seal(nil, nil, nil, nil) })

	// A key that is set up again has all methods, and so have its Sealers.
	if err := k.Init(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if _, err := k.NewSealer().Open(nil, nil, s.Seal(nil, nil, nil, nil), nil); err != nil {
		t.Error(err)
	}
}

// TestPrinting checks that keys and Sealers print as their name and nothing else.
func TestPrinting(t *testing.T) {
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	k := mactest.Must(aesgcm.NewKey(bytes.Repeat([]byte{0xa7}, 32)))
	mactest.Printing(t, "aesgcm.Key", k)
	mactest.Printing(t, "aesgcm.Key", new(aesgcm.Key))
	mactest.Printing(t, "aesgcm.Sealer", k.NewSealer())
}

// TestSize checks the size of a Key: eight powers, fifteen round keys, and whether there is
// a key. A change belongs in CHANGELOG.md.
func TestSize(t *testing.T) {
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	if kernel.Active(kernel.GCM) == "stdlib" {
		t.Skip("the key is in crypto/cipher")
	}
	want := uintptr(8*16 + 15*16 + 8)
	if bits.UintSize == 32 {
		want = 8*16 + 15*16 + 4
	}
	if size := unsafe.Sizeof(aesgcm.Key{}); size != want {
		t.Errorf("Key has %d bytes, want %d", size, want)
	}
	typ := reflect.TypeFor[aesgcm.Key]()
	if found := pointers(typ); len(found) > 0 {
		t.Errorf("Key has pointers, and cannot be outside Go's memory: %v", found)
	}
}

// pointers returns the types in typ that have pointers, except for arrays of no elements.
func pointers(typ reflect.Type) (found []reflect.Type) {
	switch typ.Kind() {
	case reflect.Struct:
		for i := range typ.NumField() {
			found = append(found, pointers(typ.Field(i).Type)...)
		}
	case reflect.Array:
		if typ.Len() > 0 {
			found = pointers(typ.Elem())
		}
	case reflect.Bool, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Int:
	default:
		found = append(found, typ)
	}
	return found
}

func TestAllocations(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testAllocations) }

func testAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	key := make([]byte, 32)
	k := mactest.Must(aesgcm.NewKey(key))
	s := k.NewSealer()
	nonce, data, plaintext := make([]byte, 12), make([]byte, 13), make([]byte, 1500)
	dst, room := make([]byte, 0, 2000), make([]byte, 2000)
	sealed, withNonce := k.Seal(nil, nonce, plaintext, data), s.Seal(nil, nil, plaintext, data)
	inPlace, long := make([]byte, len(withNonce)), make([]byte, 1<<19+aesgcm.Overhead)
	for name, call := range map[string]func(){
		"Seal":                  func() { k.Seal(dst, nonce, plaintext, data) },
		"Seal in place":         func() { k.Seal(room[:0], nonce, room[:1500], data) },
		"Open":                  func() { k.Open(dst, nonce, sealed, data) },
		"Open with error":       func() { k.Open(dst, nonce, sealed[1:], data) },
		"Seal with much data":   func() { k.Seal(dst, nonce, plaintext[:40], plaintext) },
		"Seal of a long text":   func() { k.Seal(long[:0], nonce, long[:1<<19], plaintext) },
		"Open with much data":   func() { k.Open(dst, nonce, sealed[:40], plaintext) },
		"Open of a long text":   func() { k.Open(long[:0], nonce, long, data) },
		"Sealer":                func() { s.Seal(dst, nil, plaintext, data) },
		"Sealer in place":       func() { s.Seal(room[:0], nil, room[:1500], data) },
		"Sealer, Open":          func() { s.Open(dst, nil, withNonce, data) },
		"Sealer, Open in place": func() { copy(inPlace, withNonce); s.Open(inPlace[:0], nil, inPlace, data) },
	} {
		most := 0.0
		if kernel.Active(kernel.GCM) == "stdlib" && strings.HasPrefix(name, "Sealer, Open") {
			most = 1 // the nonce, which crypto/cipher could keep
		}
		if n := testing.AllocsPerRun(100, call); n > most {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
	if kernel.Active(kernel.GCM) == "stdlib" {
		t.Skip("Init allocates: it is crypto/cipher's")
	}
	if n := testing.AllocsPerRun(100, func() { k.Init(key) }); n != 0 {
		t.Errorf("Init makes %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { aesgcm.NewKey(key) }); n > 1 {
		t.Errorf("NewKey makes %v allocations", n)
	}
}

// TestConcurrent uses one key and one Sealer in 1,000 goroutines. What they seal is compared
// with what one goroutine does; the race detector watches. No nonce may come twice.
func TestConcurrent(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testConcurrent) }

func testConcurrent(t *testing.T) {
	const goroutines, calls = 1000, 5
	rng := rand.NewChaCha8([32]byte([]byte("testConcurrent, a seed, 32 bytes")))
	k := mactest.Must(aesgcm.NewKey(mactest.Random(rng, 32)))
	s, text := k.NewSealer(), mactest.Random(rng, 2700)
	lengths := []int{0, 1, 16, 100, 256, 1000, 2700}
	var nonces, wants [][]byte
	for i, length := range lengths {
		nonces = append(nonces, mactest.Random(rng, 12))
		wants = append(wants, k.Seal(nil, nonces[i], text[:length], text))
	}
	seen := make(map[[12]byte]bool)
	var mu sync.Mutex
	mactest.Concurrently(goroutines, func(g int) {
		for i := range calls {
			i = (g + i) % len(lengths)
			plaintext, nonce := text[:lengths[i]], nonces[i]
			if got := k.Seal(nil, nonce, plaintext, text); !bytes.Equal(got, wants[i]) {
				t.Errorf("%d bytes: Seal: %x, want %x", len(plaintext), got, wants[i])
			}
			got, err := k.Open(nil, nonce, wants[i], text)
			if err != nil || !bytes.Equal(got, plaintext) {
				t.Error("Open: ", err)
			}
			sealed := s.Seal(nil, nil, plaintext, nonce)
			got, err = s.Open(nil, nil, sealed, nonce)
			if err != nil || !bytes.Equal(got, plaintext) {
				t.Error("Sealer: ", err)
			}
			mu.Lock()
			seen[[12]byte(sealed)] = true
			mu.Unlock()
		}
	})
	if len(seen) != goroutines*calls {
		t.Errorf("%d nonces in %d calls", len(seen), goroutines*calls)
	}
}

// TestLimit checks the longest plaintext: 2^32 - 2 blocks, section 5.2.1.1.
func TestLimit(t *testing.T) {
	const limit = 64<<30 - 32
	for n, want := range map[uint64]bool{0: true, limit - 1: true, limit: true, limit + 1: false, 64 << 30: false, 1<<64 - 1: false} {
		if got := aesgcm.IsText(n); got != want {
			t.Errorf("plaintext of %d bytes: %v, want %v", n, got, want)
		}
	}
}
