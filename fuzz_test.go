// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/fastmac"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// fuzzUMAC returns a key, its bytes and a nonce from what the fuzzer made.
func fuzzUMAC(t *testing.T, key, nonce []byte, way byte) (*fastmac.UMACKey, []byte, []byte) {
	key = append(key, make([]byte, 32)...)[:16+8*(way/4%3)]
	nonce = append(nonce, 0)[:1+min(len(nonce), 15)]
	return newUMACKey(t, key, umacTagSizes[way%4]), key, nonce
}

// FuzzUMACReference compares every kernel with umacref.
func FuzzUMACReference(f *testing.F) {
	f.Add(make([]byte, 16), []byte("12345678"), []byte("message"), byte(1))
	f.Add(make([]byte, 32), []byte("1"), make([]byte, 1025), byte(11))
	f.Fuzz(func(t *testing.T, key, nonce, msg []byte, way byte) {
		_, key, nonce = fuzzUMAC(t, key, nonce, way)
		size := umacTagSizes[way%4]
		want := umacref.UMAC(key, msg, nonce, size)
		fastmac.EachKernel(func(kernel string) {
			k := newUMACKey(t, key, size)
			if got := k.Tag(nil, nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("%s: Tag: %x, want %x", kernel, got, want)
			}
			if got := umacStreams["one write"](t, k.New(), nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("%s: stream: %x, want %x", kernel, got, want)
			}
		})
	})
}

// FuzzUMACKernels compares the kernels on messages that are longer than those of the fuzzer:
// a pattern, which is repeated, and up to 64 changed bytes.
func FuzzUMACKernels(f *testing.F) {
	f.Add([]byte{0xff}, []byte("changes"), uint32(1<<20), byte(3), uint64(1))
	f.Add([]byte{0}, []byte(nil), uint32(3000), byte(1), uint64(2))
	f.Fuzz(func(t *testing.T, pattern, changes []byte, size uint32, way byte, seed uint64) {
		msg := bytes.Repeat(append(pattern, 0), int(size%(1<<20))/(len(pattern)+1)+1)[:size%(1<<20)]
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, b := range changes[:min(len(changes), 64)] {
			if len(msg) > 0 {
				msg[rng.IntN(len(msg))] = b
			}
		}
		var want []byte
		fastmac.EachKernel(func(kernel string) {
			k, _, nonce := fuzzUMAC(t, nil, []byte("12345678"), way)
			got := k.Tag(nil, nonce, msg)
			if want == nil {
				want = got
			}
			u := k.New()
			at := rng.IntN(len(msg) + 1)
			u.Write(msg[:at])
			u.Write(msg[at:])
			if stream := u.AppendTag(nil, nonce); !bytes.Equal(got, want) || !bytes.Equal(stream, want) {
				t.Errorf("%s, %d bytes: Tag %x, stream split at %d %x, want %x", kernel, len(msg), got, at, stream, want)
			}
		})
	})
}

// FuzzUMACStream makes the calls that script asks for, and compares each tag with that of a
// one-shot.
func FuzzUMACStream(f *testing.F) {
	f.Add([]byte("script"), bytes.Repeat([]byte("message"), 400), byte(1))
	f.Add([]byte{0, 255, 4, 1, 3, 0, 40, 1, 2}, make([]byte, 4000), byte(3))
	f.Fuzz(func(t *testing.T, script, msg []byte, way byte) {
		fastmac.EachKernel(func(kernel string) {
			k, _, _ := fuzzUMAC(t, nil, nil, way)
			u := k.New()
			var written []byte
			counter := uint64(way)
			left := msg
			for i := 0; i+1 < len(script); i += 2 {
				n := min(int(script[i+1])*8, len(left))
				switch script[i] % 5 {
				case 0:
					u.Write(left[:n])
					written, left = append(written, left[:n]...), left[n:]
				case 1:
					counter += uint64(script[i+1]) // mostly in order
					nonce := binary.BigEndian.AppendUint64(nil, counter)
					if got, want := u.AppendTag(nil, nonce), k.Tag(nil, nonce, written); !bytes.Equal(got, want) {
						t.Fatalf("%s, script %x, call %d: tag %x of %d bytes, want %x", kernel, script, i/2, got, len(written), want)
					}
				case 2:
					u = cloneUMAC(t, u)
				case 3:
					u.Reset()
					written = written[:0]
				case 4:
					tag := k.Tag(nil, []byte("12345678"), written)
					tag[n%len(tag)] ^= script[i+1]
					if got := u.Verify(tag, []byte("12345678")); got != (script[i+1] == 0) {
						t.Fatalf("%s, script %x, call %d: Verify reports %v", kernel, script, i/2, got)
					}
				}
			}
		})
	})
}

// FuzzUMACVerify checks that a message is verified with its tag, its nonce and nothing else,
// whatever the lengths.
func FuzzUMACVerify(f *testing.F) {
	f.Add([]byte("12345678"), []byte("message"), []byte("87654321"), []byte("12345678"), []byte("other"), byte(1))
	f.Add([]byte("1"), []byte(nil), []byte(nil), []byte(nil), []byte(nil), byte(3))
	f.Fuzz(func(t *testing.T, nonce, msg, otherTag, otherNonce, otherMsg []byte, way byte) {
		// Not UMAC-32: the fuzzer would find collisions of 32 bits.
		k, _, nonce := fuzzUMAC(t, nil, nonce, way|1)
		tag := k.Tag(nil, nonce, msg)
		if !k.Verify(tag, nonce, msg) {
			t.Error("the right tag is refused")
		}
		if !bytes.Equal(otherTag, tag) && k.Verify(otherTag, nonce, msg) {
			t.Errorf("tag %x is accepted", otherTag)
		}
		if !bytes.Equal(otherMsg, msg) && k.Verify(tag, nonce, otherMsg) {
			t.Errorf("message %x is accepted", otherMsg)
		}
		if len(otherNonce) == len(nonce) && !bytes.Equal(otherNonce, nonce) && k.Verify(tag, otherNonce, msg) {
			t.Errorf("nonce %x is accepted", otherNonce)
		}
		ok := make([]bool, 3)
		k.VerifyBatch(ok, [][]byte{otherTag, tag, tag}, [][]byte{nonce, otherNonce, nonce}, [][]byte{msg, msg, otherMsg})
		if ok[0] != k.Verify(otherTag, nonce, msg) || ok[1] != k.Verify(tag, otherNonce, msg) || ok[2] != k.Verify(tag, nonce, otherMsg) {
			t.Errorf("VerifyBatch differs from Verify: %v", ok)
		}
	})
}

// cut cuts b into messages, whose lengths are in lengths, up to 40.
func cut(b, lengths []byte) (parts [][]byte) {
	for _, n := range lengths[:min(len(lengths), 40)] {
		n := min(int(n)*4, len(b))
		parts = append(parts, b[:n])
		b = b[n:]
	}
	return parts
}

// FuzzUMACBatch compares batches with one-shots.
func FuzzUMACBatch(f *testing.F) {
	f.Add([]byte("some messages"), []byte{0, 1, 2}, uint64(255), byte(1))
	f.Add(make([]byte, 4000), []byte{255, 3, 0, 0, 16, 8, 9, 255, 255, 1}, ^uint64(0), byte(3))
	f.Fuzz(func(t *testing.T, b, lengths []byte, first uint64, way byte) {
		msgs := cut(b, lengths)
		batch := newUMACBatch(len(msgs), umacTagSizes[way%4], func(i int) []byte {
			size := 8 + int(way)/16%9
			return append(make([]byte, size-8), binary.BigEndian.AppendUint64(nil, first+uint64(i))...)
		}, func(i int) []byte { return msgs[i] })
		fastmac.EachKernel(func(string) {
			k, _, _ := fuzzUMAC(t, nil, nil, way)
			batch.check(t, k)
		})
	})
}

// FuzzHMACSHA512 compares one-shots, streams and clones with crypto/hmac.
func FuzzHMACSHA512(f *testing.F) {
	f.Add([]byte("key"), []byte("message"), []byte{1, 2})
	f.Add(make([]byte, 200), make([]byte, 500), []byte{32, 0, 1})
	f.Fuzz(func(t *testing.T, key, msg, lengths []byte) {
		std := hmac.New(sha512.New, key)
		std.Write(msg)
		want := std.Sum(nil)
		k := fastmac.NewHMACSHA512Key(key)
		if got := k.Tag(nil, msg); !bytes.Equal(got, want) || !k.Verify(want, msg) {
			t.Errorf("Tag: %x, want %x", got, want)
		}
		h := k.New()
		left := msg
		for _, part := range cut(msg, lengths) {
			h.Write(part)
			left = left[len(part):]
			c, err := h.Clone()
			if mactest.CannotClone(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Write(left)
			if got := c.Sum(nil); !bytes.Equal(got, want) {
				t.Errorf("clone after %d bytes: %x, want %x", len(msg)-len(left), got, want)
			}
		}
		h.Write(left)
		if got := h.Sum(nil); !bytes.Equal(got, want) || !h.Verify(want) {
			t.Errorf("stream: %x, want %x", got, want)
		}
	})
}

// FuzzHMACSHA512Batch compares batches, under one key and under many, with one-shots.
func FuzzHMACSHA512Batch(f *testing.F) {
	f.Add([]byte("key"), []byte("some messages"), []byte{0, 1, 2})
	f.Add(make([]byte, 200), make([]byte, 4000), []byte{255, 3, 0, 0, 16, 8, 9, 255, 255, 1})
	f.Fuzz(func(t *testing.T, key, b, lengths []byte) {
		msgs := cut(b, lengths)
		tags := make([][fastmac.HMACSHA512Size]byte, len(msgs))
		k := fastmac.NewHMACSHA512Key(key)
		k.TagBatch(tags, msgs)
		for i, msg := range msgs {
			if want := k.Tag(nil, msg); !bytes.Equal(tags[i][:], want) {
				t.Errorf("message %d of %d: %x, want %x", i, len(msgs), tags[i], want)
			}
		}
		keys := slices.Clone(msgs)
		slices.Reverse(keys)
		fastmac.SumHMACSHA512Batch(tags, keys, msgs)
		for i, msg := range msgs {
			if want := fastmac.SumHMACSHA512(keys[i], msg); tags[i] != want {
				t.Errorf("message %d of %d under its key: %x, want %x", i, len(msgs), tags[i], want)
			}
		}
	})
}

// FuzzReplayWindow compares with a set of all numbers that were accepted.
func FuzzReplayWindow(f *testing.F) {
	f.Add(uint16(64), uint64(0), []byte{1, 2, 2, 1, 255})
	f.Add(uint16(1024), ^uint64(0)-10, []byte{0, 200, 128, 4})
	f.Fuzz(func(t *testing.T, size uint16, number uint64, steps []byte) {
		w, err := fastmac.NewReplayWindow(int(size))
		if err != nil {
			return
		}
		accepted := make(map[uint64]bool)
		var highest uint64
		for _, step := range steps {
			number += uint64(int64(int8(step))) * uint64(1+step%7) // wraps around
			want := !accepted[number] && (len(accepted) == 0 || number > highest || highest-number < uint64(size))
			if got := w.Accept(number); got != want {
				t.Fatalf("window of %d, steps %x: Accept(%d) after %d: %v, want %v", size, steps, number, highest, got, want)
			}
			if want {
				accepted[number] = true
				highest = max(highest, number)
			}
		}
	})
}
