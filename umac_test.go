// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

func TestUMACContract(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACContract) }

func testUMACContract(t *testing.T) {
	key := []byte("0123456789abcdef")
	nonce := mactest.Unhex("0000000000000003")
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(key, size))
		t.Run(fmt.Sprint("stream/", size), func(t *testing.T) {
			mactest.TestHash(t, mactest.Subject{
				New:     func() hash.Hash { return k.New() },
				Nonce:   nonce,
				Methods: []string{"Tag", "Bind", "Destroy", "Verify", "Sign", "VerifySigned", "WriteParallel"},
			})
		})
		t.Run(fmt.Sprint("Bind/", size), func(t *testing.T) {
			mactest.TestHash(t, mactest.Subject{
				New: func() hash.Hash {
					h := k.New().Bind(nonce)
					return h
				},
				Methods: []string{"Destroy"},
			})
		})
	}
}

func TestNewUMAC(t *testing.T) {
	key, nonce, msg := []byte("0123456789abcdef"), mactest.Unhex("0102030405060708"), []byte("message")
	for _, size := range mactest.UMACTagSizes {
		u, err := fastmac.NewUMAC(key, size)
		if err != nil {
			t.Fatal(err)
		}
		u.Write(msg)
		want := mactest.Must(fastmac.NewUMACKey(key, size)).Tag(nil, nonce, msg)
		if got := u.Tag([]byte("x"), nonce); string(got) != "x"+string(want) {
			t.Errorf("%d bytes: tag %x, want %x", size, got, want)
		}
		if u.Size() != size || u.BlockSize() != 1024 {
			t.Errorf("Size %d, BlockSize %d; want %d, 1024", u.Size(), u.BlockSize(), size)
		}
		if u, err := fastmac.NewUMAC(key[:15], size); u != nil || !errors.Is(err, fastmac.KeySizeError(15)) {
			t.Errorf("%d bytes: key of 15 bytes: %v, %v", size, u, err)
		}
	}
}

func TestUMACSizes(t *testing.T) {
	for _, n := range []int{0, 1, 15, 17, 23, 25, 31, 33, 64} {
		k, err := fastmac.NewUMACKey(make([]byte, n), 8)
		var e fastmac.KeySizeError
		if k != nil || !errors.As(err, &e) || int(e) != n {
			t.Fatalf("key of %d bytes: %v, %v", n, k, err)
		}
		if want := fmt.Sprintf("fastmac: key of %d bytes: want 16, 24 or 32", n); err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
	for _, n := range []int{-4, 0, 1, 5, 7, 9, 15, 20, 64, 4 + 256} {
		k, err := fastmac.NewUMACKey(make([]byte, 16), n)
		if k != nil || err == nil {
			t.Fatalf("tag size %d: %v, %v", n, k, err)
		}
		if want := fmt.Sprintf("fastmac: UMAC tag size of %d bytes: want 4, 8, 12 or 16", n); err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	}
}

// TestUMACInit checks that Init replaces the whole key, and does not change it if it
// fails.
func TestUMACInit(t *testing.T) {
	nonce, msg := []byte{1}, bytes.Repeat([]byte("message"), 1000)
	var k fastmac.UMACKey
	for _, size := range []int{16, 4, 12, 8, 16} {
		key := bytes.Repeat([]byte{byte(size)}, 32)
		if err := k.Init(key, size); err != nil {
			t.Fatal(err)
		}
		fresh := mactest.Must(fastmac.NewUMACKey(key, size))
		if a, b := mactest.Contents(&k), mactest.Contents(fresh); kernel.NewReport().AES != "stdlib" && !bytes.Equal(a, b) {
			t.Errorf("%d bytes: something is left of the former key", size)
		}
		want := fresh.Tag(nil, nonce, msg)
		for range 2 {
			if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("tag %x, want %x", got, want)
			}
			if k.Init(key[:5], size) == nil || k.Init(key, 5) == nil {
				t.Error("Init accepts a wrong size")
			}
		}
	}
}

func TestUMACNonceSizes(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 8))
	u := k.New()
	for _, n := range []int{0, 17, 100} {
		nonce := make([]byte, n)
		for name, call := range map[string]func(){
			"Tag of a stream": func() { u.Tag(nil, nonce) },
			"Tag":             func() { k.Tag(nil, nonce, nil) },
			"Bind":            func() { u.Bind(nonce) },
		} {
			mactest.MustPanic(t, fmt.Sprintf("%s, nonce of %d bytes", name, n), fmt.Sprintf("fastmac: UMAC nonce of %d bytes: want 1 to 16", n), call)
		}
		mactest.MustPanic(t, "Sum", fmt.Sprintf("fastmac: UMAC.Sum takes the nonce, 1 to 16 bytes, and got %d: for code that calls Sum(nil) use Bind", n), func() { u.Sum(nonce) })
		if u.Verify(make([]byte, 8), nonce) || k.Verify(make([]byte, 8), nonce, nil) {
			t.Errorf("Verify accepts a nonce of %d bytes", n)
		}
	}
	mactest.MustPanic(t, "Sum(nil)", "and got 0", func() { u.Sum(nil) })
}

func TestUMACVerify(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACVerify) }

func testUMACVerify(t *testing.T) {
	nonce, msg := mactest.Unhex("0000000000000001"), bytes.Repeat([]byte("message"), 200)
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey([]byte("0123456789abcdef"), size))
		tag := k.Tag(nil, nonce, msg)
		u := k.New()
		u.Write(msg)
		verify := func(tag, nonce []byte) bool {
			got := u.Verify(tag, nonce)
			if oneShot := k.Verify(tag, nonce, msg); oneShot != got {
				t.Errorf("UMACKey.Verify %v, UMAC.Verify %v", oneShot, got)
			}
			return got
		}
		if !verify(tag, nonce) {
			t.Errorf("%d bytes: the right tag is refused", size)
		}
		for bit := range 8 * size {
			tag[bit/8] ^= 1 << (bit % 8)
			if verify(tag, nonce) {
				t.Errorf("%d bytes: accepted with bit %d flipped", size, bit)
			}
			tag[bit/8] ^= 1 << (bit % 8)
		}
		for bit := range 8 * len(nonce) {
			nonce[bit/8] ^= 1 << (bit % 8)
			if verify(tag, nonce) {
				t.Errorf("%d bytes: accepted with bit %d of the nonce flipped", size, bit)
			}
			nonce[bit/8] ^= 1 << (bit % 8)
		}
		for n := range size {
			if verify(tag[:n], nonce) {
				t.Errorf("%d bytes: accepted cut to %d", size, n)
			}
		}
		if verify(nil, nonce) || verify(append(tag, 0), nonce) || verify(append(tag, tag...), nonce) {
			t.Errorf("%d bytes: accepted nil or extended", size)
		}
	}
}

// TestUMACOverlap writes results over the arguments that they are computed from, from the
// first byte of the nonce to the last of the message.
func TestUMACOverlap(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACOverlap) }

func testUMACOverlap(t *testing.T) {
	const nonceAt, msgAt = 20, 30 // the last bytes of the nonce are the first of the message
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		for _, n := range []int{0, 1, 8, 31, 64, 200, 1500} {
			memory := bytes.Repeat([]byte("message"), 300)
			want := k.Tag(nil, bytes.Clone(memory[nonceAt:][:16]), bytes.Clone(memory[msgAt:][:n]))
			for _, at := range []int{10, nonceAt, 25, msgAt, 36, msgAt + n/2, msgAt + n} {
				for name, tag := range map[string]func(dst, nonce, msg []byte) []byte{
					"key": k.Tag,
					"stream": func(dst, nonce, msg []byte) []byte {
						u := k.New()
						u.Write(msg)
						return u.Tag(dst, nonce)
					},
					"TagBatch": func(dst, nonce, msg []byte) []byte {
						dst = dst[:size]
						mactest.TagBatch(k.TagBatch, [][]byte{dst}, [][]byte{nonce}, [][]byte{msg})
						return dst
					},
				} {
					m := bytes.Clone(memory)
					if got := tag(m[at:at], m[nonceAt:][:16], m[msgAt:][:n]); !bytes.Equal(got, want) || &got[0] != &m[at] {
						t.Errorf("%s: %d bytes, tag at %d: %x, want %x", name, n, at, got, want)
					}
				}
			}
		}
	}
}

func TestUMACDestroy(t *testing.T) {
	key, nonce := make([]byte, 16), []byte{1}
	k := mactest.Must(fastmac.NewUMACKey(key, 8))
	own, err := fastmac.NewUMAC(key, fastmac.UMAC64Size)
	if err != nil {
		t.Fatal(err)
	}
	ownClone, err := own.Clone()
	if err != nil {
		t.Fatal(err)
	}
	shared, bound := k.New(), k.New()
	h := bound.Bind(nonce)

	// Destroying a stream of a key does not destroy the key.
	other := k.New()
	other.Destroy()
	other.Destroy()
	k.Tag(nil, nonce, nil)
	// Nor does destroying a clone.
	c, _ := own.Clone()
	c.(*fastmac.UMAC).Destroy()
	own.Sum([]byte{1})

	own.Destroy()
	own.Destroy()
	k.Destroy()
	k.Destroy()
	for name, k := range map[string]*fastmac.UMACKey{"destroyed": k, "never set up": new(fastmac.UMACKey)} {
		for method, call := range map[string]func(){
			"Size":         func() { k.Size() },
			"Tag":          func() { k.Tag(nil, nonce, nil) },
			"Verify":       func() { k.Verify(make([]byte, 8), nonce, nil) },
			"Verify nil":   func() { k.Verify(nil, nil, nil) },
			"TagBatch":     func() { k.TagBatch(nil) },
			"VerifyBatch":  func() { k.VerifyBatch(nil) },
			"Sign":         func() { k.Sign(nil, nil) },
			"VerifySigned": func() { k.VerifySigned(nil, nil) },
			"New":          func() { k.New() },
		} {
			mactest.MustPanic(t, name+" key: "+method, "destroyed or never set up", call)
		}
	}
	for name, u := range map[string]*fastmac.UMAC{
		"own key": own, "clone of own key": ownClone.(*fastmac.UMAC), "shared key": shared,
		"destroyed": other, "never set up": new(fastmac.UMAC),
	} {
		for method, call := range map[string]func(){
			"Write":        func() { u.Write(nil) },
			"Sum":          func() { u.Sum([]byte{1}) },
			"Tag":          func() { u.Tag(nil, nonce) },
			"Verify":       func() { u.Verify(nil, nil) },
			"Sign":         func() { u.Sign(nil) },
			"VerifySigned": func() { u.VerifySigned(nil) },
			"Bind":         func() { u.Bind(nonce) },
			"Reset":        func() { u.Reset() },
			"Size":         func() { u.Size() },
			"BlockSize":    func() { u.BlockSize() },
			"Clone":        func() { u.Clone() },
		} {
			mactest.MustPanic(t, name+": "+method, "destroyed or never set up", call)
		}
	}
	mactest.MustPanic(t, "bound: Write", "destroyed", func() { h.Write(nil) })
	mactest.MustPanic(t, "bound: Sum", "destroyed", func() { h.Sum(nil) })
	mactest.MustPanic(t, "bound: Reset", "destroyed", func() { h.Reset() })
	mactest.MustPanic(t, "bound: Size", "destroyed", func() { h.Size() })
	mactest.MustPanic(t, "bound: Clone", "destroyed", func() { h.Clone() })
}

// TestUMACWiped checks that destroyed keys, streams and bound hashes are all zeros.
func TestUMACWiped(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	u := k.New()
	u.Write(bytes.Repeat([]byte("message"), 500))
	u.Sum([]byte{1})
	h := u.Bind([]byte("nonce"))
	h.Sum(nil)
	h.(interface{ Destroy() }).Destroy()
	copy(mactest.Field(u, "uhash.l2.pending"), "a word") // as after 16 MiB
	u.Destroy()
	k.Destroy()
	for name, b := range map[string][]byte{
		"UMAC":              mactest.Contents(u),
		"UMACKey":           mactest.Contents(k),
		"bound: group":      mactest.Field(h, "stream.uhash.group"),
		"bound: L1":         mactest.Field(h, "stream.uhash.l1.sums"),
		"bound: pads":       mactest.Field(h, "stream.pads"),
		"bound: nonce":      mactest.Field(h, "nonce"),
		"bound: nonce size": mactest.Field(h, "nonceSize"),
	} {
		if !bytes.Equal(b, make([]byte, len(b))) {
			t.Errorf("%s is not all zeros after Destroy: %x", name, b)
		}
	}
}

// TestUMACPrinting checks that keys and streams print as their name and nothing else.
func TestUMACPrinting(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(bytes.Repeat([]byte{0xa7}, 32), 8))
	u := k.New()
	mactest.Printing(t, "fastmac.UMACKey(64-bit tag)", k)
	mactest.Printing(t, "fastmac.UMACKey(no key)", new(fastmac.UMACKey))
	mactest.Printing(t, "fastmac.UMAC(64-bit tag)", u)
	mactest.Printing(t, "fastmac.UMAC(64-bit tag)", u.Bind([]byte{0xa7}))
}

func TestUMACAllocations(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACAllocations) }

func testUMACAllocations(t *testing.T) {
	mactest.SkipAllocations(t)
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		u := k.New()
		msg, nonce := make([]byte, 1500), make([]byte, aes.BlockSize)
		dst := make([]byte, 0, 64)
		tag := k.Tag(nil, nonce, msg)
		batch := slices.Repeat([]fastmac.Message{{Nonce: nonce, Data: msg[:64], Tag: tag}}, 9)
		for name, call := range map[string]func(){
			"TagBatch":    func() { k.TagBatch(batch) },
			"VerifyBatch": func() { k.VerifyBatch(batch) },
			"a batch on the stack": func() {
				var tag, nonce, msg [16]byte
				var batch [9]fastmac.Message
				for i := range batch {
					batch[i] = fastmac.Message{Nonce: nonce[:], Data: msg[:], Tag: tag[:size]}
				}
				k.TagBatch(batch[:])
				k.VerifyBatch(batch[:])
			},
			"Tag":          func() { k.Tag(dst, nonce, msg) },
			"Verify":       func() { k.Verify(tag, nonce, msg) },
			"Sign":         func() { k.Sign(dst, msg) },
			"VerifySigned": func() { k.VerifySigned(dst[:16+size], msg) },
			"stream":       func() { u.Reset(); u.Write(msg); u.Sum(nonce); u.Tag(dst, nonce); u.Verify(tag, nonce) },
		} {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%d bytes: %s makes %v allocations", size, name, n)
			}
		}
	}
}

// TestUMACReset checks that Reset leaves nothing of a message or its hash.
func TestUMACReset(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACReset) }

func testUMACReset(t *testing.T) {
	msg := mactest.Random(rand.NewChaCha8([32]byte([]byte("testUMACReset: a seed, 32 bytes."))), 1<<24+2500)
	for _, size := range mactest.UMACTagSizes {
		u := mactest.Must(fastmac.NewUMAC(msg[:16], size))
		for _, length := range []int{0, 1, 20, 32, 33, 64, 1000, 1024, 1025, 2048, 5000, 1<<24 + 1500, 1<<24 + 2500} {
			if length > 1<<24 && size > fastmac.UMAC32Size {
				continue // POLY-128 takes long
			}
			for _, first := range []int{0, length / 3, length} {
				u.Write(msg[:first])
				u.Write(msg[first:length])
				u.Tag(nil, []byte("nonce"))
				u.Reset()
				if state := mactest.Field(u, "uhash"); !bytes.Equal(state, make([]byte, len(state))) {
					t.Errorf("%d-byte tag, %d bytes, %d of them first: Reset leaves %x", size, length, first, state)
				}
			}
		}
	}
}

// TestUMACConcurrent uses the keys of all sizes in 1,000 goroutines, each with streams and
// clones of its own. The tags are compared with those of one goroutine; the race detector
// watches.
func TestUMACConcurrent(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACConcurrent) }

func testUMACConcurrent(t *testing.T) {
	var keys []*fastmac.UMACKey
	var wants []mactest.UMACBatch
	rng := rand.NewChaCha8([32]byte([]byte("testUMACConcurrent, 32-byte seed")))
	lengths := []int{0, 1, 33, 64, 100, 1024, 1025, 2100}
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(mactest.Random(rng, 16), size))
		// The nonces are in order, so that streams compute pads ahead.
		nonce := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }
		want := mactest.NewUMACBatch(len(lengths), size, nonce, func(i int) []byte { return mactest.Random(rng, lengths[i]) })
		for i, tag := range want.Tags {
			k.Tag(tag[:0], want.Nonces[i], want.Msgs[i])
		}
		keys, wants = append(keys, k), append(wants, want)
	}
	mactest.Concurrently(1000, func(g int) {
		k, want := keys[g%4], wants[g%4]
		u, batch := k.New(), mactest.NewUMACBatch(len(lengths), k.Size(), func(int) []byte { return nil }, func(int) []byte { return nil })
		for i := range 3 {
			i = (g + i) % len(lengths)
			nonce, msg := want.Nonces[i], want.Msgs[i]
			half := len(msg) / 2
			u.Reset()
			u.Write(msg[:half])
			c, _ := u.Clone()
			u.Write([]byte("not the clone's"))
			c.Write(msg[half:])
			tag, stream := k.Tag(nil, nonce, msg), c.(*fastmac.UMAC).Tag(nil, nonce)
			if !bytes.Equal(tag, want.Tags[i]) || !bytes.Equal(stream, want.Tags[i]) {
				t.Errorf("%d bytes: Tag %x, of a stream %x, want %x", len(msg), tag, stream, want.Tags[i])
			}
			if !k.VerifySigned(k.Sign(nil, msg), msg) {
				t.Error("the right signature is refused")
			}
		}
		mactest.TagBatch(k.TagBatch, batch.Tags, want.Nonces, want.Msgs)
		if !mactest.VerifyBatch(k.VerifyBatch, make([]bool, len(lengths)), want.Tags, want.Nonces, want.Msgs) || !slices.EqualFunc(batch.Tags, want.Tags, bytes.Equal) {
			t.Errorf("TagBatch %x, want %x", batch.Tags, want.Tags)
		}
	})
}

func TestUMACSign(t *testing.T) {
	msg := []byte("message")
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		sig := k.Sign([]byte("x"), msg)
		if len(sig) != 1+16+size || sig[0] != 'x' {
			t.Fatalf("Sign appended %d bytes, want %d", len(sig)-1, 16+size)
		}
		sig = sig[1:]
		if !k.VerifySigned(sig, msg) || !k.Verify(sig[16:], sig[:16], msg) {
			t.Errorf("%d bytes: the right signature is refused", size)
		}
		mactest.TestRandom(t, "Sign", func() []byte { return k.Sign(nil, msg)[:16] })
		for bit := range 8 * len(sig) {
			sig[bit/8] ^= 1 << (bit % 8)
			if k.VerifySigned(sig, msg) {
				t.Errorf("%d bytes: accepted with bit %d flipped", size, bit)
			}
			sig[bit/8] ^= 1 << (bit % 8)
		}
		if k.VerifySigned(nil, msg) || k.VerifySigned(sig[:len(sig)-1], msg) || k.VerifySigned(append(sig, 0), msg) ||
			k.VerifySigned(sig[:16], msg) || k.VerifySigned(sig, msg[1:]) {
			t.Errorf("%d bytes: VerifySigned accepts a wrong length", size)
		}
	}
}

// TestUMACSignOverlap writes signatures over their messages.
func TestUMACSignOverlap(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 16))
	msg := bytes.Repeat([]byte("message"), 20)
	m := bytes.Clone(msg)
	if got := k.Sign(m[:0], m); !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("Sign over the message: %x", got)
	}
	m = bytes.Clone(msg)
	u := k.New()
	u.Write(m)
	if got := u.Sign(m[:0]); !k.VerifySigned(got, msg) || &got[0] != &m[0] {
		t.Errorf("Sign of a stream over the message: %x", got)
	}
}

// TestStreamSign compares Sign and VerifySigned of streams with those of keys.
func TestStreamSign(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testStreamSign) }

func testStreamSign(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testStreamSign, a seed, 32 bytes")))
	for _, size := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
		u := k.New()
		for _, length := range []int{0, 1, 32, 1023, 1024, 1025, 5000, 1<<16 + 1} {
			msg := mactest.Random(rng, length)
			u.Reset()
			u.Write(msg[:length/3])
			if u.VerifySigned(k.Sign(nil, msg)) != (length == 0) {
				t.Errorf("%d bytes: a part of the message is accepted", length)
			}
			u.Write(msg[length/3:])
			sig := u.Sign([]byte("x"))
			if len(sig) != 1+16+size || sig[0] != 'x' || !k.VerifySigned(sig[1:], msg) {
				t.Fatalf("%d bytes: signature %x", length, sig)
			}
			sig = sig[1:]
			if !u.VerifySigned(sig) || !u.VerifySigned(k.Sign(nil, msg)) || !u.VerifySigned(u.Sign(nil)) {
				t.Errorf("%d bytes: the right signature is refused", length)
			}
			for bit := range 8 * len(sig) {
				sig[bit/8] ^= 1 << (bit % 8)
				if u.VerifySigned(sig) {
					t.Errorf("%d bytes: accepted with bit %d flipped", length, bit)
				}
				sig[bit/8] ^= 1 << (bit % 8)
			}
			for n := range 50 {
				if u.VerifySigned(append(sig, make([]byte, 50)...)[:n]) != (n == len(sig)) {
					t.Errorf("%d bytes: %d bytes of a signature", length, n)
				}
			}
		}
	}
}

// TestStreamSignNonce checks that each Sign of a stream draws a nonce.
func TestStreamSignNonce(t *testing.T) {
	u := mactest.Must(fastmac.NewUMAC(make([]byte, 16), 16))
	mactest.TestRandom(t, "Sign of a stream", func() []byte { return u.Sign(nil)[:16] })
	mactest.SkipAllocations(t)
	if allocs := testing.AllocsPerRun(100, func() { u.Sign(make([]byte, 0, 32)) }); allocs > 0 && fastmac.RequireAES() == nil {
		t.Errorf("%v allocations", allocs)
	}
}
