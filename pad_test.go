// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/umacref"
)

// TestUMACNonceLength compares the tags under nonces of all lengths with umacref.
func TestUMACNonceLength(t *testing.T) {
	key, msg := make([]byte, 16), []byte("message")
	nonce := unhex("ff00ff00ff00ff00ff00ff00ff00ff03")
	for n := 1; n <= len(nonce); n++ {
		for _, size := range umacTagSizes {
			want := umacref.UMAC(key, msg, nonce[:n], size)
			if got := newUMACKey(t, key, size).Tag(nil, nonce[:n], msg); !bytes.Equal(got, want) {
				t.Errorf("nonce of %d bytes: tag %x, want %x", n, got, want)
			}
		}
	}
}

// TestUMACNonceOrder draws nonces in and out of order. A stream may have their pads
// computed ahead; its tags are compared with one-shots, which compute each pad.
func TestUMACNonceOrder(t *testing.T) { fastmac.ForAllKernels(t, testUMACNonceOrder) }

func testUMACNonceOrder(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testUMACNonceOrder, 32 byte seed")))
	for _, size := range umacTagSizes {
		k := newUMACKey(t, make([]byte, 16), size)
		u := k.New()
		nonce := make([]byte, 8)
		for range 20000 {
			switch r := rng.Uint64() % 1000; {
			case r < 900: // the next one
				for i := len(nonce) - 1; i >= 0; i-- {
					if nonce[i]++; nonce[i] != 0 {
						break
					}
				}
			case r < 950: // some skipped
				nonce[len(nonce)-1] += byte(rng.Uint64() % 40)
			case r < 960: // back by a few
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 10)
			case r < 970: // the same again
			case r < 980: // near the end of the numbers
				for i := range nonce {
					nonce[i] = 0xff
				}
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 40)
			case r < 985: // a bit of the part that is no counter
				nonce[0] ^= 1
			case r < 990:
				nonce = random(rng, 1+int(rng.Uint64()%16))
			case r < 995: // longer or shorter, with the same number at its end
				n := make([]byte, 1+rng.Uint64()%16)
				copy(n[max(0, len(n)-len(nonce)):], nonce[max(0, len(nonce)-len(n)):])
				nonce = n
			default:
				c, err := u.Clone()
				if err != nil {
					t.Fatal(err)
				}
				u = c.(*fastmac.UMAC)
			}
			want := k.Tag(nil, nonce, nil)
			if got := u.AppendTag(nil, nonce); !bytes.Equal(got, want) {
				t.Fatalf("nonce %x: tag %x, want %x", nonce, got, want)
			}
			if rng.Uint64()%10 == 0 && !u.Verify(want, nonce) {
				t.Fatalf("nonce %x: refused the second time", nonce)
			}
		}
	}
}

// TestNonceLengths checks what the package documentation says of nonces that are
// equal when zero-padded: the pads are equal if the last bytes select the same part.
func TestNonceLengths(t *testing.T) {
	for _, size := range umacTagSizes {
		k := newUMACKey(t, make([]byte, 16), size)
		equal := func(a, b []byte) bool { return k.Verify(k.Tag(nil, a, nil), b, nil) }
		if !equal([]byte{4}, []byte{4, 0}) {
			t.Errorf("%d bytes: tags under 04 and 0400 are different", size)
		}
		if got, want := equal([]byte{1}, []byte{1, 0}), size > 8; got != want {
			t.Errorf("%d bytes: tags under 01 and 0100 are equal: %v, want %v", size, got, want)
		}
	}
}
