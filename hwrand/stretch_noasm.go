// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !amd64 || purego

package hwrand

import (
	"crypto/aes"
	"encoding/binary"

	"example.com/fastmac/internal/wipe"
)

// stretch replaces p, whose first 32 bytes are a key, by the AES-256-CTR keystream under
// that key, from counter 0. len(p) is a multiple of aes.StretchStep, at least one. It
// does not use cipher.NewCTR, which makes a copy of the key that cannot be overwritten.
func stretch(p []byte) {
	wipe.ReserveFrames()
	block, err := aes.NewCipher(p[:keySize])
	if err != nil {
		panic(err) // impossible with this size
	}
	clear(p)
	for i := 0; i < len(p); i += aes.BlockSize {
		b := p[i:][:aes.BlockSize]
		binary.BigEndian.PutUint64(b[8:], uint64(i/aes.BlockSize))
		block.Encrypt(b, b)
	}
	wipe.Value(block)
	wipe.Stack()
}
