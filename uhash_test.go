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
	"slices"
	"strings"
	"testing"
	"unsafe"

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
					added := cut
					if rng.Uint64()%2 == 0 { // and all other whole groups
						added = n &^ (l1Group - 1)
					}
					for _, p := range [][]byte{block[:cut], block[cut:added]} {
						if len(p) > 0 {
							nhAdd(&s, &k, p)
						}
					}
					if s.bytes != added {
						t.Fatalf("%d bytes added, want %d", s.bytes, added)
					}
					var words l1Words
					lastWordsGeneric(&words, &k, &s, block[added:n], uint64(n))
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

// TestNHOffsets compares the portable NH with umacref at all offsets from a word, and with one that copies.
func TestNHOffsets(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestNHOffsets. A seed, 32 bytes.")))
	raw, data := mactest.Random(rng, l1Block+16*(maxIterations-1)), mactest.Random(rng, l1Block)
	var k l1Key
	k.set(raw)
	buf := new(struct {
		_     [0]uint64
		bytes [l1Block + 8]byte
	})
	for n := l1Group; n <= l1Block; n += l1Group {
		want := refNH(raw, data[:n])
		for offset := range 8 {
			p := buf.bytes[offset:][:n]
			copy(p, data)
			if may := mayLoadWords(p); needsAligned && may != (offset%4 == 0) {
				t.Fatalf("at offset %d mayLoadWords returns %v", offset, may) // qemu does not need it
			}
			for iterations := 2; iterations <= maxIterations; iterations += 2 {
				for name, f := range map[string]func(*l1Words, *l1Key, int, []byte, int){"nh": nh, "nhCopied": nhCopied} {
					var sums l1Words
					cut := l1Group * int(rng.Uint64()%uint64(n/l1Group))
					f(&sums, &k, 0, p[:cut], iterations)
					f(&sums, &k, cut/l1Group, p[cut:], iterations)
					if !slices.Equal(sums[:iterations], want[:iterations]) {
						t.Fatalf("%s of %d bytes at offset %d, cut at %d, %d iterations: %#x, want %#x", name, n, offset, cut, iterations, sums, want)
					}
				}
			}
		}
	}
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

// These tests inject states that no message is known to reach.

// TestNHPoly compares runs of blocks in the kernels with umacref's NH and poly64.
func TestNHPoly(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		rng := rand.NewChaCha8([32]byte([]byte("TestNHPoly.  a seed of 32 bytes.")))
		for round := range 60 {
			raw := make([]byte, l1Block+16*(maxIterations-1))
			rng.Read(raw)
			p := make([]byte, l1Block*(1+round%20))
			rng.Read(p)
			k := uhashKey{n: 1 + round%4}
			k.l1.set(raw)
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
			clear(y[k.n:]) // meaningless
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

// TestNHPoly128 compares runs of pairs of blocks in the kernels with umacref's NH and the polynomial
// on math/big.
func TestNHPoly128(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		rng := rand.NewChaCha8([32]byte([]byte("TestNHPoly128, a seed, 32 bytes.")))
		for round := range 60 {
			raw := make([]byte, l1Block+16*(maxIterations-1))
			rng.Read(raw)
			p := make([]byte, 2*l1Block*(1+round%20))
			rng.Read(p)
			k := uhashKey{n: 1 + round%4}
			k.l1.set(raw)
			var y, want [maxIterations]uint128
			for i := range k.n {
				k.l2[i].k128 = uint128{rng.Uint64() & 0x01ffffff01ffffff, rng.Uint64() & 0x01ffffff01ffffff}
				y[i] = uint128{rng.Uint64(), rng.Uint64()}
				value := big128(y[i])
				for m := p; len(m) > 0; m = m[2*l1Block:] {
					pair := uint128{refNH(raw, m[:l1Block])[i] + 8*l1Block, refNH(raw, m[l1Block:2*l1Block])[i] + 8*l1Block}
					value = bigPoly(value, big128(k.l2[i].k128), big128(pair), bigP128, 128)
				}
				want[i] = from128(value)
			}
			nhPoly128(&y, &k, p)
			for i := range k.n {
				if got := reduce128(y[i]); got != want[i] {
					t.Errorf("%d blocks, iteration %d of %d: %#x, want %#x", len(p)/l1Block, i, k.n, got, want[i])
				}
			}
		}
	})
}

// TestNHPoly128Steps runs POLY-128 in the kernels with words, keys and values that are rare in
// messages, and compares each step with the polynomial on math/big.
func TestNHPoly128Steps(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestNHPoly128Steps, a 32 B seed."))))
	edge := func() uint64 {
		limits := []uint64{0, 1 << 57, 1 << 63, 1<<64 - 1<<32, 1<<64 - offset128, offset128, 159 * offset128}
		return limits[rng.IntN(len(limits))] + rng.Uint64N(5) - 2
	}
	word := func() uint64 {
		switch rng.IntN(3) {
		case 0:
			return edge()
		case 1:
			return rng.Uint64() | rng.Uint64()
		}
		return -rng.Uint64N(5000)
	}
	check := func(k *uhashKey, start *[maxIterations]uint128, pairs []uint128) {
		var p []byte
		for _, m := range pairs {
			p = append(append(p, blocksOf(m.hi, 1)...), blocksOf(m.lo, 1)...)
		}
		var want [maxIterations]uint128
		for i := range k.n {
			value := big128(start[i])
			for _, m := range pairs {
				value = bigPoly(value, big128(k.l2[i].k128), big128(m), bigP128, 128)
			}
			want[i] = from128(value)
		}
		mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
			y := *start
			nhPoly128(&y, k, p)
			for i := range k.n {
				if got := reduce128(y[i]); got != want[i] {
					t.Fatalf("%s, pairs %#x, iteration %d of %d: k %#x, y %#x: %#x, want %#x", kernel, pairs, i, k.n, k.l2[i].k128, start[i], got, want[i])
				}
			}
		})
	}
	for round := range 4000 {
		k := uhashKey{n: 1 + round%4} // its L1 key is zeros
		var start [maxIterations]uint128
		for i := range k.n {
			start[i] = uint128{word(), word()}
			switch rng.IntN(3) {
			case 0:
				k.l2[i].k128 = uint128{edge() & 0x01ffffff01ffffff, edge() & 0x01ffffff01ffffff}
			case 1:
				k.l2[i].k128.lo = rng.Uint64N(300) // a product next to the words
			case 2:
				k.l2[i].k128 = uint128{rng.Uint64() & 0x01ffffff01ffffff, rng.Uint64() & 0x01ffffff01ffffff}
			}
		}
		pairs := []uint128{{word(), word()}, {word(), word()}, {word(), word()}}[:1+round%3]
		check(&k, &start, pairs)
		// The last pair again, such that the value after it is next to 2^128 in the first iteration.
		last := &pairs[len(pairs)-1]
		if value := bigPoly(big128(start[0]), big128(k.l2[0].k128), big128(uint128{}), bigP128, 128); len(pairs) == 1 {
			near := from128(new(big.Int).Sub(bigP128, value))
			lo, carry := bits.Add64(near.lo, rng.Uint64N(2*offset128), 0)
			*last = uint128{near.hi + carry, lo}
			check(&k, &start, pairs)
		}
	}
	// Products with carries that random ones do not reach, see poly128Carries.
	for _, f := range poly128Carries {
		for _, m := range []uint128{{}, {0, 1}, {1<<63 - 1, 1<<64 - 1}, {1<<64 - 1<<32 - 1, 1<<64 - 1}} {
			k, start := uhashKey{n: maxIterations}, [maxIterations]uint128{f[1], f[1], f[1], f[1]}
			for i := range k.l2 {
				k.l2[i].k128 = f[0]
			}
			check(&k, &start, []uint128{m})
		}
	}
}

// TestUnusedIterations checks that a key has zeros for the iterations that it does not use,
// whatever was in its place before: kernels may compute with them.
func TestUnusedIterations(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		var k UMACKey
		for n := 1; n <= maxIterations; n++ {
			for _, tagSize := range []int{UMAC128Size, 4 * n} {
				if err := k.Init(make([]byte, 32), tagSize); err != nil {
					t.Fatal(err)
				}
			}
			for i := n; i < maxIterations; i++ {
				u := &k.uhash
				zero := u.l2[i] == l2Key{} && u.l3.k2[i] == 0
				for j := range u.l3.low {
					zero = zero && u.l3.low[j][i] == 0 && u.l3High[j][i] == 0
				}
				if !zero {
					t.Errorf("%d iterations: iteration %d has a key", n, i)
				}
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

// TestKeyLine checks where keys are in their cache lines, behind the 8 bytes that the runtime
// has before objects of their sizes: the L1 key begins in the middle of a line, so that vectors
// of 32 bytes cross no line, and few of 64 bytes do, in a key and in a stream with its own. At
// the start of a line it would be as good for AVX2, but AVX-512 would take 1.5 % more time for
// 256 KiB (AMD EPYC, Zen 4, Go 1.26.8). The schedule of AES-128 ends at the end of a line, and hi
// begins at the start of one, so that a short message needs few lines. The stream can have a
// finalizer.
func TestKeyLine(t *testing.T) {
	var p umacWithKey
	if at := unsafe.Offsetof(p.stream); at != 0 {
		t.Errorf("the stream is at %d of its allocation: a finalizer needs 0", at)
	}
	l1 := 8 + unsafe.Offsetof(p.key.uhash) + unsafe.Offsetof(p.key.uhash.l1)
	if key := unsafe.Offsetof(p.key); bits.UintSize == 64 && (l1%64 != 32 || key%64 != 0) {
		t.Errorf("the L1 key begins at %d of a key's memory, and the key of a stream at %d", l1, key)
	}
	schedule := 8 + unsafe.Offsetof(p.key.pad) + unsafe.Offsetof(p.key.pad.schedule) + 4*44
	if hi := l1 + unsafe.Offsetof(p.key.uhash.l1.hi); bits.UintSize == 64 && (schedule%64 != 0 || hi%64 != 0) {
		t.Errorf("the schedule ends at %d, and the high halves of the L1 key begin at %d", schedule, hi)
	}
	u, err := NewUMAC(make([]byte, 16), UMAC64Size)
	if err != nil {
		t.Fatal(err)
	}
	if at := uintptr(unsafe.Pointer(u)); bits.UintSize == 64 && at%64 != 8 {
		t.Logf("the stream is at %#x: the allocator of this Go release is another one", at)
	}
}

// rareKeys returns keys of POLY-64, most of which are rare.
func rareKeys(rng *rand.Rand) []uint64 {
	keys := []uint64{
		0, 1, 2, 3, 4, 5, 7, 8, // k^2 is not folded; TestNHPolyCarry says what they reach
		0x01ffffff01ffffff, // the largest
		0x00f0000f01020304,
	}
	for len(keys) < 40 {
		// Every other one has the carry in square64, as one key in 256 does.
		k := rng.Uint64() & 0x01ffffff01ffffff
		hi, lo := bits.Mul64(k, k)
		if _, carry := bits.Add64(lo, offset64*hi, 0); carry == 1 || len(keys)%2 == 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// TestNHPolySteps runs POLY-64 in the kernels with words, keys and values that are rare
// in messages.
func TestNHPolySteps(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestNHPolySteps, a 32 byte seed."))))
	keys := rareKeys(rng)
	values := append([]uint64{1<<64 - 1, 1<<64 - 2}, edges64...)
	for blocks := 1; blocks <= 3; blocks += 2 {
		for round := range 3000 {
			k := uhashKey{n: 1 + round%4} // its L1 key is zeros
			var word uint64
			switch rng.IntN(3) {
			case 0: // next to a limit
				word = edges64[rng.IntN(len(edges64))]
			case 1: // no marker, and a large sum
				word = rng.Uint64() | rng.Uint64()
			case 2: // a marker, and a sum next to 2^64 for keys of one digit
				word = -rng.Uint64N(5000)
			}
			p := blocksOf(word, blocks)
			var start [maxIterations]uint128
			var want [maxIterations]uint64
			for i := range k.n {
				k.l2[i].k64 = keys[rng.IntN(len(keys))]
				start[i].lo = values[rng.IntN(len(values))]
				want[i] = polyStep{k: k.l2[i].k64, y: start[i].lo, m: word}.times(blocks)
			}
			mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
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

// polyStep is a step of POLY-64 from the value y with the key k and the word m.
// poly64 and nhPoly compute it by these sums. carries lists those that carry:
//
//	high:low = factor * y  the factor is k, or k^2 if m is marked: 2^64-2^32 or more
//	low += 59 * high       fold
//	low += addend          word: the addend is m, or m-59-k if m is marked
//	low += 59 * above      last: above is the high half of 59*high, plus the carries so far
//	low += 59              if that had a carry
//
// The carry called square is from folding k^2.
type polyStep struct {
	k, y, m uint64
	carries string
}

// polySteps returns steps with all combinations of carries that exist. There is none of
// word and last: after word, low is too small for last.
func polySteps() []polyStep {
	steps := []polyStep{
		// k*y + m
		{1, 1, 1, ""},
		{2, 1<<64 - 1, 0, "fold"},                                // 1:2^64-2, and 59
		{1, 1<<64 - 1, 1, "word"},                                // 0:2^64-1, and 1
		{1 << 56, 1<<64 - 1, 1<<64 - 1<<33, "fold word"},         // 2^56-1:2^64-2^56, folded to 58*2^56-59, is more than 2^33
		{1 << 56, 1<<64 - 1, 1<<64 - (58<<56 - 59), "fold word"}, // the same, and m: 2^64
		{1 << 56, 1<<64 - 1, 1<<64 - (58<<56 - 58), "fold last"}, // the same, and m: 2^64-1, and 59
		{1 << 56, 1<<64 - 1, 1<<64 - (58 << 56), "fold last"},    // the same, and m: 2^64-59, and 59
		{1 << 56, 1<<64 - 1, 1<<64 - (58<<56 + 1), "fold"},       // the same, and m: 2^64-60, and 59

		// k^2*y + m-59-k
		{1, 1, 1<<64 - 1, ""},             // 1 - 61
		{1, 1<<64 - 1, 1<<64 - 1, "word"}, // 2^64-1 - 61
		// k^2*y = k + 2^20 + 46 modulo p64, as low = k + 2^20 + 46 - 59*58 and above = 58.
		{0x01ffffff01ffffff, 0xfe6f075f724dfe05, 1<<64 - 1<<32, "fold"},
		{0x01ffffff01ffffff, 0xfe6f075f724dfe05, 1<<64 - 1, "fold word"},
		{0x01ffffff01ffffff, 0xfe6f075f724dfe05, 1<<64 - (1<<20 + 46 - 59*58 - 58), "fold last"}, // low = 2^64-1, and 59*58
		// k^2*y = k + 2^20 + 23523, as low = k + 2^20 + 23523 - 59*57 and above = 57.
		{0x01ffffff01ffffff, 0xfe57465f7802bec0, 1<<64 - (1<<20 + 23523 - 59*57 - 58), "last"}, // low = 2^64-1, and 59*57

		// The same with a k^2 that has a carry.
		{0x011c694d00d6868b, 0, 1<<64 - 1, "square"},
		{0x011c694d00d6868b, 1 << 63, 1<<64 - 1, "square word"},
		// k^2*y = k + 2^20, as low = k + 2^20 - 59 and above = 1.
		{0x015d390a007d72d5, 0xef7ffba6a0e7ac46, 1<<64 - 1<<32, "square fold"},
		{0x015d390a007d72d5, 0xef7ffba6a0e7ac46, 1<<64 - 1, "square fold word"},
		{0x015d390a007d72d5, 0xef7ffba6a0e7ac46, 1<<64 - (1<<20 - 59 - 58), "square fold last"}, // low = 2^64-1, and 59
	}
	// For a key of one digit, k > 1, and y = 2^64-a:
	//
	//	high = k^2-1, low = 2^64 - a*k^2
	//	low = (59-a)*k^2 - 59, folded, with a carry
	//	low = (59-a)*k^2 - 59 - d-59-k = 2^64 - e, by the choice of m = 2^64-d
	//
	// Adding 59 more carries for e from 1 to 59. For a smaller e, word had the carry.
	for k := uint64(2); k < 9; k++ {
		for a := uint64(1); a <= 2; a++ {
			for e := -1; e <= 61; e++ {
				carries := "fold last"
				if e < 1 {
					carries = "fold word"
				} else if e > 59 {
					carries = "fold"
				}
				d := (59-a)*k*k - 59 - 59 - k + uint64(e)
				steps = append(steps, polyStep{k, -a, -d, carries})
			}
		}
	}
	return steps
}

// reaches returns the carries of s, by the sums of polyStep.
func (s polyStep) reaches() string {
	var carries []string
	add := func(x, y uint64, name string) (sum, carry uint64) {
		sum, carry = bits.Add64(x, y, 0)
		if carry == 1 {
			carries = append(carries, name)
		}
		return sum, carry
	}
	factor, addend := s.k, s.m
	if s.m >= 1<<64-1<<32 {
		high, low := bits.Mul64(s.k, s.k)
		low, c := add(low, offset64*high, "square")
		factor, addend = low+offset64*c, s.m-offset64-s.k
	}
	high, low := bits.Mul64(factor, s.y)
	above, folded := bits.Mul64(offset64, high)
	low, c1 := add(low, folded, "fold")
	low, c2 := add(low, addend, "word")
	add(low, offset64*(above+c1+c2), "last")
	return strings.Join(carries, " ")
}

// times returns the value of POLY-64 after n steps with the same word.
func (s polyStep) times(n int) uint64 {
	y := big64(s.y)
	for range n {
		y = bigPoly(y, big64(s.k), big64(s.m), bigP64, 64)
	}
	return y.Uint64()
}

// TestNHPolyCarry runs polySteps in the kernels: with one block, with three, and with
// the last block of a message. One iteration has the step's state, the others another;
// each gets its turn.
func TestNHPolyCarry(t *testing.T) {
	for _, s := range polySteps() {
		if got := s.reaches(); got != s.carries {
			t.Errorf("k %#x, y %#x, word %#x: carries %q, want %q", s.k, s.y, s.m, got, s.carries)
		}
		p := blocksOf(s.m, 3)
		other := polyStep{k: 3, y: 7, m: s.m}
		afterOne, afterThree := s.times(1), s.times(3)
		otherOne, otherThree := other.times(1), other.times(3)
		for n := 1; n <= maxIterations; n++ {
			for at := range n {
				k := uhashKey{n: n} // its L1 key is zeros
				var start [maxIterations]uint128
				var one, three [maxIterations]uint64 // after one block, and after three
				for i := range n {
					k.l2[i].k64, start[i].lo = other.k, other.y
					one[i], three[i] = otherOne, otherThree
					if i == at {
						k.l2[i].k64, start[i].lo = s.k, s.y
						one[i], three[i] = afterOne, afterThree
					}
					for j := range k.l3.low {
						k.l3.low[j][i] = uint64(1+j+5*i) << 30
					}
				}
				mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
					for blocks, want := range map[int][maxIterations]uint64{1: one, 3: three} {
						y := start
						nhPoly(&y, &k, p[:blocks*l1Block])
						for i := range n {
							if got := reduce64(y[i].lo); got != want[i] {
								t.Fatalf("%s, %+v in iteration %d of %d, %d blocks: iteration %d gives %#x, want %#x", kernel, s, at, n, blocks, i, got, want[i])
							}
						}
					}
					l1 := l1State{bytes: l1Block}
					for i := range l1.sums {
						l1.sums[i] = s.m - 8*l1Block
					}
					var tag [maxUMACTagSize]byte
					k.tagLast(&tag, &l2State{words: 1, y: start}, &l1, nil, l1Block, pad{})
					for i := range n {
						if got, want := binary.BigEndian.Uint32(tag[4*i:]), k.l3Short(i, one[i]); got != want {
							t.Fatalf("%s, %+v in iteration %d of %d, last block: L3 of iteration %d gives %#x, want %#x", kernel, s, at, n, i, got, want)
						}
					}
				})
			}
		}
	}
}

// TestNHNext compares nhNext with the kernels that it stands for, with each number of bytes, from values next to
// 2^64 and others, with words in one of the iterations that are rare.
func TestNHNext(t *testing.T) {
	source := rand.NewChaCha8([32]byte([]byte("TestNHNext needs a 32 byte seed.")))
	rng := rand.New(source)
	keys := rareKeys(rng)
	const least, most = l1Group, 2*l1Block - 1 // bytes
	for round := range 3 * (most - least + 1) {
		k := uhashKey{n: 1 + rng.IntN(maxIterations)}
		copy(k.l1.bytes()[:], mactest.Random(source, len(k.l1.bytes())))
		p := mactest.Random(source, least+round%(most-least+1))
		// Room for any number of groups of p, after which there is less than a block.
		fewest := max(0, len(p)-l1Block+l1Group) / l1Group
		room := l1Group * (fewest + rng.IntN(min(groups, len(p)/l1Group)-fewest+1))
		s := l1State{bytes: l1Block - room}
		ended, next, y := s, l1State{}, [maxIterations]uint128{}
		if room > 0 {
			nhAddGeneric(&ended, &k, p[:room])
		}
		whole := (len(p) - room) &^ (l1Group - 1)
		nhAddGeneric(&next, &k, p[room:room+whole])
		var group [l1Group]byte
		copy(group[:], p[room+whole:])
		var values [maxIterations]uint64
		for i := range k.n {
			word := rng.Uint64()
			k.l2[i].k64, y[i].lo = keys[rng.IntN(len(keys))], rng.Uint64()
			if rng.IntN(2) == 0 {
				word = edges64[rng.IntN(len(edges64))]
			}
			if rng.IntN(2) == 0 {
				y[i].lo = -rng.Uint64N(200)
			}
			s.sums[i] = word - 8*l1Block - ended.sums[i]
			values[i] = reduce64(poly64(y[i].lo, k.l2[i].k64, word))
		}
		mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
			y, got, end := y, s, [l1Group]byte{1, l1Group - 1: 1}
			nhNext(&y, &got, &end, &k, p)
			for i := range k.n {
				if reduce64(y[i].lo) != values[i] || got.sums[i] != next.sums[i] {
					t.Fatalf("%s: %d bytes after %d, iteration %d of %d: value %#x and sum %#x, want %#x and %#x", kernel, len(p), s.bytes, i, k.n, y[i].lo, got.sums[i], values[i], next.sums[i])
				}
			}
			if got.bytes != next.bytes || end != group {
				t.Fatalf("%s: %d bytes after %d: %d of the next block and %x, want %d and %x", kernel, len(p), s.bytes, got.bytes, end, next.bytes, group)
			}
		})
	}
}

// tagNonceByPad is what tagNonce must compute.
func tagNonceByPad(tag *[maxUMACTagSize]byte, k *UMACKey, l1 *l1State, rest []byte, length uint64, nonce []byte) {
	if x := k.pad.pad(nonce); length <= l1Block {
		tagOnly(tag, &k.uhash, l1, rest, length, x)
	} else {
		tagTwo(tag, &k.uhash, rest, x)
	}
}

// TestTagNonce compares the kernel of tagNonce with the portable one, or that with Tag where there is
// no kernel.
func TestTagNonce(t *testing.T) {
	msg := make([]byte, 2*l1Block)
	rand.NewChaCha8([32]byte([]byte("TestTagNonce, seed of 32 bytes. "))).Read(msg)
	nonce := []byte("nonce")
	mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
		for _, size := range mactest.UMACTagSizes {
			k := mactest.Must(NewUMACKey([]byte("0123456789abcdef"), size))
			want := func(n int) []byte {
				var tag [maxUMACTagSize]byte
				tagNonceByPad(&tag, k, &noGroups, msg[:n], uint64(n), nonce)
				return tag[:size]
			}
			tagNonce := tagNonce
			if !hasTagNonce() {
				tagNonce = tagNonceByPad
				want = func(n int) []byte { return k.Tag(nil, nonce, msg[:n]) }
			}
			for _, n := range []int{0, 1, l1Group - 1, l1Group, 100, l1Block - 1, l1Block, l1Block + 1, 1500, 2 * l1Block} {
				var tag [maxUMACTagSize]byte
				tagNonce(&tag, k, &noGroups, msg[:n], uint64(n), nonce)
				if want := want(n); !bytes.Equal(tag[:size], want) {
					t.Errorf("%s, %d bytes: tag %x, want %x", kernel, n, tag[:size], want)
				}
			}
			u := k.New()
			u.Write(msg[:7*l1Group])
			u.Write(msg[7*l1Group:][:5])
			var tag [maxUMACTagSize]byte
			tagNonce(&tag, k, &u.uhash.l1, u.uhash.rest(), u.uhash.length(), nonce)
			if want := want(7*l1Group + 5); !bytes.Equal(tag[:size], want) {
				t.Errorf("%s, a stream: tag %x, want %x", kernel, tag[:size], want)
			}
		}
	})
}

// TestTagLengths compares the tags of messages of all lengths up to more than three blocks, and of each number of
// blocks up to 256 and a part of one, in one call and as a stream in two parts, on each kernel.
func TestTagLengths(t *testing.T) {
	var lengths []int
	for n := range 3*l1Block + 2*l1Group {
		lengths = append(lengths, n)
	}
	for blocks := 3; blocks <= 256 && !mactest.Race; blocks++ { // with the race detector it takes minutes
		lengths = append(lengths, blocks*l1Block, blocks*l1Block+101*blocks%l1Block)
	}
	msg := make([]byte, 257*l1Block)
	rand.NewChaCha8([32]byte([]byte("TestTagLengths, a 32 byte seed.."))).Read(msg)
	nonce := []byte("nonce: 8")
	for _, size := range mactest.UMACTagSizes {
		var first []byte // the tags of the first kernel
		mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
			k := mactest.Must(NewUMACKey([]byte("0123456789abcdef"), size)) // as this kernel has it
			u := k.New()
			var tags []byte
			for _, n := range lengths {
				tags = k.Tag(tags, nonce, msg[:n])
				u.Reset()
				u.Write(msg[:n/2])
				u.Write(msg[n/2 : n])
				tags = u.Tag(tags, nonce)
			}
			if first == nil {
				first = tags
			}
			for i, n := range lengths {
				tag, stream, want := tags[2*i*size:][:size], tags[(2*i+1)*size:][:size], first[2*i*size:][:size]
				if !bytes.Equal(tag, want) || !bytes.Equal(stream, want) {
					t.Fatalf("%s, %d bytes: tag %x, of a stream %x, and of the first kernel %x", kernel, n, tag, stream, want)
				}
			}
		})
	}
}

// TestTagNextSteps runs the step of POLY-64 in tagNext with rare words, from any value, and
// the two steps for a message of one block and a part, in one call and as a stream. In one of the iterations the last
// value is next to p64 or 2^64, and so is the first one in every other message.
func TestTagNextSteps(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte([]byte("TestTagNextSteps, a 32 byte seed"))))
	keys := rareKeys(rng)
	step := func(y, k, m uint64) uint64 { return polyStep{k: k, y: y, m: m}.times(1) }
	// next returns a word for which the sum k*y + m of the step is near p64 or 2^64, if the
	// word is not marked, or one that is rare itself.
	next := func(y, k uint64) uint64 {
		switch rng.IntN(4) {
		case 0:
			return 1<<64 - offset64 - 3 + rng.Uint64N(134) - step(y, k, 0)
		case 1:
			return edges64[rng.IntN(len(edges64))]
		case 2:
			return -rng.Uint64N(5000)
		}
		return rng.Uint64() | rng.Uint64()
	}
	var key UMACKey
	nonce := []byte{1}
	for round := range 20000 {
		key.uhash = uhashKey{n: 1 + round%4} // its L1 key is zeros
		k := &key.uhash
		at := rng.IntN(k.n)
		start := [maxIterations]uint128{{lo: 1}, {lo: 1}, {lo: 1}, {lo: 1}}
		for i := range k.n {
			k.l2[i].k64 = keys[rng.IntN(len(keys))]
			for j := range k.l3.low {
				k.l3.low[j][i] = rng.Uint64N(p36)
			}
		}
		message := round%8 < 4 // otherwise only its last block
		var first uint64
		for i := range k.n {
			if message {
				if i == 0 {
					first = next(1, k.l2[at].k64)
				}
				start[i].lo = step(1, k.l2[i].k64, first)
			} else if start[i].lo = rng.Uint64(); rng.IntN(2) == 0 {
				start[i].lo = -rng.Uint64N(200)
			}
		}
		last := next(start[at].lo, k.l2[at].k64)
		rest := make([]byte, l1Group+rng.IntN(l1Block-l1Group+1))
		setNH(rest, last-8*uint64(len(rest)))
		msg := append(blocksOf(first, 1), rest...)
		var want [maxIterations]uint32
		for i := range k.n {
			want[i] = k.l3Short(i, step(start[i].lo, k.l2[i].k64, last))
		}
		mactest.EachKernel(t, mactest.UMAC, func(kernel string) {
			key.pad.init(make([]byte, 16))
			key.pad.setTagSize(UMAC128Size)
			key.pad.life.Begin()
			x := key.pad.pad(nonce)
			var tag [maxUMACTagSize]byte
			if message && round%16 < 8 {
				key.Tag(tag[:0], nonce, msg)
			} else if message {
				u := key.New()
				u.Write(msg)
				u.Tag(tag[:0], nonce)
			} else {
				k.tagLast(&tag, &l2State{words: 1, y: start}, &noGroups, rest, uint64(len(rest)), x)
			}
			h := padIn(&tag)
			pad{h.first ^ x.first, h.second ^ x.second}.put(&tag)
			for i := range k.n {
				if got := binary.BigEndian.Uint32(tag[4*i:]); got != want[i] {
					t.Fatalf("%s, whole message: %v, iteration %d of %d: k %#x, first word %#x, y %#x, last word %#x (%d bytes): L3 %#x, want %#x", kernel, message, i, k.n, k.l2[i].k64, first, start[i].lo, last, len(rest), got, want[i])
				}
			}
		})
	}
}

// blocksOf returns n blocks whose L1 word under a key of zeros is word, in all
// iterations.
func blocksOf(word uint64, n int) []byte {
	p := make([]byte, n*l1Block)
	for b := range n {
		setNH(p[b*l1Block:], word-8*l1Block)
	}
	return p
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
