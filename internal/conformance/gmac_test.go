// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// newCipherGMAC returns the GMAC of crypto/cipher.
func newCipherGMAC(t testing.TB, key []byte) func(nonce, msg []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return func(nonce, msg []byte) []byte { return gcm.Seal(nil, nonce, nil, msg) }
}

// gmacStreams are all ways to write msg to a stream and get its tag.
var gmacStreams = map[string]func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte{
	"one write": func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte {
		m.Write(msg)
		return m.Sum(bytes.Clone(nonce))
	},
	"byte by byte": func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte {
		for i := range msg {
			m.Write(msg[i:][:1])
		}
		return m.Tag(nil, nonce)
	},
	"random splits": func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte {
		for len(msg) > 0 {
			n := rand.IntN(min(len(msg), 1+len(msg)/4+rand.IntN(300))) + 1
			m.Write(msg[:n])
			msg = msg[n:]
		}
		return m.Sum(bytes.Clone(nonce))
	},
	"clone midway": func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte {
		n := rand.IntN(len(msg) + 1)
		m.Write(msg[:n])
		c, err := m.Clone()
		if err != nil {
			t.Fatal(err)
		}
		m.Write([]byte("not the clone's"))
		m.Sum(bytes.Clone(nonce))
		c.Write(msg[n:])
		return c.Sum(bytes.Clone(nonce))
	},
	"Bind": func(t *testing.T, m *fastmac.GMAC, nonce, msg []byte) []byte {
		n := rand.IntN(len(msg) + 1)
		m.Write(msg[:n])
		h := m.Bind(nonce)
		m.Reset()
		h.Write(msg[n:])
		return h.Sum(nil)
	},
}

// TestGMACVectors compares with the tags of testdata whose plaintext is empty. Those with
// nonces of other sizes must be refused.
func TestGMACVectors(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		var valid, invalid, refused int
		eachGMACVector(t, func(v mactest.GCMVector, k *fastmac.GMACKey) {
			if len(v.Nonce) != fastmac.GMACNonceSize {
				refused++
				mactest.MustPanic(t, v.Name, fmt.Sprintf("nonce of %d bytes: want 12", len(v.Nonce)), func() { k.Tag(nil, v.Nonce, v.Data) })
				if k.Verify(v.Tag, v.Nonce, v.Data) {
					t.Errorf("%s: verified", v.Name)
				}
				return
			}
			if v.Valid {
				valid++
			} else {
				invalid++
			}
			if got := k.Tag(nil, v.Nonce, v.Data); bytes.Equal(got, v.Tag) != v.Valid {
				t.Errorf("%s: Tag: %x, in the file %x, valid: %v", v.Name, got, v.Tag, v.Valid)
			}
			if k.Verify(v.Tag, v.Nonce, v.Data) != v.Valid {
				t.Errorf("%s: Verify: %v, want %v", v.Name, !v.Valid, v.Valid)
			}
			used := mactest.Must(fastmac.NewGMACKey(make([]byte, 32)))
			used.Tag(nil, v.Nonce, v.Data)
			if err := used.Init(v.Key); err != nil || used.Verify(v.Tag, v.Nonce, v.Data) != v.Valid {
				t.Errorf("%s: Init of a used key (%v), Verify: %v, want %v", v.Name, err, !v.Valid, v.Valid)
			}
		})
		// Of CAVP, of AES-GCM of Wycheproof, and of its GMAC.
		if valid != 112+4+45 || invalid != 38+162 || refused != 24+207 {
			t.Errorf("%d valid tags, %d invalid, %d nonces of other sizes", valid, invalid, refused)
		}
		t.Logf("%d tags, %d wrong ones refused, %d nonces of other sizes refused: Tag, Verify, and Verify after Init of a used key", valid, invalid, refused)
	})
}

func TestGMACStreamVectors(t *testing.T) {
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		comparisons := 0
		eachGMACVector(t, func(v mactest.GCMVector, k *fastmac.GMACKey) {
			comparisons++
			if len(v.Nonce) != fastmac.GMACNonceSize {
				mactest.MustPanic(t, v.Name, "want 12", func() { k.New().Bind(v.Nonce) })
				return
			}
			for name, stream := range gmacStreams {
				comparisons++
				if got := stream(t, k.New(), v.Nonce, v.Data); bytes.Equal(got, v.Tag) != v.Valid {
					t.Errorf("%s: %s: %x, in the file %x, valid: %v", v.Name, name, got, v.Tag, v.Valid)
				}
			}
			m := k.New()
			m.Write(v.Data)
			if m.Verify(v.Tag, v.Nonce) != v.Valid {
				t.Errorf("%s: Verify: %v, want %v", v.Name, !v.Valid, v.Valid)
			}
		})
		t.Logf("%d kinds of streams, Verify and Bind: %d comparisons", len(gmacStreams), comparisons)
	})
}

func eachGMACVector(t *testing.T, f func(v mactest.GCMVector, k *fastmac.GMACKey)) {
	t.Helper()
	for _, v := range mactest.GCMVectors(t) {
		if len(v.Ciphertext) == 0 {
			f(v, mactest.Must(fastmac.NewGMACKey(v.Key)))
		}
	}
}

// TestGMACReference compares with crypto/cipher for messages of 0 to 1200 bytes and random
// longer ones, of all sizes of keys.
func TestGMACReference(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACReference) }

func testGMACReference(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestGMACReference. 32 bytes seed")))
	lengths := make([]int, 1201)
	for i := range lengths {
		lengths[i] = i
	}
	for range 200 {
		lengths = append(lengths, 1201+int(rng.Uint64()%8000))
	}
	for range 20 {
		lengths = append(lengths, int(rng.Uint64()%100_000))
	}
	for _, size := range []int{16, 24, 32} {
		for i, length := range lengths {
			if mactest.Race && i%17 != 0 {
				continue
			}
			key, nonce, msg := mactest.Random(rng, size), mactest.Random(rng, 12), mactest.Random(rng, length)
			want, k := newCipherGMAC(t, key)(nonce, msg), mactest.Must(fastmac.NewGMACKey(key))
			if got := k.Tag([]byte("x"), nonce, msg); string(got) != "x"+string(want) {
				t.Errorf("key %x, nonce %x, %d bytes: Tag: %x, want %x", key, nonce, length, got[1:], want)
			}
			if got := gmacStreams["random splits"](t, k.New(), nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("key %x, nonce %x, %d bytes in random splits: %x, want %x", key, nonce, length, got, want)
			}
		}
	}
}

// TestGMACLong compares messages of more than 64 MiB with crypto/cipher.
func TestGMACLong(t *testing.T) {
	if !mactest.Long() {
		t.Skip("only if FASTMAC_TEST_LONG is set")
	}
	rng := rand.NewChaCha8([32]byte([]byte("TestGMACLong.  a seed of 32 byte")))
	key, nonce, msg := mactest.Random(rng, 32), mactest.Random(rng, 12), mactest.Random(rng, 64<<20+77)
	want := newCipherGMAC(t, key)(nonce, msg)
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		k := mactest.Must(fastmac.NewGMACKey(key))
		if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
			t.Errorf("Tag: %x, want %x", got, want)
		}
		for _, name := range []string{"one write", "random splits"} {
			if got := gmacStreams[name](t, k.New(), nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("%s: %x, want %x", name, got, want)
			}
		}
	})
}

// TestGMACLength compares a message whose length in bytes takes more than 32 bits with
// crypto/cipher. It is nearly all zeros, which are only read and so take no memory.
func TestGMACLength(t *testing.T) {
	if !mactest.Long() || strconv.IntSize < 64 {
		t.Skip("only if FASTMAC_TEST_LONG is set, and on 64-bit platforms")
	}
	size := uint64(4<<30 + 77)
	key, nonce, msg := make([]byte, 32), []byte("twelve bytes"), make([]byte, size)
	msg[len(msg)-1] = 1
	want := newCipherGMAC(t, key)(nonce, msg)
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		k := mactest.Must(fastmac.NewGMACKey(key))
		if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
			t.Errorf("Tag: %x, want %x", got, want)
		}
		if got := gmacStreams["one write"](t, k.New(), nonce, msg); !bytes.Equal(got, want) {
			t.Errorf("stream: %x, want %x", got, want)
		}
	})
}

// TestGMACSplits writes a message in all possible ways in three parts, and computes tags in
// between.
func TestGMACSplits(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACSplits) }

func testGMACSplits(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestGMACSplits. a seed of 32 byt")))
	key, nonce, msg := mactest.Random(rng, 32), mactest.Random(rng, 12), mactest.Random(rng, 300)
	k, std := mactest.Must(fastmac.NewGMACKey(key)), newCipherGMAC(t, key)
	m := k.New()
	var wants [][]byte
	for n := range len(msg) + 1 {
		wants = append(wants, std(nonce, msg[:n]))
	}
	step := 1
	if mactest.Race {
		step = 7
	}
	for first := 0; first <= len(msg); first += step {
		for second := first; second <= len(msg); second++ {
			m.Reset()
			at := 0
			for _, end := range []int{first, second, len(msg)} {
				m.Write(msg[at:end])
				if at = end; !m.Verify(wants[end], nonce) {
					t.Fatalf("parts that end at %d and %d: the tag of %d bytes is wrong", first, second, end)
				}
			}
		}
	}
}

// FuzzGMAC makes the calls that script asks for, and compares each tag with that of
// crypto/cipher.
func FuzzGMAC(f *testing.F) {
	mactest.Seeds(f)
	f.Add(make([]byte, 16), []byte("twelve bytes"), []byte("\x00\x07\x00message"), []byte{0, 3, 3, 4, 1, 0, 16, 3}, byte(0))
	f.Add(make([]byte, 32), []byte(nil), []byte("\x10\x00\x01"), []byte{0, 255, 3, 5, 0, 0, 1, 3, 2, 0, 159, 6, 3}, byte(1))
	f.Add([]byte("key"), []byte(nil), []byte("\x03\x01\x00\xff"), []byte{0, 47, 4, 9, 0, 95, 3, 2, 0, 0, 6, 8, 1}, byte(2))
	f.Add([]byte(nil), []byte(nil), []byte("\x03\x01\x01"), []byte{0, 16, 0, 1, 3, 0, 15, 0, 95, 3, 5, 0, 3, 3, 6}, byte(0))
	f.Fuzz(func(t *testing.T, key, nonce, code, script []byte, size byte) {
		key, nonce = append(key, make([]byte, 32)...)[:16+8*(size%3)], append(nonce, make([]byte, 12)...)[:12]
		msg, std := mactest.Message(code, 1<<13), newCipherGMAC(t, key)
		want := std(nonce, msg)
		mactest.EachKernel(t, mactest.GCM, func(kernels string) {
			k := mactest.Must(fastmac.NewGMACKey(key))
			if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) || !k.Verify(want, nonce, msg) {
				t.Errorf("%s: Tag: %x, want %x", kernels, got, want)
			}
			m := k.New()
			end := 0 // msg[:end] has been written
			s := mactest.Script(script)
			for call := 0; call < 40 && len(s) > 0; call++ {
				switch s.Byte() % 7 {
				case 0, 1, 2:
					n := min(s.Size(), len(msg)-end)
					m.Write(msg[end:][:n])
					end += n
				case 3:
					if got, want := m.Tag(nil, nonce), std(nonce, msg[:end]); !bytes.Equal(got, want) {
						t.Fatalf("%s, script %x, call %d: tag of %d bytes: %x, want %x", kernels, script, call, end, got, want)
					}
				case 4:
					c, err := m.Clone()
					if err != nil {
						t.Fatal(err)
					}
					m.Write(msg[:min(s.Size(), len(msg))])
					m = c.(*fastmac.GMAC)
				case 5:
					m.Reset()
					end = 0
				case 6:
					tag := std(nonce, msg[:end])
					wrong := s.Damage(tag)
					if right := bytes.Equal(wrong, tag); m.Verify(wrong, nonce) != right || k.Verify(wrong, nonce, msg[:end]) != right {
						t.Fatalf("%s, script %x, call %d: tag %x of %d bytes: Verify does not report %v", kernels, script, call, wrong, end, right)
					}
				}
			}
		})
	})
}
