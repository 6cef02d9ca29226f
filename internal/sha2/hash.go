// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package sha2

import (
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

// A Hash is one of FIPS 180-4. That of package sha1 has no initial value.
type Hash struct {
	ID         crypto.Hash
	Size       int            // in bytes
	Initial256 *State[uint32] // the initial value, for words of 32 bits, or
	Initial512 *State[uint64] // this one
	New        func() hash.Hash
}

// Hashes are those of SHA-2 by their ID. HMAC, PBKDF2 and package made have no other list.
var Hashes = [...]*Hash{
	crypto.SHA224:     {crypto.SHA224, sha256.Size224, &Initial224, nil, sha256.New224},
	crypto.SHA256:     {crypto.SHA256, sha256.Size, &Initial256, nil, sha256.New},
	crypto.SHA384:     {crypto.SHA384, sha512.Size384, nil, &Initial384, sha512.New384},
	crypto.SHA512:     {crypto.SHA512, sha512.Size, nil, &Initial512, sha512.New},
	crypto.SHA512_224: {crypto.SHA512_224, sha512.Size224, nil, &Initial512_224, sha512.New512_224},
	crypto.SHA512_256: {crypto.SHA512_256, sha512.Size256, nil, &Initial512_256, sha512.New512_256},
}

// Of returns the hash that h is, or nil.
func Of(h crypto.Hash) *Hash {
	if h >= crypto.Hash(len(Hashes)) {
		return nil
	}
	return Hashes[h]
}

// Wide reports whether the words of h have 64 bits.
func (h *Hash) Wide() bool { return h.Initial512 != nil }

// BlockSize returns the size of a block in bytes.
func (h *Hash) BlockSize() int {
	if h.Wide() {
		return BlockSize512
	}
	return BlockSize256
}

// HasAssembly reports whether a kernel for one message is in use. It calls [Choose].
func (h *Hash) HasAssembly() bool {
	if h.Wide() {
		Choose[uint64]()
		return HasAssembly[uint64]()
	}
	Choose[uint32]()
	return HasAssembly[uint32]()
}

// HasSteps reports whether [Iterate] uses assembly for so many iterations of h. If not, it takes a third
// longer than the standard library's PBKDF2.
func (h *Hash) HasSteps(count int) bool {
	if h.Wide() {
		return hasSteps[uint64](h.Size, count)
	}
	return hasSteps[uint32](h.Size, count)
}
