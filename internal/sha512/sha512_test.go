// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha512

import (
	"bytes"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac/internal/mactest"
)

func seeded(seed string) *rand.ChaCha8 {
	var s [32]byte
	copy(s[:], seed)
	return rand.NewChaCha8(s)
}

// pad returns what follows a message of n bytes, FIPS 180-4 section 5.1.2.
func pad(n int) []byte {
	p := make([]byte, 1, 2*BlockSize)
	p[0] = 0x80
	for (n+len(p)+16)%BlockSize != 0 {
		p = append(p, 0)
	}
	p = binary.BigEndian.AppendUint64(p, uint64(n)>>61)
	return binary.BigEndian.AppendUint64(p, uint64(n)<<3)
}

func stateBytes(state *[8]uint64) []byte {
	var b []byte
	for _, x := range state {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return b
}

// forAllKernels runs f with each kernel that this machine has.
func forAllKernels[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(T)) {
	mactest.EachKernel(t, mactest.HMAC, func(name string) { t.Run("impl="+name, f) })
}

// hashBlocks returns the SHA-512 of msg. It calls Block for runs of blocks, whose sizes
// run returns.
func hashBlocks(msg []byte, run func() int) []byte {
	p := append(bytes.Clone(msg), pad(len(msg))...)
	state := Initial()
	for len(p) > 0 {
		n := min(run()*BlockSize, len(p))
		Block(&state, p[:n])
		p = p[n:]
	}
	return stateBytes(&state)
}

// all is a run of all blocks.
func all() int { return 1 << 20 }

// TestConstants derives the constants as FIPS 180-4 does: from the fractional parts
// of the cube roots of the first 80 primes, and of the square roots of the first 8.
func TestConstants(t *testing.T) {
	var primes []int64
	for n := int64(2); len(primes) < len(k); n++ {
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
	for i, x := range k {
		if !holds(primes[i], 3, x) {
			t.Errorf("k[%d] = %#x", i, x)
		}
	}
	for i, x := range Initial() {
		if !holds(primes[i], 2, x) {
			t.Errorf("Initial()[%d] = %#x", i, x)
		}
	}
}

// TestFIPS180 checks the examples that NIST publishes with FIPS 180-4.
func TestFIPS180(t *testing.T) { forAllKernels(t, testFIPS180) }

func testFIPS180(t *testing.T) {
	for msg, want := range map[string]string{
		"abc": "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
		"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu": "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
	} {
		if got := hex.EncodeToString(hashBlocks([]byte(msg), all)); got != want {
			t.Errorf("%q: %s, want %s", msg, got, want)
		}
	}
}

// TestStd compares with crypto/sha512: messages of all lengths from 0 to 1024
// bytes, and longer ones in all splits in two and in runs of random sizes.
func TestStd(t *testing.T) { forAllKernels(t, testStd) }

func testStd(t *testing.T) {
	rng := seeded("testStd")
	check := func(msg []byte, run func() int, how string) {
		t.Helper()
		if got, want := hashBlocks(msg, run), sha512.Sum512(msg); !bytes.Equal(got, want[:]) {
			t.Fatalf("%d bytes %s: %x, want %x", len(msg), how, got, want)
		}
	}
	for n := range 1025 {
		check(mactest.Random(rng, n), all, "at once")
		check(mactest.Random(rng, n), func() int { return 1 }, "block by block")
	}
	for range 20 {
		msg := mactest.Random(rng, 1024+int(rng.Uint64()%9000))
		for split := range len(msg)/BlockSize + 1 {
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

// TestStates compares with portable Go from other states than the initial one.
// Half of them, and half of the blocks, are made of words at the bounds of signed and
// unsigned numbers.
func TestStates(t *testing.T) { forAllKernels(t, testStates) }

func testStates(t *testing.T) {
	rng := seeded("testStates")
	word := func(special bool) uint64 {
		x := rng.Uint64()
		if special {
			return [...]uint64{0, 1, 1 << 63, 1<<63 - 1, 1<<64 - 1, x}[x%6]
		}
		return x
	}
	for i := range 2000 {
		var state [8]uint64
		for j := range state {
			state[j] = word(i%2 == 1)
		}
		p := make([]byte, 0, 3*BlockSize)
		for len(p) < BlockSize*(1+i%3) {
			p = binary.BigEndian.AppendUint64(p, word(i%4 > 1))
		}
		before, got, want := state, state, state
		Block(&got, p)
		blockGeneric(&want, p)
		if got != want {
			t.Fatalf("state %x, blocks %x: %x, want %x", before, p, got, want)
		}
	}
}

// TestBounds puts runs of 0 to 20 blocks after and before a page that cannot be read,
// 0 to 63 bytes away from it. Bytes after the last whole block of p must be ignored.
func TestBounds(t *testing.T) { forAllKernels(t, testBounds) }

func testBounds(t *testing.T) {
	const most, offsets = 20, 64
	mem := mactest.Guarded(t, most*BlockSize+offsets)
	rng := seeded("testBounds")
	for blocks := range most + 1 {
		msg := mactest.Random(rng, blocks*BlockSize)
		initial := Initial()
		want := initial
		blockGeneric(&want, msg)
		for offset := range offsets {
			for _, at := range []int{offset, len(mem) - len(msg) - offset} {
				p := mem[at:][:len(msg):len(msg)]
				copy(p, msg)
				got := initial
				Block(&got, p)
				if got != want {
					t.Fatalf("%d blocks at %d: %x, want %x", blocks, at, got, want)
				}
				if !bytes.Equal(p, msg) {
					t.Fatalf("%d blocks at %d: Block has changed them", blocks, at)
				}
			}
			got := initial
			Block(&got, mem[len(mem)-len(msg)-offset:])
			if got != want {
				t.Fatalf("%d blocks and %d bytes: %x, want %x", blocks, offset, got, want)
			}
		}
	}
	// An empty slice may point anywhere.
	got := Initial()
	Block(&got, nil)
	Block(&got, mem[len(mem):])
	if got != Initial() {
		t.Errorf("no blocks: %x", got)
	}
}

// TestSum compares messages of all lengths around the blocks, in whole and after a
// beginning that is in the state, with crypto/sha512, and so the hashes of a block and
// these hashes. The messages are directly after and before a page that cannot be read.
// out is the end of the message.
func TestSum(t *testing.T) { forAllKernels(t, testSum) }

func testSum(t *testing.T) {
	rng := seeded("testSum")
	block := mactest.Random(rng, BlockSize)
	outer := Initial()
	blockGeneric(&outer, block)
	const most = 700
	mem := mactest.Guarded(t, most)
	for n := range most + 1 {
		msg := mem[:n]
		if n%2 == 1 {
			msg = mem[len(mem)-n:]
		}
		rng.Read(msg)
		want := sha512.Sum512(msg)
		wantOuter := sha512.Sum512(slices.Concat(block, want[:]))
		for _, first := range []int{0, n / 2 &^ (BlockSize - 1), n &^ (BlockSize - 1)} {
			state := Initial()
			Block(&state, msg[:first])
			before, beforeOuter := state, outer
			var out [Size]byte
			Sum(&out, &state, nil, uint64(first), msg[first:])
			if out != want || state != before {
				t.Fatalf("%d bytes, %d in the state: %x, want %x", n, first, out, want)
			}
			Sum(&out, &state, &outer, uint64(first), msg[first:])
			if out != wantOuter || state != before || outer != beforeOuter {
				t.Fatalf("%d bytes, %d in the state, outer hash: %x, want %x", n, first, out, wantOuter)
			}
		}
		if n >= Size {
			out := (*[Size]byte)(msg[n-Size:])
			end := *out
			state := Initial()
			if Sum(out, &state, &outer, 0, msg); *out != wantOuter {
				t.Fatalf("%d bytes, outer hash to the end of the message: %x, want %x", n, *out, wantOuter)
			}
			*out = end
			if Sum(out, &state, nil, 0, msg); *out != want {
				t.Fatalf("%d bytes, to the end of the message: %x, want %x", n, *out, want)
			}
		}
	}
}

// TestSumLength checks a length of more than 64 bits.
func TestSumLength(t *testing.T) { forAllKernels(t, testSumLength) }

func testSumLength(t *testing.T) {
	const n = 0xfedcba9876543280 // whole blocks
	for _, size := range []int{5, BlockSize - 5} {
		msg := make([]byte, size, 2*BlockSize)
		p := append(msg, 0x80)
		p = append(p, make([]byte, -(len(p)+16)&(BlockSize-1))...)
		p = binary.BigEndian.AppendUint64(p, n>>61)
		p = binary.BigEndian.AppendUint64(p, (n+uint64(size))<<3)
		initial := Initial()
		want, got := initial, [Size]byte{}
		blockGeneric(&want, p)
		if Sum(&got, &initial, nil, n, msg); !bytes.Equal(got[:], stateBytes(&want)) {
			t.Errorf("%d bytes: %x, want %x", size, got, stateBytes(&want))
		}
	}
}

// TestPaddingLength writes lengths of more than 2^61 bytes, whose bits need a second
// word.
func TestPaddingLength(t *testing.T) {
	const n = 0xe123456789abcd80
	// n << 3
	want := []byte{7, 0x09, 0x1a, 0x2b, 0x3c, 0x4d, 0x5e, 0x6c, 0x00}
	var end Tail
	if got := end.Write(nil, n); got[0] != 0x80 || !bytes.Equal(got[BlockSize-len(want):], want) {
		t.Errorf("%x", got)
	}
}

func TestAllocations(t *testing.T) { forAllKernels(t, testAllocations) }

func testAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	state := Initial()
	for name, call := range map[string]func(){
		"Block": func() { var p [300]byte; Block(&state, p[:]) },
		"Sum":   func() { var p [300]byte; Sum((*[Size]byte)(p[:]), &state, &state, 0, p[:]) },
		"pairs": func() {
			if HasPairs() {
				var p [300]byte
				BlockPair(&state, &state, p[:], p[:])
				var out [2][Size]byte
				m := Message{State: &state, Outer: &state, P: out[0][:]}
				SumPair(&out, &[2]Message{m, m})
			}
		},
		"Lanes": func() {
			if lanes, _ := LaneCount(); lanes > 0 {
				var s Lanes
				var block [BlockSize]byte
				s.Block(&[MaxLanes][]byte{block[:], block[:], block[:], block[:]}, 1, 2)
			}
		},
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s makes %v allocations", name, n)
		}
	}
}

// TestLaneCount checks that each kernel has lanes or pairs, and crypto/sha512 neither.
func TestLaneCount(t *testing.T) {
	forAllKernels(t, func(t *testing.T) {
		if lanes, minLanes := LaneCount(); (lanes > 0 || HasPairs()) != hasAssembly() || lanes > 0 && HasPairs() || minLanes > lanes || lanes > MaxLanes {
			t.Errorf("%d lanes, from %d", lanes, minLanes)
		}
	})
}

// TestPaddingRoom writes ends of messages with rests of all sizes, in one block or two.
func TestPaddingRoom(t *testing.T) {
	rest := bytes.Repeat([]byte("x"), BlockSize-1)
	for n := range BlockSize {
		end := Tail(bytes.Repeat([]byte{0xff}, 2*BlockSize)) // the one before
		want := append(bytes.Clone(rest[:n]), 0x80)
		size := BlockSize
		if len(want) > BlockSize-16 {
			size *= 2
		}
		want = append(want, make([]byte, size-len(want))...)
		want[size-2], want[size-1] = byte(n>>5), byte(n<<3)
		if got := end.Write(rest[:n], uint64(n)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

// FuzzBlock compares with portable code.
func FuzzBlock(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x05\x00state"), []byte("\x00\x07\x00message"))
	f.Add([]byte("\x00\x70\x01"), []byte("\x03\x80\x00\xff"))
	f.Fuzz(func(t *testing.T, start, code []byte) {
		state := Initial()
		first, msg := mactest.Message(start, 200), mactest.Message(code, 1<<13)
		blockGeneric(&state, append(first, pad(len(first))...))
		p := append(msg, pad(len(msg))...)
		want := state
		blockGeneric(&want, p)
		forAllKernels(t, func(t *testing.T) {
			got := state
			if Block(&got, p); got != want {
				t.Errorf("%x, want %x", got, want)
			}
		})
	})
}

func BenchmarkBlock(b *testing.B) {
	sizes := func(b *testing.B, compress func(p []byte)) {
		for _, blocks := range []int{1, 128} {
			b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
				p := make([]byte, blocks*BlockSize)
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					compress(p)
				}
			})
		}
	}
	forAllKernels(b, func(b *testing.B) {
		state := Initial()
		sizes(b, func(p []byte) { Block(&state, p) })
	})
	b.Run("impl=stdlib-stream", func(b *testing.B) {
		h := sha512.New()
		sizes(b, func(p []byte) { h.Write(p) })
	})
}
