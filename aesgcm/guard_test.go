// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/gcm"
	"example.com/fastmac/internal/mactest"
)

// TestBounds places every argument of Seal and Open after and before a page that cannot be
// read, 0 to 63 bytes away from it: the text and the result, also in one place, the
// additional data and the nonce. So are the keys, unless they have pointers.
func TestBounds(t *testing.T) { forAllKernels(t, testBounds) }

func testBounds(t *testing.T) {
	const most = 1100
	rng := rand.NewChaCha8([32]byte([]byte("testBounds: a seed of 32 bytes..")))
	texts, results, datas, nonces := newGuarded(t, most+80), newGuarded(t, most+80), newGuarded(t, most+80), newGuarded(t, 80)
	keys := placedKeys(t, rng)
	step := 1
	if testing.Short() {
		step = 13
	}
	for n := 0; n <= most; n += step {
		k, m := keys[n%len(keys)], int(rng.Uint64()%uint64(most))
		if n%3 == 0 {
			m %= 20
		}
		plaintext, data, nonce := random(rng, n), random(rng, m), random(rng, 12)
		sealed := k.Seal(nil, nonce, plaintext, data)
		for _, offset := range []int{0, 1, 8, 15, 16, 17, 31, 32, 33, 48, 63} {
			for _, end := range []bool{false, true} {
				data, nonce := datas.place(data, offset, end), nonces.place(nonce, offset, end)

				out := results.place(make([]byte, len(sealed)), offset, end)
				got := k.Seal(out[:0], nonce, texts.place(plaintext, offset, end), data)
				if !bytes.Equal(got, sealed) || &got[0] != &out[0] {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Seal is wrong", n, m, offset, end)
				}
				out = results.place(make([]byte, n), offset, end)
				got, err := k.Open(out[:0], nonce, texts.place(sealed, offset, end), data)
				if !bytes.Equal(got, plaintext) || err != nil {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Open is wrong: %v", n, m, offset, end, err)
				}

				out = texts.place(append(plaintext[:n:n], sealed[n:]...), offset, end)
				if got := k.Seal(out[:0], nonce, out[:n], data); !bytes.Equal(got, sealed) {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Seal in place is wrong", n, m, offset, end)
				}
				if got, err := k.Open(out[:0], nonce, out, data); !bytes.Equal(got, plaintext) || err != nil {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Open in place is wrong: %v", n, m, offset, end, err)
				}
			}
		}
	}
}

// guarded is memory with a page before and after it that cannot be read.
type guarded []byte

func newGuarded(t *testing.T, n int) guarded { return mactest.Guarded(t, n) }

// place copies b to a place offset bytes away from the page before or after g. The slice it
// returns has no more capacity.
func (g guarded) place(b []byte, offset int, end bool) []byte {
	if end {
		offset = len(g) - len(b) - offset
	}
	p := g[offset:][:len(b):len(b)]
	copy(p, b)
	return p
}

// placedKeys returns keys of 16 bytes and 32 by turns, one of each at the beginning and one
// at the end of memory between pages that cannot be read.
func placedKeys(t *testing.T, rng *rand.ChaCha8) (keys []*aesgcm.Key) {
	t.Helper()
	const size = unsafe.Sizeof(aesgcm.Key{})
	for i := range 4 {
		k := new(aesgcm.Key)
		if gcm.Active() != "stdlib" {
			mem := newGuarded(t, int(size))
			at := 0
			if i >= 2 {
				at = len(mem) - int(size)
			}
			k = (*aesgcm.Key)(unsafe.Pointer(&mem[at]))
		}
		if err := k.Init(random(rng, 16+16*(i%2))); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}
