// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"runtime"
	"sync"

	"example.com/fastmac/internal/aesni"
	"example.com/fastmac/internal/wipe"
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

// kdfInputs sets p, whole blocks, to inputs of KDF, RFC 4418 section 3.2: the index and a
// number, 8 bytes each. The numbers are i, i+step, and so on. The first block of an index
// has number 1.
func kdfInputs(p []byte, index int, i, step uint64) {
	for ; len(p) >= aes.BlockSize; p = p[aes.BlockSize:] {
		b := (*[aes.BlockSize]byte)(p)
		binary.BigEndian.PutUint64(b[:8], uint64(index))
		binary.BigEndian.PutUint64(b[8:], i)
		i += step
	}
}

// deriveL1 is KDF for the L1 key, in the key's own storage.
func deriveL1(k *l1Key, kdf *aesKey) {
	if useVAES {
		deriveL1VAES(k, &kdf.schedule, kdf.rounds)
		return
	}
	b := k.bytes()
	kdfInputs(b[:4*len(k.lo)], kdfL1, 1, 2)
	kdfInputs(b[4*len(k.lo):], kdfL1, 2, 2)
	kdf.encrypt(b[:])
	k.swap()
}

// subkeys holds the output of KDF for all indexes except L1's, in whole blocks of each,
// at most 25. The rest is room to encrypt eight blocks at a time.
type subkeys [32 * aes.BlockSize]byte

// derive is KDF for sizes[index] bytes of each index.
func (s *subkeys) derive(kdf *aesKey, sizes [kdfIndexes]int) (subkey [kdfIndexes][]byte) {
	n := 0
	for index, size := range sizes {
		subkey[index] = s[n:][:size]
		end := n + (size+aes.BlockSize-1)/aes.BlockSize*aes.BlockSize
		kdfInputs(s[n:end], index, 1, 1)
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
	std      *cipher.Block // used instead if there are no AES instructions
}

// init sets up a key of 16, 24 or 32 bytes, replacing any previous key.
func (k *aesKey) init(key []byte) {
	if useAES {
		k.rounds = k.schedule.Expand(key)
		return
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // impossible with these sizes
	}
	k.destroy()
	k.std = &block
}

// destroy overwrites the key.
func (k *aesKey) destroy() {
	if k.std != nil {
		wipe.Value(*k.std)
	}
	*k = aesKey{}
}

// aesBuffers are for crypto/aes, which is called through an interface: its arguments
// cannot be on the stack.
var aesBuffers = sync.Pool{New: func() any { return new([aes.BlockSize]byte) }}

// encrypt encrypts the blocks of p in place.
func (k *aesKey) encrypt(p []byte) {
	if useAES {
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
	runtime.KeepAlive(k) // a finalizer of the stream that owns k may overwrite *k.std
}
