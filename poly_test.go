// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

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

// from128 is the inverse of big128.
func from128(x *big.Int) uint128 {
	low := new(big.Int).And(x, big64(1<<64-1))
	return uint128{new(big.Int).Rsh(x, 64).Uint64(), low.Uint64()}
}

var (
	bigP64  = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(offset64))
	bigP128 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(offset128))
)

// bigPoly is one step of RFC 4418 section 5.3.2, with its branches.
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
			x.hi = 1<<64 - 1 // so that many words are marked
		}
		return x
	}
	for range 100000 {
		check(any128(), any128(), any128())
	}
}

func TestReduce64(t *testing.T) {
	for _, x := range edges64 {
		if got, want := reduce64(x), new(big.Int).Mod(big64(x), bigP64).Uint64(); got != want {
			t.Errorf("reduce64(%#x) = %#x, want %#x", x, got, want)
		}
	}
}

// poly128Carries are factors for which mul128 has carries that random ones do not reach: those of
// its last lines.
var poly128Carries = [][2]uint128{
	{{0x01fff9e50136219c, 0x01c0b6b8017a3c67}, {0xe65f2e869cfd2920, 0x977a1a35923dbfbe}}, // the last one
	{{0x01ffffff01ffffff, 0x01ffffff01ffffff}, {0xce168add6236f139, 0xf6708ffb3847fd1d}}, // into t2
	{{0x01ffffff01ffffff, 0x01ffffff01ffffff}, {1<<64 - 1, 1<<64 - 1}},
}

func TestPoly128Carries(t *testing.T) {
	for _, f := range poly128Carries {
		want := new(big.Int).Mul(big128(f[0]), big128(f[1]))
		want.Mod(want, bigP128)
		if got := reduce128(mul128(f[0], f[1])); big128(got).Cmp(want) != 0 {
			t.Errorf("%#x * %#x = %#x, want %#x", f[0], f[1], got, want)
		}
	}
}

// TestL2Transition runs L2 over the change from POLY-64 to POLY-128, with values and
// words next to the moduli, and compares it with the polynomial on math/big.
func TestL2Transition(t *testing.T) {
	keys := []l2Key{
		{k64: 1, k128: uint128{0, 1}},
		{k64: 0x01ffffff01ffffff, k128: uint128{0x01ffffff01ffffff, 3}},
		{k64: 5, k128: uint128{0x01ffffff01ffffff, 0x01ffffff01ffffff}},
	}
	for _, key := range keys {
		k := []l2Key{key}
		for _, y := range edges64 {
			for n := range 5 { // words of POLY-128
				s := l2State{words: poly64Words, y: [maxIterations]uint128{{lo: y}}}
				sum := func(words []uint64) *big.Int {
					want := bigPoly(big.NewInt(1), big128(key.k128), new(big.Int).Mod(big64(y), bigP64), bigP128, 128)
					words = append(words, 0x80<<56)
					if len(words)%2 == 1 {
						words = append(words, 0)
					}
					for i := 0; i < len(words); i += 2 {
						want = bigPoly(want, big128(key.k128), big128(uint128{words[i], words[i+1]}), bigP128, 128)
					}
					return want
				}
				var words []uint64
				for i := range n {
					word := []uint64{7, 1<<64 - 1, 0, 1<<64 - 1<<32, 1<<64 - offset128}[(uint64(i)+y)%5]
					words = append(words, word)
					s.write(k, []l1Words{{word}})
				}
				if n == 0 {
					continue // POLY-64 has them all
				}
				if got, want := s.sum128(0, &k[0]), sum(words); big128(got).Cmp(want) != 0 {
					t.Fatalf("key %#x, y %#x, words %#x: %#x, want %#x", key, y, words, got, want)
				}
			}
		}
	}
	// A last step that ends between p128 and 2^128.
	k := keys[:1]
	s := l2State{words: poly64Words + 2}
	for _, d := range []uint64{1, 2, 3, 100, offset128, offset128 + 1} {
		// y + 0x80<<120 = 2^128 - d
		s.y[0] = uint128{0x7fffffff_ffffffff, -d}
		want := new(big.Int).Mod(new(big.Int).Add(big128(s.y[0]), big128(uint128{hi: 0x80 << 56})), bigP128)
		if got := s.sum128(0, &k[0]); big128(got).Cmp(want) != 0 {
			t.Errorf("y %#x: %#x, want %#x", s.y[0], got, want)
		}
	}
}

func TestL3(t *testing.T) {
	check := func(k *uhashKey, i int, m uint128) {
		t.Helper()
		var k1, k2, in []byte
		for _, k := range append(k.l3High[:], k.l3.low[:]...) {
			k1 = binary.BigEndian.AppendUint64(k1, k[i])
		}
		k2 = binary.BigEndian.AppendUint32(k2, k.l3.k2[i])
		in = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(in, m.hi), m.lo)
		want := binary.BigEndian.Uint32(umacref.L3Hash(k1, k2, in))
		if got := k.l3Long(i, m); got != want {
			t.Fatalf("l3Long(%#x, %d, %#x) = %#x, want %#x", k.l3, i, m, got, want)
		}
		if m.hi == 0 && k.l3Short(i, m.lo) != want {
			t.Fatalf("l3Short(%#x, %d, %#x) = %#x, want %#x", k.l3, i, m.lo, k.l3Short(i, m.lo), want)
		}
	}
	var highest uhashKey
	for i := range maxIterations {
		highest.l3.k2[i] = 1<<32 - 1
		for j := range 4 {
			highest.l3High[j][i], highest.l3.low[j][i] = p36-1, p36-1
		}
	}
	for _, m := range []uint128{{}, {1, 1}, {1<<64 - 1, 1<<64 - 1}, {0, 1<<64 - 1}} {
		check(&uhashKey{}, 0, m)
		check(&highest, 3, m)
	}
	for range 20000 {
		var k uhashKey
		i := rand.IntN(maxIterations)
		for j := range 4 {
			k.l3High[j][i], k.l3.low[j][i] = rand.Uint64()%p36, rand.Uint64()%p36
		}
		k.l3.k2[i] = rand.Uint32()
		check(&k, i, uint128{rand.Uint64() >> rand.IntN(65), rand.Uint64()})
		check(&k, i, uint128{0, rand.Uint64() & bits.Reverse64(rand.Uint64())})
	}
}

// TestTagWords compares L3 in the kernels with l3Short, next to every multiple of p36 that
// the sums can be.
func TestTagWords(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		check := func(k *uhashKey, words *l1Words, x pad) {
			t.Helper()
			var tag, want [maxUMACTagSize]byte
			var h [maxIterations]uint32
			for i := range k.n {
				h[i] = k.l3Short(i, words[i])
			}
			x.xor(&want, &h, k.n)
			tagWords(&tag, k, words, x)
			if got, want := tag[:4*k.n], want[:4*k.n]; !bytes.Equal(got, want) {
				t.Fatalf("%d iterations, L3 key %#x, words %#x: tag %x, want %x", k.n, k.l3, words, got, want)
			}
		}
		rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestTagWords. a seed of 32 bytes"))))
		for n := 1; n <= maxIterations; n++ {
			for range 1000 {
				k, words := uhashKey{n: n}, l1Words{}
				for i := range n {
					k.l3.k2[i], words[i] = rng.Uint32(), rng.Uint64()
					for j := range 4 {
						k.l3.low[j][i] = rng.Uint64N(p36)
					}
				}
				check(&k, &words, pad{rng.Uint64(), rng.Uint64()})
			}
			for _, a := range []uint64{0, 1, 2, 3, 1 << 15, 1<<16 - 1} {
				for c := range uint64(8) {
					// (p36-1)*a + a + c + p36-4 in iteration at, the largest in the others.
					for at := range n {
						k, words := uhashKey{n: n}, l1Words{}
						for i := range n {
							words[i] = 1<<64 - 1
							for j := range 4 {
								k.l3.low[j][i] = p36 - 1
							}
						}
						k.l3.low[1][at], k.l3.low[2][at], k.l3.low[3][at] = 1, 1, p36-4
						words[at] = a<<48 | a<<32 | c<<16 | 1
						check(&k, &words, pad{})
					}
				}
			}
		}
	})
}

func TestReduce36(t *testing.T) {
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
