// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// These tests look at UHASH layer by layer, with states injected that no message
// is known to lead to.

// TestNHPoly compares the kernels for runs of blocks with umacref, and with POLY step
// by step.
func TestNHPoly(t *testing.T) {
	forAllKernels(t, func(t *testing.T) {
		rng := rand.NewChaCha8([32]byte([]byte("TestNHPoly.  a seed of 32 bytes.")))
		for round := range 60 {
			raw := make([]byte, l1Block+16*(maxIterations-1))
			rng.Read(raw)
			p := make([]byte, l1Block*(1+round%20))
			rng.Read(p)
			k := uhashKey{n: 1 + round%4}
			k.l1.set(0, raw)
			var y, want [maxIterations]uint128
			var words, wantWords [20]l1Words
			for i := range k.n {
				k.l2[i].k64 = rng.Uint64() & 0x01ffffff01ffffff
				y[i].lo = rng.Uint64()
				want[i] = y[i]
			}
			for b := range len(p) / l1Block {
				w := refNH(raw, p[b*l1Block:][:l1Block])
				for i := range k.n {
					wantWords[b][i] = w[i] + 8*l1Block
					want[i].lo = reduce64(poly64(want[i].lo, k.l2[i].k64, wantWords[b][i]))
				}
			}
			nhPoly(&y, &k, p)
			for i := range k.n {
				y[i].lo = reduce64(y[i].lo)
			}
			if y != want {
				t.Errorf("%d blocks, %d iterations: %x, want %x", len(p)/l1Block, k.n, y, want)
			}
			nhBlocks(words[:len(p)/l1Block], &k, p)
			for b := range words {
				clear(words[b][k.n:]) // meaningless
			}
			if words != wantWords {
				t.Errorf("%d blocks, %d iterations: words %x, want %x", len(p)/l1Block, k.n, words, wantWords)
			}
		}
	})
}

// TestKeyVectors checks that the last vector of the L1 key that a kernel loads, which
// begins with the last half of hi, ends within the uhashKey.
func TestKeyVectors(t *testing.T) {
	const vector = 64
	var k uhashKey
	last := unsafe.Offsetof(k.l1) + unsafe.Offsetof(k.l1.hi) + unsafe.Sizeof(k.l1.hi) - 4*l1Half
	if last+vector > unsafe.Sizeof(k) {
		t.Errorf("a vector at %d in a uhashKey of %d bytes", last, unsafe.Sizeof(k))
	}
}

// TestNHPolySteps gives the kernels chosen L1 words: those around the limit from
// which on POLY takes the marker in, and those that make the rare carries, with
// keys and values of the polynomial that do so too.
func TestNHPolySteps(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestNHPolySteps, a 32 byte seed."))))
	keys := []uint64{0, 1, 2, 3, 4, 5, 7, 8, 0x01ffffff01ffffff, 0x00f0000f01020304}
	for len(keys) < 40 {
		// Half of them make a carry in the kernels' k^2, as one in 256 does.
		k := rng.Uint64() & 0x01ffffff01ffffff
		hi, lo := bits.Mul64(k, k)
		if _, carry := bits.Add64(lo, offset64*hi, 0); carry == 1 || len(keys)%2 == 0 {
			keys = append(keys, k)
		}
	}
	values := append([]uint64{1<<64 - 1, 1<<64 - 2}, edges64...)
	for blocks := 1; blocks <= 3; blocks += 2 {
		for round := range 3000 {
			k := uhashKey{n: 1 + round%4} // its L1 key is zeros
			word := -rng.Uint64N(5000)
			switch rng.Uint64N(3) {
			case 0:
				word = edges64[rng.IntN(len(edges64))]
			case 1:
				word = rng.Uint64() | rng.Uint64()
			}
			p := make([]byte, blocks*l1Block)
			for b := range blocks {
				setNH(p[b*l1Block:], word-8*l1Block)
			}
			var start [maxIterations]uint128
			var want [maxIterations]uint64
			for i := range k.n {
				k.l2[i].k64 = keys[rng.IntN(len(keys))]
				start[i].lo = values[rng.IntN(len(values))]
				y := big64(start[i].lo)
				for range blocks {
					y = bigPoly(y, big64(k.l2[i].k64), big64(word), bigP64, 64)
				}
				want[i] = y.Uint64()
			}
			eachKernel(func(kernel string) {
				y := start
				nhPoly(&y, &k, p)
				for i := range k.n {
					if got := reduce64(y[i].lo); got != want[i] {
						t.Fatalf("%s, %d blocks of word %#x, iteration %d of %d: k %#x, y %#x: %#x, want %#x", kernel, blocks, word, i, k.n, k.l2[i].k64, start[i].lo, got, want[i])
					}
				}
			})
		}
	}
}

// TestNHPolyCarry sweeps over words for which a step of POLY ends next to 2^64, where
// its last carry comes, in a run of blocks and at the end of a message.
func TestNHPolyCarry(t *testing.T) {
	const blocks = 3
	p := make([]byte, blocks*l1Block)
	for d := range uint64(4200) {
		word := -d
		for b := range blocks {
			setNH(p[b*l1Block:], word-8*l1Block)
		}
		for n := 1; n <= maxIterations; n++ {
			k := uhashKey{n: n} // its L1 key is zeros
			var start, want [maxIterations]uint128
			var long [maxIterations]uint64
			for i := range n {
				k.l2[i].k64 = (d + uint64(n*i)) % 10
				start[i].lo = -(1 + (d+uint64(i))%2)
				want[i].lo = poly64(start[i].lo, k.l2[i].k64, word)
				long[i] = reduce64(poly64(poly64(want[i].lo, k.l2[i].k64, word), k.l2[i].k64, word))
			}
			for i := range n {
				for j := range k.l3.low {
					k.l3.low[j][i] = uint64(1+j+5*i) << 30
				}
			}
			eachKernel(func(kernel string) {
				one, three := start, start
				nhPoly(&one, &k, p[:l1Block])
				nhPoly(&three, &k, p)
				l1 := l1State{bytes: l1Block}
				for i := range l1.sums {
					l1.sums[i] = word - 8*l1Block
				}
				var tag [maxUMACTagSize]byte
				k.tagLast(&tag, &l2State{words: 1, y: start}, &l1, nil, l1Block, pad{})
				for i := range n {
					if got := reduce64(one[i].lo); got != reduce64(want[i].lo) {
						t.Fatalf("%s, word %#x, iteration %d of %d: %#x, want %#x", kernel, word, i, n, got, reduce64(want[i].lo))
					}
					if got := reduce64(three[i].lo); got != long[i] {
						t.Fatalf("%s, 3 blocks of word %#x, iteration %d of %d: %#x, want %#x", kernel, word, i, n, got, long[i])
					}
					if got, want := binary.BigEndian.Uint32(tag[4*i:]), k.l3.l3Short(i, reduce64(want[i].lo)); got != want {
						t.Fatalf("%s, last word %#x, iteration %d of %d: L3 gives %#x, want %#x", kernel, word, i, n, got, want)
					}
				}
			})
		}
	}
}

// setNH makes p a block whose NH hash under a key of zeros is word, in all
// iterations: a sum of three products.
func setNH(p []byte, word uint64) {
	const most = 1<<32 - 1
	factor := word / most
	for i, product := range [][2]uint64{
		{most, factor / 2},
		{most, factor - factor/2},
		{1, word % most},
	} {
		binary.LittleEndian.PutUint32(p[4*i:], uint32(product[0]))
		binary.LittleEndian.PutUint32(p[4*i+16:], uint32(product[1]))
	}
}
