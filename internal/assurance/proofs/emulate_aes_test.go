// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/mactest"
)

const (
	scheduleSize = 4 * 60
	powersSize   = 8 * 16
)

// schedule returns an AES key schedule and the number of rounds.
func (e *emulator) schedule(key []byte) ([]byte, uint64) {
	schedule := make([]byte, scheduleSize)
	e.call(fmt.Sprint("aes.expandKey", 8*len(key)), e.place(schedule, 4, false), e.in(key))
	return schedule, uint64(len(key)/4 + 6)
}

// TestEmulateAES compares the kernels of package aes with crypto/aes.
func TestEmulateAES(t *testing.T) {
	e := newEmulator(t)
	for _, size := range []int{16, 24, 32} {
		e.reset()
		key := e.bytes(size)
		block, _ := aes.NewCipher(key)
		schedule, rounds := e.schedule(key)
		at := e.place(schedule, 4, true)
		for n := 1; n < 20; n++ {
			for _, name := range []string{"aes.encryptBlocks", "aes.encryptBlocksVAES256"} {
				src, dst, want := e.bytes(16*n), make([]byte, 16*n), make([]byte, 16*n)
				for k := range n {
					block.Encrypt(want[16*k:], src[16*k:])
				}
				e.call(name, at, rounds, e.place(dst, 1, false), e.in(src), uint64(n))
				if !bytes.Equal(dst, want) {
					t.Errorf("%s, %d blocks, key of %d bytes: wrong", name, n, size)
				}
			}
		}
		chosen, text, want := e.bytes(16), e.bytes(16), make([]byte, 16)
		block.Encrypt(want, text)
		got := littleEndian(e.call("aes.encryptWords", at, rounds, binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:]), e.in(chosen))...)
		for k, c := range chosen {
			if w := want[c&15] &^ byte(int8(c)>>7); got[k] != w {
				t.Errorf("byte %d is %#x, want %#x", k, got[k], w)
			}
		}
	}
}

// gcmKey returns a gcm.Key.
func (e *emulator) gcmKey(key []byte) []byte {
	schedule, rounds := e.schedule(key)
	k := slices.Concat(make([]byte, powersSize), schedule, littleEndian(rounds)[:4])
	e.call("gcm.initKey", e.place(k, 4, false))
	return k
}

// crypt is seal or open of package gcm in one run, after hash for whole groups of data.
func (e *emulator) crypt(kernel, isa string, key, nonce, text, data []byte) (out, tag []byte) {
	k, sum, groups := e.place(key, 4, true), e.place(make([]byte, 16), 1, false), 0
	if len(text) == 0 {
		kernel = "gmac"
	} else {
		groups = len(data) &^ 127
		e.call("gcm.hash"+isa, k, sum, e.in(data[:groups]), uint64(groups))
	}
	out, tag = make([]byte, len(text)), make([]byte, 16)
	run := gcmWords(e.place(tag, 1, false), sum, slice(e.in(data[groups:]), len(data)-groups),
		slice(e.place(out, 1, false), len(text)), slice(e.in(text), len(text)), 0, 8*uint64(len(data)), 8*uint64(len(text)))
	e.call("gcm."+kernel+isa, k, e.state(run), e.in(nonce))
	return out, tag
}

// gcmWords returns a run of package gcm.
func gcmWords(tag, sum uint64, data, dst, src []uint64, blocks int, dataBits, textBits uint64) []byte {
	return littleEndian(slices.Concat([]uint64{tag, sum}, data, dst, src, []uint64{uint64(blocks), dataBits, textBits})...)
}

// TestEmulateGCM compares the kernels of package gcm with crypto/cipher, and with all vectors.
func TestEmulateGCM(t *testing.T) {
	e := newEmulator(t)
	check := func(isa string, key, nonce, plaintext, data, ciphertext, tag []byte) {
		t.Helper()
		if isa == "AVX512" && 0 < len(plaintext) && len(plaintext) < 512 {
			return
		}
		e.reset()
		k := e.gcmKey(key)
		if got, gotTag := e.crypt("seal", isa, k, nonce, plaintext, data); !bytes.Equal(got, ciphertext) || !bytes.Equal(gotTag, tag) {
			t.Errorf("seal%s, %d and %d bytes: wrong", isa, len(plaintext), len(data))
		}
		if got, gotTag := e.crypt("open", isa, k, nonce, ciphertext, data); !bytes.Equal(got, plaintext) || !bytes.Equal(gotTag, tag) {
			t.Errorf("open%s, %d and %d bytes: wrong", isa, len(plaintext), len(data))
		}
	}
	vectors := 0
	for _, v := range mactest.GCMVectors(t) {
		if v.Valid && len(v.Nonce) == 12 && len(v.Tag) == 16 {
			vectors++
			for _, isa := range []string{"AESNI", "AVX2", "AVX512"} {
				check(isa, v.Key, v.Nonce, v.Plaintext, v.Data, v.Ciphertext, v.Tag)
			}
		}
	}
	t.Logf("%d vectors", vectors)
	sizes := []int{0, 1, 15, 16, 17, 33, 63, 64, 79, 100, 127, 128, 129, 255, 256, 300, 511, 512, 513, 640, 777, 1023, 1024, 1100, 1536, 1700, 2047, 2048, 2431}
	for n, size := range sizes {
		for _, isa := range []string{"AESNI", "AVX2", "AVX512"} {
			key, nonce, plaintext := e.bytes([]int{16, 24, 32}[n%3]), e.bytes(12), e.bytes(size)
			for _, other := range []int{0, sizes[e.random.IntN(len(sizes))], 512 + 16*e.random.IntN(32), e.random.IntN(600)} {
				data := e.bytes(other)
				block, _ := aes.NewCipher(key)
				aead, _ := cipher.NewGCM(block)
				sealed := aead.Seal(nil, nonce, plaintext, data)
				check(isa, key, nonce, plaintext, data, sealed[:size], sealed[size:])
			}
		}
	}
	// Data without text, or with little, whose lanes are added together with the end.
	for n := 512; n < 800; n += 7 {
		key, nonce, plaintext, data := e.bytes(16), e.bytes(12), e.bytes(n%2*(n%130)), e.bytes(n)
		block, _ := aes.NewCipher(key)
		aead, _ := cipher.NewGCM(block)
		sealed := aead.Seal(nil, nonce, plaintext, data)
		for _, isa := range []string{"AESNI", "AVX2", "AVX512"} {
			check(isa, key, nonce, plaintext, data, sealed[:len(plaintext)], sealed[len(plaintext):])
		}
	}
	e.testRuns()
}

// testRuns absorbs data, and encrypts and decrypts in two runs, of which the first has no tag.
func (e *emulator) testRuns() {
	for n := 128; n <= 1536; n += 128 {
		for _, isa := range []string{"AESNI", "AVX2", "AVX512"} {
			e.reset()
			key, nonce, text, data := e.bytes(16), e.bytes(12), e.bytes((n+511)&^511+n/8), e.bytes(n)
			block, _ := aes.NewCipher(key)
			aead, _ := cipher.NewGCM(block)
			sealed := aead.Seal(nil, nonce, text, data)
			k := e.place(e.gcmKey(key), 4, true)
			for name, text := range map[string][]byte{"gcm.seal" + isa: text, "gcm.open" + isa: sealed[:len(text)]} {
				sum, got, tag := make([]byte, 16), make([]byte, len(text)), make([]byte, 16)
				sumAt, dst, src := e.place(sum, 1, false), e.place(got, 1, false), e.in(text)
				e.call("gcm.hash"+isa, k, sumAt, e.in(data), uint64(n))
				run := func(kernel string, tag uint64, skip, n int) {
					r := gcmWords(tag, sumAt, slice(0, 0), slice(dst+uint64(skip), n), slice(src+uint64(skip), n), skip/16, 8*uint64(len(data)), 8*uint64(len(text)))
					e.call(kernel, k, e.state(r), e.in(nonce))
				}
				first := len(text) &^ 511
				run(name, 0, 0, first)
				// The rest is too short for AVX-512.
				run(strings.ReplaceAll(name, "AVX512", "AVX2"), e.place(tag, 1, false), first, len(text)-first)
				want := sealed[:len(text)]
				if name == "gcm.open"+isa {
					want, _ = aead.Open(nil, nonce, sealed, data)
				}
				if !bytes.Equal(got, want) || !bytes.Equal(tag, sealed[len(text):]) {
					e.t.Errorf("%s: wrong in two runs, %d bytes of data", name, n)
				}
			}
		}
	}
}
