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
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// TestBounds places every argument of Seal and Open next to a page that cannot be accessed
// and at some distance from it, for texts of 0 to 4160 bytes: the text and the result, also in
// one place, the additional data and the nonce. So are the keys, unless they have pointers.
// Then it plants an access to the byte before and the byte after each argument that is read,
// which must be caught.
func TestBounds(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testBounds) }

func testBounds(t *testing.T) {
	const most, mostData = 4160, 1100
	rng := rand.NewChaCha8([32]byte([]byte("testBounds: a seed of 32 bytes..")))
	texts, results := mactest.Guarded(t, most+80), mactest.Guarded(t, most+80)
	datas, nonces := mactest.Guarded(t, mostData+80), mactest.Guarded(t, 80)
	keys := placedKeys(t, rng)
	step, calls, caught := 1, 0, 0
	if testing.Short() {
		step = 37
	}
	for n := 0; n <= most; n += step {
		k, m := keys[n%len(keys)], int(rng.Uint64()%mostData)
		if n%3 == 0 {
			m %= 20
		}
		plaintext, data, nonce := mactest.Random(rng, n), mactest.Random(rng, m), mactest.Random(rng, 12)
		sealed := k.Seal(nil, nonce, plaintext, data)
		for _, offset := range []int{0, 1 + n%63} {
			for _, end := range []bool{false, true} {
				data, nonce := datas.Place(data, offset, end), nonces.Place(nonce, offset, end)

				out := results.Place(make([]byte, len(sealed)), offset, end)
				got := k.Seal(out[:0], nonce, texts.Place(plaintext, offset, end), data)
				if !bytes.Equal(got, sealed) || &got[0] != &out[0] {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Seal is wrong", n, m, offset, end)
				}
				out = results.Place(make([]byte, n), offset, end)
				got, err := k.Open(out[:0], nonce, texts.Place(sealed, offset, end), data)
				if !bytes.Equal(got, plaintext) || err != nil {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Open is wrong: %v", n, m, offset, end, err)
				}

				out = texts.Place(append(plaintext[:n:n], sealed[n:]...), offset, end)
				if got := k.Seal(out[:0], nonce, out[:n], data); !bytes.Equal(got, sealed) {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Seal in place is wrong", n, m, offset, end)
				}
				if got, err := k.Open(out[:0], nonce, out, data); !bytes.Equal(got, plaintext) || err != nil {
					t.Fatalf("%d bytes, additional data of %d, offset %d, at the end: %v: Open in place is wrong: %v", n, m, offset, end, err)
				}
				calls += 4
			}
		}
		out := make([]byte, 0, len(sealed)+1)
		for _, end := range []bool{false, true} {
			for what, ok := range map[string]bool{
				"plaintext":                     texts.Catches(n, end, func(p []byte) { k.Seal(out, nonce, p, data) }),
				"additional data":               datas.Catches(m, end, func(p []byte) { k.Seal(out, nonce, plaintext, p) }),
				"nonce":                         nonces.Catches(11, end, func(p []byte) { k.Seal(out, p, plaintext, data) }),
				"ciphertext":                    texts.Catches(len(sealed), end, func(p []byte) { k.Open(out, nonce, p, data) }),
				"additional data of ciphertext": datas.Catches(m, end, func(p []byte) { k.Open(out, nonce, sealed, p) }),
			} {
				if !ok {
					t.Fatalf("%d bytes, additional data of %d: an access to one byte more of the %s is not caught, at the end: %v", n, m, what, end)
				}
				caught++
			}
		}
	}
	t.Logf("%d calls next to guard pages, %d planted accesses of one byte more, all caught", calls, caught)
}

// placedKeys returns keys of 16 bytes and 32 by turns, one of each at the beginning and one
// at the end of memory between pages that cannot be read.
func placedKeys(t *testing.T, rng *rand.ChaCha8) (keys []*aesgcm.Key) {
	t.Helper()
	const size = unsafe.Sizeof(aesgcm.Key{})
	for i := range 4 {
		k := new(aesgcm.Key)
		if kernel.Active(kernel.GCM) != "stdlib" {
			mem := mactest.Guarded(t, int(size))
			at := 0
			if i >= 2 {
				at = len(mem) - int(size)
			}
			k = (*aesgcm.Key)(unsafe.Pointer(&mem[at]))
		}
		if err := k.Init(mactest.Random(rng, 16+16*(i%2))); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}
