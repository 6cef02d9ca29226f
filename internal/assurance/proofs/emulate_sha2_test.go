// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bytes"
	"crypto"
	"crypto/hmac"
	"crypto/pbkdf2"
	"encoding"
	"go/types"
	"slices"
	"strings"
	"testing"

	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/mactest"
)

// An emulatedHash is an emulator of the kernels of a hash.
type emulatedHash struct {
	*emulator
	crypto.Hash
	sha2
	initial []byte // chaining value
}

// A hashed is a message, of which all before p, n bytes, is in a chaining value. If outer is not nil, the
// hash is in turn hashed after it.
type hashed struct {
	state, outer []byte
	n            int
	p            []byte
}

// newHash returns an emulator of the kernels of SHA-256 or SHA-512.
func newHash(t *testing.T, of crypto.Hash) *emulatedHash {
	t.Helper()
	h := &emulatedHash{emulator: newEmulator(t), Hash: of, sha2: hashes[int64(of.Size()/8)]}
	marshaled, err := of.New().(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	h.initial = h.swapped(marshaled[4:][:of.Size()])
	return h
}

// swapped returns words with the bytes of each in the other order.
func (h *emulatedHash) swapped(words []byte) []byte {
	b := slices.Clone(words)
	for w := range slices.Chunk(b, h.bits/8) {
		slices.Reverse(w)
	}
	return b
}

// constants returns the address of the constants of the rounds.
func (h *emulatedHash) constants() uint64 { return h.datum(program.ModulePath + h.k) }

// blockSize returns the bytes of a block.
func (h *emulatedHash) blockSize() int { return 16 * h.bits / 8 }

// end returns an end of package sha2: a number of words, the next one, of what is left of a message with
// the bit that follows it, and the length in bits.
func (h *emulatedHash) end(rest []byte, bits, outer uint64) []byte {
	size := h.bits / 8
	words := max(len(rest)-1, 0) / size
	end := littleEndian(uint64(words))
	end = append(end, rest[words*size:]...)
	end = append(end, make([]byte, 8+size-len(end))...)
	end = append(end, littleEndian(bits >> (h.bits - 1) >> 1)[:size]...)
	end = append(end, littleEndian(bits)[:size]...)
	end = append(end, make([]byte, -len(end)&7)...)
	return append(end, littleEndian(outer)...)
}

// sums returns the hashes of as many messages as a kernel has side by side, as package sha2 computes
// them. All have the same number of whole blocks, and room for the length in the last one, or none.
func (h *emulatedHash) sums(kernel string, messages ...hashed) (sums [][]byte) {
	var at, src []uint64
	var states, rest [][]byte
	for k, m := range messages {
		states, rest = append(states, slices.Clone(m.state)), append(rest, append(slices.Clone(m.p), 0x80))
		at, src = append(at, h.place(states[k], h.bits/8, false)), append(src, h.in(m.p))
	}
	call := func(blocks, ends uint64) {
		h.call(kernel, slices.Concat(at, src, []uint64{blocks, h.constants(), ends})...)
	}
	if whole := len(messages[0].p) / h.blockSize(); whole > 0 {
		call(uint64(whole), 0)
		for k := range messages {
			rest[k], src[k] = rest[k][whole*h.blockSize():], src[k]+uint64(whole*h.blockSize())
		}
	}
	if len(rest[0]) > h.blockSize()*7/8 {
		var ends []byte
		for k := range messages {
			ends = append(ends, h.end(rest[k], 0, 0)...)
			rest[k] = nil
		}
		call(0, h.state(ends))
	}
	var ends []byte
	for k, m := range messages {
		outer := uint64(0)
		if m.outer != nil {
			outer = h.place(m.outer, h.bits/8, true)
		}
		ends = append(ends, h.end(rest[k], 8*uint64(m.n+len(m.p)), outer)...)
	}
	call(0, h.state(ends))
	for _, s := range states {
		sums = append(sums, h.swapped(s))
	}
	return sums
}

// compress compresses blocks of p into a copy of a chaining value.
func (h *emulatedHash) compress(kernel string, state, p []byte) []byte {
	s := slices.Clone(state)
	h.call(kernel, h.place(s, h.bits/8, false), h.in(p), uint64(len(p)/h.blockSize()), h.constants(), 0)
	return s
}

// pads returns the chaining values after the pads of a key of HMAC.
func (h *emulatedHash) pads(kernel string, key []byte) (inner, outer []byte) {
	if len(key) > h.blockSize() {
		key = h.sums(kernel, hashed{state: h.initial, p: key})[0]
	}
	pad := func(with byte) []byte {
		b := bytes.Repeat([]byte{with}, h.blockSize())
		for i := range key {
			b[i] ^= key[i]
		}
		return h.compress(kernel, h.initial, b)
	}
	return pad(0x36), pad(0x5c)
}

// TestEmulateSHA2 compares the kernels of package sha2 with the standard library, and with all vectors
// of HMAC with SHA-256 and SHA-512.
func TestEmulateSHA2(t *testing.T) {
	for hash, kernels := range map[crypto.Hash][]string{
		crypto.SHA256: {"sha2.block256SHA", "sha2.block256AVX2", "sha2.pair256SHA", "sha2.lanes256AVX512", "sha2.lanes256AVX2",
			"sha2.iterate256SHA", "sha2.iterate256AVX2", "sha2.iteratePair256SHA", "sha2.iterateLanes256AVX512"},
		crypto.SHA512: {"sha2.block512AVX2", "sha2.block512AVX512", "sha2.block512LeanAVX512", "sha2.lanes512AVX2", "sha2.lanes512AVX512",
			"sha2.iterate512AVX2", "sha2.iterate512AVX512", "sha2.iterate512LeanAVX512", "sha2.iterateLanes512AVX512"},
	} {
		h := newHash(t, hash)
		for _, kernel := range kernels {
			switch kernelName(h.find(kernel)) {
			case "block":
				h.testBlock(kernel)
			case "pair":
				h.testPair(kernel, kernels[0])
			case "iterate":
				h.testIterate(kernel, kernels[0], 1)
			case "iteratePair":
				h.testIterate(kernel, kernels[0], 2)
			case "iterateLanes":
				h.testIterateLanes(kernel, kernels[0])
			default:
				for blocks := 1; blocks < 4; blocks++ {
					h.testLanes(kernel, kernels[0], blocks)
				}
			}
		}
	}
}

func (h *emulatedHash) testBlock(kernel string) {
	for n := 0; n < 300; n += 1 + n/40 {
		h.reset()
		p, want := h.bytes(n), h.New()
		want.Write(p)
		if got := h.sums(kernel, hashed{state: h.initial, p: p})[0]; !bytes.Equal(got, want.Sum(nil)) {
			h.t.Errorf("%s: wrong hash of %d bytes", kernel, n)
		}
	}
	for _, v := range mactest.HMACVectors(h.t, h.Hash) {
		h.reset()
		inner, outer := h.pads(kernel, v.Key)
		got := h.sums(kernel, hashed{inner, outer, h.blockSize(), v.Msg})[0]
		if v.Valid != hmac.Equal(got[:len(v.Tag)], v.Tag) {
			h.t.Errorf("%s: %s: tag %x", kernel, v.Name, got)
		}
	}
}

// testPair compares a kernel for two messages with one for one.
func (h *emulatedHash) testPair(kernel, block string) {
	short := h.blockSize() * 7 / 8 // bytes that have room for a length
	for n := range h.blockSize() {
		h.reset()
		from, to := 0, short
		if n >= short {
			from, to = short, h.blockSize()
		}
		first, second := hashed{state: h.bytes(h.Size()), p: h.bytes(h.blockSize()*(n%3) + n)}, hashed{state: h.bytes(h.Size())}
		second.p = h.bytes(h.blockSize()*(n%3) + from + h.random.IntN(to-from))
		if n%2 == 0 {
			first.outer, second.outer = h.bytes(h.Size()), h.bytes(h.Size())
		}
		for k, got := range h.sums(kernel, first, second) {
			if want := h.sums(block, []hashed{first, second}[k])[0]; !bytes.Equal(got, want) {
				h.t.Errorf("%s: %d and %d bytes: hash %d is wrong", kernel, len(first.p), len(second.p), k)
			}
		}
	}
}

// An emulatedKey is a block of PBKDF2 whose first HMAC is computed, and the key after some steps more.
type emulatedKey struct{ inner, outer, u, want []byte }

// newKey returns a block of PBKDF2, with the key of the standard library.
func (h *emulatedHash) newKey(block string, steps int) (k emulatedKey) {
	password, salt := h.bytes(20), h.bytes(16)
	k.inner, k.outer = h.pads(block, password)
	first := hashed{k.inner, k.outer, h.blockSize(), append(slices.Clone(salt), 0, 0, 0, 1)}
	k.u = h.swapped(h.sums(block, first)[0])
	k.want = mactest.Must(pbkdf2.Key(h.New, string(password), salt, 1+steps, h.Size()))
	return k
}

// testIterate compares one iteration, or as many as count says, with PBKDF2 of the standard library.
func (h *emulatedHash) testIterate(kernel, block string, count int) {
	for steps := 1; steps < 6; steps++ {
		h.reset()
		var keys []emulatedKey
		var its []byte
		for range count {
			k := h.newKey(block, steps)
			keys, its = append(keys, k), slices.Concat(its, k.inner, k.outer, k.u, k.u)
		}
		h.call(kernel, h.place(its, h.bits/8, false), uint64(steps), h.constants())
		for i, it := range slices.Collect(slices.Chunk(its, 4*h.Size())) {
			if got := h.swapped(it[3*h.Size():]); !bytes.Equal(got, keys[i].want) {
				h.t.Errorf("%s, %d steps: key %d: %x, want %x", kernel, steps, i, got, keys[i].want)
			}
		}
	}
}

// testIterateLanes is testIterate for an iteration in each lane.
func (h *emulatedHash) testIterateLanes(kernel, block string) {
	for steps := 1; steps < 4; steps++ {
		h.reset()
		v := newProver(h.program, h.find(kernel), 1)
		its := make([]byte, program.Layout.Sizeof(v.parameter("its").(*types.Pointer).Elem()))
		size, lanes := h.bits/8, 512/h.bits
		at := func(field string, i, l int) []byte { return its[v.offsetOf("its", field):][64*i+size*l:][:size] }
		var keys []emulatedKey
		for l := range lanes {
			k := h.newKey(block, steps)
			keys = append(keys, k)
			for i := range 8 {
				copy(at("inner", i, l), k.inner[size*i:])
				copy(at("outer", i, l), k.outer[size*i:])
				copy(at("u", i, l), k.u[size*i:])
				copy(at("t", i, l), k.u[size*i:])
			}
		}
		h.call(kernel, h.place(its, size, false), uint64(steps), h.constants())
		for l, k := range keys {
			var sum []byte
			for i := range 8 {
				sum = append(sum, at("t", i, l)...)
			}
			if got := h.swapped(sum); !bytes.Equal(got, k.want) {
				h.t.Errorf("%s, %d steps: key %d: %x, want %x", kernel, steps, l, got, k.want)
			}
		}
	}
}

// testLanes compresses blocks into lanes, of which the even ones begin, and then makes the outer
// hashes of the odd ones, whose block the kernel makes itself.
func (h *emulatedHash) testLanes(kernel, block string, blocks int) {
	const begin, end = 0x5555, 0xaaaa
	h.reset()
	v := newProver(h.program, h.find(kernel), 1)
	size, perRow := h.bits/8, 512/h.bits
	lanes := perRow
	if strings.HasSuffix(kernel, "AVX2") {
		lanes /= 2
	}
	state := make([]byte, program.Layout.Sizeof(v.parameter("state").(*types.Pointer).Elem()))
	field := func(name string, bytes int) []byte { return state[v.offsetOf("state", name):][:bytes] }
	rows, outerRows, first, sums := field("state", 8*64), field("outer", 8*64), field("initial", 8*size), field("hashes", 8*64)
	column := func(rows []byte, l int) (value []byte) {
		for row := range slices.Chunk(rows, 64) {
			value = append(value, row[size*l:][:size]...)
		}
		return value
	}
	copy(first, h.bytes(len(first)))
	copy(rows, h.bytes(len(rows)))
	copy(outerRows, h.bytes(len(outerRows)))
	var texts []uint64
	var want [][]byte
	for l := range lanes {
		p, value := h.bytes(blocks*h.blockSize()), first
		texts = append(texts, h.in(p))
		if begin>>l&1 == 0 {
			value = column(rows, l)
		}
		want = append(want, h.compress(block, value, p))
	}
	at := h.words(state)
	check := func(what string) {
		for l, w := range want {
			if !bytes.Equal(column(rows, l), w) {
				h.t.Errorf("%s, %d blocks: %s wrong in lane %d", kernel, blocks, what, l)
			}
		}
	}
	mask := uint64(1)<<lanes - 1
	h.call(kernel, at, h.state(littleEndian(texts...)), uint64(blocks), h.constants(), begin&mask, 0)
	check("chaining value")
	for l := range lanes {
		p := h.bytes(h.blockSize())
		texts[l] = h.in(p)
		value := want[l]
		if end>>l&1 != 0 {
			padding := append([]byte{0x80}, make([]byte, 8*size-3)...)
			bits := 8 * (h.blockSize() + h.Size())
			p, value = slices.Concat(h.swapped(want[l]), padding, []byte{byte(bits >> 8), byte(bits)}), column(outerRows, l)
		}
		want[l] = h.compress(block, value, p)
	}
	h.call(kernel, at, h.state(littleEndian(texts...)), 1, h.constants(), 0, end&mask)
	check("outer chaining value")
	for l, w := range want {
		if end>>l&1 != 0 && !bytes.Equal(sums[h.Size()*l:][:h.Size()], h.swapped(w)) {
			h.t.Errorf("%s, %d blocks: outer hash of lane %d wrong", kernel, blocks, l)
		}
	}
}
