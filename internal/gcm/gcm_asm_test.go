// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build (amd64 || arm64) && !purego

package gcm

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// TestInitAgain checks that a key has nothing of the one before, which was longer.
func TestInitAgain(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var again, once Key
		for _, key := range []string{"an AES key of thirty-two bytes..", "one of sixteen.."} {
			if err := again.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
			once = Key{}
			if err := once.Init([]byte(key)); err != nil {
				t.Fatal(err)
			}
		}
		if again.life = once.life; again != once {
			t.Errorf("%+v, want %+v", again, once)
		}
	})
}

// TestCutWiped checks that GHASH of a message of several runs is zero after use.
func TestCutWiped(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var k Key
		if err := k.Init([]byte("one of sixteen..")); err != nil {
			t.Fatal(err)
		}
		for _, text := range []int{0, 40, maxRun + 1} {
			var tag, sum [BlockSize]byte
			p := make([]byte, 2*maxRun)
			r := run{tag: &tag, sum: &sum, data: p, dst: p, src: p[:text]}
			if k.cut(&r, new([NonceSize]byte), false); sum != [BlockSize]byte{} || tag == sum {
				t.Errorf("text of %d bytes: sum %x, tag %x", text, sum, tag)
			}
		}
	})
}

// TestBlocks seals and opens runs after others, in place and not, with counters up to and beyond
// the end of their 32 bits. Without a tag a run adds its ciphertext to the sum.
func TestBlocks(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		key, nonce := []byte("an AES key of thirty-two bytes.."), [NonceSize]byte([]byte("twelve bytes"))
		block, err := aes.NewCipher(key)
		if err != nil {
			t.Fatal(err)
		}
		var k Key
		if err := k.Init(key); err != nil {
			t.Fatal(err)
		}
		for _, before := range []uint32{0, 1 << 14, 1<<32 - 64, 1<<32 - 32} {
			for _, n := range []int{1, 40, 48, 49, 100, 127, 128, 257, 479, 480, 500, 512, 513, 575, 576, 577, 640, 1000, 1024, 1536, 2047, 2048, 2431} {
				for _, last := range []bool{true, false} {
					if !last && n%512 != 0 {
						continue
					}
					text := bytes.Repeat([]byte("text"), (n+3)/4)[:n]
					want := make([]byte, n+BlockSize)
					for i := 0; i < n; i += BlockSize {
						counter := binary.BigEndian.AppendUint32(nonce[:], before+2+uint32(i/BlockSize))
						block.Encrypt(want[i:], counter)
					}
					subtle.XORBytes(want, want, text)
					want = want[:n]
					got := make([]byte, n)
					for _, step := range []struct {
						name            string
						dst, src, wants []byte
						run             func(r *run, nonce *[NonceSize]byte)
					}{
						{"seal", got, text, want, k.seal},
						{"open in place", got, got, text, k.open},
						{"seal in place", got, got, want, k.seal},
						{"open", got, want, text, k.open},
					} {
						var tag [TagSize]byte
						sum := [BlockSize]byte{1, 2, 3}
						wantSum := sum
						r := run{sum: &sum, dst: step.dst, src: step.src, blocks: before, textBits: 8 * uint64(n)}
						if last {
							r.tag = &tag
						} else {
							k.Absorb(&wantSum, want)
						}
						step.run(&r, &nonce)
						if what := fmt.Sprintf("%s, %d blocks before, %d bytes, last %v", step.name, before, n, last); !bytes.Equal(got, step.wants) || sum != wantSum {
							t.Fatalf("%s: wrong text, or sum %x, want %x", what, sum, wantSum)
						}
					}
				}
			}
		}
	})
}

// TestCutBlocks seals and opens a text of two runs, as a part of a longer one: after as many blocks as whole runs
// can have, a power of two, or the most.
func TestCutBlocks(t *testing.T) {
	const runBlocks = maxRun / BlockSize
	key, nonce, text := []byte("one of sixteen.."), [NonceSize]byte([]byte("twelve bytes")), make([]byte, maxRun+BlockSize)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	befores := []uint32{1<<32 - 2*runBlocks}
	for before := uint32(runBlocks); before > 0; before *= 2 {
		befores = append(befores, before)
	}
	for _, before := range befores {
		counter := binary.BigEndian.AppendUint32(nonce[:], before+2)
		want := make([]byte, len(text))
		cipher.NewCTR(block, counter).XORKeyStream(want, text)
		mactest.EachKernel(t, mactest.GCM, func(name string) {
			var k Key
			if err := k.Init(key); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(text))
			for _, step := range []struct {
				src, want []byte
				open      bool
			}{{text, want, false}, {want, text, true}} {
				var tag, sum [BlockSize]byte
				r := run{tag: &tag, sum: &sum, dst: got, src: step.src, blocks: before, textBits: 8 * uint64(len(text))}
				if k.cut(&r, &nonce, step.open); !bytes.Equal(got, step.want) {
					t.Errorf("%s, %d blocks before, open %v: wrong text", name, before, step.open)
				}
			}
		})
	}
}

// TestLengthBits checks that each bit of the lengths of a message counts, in runs for each kernel.
func TestLengthBits(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var k Key
		if err := k.Init(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 2*GroupSize)
		for name, do := range map[string]func(r *run, nonce *[NonceSize]byte){"seal": k.seal, "open": k.open, "gmac": k.gmac, "gmacRest": k.gmacRest} {
			for _, n := range []int{20, 100, len(p)} {
				seen := make(map[[TagSize]byte]int)
				for bit := range 128 {
					var tag, sum [BlockSize]byte
					r := run{tag: &tag, sum: &sum, dst: make([]byte, n)}
					switch name {
					case "seal", "open":
						r.src = p[:n]
					case "gmac":
						r.data = p[:n]
					}
					if bit < 64 {
						r.dataBits = 1 << bit
					} else {
						r.textBits = 1 << (bit - 64)
					}
					if strings.HasPrefix(name, "gmac") && bit >= 64 || bit%64 < 3 || bit%64 == 63 {
						continue // there is no such length
					}
					do(&r, new([NonceSize]byte))
					if other, ok := seen[tag]; ok {
						t.Errorf("%s of %d bytes: the same tag with bits %d and %d", name, n, bit, other)
					}
					seen[tag] = bit
				}
			}
		}
	})
}

// TestSumBefore checks that data of any length that a kernel hashes are added to the sum before them.
func TestSumBefore(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var k Key
		if err := k.Init(make([]byte, 16)); err != nil {
			t.Fatal(err)
		}
		nonce, p := new([NonceSize]byte), bytes.Repeat([]byte("additional data"), 100)
		for n := GroupSize; n < len(p); n++ {
			var tag, want, sum [BlockSize]byte
			k.Tag(&want, nonce[:], p[:n])
			k.Absorb(&sum, p[:GroupSize])
			k.gmac(&run{tag: &tag, sum: &sum, data: p[GroupSize:n], dataBits: 8 * uint64(n)}, nonce)
			if tag != want {
				t.Fatalf("%d bytes after a group: %x, want %x", n-GroupSize, tag, want)
			}
		}
	})
}

// TestAnswer computes the known answer with crypto/cipher.
func TestAnswer(t *testing.T) {
	var a kernel.Answer
	p := make([]byte, answerBytes)
	kernel.FillAnswer(p)
	nonce := p[answerBytes-NonceSize:]
	aeads := []cipher.AEAD{newStd(t, p[:16]), newStd(t, p[:24]), newStd(t, p[:32])}
	aead := aeads[2]
	for i, n := range answerSizes {
		aead := aeads[i%3]
		text := bytes.Clone(p[:n.text])
		aead.Seal(p[:0], nonce, p[:n.text], p[answerBytes-n.data:])
		a.AddBytes(p[:(n.text+TagSize+7)&^7])
		copy(p, text)
	}
	a.AddBytes(aead.Seal(nil, nonce, nil, slices.Concat(p[:18*GroupSize], p[:7*GroupSize+77])))
	tag := aead.Seal(nil, nonce, p[:612], p[answerBytes-20:])[612:]
	a.AddBytes(tag)
	a.AddBytes(tag)
	if a.AddBytes(p); a != wantAnswer {
		t.Errorf("%#x, want %#x", uint64(a), uint64(wantAnswer))
	}
}
