// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/internal/mactest"
)

// TestUHASHSizes has each number of blocks that a kernel of UHASH gets in a call. What is wanted is carried on from each number to the next, by portable code.
func TestUHASHSizes(t *testing.T) {
	const most = 1024 // of pairs of blocks there are at most 512
	all := 256
	if mactest.Race {
		all = 30 // Go code takes 50 times as long
	}
	source := rand.NewChaCha8([32]byte([]byte("TestUHASHSizes, a 32 byte seed..")))
	p, words := mactest.Random(source, most*l1Block), make([]l1Words, most)
	var k uhashKey
	copy(k.l1.bytes()[:], mactest.Random(source, len(k.l1.bytes())))
	var start [maxIterations]uint128
	for i := range k.l2 {
		k.l2[i].set((*[24]byte)(mactest.Random(source, 24)))
		start[i].lo = source.Uint64()
	}
	k.n = maxIterations
	nhBlocksGeneric(words, &k, p)

	// After each number of blocks or of pairs, from start on.
	poly64Values, poly128Values := [][maxIterations]uint128{start}, [][maxIterations]uint128{start}
	for n, word := range words {
		y := poly64Values[n]
		for i := range y {
			y[i].lo = reduce64(poly64(y[i].lo, k.l2[i].k64, word[i]))
		}
		poly64Values = append(poly64Values, y)
	}
	for n := range most / 2 {
		y := poly128Values[n]
		for i := range y {
			y[i] = reduce128(poly128(y[i], k.l2[i].k128, uint128{words[2*n][i], words[2*n+1][i]}))
		}
		poly128Values = append(poly128Values, y)
	}

	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		for k.n = 2; k.n <= maxIterations; k.n++ { // for one the code is that for two
			for _, kernel := range []struct {
				name string
				most int
				run  func(n int) (got, want []uint64)
			}{
				{"nhPoly", most, func(n int) (got, want []uint64) {
					y := start
					nhPoly(&y, &k, p[:n*l1Block])
					for i := range k.n {
						got, want = append(got, reduce64(y[i].lo)), append(want, poly64Values[n][i].lo)
					}
					return got, want
				}},
				{"nhPoly128", most / 2, func(n int) (got, want []uint64) {
					y := start
					nhPoly128(&y, &k, p[:n*2*l1Block])
					for i := range k.n {
						y[i] = reduce128(y[i])
						got, want = append(got, y[i].hi, y[i].lo), append(want, poly128Values[n][i].hi, poly128Values[n][i].lo)
					}
					return got, want
				}},
				{"nhBlocks", most, func(n int) (got, want []uint64) {
					out := make([]l1Words, n)
					nhBlocks(out, &k, p[:n*l1Block])
					for b := range out {
						got, want = append(got, out[b][:k.n]...), append(want, words[b][:k.n]...)
					}
					return got, want
				}},
				{"nhAdd", groups, func(n int) (got, want []uint64) {
					for from := range groups - n + 1 {
						s := l1State{bytes: from * l1Group, sums: l1Words{1, 2, 3, 4}}
						w := s
						nhAdd(&s, &k, p[:n*l1Group])
						nhAddGeneric(&w, &k, p[:n*l1Group])
						got = append(append(got, s.sums[:k.n]...), uint64(s.bytes))
						want = append(append(want, w.sums[:k.n]...), uint64(w.bytes))
					}
					return got, want
				}},
			} {
				t.Run(fmt.Sprintf("%s/iterations=%d", kernel.name, k.n), func(t *testing.T) {
					var longer []int
					for n := all + 1; n <= kernel.most && !mactest.Race; n++ {
						// Of portable code, which takes much longer, those next to powers of two are enough.
						if hasNH() || n&(n-1) == 0 || (n-1)&(n-2) == 0 || n&(n+1) == 0 {
							longer = append(longer, n)
						}
					}
					mactest.Sizes(t, min(all, kernel.most), longer, func(n int, _ *mactest.Fault) ([]byte, []byte) {
						got, want := kernel.run(n)
						return mactest.Bytes(got), mactest.Bytes(want)
					})
				})
			}
		}
	})
}
