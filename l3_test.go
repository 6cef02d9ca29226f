// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/umacref"
)

func TestL3(t *testing.T) {
	check := func(k *l3Key, i int, m uint128) {
		t.Helper()
		var k1, k2, in []byte
		for _, k := range append(k.high[:], k.low[:]...) {
			k1 = binary.BigEndian.AppendUint64(k1, k[i])
		}
		k2 = binary.BigEndian.AppendUint32(k2, k.k2[i])
		in = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(in, m.hi), m.lo)
		want := binary.BigEndian.Uint32(umacref.L3Hash(k1, k2, in))
		if got := k.l3(i, m); got != want {
			t.Fatalf("l3(%#x, %d, %#x) = %#x, want %#x", k, i, m, got, want)
		}
		if m.hi == 0 && k.l3Short(i, m.lo) != want {
			t.Fatalf("l3Short(%#x, %d, %#x) = %#x, want %#x", k, i, m.lo, k.l3Short(i, m.lo), want)
		}
	}
	var highest l3Key
	for i := range maxIterations {
		highest.k2[i] = 1<<32 - 1
		for j := range 4 {
			highest.high[j][i], highest.low[j][i] = p36-1, p36-1
		}
	}
	for _, m := range []uint128{{}, {1, 1}, {1<<64 - 1, 1<<64 - 1}, {0, 1<<64 - 1}} {
		check(&l3Key{}, 0, m)
		check(&highest, 3, m)
	}
	for range 20000 {
		var k l3Key
		i := rand.IntN(maxIterations)
		for j := range 4 {
			k.high[j][i], k.low[j][i] = rand.Uint64()%p36, rand.Uint64()%p36
		}
		k.k2[i] = rand.Uint32()
		check(&k, i, uint128{rand.Uint64() >> rand.IntN(65), rand.Uint64()})
		check(&k, i, uint128{0, rand.Uint64() & bits.Reverse64(rand.Uint64())})
	}
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
