// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package kernel_test

import (
	"crypto"
	stdaes "crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/pbkdf2"
)

// TestTags compares tags of messages of many sizes, of all algorithms, with those of the portable
// implementations. Command mutants/assembly of internal/assurance runs it with wrong kernels, of which the
// known answers must have refused those that it would notice.
func TestTags(t *testing.T) {
	message := make([]byte, 1<<24+3000) // beyond POLY-64
	rand.NewChaCha8([32]byte([]byte("TestTags.    a seed of 32 bytes."))).Read(message)
	for name, test := range map[string]struct {
		layers []kernel.Layer
		tags   func(t *testing.T, message []byte) kernel.Answer
	}{
		"UMAC": {mactest.UMAC, tagsUMAC}, "AES": {mactest.AES, stretched}, "HMAC": {mactest.HMAC, tagsHMAC},
	} {
		t.Run(name, func(t *testing.T) {
			before := make(map[kernel.Layer]int)
			for _, l := range test.layers {
				before[l] = kernel.Select(l, len(kernel.List(l))-1)
			}
			want := test.tags(t, message)
			for l, index := range before {
				kernel.Select(l, index)
			}
			eachRight(t, test.layers, func(names string) {
				if got := test.tags(t, message); got != want {
					t.Errorf("%s: wrong tags", names)
				}
			})
		})
	}
	t.Run("GCM", func(t *testing.T) { eachRight(t, mactest.GCM, func(string) { testGCM(t, message) }) })
}

// eachRight is EachKernel, or one call of f if some kernel is wrong: then those that are not in use may be, too.
func eachRight(t *testing.T, layers []kernel.Layer, f func(names string)) {
	for _, l := range layers {
		if len(kernel.Wrong(l)) > 0 {
			f("in use")
			return
		}
	}
	mactest.EachKernel(t, layers, f)
}

// sizes are those of the messages.
func sizes() (sizes []int) {
	for n := 0; n < 600; n++ {
		sizes = append(sizes, n)
	}
	for n := 600; n < 3300; n += 23 {
		sizes = append(sizes, n)
	}
	return sizes
}

func tagsUMAC(t *testing.T, message []byte) (a kernel.Answer) {
	for size := 4; size <= 16; size += 4 {
		k, err := fastmac.NewUMACKey(message[:[]int{16, 16, 24, 32}[size/4-1]], size)
		if err != nil {
			t.Fatal(err)
		}
		u := k.New()
		tag := make([]byte, 16)
		batch := make([]fastmac.Message, 8)
		for i, n := range sizes() {
			nonce := message[n:][:1+i%16]
			a.AddBytes(k.Tag(tag[:0], nonce, message[:n]))
			u.Reset()
			u.Write(message[:n/3])
			u.Write(message[n/3 : n])
			a.AddBytes(u.Tag(tag[:0], message[:8]))
			b := &batch[i%len(batch)]
			if b.Tag == nil {
				b.Tag = make([]byte, size)
			}
			b.Nonce, b.Data = nonce, message[i:][:n]
			if i%len(batch) == len(batch)-1 {
				k.TagBatch(batch)
				for _, b := range batch {
					a.AddBytes(b.Tag)
				}
			}
		}
		if size == 8 || size == 16 {
			a.AddBytes(k.Tag(tag[:0], message[:8], message))
			a.AddBytes(k.Tag(tag[:0], message[:8], message[:1<<24+1024]))
		}
	}
	return a
}

func tagsHMAC(t *testing.T, message []byte) (a kernel.Answer) {
	for h, of := range map[crypto.Hash]func() hash.Hash{crypto.SHA224: nil, crypto.SHA256: sha256.New, crypto.SHA384: nil, crypto.SHA512: sha512.New} {
		var part kernel.Answer // of a hash: the order of a map differs
		k, err := fastmac.NewHMACKey(h, message[:20])
		if err != nil {
			t.Fatal(err)
		}
		tag := make([]byte, 64)
		batch, keys := make([]fastmac.Message, 40), make([][]byte, 40)
		for i, n := range sizes()[:300] {
			part.AddBytes(k.Tag(tag[:0], message[:n]))
			b := &batch[i%len(batch)]
			b.Tag, b.Data, keys[i%len(batch)] = make([]byte, h.Size()), message[i:][:n], message[i:][:n/3]
			if i%len(batch) == len(batch)-1 {
				for _, m := range [][]fastmac.Message{batch, batch[:5], batch[:1]} {
					k.TagBatch(m)
					for _, b := range m {
						part.AddBytes(b.Tag)
					}
					fastmac.SumHMACBatch(h, keys[:len(m)], m)
					for _, b := range m {
						part.AddBytes(b.Tag)
					}
				}
			}
		}
		if of != nil {
			for _, n := range []int{1, 2, 3, 16} {
				batch := make([]pbkdf2.Derivation, n)
				for i := range batch {
					batch[i] = pbkdf2.Derivation{Key: make([]byte, h.Size()), Password: string(message[i:][:9]), Salt: message[:8], Iter: 5}
				}
				if err := pbkdf2.KeyBatch(t.Context(), of, batch); err != nil {
					t.Fatal(err)
				}
				for i := range batch {
					part.AddBytes(batch[i].Key)
				}
			}
		}
		a ^= part
	}
	return a
}

// stretched is what package hwrand makes of a key. Without kernels it makes nothing, and this is crypto/cipher's.
func stretched(t *testing.T, message []byte) (a kernel.Answer) {
	for size := aes.StretchStep; size <= 4*aes.StretchStep; size += aes.StretchStep {
		p := slices.Clone(message[:size])
		if kernel.InUse(kernel.AES) {
			aes.Stretch(p)
		} else {
			block, err := stdaes.NewCipher(p[:32])
			if err != nil {
				t.Fatal(err)
			}
			clear(p)
			cipher.NewCTR(block, make([]byte, 16)).XORKeyStream(p, p)
		}
		a.AddBytes(p)
	}
	return a
}

// testGCM compares with crypto/cipher.
func testGCM(t *testing.T, message []byte) {
	if err := fastmac.RequireGCM(); err != nil {
		t.Skip(err)
	}
	for size := 16; size <= 32; size += 8 {
		k, err := aesgcm.NewKey(message[:size])
		if err != nil {
			t.Fatal(err)
		}
		g, err := fastmac.NewGMAC(message[:size])
		if err != nil {
			t.Fatal(err)
		}
		block, err := stdaes.NewCipher(message[:size])
		if err != nil {
			t.Fatal(err)
		}
		std, err := cipher.NewGCM(block)
		if err != nil {
			t.Fatal(err)
		}
		nonce := message[:12]
		for i, n := range sizes() {
			data := message[n:][:i*7%350]
			got, want := k.Seal(nil, nonce, message[:n], data), std.Seal(nil, nonce, message[:n], data)
			text, err := k.Open(nil, nonce, got, data)
			g.Reset()
			g.Write(message[:n/3])
			g.Write(message[n/3 : n])
			if string(got) != string(want) || err != nil || string(text) != string(message[:n]) || string(g.Tag(nil, nonce)) != string(std.Seal(nil, nonce, nil, message[:n])) {
				t.Errorf("%d bytes with %d: wrong", n, len(data))
				return
			}
		}
	}
}
