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

// TestUMACBounds puts messages of all lengths from 0 to 4160 bytes at all offsets
// from 0 to 63 from a page that cannot be read, behind it and before it.
func TestUMACBounds(t *testing.T) { fastmac.ForAllKernels(t, testUMACBounds) }

func testUMACBounds(t *testing.T) {
	const most, offsets = 4160, 64
	mem := mactest.Guarded(t, most+offsets)
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBounds.  a 32 byte seed.")))
	var keys []*fastmac.UMACKey
	var streams []*fastmac.UMAC
	for _, size := range umacTagSizes {
		k := newUMACKey(t, make([]byte, 16), size)
		keys, streams = append(keys, k), append(streams, k.New())
	}
	nonce := []byte("12345678")
	var buf [16]byte
	step := 1
	if testing.Short() {
		step = 37
	}
	for length := 0; length <= most; length += step {
		k, u := keys[length%4], streams[length%4]
		msg := random(rng, length)
		want := k.Tag(nil, nonce, msg)
		for offset := range offsets {
			for _, at := range []int{offset, len(mem) - length - offset} {
				p := mem[at:][:length:length]
				copy(p, msg)
				if got := k.Tag(buf[:0], nonce, p); !bytes.Equal(got, want) {
					t.Fatalf("%d bytes at %d: tag %x, want %x", length, at, got, want)
				}
				if offset%8 == 0 {
					u.Reset()
					u.Write(p)
					if !u.Verify(want, nonce) {
						t.Fatalf("%d bytes at %d: the stream's tag is wrong", length, at)
					}
				}
			}
		}
	}
}

// TestUMACNonceOrder draws nonces in and out of order, of which a stream may have
// the pads in store, and compares with one-shots, which have no store.
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
			case r < 950: // a few left out
				nonce[len(nonce)-1] += byte(rng.Uint64() % 40)
			case r < 960: // one of the last
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 10)
			case r < 970: // the same again
			case r < 980: // near the end of the numbers
				for i := range nonce {
					nonce[i] = 0xff
				}
				nonce[len(nonce)-1] -= byte(rng.Uint64() % 40)
			case r < 985: // a bit of the part that does not count
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
