// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package gcm

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/measure"
)

func newStd(t *testing.T, key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}

func init() { Choose() } // for package mactest

// TestStd compares with crypto/cipher: sizes around those at which the kernels take other
// code, on both sides, and around carries of the counter out of 8 and 16 bits.
func TestStd(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testStd) }

func testStd(t *testing.T) {
	sizes := []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 48, 64, 79, 80, 112, 113, 127, 128, 129, 240, 255, 256, 257,
		383, 511, 512, 513, 640, 767, 768, 1023, 1024, 1025, 1151, 1536, 2047, 2048, 2049, 2303, 2304, 2560, 16*254 - 1, 16 * 254, 16*255 + 5, 8192, 10007, 1<<20 - 16*3, 1<<20 + 777}
	rng := rand.NewChaCha8([32]byte([]byte("TestStd.     a seed of 32 bytes.")))
	random := func(n int) []byte {
		p := make([]byte, n)
		rng.Read(p)
		return p
	}
	for i, n := range sizes {
		dataSizes := sizes[:len(sizes)-2]
		if n > 1024 {
			dataSizes = []int{0, 13, 300}
		}
		for j, m := range dataSizes {
			key, nonce, data := random([]int{16, 24, 32}[(i+j)%3]), random(NonceSize), random(m)
			aead := newStd(t, key)
			var k Key
			if err := k.Init(key); err != nil {
				t.Fatal(err)
			}
			if k.Life().ID().None() {
				t.Fatal("no key after Init")
			}
			text := random(n)
			want := aead.Seal(nil, nonce, text, data)
			offset := int(rng.Uint64() % 64)
			out := make([]byte, offset+n+TagSize)[offset:]
			k.Seal(out, nonce, text, data)
			if !bytes.Equal(out, want) {
				t.Fatalf("Seal of %d bytes with %d: tag %x, want %x", n, m, out[n:], want[n:])
			}
			got := make([]byte, n)
			if !k.Open(got, nonce, out, data) || !bytes.Equal(got, text) {
				t.Fatalf("Open of %d bytes with %d: refused or wrong", n, m)
			}
			// In place.
			if !k.Open(out[:n], nonce, out, data) || !bytes.Equal(out[:n], text) {
				t.Fatalf("Open of %d bytes with %d in place: refused or wrong", n, m)
			}
			k.Seal(out, nonce, out[:n], data)
			if !bytes.Equal(out, want) {
				t.Fatalf("Seal of %d bytes with %d in place: wrong", n, m)
			}
			out[rng.Uint64()%uint64(len(out))] ^= 1
			if k.Open(got, nonce, out, data) || slices.ContainsFunc(got, func(b byte) bool { return b != 0 }) {
				t.Fatalf("Open of %d bytes with %d, one bit changed: accepted, or not zero", n, m)
			}
			if k.Destroy(); !k.Life().ID().None() || len(bytes.ReplaceAll(mactest.Storage(&k), []byte{0}, nil)) > 1 {
				t.Fatal("a key after Destroy, or more than a number of keys")
			}
		}
	}
}

// TestRuns compares with crypto/cipher what needs several calls of the assembly. The nonce
// is where the ciphertext of the first call goes.
func TestRuns(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		data := make([]byte, 3*maxRun+100)
		rand.NewChaCha8([32]byte([]byte("TestRuns.    a seed of 32 bytes."))).Read(data)
		sizes := []int{0, 1, 40, maxRun - 1, maxRun, maxRun + 1, maxRun + 512, 2*maxRun - 16, 2 * maxRun, 2*maxRun + 16, len(data)}
		for i, m := range sizes {
			key := make([]byte, []int{16, 24, 32}[i%3])
			aead := newStd(t, key)
			var k Key
			if err := k.Init(key); err != nil {
				t.Fatal(err)
			}
			for _, n := range sizes {
				out := make([]byte, max(n, 2*NonceSize)+TagSize)
				copy(out, data[:NonceSize])
				want := aead.Seal(nil, out[:NonceSize], data[:n], data[:m])
				if k.Seal(out[:n+TagSize], out[:NonceSize], data[:n], data[:m]); !bytes.Equal(out[:n+TagSize], want) {
					t.Fatalf("Seal of %d bytes with %d: wrong", n, m)
				}
				copy(out, data)
				if !k.Open(out[:n], out[:NonceSize], want, data[:m]) || !bytes.Equal(out[:n], data[:n]) {
					t.Fatalf("Open of %d bytes with %d: refused or wrong", n, m)
				}
			}
			var sum, tag [BlockSize]byte
			want := aead.Seal(nil, data[:NonceSize], nil, data[:m])
			if k.Tag(&tag, data[:NonceSize], data[:m]); !bytes.Equal(tag[:], want) {
				t.Fatalf("%d bytes: %x, want %x", m, tag, want)
			}
			groups := m &^ (GroupSize - 1)
			k.Absorb(&sum, data[:groups])
			k.Finish(&tag, &sum, data[:NonceSize], data[groups:m], uint64(m))
			if !bytes.Equal(tag[:], want) {
				t.Fatalf("%d bytes in parts: %x, want %x", m, tag, want)
			}
		}
	})
}

// TestLengths compares with crypto/cipher, in place: each size of a text up to beyond those at which
// other kernels take over, and each size of additional data up to more than two groups.
func TestLengths(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testLengths) }

func testLengths(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestLengths. a seed of 32 bytes.")))
	random := func(n int) []byte {
		p := make([]byte, n)
		rng.Read(p)
		return p
	}
	var keys [3]Key
	var stds [3]cipher.AEAD
	for i := range keys {
		key := random(16 + 8*i)
		if err := keys[i].Init(key); err != nil {
			t.Fatal(err)
		}
		stds[i] = newStd(t, key)
	}
	check := func(n, m int) {
		t.Helper()
		k, std := &keys[(n+m)%3], stds[(n+m)%3]
		nonce, data, text := random(NonceSize), random(m), random(n)
		want := std.Seal(nil, nonce, text, data)
		out := append(text[:n:n], make([]byte, TagSize)...)
		if k.Seal(out, nonce, out[:n], data); !bytes.Equal(out, want) {
			t.Errorf("Seal of %d bytes with %d: wrong", n, m)
		}
		if !k.Open(out[:n], nonce, out, data) || !bytes.Equal(out[:n], text) {
			t.Errorf("Open of %d bytes with %d: refused or wrong", n, m)
		}
	}
	for n := range 2320 {
		check(n, 7*n%301)
	}
	for m := range 301 {
		for _, n := range []int{1, 40, 511, 512, 600, 2100} {
			check(n, m)
		}
	}
}

// TestSizes compares with crypto/cipher each number of blocks up to 256, of which the last may be a part, of text
// and of GMAC, each number of groups that are absorbed, and some beyond.
func TestSizes(t *testing.T) {
	const all, most, maxAbsorbed = 256, 1 << 16, 1 << 18
	rng := rand.NewChaCha8([32]byte([]byte("TestSizes.   a seed of 32 bytes.")))
	longer := mactest.LongSizes(rng, all, most)
	longest := longer[len(longer)-1] * BlockSize
	key, nonce, text := mactest.Random(rng, 32), mactest.Random(rng, NonceSize), mactest.Random(rng, longest)
	std, out := newStd(t, key), make([]byte, longest+TagSize)
	groups := maxAbsorbed / GroupSize
	absorbed := make([][]byte, groups+1)
	for n := range absorbed {
		absorbed[n] = std.Seal(nil, nonce, nil, text[:n*GroupSize+n%GroupSize])
	}
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var k Key
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		for name, run := range map[string]func(text, data []byte) (got, want []byte){
			"Seal": func(text, data []byte) (got, want []byte) {
				got = out[:len(text)+TagSize]
				k.Seal(got, nonce, text, data)
				return got, std.Seal(nil, nonce, text, data)
			},
			"Open": func(text, data []byte) (got, want []byte) {
				got = out[:len(text)]
				k.Open(got, nonce, std.Seal(nil, nonce, text, data), data) // zeros if the tag is not right
				return got, text
			},
			"Tag": func(text, data []byte) (got, want []byte) {
				k.Tag((*[TagSize]byte)(out), nonce, text)
				return out[:TagSize], std.Seal(nil, nonce, nil, text)
			},
		} {
			t.Run(name, func(t *testing.T) {
				mactest.Sizes(t, all, longer, func(n int, _ *mactest.Fault) (got, want []byte) {
					size := n*BlockSize - n%4*5
					return run(text[:size], text[:n%100])
				})
			})
		}
		t.Run("Absorb", func(t *testing.T) {
			mactest.Sizes(t, groups, nil, func(n int, _ *mactest.Fault) (got, want []byte) {
				var sum [BlockSize]byte
				size := n * GroupSize
				k.Absorb(&sum, text[:size])
				k.Finish((*[TagSize]byte)(out), &sum, nonce, text[size:][:n%GroupSize], uint64(size+n%GroupSize))
				return out[:TagSize], absorbed[n]
			})
		})
	})
}

// TestLengthsHuge compares with crypto/cipher, in place: a text and additional data whose lengths in bits
// take more than 32 bits.
func TestLengthsHuge(t *testing.T) {
	if !mactest.Long() || strconv.IntSize < 64 || mactest.Race {
		t.Skip("only if FASTMAC_TEST_LONG is set, and on 64-bit platforms")
	}
	key, nonce, zeros := make([]byte, 16), make([]byte, NonceSize), make([]byte, 512<<20+77)
	std := newStd(t, key)
	for _, size := range [][2]int{{len(zeros), 5}, {5, len(zeros)}} {
		text, data := zeros[:size[0]], zeros[:size[1]]
		want := std.Seal(nil, nonce, text, data)
		mactest.EachKernel(t, mactest.GCM, func(kernels string) {
			var k Key
			if err := k.Init(key); err != nil {
				t.Fatal(err)
			}
			out := make([]byte, len(text)+TagSize)
			if k.Seal(out, nonce, out[:len(text)], data); !bytes.Equal(out, want) {
				t.Errorf("%s: Seal of %d bytes with %d: wrong", kernels, len(text), len(data))
			}
			if !k.Open(out[:len(text)], nonce, out, data) || !bytes.Equal(out[:len(text)], text) {
				t.Errorf("%s: Open of %d bytes with %d: refused or wrong", kernels, len(text), len(data))
			}
		})
	}
}

// TestTag compares GMAC in one call, and in groups and a rest, with crypto/cipher.
func TestTag(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testTag) }

func testTag(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	msg := make([]byte, 3000)
	for i := range msg {
		msg[i] = byte(rng.Uint32())
	}
	for n := range len(msg) {
		key, nonce := msg[:[]int{16, 24, 32}[n%3]], msg[100:100+NonceSize]
		want := newStd(t, key).Seal(nil, nonce, nil, msg[:n])
		var k Key
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		var tag [TagSize]byte
		if k.Tag(&tag, nonce, msg[:n]); !bytes.Equal(tag[:], want) {
			t.Fatalf("%d bytes: %x, want %x", n, tag, want)
		}
		for range 3 {
			var sum [BlockSize]byte
			rest := msg[:n]
			for groups := n / GroupSize; groups > 0; {
				take := 1 + rng.IntN(groups)
				k.Absorb(&sum, rest[:GroupSize*take])
				rest, groups = rest[GroupSize*take:], groups-take
			}
			if k.Finish(&tag, &sum, nonce, rest, uint64(n)); !bytes.Equal(tag[:], want) {
				t.Fatalf("%d bytes in parts: %x, want %x", n, tag, want)
			}
		}
	}
}

// TestCounter seals a text whose counter carries out of 24 bits and whose length in bits
// takes more than 32, in place, and opens it with crypto/cipher. With nonces of 12 bytes
// the counter begins at 2 and never wraps around: see MaxTextSize.
func TestCounter(t *testing.T) {
	if os.Getenv("FASTMAC_TEST_LONG") == "" {
		t.Skip("needs FASTMAC_TEST_LONG=1: 513 MiB")
	}
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		key, nonce := make([]byte, 32), make([]byte, NonceSize)
		n := 513 << 20
		text := make([]byte, n+TagSize)
		var k Key
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		k.Seal(text, nonce, text[:n], nil)
		plain, err := newStd(t, key).Open(text[:0], nonce, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(plain) != n || !bytes.Equal(plain[:n/2], plain[n-n/2:]) || bytes.Count(plain[:4096], []byte{0}) != 4096 {
			t.Error("wrong plaintext")
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	benchmark(b, func(k *Key, out, nonce, text, data []byte) { k.Seal(out, nonce, text, data) })
}

func BenchmarkOpen(b *testing.B) {
	benchmark(b, func(k *Key, out, nonce, text, data []byte) {
		k.Open(out[:len(text)], nonce, out, data) // refused, which takes as long except for clearing
	})
}

func BenchmarkTag(b *testing.B) {
	benchmark(b, func(k *Key, out, nonce, text, data []byte) { k.Tag((*[TagSize]byte)(out), nonce, text) })
}

// BenchmarkSteps measures messages of 64, 128, ... 4096 bytes in turn, logs their times, and reports the most
// by which a longer one takes less time, in percent. One run is enough:
//
//	go test -run '^$' -bench Steps -benchtime 1x ./internal/gcm
func BenchmarkSteps(b *testing.B) {
	const most = 4096
	var k Key
	if err := k.Init(make([]byte, 32)); err != nil {
		b.Fatal(err)
	}
	text, out, nonce, data := make([]byte, most), make([]byte, most+TagSize), make([]byte, NonceSize), make([]byte, 13)
	for _, op := range []struct {
		name string
		run  func(n int)
	}{
		{"seal", func(n int) { k.Seal(out[:n+TagSize], nonce, text[:n], data) }},
		{"open", func(n int) { k.Open(text[:n], nonce, out[:n+TagSize], data) }},
		{"gmac", func(n int) { k.Tag((*[TagSize]byte)(out), nonce, text[:n]) }},
	} {
		b.Run(op.name, func(b *testing.B) {
			for b.Loop() {
				var cells []*measure.Cell
				for n := 64; n <= most; n += 64 {
					before := func() { k.Seal(out[:n+TagSize], nonce, text[:n], data) } // for open
					cells = append(cells, &measure.Cell{Batch: 1, Before: before, Do: func(times int) {
						for range times {
							op.run(n)
						}
					}})
				}
				if err := measure.InTurn(b.Context(), cells, 10*time.Microsecond, time.Second, func(time.Duration) {}); err != nil {
					b.Fatal(err)
				}
				saw, before := 0.0, 0.0
				for i, c := range cells {
					ns := measure.Quantile(c.NS, 0)
					b.Logf("%d bytes: %.1f ns", 64*(i+1), ns)
					before = max(before, ns)
					saw = max(saw, before/ns-1)
				}
				b.ReportMetric(100*saw, "saw-%")
			}
		})
	}
}

func benchmark(b *testing.B, f func(k *Key, out, nonce, text, data []byte)) {
	var k Key
	mactest.EachKernel(b, mactest.GCM, func(kernel string) {
		if err := k.Init(make([]byte, 32)); err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{16, 64, 256, 1024, 1500, 4096, 16384} {
			b.Run(fmt.Sprintf("kernel=%s/size=%d", kernel, n), func(b *testing.B) {
				text, out := make([]byte, n), make([]byte, n+TagSize)
				nonce, data := make([]byte, NonceSize), make([]byte, 13)
				b.SetBytes(int64(n))
				for b.Loop() {
					f(&k, out, nonce, text, data)
				}
			})
		}
	})
}
