// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hmac

import (
	"bytes"
	"crypto"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/made"
	"example.com/fastmac/internal/sha2"
)

// standard is whether all HMACs are crypto/hmac's, in FIPS 140 mode and with BoringCrypto.
var standard = fips140.Enabled() || strings.Contains(fmt.Sprintf("%T", sha256.New()), "boring")

func init() { sha2.ChooseAll() } // for package mactest

// embedded is a hash that only looks like SHA-256.
type embedded struct{ hash.Hash }

func (e embedded) Sum(b []byte) []byte { return append(b, make([]byte, sha256.Size)...) }

// blake has the sizes of BLAKE2b-512, which are those of SHA-512.
type blake struct{ hash.Hash }

func (blake) Size() int      { return 64 }
func (blake) BlockSize() int { return 128 }

func (b blake) Sum(p []byte) []byte { return append(b.Hash.Sum(p), make([]byte, 64-sha256.Size)...) }

// A maker is a function that makes hashes, and whether New knows that they are SHA-2.
type maker struct {
	name string
	make func() hash.Hash
	ours bool
}

func init() {
	for _, h := range sha2.Hashes {
		if h != nil {
			makers = append(makers, maker{h.ID.String(), h.New, true}, maker{"crypto.Hash " + h.ID.String(), h.ID.New, true})
		}
	}
}

var makers = []maker{
	{"closure", func() hash.Hash { return sha256.New() }, false},
	{"closure with a variable", func() func() hash.Hash { h := crypto.SHA384; return func() hash.Hash { return h.New() } }(), false},
	{"used SHA-256", func() hash.Hash { h := sha256.New(); h.Write([]byte("domain")); return h }, false},
	{"crypto.SHA1", crypto.SHA1.New, true},
	{"sha1.New", sha1.New, true},
	{"md5.New", md5.New, false},
	{"SHA3-256", func() hash.Hash { return sha3.New256() }, false},
	{"SHA3-512", crypto.SHA3_512.New, false},
	{"FNV", func() hash.Hash { return fnv.New128a() }, false},
	{"embedded SHA-256", func() hash.Hash { return embedded{sha256.New()} }, false},
	{"the sizes of SHA-512", func() hash.Hash { return &blake{sha256.New()} }, false},
	{"HMAC as a hash", func() hash.Hash { return hmac.New(sha256.New, nil) }, false},
	{"fastmac as a hash", func() hash.Hash { return New(sha256.New, nil) }, false},
}

// TestNew compares New with that of crypto/hmac, with hashes of all kinds.
func TestNew(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testNew) }

func testNew(t *testing.T) {
	skipEnforced(t)
	for _, m := range makers {
		t.Run(m.name, func(t *testing.T) {
			for _, keySize := range []int{0, 1, 32, 63, 64, 65, 128, 129, 500} {
				key := bytes.Repeat([]byte{byte(keySize)}, keySize)
				ours, theirs := New(m.make, key), hmac.New(m.make, key)
				if _, ok := ours.(*fastmac.HMAC); ok != (m.ours && !standard) {
					t.Fatalf("it is a %T", ours)
				}
				if ours.Size() != theirs.Size() || ours.BlockSize() != theirs.BlockSize() {
					t.Errorf("sizes %d and %d, want %d and %d", ours.Size(), ours.BlockSize(), theirs.Size(), theirs.BlockSize())
				}
				for n := range 3 {
					for _, h := range []hash.Hash{ours, theirs} {
						io.WriteString(h, "a message")
						h.Write(make([]byte, 100*n))
					}
					if got, want := ours.Sum([]byte("prefix")), theirs.Sum([]byte("prefix")); !bytes.Equal(got, want) {
						t.Errorf("key of %d bytes, message %d: %x, want %x", keySize, n, got, want)
					}
					if n == 1 {
						ours.Reset()
						theirs.Reset()
					}
				}
			}
		})
	}
}

// TestCalls counts how often New calls a function of the program: as often as that of crypto/hmac.
func TestCalls(t *testing.T) {
	skipEnforced(t)
	calls := 0
	f := func() hash.Hash { calls++; return sha256.New() }
	hmac.New(f, nil)
	want := calls
	if New(f, nil); calls != 2*want {
		t.Errorf("%d calls, want %d", calls-want, want)
	}
}

func skipEnforced(t *testing.T) {
	if kernel.FIPSEnforced() {
		t.Skip("GODEBUG=fips140=only refuses most of this")
	}
}

// TestOneEntry calls New with functions that have the same code and make different hashes.
func TestOneEntry(t *testing.T) {
	skipEnforced(t)
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA1, crypto.SHA512, crypto.MD5, crypto.SHA3_256, crypto.SHA224} {
		for i, f := range []func() hash.Hash{h.New, func() hash.Hash { return h.New() }} {
			m := New(f, []byte("key"))
			want := hmac.New(h.New, []byte("key"))
			if got, want := m.Sum(nil), want.Sum(nil); !bytes.Equal(got, want) {
				t.Errorf("%v: %x, want %x", h, got, want)
			}
			ours := i == 0 && (h == crypto.SHA1 || h == crypto.SHA224 || h == crypto.SHA256 || h == crypto.SHA512)
			if _, ok := m.(*fastmac.HMAC); ok != (ours && !standard) {
				t.Errorf("%v: it is a %T", h, m)
			}
		}
	}
}

// TestPanics compares panics with those of crypto/hmac.
func TestPanics(t *testing.T) {
	same := sha256.New()
	used := sha1.New()
	for name, f := range map[string]func() hash.Hash{
		"nil":                func() hash.Hash { return nil },
		"the same SHA-256":   func() hash.Hash { return same },
		"the same SHA-1":     func() hash.Hash { return used },
		"not linked":         crypto.BLAKE2b_512.New,
		"a nil pointer":      func() hash.Hash { return (*blake)(nil) },
		"a panic of its own": func() hash.Hash { panic("mine") },
		"no function":        nil,
	} {
		message := func(newHMAC func(func() hash.Hash, []byte) hash.Hash) (message string) {
			defer func() { message = fmt.Sprint(recover()) }()
			newHMAC(f, []byte("key"))
			return "none"
		}
		if got, want := message(New), message(hmac.New); got != want || got == "none" {
			t.Errorf("%s: panic %s, want %s", name, got, want)
		}
	}
}

// TestMethods checks what a stream has besides what crypto/hmac's has.
func TestMethods(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testMethods) }

func testMethods(t *testing.T) {
	if standard {
		t.Skip("it is crypto/hmac's")
	}
	t.Run("SHA-384", func(t *testing.T) { testMethodsOf(t, sha512.New384) })
	t.Run("SHA-1", func(t *testing.T) { testMethodsOf(t, sha1.New) })
}

func testMethodsOf(t *testing.T, f func() hash.Hash) {
	key := []byte("a key that is overwritten")
	m := New(f, key).(interface {
		hash.Cloner
		io.StringWriter
		Verify(tag []byte) bool
		Destroy()
	})
	clear(key)
	m.WriteString("mess")
	c, err := m.Clone()
	if err != nil {
		t.Fatal(err)
	}
	m.WriteString("age")
	c.Write([]byte("age"))
	want := hmac.New(f, []byte("a key that is overwritten"))
	want.Write([]byte("message"))
	tag := want.Sum(nil)
	if !m.Verify(tag) || !Equal(c.Sum(nil), tag) || m.Verify(tag[1:]) || Equal(tag, tag[1:]) {
		t.Error("another tag")
	}
	m.Destroy()
	defer func() {
		if recover() == nil {
			t.Error("a clone is used after its key has been destroyed")
		}
	}()
	c.Sum(nil)
}

// TestAllocations counts what a tag under a new key allocates: the stream and the tag, or one more than with
// crypto/hmac.
func TestAllocations(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testAllocations) }

func testAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	if standard {
		t.Skip("it is crypto/hmac's")
	}
	key := make([]byte, 32)
	for name, f := range map[string]func() hash.Hash{"sha256.New": sha256.New, "crypto.SHA512.New": crypto.SHA512.New, "sha1.New": sha1.New} {
		allocations := func(newHMAC func(func() hash.Hash, []byte) hash.Hash) float64 {
			return testing.AllocsPerRun(100, func() {
				m := newHMAC(f, key)
				m.Write(key)
				m.Sum(nil)
			})
		}
		want := 2.0
		switch {
		case made.SHA1(f):
			want = 4 // with the hash, and what is around it
		case !made.Hash(f).HasAssembly():
			want = allocations(hmac.New) + 1
		}
		if n := allocations(New); n > want {
			t.Errorf("%s: %v allocations, want %v", name, n, want)
		}
	}
}

// TestStack compares how much of a new goroutine's stack may be in use already when New, Write and Sum are called,
// and does not have to grow for them: as much as with crypto/hmac, or more. To grow takes longer than the HMAC.
func TestStack(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testStack) }

func testStack(t *testing.T) {
	if standard || mactest.Race {
		t.Skip("it is crypto/hmac's, or other code")
	}
	key, msg, tag := make([]byte, 32), make([]byte, 100), make([]byte, 0, 64)
	for _, m := range makers {
		known := made.Hash(m.make)
		if made.SHA1(m.make) {
			known = sha2.Of(crypto.SHA256) // if that has assembly, SHA-1 has
		}
		if !m.ours || !known.HasAssembly() {
			continue // it is crypto/hmac, in the frames of New
		}
		ours := room(func() { use(New(m.make, key), msg, tag) })
		theirs := room(func() { use(hmac.New(m.make, key), msg, tag) })
		if want := max(theirs, 1); ours < want { // with SHA-512, crypto/hmac's has no room
			t.Errorf("%s: %d frames, want %d", m.name, ours, want)
		}
	}
}

func use(m hash.Hash, msg, tag []byte) {
	m.Write(msg)
	m.Sum(tag)
}

// room returns how many frames of below may be on the stack of a new goroutine that calls f, so that the stack
// does not grow.
func room(f func()) int {
	f()
	for n := 0; ; n++ {
		always := true // the allocator needs more of the stack now and then
		for range 3 {
			always = always && grows(n, f)
		}
		if always {
			return n
		}
	}
}

func grows(frames int, f func()) bool {
	moved := make(chan bool)
	go func() {
		below(frames, func() {
			var b byte
			before := uintptr(unsafe.Pointer(&b))
			f()
			moved <- uintptr(unsafe.Pointer(&b)) != before
		})
	}()
	return <-moved
}

//go:noinline
func below(frames int, f func()) {
	if frames > 0 {
		below(frames-1, f)
		return
	}
	f()
}

func BenchmarkNew(b *testing.B) {
	key, msg := make([]byte, 32), make([]byte, 32)
	for _, h := range []struct {
		name string
		f    func() hash.Hash
	}{
		{"sha256.New", sha256.New},
		{"crypto.SHA256.New", crypto.SHA256.New},
		{"closure", func() hash.Hash { return sha256.New() }},
		{"sha512.New", sha512.New},
		{"sha1.New", sha1.New},
		{"SHA3-256", func() hash.Hash { return sha3.New256() }},
	} {
		for _, impl := range []struct {
			name string
			f    func(func() hash.Hash, []byte) hash.Hash
		}{{"fastmac", New}, {"crypto", hmac.New}} {
			b.Run(h.name+"/"+impl.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := impl.f(h.f, key)
					m.Write(msg)
					m.Sum(nil)
				}
			})
		}
	}
}
