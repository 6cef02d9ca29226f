// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package fastmac

import (
	"crypto/aes"
	"crypto/cipher"
)

// Indexes of the key derivation function, RFC 4418 sections 3.3.1 and 5.
const (
	kdfPad = iota
	kdfL1
	kdfL2
	kdfL3Key1
	kdfL3Key2
)

// kdf fills out with KDF(K, index, len(out)), RFC 4418 section 3.2, where block
// is AES under K. The input blocks, index and a counter from 1 of 8 bytes each,
// are those of counter mode.
func kdf(block cipher.Block, index byte, out []byte) {
	iv := make([]byte, aes.BlockSize)
	iv[7], iv[15] = index, 1
	clear(out)
	cipher.NewCTR(block, iv).XORKeyStream(out, out)
}

// padBlock prepares the input of the pad derivation function, RFC 4418 section
// 3.3, for a nonce of 1 to 16 bytes: it sets block to what AES under the pad key
// has to encrypt, and returns the offset of the pad in the result. Tags of 4 and
// 8 bytes take a part of the block that the low bits of the nonce select, so that
// four and two nonces in a row share a block.
func padBlock(block *[aes.BlockSize]byte, nonce []byte, tagSize int) (offset int) {
	*block = [aes.BlockSize]byte{}
	copy(block[:], nonce)
	if tagSize > 8 {
		return 0
	}
	low := &block[len(nonce)-1]
	index := *low & byte(aes.BlockSize/tagSize-1)
	*low ^= index
	return int(index) * tagSize
}
