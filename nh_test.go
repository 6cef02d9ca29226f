// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// TestNH compares the kernels of L1 with umacref, over all lengths.
func TestNH(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		rng := rand.NewChaCha8([32]byte([]byte("TestNH.      a seed of 32 bytes.")))
		const keySize = l1Block + 16*(maxIterations-1)
		for round := range 10 {
			raw := make([]byte, keySize)
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
			var k uhashKey
			k.l1.set(raw)
			for n := 0; n <= l1Block; n++ {
				if n%7 != round%7 && n%l1Group != 0 {
					continue
				}
				want := refNH(raw, block[:n])
				for k.n = 1; k.n <= maxIterations; k.n++ {
					start := l1Words{1, 1 << 63, 3, 1<<64 - 1}
					s := l1State{sums: start}
					cut := l1Group * int(rng.Uint64()%uint64(n/l1Group+1))
					if cut > 0 {
						nhAdd(&s, &k, block[:cut])
					}
					if s.bytes != cut {
						t.Fatalf("%d bytes added, want %d", s.bytes, cut)
					}
					var words l1Words
					k.lastWords(&words, &s, block[cut:n], uint64(n))
					for i, word := range words[:k.n] {
						if want := start[i] + want[i] + 8*uint64(n); word != want {
							t.Fatalf("%d bytes cut at %d, iteration %d of %d: %#x, want %#x", n, cut, i, k.n, word, want)
						}
					}
				}
			}
		}
	})
}

// refNH is NH of a message or block, zero-padded, in four iterations.
func refNH(raw, p []byte) (want l1Words) {
	n := max(l1Group, (len(p)+l1Group-1)/l1Group*l1Group)
	padded := make([]byte, n)
	copy(padded, p)
	// umacref.NH wants the message after the byte swap of RFC 4418 section 5.2.1.
	for i := 0; i < n; i += 4 {
		binary.BigEndian.PutUint32(padded[i:], binary.LittleEndian.Uint32(padded[i:]))
	}
	for i := range want {
		want[i] = binary.BigEndian.Uint64(umacref.NH(raw[16*i:][:l1Block], padded))
	}
	return want
}

// set sets the key to raw, the bytes of the key in RFC 4418.
func (k *l1Key) set(raw []byte) {
	b := k.bytes()
	lo, hi := b[:4*len(k.lo)], b[4*len(k.lo):]
	for len(raw) > 0 {
		lo = lo[copy(lo, raw[:16]):]
		raw = raw[16:]
		if len(raw) > 0 {
			hi = hi[copy(hi, raw[:16]):]
			raw = raw[16:]
		}
	}
	k.swap()
}
