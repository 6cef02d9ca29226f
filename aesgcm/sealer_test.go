// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package aesgcm_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.com/fastmac/aesgcm"
	"example.com/fastmac/internal/mactest"
)

// attempt is what a call of Seal or Open did.
type attempt struct {
	panics, refused bool
	result          []byte
	memory          []byte // from which all arguments were, after the call
}

// try makes a call with a copy of memory.
func try(memory []byte, call func(memory []byte) ([]byte, error)) (a attempt) {
	a.memory = bytes.Clone(memory)
	defer func() { a.panics = recover() != nil }()
	result, err := call(a.memory)
	a.result, a.refused = bytes.Clone(result), err != nil
	return a
}

func (a attempt) String() string {
	return fmt.Sprintf("panics %v, refused %v, result %x, memory %x", a.panics, a.refused, a.result, a.memory)
}

// TestOverlap places all arguments in one memory. Seal and Open must panic where those of
// crypto/cipher do, and leave the same memory where they do not.
func TestOverlap(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testOverlap) }

func testOverlap(t *testing.T) {
	const size = 320
	rng := rand.NewChaCha8([32]byte([]byte("testOverlap: a 32 byte seed.....")))
	key, memory := mactest.Random(rng, 32), mactest.Random(rng, size)
	k, std := mactest.Must(aesgcm.NewKey(key)), newCipher(t, key)
	panicked, sealed, opened := 0, 0, 0
	compare := func(what string, args []int, call func(aead cipher.AEAD, memory []byte) ([]byte, error)) (panics, refused bool) {
		t.Helper()
		want := try(memory, func(memory []byte) ([]byte, error) { return call(std, memory) })
		got := try(memory, func(memory []byte) ([]byte, error) { return call(k, memory) })
		if got.panics != want.panics || got.refused != want.refused || !bytes.Equal(got.result, want.result) || !bytes.Equal(got.memory, want.memory) {
			t.Fatalf("%s %v:\n got %v\nwant %v", what, args, got, want)
		}
		if got.panics {
			panicked++
		}
		return got.panics, got.refused
	}

	// The text is at 100. What is appended begins at "to", after a prefix.
	const text = 100
	for _, n := range []int{0, 1, 15, 16, 40, 64} {
		for to := 20; to < text+n+40; to++ {
			for _, prefix := range []int{0, 5} {
				for _, data := range []int{0, to - 4, to - 3, to, to + n, to + n + 13, to + n + 15, to + n + 16, text - 2, text + n - 1} {
					for _, nonce := range []int{300, to - 6, to, to + n + 10, text - 5} {
						for _, room := range []int{n, n + 15, n + 16, n + 40} {
							if (to+data+nonce+room)%3 != 0 && testing.Short() {
								continue
							}
							args := []int{n, to, prefix, data, nonce, room}
							if panics, _ := compare("Seal", args, func(aead cipher.AEAD, m []byte) ([]byte, error) {
								return aead.Seal(m[to-prefix:to:to+room], m[nonce:][:12], m[text:][:n], m[data:][:4]), nil
							}); !panics {
								sealed++
							}

							// Half of the calls open what is authentic.
							before := bytes.Clone(memory)
							if to%2 == 0 {
								authentic := std.Seal(nil, memory[nonce:][:12], memory[text:][:n], memory[data:][:4])
								copy(memory[text:], authentic)
								if !bytes.Equal(memory[nonce:][:12], before[nonce:][:12]) || !bytes.Equal(memory[data:][:4], before[data:][:4]) {
									copy(memory, before) // the ciphertext would be over the nonce or the data
								}
							}
							if panics, refused := compare("Open", args, func(aead cipher.AEAD, m []byte) ([]byte, error) {
								return aead.Open(m[to-prefix:to:to+room], m[nonce:][:12], m[text:][:n+16], m[data:][:4])
							}); !panics && !refused {
								opened++
							}
							copy(memory, before)
						}
					}
				}
			}
		}
	}
	if panicked < 1000 || sealed < 1000 || opened < 1000 {
		t.Errorf("only %d calls panicked, %d sealed and %d opened", panicked, sealed, opened)
	}
}

// TestSealerOverlap does the same for a Sealer, beside NewGCMWithRandomNonce.
// What that refuses and these must not is a text 12 bytes after the beginning of the other.
func TestSealerOverlap(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testSealerOverlap) }

func testSealerOverlap(t *testing.T) {
	const size = 320
	rng := rand.NewChaCha8([32]byte([]byte("testSealerOverlap: a 32 byte see")))
	key, memory := mactest.Random(rng, 32), mactest.Random(rng, size)
	k := mactest.Must(aesgcm.NewKey(key))
	s, std := k.NewSealer(), newRandomNonce(t, key)
	const text = 100
	panicked, sealed, opened := 0, 0, 0
	for _, n := range []int{0, 1, 15, 16, 40, 64} {
		for to := 20; to < text+n+40; to++ {
			for _, data := range []int{0, to - 4, to - 3, to, to + 12, to + n + 24, to + n + 27, to + n + 28, text - 2, text + n - 1} {
				for _, room := range []int{n, n + 27, n + 28, n + 40} {
					plaintext, additional := bytes.Clone(memory[text:][:n]), bytes.Clone(memory[data:][:4])
					seal := func(aead cipher.AEAD) attempt {
						return try(memory, func(m []byte) ([]byte, error) {
							return aead.Seal(m[to:to:to+room], nil, m[text:][:n], m[data:][:4]), nil
						})
					}
					want, got := seal(std), seal(s)
					dataOverlaps := n+28 <= room && data < to+n+28 && to < data+4
					if to+12 == text && n > 0 && n+28 <= room {
						want.panics = dataOverlaps
					}
					if got.panics != want.panics {
						t.Fatalf("Seal of %d bytes to %d, data %d, room %d: panics %v, want %v", n, to, data, room, got.panics, want.panics)
					}
					if got.panics {
						panicked++
						if !bytes.Equal(got.memory, memory) {
							t.Fatalf("Seal of %d bytes to %d, data %d, room %d panics and changes memory", n, to, data, room)
						}
					} else {
						sealed++
						if back, err := std.Open(nil, nil, got.result, additional); err != nil || !bytes.Equal(back, plaintext) {
							t.Fatalf("Seal of %d bytes to %d, data %d, room %d: not opened: %v", n, to, data, room, err)
						}
					}

					// Half of the calls open what is authentic.
					before := bytes.Clone(memory)
					if to%2 == 0 {
						copy(memory[text:], s.Seal(nil, nil, memory[text:][:n], memory[data:][:4]))
						if !bytes.Equal(memory[data:][:4], additional) {
							copy(memory, before)
						}
					}
					open := func(aead cipher.AEAD) attempt {
						return try(memory, func(m []byte) ([]byte, error) {
							return aead.Open(m[to:to:to+room], nil, m[text:][:n+28], m[data:][:4])
						})
					}
					want, got = open(std), open(s)
					if to == text+12 && n > 0 || to == text && room < n+28 {
						// crypto/cipher's panics, in the second case because it needs more room.
						want = try(memory, func(m []byte) ([]byte, error) {
							return std.Open(nil, nil, m[text:][:n+28], m[data:][:4])
						})
						want.panics = n > 0 && data < to+n && to < data+4
					}
					if to == text && n > 0 && data < to+n+16 && to < data+4 {
						want.panics = true // crypto/cipher moves the ciphertext over the data, and then refuses it
					}
					if got.panics != want.panics || !got.panics && (got.refused != want.refused || !bytes.Equal(got.result, want.result)) {
						t.Fatalf("Open of %d bytes to %d, data %d, room %d:\n got %v\nwant %v", n, to, data, room, got, want)
					}
					if got.panics {
						panicked++
					} else if got.refused {
						if !bytes.Equal(got.memory[to:][:min(n, room)], make([]byte, n)) && room >= n {
							t.Fatalf("Open of %d bytes to %d, data %d, room %d: the room is %x", n, to, data, room, got.memory[to:][:n])
						}
					} else {
						opened++
					}
					copy(memory, before)
				}
			}
		}
	}
	if panicked < 1000 || sealed < 1000 || opened < 300 {
		t.Errorf("only %d calls panicked, %d sealed and %d opened", panicked, sealed, opened)
	}
}

// TestSealerInPlace seals and opens texts in place that have more than 64 KiB: all of them must be
// moved.
func TestSealerInPlace(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testSealerInPlace) }

func testSealerInPlace(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testSealerInPlace: a 32 byte see")))
	key, data := mactest.Random(rng, 16), mactest.Random(rng, 20)
	s, std := mactest.Must(aesgcm.NewKey(key)).NewSealer(), newRandomNonce(t, key)
	for _, n := range []int{1 << 16, 1<<16 + 1, 1<<18 + 29, 1<<20 - 5} {
		plaintext := mactest.Random(rng, n)
		for _, at := range []int{0, 12} { // where the plaintext begins in what is sealed
			buf := make([]byte, 12+n+16)
			copy(buf[at:], plaintext)
			sealed := s.Seal(buf[:0], nil, buf[at:][:n], data)
			if got, err := std.Open(nil, nil, sealed, data); err != nil || !bytes.Equal(got, plaintext) {
				t.Errorf("Seal of %d bytes, the plaintext at %d: not what crypto/cipher opens: %v", n, at, err)
			}
			sealed = std.Seal(nil, nil, plaintext, data)
			if got, err := s.Open(sealed[at:at], nil, sealed, data); err != nil || !bytes.Equal(got, plaintext) || &got[0] != &sealed[at] {
				t.Errorf("Open of %d bytes, the plaintext to %d: not what crypto/cipher sealed: %v", n, at, err)
			}
		}
	}
}

func newRandomNonce(t testing.TB, key []byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}

// TestSealer opens what a Sealer seals with NewGCMWithRandomNonce, and the other way round.
func TestSealer(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testSealer) }

func testSealer(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testSealer: a seed of 32 bytes..")))
	key := mactest.Random(rng, 32)
	k, std := mactest.Must(aesgcm.NewKey(key)), newRandomNonce(t, key)
	s := k.NewSealer()
	for n := range 600 {
		plaintext, data := mactest.Random(rng, n), mactest.Random(rng, n%40)
		f := flavours[n%len(flavours)]
		sealed, _ := f.call(t, n+28, plaintext, func(dst, in []byte) ([]byte, bool) { return s.Seal(dst, nil, in, data), true })
		got, err := std.Open(nil, nil, sealed, data)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Fatalf("%s, %d bytes: crypto/cipher opens %x, %v, want %x", f.name, n, got, err, plaintext)
		}
		if f.inPlace {
			f = flavours[0] // Open in place overwrites all of sealed, see TestSealerOverlap
		}
		for _, sealed := range [][]byte{sealed, std.Seal(nil, nil, plaintext, data)} {
			got, ok := f.call(t, n, sealed, func(dst, in []byte) ([]byte, bool) {
				got, err := s.Open(dst, nil, in, data)
				return got, err == nil
			})
			if !ok || !bytes.Equal(got, plaintext) {
				t.Fatalf("%s, %d bytes: Open of a Sealer: %x, %v, want %x", f.name, n, got, ok, plaintext)
			}
		}
		bit := int(rng.Uint64() % uint64(8*len(sealed)))
		sealed[bit/8] ^= 1 << (bit % 8)
		if got, err := s.Open(nil, nil, sealed, data); got != nil || err == nil {
			t.Fatalf("%d bytes: opened with bit %d flipped: %x, %v", n, bit, got, err)
		}
	}
	for n := range 28 {
		if got, err := s.Open(nil, nil, make([]byte, n), nil); got != nil || err == nil {
			t.Errorf("Open of %d bytes: %x, %v", n, got, err)
		}
	}
}
