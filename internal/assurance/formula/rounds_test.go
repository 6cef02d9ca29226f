// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package formula

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
)

const rounds = 10 // of AES-128

// A block is its two words.
type block[W any] [2]W

// parts are what an algebra has for AES.
type parts[W any] interface {
	Constant(n int, x uint64) W
	Xor(n int, a, b W) W
	AES(low, high, keyLow, keyHigh W, last bool) (l, h W)
	MixColumns(low, high W) (l, h W)
}

// wholeRounds encrypts a block as amd64 does: an instruction is a round, with its key at the end.
func wholeRounds[W any](a parts[W], b block[W], keys []block[W]) block[W] {
	b = add(a, b, keys[0])
	last := len(keys) - 1
	for r, k := range keys[1:] {
		b[0], b[1] = a.AES(b[0], b[1], k[0], k[1], r+1 == last)
	}
	return b
}

// partsOfRounds encrypts a block as arm64 does: AESE adds a key first, and AESMC mixes columns.
func partsOfRounds[W any](a parts[W], b block[W], keys []block[W]) block[W] {
	last, zero := len(keys)-1, a.Constant(64, 0)
	for r, k := range keys[:last] {
		b = add(a, b, k)
		b[0], b[1] = a.AES(b[0], b[1], zero, zero, true)
		if r+1 < last {
			b[0], b[1] = a.MixColumns(b[0], b[1])
		}
	}
	return add(a, b, keys[last])
}

func add[W any](a parts[W], b, c block[W]) block[W] {
	return block[W]{a.Xor(64, b[0], c[0]), a.Xor(64, b[1], c[1])}
}

// TestRounds checks that both ways to encrypt are those of AES, and that their formulas are equal.
func TestRounds(t *testing.T) {
	key := []byte("rounds of AES-128, in two ways")[:16]
	cipher, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 16)
	cipher.Encrypt(want, []byte("what to encrypt."))
	numbers := fromBytes([]byte("what to encrypt."))
	schedule := expand(key)

	c := new(algebra.Numbers)
	for name, got := range map[string]block[uint64]{
		"whole rounds":    wholeRounds(c, numbers, schedule),
		"parts of rounds": partsOfRounds(c, numbers, schedule),
	} {
		if !bytes.Equal(toBytes(got), want) {
			t.Errorf("%s: %x, want %x", name, toBytes(got), want)
		}
	}

	for _, whole := range []bool{true, false} {
		d := NewFormulas(nil)
		d.WholeRounds = whole
		values := make(map[Word]uint64)
		variables := func(x block[uint64]) (b block[Word]) {
			for k := range b {
				b[k] = d.Variable(64, len(values), 1<<64-1)
				values[b[k]] = x[k]
			}
			return b
		}
		b := variables(numbers)
		var keys []block[Word]
		for _, k := range schedule {
			keys = append(keys, variables(k))
		}
		for n := 2; n <= len(keys); n++ {
			x, y := wholeRounds(d, b, keys[:n]), partsOfRounds(d, b, keys[:n])
			if x != y {
				t.Errorf("%d rounds: %s and %s", n-1, d.String(x[0], 3), d.String(y[0], 3))
			}
			if !whole && n > 3 {
				continue // the formula is long
			}
			for k := range x {
				if got, want := d.Evaluate(x[k], values), wholeRounds(c, numbers, schedule[:n])[k]; got != want {
					t.Errorf("%d rounds: a formula is %#x, want %#x", n-1, got, want)
				}
			}
		}
	}
}

// TestNoRound checks that columns are mixed only in a round if rounds are whole.
func TestNoRound(t *testing.T) {
	defer func() {
		if _, ok := recover().(algebra.Unprovable); !ok {
			t.Error("MixColumns of variables is a formula")
		}
	}()
	d := NewFormulas(nil)
	d.WholeRounds = true
	d.MixColumns(d.Variable(64, 0, 1<<64-1), d.Variable(64, 1, 1<<64-1))
}

// expand is the key schedule of AES-128, FIPS 197 section 5.2.
func expand(key []byte) (keys []block[uint64]) {
	for w, constant := bytes.Clone(key), byte(1); len(keys) <= rounds; constant = algebra.Times2(constant) {
		keys = append(keys, fromBytes(w))
		turned := [4]byte{algebra.SBox[w[13]] ^ constant, algebra.SBox[w[14]], algebra.SBox[w[15]], algebra.SBox[w[12]]}
		for k := range w {
			if w[k] ^= turned[k%4]; k >= 4 {
				w[k] ^= turned[k%4] ^ w[k-4]
			}
		}
	}
	return keys
}

func fromBytes(b []byte) block[uint64] {
	return block[uint64]{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func toBytes(b block[uint64]) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, b[0]), b[1])
}
