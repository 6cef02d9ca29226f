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
	"unsafe"

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

// deriveL1Generic is KDF for the L1 key, in the key's own storage.
func deriveL1Generic(k *l1Key, kdf *aesKey) {
	b := k.bytes()
	kdfInputs(b[:4*len(k.lo)], kdfL1, 1, 2)
	kdfInputs(b[4*len(k.lo):], kdfL1, 2, 2)
	kdf.encrypt(b[:])
	k.swap()
}

// subkeys holds the output of KDF for all indexes except L1's: the key of PDF, of which
// padEnd is what AES-192 and AES-256 have beyond 16 bytes, and the keys of L3 and L2 for
// maxIterations.
type subkeys struct {
	padEnd, pad, l3Key2 [aes.BlockSize]byte
	l2                  [24 * maxIterations]byte
	l3Key1              [64 * maxIterations]byte
	room                [7 * aes.BlockSize]byte // room to encrypt eight blocks at a time
}

// subkeyInputs has the inputs of KDF for all blocks.
var subkeyInputs = func() (s subkeys) {
	kdfInputs(s.padEnd[:], kdfPad, 2, 1)
	kdfInputs(s.pad[:], kdfPad, 1, 1)
	kdfInputs(s.l3Key2[:], kdfL3Key2, 1, 1)
	kdfInputs(s.l2[:], kdfL2, 1, 1)
	kdfInputs(s.l3Key1[:], kdfL3Key1, 1, 1)
	return s
}()

// bytes returns the storage of all blocks.
func (s *subkeys) bytes() []byte {
	return (*[unsafe.Sizeof(subkeys{})]byte)(unsafe.Pointer(s))[:]
}

// derive is KDF for keys of keySize bytes and n iterations.
func (s *subkeys) derive(kdf *aesKey, keySize, n int) {
	b, inputs := s.bytes(), subkeyInputs.bytes()
	if keySize == aes.BlockSize {
		b, inputs = b[aes.BlockSize:], inputs[aes.BlockSize:]
	}
	const wide = 8 * aes.BlockSize
	size := len(b) - len(s.room) - (maxIterations-n)*64
	b = b[:(size+wide-1)/wide*wide]
	copy(b, inputs)
	kdf.encrypt(b)
}

// aesKey is an AES key for encryption.
type aesKey struct {
	schedule aesni.Schedule
	rounds   int
	std      *cipher.Block // used instead if there are no AES instructions
}

// init sets up a key of 16, 24 or 32 bytes, replacing any previous key.
func (k *aesKey) init(key []byte) {
	if aesni.InUse() {
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
	if aesni.InUse() {
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
