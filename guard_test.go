// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// TestUMACBounds places messages of 0 to 4160 bytes after and before a page that
// cannot be read, 0 to 63 bytes away from it.
func TestUMACBounds(t *testing.T) { fastmac.ForAllKernels(t, testUMACBounds) }

func testUMACBounds(t *testing.T) {
	const most, offsets = 4160, 64
	mem := mactest.Guarded(t, most+offsets)
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBounds.  a 32 byte seed.")))
	var keys []*fastmac.UMACKey
	var streams []*fastmac.UMAC
	for _, size := range umacTagSizes {
		k := newUMACKey(t, make([]byte, 16), size)
		keys, streams = append(keys, k), append(streams, k.New())
	}
	nonce := []byte("12345678")
	var buf [16]byte
	step := 1
	if testing.Short() {
		step = 37
	}
	for length := 0; length <= most; length += step {
		k, u := keys[length%4], streams[length%4]
		msg := random(rng, length)
		want := k.Tag(nil, nonce, msg)
		for offset := range offsets {
			for _, at := range []int{offset, len(mem) - length - offset} {
				p := mem[at:][:length:length]
				copy(p, msg)
				if got := k.Tag(buf[:0], nonce, p); !bytes.Equal(got, want) {
					t.Fatalf("%d bytes at %d: tag %x, want %x", length, at, got, want)
				}
				if offset%8 == 0 {
					u.Reset()
					u.Write(p)
					if !u.Verify(want, nonce) {
						t.Fatalf("%d bytes at %d: the stream's tag is wrong", length, at)
					}
				}
			}
		}
	}
}

// TestGMACBounds does the same with messages of 0 to 1200 bytes, and places the nonce and
// the tag as it places the message, and the key too, unless it has pointers.
func TestGMACBounds(t *testing.T) { fastmac.ForAllGCM(t, testGMACBounds) }

func testGMACBounds(t *testing.T) {
	const most, offsets = 1200, 64
	msgs, nonces, tags := mactest.Guarded(t, most+offsets), mactest.Guarded(t, 12+offsets), mactest.Guarded(t, 16+offsets)
	keys := mactest.Guarded(t, int(unsafe.Sizeof(fastmac.GMACKey{})))
	place := func(mem, b []byte, offset int, end bool) []byte {
		if end {
			offset = len(mem) - len(b) - offset
		}
		p := mem[offset:][:len(b):len(b)]
		copy(p, b)
		return p
	}
	rng := rand.NewChaCha8([32]byte([]byte("testGMACBounds.  a 32 byte seed.")))
	step := 1
	if testing.Short() {
		step = 17
	}
	for length := 0; length <= most; length += step {
		k := new(fastmac.GMACKey)
		if fastmac.GMACWipes {
			at := length % 2 * (len(keys) - int(unsafe.Sizeof(*k)))
			k = (*fastmac.GMACKey)(unsafe.Pointer(&keys[at]))
		}
		if err := k.Init(random(rng, 16+8*(length%3))); err != nil {
			t.Fatal(err)
		}
		m, streams := k.New()
		msg, nonce := random(rng, length), random(rng, 12)
		want := k.Tag(nil, nonce, msg)
		for offset := range offsets {
			for _, end := range []bool{false, true} {
				msg, nonce, tag := place(msgs, msg, offset, end), place(nonces, nonce, offset, end), place(tags, make([]byte, 16), offset, end)
				if k.Tag(tag[:0], nonce, msg); !bytes.Equal(tag, want) || !k.Verify(tag, nonce, msg) {
					t.Fatalf("%d bytes, offset %d, at the end: %v: tag %x, want %x", length, offset, end, tag, want)
				}
				if streams != nil {
					continue
				}
				m.Reset()
				m.Write(msg)
				if m.AppendTag(tag[:0], nonce); !bytes.Equal(tag, want) || !m.Verify(tag, nonce) {
					t.Fatalf("%d bytes, offset %d, at the end: %v: tag of the stream %x, want %x", length, offset, end, tag, want)
				}
			}
		}
	}
}

// TestUMACBatchBounds places messages of 0 to 1100 bytes, nonces of all lengths and tags next
// to pages that cannot be accessed, in batches of 1 to 9. Messages and nonces in a batch are
// equal; only the last tag is next to such a page. The key is too, unless it has pointers.
func TestUMACBatchBounds(t *testing.T) { fastmac.ForAllKernels(t, testUMACBatchBounds) }

func testUMACBatchBounds(t *testing.T) {
	const most = 1100
	msgs, nonces, tags := mactest.Guarded(t, most), mactest.Guarded(t, fastmac.MaxNonceSize), mactest.Guarded(t, 16)
	keys := mactest.Guarded(t, int(unsafe.Sizeof(fastmac.UMACKey{})))
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatchBounds.  a seed....")))
	rng.Read(msgs)
	rng.Read(nonces)
	// place returns the first or the last n bytes of mem.
	place := func(mem []byte, n int, end bool) []byte {
		if end {
			return mem[len(mem)-n:]
		}
		return mem[:n:n]
	}
	for _, tagSize := range umacTagSizes {
		k := new(fastmac.UMACKey)
		if fastmac.Hardware().AES != "stdlib" {
			at := tagSize / 4 % 2 * (len(keys) - int(unsafe.Sizeof(*k)))
			k = (*fastmac.UMACKey)(unsafe.Pointer(&keys[at]))
		}
		if err := k.Init(random(rng, 16), tagSize); err != nil {
			t.Fatal(err)
		}
		for length := range most + 1 {
			for _, end := range []bool{false, true} {
				msg, nonce, tag := place(msgs, length, end), place(nonces, 1+length%16, end), place(tags, tagSize, end)
				want := k.Tag(nil, nonce, msg)
				b := newUMACBatch(1+length%9, tagSize, func(int) []byte { return nonce }, func(int) []byte { return msg })
				b.tags[length%9] = tag
				b.check(t, k)
				if !bytes.Equal(tag, want) {
					t.Fatalf("%d messages of %d bytes, at the end: %v: tag %x, want %x", len(b.msgs), length, end, tag, want)
				}
			}
		}
	}
}
