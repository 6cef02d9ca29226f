// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aes

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

func init() { Choose() } // for package mactest

func need(t *testing.T) {
	mactest.CheckKernels(t, mactest.AES)
	if !kernel.InUse(kernel.AES) {
		t.Skip("needs amd64 or arm64 with AES instructions, and a build without the tag purego")
	}
}

// forAllKernels runs f with each kernel of this package.
func forAllKernels(t *testing.T, f func(t *testing.T)) {
	need(t)
	mactest.EachKernel(t, mactest.AES, func(name string) {
		if InUse() {
			t.Run(name, f)
		}
	})
}

func encrypt(key, p []byte) []byte {
	var s Schedule
	p = bytes.Clone(p)
	s.Encrypt(s.Expand(key), p)
	return p
}

// TestFIPS197 checks the examples of FIPS 197, appendix C.
func TestFIPS197(t *testing.T) {
	need(t)
	const plain = "00112233445566778899aabbccddeeff"
	for key, want := range map[string]string{
		"000102030405060708090a0b0c0d0e0f":                                 "69c4e0d86a7b0430d8cdb78070b4c55a",
		"000102030405060708090a0b0c0d0e0f1011121314151617":                 "dda97ca4864cdfe06eaf70a0ec0d7191",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f": "8ea2b7ca516745bfeafc49904b496089",
	} {
		k, err := hex.DecodeString(key)
		if err != nil {
			t.Fatal(err)
		}
		p, err := hex.DecodeString(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(encrypt(k, p)); got != want {
			t.Errorf("key %s: %s, want %s", key, got, want)
		}
	}
}

// TestStd compares each kernel with crypto/aes, for keys of all sizes and 0 to 40 blocks, at all
// offsets, with the bytes around untouched.
func TestStd(t *testing.T) { forAllKernels(t, testStd) }

func testStd(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestStd.     a seed of 32 bytes.")))
	for round := range 4 * 3 * 41 {
		key := make([]byte, []int{16, 24, 32}[round%3])
		rng.Read(key)
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		n := round / 3 % 41
		buf := make([]byte, 16+BlockSize*n+16)
		rng.Read(buf)
		offset := int(rng.Uint64() % 16)
		want := bytes.Clone(buf)
		for i := range n {
			b := want[offset+BlockSize*i:][:BlockSize]
			block.Encrypt(b, b)
		}
		var s Schedule
		s.Encrypt(s.Expand(key), buf[offset:][:BlockSize*n])
		if !bytes.Equal(buf, want) {
			t.Fatalf("key of %d bytes, %d blocks at offset %d: %x, want %x", len(key), n, offset, buf, want)
		}
		a, b := binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
		var chosen [BlockSize]byte
		rng.Read(chosen[:])
		want = make([]byte, BlockSize)
		for i, number := range chosen {
			if chosen[i] &= 0x8f; chosen[i] < BlockSize {
				want[i] = encrypt(key, key[:BlockSize])[number%BlockSize]
			}
		}
		a, b = s.EncryptWords(len(key)/4+6, a, b, &chosen)
		if got := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b); !bytes.Equal(got, want) {
			t.Fatalf("EncryptWords: %x, want %x", got, want)
		}
	}
}

// TestSizes compares each number of blocks up to 256, and some beyond, with crypto/aes.
func TestSizes(t *testing.T) {
	const all, most = 256, 1 << 16
	rng := rand.NewChaCha8([32]byte([]byte("TestSizes.   a seed of 32 bytes.")))
	sizes := mactest.LongSizes(rng, all, most)
	p := mactest.Random(rng, sizes[len(sizes)-1]*BlockSize)
	for size := 16; size <= 32; size += 8 {
		key := mactest.Random(rng, size)
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(p)
		for b := range slices.Chunk(want, BlockSize) {
			block.Encrypt(b, b)
		}
		got := make([]byte, len(p))
		forAllKernels(t, func(t *testing.T) {
			var s Schedule
			rounds := s.Expand(key)
			mactest.Sizes(t, all, sizes, func(n int, _ *mactest.Fault) ([]byte, []byte) {
				copy(got, p[:n*BlockSize])
				s.Encrypt(rounds, got[:n*BlockSize])
				return got[:n*BlockSize], want[:n*BlockSize]
			})
		})
	}
}

// TestStretchSizes is TestSizes for the steps of Stretch. Each key is random: the keystreams have no part in common.
func TestStretchSizes(t *testing.T) {
	const most = 256
	rng := rand.NewChaCha8([32]byte([]byte("TestStretchSizes, a 32 B seed...")))
	var keys, want [most + 1][]byte
	for n := range keys {
		keys[n], want[n] = mactest.Random(rng, 32), make([]byte, n*StretchStep)
		block, err := aes.NewCipher(keys[n])
		if err != nil {
			t.Fatal(err)
		}
		cipher.NewCTR(block, make([]byte, BlockSize)).XORKeyStream(want[n], want[n])
	}
	eachStretch(t, func(kernel string) {
		t.Run(kernel, func(t *testing.T) {
			got := make([]byte, most*StretchStep)
			mactest.Sizes(t, most, nil, func(n int, _ *mactest.Fault) ([]byte, []byte) {
				p := got[:n*StretchStep]
				copy(p, keys[n])
				Stretch(p)
				return p, want[n]
			})
		})
	})
}

// eachStretch calls f with each kernel of Stretch in use.
func eachStretch(t testing.TB, f func(kernel string)) {
	mactest.EachKernel(t, mactest.AES, func(name string) {
		// On crypto/aes it is for builds that have no kernel at all.
		if InUse() || kernel.Purego || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
			f(name)
		}
	})
}

// TestStretch compares with crypto/cipher, at all offsets, with the bytes around untouched.
func TestStretch(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestStretch. a seed of 32 bytes.")))
	for i := range 100 {
		for _, n := range []int{1, 2, 3, 1 + i%9, 40} { // 40 steps have counters of two bytes
			before := make([]byte, 64+StretchStep*n+64)
			rng.Read(before)
			offset := int(rng.Uint64() % 64)
			want := bytes.Clone(before)
			p := want[offset:][:StretchStep*n]
			block, err := aes.NewCipher(p[:32])
			if err != nil {
				t.Fatal(err)
			}
			clear(p)
			cipher.NewCTR(block, make([]byte, BlockSize)).XORKeyStream(p, p)
			eachStretch(t, func(kernel string) {
				got := bytes.Clone(before)
				Stretch(got[offset:][:StretchStep*n])
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: %d steps at offset %d: %x, want %x", kernel, n, offset, got, want)
				}
			})
		}
	}
	for _, n := range []int{0, 32, StretchStep - 1, StretchStep + 16} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Stretch of %d bytes does not panic", n)
				}
			}()
			Stretch(make([]byte, n))
		}()
	}
}

// TestBounds places all arguments of each kernel next to pages that cannot be accessed: keys,
// schedules, 0 to 40 blocks to encrypt, 1 to 40 steps of Stretch. Then it plants an access to the byte
// before and the byte after each, which must be caught.
func TestBounds(t *testing.T) { forAllKernels(t, testBounds) }

func testBounds(t *testing.T) {
	const most = 40
	caught := 0
	plant := func(mem mactest.Memory, n int, use func(p []byte)) {
		t.Helper()
		for _, end := range []bool{false, true} {
			if !mem.Catches(n, end, func(p []byte) {
				// The same number of bytes, one byte too early or too late.
				if end {
					p = p[1:]
				}
				use(p[:n])
			}) {
				t.Fatalf("an access to one byte more is not caught, at the end: %v", end)
			}
			caught++
		}
	}
	keys, blocks, steps := mactest.Guarded(t, 32), mactest.Guarded(t, most*BlockSize), mactest.Guarded(t, most*StretchStep)
	schedules := mactest.Guarded(t, 1)
	const scheduleSize = int(unsafe.Sizeof(Schedule{}))
	schedule := func(p []byte) *Schedule { return (*Schedule)(unsafe.Pointer(&p[0])) }
	chosen := [BlockSize]byte{3, 1, 2}
	for _, end := range []bool{false, true} {
		s := schedule(schedules.Place(make([]byte, scheduleSize), 0, end))
		for _, size := range []int{16, 24, 32} {
			key := keys.Place([]byte("a key of AES-256 has 32 bytes...")[:size], 0, end)
			rounds := s.Expand(key)
			s.EncryptWords(rounds, 1, 2, (*[BlockSize]byte)(blocks.Place(chosen[:], 0, end)))
			for n := range most + 1 {
				want := bytes.Repeat(key[:BlockSize], n)
				p := blocks.Place(want, 0, end)
				s.Encrypt(rounds, p)
				if n > 0 && !bytes.Equal(p, bytes.Repeat(encrypt(key, key[:BlockSize]), n)) {
					t.Fatalf("%d blocks, at the end: %v: %x", n, end, p)
				}
				if n > 0 {
					plant(blocks, n*BlockSize, func(p []byte) { s.Encrypt(rounds, p) })
				}
			}
			plant(keys, size, func(p []byte) { s.Expand(p) })
			if size == 32 { // the others do not fill the schedule
				plant(schedules, scheduleSize, func(p []byte) { schedule(p).Expand(key) })
			}
		}
	}
	for n := 1; n <= most; n++ {
		Stretch(steps[:StretchStep*n])
		Stretch(steps[len(steps)-StretchStep*n:])
		plant(steps, StretchStep*n, Stretch)
	}
	t.Logf("%d planted accesses of one byte more, all caught", caught)
}

func TestKeySizes(t *testing.T) {
	for _, n := range []int{0, 15, 17, 33} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a key of %d bytes is accepted", n)
				}
			}()
			new(Schedule).Expand(make([]byte, n))
		}()
	}
}

func BenchmarkExpand(b *testing.B) {
	if !InUse() {
		b.Skip("no AES instructions")
	}
	var s Schedule
	key := make([]byte, 32)
	for _, n := range []int{16, 24, 32} {
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				s.Expand(key[:n])
			}
		})
	}
}

func BenchmarkEncrypt(b *testing.B) {
	if !InUse() {
		b.Skip("no AES instructions")
	}
	var s Schedule
	rounds := s.Expand(make([]byte, 16))
	for _, n := range []int{1, 8, 16, 24, 80} {
		b.Run("", func(b *testing.B) {
			p := make([]byte, BlockSize*n)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				s.Encrypt(rounds, p)
			}
		})
	}
}

func BenchmarkStretch(b *testing.B) {
	if !InUse() {
		b.Skip("no AES instructions")
	}
	eachStretch(b, func(kernel string) {
		for _, n := range []int{1, 2, 4, 8, 128} {
			b.Run(kernel+"/"+strconv.Itoa(StretchStep*n), func(b *testing.B) {
				p := make([]byte, StretchStep*n)
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					Stretch(p)
				}
			})
		}
	})
}

// TestSeed checks that words are where there is room, that others are zeros, and that none comes
// twice, which has a probability of 2^-49.
func TestSeed(t *testing.T) {
	seen := make(map[string]bool)
	for n := range 100 {
		p := bytes.Repeat([]byte{0xa5}, n+8)
		words := Seed(p[:n])
		if words > n/8 || !bytes.Equal(p[8*words:n], make([]byte, n-8*words)) || string(p[n:]) != "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5" {
			t.Fatalf("%d bytes: %d words, %x", n, words, p)
		}
		for word := range slices.Chunk(p[:8*words], 8) {
			if seen[string(word)] {
				t.Fatalf("%x twice", word)
			}
			seen[string(word)] = true
		}
	}
	t.Logf("%d words", len(seen))
}

func BenchmarkSeed(b *testing.B) {
	p := make([]byte, 32)
	if Seed(p) == 0 {
		b.Skip("no RDSEED or RNDRRS")
	}
	for b.Loop() {
		Seed(p)
	}
}

// TestAnswer computes the known answers with crypto/aes.
func TestAnswer(t *testing.T) {
	newCipher := func(key []byte) cipher.Block {
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		return block
	}
	var a kernel.Answer
	p := make([]byte, 32*BlockSize)
	kernel.FillAnswer(p)
	for _, size := range []int{16, 24, 32} {
		block := newCipher(p[len(p)-size:])
		for _, blocks := range []int{1, 7, 31} {
			for b := range slices.Chunk(p[:blocks*BlockSize], BlockSize) {
				block.Encrypt(b, b)
			}
		}
		var b, words [BlockSize]byte
		block.Encrypt(b[:], p)
		for i, from := range answerChosen {
			if from < BlockSize {
				words[i] = b[from]
			}
		}
		a.AddBytes(words[:])
	}
	if a.AddBytes(p); a != wantAnswer {
		t.Errorf("blocks: %#x, want %#x", uint64(a), uint64(wantAnswer))
	}

	var stretched kernel.Answer
	p = make([]byte, len(answering))
	kernel.FillAnswer(p)
	block := newCipher(p[:32])
	clear(p)
	cipher.NewCTR(block, make([]byte, BlockSize)).XORKeyStream(p, p)
	if stretched.AddBytes(p); stretched != wantStretch {
		t.Errorf("Stretch: %#x, want %#x", uint64(stretched), uint64(wantStretch))
	}
}
