// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"fmt"
	"hash"
	"reflect"
	"testing"

	"example.com/fastmac/internal/aesni"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/sha512"
)

// TestPadsWiped checks, for nonces in any order, that a stream keeps no block of pads
// whose last nonce has been used or skipped, and that its clones begin without any. It
// also checks that nonces in order make it compute several blocks at once.
func TestPadsWiped(t *testing.T) {
	if !aesni.InUse() {
		t.Skip("needs AES instructions")
	}
	for _, size := range []int{4, 8, 12, 16} {
		k, err := NewUMACKey(make([]byte, 16), size)
		if err != nil {
			t.Fatal(err)
		}
		shift := k.pad.partBits
		u := k.New()
		most := 0
		counter := uint64(0)
		for i := range 400 {
			switch counter++; {
			case i%50 == 40:
				counter += 2 + uint64(i%4)
			case i%70 == 60:
				counter -= 10
			case i%90 == 80:
				counter += 1000
			}
			u.Sum(binary.BigEndian.AppendUint64(make([]byte, 0, 16), counter))
			s := &u.pads
			most = max(most, int(s.count))
			for i := range uint64(padsAhead) {
				b := s.blocks[(s.number+i)%padsAhead]
				if wiped := b == [aes.BlockSize]byte{}; wiped == (i < uint64(s.count)) {
					t.Fatalf("%d bytes, nonce %d: block %d of %d: wiped %v", size, counter, i, s.count, wiped)
				}
			}
			if next := (counter + 1) >> shift; s.number != next {
				t.Fatalf("%d bytes, after nonce %d the next block is %d, want %d", size, counter, s.number, next)
			}
			c, err := u.Clone()
			if err != nil {
				t.Fatal(err)
			}
			h, err := u.Bind([]byte("12345678"))
			if err != nil {
				t.Fatal(err)
			}
			if c.(*UMAC).pads != (pads{}) || h.(*boundUMAC).u.pads != (pads{}) {
				t.Fatal("a clone has pads")
			}
		}
		if most < 7 {
			t.Errorf("%d bytes: at most %d blocks in store", size, most)
		}
	}
}

// TestPadsAhead checks for nonces of all lengths that a stream encrypts blocks ahead when the
// second in order comes, and one block alone for a nonce that is the first, or out of order.
func TestPadsAhead(t *testing.T) {
	if !aesni.InUse() {
		t.Skip("needs AES instructions")
	}
	for size := 8; size <= 16; size++ {
		k, err := NewUMACKey(make([]byte, 16), 16)
		if err != nil {
			t.Fatal(err)
		}
		u, nonce := k.New(), []byte("12345678........")[:size]
		for i, step := range []struct{ number, count uint64 }{{10, 0}, {11, 7}, {14, 4}, {30, 0}, {31, 7}, {29, 0}, {30, 7}} {
			binary.BigEndian.PutUint64(nonce[size-8:], step.number)
			u.AppendTag(nil, nonce)
			if got := uint64(u.pads.count); got != step.count {
				t.Errorf("nonce %d of %d bytes: %d blocks ahead, want %d", i, size, got, step.count)
			}
		}
	}
}

// TestPadAlone checks that a pad has nothing of the pads of other nonces, which are in the same
// block.
func TestPadAlone(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		for _, size := range []int{4, 8} {
			k, err := NewUMACKey(make([]byte, 16), size)
			if err != nil {
				t.Fatal(err)
			}
			for n := range byte(8) {
				if x := k.pad.pad([]byte{n}); x.second != 0 || size == 4 && x.first>>32 != 0 {
					t.Errorf("%d bytes, nonce %d: pad %016x %016x", size, n, x.first, x.second)
				}
			}
		}
	})
}

// TestBuffersWiped checks that buffers on the heap are all zeros after use.
func TestBuffersWiped(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		if aesni.InUse() {
			return
		}
		k, err := NewUMACKey([]byte("0123456789abcdef"), 8)
		if err != nil {
			t.Fatal(err)
		}
		k.Tag(nil, []byte("12345678"), nil)
		if b := aesBuffers.Get().(*[aes.BlockSize]byte); *b != [aes.BlockSize]byte{} {
			t.Errorf("%s: a pad is left: %x", kernel, b)
		}
	})
}

// TestChunksWiped checks that the L1 words of WriteParallel are all zeros after use.
func TestChunksWiped(t *testing.T) {
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		k, err := NewUMACKey([]byte("0123456789abcdef"), 16)
		if err != nil {
			t.Fatal(err)
		}
		c := chunkQueue{key: &k.uhash, p: make([]byte, 3*chunkSize), l2: new(l2State), words: make([]chunkWords, 8)}
		c.run(2)
		for i := range c.words {
			if c.words[i] != (chunkWords{}) {
				t.Errorf("%s: L1 words of a chunk are left", kernel)
			}
		}
		if c.written != 3 {
			t.Errorf("%s: %d chunks", kernel, c.written)
		}
	})
}

// TestBoundWiped checks that Destroy of a bound hash overwrites it, and its stream.
func TestBoundWiped(t *testing.T) {
	k, err := NewUMACKey(make([]byte, 16), 16)
	if err != nil {
		t.Fatal(err)
	}
	h, err := k.New().Bind([]byte("nonce"))
	if err != nil {
		t.Fatal(err)
	}
	h.Write(make([]byte, 2500))
	h.Sum(nil)
	b := h.(*boundUMAC)
	b.Destroy()
	if !isZero(b.u) || b.nonce != [MaxNonceSize]byte{} || b.nonceSize != 0 || b.tagSize != 0 {
		t.Errorf("bound UMAC: a nonce %q of %d bytes, or a stream, is left", b.nonce, b.nonceSize)
	}

	if RequireGCM() != nil || !GMACWipes {
		return // there are no GMAC streams
	}
	g, err := NewGMACKey(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.New()
	if err != nil {
		t.Fatal(err)
	}
	if h, err = m.Bind([]byte("twelve bytes")); err != nil {
		t.Fatal(err)
	}
	h.Write(make([]byte, 100))
	c := h.(*boundGMAC)
	c.Destroy()
	if !isZero(c.m) || c.nonce != [GMACNonceSize]byte{} {
		t.Errorf("bound GMAC: a nonce %q, or a stream, is left", c.nonce)
	}
}

// TestFIPSWiped checks, in FIPS 140 mode, what Destroy overwrites of crypto/hmac, and that
// buffers for it on the heap are all zeros after use.
func TestFIPSWiped(t *testing.T) {
	defer func(fips bool) { useFIPS = fips }(useFIPS)
	useFIPS = true
	k := NewHMACSHA512Key([]byte("0123456789abcdef"))
	buf := bytes.Repeat([]byte{1}, sha512.BlockSize)
	k.newFIPS(buf)
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("a key is left in the buffer of newFIPS")
	}

	tag := bytes.Repeat([]byte{1}, HMACSHA512Size)
	m, kept := k.New(), bytes.Clone(tag)
	m.fips = keptTag{m.fips, kept}
	if !m.Verify(tag) {
		t.Error("the tag of crypto/hmac is refused")
	}
	if !bytes.Equal(kept, make([]byte, HMACSHA512Size)) {
		t.Error("Verify leaves the tag of crypto/hmac")
	}

	for _, sizes := range [][]int{{100}, {1, 127}, {1, 127, 50}} {
		m := k.New()
		for _, size := range sizes {
			m.Write(bytes.Repeat([]byte("m"), size))
		}
		h := m.fips
		before, ok := innerHash(h)
		if !ok {
			t.Skipf("the fields of %T are unknown", h)
		}
		m.Destroy()
		after, _ := innerHash(h)
		if want, _ := innerHash(k.New().fips); after == before || after != want {
			t.Errorf("writes of %d bytes: the inner hash is %s, want %s as in a new stream", sizes, after, want)
		}
	}
}

// innerHash returns the state of the inner hash of crypto/hmac, as text.
func innerHash(h hash.Hash) (state string, ok bool) {
	inner := reflect.ValueOf(h).Elem().FieldByName("inner")
	if !inner.IsValid() {
		return "", false
	}
	return fmt.Sprint(inner.Elem().Elem()), true
}

// keptTag is a hash whose Sum returns tag itself.
type keptTag struct {
	hash.Hash
	tag []byte
}

func (k keptTag) Sum([]byte) []byte { return k.tag }

func isZero[T any](v *T) bool { return len(bytes.Trim(storage(v), "\x00")) == 0 }
