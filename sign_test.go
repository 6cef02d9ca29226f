// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

func TestUMACSign(t *testing.T) {
	msg := []byte("message")
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		sig := k.Sign([]byte("x"), msg)
		if len(sig) != 1+16+size || sig[0] != 'x' {
			t.Fatalf("Sign appended %d bytes, want %d", len(sig)-1, 16+size)
		}
		sig = sig[1:]
		if !k.VerifySigned(sig, msg) || !k.Verify(sig[16:], sig[:16], msg) {
			t.Errorf("%d bytes: the right signature is refused", size)
		}
		mactest.TestRandom(t, "Sign", func() []byte { return k.Sign(nil, msg)[:16] })
		for bit := range 8 * len(sig) {
			sig[bit/8] ^= 1 << (bit % 8)
			if k.VerifySigned(sig, msg) {
				t.Errorf("%d bytes: accepted with bit %d flipped", size, bit)
			}
			sig[bit/8] ^= 1 << (bit % 8)
		}
		if k.VerifySigned(nil, msg) || k.VerifySigned(sig[:len(sig)-1], msg) || k.VerifySigned(append(sig, 0), msg) ||
			k.VerifySigned(sig[:16], msg) || k.VerifySigned(sig, msg[1:]) {
			t.Errorf("%d bytes: VerifySigned accepts a wrong length", size)
		}
	}
}

// TestUMACSignOverlap writes signatures over their messages.
func TestUMACSignOverlap(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	msg := bytes.Repeat([]byte("message"), 20)
	m := bytes.Clone(msg)
	if got := k.Sign(m[:0], m); !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("Sign over the message: %x", got)
	}
	m = bytes.Clone(msg)
	u := k.New()
	u.Write(m)
	if got := u.Sign(m[:0]); !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("Sign of a stream over the message: %x", got)
	}
}

// TestStreamSign compares Sign and VerifySigned of streams with those of keys.
func TestStreamSign(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testStreamSign) }

func testStreamSign(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testStreamSign, a seed, 32 bytes")))
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		u := k.New()
		for _, length := range []int{0, 1, 32, 1023, 1024, 1025, 5000, 1<<16 + 1} {
			msg := mactest.Random(rng, length)
			u.Reset()
			u.Write(msg[:length/3])
			if u.VerifySigned(k.Sign(nil, msg)) != (length == 0) {
				t.Errorf("%d bytes: a part of the message is accepted", length)
			}
			u.Write(msg[length/3:])
			sig := u.Sign([]byte("x"))
			if len(sig) != 1+16+size || sig[0] != 'x' || !k.VerifySigned(sig[1:], msg) {
				t.Fatalf("%d bytes: signature %x", length, sig)
			}
			sig = sig[1:]
			if !u.VerifySigned(sig) || !u.VerifySigned(k.Sign(nil, msg)) || !u.VerifySigned(u.Sign(nil)) {
				t.Errorf("%d bytes: the right signature is refused", length)
			}
			for bit := range 8 * len(sig) {
				sig[bit/8] ^= 1 << (bit % 8)
				if u.VerifySigned(sig) {
					t.Errorf("%d bytes: accepted with bit %d flipped", length, bit)
				}
				sig[bit/8] ^= 1 << (bit % 8)
			}
			for n := range 50 {
				if u.VerifySigned(append(sig, make([]byte, 50)...)[:n]) != (n == len(sig)) {
					t.Errorf("%d bytes: %d bytes of a signature", length, n)
				}
			}
		}
	}
}

// TestStreamSignNonce checks that each Sign of a stream draws a nonce.
func TestStreamSignNonce(t *testing.T) {
	u := mactest.Must(fastmac.NewUMAC(make([]byte, 16), 16))
	mactest.TestRandom(t, "Sign of a stream", func() []byte { return u.Sign(nil)[:16] })
	mactest.SkipAllocations(t)
	if allocs := testing.AllocsPerRun(100, func() { u.Sign(make([]byte, 0, 32)) }); allocs > 0 && fastmac.RequireAES() == nil {
		t.Errorf("%v allocations", allocs)
	}
}
