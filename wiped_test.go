// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/aes"
	"encoding/binary"
	"testing"
)

// TestPadsWiped checks, for nonces in any order, that a stream keeps no block of pads
// whose last nonce has been used or skipped, and that its clones begin without any. It
// also checks that nonces in order make it compute several blocks at once.
func TestPadsWiped(t *testing.T) {
	if !useAES {
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

// TestBuffersWiped checks that buffers on the heap are all zeros after use.
func TestBuffersWiped(t *testing.T) {
	eachKernel(func(kernel string) {
		if useAES {
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
