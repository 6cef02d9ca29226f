// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package memory

import (
	"bytes"
	"crypto"
	_ "embed"
	"hash"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

// mostGuarded is the longest message next to a guard page, in bytes.
const mostGuarded = 4160

// guards counts what the tests of this file have done.
type guards struct{ tags, caught int }

func (g *guards) log(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	t.Logf("%d tags next to guard pages (on Linux), %d planted accesses of one byte more, all caught", g.tags, g.caught)
}

// plant fails the test unless a guard page of mem stops use, which is given n bytes and one
// more on either side.
func (g *guards) plant(t *testing.T, mem mactest.Memory, n int, use func(p []byte)) {
	t.Helper()
	for _, end := range []bool{false, true} {
		if !mem.Catches(n, end, use) {
			t.Fatalf("%d bytes: an access to one byte more is not caught, at the end: %v", n, end)
		}
		g.caught++
	}
}

// placed returns a zero T directly before or after a page that cannot be accessed. T has no
// pointers, or nil ones.
func placed[T any](t *testing.T, end bool) *T {
	size := int(unsafe.Sizeof(*new(T)))
	return (*T)(unsafe.Pointer(&mactest.Guarded(t, size).Place(make([]byte, size), 0, end)[0]))
}

// eachPlace calls f for places next to the page before and the page after a message of this
// length, and for places at a distance that the length says.
func eachPlace(length int, f func(offset int, end bool)) {
	for _, offset := range []int{0, 1 + length%63} {
		f(offset, false)
		f(offset, true)
	}
}

// lengthsGuarded returns the lengths of messages. Short mode has some of them, and so has
// what does not run assembly of this module.
func lengthsGuarded(assembly bool) (lengths []int) {
	step := 1
	if testing.Short() || !assembly {
		step = 37
	}
	for length := 0; length <= mostGuarded; length += step {
		lengths = append(lengths, length)
	}
	return lengths
}

// TestUMACBounds places messages of 0 to 4160 bytes, nonces and tags of all sizes next to
// pages that cannot be accessed. Keys are there too, unless they have pointers. Then it plants
// an access to the byte before and the byte after each message and each nonce, which must be
// caught.
func TestUMACBounds(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBounds) }

func testUMACBounds(t *testing.T) {
	var g guards
	defer g.log(t)
	msgs, nonces, tags := mactest.Guarded(t, mostGuarded+64), mactest.Guarded(t, fastmac.UMACMaxNonceSize+64), mactest.Guarded(t, 16+64)
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBounds.  a 32 byte seed.")))
	var keys [4][2]*fastmac.UMACKey
	var streams [4][2]*fastmac.UMAC
	for i, size := range mactest.UMACTagSizes {
		key := mactest.Random(rng, 16)
		for end := range 2 {
			k := new(fastmac.UMACKey)
			if kernel.NewReport().AES != "stdlib" {
				k = placed[fastmac.UMACKey](t, end == 1)
			}
			if err := k.Init(key, size); err != nil {
				t.Fatal(err)
			}
			keys[i][end], streams[i][end] = k, k.New()
		}
	}
	for _, length := range lengthsGuarded(true) {
		msg, nonce := mactest.Random(rng, length), mactest.Random(rng, 1+length%16)
		for i, size := range mactest.UMACTagSizes {
			k, u := keys[i][length%2], streams[i][length%2]
			want := k.Tag(nil, nonce, msg)
			eachPlace(length, func(offset int, end bool) {
				msg, nonce, tag := msgs.Place(msg, offset, end), nonces.Place(nonce, offset, end), tags.Place(make([]byte, size), offset, end)
				if k.Tag(tag[:0], nonce, msg); !bytes.Equal(tag, want) || !k.Verify(tag, nonce, msg) {
					t.Fatalf("%d bytes, offset %d, at the end: %v: tag %x, want %x", length, offset, end, tag, want)
				}
				clear(tag)
				u.Reset()
				u.Write(msg)
				if u.Tag(tag[:0], nonce); !bytes.Equal(tag, want) {
					t.Fatalf("%d bytes, offset %d, at the end: %v: tag of the stream %x, want %x", length, offset, end, tag, want)
				}
				g.tags += 2
			})
		}
		k, u := keys[length%4][0], streams[length%4][0]
		g.plant(t, msgs, length, func(p []byte) { k.Tag(nil, nonce, p) })
		g.plant(t, msgs, length, func(p []byte) { u.Reset(); u.Write(p) })
		g.plant(t, nonces, length%16, func(p []byte) { k.Tag(nil, p, msg) })
	}
}

// TestHMACBounds does the same with HMAC, its keys of 0 to 300 bytes before and after they are set up,
// and batches of one message. TestHMACBatchMixed has others.
func TestHMACBounds(t *testing.T) {
	mactest.ForAllKernels(t, mactest.HMAC, func(t *testing.T) {
		for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			t.Run(h.String(), func(t *testing.T) { testHMACBounds(t, h) })
		}
	})
}

func testHMACBounds(t *testing.T, f crypto.Hash) {
	assembly := kernel.NewReport().SHA512 != "stdlib"
	if f == crypto.SHA256 {
		assembly = kernel.NewReport().SHA256 != "stdlib"
	}
	const batch = 17 // more than there are lanes
	size := f.Size()
	var g guards
	defer g.log(t)
	msgs, keys, tags := mactest.Guarded(t, 2*mostGuarded), mactest.Guarded(t, 300), mactest.Guarded(t, batch*size)
	rng := rand.NewChaCha8([32]byte([]byte("testHMACSHA512Bounds.    a seed.")))
	expanded := []*fastmac.HMACKey{placed[fastmac.HMACKey](t, false), placed[fastmac.HMACKey](t, true)}
	for _, length := range lengthsGuarded(assembly) {
		key, msg := mactest.Random(rng, length%301), mactest.Random(rng, length)
		want := fastmac.SumHMAC(f, nil, key, msg)
		batchMsgs := make([][]byte, batch)
		for i := range batchMsgs {
			batchMsgs[i] = msgs.Place(msg, 0, i%2 == 1)
		}
		for i, k := range expanded {
			end := i == 1
			key, msg, tag := keys.Place(key, 0, end), batchMsgs[i], tags.Place(make([]byte, size), 0, end)
			if err := k.Init(f, key); err != nil {
				t.Fatal(err)
			}
			if k.Tag(tag[:0], msg); !bytes.Equal(tag, want) || !k.Verify(tag, msg) || !bytes.Equal(fastmac.SumHMAC(f, nil, key, msg), want) {
				t.Fatalf("%d bytes, at the end: %v: tag %x, want %x", length, end, tag, want)
			}
			clear(tag)
			h := k.New()
			h.Write(msg)
			if h.Sum(tag[:0]); !bytes.Equal(tag, want) {
				t.Fatalf("%d bytes, at the end: %v: tag of the stream %x, want %x", length, end, tag, want)
			}
			batchTags := slices.Collect(slices.Chunk(tags.Place(make([]byte, batch*size), 0, end), size))
			if end {
				mactest.TagBatch(k.TagBatch, batchTags, nil, batchMsgs)
			} else {
				mactest.SumBatch(fastmac.SumHMACBatch, f, batchTags, slices.Repeat([][]byte{key}, batch), batchMsgs)
			}
			for i, tag := range batchTags {
				if !bytes.Equal(tag, want) {
					t.Fatalf("message %d of a batch, %d bytes, at the end: %v: tag %x, want %x", i, length, end, tag, want)
				}
			}
			g.tags += 3 + batch
		}
		if length%3 != int(f)%3 {
			continue // each hash has plants at a third of the lengths
		}
		k := expanded[length%2]
		g.plant(t, msgs, length, func(p []byte) { k.Tag(nil, p) })
		g.plant(t, keys, len(key), func(p []byte) { fastmac.SumHMAC(f, nil, p, nil) })
		g.plant(t, msgs, length, func(p []byte) {
			batchMsgs[length%batch] = p
			mactest.TagBatch(k.TagBatch, mactest.Tags(batch, size), nil, batchMsgs)
		})
	}
}

// TestGMACBounds does the same with GMAC.
func TestGMACBounds(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACBounds) }

func testGMACBounds(t *testing.T) {
	var g guards
	defer g.log(t)
	msgs, nonces, tags := mactest.Guarded(t, mostGuarded+64), mactest.Guarded(t, 12+64), mactest.Guarded(t, 16+64)
	keys := []*fastmac.GMACKey{new(fastmac.GMACKey), new(fastmac.GMACKey)}
	if kernel.Active(kernel.GCM) != "stdlib" {
		keys = []*fastmac.GMACKey{placed[fastmac.GMACKey](t, false), placed[fastmac.GMACKey](t, true)}
	}
	rng := rand.NewChaCha8([32]byte([]byte("testGMACBounds.  a 32 byte seed.")))
	for _, length := range lengthsGuarded(true) {
		k := keys[length%2]
		if err := k.Init(mactest.Random(rng, 16+8*(length%3))); err != nil {
			t.Fatal(err)
		}
		m := k.New()
		msg, nonce := mactest.Random(rng, length), mactest.Random(rng, 12)
		want := k.Tag(nil, nonce, msg)
		eachPlace(length, func(offset int, end bool) {
			msg, nonce, tag := msgs.Place(msg, offset, end), nonces.Place(nonce, offset, end), tags.Place(make([]byte, 16), offset, end)
			if k.Tag(tag[:0], nonce, msg); !bytes.Equal(tag, want) || !k.Verify(tag, nonce, msg) {
				t.Fatalf("%d bytes, offset %d, at the end: %v: tag %x, want %x", length, offset, end, tag, want)
			}
			g.tags++
			clear(tag)
			m.Reset()
			m.Write(msg)
			if m.Tag(tag[:0], nonce); !bytes.Equal(tag, want) || !m.Verify(tag, nonce) {
				t.Fatalf("%d bytes, offset %d, at the end: %v: tag of the stream %x, want %x", length, offset, end, tag, want)
			}
			g.tags++
		})
		g.plant(t, msgs, length, func(p []byte) { k.Tag(nil, nonce, p) })
		g.plant(t, nonces, 11, func(p []byte) { k.Tag(nil, p, msg) })
		g.plant(t, msgs, length, func(p []byte) { m.Reset(); m.Write(p) })
	}
}

// TestUMACBatchBounds does the same with batches of 1 to 9 messages of 0 to 1100 bytes, which
// are longer than those that a kernel of amd64 for batches has. Messages and nonces in a batch are
// equal, and only the last tag is next to a page that cannot be accessed.
func TestUMACBatchBounds(t *testing.T) {
	mactest.ForAllKernels(t, mactest.UMAC, testUMACBatchBounds)
}

func testUMACBatchBounds(t *testing.T) {
	const most = 1100
	var g guards
	defer g.log(t)
	msgs, nonces, tags := mactest.Guarded(t, most), mactest.Guarded(t, fastmac.UMACMaxNonceSize), mactest.Guarded(t, 16)
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatchBounds.  a seed....")))
	for _, tagSize := range mactest.UMACTagSizes {
		k := new(fastmac.UMACKey)
		if kernel.NewReport().AES != "stdlib" {
			k = placed[fastmac.UMACKey](t, tagSize%8 == 0)
		}
		if err := k.Init(mactest.Random(rng, 16), tagSize); err != nil {
			t.Fatal(err)
		}
		for length := range most + 1 {
			msg, nonce := mactest.Random(rng, length), mactest.Random(rng, 1+length%16)
			want := k.Tag(nil, nonce, msg)
			for _, end := range []bool{false, true} {
				msg, nonce, tag := msgs.Place(msg, 0, end), nonces.Place(nonce, 0, end), tags.Place(make([]byte, tagSize), 0, end)
				b := mactest.NewUMACBatch(1+length%9, tagSize, func(int) []byte { return nonce }, func(int) []byte { return msg })
				b.Tags[length%9] = tag
				mactest.CheckBatch(t, b, k)
				if !bytes.Equal(tag, want) {
					t.Fatalf("%d messages of %d bytes, at the end: %v: tag %x, want %x", len(b.Msgs), length, end, tag, want)
				}
				g.tags += len(b.Msgs)
			}
			b := mactest.NewUMACBatch(1+length%9, tagSize, func(int) []byte { return nonce }, func(int) []byte { return msg })
			last := length % 9
			g.plant(t, msgs, length, func(p []byte) { b.Msgs[last] = p; mactest.TagBatch(k.TagBatch, b.Tags, b.Nonces, b.Msgs) })
			b.Msgs[last] = msg
			g.plant(t, nonces, length%16, func(p []byte) { b.Nonces[last] = p; mactest.TagBatch(k.TagBatch, b.Tags, b.Nonces, b.Msgs) })
		}
	}
}

// TestUMACBatchArray places the messages of a batch themselves, not only their bytes, next to pages
// that cannot be accessed. They have up to 2100 bytes, more than two blocks.
func TestUMACBatchArray(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBatchArray) }

func testUMACBatchArray(t *testing.T) {
	const most, size = 2100, int(unsafe.Sizeof(fastmac.Message{}))
	array, msgs := mactest.Guarded(t, 9*size), mactest.Guarded(t, most)
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatchArray.   a seed....")))
	for _, tagSize := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(mactest.Random(rng, 16), tagSize))
		for length := 0; length <= most; length += 1 + length/50 {
			n, end := 1+length%9, length%2 == 0
			nonce, msg := mactest.Random(rng, 1+length%16), mactest.Random(rng, length)
			want := k.Tag(nil, nonce, msg)
			// The garbage collector does not see the pointers in this memory: tags and nonce are
			// in use until the end.
			tags := make([]byte, 9*tagSize)
			batch := unsafe.Slice((*fastmac.Message)(unsafe.Pointer(&array.Place(make([]byte, n*size), 0, end)[0])), n)
			for i := range batch {
				batch[i] = fastmac.Message{Nonce: nonce, Data: msgs.Place(msg, 0, end), Tag: tags[i*tagSize:][:tagSize]}
			}
			k.TagBatch(batch)
			if got := tags[:n*tagSize]; !bytes.Equal(got, bytes.Repeat(want, n)) || !k.VerifyBatch(batch) {
				t.Fatalf("%d messages of %d bytes, at the end: %v: tags %x, want %x", n, length, end, got, want)
			}
			clear(batch)
			runtime.KeepAlive(nonce)
			runtime.KeepAlive(tags)
		}
	}
}

// readOnly, this file, is in memory that cannot be written.
//
//go:embed bounds_test.go
var readOnly string

// TestReadOnly computes tags of read-only memory, as of a mapped file. A kernel that writes to
// a message, even if only for a moment, faults, and would be a data race elsewhere.
func TestReadOnly(t *testing.T) {
	all := unsafe.Slice(unsafe.StringData(readOnly), len(readOnly))
	compute := func(tag func(msg []byte) []byte, stream func() hash.Hash) {
		for _, n := range []int{1, 63, 200, 1024, 1500, len(all)} {
			h := stream()
			h.Write(all[:n])
			if got, want := h.Sum(nil), tag(all[:n]); !bytes.Equal(got, want) {
				t.Errorf("%d bytes: stream %x, one-shot %x", n, got, want)
			}
		}
	}
	key, nonce := all[:16:16], all[:12:12]
	mactest.EachKernel(t, mactest.UMAC, func(string) {
		for _, size := range mactest.UMACTagSizes {
			k := mactest.Must(fastmac.NewUMACKey(key, size))
			compute(func(msg []byte) []byte {
				tags := [][]byte{make([]byte, size), k.Tag(nil, nonce, msg)}
				mactest.TagBatch(k.TagBatch, tags[:1], [][]byte{nonce}, [][]byte{msg})
				if !mactest.VerifyBatch(k.VerifyBatch, make([]bool, 2), tags, [][]byte{nonce, nonce}, [][]byte{msg, msg}) {
					t.Errorf("%d bytes: one-shot %x, in a batch %x", len(msg), tags[1], tags[0])
				}
				return tags[0]
			}, func() hash.Hash {
				h := k.New().Bind(nonce)
				return h
			})
		}
	})
	mactest.ForAllKernels(t, mactest.HMAC, func(t *testing.T) {
		for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			k := mactest.Must(fastmac.NewHMACKey(h, key))
			compute(func(msg []byte) []byte {
				const n = 16
				tags, msgs := mactest.Tags(n, h.Size()), slices.Repeat([][]byte{msg}, n)
				mactest.SumBatch(fastmac.SumHMACBatch, h, tags, append([][]byte{key, all}, slices.Repeat([][]byte{key}, n-2)...), msgs)
				if mactest.TagBatch(k.TagBatch, tags[1:], nil, msgs[1:]); !bytes.Equal(tags[0], tags[n-1]) {
					t.Errorf("%d bytes: in batches %x and %x", len(msg), tags[0], tags[n-1])
				}
				return tags[0]
			}, func() hash.Hash { return k.New() })
		}
	})
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		k := mactest.Must(fastmac.NewGMACKey(key))
		compute(func(msg []byte) []byte { return k.Tag(nil, nonce, msg) }, func() hash.Hash {
			return k.New().Bind(nonce)
		})
	})
}
