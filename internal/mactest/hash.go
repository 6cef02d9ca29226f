// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package mactest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"go/version"
	"hash"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"testing"
)

// Subject is a hash to run the contract suite on.
type Subject struct {
	New func() hash.Hash

	// Nonce, if it is not nil, is the argument of Sum, instead of a slice to
	// append to.
	Nonce []byte

	// Methods names the exported methods of the type besides those of
	// hash.Cloner and those that print its name.
	Methods []string

	// Allocates is true if a tag may allocate.
	Allocates bool
}

// TestHash checks what hash.Hash and hash.Cloner promise, and that nothing is
// allocated except where s says so, on new hashes and on clones of used ones.
func TestHash(t *testing.T, s Subject) {
	s.test(t)
	if c, ok := s.New().(hash.Cloner); ok {
		if _, err := c.Clone(); CannotClone(err) {
			return
		}
	}
	clones := s
	clones.New = func() hash.Hash {
		h := s.New()
		h.Write([]byte("before the clone"))
		c, err := h.(hash.Cloner).Clone()
		if err != nil {
			panic(err)
		}
		h.Write([]byte("not the clone's"))
		c.Reset()
		return c
	}
	t.Run("clone", clones.test)
	if !t.Failed() {
		t.Logf("%T, tags of %d bytes: %d checks, each on new hashes and on clones", s.New(), s.New().Size(), len(checks))
	}
}

// checks are those of the contract.
var checks = []struct {
	name  string
	check func(Subject, *testing.T)
}{
	{"Size", Subject.testSize},
	{"Methods", Subject.testMethods},
	{"Sum", Subject.testSum},
	{"SumStorage", Subject.testSumStorage},
	{"Reset", Subject.testReset},
	{"Write", Subject.testWrite},
	{"Bounds", Subject.testBounds},
	{"Splits", Subject.testSplits},
	{"Clone", Subject.testClone},
	{"Bits", Subject.testBits},
	{"Allocations", Subject.testAllocations},
}

func (s Subject) test(t *testing.T) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.check(s, t) })
	}
}

// lengths are those at which blocks and groups of any hash here begin or end.
var lengths = []int{0, 1, 3, 4, 5, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000,
	1023, 1024, 1025, 1028, 1029, 2047, 2048, 2049, 3072, 4096, 4100, 5000}

// sum returns the tag in new storage.
func (s Subject) sum(h hash.Hash) []byte {
	if s.Nonce != nil {
		return h.Sum(bytes.Clone(s.Nonce))
	}
	return h.Sum(nil)
}

// of returns the tag of a message that is written to a new hash in one piece.
func (s Subject) of(t *testing.T, msg []byte) []byte {
	t.Helper()
	h := s.New()
	write(t, h, msg)
	return s.sum(h)
}

func write(t *testing.T, h hash.Hash, p []byte) {
	t.Helper()
	if n, err := h.Write(p); n != len(p) || err != nil {
		t.Fatalf("Write of %d bytes: %d, %v", len(p), n, err)
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func (s Subject) testSize(t *testing.T) {
	h := s.New()
	size, block := h.Size(), h.BlockSize()
	if size <= 0 || block <= 0 {
		t.Fatalf("Size %d, BlockSize %d", size, block)
	}
	for _, n := range lengths {
		write(t, h, random(n))
		if got := s.sum(h); len(got) != size {
			t.Errorf("tag of %d bytes, Size %d", len(got), size)
		}
		if h.Size() != size || h.BlockSize() != block {
			t.Errorf("after %d bytes: Size %d, BlockSize %d; were %d, %d", n, h.Size(), h.BlockSize(), size, block)
		}
	}
}

func (s Subject) testMethods(t *testing.T) {
	known := make(map[string]bool)
	for _, name := range s.Methods {
		known[name] = true
	}
	for _, i := range []reflect.Type{
		reflect.TypeFor[hash.Cloner](), reflect.TypeFor[fmt.Formatter](),
		reflect.TypeFor[fmt.Stringer](), reflect.TypeFor[io.StringWriter](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		for m := range i.NumMethod() {
			known[i.Method(m).Name] = true
		}
	}
	typ := reflect.TypeOf(s.New())
	for _, name := range s.Methods {
		if _, ok := typ.MethodByName(name); !ok {
			t.Errorf("%v has no method %s", typ, name)
		}
	}
	for m := range typ.NumMethod() {
		if name := typ.Method(m).Name; !known[name] {
			t.Errorf("%v has the method %s", typ, name)
		}
	}
}

func (s Subject) testSum(t *testing.T) {
	for _, n := range lengths {
		msg := random(n)
		h := s.New()
		write(t, h, msg)
		first := s.sum(h)
		if second := s.sum(h); !bytes.Equal(first, second) {
			t.Errorf("%d bytes: Sum %x, then %x", n, first, second)
		}
		more := random(100)
		write(t, h, more)
		if got, want := s.sum(h), s.of(t, append(msg, more...)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes, Sum, %d bytes: %x, want %x", n, len(more), got, want)
		}
	}
}

// testSumStorage checks where Sum writes the tag, and that it writes nothing else.
func (s Subject) testSumStorage(t *testing.T) {
	h := s.New()
	write(t, h, []byte("storage"))
	want := s.sum(h)
	for _, prefix := range []int{0, 1, 8, 100} {
		in := random(prefix)
		at := prefix // where the tag begins
		if s.Nonce != nil {
			in, at = s.Nonce, 0
		}
		for _, room := range []int{0, 1, h.Size() - 1, h.Size(), h.Size() + 1, h.Size() + 50} {
			storage := random(max(len(in), at+room))
			copy(storage, in)
			before := bytes.Clone(storage)
			got := h.Sum(storage[:len(in):len(storage)])

			if !bytes.Equal(got, append(bytes.Clone(in[:at]), want...)) {
				t.Fatalf("%d bytes of room: Sum(%x) = %x, want the tag %x from byte %d", room, in, got, want, at)
			}
			fits := len(storage) >= at+h.Size()
			if fits {
				copy(before[at:], want)
			}
			if !bytes.Equal(storage, before) {
				t.Errorf("%d bytes of room: Sum made %x of the storage, want %x", room, storage, before)
			}
			if inPlace := len(storage) > 0 && &got[0] == &storage[0]; inPlace != fits {
				t.Errorf("%d bytes of room: tag in place: %v, want %v", room, inPlace, fits)
			}
		}
	}
}

func (s Subject) testReset(t *testing.T) {
	msg := random(2000)
	want := s.of(t, msg)
	h := s.New()
	for _, n := range lengths {
		write(t, h, random(n))
		if n%2 == 0 {
			s.sum(h)
		}
		h.Reset()
		write(t, h, msg)
		if got := s.sum(h); !bytes.Equal(got, want) {
			t.Errorf("after %d bytes and Reset: %x, want %x", n, got, want)
		}
		h.Reset()
	}
	if got, want := s.sum(h), s.of(t, nil); !bytes.Equal(got, want) {
		t.Errorf("after Reset: %x, want %x", got, want)
	}
}

// testWrite checks that Write neither changes nor retains its argument.
func (s Subject) testWrite(t *testing.T) {
	for _, n := range lengths {
		msg := random(n)
		want := s.of(t, msg)
		h := s.New()
		write(t, h, nil)
		p := bytes.Clone(msg)
		write(t, h, p)
		if !bytes.Equal(p, msg) {
			t.Fatalf("Write changed its argument of %d bytes", n)
		}
		clear(p)
		write(t, h, p[:0])
		if got := s.sum(h); !bytes.Equal(got, want) {
			t.Errorf("%d bytes, then overwritten: %x, want %x", n, got, want)
		}
		h.Reset()
		if n, err := h.(io.StringWriter).WriteString(string(msg)); n != len(msg) || err != nil {
			t.Fatalf("WriteString of %d bytes: %d, %v", len(msg), n, err)
		}
		if got := s.sum(h); !bytes.Equal(got, want) {
			t.Errorf("%d bytes of a string: %x, want %x", n, got, want)
		}
	}
}

// testBounds surrounds the argument of Write with bytes that must not change, and must
// not change the tag.
func (s Subject) testBounds(t *testing.T) {
	const margin = 128
	for _, n := range lengths {
		for _, offset := range []int{0, 1, 7, 31} {
			buf := random(margin + n + margin)
			p := buf[margin-offset:][:n]
			want := s.of(t, bytes.Clone(p))
			outside := bytes.Clone(buf)
			if got := s.of(t, p); !bytes.Equal(got, want) {
				t.Errorf("%d bytes at offset -%d: %x, want %x", n, offset, got, want)
			}
			if !bytes.Equal(buf, outside) {
				t.Errorf("%d bytes at offset -%d: Write changed the bytes around its argument", n, offset)
			}
		}
	}
}

func (s Subject) testSplits(t *testing.T) {
	for _, n := range lengths {
		msg := random(n)
		want := s.of(t, msg)
		h := s.New()
		for _, b := range msg {
			write(t, h, []byte{b})
		}
		if got := s.sum(h); !bytes.Equal(got, want) {
			t.Errorf("%d bytes one by one: %x, want %x", n, got, want)
		}
		for range 20 {
			h.Reset()
			var cuts []int
			for rest := msg; len(rest) > 0; {
				cut := rand.IntN(min(len(rest), 1+rand.IntN(1100)) + 1)
				cuts = append(cuts, cut)
				write(t, h, rest[:cut])
				rest = rest[cut:]
			}
			if got := s.sum(h); !bytes.Equal(got, want) {
				t.Fatalf("%d bytes in writes of %d: %x, want %x", n, cuts, got, want)
			}
		}
	}
}

func (s Subject) testClone(t *testing.T) {
	clone := func(h hash.Hash) hash.Hash {
		c, err := h.(hash.Cloner).Clone()
		if CannotClone(err) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if reflect.TypeOf(c) != reflect.TypeOf(h) {
			t.Fatalf("clone of a %T is a %T", h, c)
		}
		if c.Size() != h.Size() || c.BlockSize() != h.BlockSize() {
			t.Errorf("clone of a hash of %d bytes, blocks of %d: %d and %d", h.Size(), h.BlockSize(), c.Size(), c.BlockSize())
		}
		return c
	}
	for _, n := range lengths {
		msg, a, b := random(n), random(1500), random(700)
		h := s.New()
		write(t, h, msg)
		c := clone(h)
		write(t, h, a)
		d := clone(c)
		write(t, c, b)
		for name, check := range map[string]struct {
			h    hash.Hash
			want []byte
		}{
			"original": {h, append(bytes.Clone(msg), a...)},
			"clone":    {c, append(bytes.Clone(msg), b...)},
			"clone's":  {d, msg},
		} {
			if got, want := s.sum(check.h), s.of(t, check.want); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: %s: %x, want %x", n, name, got, want)
			}
		}
		c.Reset()
		if got, want := s.sum(c), s.of(t, nil); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: clone after Reset: %x, want %x", n, got, want)
		}
		if c, ok := c.(interface{ Destroy() }); ok {
			c.Destroy()
			if got, want := s.sum(h), s.of(t, append(msg, a...)); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: after Destroy of a clone: %x, want %x", n, got, want)
			}
		}
	}
}

// CannotClone reports whether err is that of Clone of a crypto/hmac that cannot be cloned, in
// a build with GOFIPS140=v1.0.0.
func CannotClone(err error) bool {
	_, can := hmac.New(sha256.New, make([]byte, sha256.Size)).(hash.Cloner)
	return !can && errors.Is(err, errors.ErrUnsupported)
}

// testBits flips random bits of messages, and appends a zero byte: the tag must change
// every time.
func (s Subject) testBits(t *testing.T) {
	for _, n := range lengths {
		msg := random(n)
		want := s.of(t, msg)
		for range min(8*n, 64) {
			bit := rand.IntN(8 * n)
			msg[bit/8] ^= 1 << (bit % 8)
			if bytes.Equal(s.of(t, msg), want) {
				t.Errorf("%d bytes: bit %d does not matter", n, bit)
			}
			msg[bit/8] ^= 1 << (bit % 8)
		}
		if n > 4 && bytes.Equal(s.of(t, append(msg, 0)), want) {
			t.Errorf("%d bytes: a zero byte at the end does not matter", n)
		}
	}
}

func (s Subject) testAllocations(t *testing.T) {
	if s.Allocates {
		return
	}
	SkipAllocations(t)
	h := s.New()
	msg := random(1500)
	buf, text := make([]byte, 0, 100), string(msg)
	if n := testing.AllocsPerRun(100, func() {
		h.Reset()
		h.Write(msg[:4])
		h.Write(msg)
		io.WriteString(h, text)
		h.Sum(append(buf, s.Nonce...))
	}); n != 0 {
		t.Errorf("%v allocations per tag", n)
	}
}

// Allocates is true with the race detector, which allocates, and with Go before 1.26, which allocates
// the hash of the standard library where package sha2 has no kernel.
var Allocates = Race || version.Compare(runtime.Version(), "go1.26") < 0

// SkipAllocations skips a test that counts allocations if there may be more.
func SkipAllocations(t *testing.T) {
	if Allocates {
		t.Skip("the race detector, or Go before 1.26, allocates")
	}
}

// Concurrently calls f with 0 to n-1, each in its own goroutine. None calls it before all
// have started.
func Concurrently(n int, f func(i int)) {
	var started, ended sync.WaitGroup
	started.Add(n)
	for i := range n {
		ended.Go(func() {
			started.Done()
			started.Wait()
			f(i)
		})
	}
	ended.Wait()
}
