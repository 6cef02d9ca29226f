// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	stdaes "crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"runtime"
	"sync"
	"unsafe"

	"example.com/fastmac/internal/aes"
	"example.com/fastmac/internal/lifetime"
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

// subkeys are those of all indexes except L1's, in the order in which they are encrypted:
//
//	AES-256, AES-192: from here    AES-128: from here    to the end of the last iteration in use
//	|                              |                     |       |       |       |
//	padEnd                         pad  l3Key2  l2       l3Key1: 0       1       2       3
//
// The key of PDF is pad and then, if it has more than 16 bytes, padEnd. What not every key needs
// is at the ends, so that what a key needs is one run of blocks.
type subkeys struct {
	padEnd, pad, l3Key2 [aes.BlockSize]byte
	l2                  [24 * maxIterations]byte
	l3Key1              [maxIterations][64]byte
	_                   [7 * aes.BlockSize]byte // for runs of eight blocks
}

// subkeyInputs has the inputs of KDF for all blocks: in each, the last byte of the index, and of the number.
var subkeyInputs = subkeys{
	padEnd: [...]byte{7: kdfPad, 15: 2},
	pad:    [...]byte{7: kdfPad, 15: 1},
	l3Key2: [...]byte{7: kdfL3Key2, 15: 1},
	l2: [...]byte{
		7: kdfL2, 15: 1, 23: kdfL2, 31: 2, 39: kdfL2, 47: 3, 55: kdfL2, 63: 4, 71: kdfL2, 79: 5, 87: kdfL2, 95: 6,
	},
	l3Key1: [...][64]byte{
		{7: kdfL3Key1, 15: 1, 23: kdfL3Key1, 31: 2, 39: kdfL3Key1, 47: 3, 55: kdfL3Key1, 63: 4},
		{7: kdfL3Key1, 15: 5, 23: kdfL3Key1, 31: 6, 39: kdfL3Key1, 47: 7, 55: kdfL3Key1, 63: 8},
		{7: kdfL3Key1, 15: 9, 23: kdfL3Key1, 31: 10, 39: kdfL3Key1, 47: 11, 55: kdfL3Key1, 63: 12},
		{7: kdfL3Key1, 15: 13, 23: kdfL3Key1, 31: 14, 39: kdfL3Key1, 47: 15, 55: kdfL3Key1, 63: 16},
	},
}

// bytes returns the storage of all blocks.
func (s *subkeys) bytes() []byte {
	return (*[unsafe.Sizeof(subkeys{})]byte)(unsafe.Pointer(s))[:]
}

// A compile error here: the subkeys do not fit in the L1 key.
const _ = unsafe.Sizeof(l1Key{}) - unsafe.Sizeof(subkeys{})

// aesKey is an AES key for encryption. What a tag needs of a key of 16 bytes is 184 bytes in a row:
// with the 8 bytes that the runtime has before a UMACKey, they are three cache lines.
//
// Fields of the UMACKey that each tag needs are here too, although only the key of PDF has them, where they
// make no cache line more. With 8 bytes more the L1 key would begin elsewhere, and more of its vectors
// would cross a cache line.
type aesKey struct {
	life   lifetime.Lifetime // of the UMACKey
	rounds uint8             // 10, 12 or 14; 0 if there is no key, which kernels take too
	padParts
	schedule aes.Schedule
	std      *cipher.Block // used instead if there are no AES instructions; a pointer has half the size of a Block
}

// padParts is for tags of one size, see pad.go.
type padParts struct {
	tagSize   tagSize
	partBits  uint8 // number of low bits of a nonce that select a part of the block
	firstPart uint8 // index in partBytes of part 0 of the block
}

// init sets up a key of 16, 24 or 32 bytes, replacing any previous key.
func (k *aesKey) init(key []byte) {
	if aes.InUse() {
		k.rounds = uint8(k.schedule.Expand(key))
		return
	}
	block, err := stdaes.NewCipher(key)
	if err != nil {
		panic(err) // impossible with these sizes
	}
	k.clear()
	k.std = &block
}

// clear overwrites the key. With AES instructions std is never set. Init calls clear too, and
// in memory of the caller std can then be anything: do not follow it.
func (k *aesKey) clear() {
	if std := k.std; std != nil {
		aes.Choose()
		if !aes.InUse() {
			k.std = nil
			wipe.Value(*std)
		}
	}
	k.rounds, k.padParts, k.schedule, k.std = 0, padParts{}, aes.Schedule{}, nil
}

// aesBuffers are for crypto/aes, which is called through an interface: its arguments
// cannot be on the stack.
var aesBuffers = sync.Pool{New: func() any { return new([aes.BlockSize]byte) }}

// encrypt encrypts the blocks of p in place.
func (k *aesKey) encrypt(p []byte) {
	if aes.InUse() {
		k.schedule.Encrypt(int(k.rounds), p)
		return
	}
	std := k.std
	if std == nil {
		return // the key was destroyed meanwhile, which the caller notices
	}
	wipe.ReserveShort()
	b := aesBuffers.Get().(*[aes.BlockSize]byte)
	for ; len(p) >= aes.BlockSize; p = p[aes.BlockSize:] {
		copy(b[:], p)
		(*std).Encrypt(b[:], b[:])
		copy(p, b[:])
	}
	clear(b[:])
	aesBuffers.Put(b)
	wipe.Short()         // without AES instructions crypto/aes leaves states there
	runtime.KeepAlive(k) // a finalizer of the stream that owns k may overwrite *k.std
}
