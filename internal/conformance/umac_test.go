// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package conformance has only tests, which compare the MACs with what shares no code with
// them: the files of testdata, the transcription of RFC 4418 in umacref, libnettle and the
// standard library.
package conformance

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"fmt"
	"hash"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"example.com/fastmac"
	"example.com/fastmac/internal/kernel"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// umacVector is a message with its tag under a key of that tag's size.
type umacVector struct{ key, nonce, msg, tag []byte }

// under returns the tag under another nonce. UMAC is UHASH xor the pad of the nonce, and the
// pads are umacref's.
func (v *umacVector) under(nonce []byte) []byte {
	tag := bytes.Clone(v.tag)
	subtle.XORBytes(tag, tag, umacref.PDF(v.key, v.nonce, len(tag)))
	subtle.XORBytes(tag, tag, umacref.PDF(v.key, nonce, len(tag)))
	return tag
}

// randomNonce is a nonce as Sign draws it.
var randomNonce = []byte("a nonce of Sign.")

// umacCalls are all ways to a tag, or to a tag that is verified, in one call, and those that
// set up a key. They report whether the tag is v's. No stream is cloned.
var umacCalls = map[string]func(k *fastmac.UMACKey, v *umacVector) bool{
	"Tag":    func(k *fastmac.UMACKey, v *umacVector) bool { return bytes.Equal(k.Tag(nil, v.nonce, v.msg), v.tag) },
	"Verify": func(k *fastmac.UMACKey, v *umacVector) bool { return k.Verify(v.tag, v.nonce, v.msg) },
	"TagBatch": func(k *fastmac.UMACKey, v *umacVector) bool {
		batch := v.batch()
		mactest.TagBatch(k.TagBatch, batch.Tags, batch.Nonces, batch.Msgs)
		return bytes.Equal(batch.Tags[2], v.tag) && bytes.Equal(batch.Tags[8], batch.Tags[9])
	},
	"VerifyBatch": func(k *fastmac.UMACKey, v *umacVector) bool {
		batch, ok := v.batch(), make([]bool, 10)
		batch.Tags[2] = v.tag
		return !mactest.VerifyBatch(k.VerifyBatch, ok, batch.Tags, batch.Nonces, batch.Msgs) && slices.Index(ok, true) == 2
	},
	"Sign": func(k *fastmac.UMACKey, v *umacVector) bool {
		sig := k.Sign(nil, v.msg)
		return bytes.Equal(sig[16:], v.under(sig[:16]))
	},
	"VerifySigned": func(k *fastmac.UMACKey, v *umacVector) bool {
		return k.VerifySigned(slices.Concat(randomNonce, v.under(randomNonce)), v.msg)
	},
	"the stream's Sign": func(k *fastmac.UMACKey, v *umacVector) bool {
		u := k.New()
		u.Write(v.msg)
		sig := u.Sign(nil)
		return bytes.Equal(sig[16:], v.under(sig[:16]))
	},
	"the stream's VerifySigned": func(k *fastmac.UMACKey, v *umacVector) bool {
		u := k.New()
		u.Write(v.msg)
		return u.VerifySigned(slices.Concat(randomNonce, v.under(randomNonce)))
	},
	"WriteParallel": func(k *fastmac.UMACKey, v *umacVector) bool {
		u := k.New()
		u.WriteParallel(v.msg, 2)
		return bytes.Equal(u.Tag(nil, v.nonce), v.tag)
	},
	"the stream's Verify": func(k *fastmac.UMACKey, v *umacVector) bool {
		u := k.New()
		u.Write(v.msg)
		return u.Verify(v.tag, v.nonce)
	},
	"Init of a used key": func(_ *fastmac.UMACKey, v *umacVector) bool {
		var k fastmac.UMACKey
		for _, key := range [][]byte{randomNonce, v.key} {
			if k.Init(key, len(v.tag)) != nil {
				return false
			}
			k.Tag(nil, randomNonce, randomNonce)
		}
		return bytes.Equal(k.Tag(nil, v.nonce, v.msg), v.tag)
	},
	"NewUMAC": func(_ *fastmac.UMACKey, v *umacVector) bool {
		u, err := fastmac.NewUMAC(v.key, len(v.tag))
		if err != nil {
			return false
		}
		u.Write(v.msg)
		return bytes.Equal(u.Tag(nil, v.nonce), v.tag)
	},
}

// batch returns a batch of ten short messages, of which the third is v's.
func (v *umacVector) batch() mactest.UMACBatch {
	b := mactest.NewUMACBatch(10, len(v.tag), func(int) []byte { return randomNonce[:1] }, func(i int) []byte { return v.msg[:min(i%8, len(v.msg))] })
	b.Nonces[2], b.Msgs[2] = v.nonce, v.msg
	b.Msgs[9] = b.Msgs[8]
	return b
}

// umacStreams are all ways to write msg to a stream and get its tag.
var umacStreams = map[string]func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte{
	"one write": func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte {
		u.Write(msg)
		return u.Sum(bytes.Clone(nonce))
	},
	"byte by byte": func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte {
		n := max(0, len(msg)-streamSize)
		u.Write(msg[:n])
		for i := range msg[n:] {
			u.Write(msg[n+i:][:1])
		}
		return u.Tag(nil, nonce)
	},
	"random splits": func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte {
		for len(msg) > 0 {
			n := rand.IntN(min(len(msg), 1+len(msg)/4+rand.IntN(3000))) + 1
			u.Write(msg[:n])
			msg = msg[n:]
		}
		return u.Sum(bytes.Clone(nonce))
	},
	"clone midway": func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte {
		n := rand.IntN(len(msg) + 1)
		u.Write(msg[:n])
		c := cloneUMAC(t, u)
		u.Write([]byte("not the clone's"))
		u.Sum(bytes.Clone(nonce))
		c.Write(msg[n:])
		return c.Sum(bytes.Clone(nonce))
	},
	"Bind": func(t *testing.T, u *fastmac.UMAC, nonce, msg []byte) []byte {
		n := rand.IntN(len(msg) + 1)
		u.Write(msg[:n])
		h := u.Bind(nonce)
		u.Reset()
		h.Write(msg[n:])
		return h.Sum(nil)
	},
}

func cloneUMAC(t *testing.T, u *fastmac.UMAC) *fastmac.UMAC {
	t.Helper()
	c, err := u.Clone()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*fastmac.UMAC)
}

const (
	// shortSize limits messages in short mode: the race detector and emulated CPUs
	// take minutes for those that reach POLY-128.
	shortSize = 1 << 20

	// streamSize is how much of a longer message the streams write in different ways.
	// POLY-128 begins in it in all vectors around 2^24 bytes.
	streamSize = 8 << 10
)

// TestUMACVectors compares with all tags of testdata, in all calls and in all streams.
//
// Short mode leaves out messages of more than shortSize bytes, and has Tag and one of the other
// calls for each tag, in turn. Otherwise the streams of these messages go on from a clone that
// has hashed all except the last streamSize bytes, and tags of 16 bytes have one call in turn.
// The long run has all calls for them too, and one stream, in turn, from the beginning.
func TestUMACVectors(t *testing.T) {
	calls, streams := slices.Sorted(maps.Keys(umacCalls)), slices.Sorted(maps.Keys(umacStreams))
	tags, comparisons, turn := 0, 0, 0
	var sets []string
	for _, file := range mactest.UMACVectors(t) {
		isLong := file.Size > shortSize
		if isLong && testing.Short() {
			continue
		}
		if t.Failed() {
			break // one message is enough to see
		}
		msg := file.Msg()
		tags += len(file.Tags)
		sets = nil
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			sets = append(sets, kernels)
			for _, size := range mactest.UMACTagSizes {
				want := file.Tags[size]
				if want == nil {
					continue
				}
				k, v := mactest.Must(fastmac.NewUMACKey(file.Key, size)), &umacVector{file.Key, file.Nonce, msg, want}
				inTurn := calls
				whole := -1 // the stream that begins at the beginning
				turn++
				switch call := calls[turn%len(calls)]; {
				case isLong && mactest.Long():
					whole = turn % len(streams)
				case isLong && size < 16:
					inTurn = nil
				case isLong:
					inTurn = []string{call}
				case testing.Short():
					inTurn = []string{"Tag", call}
				}
				for _, name := range inTurn {
					comparisons++
					if !umacCalls[name](k, v) {
						t.Errorf("%s, %s: %s: wrong tag or refused, want %x", kernels, file.Name, name, want)
					}
				}
				at := 0 // from here on the streams differ
				if isLong {
					at = file.Size - streamSize
				}
				begun := k.New()
				begun.Write(msg[:at])
				for i, name := range streams {
					u, rest := cloneUMAC(t, begun), msg[at:]
					if i == whole {
						u, rest = k.New(), msg
					}
					comparisons++
					if got := umacStreams[name](t, u, file.Nonce, rest); !bytes.Equal(got, want) {
						t.Errorf("%s, %s: %s: tag %x, want %x", kernels, file.Name, name, got, want)
					}
				}
			}
		})
	}
	if !testing.Short() && !t.Failed() && tags != 32+220+1764 {
		t.Errorf("%d tags, want all of testdata", tags)
	}
	t.Logf("%d tags, %d kernel sets (%s), %d calls and %d kinds of streams: %d comparisons",
		tags, len(sets), strings.Join(sets, ", "), len(calls), len(streams), comparisons)
}

// TestUMACReference compares with umacref for all lengths up to 4160 bytes, which
// covers L1, and for lengths around 2^24, where POLY-128 begins.
//
// Every 19th length is compared for all tag sizes, the others for one drawn at random;
// the long run compares all for all sizes. Short mode has only every 19th length, and
// none around 2^24.
func TestUMACReference(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestUMACReference. 32 bytes seed")))
	const sample = 19
	compared := 0
	compare := func(length int) {
		key := mactest.Random(rng, []int{16, 24, 32}[rng.Uint64()%3])
		nonce := mactest.Random(rng, 1+int(rng.Uint64()%16))
		msg := mactest.Random(rng, length)
		sizes := mactest.UMACTagSizes
		if length%sample != 0 && !mactest.Long() {
			sizes = sizes[rng.Uint64()%4:][:1]
		}
		for _, size := range sizes {
			want := umacref.UMAC(key, msg, nonce, size)
			mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
				compared++
				k := mactest.Must(fastmac.NewUMACKey(key, size))
				if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
					t.Errorf("%s: key %x, nonce %x, %d bytes: Tag: %x, want %x", kernels, key, nonce, length, got, want)
				}
				if got := umacStreams["random splits"](t, k.New(), nonce, msg); !bytes.Equal(got, want) {
					t.Errorf("%s: key %x, nonce %x, %d bytes in random splits: tag %x, want %x", kernels, key, nonce, length, got, want)
				}
			})
		}
	}
	defer func() { t.Logf("%d tags compared with umacref, one-shot and in random splits", compared) }()
	step := 1
	if testing.Short() {
		step = sample
	}
	for length := 0; length <= 4160; length += step {
		compare(length)
	}
	if testing.Short() {
		return
	}
	const limit = 1 << 24
	for _, length := range []int{limit - 1025, limit - 1024, limit - 1023, limit - 1, limit, limit + 1,
		limit + 1023, limit + 1024, limit + 1025, limit + 2047, limit + 2048, limit + 2049, limit + 5000} {
		compare(length)
	}
}

// TestUMACOffsets compares the kernels with each other for all lengths up to 4160 bytes, at
// all offsets from a cache line, or from a word in Go, one-shot and in a stream of two writes. Short mode has
// every 19th length, and in assembly offsets that are multiples of 7.
func TestUMACOffsets(t *testing.T) {
	const maxLength, line = 4160, 64
	rng := rand.NewChaCha8([32]byte([]byte("TestUMACOffsets. 32 bytes a seed")))
	data := mactest.Random(rng, maxLength)
	buf := make([]byte, maxLength+2*line)
	buf = buf[line-int(uintptr(unsafe.Pointer(&buf[0]))%line):]
	nonce := []byte("12345678")
	lengths, offsets := 1, 1
	if testing.Short() || mactest.Race {
		lengths, offsets = 19, 7
	}
	// A kernel's tags at all offsets are compared with the first one's.
	wants := make(map[[2]int][]byte)
	compared := 0
	mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
		step, beyond := offsets, line
		if kernel.NewReport().NH == "generic" {
			step, beyond = 1, 4 // Go knows offsets from a word
		}
		for _, size := range mactest.UMACTagSizes {
			k := mactest.Must(fastmac.NewUMACKey([]byte("0123456789abcdef"), size))
			u := k.New()
			for offset := 0; offset < beyond; offset += step {
				copy(buf[offset:], data)
				for length := 0; length <= maxLength; length += lengths {
					msg := buf[offset:][:length]
					tag := k.Tag(nil, nonce, msg)
					want := wants[[2]int{size, length}]
					if want == nil {
						want = tag
						wants[[2]int{size, length}] = tag
					}
					cut := int(rng.Uint64() % uint64(length+1))
					u.Reset()
					u.Write(msg[:cut])
					u.Write(msg[cut:])
					if stream := u.Tag(nil, nonce); !bytes.Equal(tag, want) || !bytes.Equal(stream, want) {
						t.Fatalf("%s, %d bytes at offset %d: Tag %x, stream in writes of %d and %d bytes %x, want %x", kernels, length, offset, tag, cut, length-cut, stream, want)
					}
					compared++
				}
			}
		}
	})
	t.Logf("%d messages agree", compared)
}

// TestUMACRuns compares Tag, one Write, WriteParallel and writes of 1000 bytes for messages around those
// sizes at which the assembly gets another run, POLY-128 takes over, and WriteParallel has helpers.
func TestUMACRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("messages of up to 2^25 bytes")
	}
	const run = 1 << 20
	msg := mactest.Random(rand.NewChaCha8([32]byte([]byte("TestUMACRuns. This has 32 bytes."))), 34*run+1025)
	nonce := []byte("12345678")
	wants := make(map[[2]int][]byte)
	mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
		runs := []int{1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 34}
		if kernel.NewReport().NH == "generic" {
			runs = []int{1, 16, 17, 33} // it takes ten times as long
		}
		for _, size := range []int{8, 16} {
			k := mactest.Must(fastmac.NewUMACKey([]byte("0123456789abcdef"), size))
			parts, whole := k.New(), k.New()
			at := 0
			for _, n := range runs {
				for _, length := range []int{n*run - 1024, n*run - 1, n * run, n*run + 1, n*run + 1024} {
					for at < length {
						n, _ := parts.Write(msg[at:min(at+1000, length)])
						at += n
					}
					want := parts.Tag(nil, nonce)
					if first := wants[[2]int{size, length}]; first == nil {
						wants[[2]int{size, length}] = want
					} else if !bytes.Equal(want, first) {
						t.Errorf("%s: %d bytes in parts: %x, want %x", kernels, length, want, first)
					}
					if !k.Verify(want, nonce, msg[:length]) {
						t.Errorf("%s: Verify refuses %d bytes", kernels, length)
					}
					before := length % 1023 // some of the block that the second write ends
					for name, write := range map[string]func(p []byte){
						"Write":         func(p []byte) { whole.Write(p) },
						"WriteParallel": func(p []byte) { whole.WriteParallel(p, 0) },
					} {
						whole.Reset()
						whole.Write(msg[:before])
						if write(msg[before:length]); !whole.Verify(want, nonce) {
							t.Errorf("%s: %s of %d bytes after %d: the tag is wrong", kernels, name, length-before, before)
						}
						whole.Reset()
						if write(msg[:length]); !whole.Verify(want, nonce) {
							t.Errorf("%s: %s of %d bytes: the tag is wrong", kernels, name, length)
						}
					}
				}
			}
		}
	})
}

// TestUMACLength compares a message of more than 2^32 bytes in one call and in parts. It is nearly all
// zeros, which are only read and so take no memory.
func TestUMACLength(t *testing.T) {
	if !mactest.Long() || strconv.IntSize < 64 {
		t.Skip("only if FASTMAC_TEST_LONG is set, and on 64-bit platforms")
	}
	size := uint64(4<<30 + 77)
	nonce, msg := []byte("12345678"), make([]byte, size)
	msg[len(msg)-1] = 1
	mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
		k := mactest.Must(fastmac.NewUMACKey([]byte("0123456789abcdef"), 8))
		parts, whole := k.New(), k.New()
		for part := range slices.Chunk(msg, 1<<20+1000) {
			parts.Write(part)
		}
		want := parts.Tag(nil, nonce)
		if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
			t.Errorf("%s: Tag: %x, want %x", kernels, got, want)
		}
		whole.Write(msg)
		if got := whole.Tag(nil, nonce); !bytes.Equal(got, want) {
			t.Errorf("%s: stream: %x, want %x", kernels, got, want)
		}
		if !kernel.InUse(kernel.NH) {
			return // seconds for each
		}
		whole.Reset()
		whole.WriteParallel(msg, 0)
		if got := whole.Tag(nil, nonce); !bytes.Equal(got, want) {
			t.Errorf("%s: WriteParallel: %x, want %x", kernels, got, want)
		}
		batch := []fastmac.Message{{Nonce: nonce, Data: msg, Tag: make([]byte, 8)}, {Nonce: nonce, Data: msg[:5], Tag: make([]byte, 8)}}
		if k.TagBatch(batch); !bytes.Equal(batch[0].Tag, want) {
			t.Errorf("%s: TagBatch: %x, want %x", kernels, batch[0].Tag, want)
		}
	})
}

// TestUMACHuge compares the kernels with each other around 2^32 bytes, in the long run.
func TestUMACHuge(t *testing.T) {
	if !mactest.Long() {
		t.Skip("for the long run: messages of 2^32 bytes")
	}
	part := mactest.Random(rand.NewChaCha8([32]byte([]byte("TestUMACHuge. This has 32 bytes."))), 1<<20)
	var wants [][]byte
	mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
		u := mactest.Must(fastmac.NewUMACKey([]byte("0123456789abcdef"), 16)).New()
		for range uint64(1<<32)/uint64(len(part)) - 1 {
			u.Write(part)
		}
		u.Write(part[:len(part)-1025])
		for i := range 2050 { // from 2^32-1025 to 2^32+1024 bytes
			tag := u.Tag(nil, []byte("12345678"))
			if len(wants) == i {
				wants = append(wants, tag)
			} else if !bytes.Equal(tag, wants[i]) {
				t.Fatalf("%s, 2^32%+d bytes: %x, want %x", kernels, i-1025, tag, wants[i])
			}
			u.Write(part[i:][:1])
		}
	})
}

// TestCopy copies 5 GiB and 77 bytes to a stream of each kind, in the long run. The message
// is the output of "seq 100000" again and again. The tags are those of libnettle 3.8 for
// UMAC and GMAC, and of OpenSSL 3.0 for GMAC and HMAC, which reads a message from a pipe:
//
//	(while seq 100000; do :; done) 2>/dev/null | head -c 5368709197 |
//		openssl dgst -sha512 -mac HMAC -macopt key:0123456789abcdef
func TestCopy(t *testing.T) {
	if !mactest.Long() || mactest.Race {
		t.Skip("for the long run: messages of 5 GiB")
	}
	var block []byte
	for i := range 100_000 {
		block = strconv.AppendInt(block, int64(i+1), 10)
		block = append(block, '\n')
	}
	key, nonce := []byte("0123456789abcdef"), []byte("twelve bytes")
	check := func(name string, h hash.Hash, want string) {
		const size = 5<<30 + 77
		if n, err := io.Copy(h, io.LimitReader(&endless{block, 0}, size)); n != size || err != nil {
			t.Errorf("%s: %d bytes copied, %v", name, n, err)
		}
		if got := h.Sum(nil); !bytes.Equal(got, mactest.Unhex(want)) {
			t.Errorf("%s: tag %x, want %s", name, got, want)
		}
	}
	bind := func(h interface {
		Bind(nonce []byte) hash.Cloner
	}) hash.Hash {
		return h.Bind(nonce)
	}
	for size, want := range map[int]string{
		4:  "0d163e04",
		8:  "c8db8d4ad91d915a",
		12: "f067293769c33ad253beb91a",
		16: "f067293769c33ad253beb91a09d24049",
	} {
		check(fmt.Sprintf("UMAC-%d", 8*size), bind(mactest.Must(fastmac.NewUMACKey(key, size)).New()), want)
	}
	check("HMAC-SHA-256", mactest.Must(fastmac.NewHMAC(crypto.SHA256, key)), "75753c09249bc366482eabc756840e3b9d7f1c8c2ff4c60a2cc88a94e938c8a3")
	check("HMAC-SHA-512", mactest.Must(fastmac.NewHMAC(crypto.SHA512, key)), "dab7b239ebc8d8efde91ced7ada1c3ecb0a12f06d1ebb337441cc642334ee46c8e2550c2d28cf16b7cb03b6d02f960fd1bf4b3a03b406f0516cfe05660b983b9")
	if fastmac.RequireGCM() == nil {
		check("GMAC", bind(mactest.Must(fastmac.NewGMACKey(key)).New()), "1b555bfe13fff67d5a43cf0bb9aaa8ab")
	}
}

// An endless reader returns a block again and again.
type endless struct {
	block []byte
	at    int
}

func (r *endless) Read(p []byte) (int, error) {
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	return n, nil
}

// TestUMACLongSums computes tags in the middle of a message that reaches POLY-128: they
// must be right and must not change the stream.
func TestUMACLongSums(t *testing.T) {
	if testing.Short() {
		t.Skip("messages of 2^24 bytes")
	}
	mactest.ForAllKernels(t, mactest.UMAC, func(t *testing.T) {
		const limit = 1 << 24
		msg := mactest.Random(rand.NewChaCha8([32]byte([]byte("TestUMACLongSums. a 32 byte seed"))), limit+5000)
		nonce := []byte("12345678")
		for _, size := range mactest.UMACTagSizes {
			k := mactest.Must(fastmac.NewUMACKey(make([]byte, 16), size))
			u := k.New()
			at := 0
			for _, cut := range []int{limit - 1024, limit - 1, limit, limit + 1, limit + 1024, limit + 1055, limit + 2048,
				limit + 2049, limit + 3072, limit + 4096, limit + 4127, len(msg)} {
				u.Write(msg[at:cut])
				at = cut
				want := k.Tag(nil, nonce, msg[:cut])
				for range 2 {
					if got := u.Tag(nil, nonce); !bytes.Equal(got, want) {
						t.Fatalf("%d bytes of tag, 2^24%+d bytes: %x, want %x", size, cut-limit, got, want)
					}
				}
				c, err := u.Clone()
				if err != nil {
					t.Fatal(err)
				}
				if cut%2 == 0 {
					u = c.(*fastmac.UMAC)
				}
			}
		}
	})
}
