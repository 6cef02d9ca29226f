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
	"unsafe"

	"example.com/fastmac/internal/umacref"
)

// These tests look at UHASH layer by layer, with states injected that no message
// is known to lead to.

// TestNH compares the kernels of L1 with umacref, over all lengths.
func TestNH(t *testing.T) {
	forAllKernels(t, func(t *testing.T) {
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
			var k UMACKey
			k.l1.set(0, raw)
			for n := 0; n <= l1Block; n++ {
				if n%7 != round%7 && n%l1Group != 0 {
					continue
				}
				want := refNH(raw, block[:n])
				for k.tagSize = 4; k.tagSize <= 16; k.tagSize += 4 {
					start := l1Words{1, 1 << 63, 3, 1<<64 - 1}
					sums := start
					g := rng.Uint64() % uint64((n+l1Group-1)/l1Group+1)
					if g > 0 {
						nhAdd(&sums, &k, 0, block[:min(l1Group*int(g), n)])
					}
					if rest := l1Group * int(g); rest < n || n == 0 {
						nhAdd(&sums, &k, int(g), block[rest:n])
					}
					for i := range sums[:k.iterations()] {
						if sums[i] != start[i]+want[i] {
							t.Fatalf("%d bytes cut at group %d, iteration %d of %d: %#x, want %#x", n, g, i, k.iterations(), sums[i]-start[i], want[i])
						}
					}
				}
			}
		}
	})
}

// TestNHPoly compares runs of blocks with umacref and with POLY step by step.
func TestNHPoly(t *testing.T) {
	forAllKernels(t, func(t *testing.T) {
		rng := rand.NewChaCha8([32]byte([]byte("TestNHPoly.  a seed of 32 bytes.")))
		for round := range 60 {
			raw := make([]byte, l1Block+16*(maxIterations-1))
			rng.Read(raw)
			p := make([]byte, l1Block*(1+round%20))
			rng.Read(p)
			k := UMACKey{umacKeyName: umacKeyName{uint8(4 + 4*(round%4))}}
			k.l1.set(0, raw)
			var y, want [maxIterations]uint128
			var words, wantWords [20]l1Words
			for i := range k.iterations() {
				k.l2[i].k64 = rng.Uint64() & 0x01ffffff01ffffff
				y[i].lo = rng.Uint64()
				want[i] = y[i]
			}
			for b := range len(p) / l1Block {
				w := refNH(raw, p[b*l1Block:][:l1Block])
				for i := range k.iterations() {
					wantWords[b][i] = w[i] + 8*l1Block
					want[i].lo = reduce64(poly64(want[i].lo, k.l2[i].k64, wantWords[b][i]))
				}
			}
			again := y
			nhPoly(&y, &k, p, words[:len(p)/l1Block])
			nhPoly(&again, &k, p, nil)
			for i := range k.iterations() {
				y[i].lo, again[i].lo = reduce64(y[i].lo), reduce64(again[i].lo)
			}
			if y != want || again != want {
				t.Errorf("%d blocks, %d iterations: %x and %x, want %x", len(p)/l1Block, k.iterations(), y, again, want)
			}
			if words != wantWords {
				t.Errorf("%d blocks, %d iterations: words %x, want %x", len(p)/l1Block, k.iterations(), words, wantWords)
			}
		}
	})
}

// TestKeyVectors: kernels load whole vectors of the L1 key, which must not end
// behind the UMACKey. The last one begins with the last half of hi.
func TestKeyVectors(t *testing.T) {
	const vector = 64
	var k UMACKey
	last := unsafe.Offsetof(k.l1) + unsafe.Offsetof(k.l1.hi) + unsafe.Sizeof(k.l1.hi) - 4*l1Half
	if last+vector > unsafe.Sizeof(k) {
		t.Errorf("a vector at %d in a UMACKey of %d bytes", last, unsafe.Sizeof(k))
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
			k := UMACKey{umacKeyName: umacKeyName{uint8(4 + 4*(round%4))}} // its L1 key is zeros
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
			for i := range k.iterations() {
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
				nhPoly(&y, &k, p, nil)
				for i := range k.iterations() {
					if got := reduce64(y[i].lo); got != want[i] {
						t.Fatalf("%s, %d blocks of word %#x, iteration %d of %d: k %#x, y %#x: %#x, want %#x", kernel, blocks, word, i, k.iterations(), k.l2[i].k64, start[i].lo, got, want[i])
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
			k := UMACKey{umacKeyName: umacKeyName{uint8(4 * n)}} // its L1 key is zeros
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
				nhPoly(&one, &k, p[:l1Block], nil)
				nhPoly(&three, &k, p, nil)
				sums := l1Words{word, word, word, word}
				for i := range sums {
					sums[i] -= 8 * l1Block
				}
				var tag [maxUMACTagSize]byte
				k.finish(&tag, &l2State{words: 1, y: start}, &sums, l1Block, nil, l1Block, pad{})
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

// refNH is NH of a message or block, filled up, in four iterations.
func refNH(raw, p []byte) (want l1Words) {
	n := max(l1Group, (len(p)+l1Group-1)/l1Group*l1Group)
	padded := make([]byte, n)
	copy(padded, p)
	// umacref takes the message as RFC 4418 has it after its byte swap.
	for i := 0; i < n; i += 4 {
		binary.BigEndian.PutUint32(padded[i:], binary.LittleEndian.Uint32(padded[i:]))
	}
	for i := range want {
		want[i] = binary.BigEndian.Uint64(umacref.NH(raw[16*i:][:l1Block], padded))
	}
	return want
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

// TestPoly128Carries takes factors whose product makes carries in the folding of
// mul128 that random ones do not.
func TestPoly128Carries(t *testing.T) {
	for _, f := range [][2]uint128{
		{{0x01fff9e50136219c, 0x01c0b6b8017a3c67}, {0xe65f2e869cfd2920, 0x977a1a35923dbfbe}}, // the last one
		{{0x01ffffff01ffffff, 0x01ffffff01ffffff}, {0xce168add6236f139, 0xf6708ffb3847fd1d}}, // into t2
		{{0x01ffffff01ffffff, 0x01ffffff01ffffff}, {1<<64 - 1, 1<<64 - 1}},
	} {
		want := new(big.Int).Mul(big128(f[0]), big128(f[1]))
		want.Mod(want, bigP128)
		if got := reduce128(mul128(f[0], f[1])); big128(got).Cmp(want) != 0 {
			t.Errorf("%#x * %#x = %#x, want %#x", f[0], f[1], got, want)
		}
	}
}

// TestL2Transition runs L2 over the change from POLY-64 to POLY-128, with states
// and coefficients next to the moduli, and compares with the polynomial written out.
func TestL2Transition(t *testing.T) {
	keys := []l2Key{
		{k64: 1, k128: uint128{0, 1}},
		{k64: 0x01ffffff01ffffff, k128: uint128{0x01ffffff01ffffff, 3}},
		{k64: 5, k128: uint128{0x01ffffff01ffffff, 0x01ffffff01ffffff}},
	}
	for _, key := range keys {
		k := UMACKey{umacKeyName: umacKeyName{4}}
		k.l2[0] = key
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
					s.absorbWord(&k, &l1Words{word})
				}
				if n == 0 {
					continue // all of it is POLY-64's
				}
				if got, want := s.sum128(0, &k.l2[0]), sum(words); big128(got).Cmp(want) != 0 {
					t.Fatalf("key %#x, y %#x, words %#x: %#x, want %#x", key, y, words, got, want)
				}
			}
		}
	}
	// A last step that ends between p128 and 2^128.
	k := UMACKey{umacKeyName: umacKeyName{4}}
	k.l2[0] = keys[0]
	s := l2State{words: poly64Words + 2}
	for _, d := range []uint64{1, 2, 3, 100, offset128, offset128 + 1} {
		// y + 0x80<<120 = 2^128 - d
		s.y[0] = uint128{0x7fffffff_ffffffff, -d}
		want := new(big.Int).Mod(new(big.Int).Add(big128(s.y[0]), big128(uint128{hi: 0x80 << 56})), bigP128)
		if got := s.sum128(0, &k.l2[0]); big128(got).Cmp(want) != 0 {
			t.Errorf("y %#x: %#x, want %#x", s.y[0], got, want)
		}
	}
}
