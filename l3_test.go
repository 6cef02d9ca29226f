// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

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
