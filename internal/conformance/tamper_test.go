// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"math/rand/v2"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// TestTamper changes each bit of the key, the nonce, the message and the tag, for 64 sizes,
// on every kernel. Nothing changed may be verified. Short mode has every ninth size. Hashes with words
// of one size share their kernels, and the bits of messages of more than 512 bytes.
//
// UMAC-32 accepts a change with a probability of 2^-30 if the key is random. The keys here
// are the same in each run.
func TestTamper(t *testing.T) {
	changes := 0
	rng := rand.NewChaCha8([32]byte([]byte("TestTamper: a seed of 32 bytes..")))
	mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
		for _, size := range mactest.UMACTagSizes {
			changes += tamper(t, kernels, rng, 16, 8, 0, 1, func(key []byte) (tag func(nonce, msg []byte) []byte, verify func(tag, nonce, msg []byte) bool) {
				k := mactest.Must(fastmac.NewUMACKey(key, size))
				return func(nonce, msg []byte) []byte { return k.Tag(nil, nonce, msg) }, k.Verify
			})
		}
	})
	mactest.EachKernel(t, mactest.HMAC, func(kernels string) {
		hashes := make(map[int]int) // those before, by block size
		for _, h := range mactest.SHA2 {
			block := h.New().BlockSize()
			first, step := hashes[block], map[int]int{64: 2, 128: 4}[block]
			hashes[block]++
			changes += tamper(t, kernels, rng, h.Size(), 0, first, step, func(key []byte) (tag func(nonce, msg []byte) []byte, verify func(tag, nonce, msg []byte) bool) {
				k := mactest.Must(fastmac.NewHMACKey(h, key))
				return func(_, msg []byte) []byte { return k.Tag(nil, msg) }, func(tag, _, msg []byte) bool { return k.Verify(tag, msg) }
			})
		}
	})
	if fastmac.RequireGCM() == nil {
		mactest.EachKernel(t, mactest.GCM, func(kernels string) {
			changes += tamper(t, kernels, rng, 16, 12, 0, 1, func(key []byte) (tag func(nonce, msg []byte) []byte, verify func(tag, nonce, msg []byte) bool) {
				k := mactest.Must(fastmac.NewGMACKey(key))
				return func(nonce, msg []byte) []byte { return k.Tag(nil, nonce, msg) }, k.Verify
			})
		})
	}
	t.Logf("%d changes refused", changes)
}

// tamper returns the number of changes that it has tried under a MAC. first and step are those of the
// bits of long messages.
func tamper(t *testing.T, kernels string, rng *rand.ChaCha8, keySize, nonceSize, first, step int,
	setup func(key []byte) (tag func(nonce, msg []byte) []byte, verify func(tag, nonce, msg []byte) bool)) (changes int) {
	t.Helper()
	sizes := 1
	if testing.Short() || mactest.Race {
		sizes = 9
	}
	for i := 0; i < len(mactest.TamperSizes); i += sizes {
		key, nonce, msg := mactest.Random(rng, keySize), mactest.Random(rng, nonceSize), mactest.Random(rng, mactest.TamperSizes[i])
		compute, verify := setup(key)
		tag := compute(nonce, msg)
		if !verify(tag, nonce, msg) {
			t.Fatalf("%s, tag of %d bytes, message of %d: the right tag is refused", kernels, len(tag), len(msg))
		}
		for name, b := range map[string][]byte{"key": key, "nonce": nonce, "message": msg, "tag": tag} {
			first, step := first, step
			if name != "message" || len(b) <= 512 {
				first, step = 0, 1
			}
			for bit := first; bit < 8*len(b); bit += step {
				b[bit/8] ^= 1 << (bit % 8)
				check := verify
				if name == "key" {
					_, check = setup(key)
				}
				if check(tag, nonce, msg) {
					t.Fatalf("%s, tag of %d bytes, message of %d: accepted with bit %d of the %s changed", kernels, len(tag), len(msg), bit, name)
				}
				b[bit/8] ^= 1 << (bit % 8)
				changes++
			}
		}
		if !verify(tag, nonce, msg) {
			t.Fatalf("%s, tag of %d bytes, message of %d: the right tag is refused after all changes", kernels, len(tag), len(msg))
		}
	}
	return changes
}
