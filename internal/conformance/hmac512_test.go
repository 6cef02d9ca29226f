// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/sha512"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// hmacFlavours are all ways through the API to a tag.
var hmacFlavours = map[string]func(t *testing.T, key, msg []byte) []byte{
	"SumHMACSHA512": func(t *testing.T, key, msg []byte) []byte {
		tag := fastmac.SumHMACSHA512(key, msg)
		return tag[:]
	},
	"Tag": func(t *testing.T, key, msg []byte) []byte {
		return fastmac.NewHMACSHA512Key(key).Tag(nil, msg)
	},
	"TagBatch": func(t *testing.T, key, msg []byte) []byte {
		tags := make([][64]byte, 9) // more than there are lanes
		other := []byte("other")
		mactest.TagBatch(fastmac.NewHMACSHA512Key(key).TagBatch, mactest.Slices(tags), nil, [][]byte{nil, msg, other, other, nil, other, other, other, other})
		return tags[1][:]
	},
	"SumHMACSHA512Batch": func(t *testing.T, key, msg []byte) []byte {
		tags := make([][64]byte, 9)
		other, long := []byte("the other key!"), make([]byte, 300)
		mactest.SumBatch(fastmac.SumHMACSHA512Batch, mactest.Slices(tags), [][]byte{other, long, key, other, other, other, long, other, other}, [][]byte{nil, msg, msg, other, nil, other, other, other, other})
		return tags[2][:]
	},
	"VerifyBatch": func(t *testing.T, key, msg []byte) []byte {
		k := fastmac.NewHMACSHA512Key(key)
		want := k.Tag(nil, msg)
		tags, ok := make([][64]byte, 9), make([]bool, 9)
		tags[8] = [64]byte(want)
		if mactest.VerifyBatch(k.VerifyBatch, ok, mactest.Slices(tags), nil, [][]byte{msg, msg, nil, msg, nil, msg, msg, nil, msg}) || slices.Index(ok, true) != 8 {
			t.Errorf("VerifyBatch: %v, want the last one only", ok)
		}
		return want
	},
	"Init of a used key": func(t *testing.T, key, msg []byte) []byte {
		k := fastmac.NewHMACSHA512Key([]byte("the former key"))
		k.Tag(nil, msg)
		k.Init(key)
		return k.Tag(nil, msg)
	},
	"Reset": func(t *testing.T, key, msg []byte) []byte {
		h := fastmac.NewHMACSHA512(key)
		h.Write([]byte("the former message"))
		h.Sum(nil)
		h.Reset()
		h.Write(msg)
		return h.Sum(nil)
	},
	"one write": func(t *testing.T, key, msg []byte) []byte {
		h := fastmac.NewHMACSHA512(key)
		h.Write(msg)
		return h.Sum(nil)
	},
	"byte by byte": func(t *testing.T, key, msg []byte) []byte {
		h := fastmac.NewHMACSHA512(key)
		for i := range msg {
			h.Write(msg[i : i+1])
		}
		return h.Sum(nil)
	},
	"random splits": func(t *testing.T, key, msg []byte) []byte {
		h := fastmac.NewHMACSHA512(key)
		for len(msg) > 0 {
			n := rand.IntN(min(len(msg), 200)) + 1
			h.Write(msg[:n])
			msg = msg[n:]
		}
		return h.Sum(nil)
	},
	"clone midway": func(t *testing.T, key, msg []byte) []byte {
		h := fastmac.NewHMACSHA512(key)
		n := rand.IntN(len(msg) + 1)
		h.Write(msg[:n])
		c, err := h.Clone()
		if mactest.CannotClone(err) {
			h.Write(msg[n:])
			return h.Sum(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Write([]byte("not the clone's"))
		h.Sum(nil)
		c.Write(msg[n:])
		return c.Sum(nil)
	},
}

// TestHMACSHA512Vectors compares with all tags of testdata. TestFIPS140 starts it and the
// other tests of HMAC-SHA-512 in FIPS 140 mode too.
func TestHMACSHA512Vectors(t *testing.T) {
	mactest.ForAllKernels(t, mactest.HMAC, testHMACSHA512Vectors)
}

func testHMACSHA512Vectors(t *testing.T) {
	type counts struct{ valid, truncated, invalid int }
	bySource := make(map[string]*counts)
	rows, comparisons := 0, 0
	for _, v := range mactest.HMACVectors(t, crypto.SHA512) {
		rows++
		for name, flavour := range hmacFlavours {
			comparisons++
			got := flavour(t, v.Key, v.Msg)
			if equal := bytes.Equal(got[:min(len(v.Tag), len(got))], v.Tag); equal != v.Valid {
				t.Errorf("%s: %s: tag %x, %x is valid: %v", v.Name, name, got, v.Tag, v.Valid)
			}
		}
		// A truncated tag is refused even if it is right.
		want := v.Valid && len(v.Tag) == sha512.Size
		k := fastmac.NewHMACSHA512Key(v.Key)
		if got := k.Verify(v.Tag, v.Msg); got != want {
			t.Errorf("%s: Verify %v, want %v", v.Name, got, want)
		}
		h := k.New()
		h.Write(v.Msg)
		if got := h.Verify(v.Tag); got != want {
			t.Errorf("%s: the stream's Verify %v, want %v", v.Name, got, want)
		}
		comparisons += 2
		if len(v.Tag) == sha512.Size {
			comparisons++
			ok := make([]bool, 1)
			if got := mactest.VerifyBatch(k.VerifyBatch, ok, mactest.Slices([][64]byte{[64]byte(v.Tag)}), nil, [][]byte{v.Msg}); got != want || ok[0] != want {
				t.Errorf("%s: VerifyBatch %v, %v, want %v", v.Name, got, ok[0], want)
			}
		}
		source, _, _ := strings.Cut(v.Name, "#")
		c := bySource[source]
		if c == nil {
			c = new(counts)
			bySource[source] = c
		}
		switch {
		case want:
			c.valid++
		case v.Valid:
			c.truncated++
		default:
			c.invalid++
		}
	}
	if want := 7 + 11 + 375 + 7 + 13 + 174; rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		c := bySource[source]
		t.Logf("%s: %d tags, %d right but truncated, %d wrong", source, c.valid, c.truncated, c.invalid)
	}
	t.Logf("%d rows: %d comparisons", rows, comparisons)
}

// TestHMACSHA512Std compares with crypto/hmac for keys and messages of lengths around
// the blocks of SHA-512, including nil.
func TestHMACSHA512Std(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testHMACSHA512Std) }

func testHMACSHA512Std(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestHMACSHA512Std. 32 bytes seed")))
	check := func(key, msg []byte) {
		t.Helper()
		std := hmac.New(sha512.New, key)
		std.Write(msg)
		want := std.Sum(nil)
		for name, flavour := range hmacFlavours {
			if got := flavour(t, key, msg); !bytes.Equal(got, want) {
				t.Errorf("%s: key of %d, message of %d bytes: tag %x, want %x", name, len(key), len(msg), got, want)
			}
		}
	}
	check(nil, nil)
	for n := range 400 {
		check(mactest.Random(rng, n), mactest.Random(rng, int(rng.Uint64()%300)))
		check(mactest.Random(rng, int(rng.Uint64()%300)), mactest.Random(rng, n))
	}
	check(mactest.Random(rng, 10000), mactest.Random(rng, 100000))
}
