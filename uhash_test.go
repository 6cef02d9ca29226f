// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/umacref"
)

// These tests look at UHASH layer by layer, with states injected that no message
// is known to lead to.

func TestNH(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestNH.      a seed of 32 bytes.")))
	for round := range 20 {
		raw := make([]byte, 4*l1KeyWords)
		block := make([]byte, l1Block)
		switch round {
		case 0: // both all zeros
		case 1: // every sum of a word of key and message is 2^32 - 1
			for i := range raw {
				raw[i] = 0xff
			}
		case 2: // every sum wraps around to 2^32 - 2
			for i := range raw {
				raw[i] = 0xff
			}
			for i := range block {
				block[i] = 0xff
			}
		default:
			rng.Read(raw)
			rng.Read(block)
		}
		var key [l1KeyWords]uint32
		for i := range key {
			key[i] = binary.BigEndian.Uint32(raw[4*i:])
		}
		// umacref takes the message as RFC 4418 has it after its byte swap.
		swapped := make([]byte, l1Block)
		for i := 0; i < l1Block; i += 4 {
			binary.BigEndian.PutUint32(swapped[i:], binary.LittleEndian.Uint32(block[i:]))
		}
		for n := l1Group; n <= l1Block; n += l1Group {
			var want l1Words
			for i := range want {
				want[i] = binary.BigEndian.Uint64(umacref.NH(raw[4*toeplitzShift*i:][:l1Block], swapped[:n]))
			}
			cut := l1Group * rand.IntN(n/l1Group+1)
			for iterations := 1; iterations <= maxIterations; iterations++ {
				start := l1Words{1, 1 << 63, 3, 1<<64 - 1}
				sums := start
				nh(&sums, key[:], block[:cut], iterations)
				nh(&sums, key[cut/4:], block[cut:n], iterations)
				for i := range sums {
					add := want[i]
					if i >= iterations {
						add = 0
					}
					if sums[i] != start[i]+add {
						t.Fatalf("%d bytes cut at %d, %d iterations: sum %d grew by %#x, want %#x", n, cut, iterations, i, sums[i]-start[i], add)
					}
				}
			}
		}
	}
}

// edges64 are words next to every limit of POLY-64.
var edges64 = func() (edges []uint64) {
	for _, limit := range []uint64{0, 1 << 32, 1 << 57, 1 << 63, 1<<64 - 1<<32, 1<<64 - offset64, 1<<64 - offset64/2} {
		for d := range uint64(5) {
			edges = append(edges, limit+d-2, limit+offset64+d-2, limit-offset64+d-2)
		}
	}
	return edges
}()

func big64(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

func big128(x uint128) *big.Int {
	return new(big.Int).Or(new(big.Int).Lsh(big64(x.hi), 64), big64(x.lo))
}

var (
	bigP64  = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(offset64))
	bigP128 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(offset128))
)

// bigPoly is one step of RFC 4418 section 5.3.2, branches and all.
func bigPoly(y, k, m, p *big.Int, wordBits uint) *big.Int {
	one := big.NewInt(1)
	step := func(y, m *big.Int) *big.Int {
		r := new(big.Int).Mul(k, y)
		return r.Mod(r.Add(r, m), p)
	}
	full := new(big.Int).Lsh(one, wordBits)
	maxWordRange := new(big.Int).Sub(full, new(big.Int).Lsh(one, wordBits/2))
	if wordBits == 128 {
		maxWordRange = new(big.Int).Sub(full, new(big.Int).Lsh(one, 96))
	}
	if m.Cmp(maxWordRange) >= 0 {
		y = step(y, new(big.Int).Sub(p, one))
		offset := new(big.Int).Sub(full, p)
		return step(y, new(big.Int).Sub(m, offset))
	}
	return step(y, m)
}

func TestPoly64(t *testing.T) {
	check := func(y, k, m uint64) {
		k &= 0x01ffffff01ffffff
		want := bigPoly(big64(y), big64(k), big64(m), bigP64, 64).Uint64()
		if got := reduce64(poly64(y, k, m)); got != want {
			t.Fatalf("y %#x, k %#x, m %#x: %#x, want %#x", y, k, m, got, want)
		}
	}
	for _, y := range edges64 {
		for _, k := range edges64 {
			for _, m := range edges64 {
				if rand.IntN(20) == 0 || y > 1<<64-200 {
					check(y, k, m)
				}
			}
		}
	}
	for range 100000 {
		check(rand.Uint64(), rand.Uint64(), rand.Uint64()|rand.Uint64()|rand.Uint64()<<rand.IntN(64))
	}
}

func TestPoly128(t *testing.T) {
	check := func(y, k, m uint128) {
		k.hi &= 0x01ffffff01ffffff
		k.lo &= 0x01ffffff01ffffff
		want := bigPoly(big128(y), big128(k), big128(m), bigP128, 128)
		if got := reduce128(poly128(y, k, m)); big128(got).Cmp(want) != 0 {
			t.Fatalf("y %#x, k %#x, m %#x: %#x, want %#x", y, k, m, got, want)
		}
	}
	var edges []uint128
	for _, hi := range []uint64{0, 1, 1<<57 - 1, 1 << 63, 0xfffffffe_ffffffff, 0xffffffff_00000000, 1<<64 - 2, 1<<64 - 1} {
		for _, lo := range []uint64{0, 1, offset128 - 1, offset128, offset128 + 1, 1 << 63,
			1<<64 - offset128 - 1, 1<<64 - offset128, 1<<64 - offset128 + 1, 1<<64 - 2, 1<<64 - 1} {
			edges = append(edges, uint128{hi, lo})
		}
	}
	for _, y := range edges {
		for _, k := range edges {
			for _, m := range edges {
				if rand.IntN(20) == 0 || y.hi == 1<<64-1 && k.hi == 1<<64-1 {
					check(y, k, m)
				}
			}
		}
	}
	any128 := func() uint128 {
		x := uint128{rand.Uint64(), rand.Uint64()}
		if rand.IntN(4) == 0 {
			x.hi = 1<<64 - 1 // so that the marker is taken often
		}
		return x
	}
	for range 100000 {
		check(any128(), any128(), any128())
	}
}

func TestReduce(t *testing.T) {
	for _, x := range edges64 {
		if got, want := reduce64(x), new(big.Int).Mod(big64(x), bigP64).Uint64(); got != want {
			t.Errorf("reduce64(%#x) = %#x, want %#x", x, got, want)
		}
	}
	for _, n := range []uint64{0, 1, 2, 1 << 10, 1<<19 - 1, 1 << 19, 1<<28 - 1} {
		for d := range uint64(16) {
			for _, x := range []uint64{n*p36 + d - 8, n<<36 + d - 8, 1<<64 - 1 - d} {
				if got, want := reduce36(x), x%p36; got != want {
					t.Errorf("reduce36(%#x) = %#x, want %#x", x, got, want)
				}
			}
		}
	}
}

func TestL3(t *testing.T) {
	check := func(k *l3Key, m uint128) {
		t.Helper()
		var k1, k2, in []byte
		for _, k := range k.k1 {
			k1 = binary.BigEndian.AppendUint64(k1, k)
		}
		k2 = binary.BigEndian.AppendUint32(k2, k.k2)
		in = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(in, m.hi), m.lo)
		want := binary.BigEndian.Uint32(umacref.L3Hash(k1, k2, in))
		if got := l3(k, m); got != want {
			t.Fatalf("l3(%#x, %#x) = %#x, want %#x", k, m, got, want)
		}
		if m.hi == 0 && l3Short(k, m.lo) != want {
			t.Fatalf("l3Short(%#x, %#x) = %#x, want %#x", k, m.lo, l3Short(k, m.lo), want)
		}
	}
	highest := l3Key{k2: 1<<32 - 1}
	for i := range highest.k1 {
		highest.k1[i] = p36 - 1
	}
	for _, m := range []uint128{{}, {1, 1}, {1<<64 - 1, 1<<64 - 1}, {0, 1<<64 - 1}} {
		check(&l3Key{}, m)
		check(&highest, m)
	}
	for range 20000 {
		var k l3Key
		for i := range k.k1 {
			k.k1[i] = rand.Uint64() % p36
		}
		k.k2 = rand.Uint32()
		check(&k, uint128{rand.Uint64() >> rand.IntN(65), rand.Uint64()})
		check(&k, uint128{0, rand.Uint64() & bits.Reverse64(rand.Uint64())})
	}
}
