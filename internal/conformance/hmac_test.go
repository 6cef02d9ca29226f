// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
)

func init() { fastmac.Hardware() } // chooses all kernels, for package mactest

// hmacFlavours are all ways through the API to a tag.
var hmacFlavours = map[string]func(t *testing.T, h crypto.Hash, key, msg []byte) []byte{
	"SumHMAC": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		return fastmac.SumHMAC(h, nil, key, msg)
	},
	"Tag": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		return mactest.Must(fastmac.NewHMACKey(h, key)).Tag(nil, msg)
	},
	"TagBatch": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		b := newHMACBatch(h, key, msg)
		mactest.Must(fastmac.NewHMACKey(h, key)).TagBatch(b.messages)
		return b.tag()
	},
	"TagBatch under many keys": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		b := newHMACBatch(h, key, msg)
		fastmac.TagBatch(b.expanded(), b.messages)
		return b.tag()
	},
	"SumHMACBatch": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		b := newHMACBatch(h, key, msg)
		fastmac.SumHMACBatch(h, b.keys, b.messages)
		return b.tag()
	},
	"VerifyBatch": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		b, k := newHMACBatch(h, key, msg), mactest.Must(fastmac.NewHMACKey(h, key))
		k.Tag(b.tag()[:0], msg)
		b.onlyOK(t, k.VerifyBatch(b.messages))
		return b.tag()
	},
	"VerifyBatch under many keys": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		b := newHMACBatch(h, key, msg)
		mactest.Must(fastmac.NewHMACKey(h, key)).Tag(b.tag()[:0], msg)
		b.onlyOK(t, fastmac.VerifyBatch(b.expanded(), b.messages))
		return b.tag()
	},
	"Init of a used key": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		k := mactest.Must(fastmac.NewHMACKey(mactest.SHA2[rand.IntN(len(mactest.SHA2))], []byte("the former key")))
		k.Tag(nil, msg)
		if err := k.Init(h, key); err != nil {
			t.Fatal(err)
		}
		return k.Tag(nil, msg)
	},
	"Reset": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		m := mactest.Must(fastmac.NewHMAC(h, key))
		m.Write([]byte("the former message"))
		m.Sum(nil)
		m.Reset()
		m.Write(msg)
		return m.Sum(nil)
	},
	"one write": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		m := mactest.Must(fastmac.NewHMAC(h, key))
		m.Write(msg)
		return m.Sum(nil)
	},
	"byte by byte": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		m := mactest.Must(fastmac.NewHMAC(h, key))
		n := max(0, len(msg)-streamSize)
		m.Write(msg[:n])
		for i := range msg[n:] {
			m.Write(msg[n+i:][:1])
		}
		return m.Sum(nil)
	},
	"random splits": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		m := mactest.Must(fastmac.NewHMACKey(h, key)).New()
		for len(msg) > 0 {
			n := rand.IntN(min(len(msg), 200)) + 1
			m.Write(msg[:n])
			msg = msg[n:]
		}
		return m.Sum(nil)
	},
	"clone midway": func(t *testing.T, h crypto.Hash, key, msg []byte) []byte {
		m := mactest.Must(fastmac.NewHMAC(h, key))
		n := rand.IntN(len(msg) + 1)
		m.Write(msg[:n])
		c, err := m.Clone()
		if mactest.CannotClone(err) {
			m.Write(msg[n:])
			return m.Sum(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Write([]byte("not the clone's"))
		m.Sum(nil)
		c.Write(msg[n:])
		return c.Sum(nil)
	},
}

func stdHMAC(h crypto.Hash, key, msg []byte) []byte {
	m := hmac.New(h.New, key)
	m.Write(msg)
	return m.Sum(nil)
}

// An hmacBatch has more messages than there are lanes. One of them, anywhere, is that of the
// test. The others have other lengths, and so have their keys, which TestFIPS140 needs to have
// 14 bytes.
type hmacBatch struct {
	h        crypto.Hash
	at       int
	keys     [][]byte
	messages []fastmac.Message
}

func newHMACBatch(h crypto.Hash, key, msg []byte) hmacBatch {
	b := hmacBatch{h: h, at: rand.IntN(17), keys: make([][]byte, 17), messages: make([]fastmac.Message, 17)}
	other := make([]byte, 300)
	for i := range b.messages {
		b.keys[i] = other[:14+rand.IntN(len(other)-14)]
		b.messages[i].Data = other[:rand.IntN(len(other))]
		b.messages[i].Tag = make([]byte, h.Size())
	}
	b.keys[b.at], b.messages[b.at].Data = key, msg
	return b
}

// expanded returns the keys for TagBatch and VerifyBatch.
func (b hmacBatch) expanded() (keys []*fastmac.HMACKey) {
	for _, key := range b.keys {
		keys = append(keys, mactest.Must(fastmac.NewHMACKey(b.h, key)))
	}
	return keys
}

func (b hmacBatch) tag() []byte { return b.messages[b.at].Tag }

// onlyOK checks what VerifyBatch has found, where the other tags are zeros.
func (b hmacBatch) onlyOK(t *testing.T, all bool) {
	t.Helper()
	var accepted []int
	for i, m := range b.messages {
		if m.OK {
			accepted = append(accepted, i)
		}
	}
	if all || !slices.Equal(accepted, []int{b.at}) {
		t.Errorf("%v: VerifyBatch: %v, and of %d messages %d are OK, want message %d only", b.h, all, len(b.messages), accepted, b.at)
	}
}

// TestHMACVectors compares with all tags of testdata. TestFIPS140 starts it and the other tests
// of HMAC in FIPS 140 mode too.
func TestHMACVectors(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testHMACVectors) }

func testHMACVectors(t *testing.T) {
	type counts struct{ rows, tags, truncated, wrong, comparisons int }
	found := make(map[crypto.Hash]counts)
	for _, v := range mactest.HMACVectors(t) {
		c := found[v.Hash]
		c.rows++
		size := v.Hash.Size()
		for name, flavour := range hmacFlavours {
			got := flavour(t, v.Hash, v.Key, v.Msg)
			if equal := bytes.Equal(got[:min(len(v.Tag), len(got))], v.Tag); equal != v.Valid || len(got) != size {
				t.Errorf("%s: %s: tag %x, %x is valid: %v", v.Name, name, got, v.Tag, v.Valid)
			}
		}
		// A truncated tag is refused even if it is right.
		want := v.Valid && len(v.Tag) == size
		k := mactest.Must(fastmac.NewHMACKey(v.Hash, v.Key))
		if got := k.Verify(v.Tag, v.Msg); got != want {
			t.Errorf("%s: Verify %v, want %v", v.Name, got, want)
		}
		m := k.New()
		m.Write(v.Msg)
		if got := m.Verify(v.Tag); got != want {
			t.Errorf("%s: the stream's Verify %v, want %v", v.Name, got, want)
		}
		batch := []fastmac.Message{{Data: v.Msg, Tag: v.Tag, OK: !want}}
		if got := k.VerifyBatch(batch); got != want || batch[0].OK != want {
			t.Errorf("%s: VerifyBatch %v, %v, want %v", v.Name, got, batch[0].OK, want)
		}
		c.comparisons += len(hmacFlavours) + 3
		switch {
		case want:
			c.tags++
		case v.Valid:
			c.truncated++
		default:
			c.wrong++
		}
		found[v.Hash] = c
	}
	rows := map[crypto.Hash]int{crypto.SHA224: 187, crypto.SHA256: 198, crypto.SHA384: 181, crypto.SHA512: 587, crypto.SHA512_224: 186, crypto.SHA512_256: 188}
	for _, h := range slices.Sorted(maps.Keys(rows)) {
		c := found[h]
		if c.rows != rows[h] {
			t.Errorf("%v: %d rows, want %d", h, c.rows, rows[h])
		}
		t.Logf("%v: %d rows: %d tags, %d right but truncated, %d wrong; %d comparisons", h, c.rows, c.tags, c.truncated, c.wrong, c.comparisons)
	}
}

// TestHMACStd compares with crypto/hmac for keys and messages of lengths up to three blocks of each
// hash, including nil, and for messages that the assembly gets in several calls. Short mode has only
// the lengths at which blocks begin or end, without the padding and with it.
func TestHMACStd(t *testing.T) { mactest.ForAllKernels(t, mactest.HMAC, testHMACStd) }

func testHMACStd(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestHMACStd: a seed of 32 bytes.")))
	for _, h := range mactest.SHA2 {
		check := func(key, msg []byte) {
			t.Helper()
			want := stdHMAC(h, key, msg)
			for name, flavour := range hmacFlavours {
				if got := flavour(t, h, key, msg); !bytes.Equal(got, want) {
					t.Errorf("%v: %s: key of %d, message of %d bytes: tag %x, want %x", h, name, len(key), len(msg), got, want)
				}
			}
		}
		random := func(n int) []byte { return mactest.Random(rng, n) }
		short := func() []byte { return random(int(rng.Uint64() % 300)) }
		check(nil, nil)
		for block, n := h.New().BlockSize(), 0; n < 3*block+16; n++ {
			// The padding has 9 or 17 bytes.
			if at := n % block; testing.Short() && at > 1 && at < block-18 {
				continue
			}
			check(random(n), short())
			check(short(), random(n))
		}
		// Compress gets at most 512 blocks at a time, each lane 256, and crypto/hmac, which is all that
		// runs without a kernel, 4096 bytes.
		block, run := h.New().BlockSize(), 4096
		if layer := map[int]kernel.Layer{64: kernel.SHA256, 128: kernel.SHA512}[block]; kernel.InUse(layer) {
			run = 256 * block
		}
		for runs := 1; runs <= 4; runs++ {
			for _, n := range []int{-block, -1, 0, 1, block} {
				check(short(), random(run*runs+n))
			}
		}
		check(random(10000), random(1<<20+300))
	}
}

// TestHMACSizes has messages of each number of blocks up to 256 and a part of one: by themselves, and in batches of
// two and of more than there are lanes, in which all have the same length or not. Each message of a batch is another
// one. What is wanted is carried on from each number of blocks to the next, by crypto/hmac.
func TestHMACSizes(t *testing.T) {
	const most, messages = 256, 17
	forEach := func(t *testing.T, h crypto.Hash) {
		rng := rand.NewChaCha8([32]byte([]byte("TestHMACSizes, seed of 32 bytes.")))
		key, size := mactest.Random(rng, 20), h.New().BlockSize()
		k := mactest.Must(fastmac.NewHMACKey(h, key))
		var data, want [messages][]byte // want has the tags of each number of blocks
		for i := range data {
			data[i] = mactest.Random(rng, (most+1)*size)
			stream := hmac.New(h.New, key)
			for n := range most + 1 {
				last := hmac.New(h.New, key)
				if cloner, ok := stream.(hash.Cloner); ok {
					last = mactest.Must(cloner.Clone())
				} else { // with GOFIPS140=v1.0.0
					last.Write(data[i][:n*size])
				}
				last.Write(data[i][n*size:][:n%size])
				want[i] = last.Sum(want[i])
				stream.Write(data[i][n*size:][:size])
			}
		}
		message := func(i, n int) (msg, tag []byte) { return data[i][:n*size+n%size], want[i][n*h.Size():][:h.Size()] }
		check := func(how string, i, n int, tag []byte) {
			t.Helper()
			if _, want := message(i, n); !bytes.Equal(tag, want) {
				t.Fatalf("%s: message %d, of %d blocks: %x, want %x", how, i, n, tag, want)
			}
		}
		batch, tags := make([]fastmac.Message, messages), make([]byte, messages*h.Size())
		for n := range most + 1 {
			msg, _ := message(0, n)
			check("Tag", 0, n, k.Tag(nil, msg))
			stream := k.New()
			stream.Write(msg)
			check("a stream", 0, n, stream.Sum(nil))
			for _, count := range []int{2, messages} {
				for step := range 2 {
					blocks := func(i int) int { return max(0, n-step*i) }
					for i := range count {
						batch[i].Data, _ = message(i, blocks(i))
						batch[i].Tag = tags[i*h.Size():][:h.Size()]
					}
					k.TagBatch(batch[:count])
					for i, m := range batch[:count] {
						check(fmt.Sprintf("batch of %d, each %d blocks shorter", count, step), i, blocks(i), m.Tag)
					}
				}
			}
		}
	}
	// The kernels of one do not matter for the other.
	mactest.ForAllKernels(t, mactest.HMAC[:1], func(t *testing.T) { forEach(t, crypto.SHA256); forEach(t, crypto.SHA224) })
	mactest.ForAllKernels(t, mactest.HMAC[1:], func(t *testing.T) { forEach(t, crypto.SHA512); forEach(t, crypto.SHA384) })
}

// TestHMACLength has messages whose length in bytes takes more than 32 bits. They are nearly all zeros, which
// are only read and so take no memory. The tags are those of crypto/hmac, which takes seconds.
func TestHMACLength(t *testing.T) {
	if !mactest.Long() || strconv.IntSize < 64 || mactest.Race {
		t.Skip("only if FASTMAC_TEST_LONG is set, and on 64-bit platforms")
	}
	size := uint64(4<<30 + 77)
	key, msg := []byte("0123456789abcdef"), make([]byte, size)
	msg[len(msg)-1] = 1
	want := mactest.Must(hex.DecodeString("eebe108c4632103e76e2defa16ada2225db930236eaf87953797a041af91f68b"))
	for _, name := range []string{"Tag", "one write", "SumHMACBatch"} {
		if got := hmacFlavours[name](t, crypto.SHA256, key, msg); !bytes.Equal(got, want) {
			t.Errorf("%s: tag %x, want %x", name, got, want)
		}
	}
	// As many as all lanes, of one length, and two, which may be a pair.
	for _, n := range []int{16, 2} {
		b := newHMACBatch(crypto.SHA256, key, msg)
		b.messages = slices.Repeat(b.messages[b.at:b.at+1], n)
		for i := range b.messages {
			b.messages[i].Tag = make([]byte, crypto.SHA256.Size())
		}
		mactest.Must(fastmac.NewHMACKey(crypto.SHA256, key)).TagBatch(b.messages)
		for i, m := range b.messages {
			if !bytes.Equal(m.Tag, want) {
				t.Errorf("message %d of %d of one length: %x, want %x", i, n, m.Tag, want)
			}
		}
	}
	// The same code for words of 64 bits, which takes longer.
	want = mactest.Must(hex.DecodeString("19b6eef7be0bc223cbe0aebcd3a0ad4f7d24b58f3509b43c0651f7d4b430f41e5b375b068e69802cfb5fa473a0e84cc623c494ee6a0a1fcb347292ed1882c424"))
	if got := hmacFlavours["Tag"](t, crypto.SHA512, key, msg); !bytes.Equal(got, want) {
		t.Errorf("SHA-512: tag %x, want %x", got, want)
	}
}
