// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package proofs

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"example.com/fastmac/internal/assurance/algebra"
	"example.com/fastmac/internal/assurance/program"
	"example.com/fastmac/internal/mactest"
	"example.com/fastmac/internal/umacref"
)

// Offsets in a uhashKey.
const (
	offsetK2  = 8
	offsetLow = offsetK2 + 4*4
	offsetL1  = offsetLow + 4*4*8
	loSize    = 4 * 4 * 34
	hiSize    = 4 * 4 * 33
	offsetL2  = offsetL1 + loSize + hiSize
	keySize   = offsetL2 + 4*24 + 4*4*8
)

// A uhash is a uhashKey, with the subkeys of RFC 4418 that it has.
type uhash struct {
	*emulator
	isa        string
	n          int
	key        uint64
	l1, l2     []byte
	l3k1, l3k2 []byte
}

// uhash returns a key for tags of 4*n bytes.
func (e *emulator) uhash(isa string, key []byte, n int) *uhash {
	e.reset()
	u := &uhash{
		emulator: e, isa: isa, n: n,
		l1: umacref.KDF(key, 1, 1024+48), l2: umacref.KDF(key, 2, 24*n), l3k1: umacref.KDF(key, 3, 64*n), l3k2: umacref.KDF(key, 4, 4*n),
	}
	k := make([]byte, keySize)
	k[0] = byte(n)
	p36 := new(big.Int).SetUint64(1<<36 - 5)
	for t := range n {
		binary.LittleEndian.PutUint32(k[offsetK2+4*t:], binary.BigEndian.Uint32(u.l3k2[4*t:]))
		for j := range 4 {
			word := new(big.Int).SetBytes(u.l3k1[64*t+32+8*j:][:8])
			binary.LittleEndian.PutUint64(k[offsetLow+32*j+8*t:], word.Mod(word, p36).Uint64())
		}
		for at := 24 * t; at < 24*(t+1); at += 8 {
			binary.LittleEndian.PutUint64(k[offsetL2+at:], binary.BigEndian.Uint64(u.l2[at:])&0x01ffffff01ffffff)
		}
	}
	// Halves of groups, in turn: low and high ones.
	for i := 0; i < len(u.l1); i += 4 {
		at := offsetL1 + i%32/16*loSize + i/32*16 + i%16
		binary.LittleEndian.PutUint32(k[at:], binary.BigEndian.Uint32(u.l1[i:]))
	}
	u.key = e.state(k)
	return u
}

// call calls a kernel of this instruction set, or that of the next one for fewer bytes than it takes.
func (u *uhash) call(kernel string, arguments ...uint64) {
	u.t.Helper()
	isa := u.isa
	length := map[string]int{"nhAdd": 3, "tagOnly": 4, "tagNext": 5}[kernel] // the argument
	if least := least[kernel+isa]; least > 0 && arguments[length] < uint64(least) {
		isa = "AVX2"
	}
	u.emulator.call("fastmac."+kernel+isa, arguments...)
}

// nh is NH of p in iteration t.
func (u *uhash) nh(t int, p []byte) uint64 {
	m := make([]byte, (len(p)+31)/32*32)
	if len(m) == 0 {
		m = make([]byte, 32)
	}
	copy(m, p)
	for i := 0; i < len(m); i += 4 {
		slices.Reverse(m[i : i+4])
	}
	return binary.BigEndian.Uint64(umacref.NH(u.l1[16*t:][:1024], m))
}

// tag is the hash of a message, xor the pad, from the kernels, as uhash.go calls them.
func (u *uhash) tag(msg []byte, pad []byte) []byte {
	tag, p := make([]byte, 16), u.in(msg)
	at, empty := u.place(tag, 1, false), u.state(make([]byte, 40))
	x := []uint64{binary.LittleEndian.Uint64(pad), binary.LittleEndian.Uint64(pad[8:])}
	rest := func(from int) []uint64 {
		return append(append(slice(p+uint64(from), len(msg)-from), uint64(len(msg)-from)), x...)
	}
	switch {
	case len(msg) <= 1024:
		u.call("tagOnly", append([]uint64{at, u.key, empty}, rest(0)...)...)
	case len(msg) <= 2048:
		u.call("tagTwo", slices.Concat([]uint64{at, u.key}, slice(p, len(msg)), x)...)
	default:
		whole := len(msg) &^ 1023
		y := littleEndian(0, 1, 0, 1, 0, 1, 0, 1)
		values := u.words(y)
		u.call("nhPoly", append([]uint64{values, u.key}, slice(p, whole)...)...)
		if whole < len(msg) {
			u.call("tagNext", append([]uint64{at, u.key, values, empty}, rest(whole)...)...)
			break
		}
		words := make([]byte, 32)
		for t := range u.n {
			value := new(big.Int).SetUint64(binary.LittleEndian.Uint64(y[16*t+8:]))
			value.Mod(value, p64)
			copy(words[8*t:], littleEndian(value.Uint64()))
		}
		u.call("tagWords", append([]uint64{at, u.key, u.state(words)}, x...)...)
	}
	return tag[:4*u.n]
}

var p64, _ = new(big.Int).SetString("18446744073709551557", 10) // 2^64-59

// want is the tag from package umacref.
func (u *uhash) want(msg, pad []byte) (tag []byte) {
	for t := range u.n {
		b := umacref.L1Hash(u.l1[16*t:][:1024], msg)
		if len(msg) > 1024 {
			b = umacref.L2Hash(u.l2[24*t:][:24], b)
		} else {
			b = append(make([]byte, 8), b...)
		}
		tag = append(tag, umacref.L3Hash(u.l3k1[64*t:][:64], u.l3k2[4*t:][:4], b)...)
	}
	for i := range tag {
		tag[i] ^= pad[i]
	}
	return tag
}

// each calls f for each instruction set and number of iterations.
func (e *emulator) each(f func(u *uhash)) {
	for _, isa := range []string{"AVX2", "AVX512"} {
		for n := 1; n <= 4; n++ {
			f(e.uhash(isa, e.bytes(16), n))
		}
	}
}

// TestEmulateUMAC computes the tags of all vectors of at most 40 KiB with the kernels.
func TestEmulateUMAC(t *testing.T) {
	e := newEmulator(t)
	tags := 0
	for _, v := range mactest.UMACVectors(t) {
		if v.Size > 40<<10 {
			continue
		}
		for size, want := range v.Tags {
			pad := append(umacref.PDF(v.Key, v.Nonce, size), make([]byte, 16)...)
			for _, isa := range []string{"AVX2", "AVX512"} {
				if got := e.uhash(isa, v.Key, size/4).tag(v.Msg(), pad); !bytes.Equal(got, want) {
					t.Errorf("%s, %s: tag %x, want %x", v.Name, isa, got, want)
				}
				tags++
			}
		}
	}
	t.Logf("%d tags", tags)
}

// TestEmulateUHASH compares tags of messages of all lengths with package umacref.
func TestEmulateUHASH(t *testing.T) {
	e := newEmulator(t)
	e.each(func(u *uhash) {
		for size := 0; size < 4200; size += 1 + size/256*16 {
			msg, pad := e.bytes(size), e.bytes(16)
			if got, want := u.tag(msg, pad), u.want(msg, pad); !bytes.Equal(got, want) {
				t.Errorf("%s, %d iterations, %d bytes: tag %x, want %x", u.isa, u.n, size, got, want)
			}
		}
		for size := 32; size <= 3072; size += 32 {
			msg, pad := e.bytes(size), e.bytes(16)
			if got, want := u.tag(msg, pad), u.want(msg, pad); !bytes.Equal(got, want) {
				t.Errorf("%s, %d iterations, %d groups: tag %x, want %x", u.isa, u.n, size/32, got, want)
			}
		}
		for size := 1; size <= 256; size++ {
			msg, pad := e.bytes(2048+size), e.bytes(16)
			if got, want := u.tag(msg, pad), u.want(msg, pad); !bytes.Equal(got, want) {
				t.Errorf("%s, %d iterations, two blocks and %d bytes: tag %x, want %x", u.isa, u.n, size, got, want)
			}
		}
		u.testParts()
		u.testNext()
		u.testBlocks()
	})
	for n := 1; n <= 4; n++ {
		e.uhash("AVX512", e.bytes(16), n).testEach()
	}
}

// testParts adds parts of a block to NH, and takes the tag with nothing left, and with a rest.
func (u *uhash) testParts() {
	for range 40 {
		msg, pad := u.bytes(1+u.random.IntN(1024)), u.bytes(16)
		p, state, tag := u.in(msg), make([]byte, 40), make([]byte, 16)
		s, at := u.words(state), u.place(tag, 1, false)
		done := 0
		for range u.random.IntN(5) {
			if groups := (len(msg) - done) / 32; groups > 0 {
				size := 32 * (1 + u.random.IntN(groups))
				u.call("nhAdd", append([]uint64{s, u.key}, slice(p+uint64(done), size)...)...)
				done += size
			}
		}
		for t := range u.n {
			if sum := binary.LittleEndian.Uint64(state[8*t:]); done > 0 && sum != u.nh(t, msg[:done]) {
				u.t.Errorf("nhAdd%s, iteration %d of %d, %d bytes: wrong", u.isa, t, u.n, done)
			}
		}
		x := []uint64{uint64(len(msg)), binary.LittleEndian.Uint64(pad), binary.LittleEndian.Uint64(pad[8:])}
		// The rest of a message in parts is a whole group, padded.
		group := make([]byte, 32)
		rest := slice(p+uint64(done), len(msg)-done)
		if part := len(msg) - done; part > 0 && part < 32 {
			u.call("fill", append([]uint64{u.place(group, 1, false)}, rest...)...)
			if !bytes.Equal(group, append(slices.Clone(msg[done:]), make([]byte, 32-part)...)) {
				u.t.Errorf("fill%s of %d bytes: %x", u.isa, part, group)
			}
			rest = slice(u.in(group), 32)
		}
		u.call("tagOnly", slices.Concat([]uint64{at, u.key, s}, rest, x)...)
		// After the value 0, the hash of L2 is that of one word.
		zero, next := u.state(make([]byte, 64)), make([]byte, 16)
		u.call("tagNext", slices.Concat([]uint64{u.place(next, 1, false), u.key, zero, s}, rest, x)...)
		if !bytes.Equal(next[:4*u.n], tag[:4*u.n]) {
			u.t.Errorf("tagNext%s, %d iterations, %d of %d bytes: tag %x, want %x", u.isa, u.n, done, len(msg), next, tag)
		}
		if want := u.want(msg, pad); !bytes.Equal(tag[:4*u.n], want) {
			u.t.Errorf("tagOnly%s, %d iterations, %d of %d bytes: tag %x, want %x", u.isa, u.n, done, len(msg), tag, want)
		}
	}
}

// testNext takes tags of messages of up to two blocks of which the first one ends in nhNext.
func (u *uhash) testNext() {
	for _, test := range [][2]int{{0, 1025}, {0, 1055}, {0, 1500}, {0, 2047}, {32, 1024 + 31}, {32, 1500}, {512, 1056}, {992, 1100}, {992, 2047}, {1024, 1056}, {1024, 1087}, {1024, 2047}} {
		done, size := test[0], test[1]
		msg, pad := u.bytes(size), u.bytes(16)
		p, s, group := u.in(msg), u.words(make([]byte, 40)), make([]byte, 32)
		y := u.words(littleEndian(0, 1, 0, 1, 0, 1, 0, 1))
		if done > 0 {
			u.call("nhAdd", append([]uint64{s, u.key}, slice(p, done)...)...)
		}
		u.call("nhNext", append([]uint64{y, s, u.place(group, 1, false), u.key}, slice(p+uint64(done), size-done)...)...)
		tag := make([]byte, 16)
		x := []uint64{uint64(size - 1024), binary.LittleEndian.Uint64(pad), binary.LittleEndian.Uint64(pad[8:])}
		rest := slice(u.in(group), 32)
		if size%32 == 0 {
			rest = slice(u.in(nil), 0)
		}
		u.call("tagNext", slices.Concat([]uint64{u.place(tag, 1, false), u.key, y, s}, rest, x)...)
		if want := u.want(msg, pad); !bytes.Equal(tag[:4*u.n], want) {
			u.t.Errorf("nhNext%s, %d iterations, %d of %d bytes: tag %x, want %x", u.isa, u.n, done, size, tag, want)
		}
	}
}

// testBlocks compares the L1 words of blocks, and runs of POLY-64 that do not begin with 1.
func (u *uhash) testBlocks() {
	for _, blocks := range []int{1, 2, 3, 33, 36} {
		msg, words := u.bytes(1024*blocks), make([]byte, 32*blocks)
		y := littleEndian(0, u.random.Uint64(), 0, u.random.Uint64(), 0, 1<<64-1, 0, 0)
		before := slices.Clone(y)
		p := u.in(msg)
		u.call("nhBlocks", slices.Concat(slice(u.words(words), blocks), []uint64{u.key}, slice(p, len(msg)))...)
		u.call("nhPoly", append([]uint64{u.words(y), u.key}, slice(p, len(msg))...)...)
		for t := range u.n {
			k := new(big.Int).SetUint64(binary.BigEndian.Uint64(u.l2[24*t:]) & 0x01ffffff01ffffff)
			value := new(big.Int).SetUint64(binary.LittleEndian.Uint64(before[16*t+8:]))
			for b := range blocks {
				word := u.nh(t, msg[1024*b:][:1024]) + 8*1024
				if got := binary.LittleEndian.Uint64(words[32*b+8*t:]); got != word {
					u.t.Errorf("nhBlocks%s, iteration %d, block %d: %#x, want %#x", u.isa, t, b, got, word)
				}
				m := new(big.Int).SetUint64(word)
				if word >= 1<<64-1<<32 {
					value.Mul(value, k).Sub(value, big.NewInt(1))
					m.Sub(m, big.NewInt(59))
				}
				value.Mul(value, k).Add(value, m).Mod(value, p64)
			}
			got := new(big.Int).SetUint64(binary.LittleEndian.Uint64(y[16*t+8:]))
			if got.Mod(got, p64).Cmp(value) != 0 {
				u.t.Errorf("nhPoly%s, iteration %d, %d blocks: wrong", u.isa, t, blocks)
			}
		}
		if blocks%2 == 0 && u.n > 2 {
			u.testPoly128(msg)
		}
	}
}

// testPoly128 compares runs of POLY-128 over pairs of blocks.
func (u *uhash) testPoly128(msg []byte) {
	var before []uint64
	for range 8 {
		before = append(before, u.random.Uint64())
	}
	before[0], before[1] = 1<<64-1, 1<<64-1
	y := littleEndian(before...)
	u.call("nhPoly128", append([]uint64{u.words(y), u.key}, slice(u.in(msg), len(msg))...)...)
	wide := func(hi, lo uint64) *big.Int {
		x := new(big.Int).SetUint64(hi)
		return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(lo))
	}
	p128 := wide(1<<64-1, 1<<64-159)
	for t := range u.n {
		const mask = 0x01ffffff01ffffff
		k := wide(binary.BigEndian.Uint64(u.l2[24*t+8:])&mask, binary.BigEndian.Uint64(u.l2[24*t+16:])&mask)
		value := wide(before[2*t], before[2*t+1])
		for p := msg; len(p) > 0; p = p[2048:] {
			hi, lo := u.nh(t, p[:1024])+8*1024, u.nh(t, p[1024:2048])+8*1024
			m := wide(hi, lo)
			if hi >= 1<<64-1<<32 {
				value.Mul(value, k).Sub(value, big.NewInt(1))
				m.Sub(m, big.NewInt(159))
			}
			value.Mul(value, k).Add(value, m).Mod(value, p128)
		}
		got := wide(binary.LittleEndian.Uint64(y[16*t:]), binary.LittleEndian.Uint64(y[16*t+8:]))
		if got.Mod(got, p128).Cmp(value) != 0 {
			u.t.Errorf("nhPoly128%s, iteration %d, %d blocks: wrong", u.isa, t, len(msg)/1024)
		}
	}
}

// testEach compares tagEachAVX512.
func (u *uhash) testEach() {
	for count := range 140 {
		count = 1 + count%13
		var msgs [][]byte
		var headers []byte
		tags := u.bytes(16 * (count + 3))
		pads := slices.Clone(tags)
		for range count {
			msg := u.bytes(u.random.IntN([]int{40, 300, 1025}[u.random.IntN(3)]))
			msgs = append(msgs, msg)
			headers = append(headers, littleEndian(slices.Concat(make([]uint64, 3), slice(u.in(msg), len(msg)), make([]uint64, 4))...)...)
		}
		u.call("tagEach", slices.Concat(slice(u.words(tags), count+3), []uint64{u.key}, slice(u.state(headers), count))...)
		for i, msg := range msgs {
			if got, want := tags[16*i:][:4*u.n], u.want(msg, pads[16*i:]); !bytes.Equal(got, want) {
				u.t.Errorf("tagEach, %d iterations, message of %d bytes: tag %x, want %x", u.n, len(msg), got, want)
			}
		}
	}
}

// TestEmulateKDF compares the L1 key and the pads with package umacref.
func TestEmulateKDF(t *testing.T) {
	e := newEmulator(t)
	for _, size := range []int{16, 24, 32} {
		for _, isa := range []string{"AESNI", "VAES256", "VAES"} {
			e.reset()
			key := e.bytes(size)
			schedule, rounds := e.schedule(key)
			l1, want := make([]byte, loSize+hiSize), make([]byte, loSize+hiSize)
			for i, bytes := 0, umacref.KDF(key, 1, 1024+48); i < len(bytes); i += 4 {
				at := i%32/16*loSize + i/32*16 + i%16
				binary.LittleEndian.PutUint32(want[at:], binary.BigEndian.Uint32(bytes[i:]))
			}
			e.call("fastmac.deriveL1"+isa, e.place(l1, 4, false), e.place(schedule, 4, true), rounds)
			if !bytes.Equal(l1, want) {
				t.Errorf("deriveL1%s: wrong", isa)
			}
		}
		for _, tagSize := range []int{4, 8, 12, 16} {
			for count := 1; count <= 8; count++ {
				e.testPads("padEachVAES", size, tagSize, count)
				e.testPads("padEachVAES256", size, tagSize, count)
			}
		}
	}
}

// testPads compares a kernel of padEach for a number of nonces.
func (e *emulator) testPads(kernel string, keySize, tagSize, count int) {
	e.reset()
	key := e.bytes(keySize)
	schedule, rounds := e.schedule(umacref.KDF(key, 0, keySize))
	parts := map[int][2]byte{4: {2, 0}, 8: {1, 4}, 12: {0, 6}, 16: {0, 6}}[tagSize]
	k := slices.Concat([]byte{3, 0, 0, 0, byte(rounds), byte(tagSize), parts[0], parts[1]}, schedule, littleEndian(0))
	var headers []byte
	var nonces [][]byte
	for range count {
		nonce := e.bytes(1 + e.random.IntN(16))
		nonces = append(nonces, nonce)
		headers = append(headers, littleEndian(append(slice(e.in(nonce), len(nonce)), make([]uint64, 7)...)...)...)
	}
	// The variable that the function init of package fastmac makes.
	parts8 := make([]byte, 8*16)
	for i := range parts8 {
		size, part := 4, i/16
		if part >= 6 {
			size, part = 16, 0
		} else if part >= 4 {
			size, part = 8, part-4
		}
		parts8[i] = 0xff
		if i%16 < size {
			parts8[i] = byte(size*part + i%16)
		}
	}
	e.memory.Memory = slices.Insert(e.memory.Memory, 0, algebra.Region{Base: e.datum(program.ModulePath + ".partBytes"), Bytes: parts8, ReadOnly: true})
	tags := make([]byte, 8*16)
	e.call("fastmac."+kernel, slices.Concat([]uint64{e.words(tags), e.state(k)}, slice(e.state(headers), count))...)
	for i, nonce := range nonces {
		if got, want := tags[16*i:][:tagSize], umacref.PDF(key, nonce, tagSize); !bytes.Equal(got, want) {
			e.t.Errorf("%s, tag of %d bytes, nonce %x: %x, want %x", kernel, tagSize, nonce, got, want)
		}
	}
}

// TestEmulatePrefetch has keys that are nowhere: nothing of them is read.
func TestEmulatePrefetch(t *testing.T) {
	e := newEmulator(t)
	for lines := 1; lines < 30; lines++ {
		e.reset()
		keys, offsets := e.state(e.bytes(4*8)), e.state(e.bytes(8*lines))
		e.call("prefetch.lines", append([]uint64{keys}, slice(offsets, lines)...)...)
	}
}
