// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

func TestGMACContract(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACContract) }

func testGMACContract(t *testing.T) {
	k, nonce := mactest.Must(fastmac.NewGMACKey([]byte("0123456789abcdef"))), []byte("twelve bytes")
	t.Run("stream", func(t *testing.T) {
		mactest.TestHash(t, mactest.Subject{
			New:       func() hash.Hash { return k.New() },
			Nonce:     nonce,
			Methods:   []string{"Tag", "Bind", "Destroy", "Verify"},
			Allocates: kernel.Active(kernel.GCM) == "stdlib", // crypto/cipher does
		})
	})
	t.Run("Bind", func(t *testing.T) {
		mactest.TestHash(t, mactest.Subject{
			New: func() hash.Hash {
				return k.New().Bind(nonce)
			},
			Methods:   []string{"Destroy"},
			Allocates: kernel.Active(kernel.GCM) == "stdlib",
		})
	})
}

// TestGMACVerify flips every bit of the tag, the nonce and the message, and passes tags and
// nonces of other sizes.
func TestGMACVerify(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACVerify) }

func testGMACVerify(t *testing.T) {
	for _, size := range []int{0, 1, 16, 40, 257} {
		nonce, msg := []byte("twelve bytes"), bytes.Repeat([]byte{'m'}, size)
		k := mactest.Must(fastmac.NewGMACKey([]byte("0123456789abcdef0123456789ABCDEF")))
		tag := k.Tag(nil, nonce, msg)
		verify := func(tag, nonce []byte) bool {
			t.Helper()
			got := k.Verify(tag, nonce, msg)
			m := k.New()
			m.Write(msg)
			if stream := m.Verify(tag, nonce); stream != got {
				t.Errorf("GMACKey.Verify %v, GMAC.Verify %v", got, stream)
			}
			return got
		}
		if !verify(tag, nonce) {
			t.Errorf("%d bytes: the right tag is refused", size)
		}
		for name, b := range map[string][]byte{"tag": tag, "nonce": nonce, "message": msg} {
			for bit := range 8 * len(b) {
				b[bit/8] ^= 1 << (bit % 8)
				if verify(tag, nonce) {
					t.Errorf("%d bytes: accepted with bit %d of the %s flipped", size, bit, name)
				}
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		for n := range 41 {
			if n != 16 && verify(append(tag, tag...)[:min(n, 32)], nonce) {
				t.Errorf("%d bytes: accepted a tag of %d bytes", size, min(n, 32))
			}
			if n != 12 && verify(tag, append(bytes.Clone(nonce), make([]byte, 40)...)[:n]) {
				t.Errorf("%d bytes: accepted a nonce of %d bytes", size, n)
			}
		}
		if verify(nil, nonce) || verify(tag, nil) || verify(nil, nil) {
			t.Errorf("%d bytes: accepted nil", size)
		}
	}
}

// TestGMACPrinting checks that keys and streams print as their name and nothing else.
// TestBindCopies writes to a stream and to the hash that Bind has returned.
func TestBindCopies(t *testing.T) {
	nonce := []byte("twelve bytes")
	check := func(name string, u, bound hash.Hash, tag func(msg string) []byte) {
		u.Write([]byte("b"))
		bound.Write([]byte("b"))
		u.Write([]byte("c"))
		if got, want := bound.Sum(nil), tag("ab"); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
		bound.Reset()
		if got, want := u.Sum(bytes.Clone(nonce)), tag("abc"); !bytes.Equal(got, want) {
			t.Errorf("%s: the stream has %x, want %x", name, got, want)
		}
	}
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 8))
	u := k.New()
	u.WriteString("a")
	check("UMAC", u, u.Bind(nonce), func(msg string) []byte { return k.Tag(nil, nonce, []byte(msg)) })
	if fastmac.RequireGCM() == nil {
		k := mactest.Must(fastmac.NewGMACKey(make([]byte, 16)))
		m := k.New()
		m.WriteString("a")
		check("GMAC", m, m.Bind(nonce), func(msg string) []byte { return k.Tag(nil, nonce, []byte(msg)) })
	}
}

// TestGMACCloneLength clones a stream whose length takes all bits.
func TestGMACCloneLength(t *testing.T) {
	mactest.EachKernel(t, mactest.GCM, func(string) {
		m := mactest.Must(fastmac.NewGMAC(make([]byte, 16)))
		want := mactest.Field(m, "length")
		copy(want, "\xff\xff\xff\xff\xff\xff\xff\xff")
		if got := mactest.Field(mactest.Must(m.Clone()), "length"); !bytes.Equal(got, want) {
			t.Errorf("length %x, want %x", got, want)
		}
	})
}

func TestGMACPrinting(t *testing.T) {
	k, m := new(fastmac.GMACKey), new(fastmac.GMAC)
	mactest.Printing(t, "fastmac.GMACKey(128-bit tag)", k)
	mactest.Printing(t, "fastmac.GMAC(128-bit tag)", m)
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	k = mactest.Must(fastmac.NewGMACKey(bytes.Repeat([]byte{0xa7}, 32)))
	mactest.Printing(t, "fastmac.GMACKey(128-bit tag)", k)
	m = k.New()
	mactest.Printing(t, "fastmac.GMAC(128-bit tag)", m)
	mactest.Printing(t, "fastmac.GMAC(128-bit tag)", m.Bind([]byte("\xa7 and eleven")))
}

func TestGMACAllocations(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACAllocations) }

func testGMACAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	key, msg, nonce, dst := make([]byte, 32), make([]byte, 1500), make([]byte, 12), make([]byte, 0, 16)
	k := mactest.Must(fastmac.NewGMACKey(key))
	if kernel.Active(kernel.GCM) == "stdlib" {
		t.Skip("crypto/cipher allocates")
	}
	m := mactest.Must(fastmac.NewGMACKey(key)).New() // one of k would be of the key before Init
	tag := k.Tag(nil, nonce, msg)
	for name, call := range map[string]func(){
		"Tag":    func() { k.Tag(dst, nonce, msg) },
		"Verify": func() { k.Verify(tag, nonce, msg) },
		"Init":   func() { k.Init(key) },
		"stream": func() { m.Reset(); m.Write(msg); m.Tag(dst, nonce); m.Verify(tag, nonce) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
	for name, call := range map[string]func(){
		"NewGMACKey": func() { fastmac.NewGMACKey(key) },
		"NewGMAC":    func() { fastmac.NewGMAC(key) },
		"New":        func() { k.New() },
	} {
		if n := testing.AllocsPerRun(100, call); n > 1 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

// TestGMACConcurrent uses one key in 1,000 goroutines, each with streams and clones of its
// own. The tags are compared with those of one goroutine; the race detector watches.
func TestGMACConcurrent(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACConcurrent) }

func testGMACConcurrent(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testGMACConcurrent, 32-byte seed")))
	k, msg := mactest.Must(fastmac.NewGMACKey(mactest.Random(rng, 16))), mactest.Random(rng, 2100)
	lengths := []int{0, 1, 16, 100, 128, 500, 2100}
	var nonces, wants [][]byte
	for i, length := range lengths {
		nonces = append(nonces, mactest.Random(rng, 12))
		wants = append(wants, k.Tag(nil, nonces[i], msg[:length]))
	}
	mactest.Concurrently(1000, func(g int) {
		m := k.New()
		for i := range 5 {
			i = (g + i) % len(lengths)
			msg, nonce, want := msg[:lengths[i]], nonces[i], wants[i]
			if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) || !k.Verify(want, nonce, msg) {
				t.Errorf("%d bytes: tag %x, want %x", len(msg), got, want)
			}
			half := len(msg) / 2
			m.Reset()
			m.Write(msg[:half])
			c, _ := m.Clone()
			m.Write([]byte("not the clone's"))
			c.Write(msg[half:])
			if got := c.(*fastmac.GMAC).Tag(nil, nonce); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: tag of a stream %x, want %x", len(msg), got, want)
			}
		}
	})
}

func TestGMACSizes(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACSizes) }

func testGMACSizes(t *testing.T) {
	for _, n := range []int{0, 1, 15, 17, 23, 25, 31, 33, 64} {
		k, err := fastmac.NewGMACKey(make([]byte, n))
		var e fastmac.KeySizeError
		if k != nil || !errors.As(err, &e) || int(e) != n {
			t.Fatalf("key of %d bytes: %v, %v", n, k, err)
		}
		if want := fmt.Sprintf("fastmac: key of %d bytes: want 16, 24 or 32", n); err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	for _, n := range []int{16, 24, 32} {
		if k := mactest.Must(fastmac.NewGMACKey(make([]byte, n))); k.Size() != 16 {
			t.Errorf("Size %d, want 16", k.Size())
		}
	}
	k := mactest.Must(fastmac.NewGMACKey(make([]byte, 16)))
	for _, n := range []int{0, 1, 11, 13, 16, 100} {
		mactest.MustPanic(t, "Tag", fmt.Sprintf("nonce of %d bytes: want 12", n), func() { k.Tag(nil, make([]byte, n), nil) })
	}
	m := k.New()
	for _, n := range []int{0, 1, 11, 13, 16, 100} {
		nonce, want := make([]byte, n), fmt.Sprintf("fastmac: GMAC nonce of %d bytes: want 12", n)
		mactest.MustPanic(t, "Tag", want, func() { m.Tag(nil, nonce) })
		mactest.MustPanic(t, "Bind", want, func() { m.Bind(nonce) })
		mactest.MustPanic(t, "Sum", fmt.Sprintf("fastmac: GMAC.Sum takes the nonce, 12 bytes, and got %d: for code that calls Sum(nil) use Bind", n), func() { m.Sum(nonce) })
	}
	mactest.MustPanic(t, "Sum(nil)", "and got 0", func() { m.Sum(nil) })
}

func TestNewGMAC(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testNewGMAC) }

func testNewGMAC(t *testing.T) {
	key, nonce, msg := []byte("0123456789abcdef"), []byte("twelve bytes"), []byte("message")
	k := mactest.Must(fastmac.NewGMACKey(key))
	m, err := fastmac.NewGMAC(key)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(msg)
	want := k.Tag(nil, nonce, msg)
	if got := m.Tag([]byte("x"), nonce); string(got) != "x"+string(want) {
		t.Errorf("tag %x, want %x", got, want)
	}
	if m.Size() != 16 || m.BlockSize() != 16 {
		t.Errorf("Size %d, BlockSize %d; want 16, 16", m.Size(), m.BlockSize())
	}
	if m, err := fastmac.NewGMAC(key[:15]); m != nil || !errors.Is(err, fastmac.KeySizeError(15)) {
		t.Errorf("key of 15 bytes: %v, %v", m, err)
	}
}

// TestGMACUnsupported checks the errors without the instructions. They do not depend on the key.
func TestGMACUnsupported(t *testing.T) {
	want := fastmac.RequireGCM()
	if want == nil {
		t.Skip("GMAC can be used")
	}
	for _, size := range []int{0, 16, 33} {
		key := make([]byte, size)
		if k, err := fastmac.NewGMACKey(key); k != nil || err == nil || err.Error() != want.Error() {
			t.Errorf("NewGMACKey with %d bytes: %v, %v; want %v", size, k, err, want)
		}
		if m, err := fastmac.NewGMAC(key); m != nil || err == nil || err.Error() != want.Error() {
			t.Errorf("NewGMAC with %d bytes: %v, %v; want %v", size, m, err, want)
		}
	}
}

// TestGMACInit checks that Init replaces the whole key, and does not change it if it fails.
func TestGMACInit(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACInit) }

func testGMACInit(t *testing.T) {
	nonce, msg := make([]byte, 12), bytes.Repeat([]byte("message"), 1000)
	var k fastmac.GMACKey
	for i, size := range []int{32, 16, 24, 32, 24, 16, 16} {
		key := bytes.Repeat([]byte{byte(i)}, size)
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		fresh := mactest.Must(fastmac.NewGMACKey(key))
		if kernel.Active(kernel.GCM) != "stdlib" && !bytes.Equal(mactest.Contents(&k), mactest.Contents(fresh)) {
			t.Errorf("%d bytes: something is left of the former key", size)
		}
		clear(key) // is not retained
		want := fresh.Tag(nil, nonce, msg)
		for _, bad := range []int{0, 15, 33} {
			if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: tag %x, want %x", size, got, want)
			}
			if err := k.Init(make([]byte, bad)); err != fastmac.KeySizeError(bad) {
				t.Errorf("Init with %d bytes: %v", bad, err)
			}
		}
	}
}

// TestGMACOverlap writes results over the arguments that they are computed from.
func TestGMACOverlap(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACOverlap) }

func testGMACOverlap(t *testing.T) {
	k := mactest.Must(fastmac.NewGMACKey(make([]byte, 16)))
	for n := range 200 {
		memory := bytes.Repeat([]byte("message"), 50)
		nonce, msg := memory[100:112], memory[110:][:n]
		want := k.Tag(nil, bytes.Clone(nonce), bytes.Clone(msg))
		for _, at := range []int{90, 100, 105, 110, 112, 110 + n/2, 110 + n} {
			m := bytes.Clone(memory)
			if got := k.Tag(m[at:at], m[100:112], m[110:][:n]); !bytes.Equal(got, want) || &got[0] != &m[at] {
				t.Errorf("%d bytes, tag at %d: %x, want %x", n, at, got, want)
			}
			stream := k.New()
			m = bytes.Clone(memory)
			stream.Write(m[110:][:n])
			if got := stream.Tag(m[at:at], m[100:112]); !bytes.Equal(got, want) || &got[0] != &m[at] {
				t.Errorf("%d bytes, stream's tag at %d: %x, want %x", n, at, got, want)
			}
		}
	}
}

func TestGMACDestroy(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACDestroy) }

func testGMACDestroy(t *testing.T) {
	nonce := make([]byte, 12)
	k := mactest.Must(fastmac.NewGMACKey(make([]byte, 16)))
	k.Destroy()
	k.Destroy()
	new(fastmac.GMACKey).Destroy()
	if b := mactest.Contents(k); !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("GMACKey is not all zeros after Destroy: %x", b)
	}
	for name, k := range map[string]*fastmac.GMACKey{"destroyed": k, "never set up": new(fastmac.GMACKey)} {
		for method, call := range map[string]func(){
			"Tag":        func() { k.Tag(nil, nonce, nil) },
			"Verify":     func() { k.Verify(make([]byte, 16), nonce, nil) },
			"Verify nil": func() { k.Verify(nil, nil, nil) },
			"Size":       func() { k.Size() },
			"New":        func() { k.New() },
		} {
			mactest.MustPanic(t, name+" key: "+method, "destroyed or never set up", call)
		}
	}
}

func TestGMACStreamDestroy(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, testGMACStreamDestroy)
}

func testGMACStreamDestroy(t *testing.T) {
	key, nonce := make([]byte, 16), make([]byte, 12)
	k := mactest.Must(fastmac.NewGMACKey(key))
	shared, other, bound := k.New(), k.New(), k.New()
	own, err := fastmac.NewGMAC(key)
	if err != nil {
		t.Fatal(err)
	}
	ownClone, err := own.Clone()
	if err != nil {
		t.Fatal(err)
	}
	h := bound.Bind(nonce)

	// Destroying a stream or a bound hash of a key does not destroy the key.
	other.Write(make([]byte, 100))
	other.Destroy()
	other.Destroy()
	if b := mactest.Contents(other); !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("GMAC is not all zeros after Destroy: %x", b)
	}
	destroyed := bound.Bind(nonce)
	destroyed.(interface{ Destroy() }).Destroy()
	mactest.MustPanic(t, "destroyed bound hash: Write", "destroyed", func() { destroyed.Write(nil) })
	k.Tag(nil, nonce, nil)
	// Nor does destroying a clone.
	c, _ := own.Clone()
	c.(*fastmac.GMAC).Destroy()
	own.Sum(bytes.Clone(nonce))

	own.Destroy()
	own.Destroy()
	k.Destroy()
	for name, m := range map[string]*fastmac.GMAC{
		"own key": own, "clone of own key": ownClone.(*fastmac.GMAC), "shared key": shared,
		"destroyed": other, "never set up": new(fastmac.GMAC),
	} {
		for method, call := range map[string]func(){
			"Write":     func() { m.Write(nil) },
			"Sum":       func() { m.Sum(bytes.Clone(nonce)) },
			"Tag":       func() { m.Tag(nil, nonce) },
			"Verify":    func() { m.Verify(nil, nil) },
			"Bind":      func() { m.Bind(nonce) },
			"Reset":     func() { m.Reset() },
			"Size":      func() { m.Size() },
			"BlockSize": func() { m.BlockSize() },
			"Clone":     func() { m.Clone() },
		} {
			mactest.MustPanic(t, name+": "+method, "destroyed or never set up", call)
		}
	}
	for method, call := range map[string]func(){
		"Write":     func() { h.Write(nil) },
		"Sum":       func() { h.Sum(nil) },
		"Reset":     func() { h.Reset() },
		"Size":      func() { h.Size() },
		"BlockSize": func() { h.BlockSize() },
		"Clone":     func() { h.Clone() },
	} {
		mactest.MustPanic(t, "bound: "+method, "destroyed or never set up", call)
	}
}

// TestGMACBoundWiped checks that Destroy of a bound hash overwrites it, and its stream.
func TestGMACBoundWiped(t *testing.T) {
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	h := mactest.Must(fastmac.NewGMACKey(make([]byte, 16))).New().Bind([]byte("twelve bytes"))
	h.Write(make([]byte, 100))
	h.(interface{ Destroy() }).Destroy()
	for _, field := range []string{"stream.sum", "stream.rest", "stream.length", "nonce", "nonceSize"} {
		if b := mactest.Field(h, field); !bytes.Equal(b, make([]byte, len(b))) {
			t.Errorf("%s is not all zeros after Destroy: %x", field, b)
		}
	}
}
