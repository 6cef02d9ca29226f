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

// newCipher returns the AEAD of crypto/cipher.
func newCipher(t testing.TB, key []byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}

// flavour is a way to call Seal and Open.
type flavour struct {
	name    string
	prefix  int // bytes in dst
	room    int // more bytes in dst's storage than needed; negative if it is too small
	inPlace bool
}

var flavours = []flavour{
	{"dst nil", 0, -1000, false},
	{"room", 0, 0, false},
	{"more room", 0, 40, false},
	{"prefix, no room", 7, -1000, false},
	{"prefix, too little room", 7, -1, false},
	{"prefix, more room", 29, 23, false},
	{"in place", 0, 0, true},
	{"in place, more room", 0, 33, true},
	{"in place, after a prefix", 13, 50, true},
}

// call calls seal with dst and in as the flavour says. seal appends size bytes. call
// returns these. It fails the test if they are at the wrong place, or if bytes around them,
// or in, changed. If seal returns false, it must have returned nil, and the room for the
// size bytes must be zero.
func (f flavour) call(t *testing.T, size int, in []byte, seal func(dst, in []byte) ([]byte, bool)) ([]byte, bool) {
	t.Helper()
	room := max(0, size+f.room)
	storage := make([]byte, f.prefix+max(room, len(in))+64)
	for i := range storage {
		storage[i] = byte(i + 101)
	}
	dst := storage[: f.prefix : f.prefix+room]
	if f.name == "dst nil" {
		dst = nil
	}
	arg, want := bytes.Clone(in), bytes.Clone(storage)
	if f.inPlace {
		arg = storage[f.prefix:][:len(in):len(in)]
		copy(arg, in)
		copy(want[f.prefix:], in)
	}
	got, ok := seal(dst, arg)
	if !ok {
		if got != nil {
			t.Fatalf("%s: result %x and an error", f.name, got)
		}
		if room >= size {
			clear(want[f.prefix:][:size])
		}
		if !bytes.Equal(storage, want) {
			t.Fatalf("%s: after an error the storage is %x, want %x", f.name, storage, want)
		}
		return nil, false
	}
	if len(got) != f.prefix+size || !bytes.Equal(got[:f.prefix], want[:f.prefix]) {
		t.Fatalf("%s: result %x, want %d bytes after %x", f.name, got, size, want[:f.prefix])
	}
	if len(got) > 0 && cap(dst) > 0 && room >= size != (&got[0] == &storage[0]) {
		t.Fatalf("%s: room for %d bytes: result in dst's storage: %v", f.name, room, &got[0] == &storage[0])
	}
	if room >= size {
		copy(want[f.prefix:], got[f.prefix:])
	}
	if !bytes.Equal(storage, want) {
		t.Fatalf("%s: the storage is %x, want %x", f.name, storage, want)
	}
	if !f.inPlace && !bytes.Equal(arg, in) {
		t.Fatalf("%s: the input became %x, want %x", f.name, arg, in)
	}
	return got[f.prefix:], true
}

// check seals and opens in one flavour.
func (f flavour) check(t *testing.T, k *aesgcm.Key, nonce, plaintext, data, sealed []byte) {
	t.Helper()
	got, _ := f.call(t, len(sealed), plaintext, func(dst, in []byte) ([]byte, bool) {
		return k.Seal(dst, nonce, in, data), true
	})
	if !bytes.Equal(got, sealed) {
		t.Fatalf("%s: nonce %x, plaintext of %d bytes, additional data of %d: Seal: %x, want %x", f.name, nonce, len(plaintext), len(data), got, sealed)
	}
	got, ok := f.open(t, k, nonce, sealed, data)
	if !ok || !bytes.Equal(got, plaintext) {
		t.Fatalf("%s: nonce %x, plaintext of %d bytes, additional data of %d: Open: %x, %v, want %x", f.name, nonce, len(plaintext), len(data), got, ok, plaintext)
	}
}

// open opens in one flavour, and reports whether Open returned no error.
func (f flavour) open(t *testing.T, k *aesgcm.Key, nonce, sealed, data []byte) ([]byte, bool) {
	t.Helper()
	return f.call(t, max(0, len(sealed)-aesgcm.Overhead), sealed, func(dst, in []byte) ([]byte, bool) {
		got, err := k.Open(dst, nonce, in, data)
		if err != nil && err.Error() != "aesgcm: message authentication failed" {
			t.Fatalf("Open: error %v", err)
		}
		return got, err == nil
	})
}

func TestVectors(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testVectors) }

func testVectors(t *testing.T) {
	var nonces, valid, invalid int
	used := mactest.Must(aesgcm.NewKey(make([]byte, 32)))
	for _, v := range mactest.GCMVectors(t) {
		k, err := aesgcm.NewKey(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		sealed := append(bytes.Clone(v.Ciphertext), v.Tag...)
		if len(v.Nonce) != aesgcm.NonceSize {
			want := fmt.Sprintf("nonce of %d bytes: want 12", len(v.Nonce))
			mactest.MustPanic(t, v.Name+": Seal", want, func() { k.Seal(nil, v.Nonce, v.Plaintext, v.Data) })
			mactest.MustPanic(t, v.Name+": Open", want, func() { k.Open(nil, v.Nonce, sealed, v.Data) })
			nonces++
			continue
		}
		for _, f := range flavours {
			if v.Valid {
				f.check(t, k, v.Nonce, v.Plaintext, v.Data, sealed)
			} else if got, ok := f.open(t, k, v.Nonce, sealed, v.Data); ok {
				t.Errorf("%s: %s: opened: %x", v.Name, f.name, got)
			}
		}
		if got, err := k.NewSealer().Open(nil, nil, append(bytes.Clone(v.Nonce), sealed...), v.Data); (err == nil) != v.Valid || v.Valid && !bytes.Equal(got, v.Plaintext) {
			t.Errorf("%s: Open of a Sealer: %x, %v", v.Name, got, err)
		}
		if err := used.Init(v.Key); err != nil {
			t.Fatal(err)
		}
		if got, ok := flavours[0].open(t, used, v.Nonce, sealed, v.Data); ok != v.Valid || v.Valid && !bytes.Equal(got, v.Plaintext) {
			t.Errorf("%s: Open after Init of a used key: %x, %v", v.Name, got, ok)
		}
		if v.Valid {
			s := used.NewSealer().Seal(nil, nil, v.Plaintext, v.Data)
			if want := newCipher(t, v.Key).Seal(nil, s[:aesgcm.NonceSize], v.Plaintext, v.Data); !bytes.Equal(s[aesgcm.NonceSize:], want) {
				t.Errorf("%s: a Sealer's result is %x, crypto/cipher's %x", v.Name, s, want)
			}
			valid++
		} else {
			invalid++
		}
	}
	// Of CAVP and Wycheproof.
	if nonces != 326 || valid != 720 || invalid != 434 {
		t.Errorf("%d nonces refused by their size, %d vectors opened, %d not", nonces, valid, invalid)
	}
	t.Logf("%d vectors sealed and opened, %d refused, %d places of the result each; a Sealer, and Init of a used key; %d nonces refused by their size",
		valid, invalid, len(flavours), nonces)
}

// TestCipher compares with crypto/cipher: plaintexts of 0 to 1200 bytes with additional
// data of 0 to 300 bytes, and random longer ones. The long run has all pairs. Otherwise
// each length of one is paired with some of the other.
//
// The 32-bit counter of a nonce of 12 bytes begins at 1 and wraps around after 64 GiB, so
// no test here can reach that: see the tests of internal/gcm.
func TestCipher(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testCipher) }

func testCipher(t *testing.T) {
	const mostText, mostData = 1200, 300
	rng := rand.NewChaCha8([32]byte([]byte("TestCipher: a seed of 32 bytes..")))
	for _, keySize := range []int{16, 24, 32} {
		key := mactest.Random(rng, keySize)
		k, std := mactest.Must(aesgcm.NewKey(key)), newCipher(t, key)
		texts, datas := mactest.Random(rng, 1<<20+mostText), mactest.Random(rng, 1<<17)
		calls := 0
		compare := func(text, data int) {
			calls++
			plaintext, data_ := texts[calls%64:][:text:text], datas[calls%63:][:data:data]
			nonce := mactest.Random(rng, 12)
			flavours[calls%len(flavours)].check(t, k, nonce, plaintext, data_, std.Seal(nil, nonce, plaintext, data_))
		}
		step := 1
		if mactest.Race {
			step = 17
		}
		for text := 0; text <= mostText; text += step {
			if mactest.Long() {
				for data := range mostData + 1 {
					compare(text, data)
				}
				continue
			}
			for _, data := range []int{0, 13, text % (mostData + 1), text * 7 % (mostData + 1)} {
				compare(text, data)
			}
		}
		for data := 0; data <= mostData; data += step {
			for _, text := range []int{0, 1, 16, 100, 255, 256, 600} {
				compare(text, data)
			}
		}
		for range 200 / step {
			compare(int(rng.Uint64()%20_000), int(rng.Uint64()%5_000))
		}
		for range 5 {
			compare(int(rng.Uint64()%(1<<20)), int(rng.Uint64()%100_000))
		}
	}
}

// TestLong compares one call of more than 64 MiB with crypto/cipher.
func TestLong(t *testing.T) {
	if !mactest.Long() {
		t.Skip("only if FASTMAC_TEST_LONG is set")
	}
	rng := rand.NewChaCha8([32]byte([]byte("TestLong: a seed of 32 bytes....")))
	key, nonce, plaintext := mactest.Random(rng, 32), mactest.Random(rng, 12), mactest.Random(rng, 64<<20+77)
	want := newCipher(t, key).Seal(nil, nonce, plaintext, plaintext[:1<<20+5])
	mactest.ForAllKernels(t, mactest.GCM, func(t *testing.T) {
		k := mactest.Must(aesgcm.NewKey(key))
		got := k.Seal(nil, nonce, plaintext, plaintext[:1<<20+5])
		if !bytes.Equal(got, want) {
			t.Error("Seal of 64 MiB differs from crypto/cipher's")
		}
		if got, err := k.Open(got[:0], nonce, got, plaintext[:1<<20+5]); err != nil || !bytes.Equal(got, plaintext) {
			t.Error("Open of 64 MiB is wrong:", err)
		}
	})
}

// TestTamper flips every bit of the ciphertext, the tag, the nonce, the additional data and the
// key, for 64 sizes of plaintexts. Open must refuse every one, and leave zeros. Short mode has
// every ninth size.
func TestTamper(t *testing.T) { mactest.ForAllKernels(t, mactest.GCM, testTamper) }

func testTamper(t *testing.T) {
	rng := rand.NewChaCha8([32]byte([]byte("TestTamper: a seed of 32 bytes..")))
	step, changes := 1, 0
	if testing.Short() || mactest.Race {
		step = 9
	}
	for i := 0; i < len(mactest.TamperSizes); i += step {
		size, dataSize := mactest.TamperSizes[i], mactest.TamperSizes[i*7%40]
		key, nonce := mactest.Random(rng, 16+8*(i%3)), mactest.Random(rng, 12)
		plaintext, data := mactest.Random(rng, size), mactest.Random(rng, dataSize)
		k := mactest.Must(aesgcm.NewKey(key))
		sealed := k.Seal(nil, nonce, plaintext, data)
		out := make([]byte, size+1)
		ones, zeros := bytes.Repeat([]byte{1}, size+1), make([]byte, size+1)
		refused := func(k *aesgcm.Key, nonce, sealed, data []byte, what string, at int) {
			t.Helper()
			rest := out[:max(0, len(sealed)-aesgcm.Overhead)]
			copy(rest, ones)
			changes++
			if got, err := k.Open(out[:0:len(rest)], nonce, sealed, data); got != nil || err == nil {
				t.Errorf("%d bytes, additional data of %d: opened with %s %d: %v", size, dataSize, what, at, err)
			}
			if !bytes.Equal(rest, zeros[:len(rest)]) {
				t.Errorf("%d bytes, additional data of %d, %s %d: no zeros after the error", size, dataSize, what, at)
			}
		}
		for name, b := range map[string][]byte{"ciphertext or tag": sealed, "nonce": nonce, "additional data": data, "key": key} {
			for bit := range 8 * len(b) {
				b[bit/8] ^= 1 << (bit % 8)
				k := k
				if name == "key" {
					k = mactest.Must(aesgcm.NewKey(key))
				}
				refused(k, nonce, sealed, data, "a change of the "+name+", bit", bit)
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
		for n := range len(sealed) {
			refused(k, nonce, sealed[:n], data, "bytes of the ciphertext cut to", n)
		}
		refused(k, nonce, append(bytes.Clone(sealed), 0), data, "zero bytes after the tag", 1)
		refused(k, nonce, sealed, append(bytes.Clone(data), 0), "zero bytes after the additional data", 1)
		if len(sealed) > 16 {
			refused(k, nonce, sealed[1:], append(bytes.Clone(data), sealed[0]), "bytes of the ciphertext as additional data", 1)
		}
		if got, err := k.Open(nil, nonce, sealed, data); err != nil || !bytes.Equal(got, plaintext) {
			t.Error("not opened with nothing changed:", err)
		}
	}
	t.Logf("%d changes refused", changes)
}

// FuzzSeal compares with crypto/cipher, and a Sealer too.
func FuzzSeal(f *testing.F) {
	mactest.Seeds(f)
	f.Add(make([]byte, 16), make([]byte, 12), []byte("\x00\x09\x00plaintext"), []byte("\x00\x0f\x00additional data"), byte(0))
	f.Add(make([]byte, 32), make([]byte, 12), []byte("\x04\x03\x01"), []byte("\x00\x64\x00"), byte(7))
	f.Add([]byte("key"), []byte("nonce"), []byte("\x10\x0f\x00\xff"), []byte("\x02\x01\x01"), byte(14))
	f.Add([]byte("key"), []byte("nonce"), []byte("\x02\x41\x01"), []byte("\x00\xc8\x00"), byte(3))
	f.Fuzz(func(t *testing.T, key, nonce, text, code []byte, way byte) {
		key, nonce = resize(key, 16+8*int(way%3)), resize(nonce, 12)
		plaintext, data := mactest.Message(text, 1<<13), mactest.Message(code, 1<<11)
		std := newCipher(t, key)
		want := std.Seal(nil, nonce, plaintext, data)
		mactest.EachKernel(t, mactest.GCM, func(string) {
			k := mactest.Must(aesgcm.NewKey(key))
			flavours[int(way)%len(flavours)].check(t, k, nonce, plaintext, data, want)
			// Elsewhere, in place, and where the plaintext need not be moved.
			memory := make([]byte, 12+len(plaintext), 12+len(plaintext)+aesgcm.Overhead)
			text := memory[12*int(way>>1%2):][:len(plaintext)]
			copy(text, plaintext)
			sealed := k.NewSealer().Seal([][]byte{nil, memory[:0]}[way%2], nil, text, data)
			if got, err := std.Open(nil, sealed[:12], sealed[12:], data); err != nil || !bytes.Equal(got, plaintext) {
				t.Errorf("crypto/cipher's Open of what a Sealer sealed: %x, %v", got, err)
			}
			if got, err := k.NewSealer().Open(nil, nil, sealed, data); err != nil || !bytes.Equal(got, plaintext) {
				t.Errorf("Open of a Sealer: %x, %v", got, err)
			}
		})
	})
}

// FuzzOpen damages what crypto/cipher sealed, or replaces it, and compares with crypto/cipher
// what is opened and what is not.
func FuzzOpen(f *testing.F) {
	mactest.Seeds(f)
	f.Add(make([]byte, 16), make([]byte, 12), []byte("\x00\x09\x00plaintext"), []byte("\x00\x0f\x00additional data"), []byte(nil), byte(0))
	f.Add([]byte("key"), []byte("nonce"), []byte("\x04\x03\x01"), []byte(nil), []byte{1, 2, 4, 0}, byte(1))
	f.Add([]byte("key"), []byte("nonce"), []byte("\x01\x00\x01"), []byte("\x00\x14\x01"), []byte{2, 128, 0, 0}, byte(2))
	f.Add([]byte("key"), []byte("nonce"), []byte(nil), []byte(nil), []byte{1, 4, 0, 7}, byte(5))
	f.Add([]byte("key"), []byte("nonce"), []byte("neither ciphertext nor tag"), []byte(nil), []byte{4}, byte(3))
	f.Fuzz(func(t *testing.T, key, nonce, text, code, script []byte, way byte) {
		key, nonce = resize(key, 16+8*int(way%3)), resize(nonce, 12)
		plaintext, data := mactest.Message(text, 1<<13), mactest.Message(code, 1<<11)
		std := newCipher(t, key)
		sealed := std.Seal(nil, nonce, plaintext, data)
		switch s := mactest.Script(script); s.Byte() % 5 {
		case 1:
			sealed = s.Damage(sealed)
		case 2:
			data = s.Damage(data)
		case 3:
			nonce = resize(s.Damage(nonce), 12)
		case 4:
			sealed = text
		}
		want, err := std.Open(nil, nonce, sealed, data)
		mactest.EachKernel(t, mactest.GCM, func(string) {
			k := mactest.Must(aesgcm.NewKey(key))
			got, ok := flavours[int(way)%len(flavours)].open(t, k, nonce, sealed, data)
			if ok != (err == nil) || !bytes.Equal(got, want) {
				t.Errorf("Open: %x, %v; crypto/cipher's: %x, %v", got, ok, want, err)
			}
			memory := append(bytes.Clone(nonce), sealed...)
			got, openErr := k.NewSealer().Open([][]byte{nil, memory[:0], memory[12:12]}[way%3], nil, memory, data)
			if (openErr == nil) != (err == nil) || !bytes.Equal(got, want) {
				t.Errorf("Open of a Sealer: %x, %v; crypto/cipher's: %x, %v", got, openErr, want, err)
			}
		})
	})
}

// resize returns size bytes that begin as b.
func resize(b []byte, size int) []byte {
	resized := make([]byte, size)
	copy(resized, b)
	return resized
}
