// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import "encoding/binary"

// functions are those of FIPS 180-4 sections 4.1.2 and 4.1.3: three distances each, of which the last
// ones of small sigmas are shifts.
type functions struct{ sum0, sum1, sigma0, sigma1 [3]int }

var (
	functions256 = functions{[3]int{2, 13, 22}, [3]int{6, 11, 25}, [3]int{7, 18, 3}, [3]int{17, 19, 10}}
	functions512 = functions{[3]int{28, 34, 39}, [3]int{14, 18, 41}, [3]int{1, 8, 7}, [3]int{19, 61, 6}}
)

func rotate[W Word](x W, n int) W { return x>>n | x<<(8*wordSize[W]()-n) }

func sum[W Word](x W, n [3]int) W { return rotate(x, n[0]) ^ rotate(x, n[1]) ^ rotate(x, n[2]) }

func sigma[W Word](x W, n [3]int) W { return rotate(x, n[0]) ^ rotate(x, n[1]) ^ x>>n[2] }

// compressGeneric is Compress in portable Go, FIPS 180-4 sections 6.2.2 and 6.4.2.
func compressGeneric[W Word](state *State[W], p []byte) {
	f, rounds := &functions256, len(k256)
	if wordSize[W]() == 8 {
		f, rounds = &functions512, len(k512)
	}
	w := make([]W, rounds)
	for ; len(p) >= BlockSize[W](); p = p[BlockSize[W]():] {
		for t := range w {
			if t < 16 {
				w[t] = word[W](p[t*wordSize[W]():])
			} else {
				w[t] = sigma(w[t-2], f.sigma1) + w[t-7] + sigma(w[t-15], f.sigma0) + w[t-16]
			}
		}
		a, b, c, d, e, f1, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
		for t := range w {
			t1 := h + sum(e, f.sum1) + (e&f1 ^ ^e&g) + constant[W](t) + w[t]
			t2 := sum(a, f.sum0) + (a&b ^ a&c ^ b&c)
			a, b, c, d, e, f1, g, h = t1+t2, a, b, c, d+t1, e, f1, g
		}
		for i, x := range [8]W{a, b, c, d, e, f1, g, h} {
			state[i] += x
		}
	}
}

func constant[W Word](t int) W {
	if wordSize[W]() == 4 {
		return W(k256[t])
	}
	return W(k512[t])
}

// word returns the big-endian word at the beginning of p.
func word[W Word](p []byte) W {
	if wordSize[W]() == 4 {
		return W(binary.BigEndian.Uint32(p))
	}
	return W(binary.BigEndian.Uint64(p))
}
