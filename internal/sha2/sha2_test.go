// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// function is a hash function with words of one size.
type function[W Word] struct {
	name    string
	initial *State[W]
	new     func() hash.Hash // of the standard library
}

// The functions: the first one of each size is whole, the others are cut or have other initial values.
var (
	list256 = []function[uint32]{{"SHA-256", &Initial256, sha256.New}, {"SHA-224", &Initial224, sha256.New224}}
	list512 = []function[uint64]{{"SHA-512", &Initial512, sha512.New}, {"SHA-384", &Initial384, sha512.New384},
		{"SHA-512-224", &Initial512_224, sha512.New512_224}, {"SHA-512-256", &Initial512_256, sha512.New512_256}}
)

// TestLists checks that the lists have each of Hashes.
func TestLists(t *testing.T) {
	for _, h := range Hashes {
		if h != nil && !slices.ContainsFunc(list256, func(f function[uint32]) bool { return f.initial == h.Initial256 }) &&
			!slices.ContainsFunc(list512, func(f function[uint64]) bool { return f.initial == h.Initial512 }) {
			t.Errorf("%v is in neither list", h.ID)
		}
	}
}

func init() { ChooseAll() } // for package mactest

// sum returns the hash of msg by the standard library.
func (f *function[W]) sum(msg ...[]byte) []byte {
	h := f.new()
	for _, p := range msg {
		h.Write(p)
	}
	return h.Sum(nil)
}

// testing.T and testing.B, which have subtests.
type runner[T any] interface {
	testing.TB
	Run(string, func(T)) bool
}

// forAllKernels runs f or g, for words of 32 and 64 bits, with each kernel that this machine has.
func forAllKernels[T runner[T]](t T, f, g func(T)) {
	mactest.EachKernel(t, []kernel.Layer{kernel.SHA256}, func(name string) { t.Run("SHA-256="+name, f) })
	mactest.EachKernel(t, []kernel.Layer{kernel.SHA512}, func(name string) { t.Run("SHA-512="+name, g) })
}

// forAllFunctions runs f or g for all functions with each kernel.
func forAllFunctions(t *testing.T, f func(*testing.T, *function[uint32]), g func(*testing.T, *function[uint64])) {
	forAllKernels(t, func(t *testing.T) {
		for _, function := range list256 {
			t.Run(function.name, func(t *testing.T) { f(t, &function) })
		}
	}, func(t *testing.T) {
		for _, function := range list512 {
			t.Run(function.name, func(t *testing.T) { g(t, &function) })
		}
	})
}

func seeded(seed string) *rand.ChaCha8 {
	var s [32]byte
	copy(s[:], seed)
	return rand.NewChaCha8(s)
}

// random returns words of any value.
func random[W Word](rng *rand.ChaCha8) (s State[W]) {
	for i := range s {
		s[i] = W(rng.Uint64())
	}
	return s
}

// pad returns what follows a message of n bytes, FIPS 180-4 section 5.1.
func pad[W Word](n int) []byte {
	p := []byte{0x80}
	for (n+len(p)+8)%BlockSize[W]() != 0 || len(p) < 1+lengthSize[W]()-8 {
		p = append(p, 0)
	}
	return binary.BigEndian.AppendUint64(p, uint64(n)<<3)
}

// encoded returns the whole of a chaining value in big-endian bytes.
func encoded[W Word](s *State[W]) []byte {
	b := make([]byte, Size[W]())
	s.encodeCut(b)
	return b
}

// hashBlocks returns the hash of msg. It calls Compress for runs of blocks, whose numbers run
// returns.
func hashBlocks[W Word](f *function[W], msg []byte, run func() int) []byte {
	p := append(bytes.Clone(msg), pad[W](len(msg))...)
	state := *f.initial
	for len(p) > 0 {
		n := min(run()*BlockSize[W](), len(p))
		state.Compress(p[:n])
		p = p[n:]
	}
	return encoded(&state)[:f.new().Size()]
}

// all is a run of all blocks.
func all() int { return 1 << 20 }

// TestConstants derives the constants as FIPS 180-4 does: from the fractional parts of the cube roots
// of the first 80 primes, and of the square roots of the first 16.
func TestConstants(t *testing.T) {
	var primes []int64
	for n := int64(2); len(primes) < len(k512); n++ {
		if big.NewInt(n).ProbablyPrime(0) {
			primes = append(primes, n)
		}
	}
	// holds reports whether frac begins the fraction of the n-th root of prime.
	holds := func(prime int64, n uint, frac uint64) bool {
		power := func(x *big.Int) *big.Int { return new(big.Int).Exp(x, big.NewInt(int64(n)), nil) }
		scaled := new(big.Int).Lsh(big.NewInt(prime), 64*n)
		root := new(big.Int)
		for whole := int64(1); ; whole++ {
			if power(big.NewInt(whole+1)).Cmp(big.NewInt(prime)) > 0 {
				root.Lsh(big.NewInt(whole), 64)
				break
			}
		}
		root.Or(root, new(big.Int).SetUint64(frac))
		return power(root).Cmp(scaled) <= 0 && power(root.Add(root, big.NewInt(1))).Cmp(scaled) > 0
	}
	for i, x := range k512 {
		if !holds(primes[i], 3, x) {
			t.Errorf("k512[%d] = %#x", i, x)
		}
	}
	for i, x := range k256 {
		if x != uint32(k512[i]>>32) {
			t.Errorf("k256[%d] = %#x", i, x)
		}
	}
	for i := range 8 {
		if x := Initial512[i]; !holds(primes[i], 2, x) || Initial256[i] != uint32(x>>32) {
			t.Errorf("Initial512[%d] = %#x, Initial256 %#x", i, x, Initial256[i])
		}
		if x := Initial384[i]; !holds(primes[8+i], 2, x) || Initial224[i] != uint32(x) {
			t.Errorf("Initial384[%d] = %#x, Initial224 %#x", i, x, Initial224[i])
		}
	}
	// Section 5.3.6: SHA-512 from another initial value, of the name of the function.
	for name, want := range map[string]*State[uint64]{"SHA-512/224": &Initial512_224, "SHA-512/256": &Initial512_256} {
		state := Initial512
		for i := range state {
			state[i] ^= 0xa5a5a5a5a5a5a5a5
		}
		compressGeneric(&state, append([]byte(name), pad[uint64](len(name))...))
		if state != *want {
			t.Errorf("%s: %x, want %x", name, *want, state)
		}
	}
}

// TestFIPS180 checks the examples that NIST publishes with FIPS 180-4.
func TestFIPS180(t *testing.T) {
	const abc, short, long = "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
	want := map[string]map[string]string{
		"SHA-224": {
			abc:   "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
			short: "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525",
		},
		"SHA-256": {
			abc:   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
			short: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
		},
		"SHA-384": {
			abc:  "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
			long: "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039",
		},
		"SHA-512": {
			abc:  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
			long: "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
		},
		"SHA-512-224": {
			abc:  "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa",
			long: "23fec5bb94d60b23308192640b0c453335d664734fe40e7268674af9",
		},
		"SHA-512-256": {
			abc:  "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
			long: "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a",
		},
	}
	forAllFunctions(t, func(t *testing.T, f *function[uint32]) { testFIPS180(t, f, want[f.name]) },
		func(t *testing.T, f *function[uint64]) { testFIPS180(t, f, want[f.name]) })
}

func testFIPS180[W Word](t *testing.T, f *function[W], hashes map[string]string) {
	if len(hashes) != 2 {
		t.Fatal("no examples")
	}
	for msg, want := range hashes {
		if got := hex.EncodeToString(hashBlocks(f, []byte(msg), all)); got != want {
			t.Errorf("%q: %s, want %s", msg, got, want)
		}
	}
}

// TestStd compares with the standard library: messages of all lengths from 0 to 1024 bytes, and longer
// ones in all splits in two and in runs of random sizes.
func TestStd(t *testing.T) { forAllFunctions(t, testStd[uint32], testStd[uint64]) }

func testStd[W Word](t *testing.T, f *function[W]) {
	rng := seeded("testStd")
	check := func(msg []byte, run func() int, how string) {
		t.Helper()
		if got, want := hashBlocks(f, msg, run), f.sum(msg); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes %s: %x, want %x", len(msg), how, got, want)
		}
	}
	for n := range 1025 {
		check(mactest.Random(rng, n), all, "at once")
		check(mactest.Random(rng, n), func() int { return 1 }, "block by block")
	}
	for range 20 {
		msg := mactest.Random(rng, 1024+int(rng.Uint64()%9000))
		for split := range len(msg)/BlockSize[W]() + 1 {
			first := split
			check(msg, func() int {
				n := first
				first = all()
				return n
			}, fmt.Sprintf("split after %d blocks", split))
		}
		check(msg, func() int { return int(rng.Uint64() % 5) }, "in random runs")
	}
}

// TestStates compares with portable Go from other states than the initial one. Half of them, and half
// of the blocks, are made of words at the bounds of signed and unsigned numbers.
func TestStates(t *testing.T) { forAllKernels(t, testStates[uint32], testStates[uint64]) }

func testStates[W Word](t *testing.T) {
	rng := seeded("testStates")
	top := W(1) << (8*wordSize[W]() - 1)
	word := func(special bool) W {
		n := rng.Uint64()
		x := W(n)
		if special {
			return [...]W{0, 1, top, top - 1, top<<1 - 1, x}[n%6]
		}
		return x
	}
	for i := range 2000 {
		var state State[W]
		for j := range state {
			state[j] = word(i%2 == 1)
		}
		blocks := make([]Block[W], 1+i%3)
		for j := range blocks {
			for k := range blocks[j] {
				blocks[j][k] = word(i%4 > 1)
			}
		}
		p := blocks[0].Bytes()[:0]
		for j := range blocks {
			p = append(p, blocks[j].Bytes()...)
		}
		before, got, want := state, state, state
		got.Compress(p)
		compressGeneric(&want, p)
		if got != want {
			t.Fatalf("state %x, blocks %x: %x, want %x", before, p, got, want)
		}
	}
}

// TestBounds puts runs of 0 to 20 blocks after and before a page that cannot be read, 0 to 63 bytes
// away from it. Bytes after the last whole block of p must be ignored.
func TestBounds(t *testing.T) { forAllKernels(t, testBounds[uint32], testBounds[uint64]) }

func testBounds[W Word](t *testing.T) {
	const most, offsets = 20, 64
	size := BlockSize[W]()
	mem := mactest.Guarded(t, most*size+offsets)
	rng := seeded("testBounds")
	initial := random[W](rng)
	for blocks := range most + 1 {
		msg := mactest.Random(rng, blocks*size)
		want := initial
		compressGeneric(&want, msg)
		for offset := range offsets {
			for _, at := range []int{offset, len(mem) - len(msg) - offset} {
				p := mem[at:][:len(msg):len(msg)]
				copy(p, msg)
				got := initial
				got.Compress(p)
				if got != want {
					t.Fatalf("%d blocks at %d: %x, want %x", blocks, at, got, want)
				}
				if !bytes.Equal(p, msg) {
					t.Fatalf("%d blocks at %d: Compress has changed them", blocks, at)
				}
			}
			got := initial
			got.Compress(mem[len(mem)-len(msg)-offset:])
			if got != want {
				t.Fatalf("%d blocks and %d bytes: %x, want %x", blocks, offset, got, want)
			}
		}
	}
	// An empty slice may point anywhere.
	got := initial
	got.Compress(nil)
	got.Compress(mem[len(mem):])
	if got != initial {
		t.Errorf("no blocks: %x", got)
	}
}

// TestSum compares messages of all lengths around the blocks, in whole and after a beginning that is
// in the state, with the standard library, and so the hashes of a block and these hashes. The messages
// are directly after and before a page that cannot be read. out is the end of the message.
func TestSum(t *testing.T) { forAllFunctions(t, testSum[uint32], testSum[uint64]) }

func testSum[W Word](t *testing.T, f *function[W]) {
	rng := seeded("testSum")
	block := mactest.Random(rng, BlockSize[W]())
	outer := *f.initial
	compressGeneric(&outer, block)
	const most = 700
	mem := mactest.Guarded(t, most)
	for n := range most + 1 {
		msg := mem[:n]
		if n%2 == 1 {
			msg = mem[len(mem)-n:]
		}
		rng.Read(msg)
		want := f.sum(msg)
		wantOuter := f.sum(block, want)
		for _, first := range []int{0, n / 2 &^ (BlockSize[W]() - 1), n &^ (BlockSize[W]() - 1)} {
			state := *f.initial
			state.Compress(msg[:first])
			before, beforeOuter := state, outer
			out := make([]byte, len(want))
			Sum(out, &state, nil, uint64(first), msg[first:])
			if !bytes.Equal(out, want) || state != before {
				t.Fatalf("%d bytes, %d in the state: %x, want %x", n, first, out, want)
			}
			Sum(out, &state, &outer, uint64(first), msg[first:])
			if !bytes.Equal(out, wantOuter) || state != before || outer != beforeOuter {
				t.Fatalf("%d bytes, %d in the state, outer hash: %x, want %x", n, first, out, wantOuter)
			}
		}
		if n >= len(want) {
			out := msg[n-len(want):]
			end := bytes.Clone(out)
			state := *f.initial
			if Sum(out, &state, &outer, 0, msg); !bytes.Equal(out, wantOuter) {
				t.Fatalf("%d bytes, outer hash to the end of the message: %x, want %x", n, out, wantOuter)
			}
			copy(out, end)
			if Sum(out, &state, nil, 0, msg); !bytes.Equal(out, want) {
				t.Fatalf("%d bytes, to the end of the message: %x, want %x", n, out, want)
			}
		}
	}
}

// TestSumLength checks a length in bits that needs all bits of the words that have it.
func TestSumLength(t *testing.T) { forAllKernels(t, testSumLength[uint32], testSumLength[uint64]) }

func testSumLength[W Word](t *testing.T) {
	n := uint64(0xfedcba9876543280) // whole blocks
	for _, size := range []int{5, BlockSize[W]() - 5} {
		msg := make([]byte, size)
		p := append(bytes.Clone(msg), 0x80)
		p = append(p, make([]byte, -(len(p)+8)&(BlockSize[W]()-1))...)
		p = binary.BigEndian.AppendUint64(p, (n+uint64(size))<<3)
		if wordSize[W]() == 8 {
			p[len(p)-9] = byte(n >> 61)
		}
		initial := random[W](seeded("testSumLength"))
		want, got := initial, make([]byte, Size[W]())
		compressGeneric(&want, p)
		if Sum(got, &initial, nil, n, msg); !bytes.Equal(got, encoded(&want)) {
			t.Errorf("%d bytes: %x, want %x", size, got, encoded(&want))
		}
	}
}

// TestTail writes ends of messages with rests of all sizes, in one block or two, and lengths that need
// all bits.
func TestTail(t *testing.T) {
	t.Run("32", testTail[uint32])
	t.Run("64", testTail[uint64])
}

func testTail[W Word](t *testing.T) {
	rest := bytes.Repeat([]byte("x"), BlockSize[W]()-1)
	for n := range BlockSize[W]() {
		for _, before := range []uint64{0, 0xe123456789abcd80} {
			var end Tail[W] // of another message before
			for i := range end[0] {
				end[0][i]--
				end[1][i]--
			}
			want := append(bytes.Clone(rest[:n]), 0x80)
			for len(want)%BlockSize[W]() != BlockSize[W]()-lengthSize[W]() {
				want = append(want, 0)
			}
			if wordSize[W]() == 8 {
				want = binary.BigEndian.AppendUint64(want, (before+uint64(n))>>61)
			}
			want = binary.BigEndian.AppendUint64(want, (before+uint64(n))<<3)
			if got := end.Write(rest[:n], before+uint64(n)); !bytes.Equal(got, want) {
				t.Errorf("%d bytes after %#x: %x, want %x", n, before, got, want)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	forAllKernels(t, testAllocations[uint32], testAllocations[uint64])
}

func testAllocations[W Word](t *testing.T) {
	mactest.SkipAllocations(t)
	var state State[W]
	for name, call := range map[string]func(){
		"Compress": func() { var p [300]byte; state.Compress(p[:]) },
		"Sum":      func() { var p [300]byte; Sum(p[:Size[W]()], &state, &state, 0, p[:]) },
		"cut":      func() { var p [300]byte; Sum(p[:Size[W]()-4], &state, &state, 0, p[:]) },
		"pairs": func() {
			if HasPairs[W]() {
				var p [300]byte
				CompressPair(&state, &state, p[:], p[:])
				m := Message[W]{Out: p[:Size[W]()], State: &state, Outer: &state, P: p[100:]}
				SumPair(&[2]Message[W]{m, m})
			}
		},
		"Lanes": func() {
			if lanes, _ := LaneCount[W](); lanes > 0 {
				var s Lanes[W]
				var block [BlockSize512]byte
				var p [MaxLanes][]byte
				for l := range lanes {
					p[l] = block[:BlockSize[W]()]
				}
				s.Block(&p, 1, 2)
			}
		},
		"Iterate": func() {
			var its [MaxLanes]Iteration[W]
			for _, count := range []int{1, 2, MaxLanes} {
				Iterate(its[:count], Size[W](), 2)
				Iterate(its[:count], Size[W]()-4, 2)
			}
		},
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

// TestLaneCount checks that each kernel is for lanes, for pairs, or for both, except for the one of SHA-256
// with AVX2, and the standard library for neither.
func TestLaneCount(t *testing.T) { forAllKernels(t, testLaneCount[uint32], testLaneCount[uint64]) }

func testLaneCount[W Word](t *testing.T) {
	lanes, minLanes := LaneCount[W]()
	one := wordSize[W]() == 4 && kernel.Active(kernel.SHA256) == "avx2"
	if HasAssembly[W]() && lanes == 0 && !HasPairs[W]() && !one || minLanes > lanes || lanes > rowSize/wordSize[W]() {
		t.Errorf("%d lanes, from %d", lanes, minLanes)
	}
	layer := kernel.SHA256
	if wordSize[W]() == 8 {
		layer = kernel.SHA512
	}
	if kernel.Active(layer) == "stdlib" && (HasAssembly[W]() || lanes > 0 || HasPairs[W]()) {
		t.Errorf("the standard library has %d lanes, pairs %v", lanes, HasPairs[W]())
	}
}

// FuzzBlock compares with portable code.
func FuzzBlock(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x05\x00state"), []byte("\x00\x07\x00message"))
	f.Add([]byte("\x00\x70\x01"), []byte("\x03\x80\x00\xff"))
	f.Fuzz(func(t *testing.T, start, code []byte) {
		first, msg := mactest.Message(start, 200), mactest.Message(code, 1<<13)
		forAllKernels(t, func(t *testing.T) { fuzzBlock(t, &Initial256, first, msg) },
			func(t *testing.T) { fuzzBlock(t, &Initial512, first, msg) })
	})
}

func fuzzBlock[W Word](t *testing.T, initial *State[W], first, msg []byte) {
	state := *initial
	compressGeneric(&state, slices.Concat(first, pad[W](len(first))))
	p := slices.Concat(msg, pad[W](len(msg)))
	got, want := state, state
	compressGeneric(&want, p)
	if got.Compress(p); got != want {
		t.Errorf("%x, want %x", got, want)
	}
}

func BenchmarkCompress(b *testing.B) {
	forAllKernels(b, func(b *testing.B) { benchmarkCompress(b, &Initial256) }, func(b *testing.B) { benchmarkCompress(b, &Initial512) })
}

func benchmarkCompress[W Word](b *testing.B, initial *State[W]) {
	for _, blocks := range []int{1, 128} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			state, p := *initial, make([]byte, blocks*BlockSize[W]())
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				state.Compress(p)
			}
		})
	}
}
