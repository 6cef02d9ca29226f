// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package conformance

import (
	"bytes"
	"encoding/binary"
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
	return mactest.Must(fastmac.NewUMACKey(key, mactest.UMACTagSizes[way%4])), key, nonce
}

// FuzzUMACReference compares every kernel with umacref.
func FuzzUMACReference(f *testing.F) {
	mactest.Seeds(f)
	f.Add(make([]byte, 16), []byte("12345678"), []byte("\x00\x1f\x00message"), byte(1))
	f.Add([]byte("key"), []byte(nil), []byte("\x04\x00\x00\xff"), byte(7))
	f.Add(make([]byte, 32), []byte("1"), []byte("\x04\x01\x01"), byte(11))
	f.Add([]byte("key"), []byte("16 bytes, nonce."), []byte("\x08\x01\x00\x00\xff"), byte(2))
	f.Add([]byte("key"), []byte("nonce"), []byte("\x10\x41\x01seed"), byte(4))
	f.Fuzz(func(t *testing.T, key, nonce, code []byte, way byte) {
		msg := mactest.Message(code, 5000)
		_, key, nonce = fuzzUMAC(t, key, nonce, way)
		size := mactest.UMACTagSizes[way%4]
		want := umacref.UMAC(key, msg, nonce, size)
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			if got := mactest.Must(fastmac.NewUMACKey(key, size)).Tag(nil, nonce, msg); !bytes.Equal(got, want) {
				t.Errorf("%s, %d bytes: Tag: %x, want %x", kernels, len(msg), got, want)
			}
		})
	})
}

// FuzzUMACKernels compares the kernels on messages of up to 64 blocks, which are a pattern or
// random except for a few bytes, in one call and in parts.
func FuzzUMACKernels(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("key"), []byte("\xff\xff\x00\xff"), []byte("changes"), []byte{255, 33}, byte(3))
	f.Add([]byte(nil), []byte("\x10\x00\x01"), []byte(nil), []byte{1}, byte(1))
	f.Add([]byte(nil), []byte("\x04\x00\x00\x00"), []byte("\x04\x00\x01"), []byte{31, 159, 224}, byte(6))
	f.Add([]byte(nil), []byte("\x01\x07\x01"), []byte(nil), []byte{100}, byte(0))
	f.Add([]byte(nil), []byte("\x04\x00\x01"), []byte(nil), []byte(nil), byte(2))
	f.Fuzz(func(t *testing.T, key, code, changes, splits []byte, way byte) {
		msg := mactest.Message(code, 1<<16-1)
		for s := mactest.Script(changes); len(s) > 0 && len(msg) > 0; {
			at := int(s.Byte())<<8 | int(s.Byte())
			msg[at%len(msg)] = s.Byte()
		}
		var want []byte
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			k, _, nonce := fuzzUMAC(t, key, []byte("12345678"), way)
			got := k.Tag(nil, nonce, msg)
			if want == nil {
				want = got
			}
			u, left := k.New(), msg
			for s := mactest.Script(splits); len(s) > 0; {
				n := min(s.Size(), len(left))
				u.Write(left[:n])
				left = left[n:]
			}
			u.Write(left)
			if stream := u.Tag(nil, nonce); !bytes.Equal(got, want) || !bytes.Equal(stream, want) {
				t.Errorf("%s, %d bytes: Tag %x, stream split by %v %x, want %x", kernels, len(msg), got, splits, stream, want)
			}
		})
	})
}

// FuzzUMACStream makes the calls that script asks for, and compares each tag with that of a
// one-shot.
func FuzzUMACStream(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("script"), []byte("\x00\xff\x00message"), byte(1))
	f.Add([]byte{0, 255, 0x73, 1, 0, 40, 0x73, 1, 0x73, 1, 4, 9, 0x73, 2, 0, 1, 0xf7, 3, 9}, []byte("\x20\x00\x01"), byte(3))
	f.Add([]byte{0, 191, 1, 31, 0x76, 0, 0, 33, 0xf3, 1, 5, 2, 224, 0x73, 255, 0x36, 4}, []byte("\x20\x00\x00\xff"), byte(0))
	f.Add(bytes.Repeat([]byte{0xf3, 1}, 12), []byte(nil), byte(3))          // pads ahead, and another prefix
	f.Add([]byte{0x73, 1, 0x73, 1, 0x73, 1, 0x83, 1}, []byte(nil), byte(3)) // and another size
	f.Fuzz(func(t *testing.T, script, code []byte, way byte) {
		msg := mactest.Message(code, 1<<14)
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			k, _, _ := fuzzUMAC(t, nil, nil, way)
			u := k.New()
			end := 0 // msg[:end] has been written
			counter := uint64(way)
			check := func(call int, what string, got []byte, nonce []byte, end int) {
				if want := k.Tag(nil, nonce, msg[:end]); !bytes.Equal(got, want) {
					t.Fatalf("%s, script %x, call %d: %s with nonce %x: tag %x of %d bytes, want %x", kernels, script, call, what, nonce, got, end, want)
				}
			}
			s := mactest.Script(script)
			for call := 0; call < 60 && len(s) > 0; call++ {
				op := s.Byte()
				nonce := make([]byte, 16)
				binary.BigEndian.PutUint64(nonce, counter>>3)
				binary.BigEndian.PutUint64(nonce[8:], counter)
				nonce = nonce[15-op>>4:]
				switch op % 8 {
				case 0, 1, 2:
					n := min(s.Size(), len(msg)-end)
					u.Write(msg[end:][:n])
					end += n
				case 3:
					check(call, "Tag", u.Tag(nil, nonce), nonce, end)
					counter += uint64(int8(s.Byte()))
				case 4:
					old := u
					u = cloneUMAC(t, u)
					old.Write(msg[:min(s.Size(), len(msg))])
				case 5:
					u.Reset()
					end = 0
				case 6:
					tag, flip := k.Tag(nil, nonce, msg[:end]), s.Byte()
					tag[int(flip)%len(tag)] ^= flip
					if got := u.Verify(tag, nonce); got != (flip == 0) {
						t.Fatalf("%s, script %x, call %d: Verify reports %v", kernels, script, call, got)
					}
				case 7:
					h := u.Bind(nonce)
					n := min(s.Size(), len(msg)-end)
					h.Write(msg[end:][:n])
					check(call, "Bind", h.Sum(nil), nonce, end+n)
				}
			}
		})
	})
}

// FuzzUMACVerify checks that a message is verified with its tag, its nonce and nothing else,
// whatever the lengths, by all methods that verify.
func FuzzUMACVerify(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("12345678"), []byte("\x00\x07\x00message"), []byte("87654321"), []byte{2, 0, 3}, byte(1))
	f.Add([]byte("1"), []byte(nil), []byte(nil), []byte{3, 0, 0, 3, 0, 0, 3, 0, 0, 1}, byte(3))
	f.Add([]byte("16 bytes, nonce."), []byte("\x08\x01\x01"), []byte(nil), []byte{2, 0, 8, 2, 0, 8, 128, 8, 0, 128, 0, 9, 31}, byte(7))
	f.Fuzz(func(t *testing.T, nonce, code, other, script []byte, way byte) {
		// Not UMAC-32: the fuzzer would find collisions of 32 bits.
		k, _, nonce := fuzzUMAC(t, nil, nonce, way|1)
		msg, s := mactest.Message(code, 5000), mactest.Script(script)
		tag := k.Tag(nil, nonce, msg)
		check := func(what string, want bool, otherTag, otherNonce, otherMsg []byte) {
			u := k.New()
			u.Write(otherMsg)
			ok := make([]bool, 3)
			mactest.VerifyBatch(k.VerifyBatch, ok, [][]byte{tag, otherTag, tag}, [][]byte{nonce, otherNonce, nonce}, [][]byte{msg, otherMsg, msg})
			if one, stream := k.Verify(otherTag, otherNonce, otherMsg), u.Verify(otherTag, otherNonce); one != want || stream != want || !ok[0] || ok[1] != want || !ok[2] {
				t.Errorf("%s: tag %x (%x), nonce %x (%x), message %x (%x): Verify %v, of a stream %v, VerifyBatch %v, want %v",
					what, otherTag, tag, otherNonce, nonce, otherMsg, msg, one, stream, ok, want)
			}
		}
		check("all right", true, tag, nonce, msg)
		for _, wrong := range [][]byte{s.Damage(tag), other} {
			check("tag", bytes.Equal(wrong, tag), wrong, nonce, msg)
		}
		for _, wrong := range [][]byte{s.Damage(msg), other} {
			check("message", bytes.Equal(wrong, msg), tag, nonce, wrong)
		}
		for _, wrong := range [][]byte{s.Damage(nonce), other} {
			// Nonces that differ in the zeros at their end may have the same pad.
			if same := bytes.Equal(bytes.TrimRight(wrong, "\x00"), bytes.TrimRight(nonce, "\x00")); !same || len(wrong) == len(nonce) || len(wrong) == 0 || len(wrong) > 16 {
				check("nonce", bytes.Equal(wrong, nonce), tag, wrong, msg)
			}
		}
		checkSigned(t, k, msg, s)
	})
}

// checkSigned signs a message, in one call or in parts, and verifies it with and without damage.
func checkSigned(t *testing.T, k *fastmac.UMACKey, msg []byte, s mactest.Script) {
	t.Helper()
	u, whole := k.New(), s.Byte()%2 == 0
	for left := msg; len(left) > 0; {
		n := len(left)
		if len(s) > 0 {
			n = min(n, s.Size())
		}
		u.Write(left[:n])
		left = left[n:]
	}
	sig := u.Sign(nil)
	if whole {
		sig = k.Sign(nil, msg)
	}
	check := func(want bool, sig []byte) {
		if one, stream := k.VerifySigned(sig, msg), u.VerifySigned(sig); one != want || stream != want {
			t.Errorf("message %x: %x: VerifySigned %v, of a stream %v, want %v", msg, sig, one, stream, want)
		}
	}
	check(true, sig)
	damaged := s.Damage(sig)
	check(bytes.Equal(damaged, sig), damaged)
}

// pieces returns parts of a message, which may overlap: up to 40, for each of which the
// script has a byte for its size and one for where it begins.
func pieces(code, script []byte) (parts [][]byte) {
	msg := mactest.Message(code, 1<<13)
	for s := mactest.Script(script); len(s) > 0 && len(parts) < 40; {
		n := min(s.Size(), len(msg))
		at := s.Size() % (len(msg) - n + 1)
		parts = append(parts, msg[at:][:n:n])
	}
	return parts
}

// FuzzUMACBatch compares batches with one-shots, and then damages tags.
func FuzzUMACBatch(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x40\x00some messages"), []byte{0, 1, 2}, []byte{1}, uint64(255), byte(0x71))
	f.Add([]byte("\x20\x00\x01"), []byte{255, 3, 0, 0, 16, 8, 9, 255, 255, 1, 192, 7, 192, 8, 193, 9, 63, 64, 65, 66}, []byte{0, 0, 4, 0, 8}, ^uint64(0), byte(0xf3))
	f.Add([]byte("\x08\x00\x00\xff"), bytes.Repeat([]byte{31, 0, 32, 1}, 9), []byte{0, 255}, uint64(1), byte(0))
	f.Fuzz(func(t *testing.T, code, script, flips []byte, first uint64, way byte) {
		msgs := pieces(code, script)
		batch := mactest.NewUMACBatch(len(msgs), mactest.UMACTagSizes[way%4], func(i int) []byte {
			nonce := binary.BigEndian.AppendUint64(nil, first)
			return binary.BigEndian.AppendUint64(nonce, first+uint64(i))[15-way>>4:]
		}, func(i int) []byte { return msgs[i] })
		mactest.EachKernel(t, mactest.UMAC, func(kernels string) {
			k, _, _ := fuzzUMAC(t, nil, nil, way)
			mactest.CheckBatch(t, batch, k)
			want, ok := make([]bool, len(msgs)), make([]bool, len(msgs))
			s, all := mactest.Script(flips), true
			for i, tag := range batch.Tags {
				flip := s.Byte()
				tag[int(flip)%len(tag)] ^= flip
				want[i], all = flip == 0, all && flip == 0
			}
			if got := mactest.VerifyBatch(k.VerifyBatch, ok, batch.Tags, batch.Nonces, msgs); got != all || !slices.Equal(ok, want) {
				t.Errorf("%s, %d messages: VerifyBatch: %v, %v, want %v", kernels, len(msgs), got, ok, want)
			}
		})
	})
}

// FuzzHMAC compares one-shots, streams and clones with crypto/hmac.
func FuzzHMAC(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("\x00\x03\x00key"), []byte("\x00\x07\x00message"), []byte{1, 2}, []byte{2}, byte(0))
	f.Add([]byte("\x00\xc8\x00"), []byte("\x02\x00\x01"), []byte{95, 0, 1}, []byte{1, 0, 63}, byte(3))
	f.Add([]byte("\x00\x80\x01"), []byte("\x01\x70\x00\xff"), []byte{96, 159, 3}, []byte{3}, byte(5))
	f.Add([]byte("\x00\x40\x01"), []byte("\x00\xb8\x00\xff"), []byte{64, 63}, []byte{1, 0, 31}, byte(1))
	f.Fuzz(func(t *testing.T, key, code, splits, damage []byte, hash byte) {
		h, key, msg := mactest.SHA2[int(hash)%len(mactest.SHA2)], mactest.Message(key, 300), mactest.Message(code, 3000)
		want := stdHMAC(h, key, msg)
		d := mactest.Script(damage)
		wrong := d.Damage(want)
		mactest.EachKernel(t, mactest.HMAC, func(kernels string) {
			k := mactest.Must(fastmac.NewHMACKey(h, key))
			if got := k.Tag(nil, msg); !bytes.Equal(got, want) || !k.Verify(want, msg) {
				t.Errorf("%s, %v: Tag: %x, want %x", kernels, h, got, want)
			}
			if got := fastmac.SumHMAC(h, nil, key, msg); !bytes.Equal(got, want) {
				t.Errorf("%s, %v: SumHMAC: %x, want %x", kernels, h, got, want)
			}
			m, left := k.New(), msg
			for s := mactest.Script(splits); len(s) > 0 && len(left) > 0; {
				n := min(s.Size(), len(left))
				m.Write(left[:n])
				left = left[n:]
				c, err := m.Clone()
				if mactest.CannotClone(err) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				c.Write(left)
				if got := c.Sum(nil); !bytes.Equal(got, want) {
					t.Errorf("%s, %v: clone after %d bytes: %x, want %x", kernels, h, len(msg)-len(left), got, want)
				}
			}
			m.Write(left)
			if got := m.Sum(nil); !bytes.Equal(got, want) || !m.Verify(want) {
				t.Errorf("%s, %v: stream: %x, want %x", kernels, h, got, want)
			}
			right := bytes.Equal(wrong, want)
			if k.Verify(wrong, msg) != right || m.Verify(wrong) != right {
				t.Errorf("%s, %v: tag %x: Verify does not report %v", kernels, h, wrong, right)
			}
		})
	})
}

// FuzzHMACBatch compares batches, under one key and under many, with crypto/hmac, and then
// damages tags.
func FuzzHMACBatch(f *testing.F) {
	mactest.Seeds(f)
	f.Add([]byte("key"), []byte("\x00\x40\x00some messages"), []byte{0, 1, 2}, []byte{1}, byte(1))
	f.Add(make([]byte, 200), []byte("\x20\x00\x01"), []byte{255, 3, 0, 0, 16, 8, 9, 255, 255, 1, 96, 1, 97, 3}, []byte{0, 0, 64}, byte(3))
	f.Add([]byte(nil), []byte("\x02\x00\x01"), bytes.Repeat([]byte{95, 2, 111, 0}, 9), []byte{0, 255}, byte(2))
	f.Add([]byte(nil), []byte("\x02\x00\x01"), bytes.Repeat([]byte{55, 2, 56, 0, 64, 1}, 6), []byte{0, 255}, byte(0))
	f.Fuzz(func(t *testing.T, key, code, script, flips []byte, hash byte) {
		h, msgs := mactest.SHA2[int(hash)%len(mactest.SHA2)], pieces(code, script)
		keys := slices.Clone(msgs)
		slices.Reverse(keys)
		var one, many [][]byte // the tags under one key and under many
		batch := make([]fastmac.Message, len(msgs))
		for i, msg := range msgs {
			one, many = append(one, stdHMAC(h, key, msg)), append(many, stdHMAC(h, keys[i], msg))
			batch[i] = fastmac.Message{Data: msg, Tag: make([]byte, h.Size())}
		}
		mactest.EachKernel(t, mactest.HMAC, func(kernels string) {
			check := func(what string, want [][]byte) {
				for i := range batch {
					if !bytes.Equal(batch[i].Tag, want[i]) {
						t.Errorf("%s, %v, %s: message %d of %d: %x, want %x", kernels, h, what, i, len(batch), batch[i].Tag, want[i])
					}
					clear(batch[i].Tag)
				}
			}
			k := mactest.Must(fastmac.NewHMACKey(h, key))
			expanded := make([]*fastmac.HMACKey, len(keys))
			for i := range keys {
				expanded[i] = mactest.Must(fastmac.NewHMACKey(h, keys[i]))
			}
			fastmac.SumHMACBatch(h, keys, batch)
			check("keys that are not expanded", many)
			fastmac.TagBatch(expanded, batch)
			check("many keys", many)
			k.TagBatch(batch)
			check("one key", one)

			verify := func(what string, right [][]byte, call func([]fastmac.Message) bool) {
				s, want := mactest.Script(flips), true
				for i := range batch {
					flip := s.Byte()
					copy(batch[i].Tag, right[i])
					batch[i].Tag[int(flip)%h.Size()] ^= flip
					want = want && flip == 0
				}
				all := call(batch)
				for i := range batch {
					if ok := bytes.Equal(batch[i].Tag, right[i]); all != want || batch[i].OK != ok {
						t.Errorf("%s, %v, VerifyBatch, %s: %v, message %d of %d %v, want %v and %v", kernels, h, what, all, i, len(batch), batch[i].OK, want, ok)
					}
				}
			}
			verify("one key", one, k.VerifyBatch)
			verify("many keys", many, func(batch []fastmac.Message) bool { return fastmac.VerifyBatch(expanded, batch) })
		})
	})
}
