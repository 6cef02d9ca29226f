// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
)

// umacNonces returns functions for nonces of size bytes: in order, the same number with
// different prefixes, and random.
func umacNonces(rng *rand.ChaCha8, size int) map[string]func(i int) []byte {
	first := mactest.Random(rng, 16)
	return map[string]func(i int) []byte{
		"in order": func(i int) []byte {
			var b [16]byte
			binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(first))
			binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(first[8:])+uint64(i))
			return b[16-size:]
		},
		"prefixes": func(i int) []byte {
			b := bytes.Clone(first[:size])
			b[0] += byte(i)
			return b
		},
		"random":       func(int) []byte { return mactest.Random(rng, size) },
		"of all sizes": func(i int) []byte { return mactest.Random(rng, 1+(i+size)%16) },
	}
}

// TestUMACBatch has messages of 0 to 5000 bytes, most of them of one block, between pages
// that cannot be read. TestUMACVectors has the vectors.
func TestUMACBatch(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBatch) }

func testUMACBatch(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatch.   a 32 byte seed.")))
	r := rand.New(rng)
	mem := mactest.Guarded(t, 5000)
	rng.Read(mem)
	part := func(most int) []byte {
		n := r.IntN(most + 1)
		if r.IntN(4) == 0 {
			n = min(most, 32*r.IntN(160)+r.IntN(3)) // next to the sizes of groups and chunks
		}
		at := r.IntN(len(mem) - n + 1)
		switch r.IntN(4) {
		case 0:
			at = 0
		case 1:
			at = len(mem) - n
		}
		return mem[at:][:n:n]
	}
	for _, tagSize := range mactest.UMACTagSizes {
		step := 1
		if testing.Short() {
			step = 5
		}
		for size := 1; size <= fastmac.UMACMaxNonceSize; size += step {
			k := mactest.Must(fastmac.NewUMACKey(mactest.Random(rng, 16+8*(size%3)), tagSize))
			for name, nonce := range umacNonces(rng, size) {
				for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 64} {
					for _, most := range []int{0, 32, 64, 128, 300, 1025, 5000} {
						mactest.CheckBatch(t, mactest.NewUMACBatch(n, tagSize, nonce, func(int) []byte { return part(most) }), k)
						if t.Failed() {
							t.Fatalf("tags of %d bytes, nonces %s, of %d bytes", tagSize, name, size)
						}
					}
				}
			}
		}
		nonces := umacNonces(rng, 8)
		mactest.CheckBatch(t, mactest.NewUMACBatch(1000, tagSize, nonces["in order"], func(int) []byte { return part(5000) }), mactest.Must(fastmac.NewUMACKey(make([]byte, 16), tagSize)))
	}
}

// TestUMACBatchLengths has each length of a block and some up to 2100 bytes, in batches of one length and of
// lengths in a row.
func TestUMACBatchLengths(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBatchLengths) }

func testUMACBatchLengths(t *testing.T) {
	const most, lanes = 2100, 8
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatchLengths.  32 bytes.")))
	mem := mactest.Guarded(t, most+lanes)
	rng.Read(mem)
	for _, tagSize := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(mactest.Random(rng, 16), tagSize))
		nonce := umacNonces(rng, 8)["in order"]
		for length := 0; length <= most; length += 1 + max(0, length-1024)/100 { // each for one block
			mactest.CheckBatch(t, mactest.NewUMACBatch(lanes+1, tagSize, nonce, func(i int) []byte { return mem[len(mem)-length:] }), k)
			mactest.CheckBatch(t, mactest.NewUMACBatch(lanes, tagSize, nonce, func(i int) []byte { return mem[: length+i : length+i] }), k)
		}
	}
}

func clones(all [][]byte) (c [][]byte) {
	for _, b := range all {
		c = append(c, bytes.Clone(b))
	}
	return c
}

// TestUMACVerifyBatch has batches in which no tag, each single one or several are wrong: one
// bit, the length, or the length of the nonce.
func TestUMACVerifyBatch(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACVerifyBatch) }

func testUMACVerifyBatch(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testUMACVerifyBatch. 32 bytes...")))
	r := rand.New(rng)
	for _, tagSize := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(mactest.Random(rng, 16), tagSize))
		for n := range 20 {
			right := mactest.NewUMACBatch(n, tagSize, umacNonces(rng, 1+n%16)["random"], func(int) []byte { return mactest.Random(rng, r.IntN(300)) })
			mactest.TagBatch(k.TagBatch, right.Tags, right.Nonces, right.Msgs)
			check := func(wrong ...int) {
				t.Helper()
				tags, nonces := slices.Clone(right.Tags), slices.Clone(right.Nonces)
				want, ok := make([]bool, n), make([]bool, n)
				for i := range want {
					want[i] = !slices.Contains(wrong, i)
					ok[i] = r.IntN(2) == 0 // what was there before
					if want[i] {
						continue
					}
					switch r.IntN(8) {
					default:
						bit := r.IntN(8 * tagSize)
						tags[i] = bytes.Clone(tags[i])
						tags[i][bit/8] ^= 1 << (bit % 8)
					case 0:
						tags[i] = tags[i][:r.IntN(tagSize)]
					case 1:
						tags[i] = slices.Concat(tags[i], tags[i])[:tagSize+1+r.IntN(tagSize)]
					case 2:
						nonces[i] = nil
					case 3:
						nonces[i] = append(bytes.Clone(nonces[i]), make([]byte, 16)...)
					}
				}
				tagsBefore, noncesBefore := clones(tags), clones(nonces)
				if all := mactest.VerifyBatch(k.VerifyBatch, ok, tags, nonces, right.Msgs); all != (len(wrong) == 0) || !slices.Equal(ok, want) {
					t.Errorf("tags of %d bytes, %d messages, %v wrong: all %v, %v", tagSize, n, wrong, all, ok)
				}
				if !slices.EqualFunc(tags, tagsBefore, bytes.Equal) || !slices.EqualFunc(nonces, noncesBefore, bytes.Equal) {
					t.Error("VerifyBatch changes tags or nonces")
				}
			}
			check()
			for i := range n {
				for range 4 {
					check(i)
				}
			}
			if n > 3 {
				check(r.Perm(n)[:n/2]...)
				check(r.Perm(n)...)
			}
		}
		// Each single bit.
		one := mactest.NewUMACBatch(9, tagSize, umacNonces(rng, 8)["in order"], func(int) []byte { return mactest.Random(rng, r.IntN(100)) })
		mactest.TagBatch(k.TagBatch, one.Tags, one.Nonces, one.Msgs)
		for bit := range 8 * tagSize {
			one.Tags[bit%9][bit/8] ^= 1 << (bit % 8)
			ok := make([]bool, 9)
			if mactest.VerifyBatch(k.VerifyBatch, ok, one.Tags, one.Nonces, one.Msgs) || slices.Index(ok, false) != bit%9 {
				t.Errorf("tags of %d bytes, bit %d flipped: %v", tagSize, bit, ok)
			}
			one.Tags[bit%9][bit/8] ^= 1 << (bit % 8)
		}
	}
}

// TestUMACBatchPanics checks that nothing is written before a panic.
func TestUMACBatchPanics(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBatchPanics) }

func testUMACBatchPanics(t *testing.T) {
	k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), 8))
	testBatchPanics(t, k.TagBatch, k.VerifyBatch, "UMAC", 8, []int{1, 8, 16}, map[int]string{0: "want 1 to 16", 17: "want 1 to 16", 100: "want 1 to 16"})
}

// TestGMACBatch compares batches with calls for one message, and checks that nothing is written
// before a panic.
func TestGMACBatch(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testGMACBatch) }

func testGMACBatch(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("testGMACBatch.   a 32 byte seed.")))
	k := mactest.Must(fastmac.NewGMACKey(mactest.Random(rng, 24)))
	for n := range 20 {
		nonce := func(int) []byte { return mactest.Random(rng, 12) }
		mactest.CheckBatch(t, mactest.NewUMACBatch(n, 16, nonce, func(i int) []byte { return mactest.Random(rng, 37*i) }), k)
	}
	for at := range 100 - 16 { // over the nonce and the message, and apart
		packet := mactest.Random(rng, 100)
		want := k.Tag(nil, packet[:12], packet[12:80])
		k.TagBatch([]fastmac.Message{{Nonce: packet[:12], Data: packet[12:80], Tag: packet[at:][:16]}})
		if !bytes.Equal(packet[at:][:16], want) {
			t.Errorf("tag at %d: %x, want %x", at, packet[at:][:16], want)
		}
	}
	testBatchPanics(t, k.TagBatch, k.VerifyBatch, "GMAC", 16, []int{12}, map[int]string{0: "want 12", 8: "want 12", 16: "want 12"})
}

// testBatchPanics has batches in which the first, the last or another message has a tag or a
// nonce of a wrong length: tag must write nothing, and verify refuses that message and no other.
func testBatchPanics(t *testing.T, tag func([]fastmac.Message), verify func([]fastmac.Message) bool, mac string, tagSize int, nonces []int, bad map[int]string) {
	t.Helper()
	const n = 20
	batch := make([]fastmac.Message, n)
	for i := range batch {
		nonce := make([]byte, nonces[i%len(nonces)])
		nonce[0] = byte(1 + i)
		batch[i] = fastmac.Message{Nonce: nonce, Data: make([]byte, 100*i), Tag: make([]byte, tagSize), OK: i == 3}
	}
	check := func(i int, m fastmac.Message, want string) {
		t.Helper()
		all := slices.Clone(batch)
		all[i] = m
		mactest.MustPanic(t, want, want, func() { tag(all) })
		for j, m := range batch {
			if !bytes.Equal(m.Tag, make([]byte, tagSize)) || m.OK != (j == 3) {
				t.Fatalf("%s: a batch that panics has written message %d: %+v", want, j, m)
			}
		}
	}
	for _, i := range []int{0, 3, n - 1} {
		for _, size := range []int{0, tagSize - 1, tagSize + 1} {
			m := batch[i]
			m.Tag = make([]byte, size)
			check(i, m, fmt.Sprintf("fastmac: TagBatch: message %d: Tag of %d bytes: want %d", i, size, tagSize))
		}
		for size, want := range bad {
			m := batch[i]
			m.Nonce = make([]byte, size)
			check(i, m, fmt.Sprintf("fastmac: TagBatch: message %d: %s nonce of %d bytes: %s", i, mac, size, want))
		}
	}
	tag(batch)
	for i := range batch {
		var wrong []fastmac.Message
		for _, size := range []int{0, tagSize - 1, tagSize + 1} {
			wrong = append(wrong, fastmac.Message{Nonce: batch[i].Nonce, Tag: append(bytes.Clone(batch[i].Tag), 0)[:size]})
		}
		for size := range bad {
			wrong = append(wrong, fastmac.Message{Nonce: make([]byte, size), Tag: batch[i].Tag})
		}
		for _, m := range wrong {
			all := slices.Clone(batch)
			m.Data, m.OK = batch[i].Data, true
			all[i] = m
			if verify(all) {
				t.Errorf("message %d is accepted: %+v", i, m)
			}
			for j := range all {
				if all[j].OK != (j != i) {
					t.Errorf("message %d of a batch whose message %d is wrong: %v", j, i, all[j].OK)
				}
			}
		}
	}
	if !verify(batch) || !verify(nil) {
		t.Error("a batch without wrong messages is refused")
	}
	tag(nil)
}

// TestVerifyBatchPanics checks that no OK stays true if VerifyBatch panics.
func TestVerifyBatchPanics(t *testing.T) {
	for _, k := range []interface {
		VerifyBatch(batch []fastmac.Message) bool
	}{new(fastmac.UMACKey), new(fastmac.GMACKey), new(fastmac.HMACKey)} {
		batch := []fastmac.Message{{OK: true}, {OK: true}}
		mactest.MustPanic(t, fmt.Sprintf("%T", k), "destroyed or never set up", func() { k.VerifyBatch(batch) })
		if batch[0].OK || batch[1].OK {
			t.Errorf("%T: %+v", k, batch)
		}
	}
	keys, batch := make([]*fastmac.UMACKey, 2), []fastmac.Message{{OK: true}, {OK: true}}
	keys[0] = new(fastmac.UMACKey)
	mactest.MustPanic(t, "many keys", "destroyed or never set up", func() { fastmac.VerifyBatch(keys, batch) })
	if batch[0].OK || batch[1].OK {
		t.Errorf("many keys: %+v", batch)
	}
}

// TestMessage checks what the generators of the assembly assume, on 64-bit machines.
func TestMessage(t *testing.T) {
	var m fastmac.Message
	if bits.UintSize == 64 && (unsafe.Offsetof(m.Nonce) != 0 || unsafe.Offsetof(m.Data) != 24 || unsafe.Sizeof(m) != 80) {
		t.Errorf("Nonce at %d, Data at %d, of %d bytes", unsafe.Offsetof(m.Nonce), unsafe.Offsetof(m.Data), unsafe.Sizeof(m))
	}
}

// TestUMACBatchOverlap writes each tag over its message and its nonce, and into the tail of
// a packet.
func TestUMACBatchOverlap(t *testing.T) { mactest.ForAllKernels(t, mactest.UMAC, testUMACBatchOverlap) }

func testUMACBatchOverlap(t *testing.T) {
	const n = 20
	rng := rand.NewChaCha8([32]byte([]byte("testUMACBatchOverlap.  32 bytes.")))
	for _, tagSize := range mactest.UMACTagSizes {
		k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), tagSize))
		packets := make([][]byte, n)
		for i := range packets {
			packets[i] = mactest.Random(rng, 40+i)
		}
		nonce, whole := func(i int) []byte { return packets[i][:8] }, func(i int) []byte { return packets[i] }
		apart := mactest.NewUMACBatch(n, tagSize, nonce, whole)
		mactest.CheckBatch(t, apart, k)
		for at, name := range map[int]string{0: "nonce and message", 20: "message"} {
			own := make([][]byte, n)
			for i, p := range packets {
				own[i] = bytes.Clone(p)
			}
			over := mactest.NewUMACBatch(n, tagSize, func(i int) []byte { return own[i][:8] }, func(i int) []byte { return own[i] })
			for i := range over.Tags {
				over.Tags[i] = own[i][at:][:tagSize]
			}
			mactest.TagBatch(k.TagBatch, over.Tags, over.Nonces, over.Msgs)
			for i, tag := range over.Tags {
				if !bytes.Equal(tag, apart.Tags[i]) {
					t.Errorf("tag over the %s: %x, want %x", name, tag, apart.Tags[i])
				}
				copy(tag, packets[i][at:])
				if !bytes.Equal(own[i], packets[i]) {
					t.Errorf("tag over the %s: other bytes are changed", name)
				}
			}
		}
	}
}
