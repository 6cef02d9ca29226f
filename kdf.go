// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"sync"

	"example.com/fastmac/internal/aesni"
)

// The subkeys by their KDF indexes, RFC 4418 sections 3.3.1 and 5.
const (
	kdfPad = iota
	kdfL1
	kdfL2
	kdfL3Key1
	kdfL3Key2
	kdfIndexes
)

// kdfInputs sets p, whole blocks, to the input of KDF, RFC 4418 section 3.2, for
// blocks from number i on, the first being 1: the index and the number, of 8 bytes
// each.
func kdfInputs(p []byte, index int, i uint64) {
	for ; len(p) >= aes.BlockSize; p = p[aes.BlockSize:] {
		b := (*[aes.BlockSize]byte)(p)
		binary.BigEndian.PutUint64(b[:8], uint64(index))
		binary.BigEndian.PutUint64(b[8:], i)
		i++
	}
}

// derive is KDF for the L1 key.
func (k *l1Key) derive(kdf *aesKey) {
	if deriveL1(k, kdf) {
		return
	}
	const wide = 8 // blocks, as many as are encrypted at a time
	var b [wide * aes.BlockSize]byte
	for i := 0; i < l1Halves; i += wide {
		kdfInputs(b[:], kdfL1, uint64(i)+1)
		kdf.encrypt(b[:])
		k.set(i, b[:])
	}
	clear(b[:])
}

// subkeys holds the output of KDF for all indexes but that of L1, whole blocks of
// each, 25 at most, with room to encrypt eight at a time.
type subkeys [32 * aes.BlockSize]byte

// derive is KDF for sizes[index] bytes of each index.
func (s *subkeys) derive(kdf *aesKey, sizes [kdfIndexes]int) (subkey [kdfIndexes][]byte) {
	n := 0
	for index, size := range sizes {
		subkey[index] = s[n:][:size]
		end := n + (size+aes.BlockSize-1)/aes.BlockSize*aes.BlockSize
		kdfInputs(s[n:end], index, 1)
		n = end
	}
	const wide = 8 * aes.BlockSize
	kdf.encrypt(s[:(n+wide-1)/wide*wide])
	return subkey
}

// aesKey is an AES key for encryption.
type aesKey struct {
	schedule aesni.Schedule
	rounds   int
	std      *cipher.Block // in place of both where there are no AES instructions to use
}

// init sets up a key of 16, 24 or 32 bytes.
func (k *aesKey) init(key []byte) {
	if useAESNI {
		k.rounds = k.schedule.Expand(key)
		return
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // not with these sizes
	}
	k.std = &block
}

// aesBuffers are for crypto/aes, which is called through an interface: what is
// handed to it cannot be on the stack.
var aesBuffers = sync.Pool{New: func() any { return new([aes.BlockSize]byte) }}

// encrypt encrypts the blocks of p in place.
func (k *aesKey) encrypt(p []byte) {
	if useAESNI {
		k.schedule.Encrypt(k.rounds, p)
		return
	}
	b := aesBuffers.Get().(*[aes.BlockSize]byte)
	for ; len(p) >= aes.BlockSize; p = p[aes.BlockSize:] {
		copy(b[:], p)
		(*k.std).Encrypt(b[:], b[:])
		copy(p, b[:])
	}
	clear(b[:])
	aesBuffers.Put(b)
}

// A pad is one of 4, 8, 12 or 16 bytes, RFC 4418 section 3.3, as two little-endian
// words. What is beyond its size is to be passed over.
type pad struct{ first, second uint64 }

// part returns the pad that is part number part of an encrypted block.
func (p pad) part(part uint64, tagSize uint8) pad {
	offset := part * uint64(tagSize)
	if offset >= 8 {
		p.first = p.second
	}
	p.first >>= 8 * (offset & 4)
	return p
}

// newPad computes the pad for a nonce of 1 to 16 bytes: AES under the pad key of
// the nonce, filled up with zeros at its end. Tags of 4 and 8 bytes take a part of
// that block, which the low bits of the nonce select, so that four and two nonces
// in a row share a block.
func (k *UMACKey) newPad(nonce []byte) pad {
	// The block in two little-endian words, and never in memory: there a load
	// that spans two recent stores would have to wait for both.
	var first, second uint64
	n := len(nonce)
	if n >= 8 {
		first = binary.LittleEndian.Uint64(nonce)
		second = binary.LittleEndian.Uint64(nonce[n-8:]) >> (8 * (16 - n))
	} else {
		for i, b := range nonce {
			first |= uint64(b) << (8 * i)
		}
	}
	part := uint64(nonce[n-1]) & (1<<k.padShift() - 1)
	if n <= 8 {
		first ^= part << (8 * (n - 1))
	} else {
		second ^= part << (8 * (n - 9))
	}
	if useAESNI {
		first, second = k.pad.schedule.EncryptWords(k.pad.rounds, first, second)
	} else {
		var block [aes.BlockSize]byte
		binary.LittleEndian.PutUint64(block[:], first)
		binary.LittleEndian.PutUint64(block[8:], second)
		k.pad.encrypt(block[:])
		first, second = binary.LittleEndian.Uint64(block[:]), binary.LittleEndian.Uint64(block[8:])
		clear(block[:])
	}
	return pad{first, second}.part(part, k.tagSize)
}

// padShift is how many low bits of the nonce select a part of the block.
func (k *UMACKey) padShift() uint {
	switch k.tagSize {
	case 4:
		return 2
	case 8:
		return 1
	}
	return 0
}

// pads are the pads of a stream. Nonces usually come in order; then several blocks
// are encrypted at once, which takes little longer than one. Each is wiped when
// its last nonce has been used.
type pads struct {
	first, count int    // the blocks in store
	number       uint64 // that of the first block in store, or of the next one to come
	nonceSize    int
	prefix       [8]byte // of the nonce, before its last 8 bytes
	blocks       [8 * aes.BlockSize]byte
}

// pad is newPad for a nonce that may be in store.
func (s *pads) pad(k *UMACKey, nonce []byte) pad {
	if len(nonce) < 8 || !useAESNI {
		return k.newPad(nonce)
	}
	shift := k.padShift()
	prefix := nonce[:len(nonce)-8]
	counter := binary.BigEndian.Uint64(nonce[len(nonce)-8:])
	number := counter >> shift
	part := counter - number<<shift

	skip := number - s.number
	known := s.nonceSize == len(nonce) && (len(prefix) == 0 || string(s.prefix[:len(prefix)]) == string(prefix))
	if skip != 0 || s.count == 0 || !known {
		s.seek(k, nonce, number, skip, known)
	}
	b := (*[aes.BlockSize]byte)(s.blocks[aes.BlockSize*(s.first&7):])
	p := pad{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}.part(part, k.tagSize)
	if part+1 == 1<<shift {
		s.drop()
	}
	return p
}

// seek makes the block of the nonce the first one in store.
func (s *pads) seek(k *UMACKey, nonce []byte, number, skip uint64, known bool) {
	if !known || skip >= uint64(s.count) {
		s.fill(k, nonce, number, known && skip == uint64(s.count))
		return
	}
	for range skip {
		s.drop()
	}
}

// fill puts the block of the nonce in store, and if the nonce came in order those
// of the next ones.
func (s *pads) fill(k *UMACKey, nonce []byte, number uint64, inOrder bool) {
	n := aes.BlockSize
	if inOrder {
		// Past the last nonce these are blocks that no nonce stands for.
		n = len(s.blocks)
	}
	var block [aes.BlockSize]byte
	prefix := block[:copy(block[:], nonce[:len(nonce)-8])]
	shift := k.padShift()
	for i := 0; i < n; i += aes.BlockSize {
		b := (*[aes.BlockSize]byte)(s.blocks[i:])
		*b = block
		binary.BigEndian.PutUint64(b[len(prefix):][:8], (number+uint64(i/aes.BlockSize))<<shift)
	}
	clear(s.blocks[n:])
	k.pad.encrypt(s.blocks[:n])
	s.first, s.count, s.number = 0, n/aes.BlockSize, number
	s.nonceSize = len(nonce)
	copy(s.prefix[:], prefix)
}

// drop wipes the first block in store.
func (s *pads) drop() {
	*(*[aes.BlockSize]byte)(s.blocks[aes.BlockSize*(s.first&7):]) = [aes.BlockSize]byte{}
	s.first++
	s.count--
	s.number++
}
